"""Reading values from objects of frameworks, which may be mappings as well."""

from __future__ import annotations

from typing import Any, TypeAlias

from tcva_adapters.samples.contexts import value_of

Arguments: TypeAlias = dict[str, Any]
"""Arguments by name, as functions of frameworks take them."""


def count_in(usage: Any, *names: str) -> int:
    """Return the first of several counts that is there; 0 if there is none.

    >>> count_in({"prompt_tokens": 7}, "input_tokens", "prompt_tokens")
    7
    """
    return next(filter(None, (value_of(usage, name) for name in names)), 0)
