"""How methods agree with human ratings, and whether one of them agrees better than another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tcva_adapters.compare.agreement.method_tables import decision_counts, mean
from tcva_adapters.compare.scores.ratings import is_on_scale
from tcva_adapters.compare.scores.table import ScoreTable, groups_note
from tcva_adapters.stats.correlation import (
    MEASURES,
    Measure,
    agreement,
    higher_is_better,
)
from tcva_adapters.stats.describe import as_shown
from tcva_adapters.stats.holm import holm
from tcva_adapters.stats.inference import DETECTABLE, Estimate, difference, estimate
from tcva_adapters.stats.kappa import kappa_of_table
from tcva_adapters.tables import Record, Table, cell, counted, named_columns, p_text

LEAST = 10
"""Human ratings from which on methods are compared by them."""

FEW = 30
_ALPHA = 0.05
_PASS = 0.5
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
    """Every method's agreement with human ratings, on the samples that it has scored.

    Args:
        table: With ratings.
        objective: The measure that is tested, too.
        resamples: Of each test.
        seed: Of these.
    """
    human, groups = table.rating, table.groups or None
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
    """Every method against human ratings."""
    records = [
        {
            "method": method,
            "measure": measure,
            "n": estimated.n,
            "p": estimated.p,
            **estimated.record("agreement"),
        }
        for (method, measure), estimated in estimates.items()
    ]
    columns = named_columns(
        method="text",
        measure="text",
        n="int",
        agreement="interval",
        p="p",
    )
    notes = [
        f"n: samples with a score and a rating; p: of no agreement, for {objective} only"
    ]
    # The last reason of a method stands for its measures.
    reasons = {method: e.reason for (method, _), e in estimates.items() if e.reason}
    notes += _reason_notes(reasons)
    methods = {method for method, _ in estimates}
    if len(estimates) < len(methods) * len(MEASURES):
        notes.append("mae is left out where scores or ratings are not between 0 and 1")
    return Table("human ratings", columns, records, detail=True, notes=notes)


@dataclass(frozen=True, slots=True)
class PairTests:
    """The differences of all other methods from a reference.

    Attributes:
        objective: The measure by which methods are tested.
        ranked: The agreement of every method, the best first, as far as it is defined: on the samples
            that all have scored, where these are enough, else on each one's own.
        reference: The method that others are tested against.
        differences: By method.
        p_corrected: By method, as far as there is a test.
        number: Of comparisons that p allows for.
    """

    objective: Measure
    ranked: Mapping[str, float]
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

    Choosing the best method as the reference looks at every two, which p then allows for.

    Args:
        table: With ratings.
        estimates: Of its methods; those without one by the objective are left out.
        objective: The measure.
        reference: The method that others are tested against; None takes the best one.
        resamples: Of each test.
        seed: Of these.
    """
    table = replace(table, scores=as_shown(objective, table.scores))
    methods = [method for method in table.methods if (method, objective) in estimates]
    ranked = _ranked(table, objective, methods)
    against = reference or next(iter(ranked), "")
    human = table.rating
    differences = {
        method: difference(
            objective,
            table.column(method),
            table.column(against),
            human,
            table.groups or None,
            resamples=resamples,
            seed=seed,
        )
        for method in methods
        if against and method != against
    }
    p = {m: tested.p for m, tested in differences.items() if not math.isnan(tested.p)}
    others = 0 if reference else len(p) * (len(p) - 1) // 2
    corrected = holm([*p.values(), *[math.nan] * others]).tolist()
    return PairTests(
        objective=objective,
        ranked=ranked,
        reference=against,
        differences=differences,
        p_corrected=dict(zip(p, corrected, strict=False)),
        number=len(corrected),
    )


def _ranked(
    table: ScoreTable, objective: Measure, methods: Sequence[str]
) -> dict[str, float]:
    """See `PairTests`."""
    rated = table.rated
    common = rated.common()
    used = common if len(common) >= LEAST else rated
    human = used.rating
    values = {
        method: agreement(objective, used.column(method), human).value
        for method in methods
    }
    defined = [method for method in values if not math.isnan(values[method])]
    is_descending = higher_is_better(objective)
    defined.sort(key=lambda method: values[method], reverse=is_descending)
    return {method: values[method] for method in defined}


