"""Join the judgements of several criteria of the same samples, claim by claim."""

from __future__ import annotations

import re
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
from tcva_adapters.criteria import CRITERIA
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.judgement import Reason
from tcva_adapters.results.passages import passages_with_quotes
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.sentences import split_claims

DIAGNOSED = ("correctness", "faithfulness", "completeness", "context_recall")
"""The criteria that are joined: two on the claims of the response, two on those of the reference."""

BLANK = (Reason.EMPTY_RESPONSE, Reason.EMPTY_CONTEXT)
"""Reasons of texts that are empty, so that they support no claim."""

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
        passages: The numbers of the contexts that hold its sound quote, from 1.
    """

    row: int
    of: str
    place: int
    claim: str
    agrees: float
    grounded: float
    passages: tuple[int, ...]


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with the answers of a table, claim by claim.

    Attributes:
        faults: The claims that are wrong (those of responses) or missing (of references), each with the cause.
        measures: For each sample, by name, see `tcva_adapters.compare.diagnosis.causes.measures`.
        needed: The number of claims of references of which it is known whether they are missing.
        unsupported: The number of claims of responses in no passage that may be right or wrong.
        left_out: How many claims count as none, since one of two criteria says that they claim nothing.
        least_weight: The weight from which a claim counts as supported.
    """

    faults: Sequence[tuple[JoinedClaim, Cause]]
    measures: Sequence[Mapping[str, float]]
    needed: int
    unsupported: int
    left_out: int
    least_weight: float


def diagnosis(table: ScoreTable) -> Diagnosis:
    """Diagnose the samples of a table with judgements of one or several of `DIAGNOSED`.

    A claim counts as supported with the weight of the results' ``claim_threshold``; an empty response or
    context supports none. A criterion without a score of a sample counts as not judged there; without one of
    ``completeness`` it is unknown which claims of the reference are missing.

    Args:
        table: The table, as `read_scores` reads several files; with its samples if passages are to be counted.

    Raises:
        InvalidValueError: None of the criteria was judged, one was judged twice, or the thresholds differ.
        InvalidSampleError: No claim was judged, samples cannot be joined by their ids, the claims of two
            criteria differ, or samples are not those that were judged.
    """
    methods, scoring = _methods(table)
    faults = []
    measured = []
    n_claims = n_needed = n_unsupported = left_out = 0
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
        texts = table.judged_samples[row] if table.judged_samples else Sample()
        contexts = texts.contexts or ()
        said = [*_joined(row, sample, "response", results[:2], scoring, contexts)]
        needed = [*_joined(row, sample, "reference", results[2:], scoring, contexts)]
        if any(result and has_other_texts(result, texts) for result in results):
            raise InvalidSampleError(
                f"the claims or contexts judged of {sample!r} are not those of the sample given; give the samples "
                "that were judged, with files of one run"
            )
        claims = [claim for claim in (*said, *needed) if claim]
        last = max(chain(*(claim.passages for claim in claims)), default=0)
        numbers = range(1, max(len(contexts), last) + 1)
        response, reference = labels = _labels(said, numbers), _labels(needed, numbers)
        # Where it failed, it is unknown what is missing; where it was not asked for, what was not retrieved is.
        is_open = "completeness" in methods and np.isnan(reference.agrees).any()
        for claim, cause in zip(claims, chain(*causes(*labels)), strict=True):
            if cause and not (is_open and claim.of == "reference"):
                faults.append((claim, Cause(cause)))
        measured.append(measures(*labels, n_passages=len(contexts)))
        n_claims += len(claims)
        n_needed += 0 if is_open else len(reference.agrees)
        n_unsupported += sum(response.grounded[np.isnan(response.agrees)] == 0)
        left_out += len(said + needed) - len(claims)
    if not n_claims:
        name = table.samples[0]
        raise InvalidSampleError(
            f"no claim was judged; {name!r}: {table.reason(name, table.methods[0])}"
        )
    return Diagnosis(
        faults, measured, n_needed, n_unsupported, left_out, scoring.least_weight
    )


