"""The exact match of answer correctness: strict as in the source, or normalised by choice."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal, get_args

from tcva_adapters.errors import InvalidValueError

ExactMatch = Literal["strict", "normalised"]
"""``strict``: the same text; ``normalised``: without case, punctuation and articles."""

MODES: Final[tuple[ExactMatch, ...]] = get_args(ExactMatch)
DEFAULT_MODE: Final[ExactMatch] = "strict"

_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")


def exact_match(response: str, reference: str, mode: ExactMatch = DEFAULT_MODE) -> bool:
    """Whether the response is the reference.

    Args:
        response: The answer under test; a blank one matches nothing.
        reference: The answer that is known to be right.
        mode: ``strict`` is equality of the strings, as in the source. ``normalised`` looks past
            case, punctuation, English articles and white space.

    Raises:
        InvalidValueError: An unknown mode.

    >>> exact_match("The Nile.", "Nile"), exact_match("The Nile.", "Nile", "normalised")
    (False, True)
    """
    if mode not in MODES:
        msg = f"em={mode!r}; it is {' or '.join(MODES)}"
        raise InvalidValueError(msg)
    if not response.strip():
        return False
    if response == reference or mode == "strict":
        return response == reference
    plain = _plain(response)
    return bool(plain) and plain == _plain(reference)


def _plain(text: str) -> str:
    kept = "".join(c for c in text.casefold() if not unicodedata.category(c).startswith("P"))
    return " ".join(_ARTICLES.sub(" ", kept).split())
