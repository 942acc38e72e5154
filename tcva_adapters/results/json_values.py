"""Values as JSON holds them."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import (
    PlainSerializer,
)

from tcva_adapters.samples.sample import whole_characters


def written_out(value: object) -> Any:
    r"""A value as JSON holds it; an object, and what is circular or nested too deeply, is text.

    >>> written_out({"a": b"\xff", 1: [None, True, 0.5, {2}]})
    {'a': '\\xff', '1': [None, True, 0.5, '{2}']}
    """
    if not isinstance(value, dict):
        return _as_json(value)
    # What one field holds costs no other.
    return {_text(name): _as_json(field) for name, field in value.items()}


Json: TypeAlias = dict[str, Any]
"""An object of JSON."""

Metadata = Annotated[Json, PlainSerializer(written_out, when_used="json")]
"""As they are; in JSON what it cannot hold is text, see `written_out`."""


def _text(value: object) -> str:
    try:
        text = (
            value.decode(errors="backslashreplace")
            if isinstance(value, bytes)
            else str(value)
        )
        return whole_characters(text)
    except Exception:  # noqa: BLE001  # an object of the user's may fail in any way
        return f"<{type(value).__name__}>"


def _without_objects(value: object) -> Any:
    return (
        value.tolist() if isinstance(value, np.generic | np.ndarray) else _text(value)
    )


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_without_objects)


def _as_json(value: object) -> Any:
    if type(value) is str:
        return whole_characters(value)
    try:
        return json.loads(whole_characters(_ENCODER.encode(value)))
    except (TypeError, ValueError, RecursionError):
        return _text(value)
