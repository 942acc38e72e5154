"""Measure how methods agree with human ratings, and test which of two agrees better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tcva_adapters.compare.agreement.method_tables import (
    figure_row,
    reason_notes,
    with_interval,
)
from tcva_adapters.compare.scores.ratings import is_on_scale
from tcva_adapters.compare.scores.table import ScoreTable, groups_note
from tcva_adapters.stats.correlation import (
    MEASURES,
    Measure,
    agreement,
    higher_is_better,
)
from tcva_adapters.stats.describe import as_shown
from tcva_adapters.stats.estimates import DETECTABLE, Estimate
from tcva_adapters.stats.holm import holm
from tcva_adapters.stats.inference import difference, estimate
from tcva_adapters.tables import Column, Table, cell, counted, named_columns, p_text

MIN_SAMPLES = 10
"""The fewest human ratings by which methods are compared."""

FEW = 30
_ALPHA = 0.05
MEASURE_NAMES: dict[Measure, str] = {
    "spearman": "Spearman",
    "kendall": "Kendall",
    "pearson": "Pearson",
    "mae": "mean absolute error",
}

Estimates = Mapping[tuple[str, Measure], Estimate]
"""The agreement with human ratings by method and measure."""


def estimates_of(
    table: ScoreTable, objective: Measure, *, resamples: int, seed: int
) -> Estimates:
    """Estimate every method's agreement with human ratings, on the samples that it has scored.

    Args:
        table: A table with ratings.
        objective: The measure that is tested; the others are only estimated.
        resamples: Resamples of each test.
        seed: Seed of the resamples.
    """
    human = table.rating
    groups = table.known_groups
    return {
        (method, measure): estimate(
            measure,
            [as_shown(measure, scores), human],
            groups,
            test=measure == objective,
            resamples=resamples,
            seed=seed,
        )
        for (method, scores), measure in product(table.columns, MEASURES)
        # An absolute error needs both on the scale of [0, 1].
        if measure != "mae" or (is_on_scale(scores) and is_on_scale(human))
    }


def agreement_table(estimates: Estimates, objective: Measure) -> Table:
    """Tabulate every method's agreement with human ratings."""
    records = [
        {
            "method": method,
            "measure": measure,
            **figure_row(agreement=estimated),
        }
        for (method, measure), estimated in estimates.items()
    ]
    notes = [
        f"n: samples with a score and a rating; p: of no agreement, for {objective} only",
        *reason_notes(records, "method"),
    ]
    methods = {method for method, _ in estimates}
    if len(estimates) < len(methods) * len(MEASURES):
        notes.append("mae is left out where scores or ratings are not between 0 and 1")
    return Table(
        "human ratings",
        named_columns(
            "method",
            "measure",
            n="int",
            agreement="interval",
            p="p",
        ),
        records,
        detail=True,
        notes=notes,
    )


@dataclass(frozen=True, slots=True)
class PairTests:
    """The differences of all other methods from a reference.

    Attributes:
        objective: The measure by which methods are tested.
        ranked: The methods for which the agreement is defined, the best first.
        best: The agreement of the best one on the samples behind ``ranked``, with its interval.
        common: The number of samples behind ``ranked``, those that every method has scored; None
            where these are too few, and each method is ranked on its own samples.
        reference: The method that others are tested against.
        differences: The difference from the reference, by method.
        p_corrected: The corrected p, by method with a test.
        number: The number of comparisons for which p is corrected.
    """

    objective: Measure
    ranked: Sequence[str]
    best: Estimate
    common: int | None
    reference: str
    differences: Mapping[str, Estimate]
    p_corrected: Mapping[str, float]
    number: int


def tests_against(
    table: ScoreTable,
    estimates: Estimates,
    objective: Measure,
    *,
    reference: str | None,
    resamples: int,
    seed: int,
) -> PairTests:
    """Test every other method against the reference, with p corrected by Holm.

    Choosing the best method as the reference compares all pairs of methods, for which p is then
    corrected.

    Args:
        table: A table with ratings.
        estimates: The agreement of its methods; methods without one for the objective are left out.
        objective: The measure that is tested.
        reference: The method that others are tested against; None takes the best one.
        resamples: Resamples of each test.
        seed: Seed of the resamples.
    """
    methods = [method for method in table.methods if (method, objective) in estimates]
    table = replace(table, scores=as_shown(objective, table.scores)).rated
    common = table.common()
    is_common = len(common) >= MIN_SAMPLES
    ranking = common if is_common else table
    values = {
        method: agreement(objective, ranking.column(method), ranking.rating).value
        for method in methods
    }
    ranked = [method for method in methods if not math.isnan(values[method])]
    ranked.sort(key=lambda method: values[method], reverse=higher_is_better(objective))
    best = Estimate(math.nan)
    if ranked:
        columns = [ranking.column(ranked[0]), ranking.rating]
        best = estimate(objective, columns, ranking.known_groups)
    against = reference or next(iter(ranked), "")
    differences = {
        method: difference(
            objective,
            table.column(method),
            table.column(against),
            table.rating,
            table.known_groups,
            resamples=resamples,
            seed=seed,
        )
        for method in methods
        if against and method != against
    }
    p = {m: tested.p for m, tested in differences.items() if not math.isnan(tested.p)}
    others = 0 if reference else len(p) * (len(p) - 1) // 2
    corrected = holm([*p.values(), *[math.nan] * others])
    return PairTests(
        objective=objective,
        ranked=ranked,
        best=best,
        common=len(common) if is_common else None,
        reference=against,
        differences=differences,
        p_corrected=dict(zip(p, corrected, strict=False)),
        number=len(corrected),
    )


