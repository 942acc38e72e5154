"""Define the five metrics as data, and the exact match that is a part of answer correctness."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import asdict, dataclass
from typing import Literal

from tcva_adapters.criteria import Field, fingerprint_of
from tcva_adapters.results.settings_base import check

DEFAULT_LAMBDA = 0.7
"""The weight of the exact match in answer correctness (section 2.3.2 of the source)."""

ExactMatch = Literal["strict", "normalised"]
"""``strict``: the same text; ``normalised``: without case, punctuation and articles."""


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True, slots=True)
class Metric:
    """One direct metric.

    Attributes:
        name: The short name: ``cc``, ``qr``, ``id``, ``ac`` or ``ir``.
        title: The long name.
        needs: The fields that a sample must have, in the order of the sample's own fields.
        against: The needed field, besides the response, that must not be blank.
        instruction: The quality that the judge is to rate.
        best: The meaning of 100.
        worst: The meaning of 0.
        has_exact_match: Whether the score is mixed with an exact match against the reference.
    """

    name: str
    title: str
    needs: tuple[Field, ...]
    against: Field
    instruction: str
    best: str
    worst: str
    has_exact_match: bool = False

    @property
    def fingerprint(self) -> str:
        """A digest that changes whenever a rating could change."""
        return fingerprint_of(asdict(self))


_ALL = (
    Metric(
        name="cc",
        title="contextual coherence",
        needs=("response", "contexts"),
        against="contexts",
        instruction=(
            "How well the response hangs together with the passages. What it says should follow "
            "from them and must not contradict them, and its parts should fit each other."
        ),
        best="every statement of the response follows from the passages, and none contradicts them",
        worst="the response contradicts the passages, or has no logical connection to them",
    ),
    Metric(
        name="qr",
        title="question relevance",
        needs=("input", "response"),
        against="input",
        instruction=(
            "How directly the response answers what the user asked. Whether it is true plays no "
            "part; a response about the topic that leaves the question open is not relevant."
        ),
        best="the response answers exactly what was asked, directly",
        worst="the response has nothing to do with the question",
    ),
    Metric(
        name="id",
        title="information density",
        needs=("input", "response", "contexts"),
        against="input",
        instruction=(
            "The balance of the response between brevity and content, given the question and what "
            "the passages offer. It should hold what the user needs, without padding and "
            "repetition, and without being so short that needed content is lost."
        ),
        best="as short as possible with all that the question calls for",
        worst="almost all of it is padding, or it lacks nearly everything that was needed",
    ),
    Metric(
        name="ac",
        title="answer correctness",
        needs=("response", "contexts", "reference"),
        against="reference",
        instruction=(
            "How far the facts in the response agree with the reference answer, which is taken to "
            "be right; the passages help to understand both. Other words for the same fact are "
            "no fault."
        ),
        best="the response says the same as the reference, and nothing that is wrong by it",
        worst="the response is wrong by the reference, or its main facts are",
        has_exact_match=True,
    ),
    Metric(
        name="ir",
        title="information recall",
        needs=("response", "contexts", "reference"),
        against="reference",
        instruction=(
            "How far the response covers what is essential in the reference answer, in whatever "
            "words; the passages help to understand both. What the response says beyond the "
            "reference plays no part."
        ),
        best="every key point of the reference is in the response",
        worst="no key point of the reference is in the response",
    ),
)

METRICS = {metric.name: metric for metric in _ALL}
"""The five metrics by their short names."""


def exact_match(response: str, reference: str, mode: ExactMatch = "strict") -> bool:
    """Whether the response equals the reference.

    Args:
        response: The answer under test; a blank one matches nothing.
        reference: The answer that is known to be right.
        mode: ``strict`` is equality of the strings, as in the source. ``normalised`` ignores case,
            punctuation, English articles and white space.

    Raises:
        InvalidValueError: An unknown mode.

    >>> exact_match("The Nile.", "Nile"), exact_match("The Nile.", "Nile", "normalised")
    (False, True)
    """
    if check(ExactMatch, "em", mode) == "strict" or response == reference:
        return response == reference and response.strip() != ""
    plain = _plain(response)
    return plain != "" and plain == _plain(reference)


def _plain(text: str) -> str:
    letters = "".join(
        c for c in text.casefold() if not unicodedata.category(c).startswith("P")
    )
    return " ".join(_ARTICLES.sub(" ", letters).split())
