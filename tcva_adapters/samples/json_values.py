"""Read JSON strictly, without lost or invented values, and write any value as JSON."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import (
    Annotated,
    Any,
)

import numpy as np
from pydantic import (
    PlainSerializer,
)
from pydantic_core import from_json

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.samples.sample import whole_characters

Json = dict[str, Any]
"""An object of JSON."""


def loads(text: str | bytes) -> Any:
    """Parse strict JSON: no NaN, infinities, halves of surrogate pairs or repeated keys.

    Raises:
        ValueError: The text is not strict JSON; the message says why.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
        json.loads(
            text,
            object_pairs_hook=record_once,
            parse_float=lambda number: math.floor(float(number)),
        )
    except (ValueError, OverflowError) as error:  # 1e999 became an infinite number
        raise ValueError(f"not JSON: {error}") from None
    return value


def record_once(pairs: list[tuple[str, Any]]) -> Json:
    """Make a JSON object of its pairs, as an ``object_pairs_hook``.

    Raises:
        ValueError: A key occurs twice, so that one of its values would be lost.

    >>> json.loads('{"answer": "No.", "answer": "Yes."}', object_pairs_hook=record_once)
    Traceback (most recent call last):
        ...
    ValueError: the key 'answer' occurs twice in {'answer': 'Yes.'}; remove one
    """
    record = dict(pairs)
    if len(record) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(
            f"the key {twice!r} occurs twice in {record!r:.200}; remove one"
        )
    return record


def json_object(text: str | bytes, *, what: str = "a result") -> Json:
    """Parse a JSON object.

    Args:
        text: The JSON.
        what: The expected object, as the message names it.

    Raises:
        UnreadableInputError: Not JSON, or something else than an object.
    """
    try:
        plain = json.loads(text, object_pairs_hook=record_once)
    except (ValueError, RecursionError) as error:
        raise UnreadableInputError(f"not {what}, as it is not JSON: {error}") from None
    if not isinstance(plain, dict):
        raise UnreadableInputError(f"not {what}, got {type(plain).__name__}")
    return plain


def written_out(fields: Mapping[str, object]) -> Json:
    r"""Convert fields to JSON's types; objects and circular or too deep values become text.

    >>> written_out({"a": b"\xff", 1: [None, True, 0.5, {2}]})
    {'a': '\\xff', '1': [None, True, 0.5, '{2}']}
    """
    # Each field is converted alone, so that a bad one does not affect the others.
    return {text_of(name): _as_json(field) for name, field in fields.items()}


Metadata = Annotated[Json, PlainSerializer(written_out, when_used="json")]
"""Metadata as they are; in JSON, values that it cannot hold are text, see `written_out`."""


def text_of(value: object) -> str:
    """The text of any value; bytes that are not UTF-8 are escaped."""
    try:
        if isinstance(value, bytes):
            return value.decode(errors="backslashreplace")
        return whole_characters(str(value))
    except Exception:  # noqa: BLE001  # an object of the user's may fail in any way
        return f"<{type(value).__name__}>"


def _without_objects(value: object) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return text_of(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_without_objects)


def _as_json(value: object) -> Any:
    try:
        # It refuses what is nested deeper than pydantic can write.
        return from_json(whole_characters(_ENCODER.encode(value)))
    except (TypeError, ValueError, RecursionError):
        return text_of(value)
