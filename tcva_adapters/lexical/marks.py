"""Figures in an answer that are no figures of what it says: numbers of sources, and of list items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_SOURCE: Final = re.compile(r"\[\^?\d{1,3}(?:[,;–-] ?\d{1,3})*\]")
_ITEM: Final = re.compile(r"(?:\A|(?<=[.!?:;] ))\(?(\d{1,2})[.)] (?=\S)")


def without_marks(claims: Sequence[str]) -> list[str]:
    """The claims of a text without citations such as ``[2]``, and without the numbers of its items.

    A number in front of a claim or sentence is an item's where another one has the number before
    it or behind it.

    >>> without_marks(["1. Stir it [3].", "2. Heat it.", "7. Juli: closed."])
    ['Stir it .', 'Heat it.', '7. Juli: closed.']
    """
    numbers = {int(match[1]) for claim in claims for match in _ITEM.finditer(claim)}

    def unnumbered(match: re.Match[str]) -> str:
        return match[0] if numbers.isdisjoint((int(match[1]) - 1, int(match[1]) + 1)) else ""

    return [_SOURCE.sub("", _ITEM.sub(unnumbered, claim)) for claim in claims]
