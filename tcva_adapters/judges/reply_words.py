"""The single words of a judge's reply: levels and claim numbers. Exactly, or not at all."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import product
from typing import Any, Final, Literal, TypeAlias

from tcva_adapters.core.verdicts import Verdict

Label: TypeAlias = Verdict | Literal["not_a_claim", "refusal"]
"""A level, or the mark of a sentence that claims nothing or declines to answer."""

SHOWN: Final = 40
"""No label or number is longer, and no more of one is shown."""

_WAYS: Final[dict[Verdict, str]] = {
    Verdict.FULLY: "full fully completely entirely wholly totally",
    Verdict.MOSTLY: "mostly largely mainly",
    Verdict.PARTIAL: "partial partially partly",
    Verdict.MINOR: "minor minimally slightly barely hardly",
    Verdict.NONE: "none not no",
}
_STATES: Final = (
    "support supported satisfied met relevant correct covered addressed entailed grounded"
)
_MARKS: Final[dict[str, Label]] = {
    **dict.fromkeys(("unsupported", "contradicted", "contradiction"), Verdict.NONE),
    **dict.fromkeys(("not a claim", "no claim", "non claim"), "not_a_claim"),
    **dict.fromkeys(("refusal", "refused"), "refusal"),
}

LABELS: Final[dict[str, Label]] = {
    f"{way} {state}".strip(): level
    for level, ways in _WAYS.items()
    for way, state in product(ways.split(), ["", *_STATES.split()])
    if state or way not in {"not", "no"}
} | {"supported": Verdict.FULLY, **_MARKS}
"""Every accepted word, lower case, with single spaces for hyphens and underscores."""

NOUN: Final = r"(?:claim|statement|criterion|sentence|verdict)"
NUMBER, PASSAGE = (
    re.compile(rf"\s*{noun}?[\s_-]*(?:no\.?\s*)?[#(\[]?(\d{{1,6}})[)\].:]*\s*", re.IGNORECASE)
    for noun in (NOUN, "(?:passage|context|source)")
)


@lru_cache(maxsize=1024)
def read_label(word: str) -> Label | None:
    """The label that a word is, exactly; None where it is none of them.

    Case, surrounding quotes and marks, and hyphens or underscores for spaces do not matter. No
    part of a longer text is ever taken for the label.

    >>> read_label("**Partially_Supported**.")
    <Verdict.PARTIAL: 'partial'>
    >>> read_label("not fully") is None
    True
    """
    if len(word) > SHOWN:
        return None
    plain = unicodedata.normalize("NFKC", word).casefold().strip("\"'`*_.,;:!()[]<>“”‘’ \t\r\n")
    return LABELS.get(re.sub(r"[\s_-]+", " ", plain))


def read_number(raw: Any, pattern: re.Pattern[str] = NUMBER) -> int | None:
    """A whole number, alone or behind a word such as "claim"; None for anything else."""
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw if -1 <= raw < 10**6 else None
    if isinstance(raw, str) and len(raw) <= SHOWN and (match := pattern.fullmatch(raw)):
        return int(match[1])
    return None
