"""The single words of a judge's reply: levels and claim numbers. Exactly, or not at all."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import product
from typing import Any, Final, Literal, TypeAlias

from tcva_adapters.core.verdicts import LEVELS, Verdict

Label: TypeAlias = Verdict | Literal["not_a_claim", "refusal"]
"""A level, or the mark of a sentence that claims nothing or declines to answer."""

SHOWN: Final = 40
"""No label or number is longer, and no more of one is shown."""

_WAYS: Final[dict[Verdict, str]] = {
    Verdict.FULLY: "fully completely entirely wholly totally",
    Verdict.MOSTLY: "mostly largely mainly",
    Verdict.PARTIAL: "partial partially partly",
    Verdict.MINOR: "minor minimally slightly barely hardly",
    Verdict.NONE: "none not",
}
_STATES: Final = "supported satisfied met relevant correct covered addressed entailed grounded"

LABELS: Final[dict[str, Label]] = {
    **{
        f"{way} {state}": level
        for level, ways in _WAYS.items()
        for way, state in product(ways.split(), _STATES.split())
    },
    **{f"{way} support": level for level, ways in _WAYS.items() for way in ways.split()},
    **{level.value: level for level in LEVELS},
    "full": Verdict.FULLY,
    "full support": Verdict.FULLY,
    "completely": Verdict.FULLY,
    "entirely": Verdict.FULLY,
    "supported": Verdict.FULLY,
    "largely": Verdict.MOSTLY,
    "partially": Verdict.PARTIAL,
    "partly": Verdict.PARTIAL,
    "no support": Verdict.NONE,
    "unsupported": Verdict.NONE,
    "contradicted": Verdict.NONE,
    "contradiction": Verdict.NONE,
    "not a claim": "not_a_claim",
    "no claim": "not_a_claim",
    "non claim": "not_a_claim",
    "refusal": "refusal",
    "refused": "refusal",
}
"""Every accepted word, lower case, with single spaces for hyphens and underscores."""

NOUN: Final = r"(?:claim|statement|criterion|sentence|verdict)"
NUMBER: Final = re.compile(
    rf"\s*{NOUN}?[\s_-]*(?:no\.?\s*)?[#(\[]?(\d{{1,6}})[)\].:]*\s*", re.IGNORECASE
)
PASSAGE: Final = re.compile(
    r"\s*(?:passage|context|source)?[\s_-]*[#(\[]?(\d{1,6})[)\].]*\s*", re.IGNORECASE
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
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int):
        return raw if -1 <= raw < 10**6 else None
    if isinstance(raw, float):
        return int(raw) if raw.is_integer() and abs(raw) < 10**6 else None
    if isinstance(raw, str) and (match := pattern.fullmatch(raw[:SHOWN])) and len(raw) <= SHOWN:
        return int(match.group(1))
    return None
