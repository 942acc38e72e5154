"""Metadata that go into JSON, whatever a sample brought along."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

import numpy as np
from pydantic import (
    BeforeValidator,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    WrapSerializer,
)

from tcva_adapters.samples.sample import whole_characters

_DEEPEST: Final = 100
_MOST_BITS: Final = 14_000  # Python writes whole numbers of up to 4300 digits


def _as_json(metadata: dict[str, Any], handler: SerializerFunctionWrapHandler) -> Any:
    try:
        plain = handler(metadata)
        json.dumps(plain, ensure_ascii=False).encode()
    except Exception:  # noqa: BLE001  # an object of the user's may fail in any way
        return written_out(metadata)
    return plain


def _finite(value: Any, info: ValidationInfo) -> Any:
    try:
        json.dumps(value if info.mode == "json" else None, allow_nan=False)
    except ValueError:
        msg = "NaN, Infinity or a number too large is no JSON value"
        raise ValueError(msg) from None
    return value


Metadata = Annotated[
    dict[str, Any], BeforeValidator(_finite), WrapSerializer(_as_json, when_used="json")
]
"""As they are; in JSON what it cannot hold is text, see `written_out`."""


def written_out(value: Any, within: tuple[int, ...] = ()) -> Any:
    r"""A value as JSON holds it.

    Bytes and other objects become text, and what is circular or nested too deeply the name of its
    kind.

    >>> written_out({"a": b"\xff", 1: [None, True, 0.5, {2}]})
    {'a': '\\xff', '1': [None, True, 0.5, [2]]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, int | float):
        return hex(value) if isinstance(value, int) and value.bit_length() > _MOST_BITS else value
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="backslashreplace")
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        if id(value) in within or len(within) >= _DEEPEST:
            return f"<{type(value).__name__}>"
        within = (*within, id(value))
        if isinstance(value, Mapping):
            return {_text(name): written_out(each, within) for name, each in value.items()}
        return [written_out(each, within) for each in value]
    return _text(value)


def _text(value: object) -> str:
    try:
        return whole_characters(str(value))
    except Exception:  # noqa: BLE001  # as above
        return f"<{type(value).__name__}>"
