"""The samples behind failed gates, and their claims, as lines for a log."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.report.baseline import REGRESSIONS
from tcva_adapters.report.gates import (
    FAILED_SAMPLES,
    apart,
    failed_samples,
    gate_records,
    records_of,
)
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.protocol import Scored
from tcva_adapters.stats.checks import IntArray
from tcva_adapters.tables import (
    Record,
    Report,
    counted,
    shortened,
)

MAX_FAILING = 10
"""The most samples that are named with failed gates."""

CLAIMS = 3
"""The most claims that are named with each sample."""

SHOWN = 160


@dataclass(frozen=True, slots=True)
class SampleScore:
    """A sample of a table, and its score of one method.

    Attributes:
        table: The scores; with results, claims are named.
        method: The method.
        place: The row of the sample.
    """

    table: ScoreTable
    method: str
    place: int

    @property
    def name(self) -> str:
        """The id of the sample."""
        return self.table.samples[self.place]

    @property
    def result(self) -> Scored | None:
        """The result of the sample; None for imported scores."""
        return self.table.result(self.method, self.place)

    @property
    def claims(self) -> list[ClaimVerdict]:
        """The sample's claims, the lowest level first; non-claims come last."""
        result = self.result
        claims = () if result is None else result.claims
        order = [*reversed(LEVELS), None]
        return sorted(claims, key=lambda claim: order.index(claim.verdict))

    @property
    def verdict(self) -> str:
        """The score against the threshold, or the reason for no score."""
        table = self.table
        score = table.column(self.method)[self.place]
        threshold = table.threshold(self.method)
        if math.isnan(score) or table.closed(self.method)[self.place]:
            return f"no score: {shortened(table.reason(self.name, self.method), SHOWN)}"
        relation = ">=" if score >= threshold else "<"
        return f"{apart(float(score), threshold)} {relation} {threshold:g}"

    def claim_lines(self, most: int = CLAIMS) -> Iterator[str]:
        """Yield a line with claim and reason for each claim below ``fully``, the lowest first."""
        below = [
            claim for claim in self.claims if claim.verdict not in {None, Verdict.FULLY}
        ]
        for claim in below[:most]:
            why = f" ({shortened(claim.reason, SHOWN)})" if claim.reason else ""
            yield f"{claim.verdict}: {shortened(claim.claim, SHOWN)}{why}"
        if len(below) > most:
            yield f"and {counted(len(below) - most, 'more claim')} below fully"


def worst(
    report: Report,
    table: ScoreTable,
    most: int = MAX_FAILING,
) -> tuple[list[SampleScore], int]:
    """Return the samples behind failures, and how many there are in all.

    Samples that newly fail since the baseline come first. Then come those of each failed gate in
    turn: for a mean or a pass rate those that do not pass (if all pass, those below the required
    mean), for a coverage those without a score. A sample is named once.
    """
    regressions = records_of(report, REGRESSIONS)
    places = table.places_of([r["sample"] for r in regressions]).tolist()
    lost = [
        (record["method"], place)
        for record, place in zip(regressions, places, strict=True)
        if place >= 0
    ]
    behind = [
        [(record["method"], place) for place in _places_behind(record, table).tolist()]
        for record in gate_records(report)
        if not record["passed"] and record["method"] in table.methods
    ]
    turns = chain.from_iterable(zip_longest(*behind))
    methods: dict[int, str] = {}
    for method, place in (*lost, *filter(None, turns)):
        methods.setdefault(place, method)
    samples = [SampleScore(table, method, place) for place, method in methods.items()]
    return samples[:most], len(samples)


def _places_behind(record: Record, table: ScoreTable) -> IntArray:
    """Return the rows of the samples behind a failed gate, the worst first."""
    method = record["method"]
    figure = record["figure"]
    scores = table.column(method)
    if figure in {"mean", "pass_rate"} and record["value"] is not None:
        fails = np.isfinite(scores) & ~table.passes(method)
        if figure == "mean" and not fails.any():
            fails = scores < record["least"]
        order = np.argsort(scores, kind="stable")
        return order[fails[order]]
    failed = failed_samples(table, method)
    places = np.flatnonzero(failed)
    if figure in {"change", FAILED_SAMPLES}:
        return places
    others = np.isnan(scores) & ~failed & ~table.silent(method)
    return np.append(places, np.flatnonzero(others))


def gate_lines(report: Report, table: ScoreTable) -> Iterator[str]:
    """Yield the outcomes of the gates, failed ones first, then the worst samples with claims."""
    for record in sorted(gate_records(report), key=lambda record: record["passed"]):
        yield f"gate {'passed' if record['passed'] else 'failed'}: {record['text']}"
    samples, total = worst(report, table)
    if samples:
        yield f"samples ({len(samples)} of {total} shown):"
    for sample in samples:
        name = shortened(sample.name, SHOWN)
        if len(table.methods) > 1:
            name += f" ({sample.method})"
        yield f"  {name}: {sample.verdict}"
        yield from (f"    {line}" for line in sample.claim_lines())
