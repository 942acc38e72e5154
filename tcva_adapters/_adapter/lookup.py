"""Reading values from objects of frameworks, which may be mappings as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Arguments: TypeAlias = dict[str, Any]
"""Arguments by name, as functions of frameworks take them."""


def value_of(holder: Any, name: str) -> Any:
    """Return an entry of a mapping, or an attribute of anything else; None if there is none.

    >>> value_of({"seed": 1}, "seed"), value_of(object(), "seed")
    (1, None)
    """
    if isinstance(holder, Mapping):
        return holder.get(name)
    return getattr(holder, name, None)


def count_in(usage: Any, *names: str) -> int:
    """Return the first of several counts that is there; 0 if there is none.

    >>> count_in({"prompt_tokens": 7}, "input_tokens", "prompt_tokens")
    7
    """
    counts = (value_of(usage, name) for name in names)
    return next(filter(None, counts), 0)
