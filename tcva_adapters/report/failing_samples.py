"""The samples behind failed gates, and their claims, as lines for a log."""

from __future__ import annotations

import math
from collections.abc import Iterator
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


def worst(
    report: Report,
    table: ScoreTable,
    most: int = MAX_FAILING,
) -> tuple[list[tuple[str, int]], int]:
    """Return the samples behind failures as (method, row), and how many there are in all.

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
    samples = [(method, place) for place, method in methods.items()]
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


def lowest_claims(
    table: ScoreTable,
    method: str,
    place: int,
) -> list[ClaimVerdict]:
    """Return a sample's claims, the lowest level first; non-claims come last."""
    result = table.result(method, place)
    claims = () if result is None else result.claims
    order = [*reversed(LEVELS), None]
    return sorted(claims, key=lambda claim: order.index(claim.verdict))


def verdict(
    table: ScoreTable,
    method: str,
    place: int,
) -> str:
    """Write a sample's score against the threshold, or the reason for no score."""
    score = table.column(method)[place]
    threshold = table.threshold(method)
    if math.isnan(score) or table.closed(method)[place]:
        return (
            f"no score: {shortened(table.reason(table.samples[place], method), SHOWN)}"
        )
    relation = ">=" if score >= threshold else "<"
    return f"{apart(float(score), threshold)} {relation} {threshold:g}"


def claim_lines(
    table: ScoreTable,
    method: str,
    place: int,
    most: int = CLAIMS,
) -> Iterator[str]:
    """Yield a line with claim and reason for each claim below ``fully``, the lowest first."""
    below = [
        claim
        for claim in lowest_claims(table, method, place)
        if claim.verdict not in {None, Verdict.FULLY}
    ]
    for claim in below[:most]:
        why = f" ({shortened(claim.reason, SHOWN)})" if claim.reason else ""
        yield f"{claim.verdict}: {shortened(claim.claim, SHOWN)}{why}"
    if len(below) > most:
        yield f"and {counted(len(below) - most, 'more claim')} below fully"


def gate_lines(report: Report, table: ScoreTable) -> Iterator[str]:
    """Yield the outcomes of the gates, failed ones first, then the worst samples with claims."""
    for record in sorted(gate_records(report), key=lambda record: record["passed"]):
        yield f"gate {'passed' if record['passed'] else 'failed'}: {record['text']}"
    samples, total = worst(report, table)
    if samples:
        yield f"samples ({len(samples)} of {total} shown):"
    for method, place in samples:
        name = shortened(table.samples[place], SHOWN)
        if len(table.methods) > 1:
            name += f" ({method})"
        yield f"  {name}: {verdict(table, method, place)}"
        yield from (f"    {line}" for line in claim_lines(table, method, place))
