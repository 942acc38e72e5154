"""Join the judgements of several criteria of the same samples, claim by claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from tcva_adapters.compare.diagnosis.causes import (
    Cause,
    ClaimLabels,
    causes,
    measures,
)
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.sample import Sample

DIAGNOSED = ("correctness", "faithfulness", "completeness", "context_recall")
"""The criteria that are joined: two on the claims of the response, two on those of the reference."""

JUDGE_AGAIN = f"tcva evaluate SAMPLES --criterion {','.join(DIAGNOSED)} -o judged.jsonl"


@dataclass(frozen=True)
class JoinedClaim:
    """A claim with what several criteria say of it.

    Attributes:
        row: The row of its sample in the table.
        of: The text that it is a claim of, ``response`` or ``reference``.
        place: Its index among the claims of the results.
        claim: Its text.
        agrees: Whether the other of these two texts supports it, 1 or 0; nan where that was not judged.
        grounded: Whether the contexts support it, likewise.
        passage: The number of the context that holds its quote, from 1; 0 without one.
    """

    row: int
    of: str
    place: int
    claim: str
    agrees: float
    grounded: float
    passage: int


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with the answers of a table, claim by claim.

    Attributes:
        faults: The claims that are wrong (those of responses) or missing (of references), each with the cause.
        measures: For each sample, by name, see `tcva_adapters.compare.diagnosis.causes.measures`.
        needed: How many claims of references were judged.
        left_out: How many claims count as none, since one of two criteria says that they claim nothing.
        least_weight: The weight from which a claim counts as supported.
    """

    faults: Sequence[tuple[JoinedClaim, Cause]]
    measures: Sequence[Mapping[str, float]]
    needed: int
    left_out: int
    least_weight: float


def diagnosis(table: ScoreTable) -> Diagnosis:
    """Diagnose the samples of a table with judgements of one or several of `DIAGNOSED`.

    A claim counts as supported with the weight of the first results' ``claim_threshold``. A criterion without a
    score of a sample counts as not judged there.

    Args:
        table: The table, as `read_scores` reads several files; with its samples if passages are to be counted.

    Raises:
        InvalidValueError: None of the criteria was judged, or one was judged twice.
        InvalidSampleError: Samples cannot be joined by their ids, the claims of two criteria differ, or samples
            are not those that were judged.
    """
    methods = {
        judged.criterion: method for method, judged in table.judged_methods.items()
    }
    if len(methods) < len(table.methods) or not methods.keys() & {*DIAGNOSED}:
        raise InvalidValueError(
            f"some of these criteria are needed, each once: {JUDGE_AGAIN}; got {', '.join(table.methods)}"
        )
    scoring = next(iter(table.judged_methods.values())).scoring or ScoringConfig()
    faults = []
    measured = []
    n_needed = left_out = 0
    for row, sample in enumerate(table.samples):
        results = [
            table.result(methods.get(criterion, ""), row) for criterion in DIAGNOSED
        ]
        ids = {result.sample_id for result in results if result} - {sample}
        if ids and (ids != {None} or table.notes):
            raise InvalidSampleError(
                f"{sample!r} cannot be joined: ids are missing or occur twice; give each sample an id of its own, "
                f"and judge again: {JUDGE_AGAIN}"
            )
        scored = [
            result if isinstance(result, Result) and not result.unscored else None
            for result in results
        ]
        said = [*_joined(row, sample, "response", scored[:2], scoring)]
        needed = [*_joined(row, sample, "reference", scored[2:], scoring)]
        labels = _labels(said), _labels(needed)
        claims = [claim for claim in (*said, *needed) if claim]
        for claim, cause in zip(claims, chain(*causes(*labels)), strict=True):
            if cause:
                faults.append((claim, Cause(cause)))
        texts = table.judged_samples[row] if table.judged_samples else Sample()
        n_passages = len(texts.contexts or ())
        if n_passages and any(claim.passage > n_passages for claim in claims):
            raise InvalidSampleError(
                f"{sample!r} was judged with more contexts than {n_passages}; give the samples that were judged"
            )
        measured.append(measures(*labels, n_passages=n_passages))
        n_needed += len(labels[1].agrees)
        left_out += len(said + needed) - len(claims)
    return Diagnosis(faults, measured, n_needed, left_out, scoring.least_weight)


def _labels(claims: Sequence[JoinedClaim | None]) -> ClaimLabels:
    """Put what is known of the claims of one text into columns."""
    rows = [(it.agrees, it.grounded, it.passage) for it in claims if it]
    return ClaimLabels(*np.array(rows, dtype=np.float64).reshape(-1, 3).T)


def _joined(
    row: int,
    sample: str,
    of: str,
    pair: Sequence[Result | None],
    scoring: ScoringConfig,
) -> Iterator[JoinedClaim | None]:
    """Join the claims of two results of one text by place and text; None for one that only one of them judges.

    Raises:
        InvalidSampleError: The claims differ.
    """
    of_each = (result.claims if result else () for result in pair)
    for place, claims in enumerate(zip_longest(*of_each)):
        texts = [claim.claim if claim else "" for claim in claims]
        if all(pair) and texts[0] != texts[1]:
            raise InvalidSampleError(
                f"sample {sample!r}: claim {place + 1} is {texts[0]!r:.60} for one criterion, "
                f"{texts[1]!r:.60} for the other; judge the same samples by both, with "
                f"claims='split': {JUDGE_AGAIN}"
            )
        verdicts = [claim.verdict for claim in claims if claim]
        if all(verdicts):
            agrees, grounded = (_supported(claim, scoring) for claim in claims)
            passage = sound_passage(claims[1]) if claims[1] and grounded else 0
            yield JoinedClaim(row, of, place, max(texts), agrees, grounded, passage)
        elif any(verdicts):
            yield None


def _supported(claim: ClaimVerdict | None, scoring: ScoringConfig) -> float:
    """Whether a claim reaches the claim threshold, as 1 or 0; nan where it was not judged."""
    if claim is None:
        return np.nan
    return float((claim.support(scoring.scheme) or 0.0) >= scoring.least_weight)


def sound_passage(claim: ClaimVerdict) -> int:
    """The number of the passage that holds the sound quote of a claim, from 1; 0 without one."""
    check = claim.evidence_check
    return 0 if check and check.is_fault else claim.context or 0
