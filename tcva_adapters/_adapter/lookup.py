"""Reading values from objects of frameworks, which may be mappings as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def value_of(holder: Any, name: str) -> Any:
    """Return an entry of a mapping, or an attribute of anything else; None if there is none.

    >>> value_of({"seed": 1}, "seed"), value_of(object(), "seed")
    (1, None)
    """
    if isinstance(holder, Mapping):
        return holder.get(name)
    return getattr(holder, name, None)
