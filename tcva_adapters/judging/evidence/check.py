"""What a verdict's quote is worth; a high level without a good one is lowered.

A judge that makes up its quote has hardly looked. Comparing word for word would punish honest
judges for a curly quotation mark, so texts are compared by their words alone, and a longer quote
may differ in a word or two. What changes the meaning may not differ: numbers, names, negations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.judging.evidence.negation import negations
from tcva_adapters.judging.evidence.places import Passages, prepared
from tcva_adapters.judging.evidence.quote import contrary
from tcva_adapters.judging.evidence.relation import Relation, Side, relation
from tcva_adapters.judging.evidence.search import Found, find_quote
from tcva_adapters.judging.evidence.words import listed
from tcva_adapters.results.assessment import ClaimVerdict, EvidenceCheck
from tcva_adapters.results.evidence import HIGH, lowered

_SHOWN: Final = 1000  # characters of each claim that show its language
_CLAUSE_END: Final = re.compile(r"[.,;:!?。，；！？।]+(?!\d)\s*(?=\S)")


def check_evidence(
    verdicts: Iterable[ClaimVerdict], passages: Sequence[str]
) -> tuple[ClaimVerdict, ...]:
    """Verdicts whose high levels stand only with a quote that is found and says something.

    ``fully`` and ``mostly`` become ``partial`` where the quote does not occur in the passages, has
    nothing to do with its claim, or was cut off at a negation that the claim lacks.
    ``original_verdict`` keeps the level that the judge gave, ``evidence_check`` and the reason say
    what happened, and probabilities of the two move to ``partial``. Where it cannot be told whether
    quote and claim belong together (see `relation`), the level stays and ``evidence_check`` is
    ``unchecked``.

    ``partial`` and ``minor`` stay; ``evidence_check`` says what is wrong with their quotes. Where the quote is found in another passage than the judge
    named, the passage is corrected, at any level.

    >>> [lowered] = check_evidence(
    ...     [ClaimVerdict(claim="Cats bark.", verdict=Verdict.FULLY, evidence="cats bark")],
    ...     ["Dogs bark."],
    ... )
    >>> lowered.verdict, lowered.original_verdict, lowered.evidence_check
    (<Verdict.PARTIAL: 'partial'>, <Verdict.FULLY: 'fully'>, <EvidenceCheck.NOT_FOUND: 'not_found'>)
    """
    verdicts, held = tuple(verdicts), prepared(tuple(passages))
    said = listed(" ".join(v.claim[:_SHOWN] for v in verdicts))
    return tuple(_checked(verdict, held, said) for verdict in verdicts)


def _checked(verdict: ClaimVerdict, passages: Passages, said: Sequence[str]) -> ClaimVerdict:
    level = verdict.verdict
    if level is None:
        return verdict
    found = find_quote(verdict.evidence, passages)
    if found is not None and verdict.passage not in found.passages:
        verdict = verdict.model_copy(update={"passage": found.passages[0]})
    is_high = level in HIGH
    why = None if level is Verdict.NONE else _fault(verdict, found, passages, said)
    if why is None or not (is_high or why.is_fault):
        return verdict
    update: dict[str, object] = {"evidence_check": why}
    if is_high and why is EvidenceCheck.NOT_FOUND:
        update["passage"] = None
    return lowered(verdict.model_copy(update=update))


def _fault(
    verdict: ClaimVerdict, found: Found | None, passages: Passages, said: Sequence[str]
) -> EvidenceCheck | None:
    if found is None:
        return EvidenceCheck.NOT_FOUND
    claim = Side(verdict.claim, said)
    shared = relation(Side(verdict.evidence, passages.around(found.at)), claim)
    if shared is Relation.NOTHING:
        return EvidenceCheck.UNRELATED
    clauses = _CLAUSE_END.split(verdict.evidence)
    denied = clauses[:1] * found.denied_before + clauses[-1:] * found.denied_behind
    if any(_rests_on(claim, clause, verdict.evidence) for clause in denied):
        return EvidenceCheck.NEGATED
    return EvidenceCheck.UNCHECKED if shared is Relation.UNKNOWN else None


def _rests_on(claim: Side, clause: str, quote: str) -> bool:
    """Whether a claim rests on the clause of a quote that is denied, as if it were not.

    It does not if it denies more than the quote, or shares nothing with that clause of several.
    """
    if clause != quote and relation(Side(clause), claim) is not Relation.SHARES:
        return False
    quoted, said = listed(quote), listed(claim.text)
    more = negations(quoted) - negations(said)
    return more >= 0 and more % 2 == 0 and not contrary(said, quoted)