def differences_table(tests: PairTests, margin: float | None) -> Table:
    """Tabulate the differences from the reference, and whether they lie within the margin."""
    columns = named_columns(
        "method",
        n="int",
        difference="signed",
        p="p",
        p_corrected="p",
        detectable="score",
    )
    records = []
    for method, tested in tests.differences.items():
        record = {
            "method": method,
            "reference": tests.reference,
            **figure_row(difference=tested),
            "p_corrected": tests.p_corrected.get(method, math.nan),
            "detectable": tested.smallest,
        }
        if margin is not None:
            record["equivalent"] = "yes" if tested.equivalent(margin) else "not shown"
        records.append(record)
    measure = MEASURE_NAMES[tests.objective]
    notes = [f"difference: {measure} of the method minus that of {tests.reference}"]
    if tests.number:
        notes += [
            f"p corrected: Holm, for {counted(tests.number, 'comparison')}",
            f"detectable: {DETECTABLE}",
        ]
    if margin is not None:
        columns.append(Column("equivalent"))
        notes.append(
            f"equivalent: within {margin:g} of each other (two one-sided tests at 5 %, uncorrected)"
        )
    notes += reason_notes(records, "method")
    return Table("differences", columns, records, notes=notes)


def rating_notes(
    table: ScoreTable, tests: PairTests, *, is_best: bool
) -> Iterator[str]:
    """Note few ratings, groups, and a reference that was chosen as the best method."""
    rated = len(table.rated)
    if rated < FEW:
        yield (
            f"{counted(rated, 'human rating')} is little: about 30 show whether a method agrees with "
            "people at all, hundreds which of two agrees better."
        )
    if table.groups:
        yield groups_note(len(set(table.groups)))
    if is_best and tests.number:
        yield (
            f"{tests.reference} is the reference because it has the best {tests.objective} on these "
            "samples. A reference named beforehand (--reference) takes a smaller correction of p."
        )


def agreement_sentence(table: ScoreTable, tests: PairTests) -> str:
    """Name the method that agrees best with people, and test it against the next one.

    A method agrees where the interval of its correlation excludes 0, and agrees best where it is
    significantly better than every other. The sentence is empty with too few ratings. TCVA at
    another temperature does not count as the next method.
    """
    if not tests.ranked or len(table.rated) < MIN_SAMPLES:
        return ""
    best = tests.ranked[0]
    agreed = tests.best
    measure = MEASURE_NAMES[tests.objective]
    figures = f"{measure} {with_interval(agreed)}, n = {agreed.n}"
    if higher_is_better(tests.objective) and not agreed.low > 0.0:
        if agreed.reason:
            figures += f"; no interval: {agreed.reason}"
        return f"No method is shown to agree with the human ratings; the highest is {best} ({figures})."

    scored = np.isfinite(table.rated.scores).sum(axis=0)
    is_subset = tests.common is not None and bool((scored != tests.common).any())
    where = "On the samples that all methods scored, " if is_subset else ""
    sentence = f"{where}{best} {_claim(tests)} the human ratings ({figures})."
    family = table.views if best in table.views else (best,)
    rival = tests.reference
    tested = best
    sign = 1.0
    if best == tests.reference:
        rival = next((method for method in tests.ranked if method not in family), "")
        tested = rival
        sign = -1.0
    pair = tests.differences.get(tested)
    if pair is None or rival in family or rival not in tests.ranked:
        return sentence
    ahead = cell(sign * pair.value, "signed")
    if pair.n != agreed.n:
        ahead += f" on the {pair.n} samples that both scored"
    sentence += f" The difference from {rival} ({ahead})"
    p = tests.p_corrected.get(tested)
    if p is None:
        return f"{sentence} has no test: {pair.reason}."
    negation = "" if p < _ALPHA else "not "
    return f"{sentence} is {negation}significant ({p_text(p)})."


def _claim(tests: PairTests) -> str:
    """State what the first method's place allows to say of it."""
    is_better = [tests.p_corrected.get(m, 1.0) < _ALPHA for m in tests.ranked[1:]]
    if not higher_is_better(tests.objective):
        return "has the smallest error against" if is_better else "differs from"
    if all(is_better):
        return "agrees best with" if is_better else "agrees with"
    return "has the highest agreement with"
