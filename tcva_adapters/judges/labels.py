"""Read the words of a verdict as levels, and the numbers of claims."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal

from tcva_adapters.core.verdicts import Verdict

Label = Verdict | Literal["not_a_claim", "refusal"]
"""A level, or the mark of a sentence that claims nothing or declines to answer."""

NOUN = r"(?:claim|statement|criterion|sentence|verdict)"
"""A pattern for the noun before the number of a claim."""

ELLIPSIS = re.compile(r"\.\.+|…")

MAX_SHOWN = 40
"""The most characters of a label or number, and of an unknown word that a message shows."""

_WAYS: dict[Verdict, str] = {
    Verdict.FULLY: "full fully completely entirely wholly totally",
    Verdict.MOSTLY: "mostly largely mainly",
    Verdict.PARTIAL: "partial partially partly",
    Verdict.MINOR: "minor minimally slightly barely hardly",
    Verdict.NONE: "none not no",
}
_STATES = "support supported satisfied met relevant correct covered addressed entailed grounded"
_FURTHER: dict[str, Label] = {
    "supported": Verdict.FULLY,
    "unsupported": Verdict.NONE,
    "contradicted": Verdict.NONE,
    "contradiction": Verdict.NONE,
    "not a claim": "not_a_claim",
    "no claim": "not_a_claim",
    "non claim": "not_a_claim",
    "refusal": "refusal",
    "refused": "refusal",
}
LABELS: dict[str, Label] = {
    f"{way} {state}".strip(): level
    for level, ways in _WAYS.items()
    for way, state in product(ways.split(), ["", *_STATES.split()])
    if state or way not in {"not", "no"}
} | _FURTHER
"""Every accepted word, lower case, with single spaces for hyphens and underscores."""

_NUMBER = re.compile(
    rf"\s*{NOUN}?[\s_-]*(?:no\.?\s*)?[#(\[]?(\d{{1,6}})[)\].:]*\s*", re.IGNORECASE
)


@lru_cache(maxsize=1024)
def read_label(word: str) -> Label | None:
    """Read a word that is exactly a label; None for any other text.

    Case, surrounding quotes and marks, and hyphens or underscores for spaces do not matter. No
    part of a longer text is ever taken for the label.

    >>> read_label("**Partially_Supported**.")
    <Verdict.PARTIAL: 'partial'>
    >>> read_label("not fully") is None
    True
    """
    if len(word) > MAX_SHOWN:
        return None
    plain = unicodedata.normalize("NFKC", ELLIPSIS.sub("?", word)).casefold()
    bare = plain.strip("\"'`*_.,;:!()[]<>“”‘’ \t\r\n")
    return LABELS.get(re.sub(r"[\s_-]+", " ", bare))


def read_number(value: object) -> int | None:
    """Read a whole number, alone or behind a word such as "claim"; None for anything else."""
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value) if len(value) <= MAX_SHOWN else None
        return int(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not -1 <= value < 10**6 or value != int(value):
        return None
    return int(value)


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """One verdict as the judge gave it.

    Attributes:
        number: The claim's number, counted from 1; None where the judge names none.
        word: The value in the place of the label, whatever it is.
        evidence: The quote, empty where there is none; several quotes joined by " ... ".
        reason: The judge's reason, or an empty string.
    """

    number: int | None
    word: object
    evidence: str = ""
    reason: str = ""

    @property
    def label(self) -> Label | None:
        """The level or mark that the word stands for; None for any other word."""
        return read_label(self.word) if isinstance(self.word, str) else None
