"""Quotes that prove nothing, and true ones that look odd, over stored invented passages.

Also the same sentences in two languages, and claims that follow from a quote or contradict it.
"""

import json
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

from tcva_adapters.results.assessment import EvidenceCheck

NOT_FOUND, UNRELATED, NEGATED, CONTRADICTS, TOO_SHORT, UNCHECKED = EvidenceCheck

QUOTES: Final[Any] = json.loads(
    Path(__file__).with_name("quotes.json").read_text(encoding="utf-8")
)
PASSAGES: Final = tuple(QUOTES["passages"])
Pairs = list[tuple[str, str]]


def stored_pairs(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


LANGUAGES: Final = stored_pairs("languages.toml")
"""Sentences of 15 languages with the same in English: ``sentences`` and ones with ``figures``."""
INFERENCES: Final[dict[str, Pairs]] = stored_pairs("inferences.toml")
"""Claims and quotes: ``true``, true ``in_other_languages``, and ``false``."""

_FILLERS: Final = stored_pairs("fillers.toml")
FILLERS: Final[dict[str, Pairs]] = _FILLERS["pairs"]
"""Claims and quotes that differ in what fills one frame, or in how it is written."""
KNOWN: Final[dict[str, list[str]]] = _FILLERS["known"]
"""Claims of those that the check does not judge as it should."""
_CONTRARIES: Final = stored_pairs("contraries.toml")
CONTRARIES: Final[dict[str, Pairs]] = _CONTRARIES["pairs"]
"""Claims and quotes in much the same words: by kind those that say otherwise, and ``true``."""
KNOWN_CONTRARIES: Final[dict[str, list[str]]] = _CONTRARIES["known"]
"""Claims of theirs whose level stays, and true ones that are lowered."""


class Case(NamedTuple):
    """A quote for a claim: what the check makes of it (None: the quote is good)."""

    claim: str
    quote: str
    check: EvidenceCheck | None = None


# Invented, with another number, or a negation dropped or hidden; cut off at a negation; spliced,
# with another name, or a word turned into its opposite; small words alone, or on something else.
_CHECKS: Final = [NOT_FOUND] * 20 + [NEGATED] * 31 + [NOT_FOUND] * 9 + [UNRELATED] * 14
_FORGED: Final = zip(QUOTES["forged"], _CHECKS, strict=True)
FORGED: Final = [Case(case["claim"], case["quote"], check) for case, check in _FORGED]
TRUE: Final = [Case(case["claim"], case["quote"]) for case in QUOTES["true"]]
ACROSS: Final = [
    Case(
        "Relvin lowers blood pressure.", "Tickets cost $12.50", UNCHECKED
    ),  # in no language
    # Another language or script than the claim's, or words too few to tell: the level stays
    Case(
        "The ferry leaves in the morning.",
        "Die Stadt hat 3.400 Einwohner und",
        UNCHECKED,
    ),
    Case("Dogs must stay below.", "Hunde dürfen nicht an Deck", UNCHECKED),
    Case("The ferry runs two times daily.", "冬季，渡轮每天", UNCHECKED),
    Case("The drug is not safe for children.", "यह दवा बच्चों के लिए सुरक्षित", UNCHECKED),
    Case("It is closed at night.", "L'hôpital n'est pas ouvert la nuit", UNCHECKED),
    Case("Le bateau part le matin.", "It does not run on 24 December", UNCHECKED),
    Case("船は冬に走る。", "Паром ходит два раза в день", UNCHECKED),
    Case("Yes, they do.", "Captain Brandt and Captain Ossing met", UNCHECKED),
    Case("Yes.", "Fishing is allowed with a permit", UNCHECKED),
]
