"""Report why answers are wrong: causes, the measures of RAGChecker, the worst samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from tcva_adapters.compare.agreement.method_tables import reason_notes, unscored
from tcva_adapters.compare.diagnosis.causes import Cause
from tcva_adapters.compare.diagnosis.joined import DIAGNOSED, Diagnosis, diagnosis
from tcva_adapters.compare.scores.passages import passage_tables
from tcva_adapters.compare.scores.score_reader import Source, read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.criteria import CRITERIA
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import checked_samples
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.reader import SampleStream
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import Groups
from tcva_adapters.stats.inference import estimate
from tcva_adapters.tables import (
    Record,
    Records,
    Report,
    Table,
    counted,
    named_columns,
)

NEEDS = {
    "precision": "correctness",
    "recall": "completeness",
    "f1": "correctness, completeness",
    "claim_recall": "context_recall",
    "context_precision": "context_recall and its quotes, the samples",
    "context_utilization": "context_recall, completeness, a claim that was retrieved",
    "noise_sensitivity_in_relevant": "faithfulness, correctness, context_recall, and quotes",
    "noise_sensitivity_in_irrelevant": "faithfulness, correctness, context_recall, and quotes",
    "hallucination": "faithfulness, correctness",
    "self_knowledge": "faithfulness, correctness",
    "faithfulness": "faithfulness",
}
"""The measures of RAGChecker, and what each is computed from."""

_PHRASES = {
    Cause.RELEVANT_PASSAGE: "from passages that also hold needed facts",
    Cause.IRRELEVANT_PASSAGE: "from other passages",
    Cause.SOME_PASSAGE: "from passages",
    Cause.HALLUCINATION: "from none (hallucination)",
    Cause.NOT_RETRIEVED: "not retrieved (retriever)",
    Cause.NOT_USED: "retrieved and not used (generator)",
    Cause.UNKNOWN: "for unknown reasons",
}
_MEASURES = named_columns("measure", mean="interval", samples="int")
_CAUSES = named_columns("claims", "cause", number="int", share="interval")
_CLAIMS = named_columns("cause", "sample", claim="prose", passages="text")
_WORST = named_columns("cause", "sample", claim="prose", passages="text", claims="int")


@with_checked_names
def diagnose(
    source: ScoreTable | Source,
    *,
    scoring: ScoringConfig | None = None,
    group: str | None = None,
    samples: str | Path | Iterable[Sample] | None = None,
    skip_bad: bool = False,
) -> Report:
    """Find out why answers are wrong from judgements of several criteria, without a call of a model.

    The claims of the response are wrong where the reference does not support them (``correctness``), and
    repeat a passage or none (``faithfulness``); those of the reference are missing where the response does
    not say them (``completeness``), and were retrieved or not (``context_recall``). With fewer criteria the
    report says what can be said.

    Args:
        source: Judgements of the same samples, see `read_scores`: several files, or a table.
        scoring: Settings; a claim counts as supported with the weight of their ``claim_threshold``. By
            default those of the results.
        group: The metadata field of groups; intervals count groups instead of samples.
        samples: The samples that were judged, or their file, for the context precision and the tables of
            `passage_tables`.
        skip_bad: Leave out unreadable lines.

    Returns:
        The tables ``causes`` (of wrong and of missing claims), ``measures`` (means over samples, see
        `tcva_adapters.compare.diagnosis.causes.measures`), ``worst samples`` by cause, ``claims`` (all that are
        wrong or missing) and ``unscored``.

    Raises:
        InvalidValueError: No criterion was judged, or one was judged twice; thresholds differ; or the samples
            are others.
        InvalidSampleError: The judgements cannot be joined, or no claim was judged; the message says why.
        UnreadableInputError: See `read_scores`.

    >>> from tcva_adapters import TCVA, Sample
    >>> sample = Sample(id="a", response="We open at 8.", reference="We open at 9.", contexts=["We open at 8."])
    >>> criteria = ("faithfulness", "correctness")
    >>> results = {name: [TCVA(name, judge="lexical").evaluate(sample)] for name in criteria}
    >>> diagnose(results).records("causes")[0]["cause"].value
    'some passage'
    """
    if isinstance(samples, str | Path):
        samples = SampleStream(samples, skip_bad=skip_bad)
    texts = None if samples is None else [*checked_samples(samples)]
    table = read_scores(
        source,
        scoring=scoring,
        group=group,
        samples=texts,
        skip_bad=skip_bad,
        largest_first=True,
    )
    tables = [unscored(table)]
    n_unscored = sum(
        result is None or result.unscored is not None
        for results in table.results.values()
        for result in results
    )
    if texts and not any(sample.contexts for sample in table.judged_samples):
        raise InvalidValueError(
            f"no sample has contexts and an id of the results, such as {table.samples[0]!r}; give those judged"
        )
    if table.judged_samples:
        tables += passage_tables(table, table.judged_samples)
    found = diagnosis(table)
    groups = table.known_groups
    claims = [
        asdict(claim)
        | {
            "cause": cause,
            "sample": table.samples[claim.row],
            "passages": ", ".join(map(str, claim.passages)) or None,
        }
        | ({"group": groups[claim.row]} if groups else {})
        for claim, cause in found.faults
    ]
    causes = [*_causes(claims, groups)]
    notes = [
        "; ".join(map(str, table.judged_methods.values())),
        f"Claims count as supported from the weight {found.least_weight:g} on (claim_threshold).",
        "Intervals count samples, or groups where there are some, and not claims.",
    ]
    if found.left_out:
        notes.append(
            f"{counted(found.left_out, 'claim')} left out, which one of two criteria calls none"
        )
    judged = {method.criterion for method in table.judged_methods.values()}
    sides = {CRITERIA[name].claims for name in judged.intersection(DIAGNOSED)}
    if not table.judged_samples and len(sides) > 1:
        notes.append(
            "Whether claims of answers and of references are of the same samples is checked with --samples."
        )
    return Report(
        _sentence(causes, found, n_unscored),
        [
            Table(
                "causes",
                _CAUSES,
                causes,
                notes=[*reason_notes(causes, "cause"), *table.notes],
            ),
            _measures(found.measures, groups),
            Table("worst samples", _WORST, [*_worst(claims)]),
            Table("claims", _CLAIMS, claims, detail=True),
            *tables,
        ],
        notes if causes else [*notes, *table.notes],
        table.settings,
    )


def _causes(claims: Records, groups: Groups) -> Iterator[Record]:
    """Count the claims of each cause, as a share of the wrong or the missing ones."""
    for of, kind in (("response", "wrong"), ("reference", "missing")):
        of_kind = [claim for claim in claims if claim["of"] == of]
        units = [claim.get("group", claim["row"]) for claim in of_kind]
        for cause in Cause:
            is_cause = [claim["cause"] is cause for claim in of_kind]
            if any(is_cause):
                share = estimate("share", is_cause, units)
                yield {
                    "claims": kind,
                    "cause": cause,
                    "number": sum(is_cause),
                    "reason": share.reason
                    if groups
                    else share.reason.replace("groups", "samples"),
                    **share.record("share"),
                }


def _measures(samples: Sequence[Mapping[str, float]], groups: Groups) -> Table:
    """Average each measure over the samples, and say what those without a value need."""
    records = []
    for name, needs in NEEDS.items():
        figure = estimate("mean", [sample[name] for sample in samples], groups)
        reason = figure.reason if figure.n else f"it needs {needs}"
        record = {"measure": name, "samples": figure.n, "reason": reason}
        records.append(record | figure.record("mean"))
    return Table("measures", _MEASURES, records, notes=reason_notes(records, "measure"))


def _worst(claims: Records) -> Iterator[Record]:
    """Choose the three samples with most claims of each cause, each with the first of them."""
    for cause in Cause:
        of_cause = [claim for claim in claims if claim["cause"] is cause]
        numbers = Counter(claim["sample"] for claim in of_cause)
        for sample, number in numbers.most_common(3):
            first = next(claim for claim in of_cause if claim["sample"] == sample)
            yield {**first, "claims": number}


def _sentence(causes: Records, found: Diagnosis, n_unscored: int) -> str:
    """Say how many claims are wrong or missing, and why, and how many judgements say nothing."""
    parts = []
    for kind, of in (("wrong", ""), ("missing", f" (of {found.needed} needed)")):
        numbers = {
            row["cause"]: row["number"] for row in causes if row["claims"] == kind
        }
        if numbers:
            number = counted(sum(numbers.values()), f"{kind} claim")
            why = (f"{part} {_PHRASES[cause]}" for cause, part in numbers.items())
            parts.append(f"{number}{of}: {', '.join(why)}.")
    if found.unsupported:
        claims = counted(found.unsupported, "claim")
        parts.append(
            f"No passage supports {claims}; whether that is wrong needs correctness."
        )
    if not parts:
        parts.append("No claim is known to be wrong or missing.")
    if n_unscored:
        parts.append(f"{counted(n_unscored, 'judgement')} without a score.")
    return " ".join(parts)