def differences_table(tests: PairTests, margin: float | None) -> Table:
    """Every other method less the reference, and whether the two are as good as each other."""
    records: list[Record] = []
    for method, tested in tests.differences.items():
        record = {
            "method": method,
            "reference": tests.reference,
            "n": tested.n,
            "p": tested.p,
            **tested.record("difference"),
            "p_corrected": tests.p_corrected.get(method, math.nan),
            "detectable": tested.smallest,
        }
        if margin is not None:
            record["equivalent"] = "yes" if tested.equivalent(margin) else "not shown"
        records.append(record)
    columns = named_columns(
        method="text",
        n="int",
        difference="signed",
        p="p",
        p_corrected="p",
        detectable="score",
    )
    measure = MEASURE_NAMES[tests.objective]
    notes = [f"difference: {measure} of the method minus that of {tests.reference}"]
    if tests.number:
        notes += [
            f"p corrected: Holm, for {counted(tests.number, 'comparison')}",
            f"detectable: {DETECTABLE}",
        ]
    if margin is not None:
        columns += named_columns(equivalent="text")
        notes.append(
            f"equivalent: within {margin:g} of each other (two one-sided tests at 5 %, uncorrected)"
        )
    notes += _reason_notes({m: d.reason for m, d in tests.differences.items()})
    return Table("differences", columns, records, notes=notes)


def _reason_notes(reasons: Mapping[str, str]) -> list[str]:
    """Why there is no interval, with the methods that share the reason."""
    methods: dict[str, list[str]] = {}
    for method, reason in reasons.items():
        if reason:
            methods.setdefault(reason, []).append(method)
    return [
        f"no interval ({', '.join(names)}): {why}" for why, names in methods.items()
    ]


def decisions_by_rating(table: ScoreTable) -> Table:
    """Every method's decisions against those of the ratings; for ratings in [0, 1]."""
    human = table.rating
    is_good = human >= _PASS
    records: list[Record] = []
    for method, scores in table.columns if is_on_scale(human) else ():
        both = np.isfinite(scores) & np.isfinite(human)
        passes = table.passes(method)
        counts = decision_counts(passes[both], is_good[both])
        record = {
            "method": method,
            "n": int(both.sum()),
            "rating_passes": mean(is_good[both]),
            "kappa": kappa_of_table(counts),
        }
        hits = passes & is_good
        for measure, among in (("precision", passes), ("recall", is_good)):
            shares = np.where(both & among, hits, np.nan)
            record |= estimate("share", shares, table.groups or None).record(measure)
        records.append(record)
    columns = named_columns(
        method="text",
        n="int",
        rating_passes="share",
        kappa="score",
        precision="interval",
        recall="interval",
    )
    note = (
        f"a rating passes from {_PASS:g}; precision: of the samples that the method passes, "
        "recall: of those whose rating passes"
    )
    return Table("decisions by rating", columns, records, detail=True, notes=[note])


def rating_notes(
    table: ScoreTable, tests: PairTests, *, is_best: bool
) -> Iterator[str]:
    """What a reader must know of the ratings, and of a reference that is the best method."""
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


def agreement_sentence(
    table: ScoreTable, estimates: Estimates, tests: PairTests
) -> str:
    """The method that agrees best with people, and whether it is significantly better than the next.

    Empty with too few ratings. TCVA at another temperature is no other method.
    """
    rated, ranked = table.rated, tests.ranked
    if not ranked or len(rated) < LEAST:
        return ""
    best = next(iter(ranked))
    estimated = estimates[best, tests.objective]
    n = estimated.n
    shown = cell(estimated.value, "interval", estimated.low, estimated.high)
    common = len(rated.common())
    is_common = common >= LEAST and any(e.n != common for e in estimates.values())
    if is_common and n != common:  # its interval is of its own samples
        shown, n = cell(ranked[best], "score"), common
    figures = f"({MEASURE_NAMES[tests.objective]} {shown}, n = {n})"
    if higher_is_better(tests.objective) and ranked[best] <= 0.0:
        return (
            f"No method agrees with the human ratings; the highest is {best} {figures}."
        )

    where = "On the samples that all methods scored, " if is_common else ""
    adverb = " best" if len(ranked) > 1 else ""
    sentence = f"{where}{best} agrees{adverb} with the human ratings {figures}."
    family = table.views if best in table.views else (best,)
    rival, tested, sign = tests.reference, best, 1.0
    if best == tests.reference:
        rival = next((method for method in ranked if method not in family), "")
        tested, sign = rival, -1.0
    pair = tests.differences.get(tested)
    if pair is None or rival in family or rival not in ranked:
        return sentence
    ahead = cell(sign * pair.value, "signed")
    sentence += f" The difference from {rival} ({ahead})"
    p = tests.p_corrected.get(tested)
    if p is None:
        return f"{sentence} has no test: {pair.reason}."
    negation = "" if p < _ALPHA else "not "
    return f"{sentence} is {negation}significant ({p_text(p)})."
