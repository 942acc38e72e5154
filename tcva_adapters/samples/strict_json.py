"""JSON without what loses or invents values: NaN, infinities, a key twice."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import (
    Any,
)

from pydantic_core import from_json

from tcva_adapters.errors import UnreadableInputError


def loads(text: str | bytes) -> Any:
    """Strict JSON: no NaN, no infinities, no half of a surrogate pair, no key twice in one object.

    Raises:
        ValueError: With a sentence.
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


def record_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON.

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


def json_object(text: str | bytes, *, what: str = "a result") -> dict[str, Any]:
    """A JSON object.

    Args:
        text: The JSON.
        what: What it should be, as the message calls it.

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
