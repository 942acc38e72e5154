"""Which claims rest on which passage of a sample, by the quotes that were checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import CRITERIA
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment, EvidenceCheck
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.quotes import find_quote, passages_of


@dataclass(frozen=True)
class PassageUse:
    """A passage, and the claims that rest on it.

    Each claim has one quote, so a passage that no claim rests on may still have served.

    Attributes:
        passage: Its number, from 1.
        id: Its id; None where the sample has none.
        claims: The indices in ``result.claims`` of the claims whose sound quote stands in it.
        weight: The sum of the weights of these claims.
        characters: Its length.
    """

    passage: int
    id: str | None
    claims: tuple[int, ...]
    weight: float
    characters: int

    @property
    def is_used(self) -> bool:
        """Whether a claim rests on it."""
        return bool(self.claims)


def check_passages(judged: Assessment) -> None:
    """Refuse claims that were compared with another text than the contexts.

    Raises:
        InvalidValueError: The criterion compares with another text.
    """
    criterion = CRITERIA.get(judged.criterion)
    if criterion and criterion.against != "contexts":
        raise InvalidValueError(
            f"the claims of this result ({judged.criterion}) rest on no passage, as they are compared with "
            "another text; judge by a criterion that has against='contexts', e.g. faithfulness"
        )


def passages_with_quotes(
    judged: Assessment, contexts: Sequence[str]
) -> list[tuple[int, ...]]:
    """Find the passages that hold the sound quote of each claim.

    A quote is sound if its claim has a level above ``none``, the evidence check found no fault with it
    (in no judgement of a panel, either), and it stands in the contexts. One that several passages hold
    together counts for that of its longest part.

    Args:
        judged: The assessment.
        contexts: The texts that the claims were judged against.

    Returns:
        For each claim the numbers of the passages, from 1; empty without a sound quote.

    Raises:
        InvalidValueError: See `check_passages`.

    >>> from tcva_adapters import TCVA
    >>> texts = ("We open at 9.", "Entry is free.")
    >>> result = TCVA(judge="lexical").evaluate(Sample(response="Entry is free. Hi!", contexts=texts))
    >>> passages_with_quotes(result.assessment, texts)
    [(2,), ()]
    """
    check_passages(judged)
    unsound = {
        (claim.claim, claim.evidence)
        for part in (judged, *judged.panel)
        for claim in part.claims
        if claim.evidence_check not in {None, EvidenceCheck.UNCHECKED}
    }
    passages = passages_of(tuple(contexts))
    places = [
        None
        if claim.verdict in {None, Verdict.NONE}
        or (claim.claim, claim.evidence) in unsound
        else find_quote(claim.evidence, passages)
        for claim in judged.claims
    ]
    return [place.passages if place else () for place in places]


def passage_uses(
    judged: Assessment, sample: Sample, weights: Sequence[float | None]
) -> tuple[PassageUse, ...]:
    """Say for each passage of a sample which claims rest on it, see `Result.passages`."""
    contexts = sample.contexts or ()
    quoted = passages_with_quotes(judged, contexts)
    if not any(quoted) and {*judged.verdicts} != {Verdict.NONE}:
        return ()  # nothing was judged, or nothing is known of what is supported
    uses = []
    for number, (text, name) in enumerate(zip_longest(contexts, sample.context_ids), 1):
        claims = tuple(at for at, held in enumerate(quoted) if number in held)
        weight = sum((weights[at] or 0.0 for at in claims), 0.0)
        uses.append(PassageUse(number, name or None, claims, weight, len(text)))
    return tuple(uses)