def _methods(table: ScoreTable) -> tuple[dict[str, str], ScoringConfig]:
    """Return the method of each criterion, and the settings by which claims count as supported.

    Raises:
        InvalidValueError: None of the criteria was judged, one was judged twice, or the thresholds differ.
    """
    methods = {
        judged.criterion: method for method, judged in table.judged_methods.items()
    }
    if len(methods) < len(table.methods) or not methods.keys() & {*DIAGNOSED}:
        raise InvalidValueError(
            f"some of these criteria are needed, each once: {JUDGE_AGAIN}; got {', '.join(table.methods)}"
        )
    scorings = [
        judged.scoring or ScoringConfig() for judged in table.judged_methods.values()
    ]
    scoring = scorings[0]
    weights = sorted({scoring.least_weight for scoring in scorings})
    if len(weights) > 1:
        raise InvalidValueError(
            f"claims count as supported from different weights on, {weights}; "
            "choose one for all files: --set claim_threshold=LEVEL"
        )
    return methods, scoring


def _labels(claims: Sequence[JoinedClaim | None], numbers: range) -> ClaimLabels:
    """Put what is known of the claims of one text into columns, with the passages of these numbers."""
    rows = [
        (it.agrees, it.grounded, *(number in it.passages for number in numbers))
        for it in claims
        if it
    ]
    columns = np.array(rows, np.float64).reshape(-1, 2 + len(numbers))
    return ClaimLabels(columns[:, 0], columns[:, 1], columns[:, 2:] == 1)


def _joined(
    row: int,
    sample: str,
    of: str,
    pair: Sequence[Scored | None],
    scoring: ScoringConfig,
    contexts: Sequence[str],
) -> Iterator[JoinedClaim | None]:
    """Join the claims of two results of one text by place and text; None for one that only one of them judges.

    Raises:
        InvalidSampleError: The claims differ, or were made by a model for each criterion.
    """
    judged = [
        result.claims if result and not result.unscored else () for result in pair
    ]
    are_listed = any(
        isinstance(result, Result) and re.search(r"\bllm\b", result.prompt_version)
        for result in pair
    )
    quoted = [*map(_named, judged[1])]
    if contexts and isinstance(pair[1], Result):
        quoted = passages_with_quotes(pair[1].assessment, contexts)
    for place, claims in enumerate(zip_longest(*judged)):
        texts = [claim.claim if claim else "" for claim in claims]
        if all(judged) and (are_listed or texts[0] != texts[1]):
            raise InvalidSampleError(
                f"sample {sample!r}: claim {place + 1} is {texts[0]!r:.60} for one criterion, "
                f"{texts[1]!r:.60} for the other; judge the same samples by both, with "
                f"claims='split': {JUDGE_AGAIN}"
            )
        verdicts = [claim.verdict for claim in claims if claim]
        if all(verdicts):
            agrees, grounded = (
                _supported(claim, result, scoring)
                for claim, result in zip(claims, pair, strict=True)
            )
            passages = quoted[place] if grounded == 1 else ()
            yield JoinedClaim(row, of, place, max(texts), agrees, grounded, passages)
        elif any(verdicts):
            yield None


def _supported(
    claim: ClaimVerdict | None, result: Scored | None, scoring: ScoringConfig
) -> float:
    """Whether a claim reaches the claim threshold, as 1 or 0; nan where a result does not judge it."""
    if claim is None:
        why = result and result.unscored
        return 0.0 if why and why.reason in BLANK else np.nan
    return float((claim.support(scoring.scheme) or 0.0) >= scoring.least_weight)


def _named(claim: ClaimVerdict) -> tuple[int, ...]:
    """The number of the passage that the judge names for the sound quote of a claim; empty without one."""
    check = claim.evidence_check
    if claim.context is None or (check and check.is_fault):
        return ()
    return (claim.context,)


def has_other_texts(result: Scored, sample: Sample) -> bool:
    """Whether the judged claims are not the sentences of the sample's text, or name contexts that it lacks."""
    if (
        not isinstance(result, Result)
        or result.criterion not in CRITERIA
        or sample.field(CRITERIA[result.criterion].claims) is None
        or re.search(r"given|\bllm\b", result.prompt_version)
    ):
        return False  # claims that were given or made by a model stand in no text
    contexts = len(sample.contexts or ()) or np.inf
    if any((claim.context or 0) > contexts for claim in result.claims):
        return True
    words = " ".join(claim.claim for claim in result.claims).split()
    # The user may have a criterion of the same name on another field.
    texts = filter(None, (sample.response, sample.reference, sample.input))
    sentences = (" ".join(split_claims(text)).split() for text in texts)
    return bool(words) and words not in sentences
