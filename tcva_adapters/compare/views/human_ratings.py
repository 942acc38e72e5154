"""How well each method agrees with human ratings, with intervals and paired tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.compare.views.crosstab import Flags
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.bootstrap import PairedDifference, intervals, paired_difference
from tcva_adapters.stats.correlation import (
    MEASURES,
    Measure,
    agreement,
    check_measure,
    higher_is_better,
)
from tcva_adapters.stats.correlation_test import correlation_test
from tcva_adapters.stats.enough import LEAST_SAMPLES
from tcva_adapters.stats.equivalence import Equivalence, equivalence
from tcva_adapters.stats.holm import holm
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.planning import smallest_from


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """One method against human ratings by one measure.

    Attributes:
        method: Its name.
        measure: ``spearman``, ``kendall``, ``pearson`` or ``mae``.
        own: On all samples that it has scored and humans have rated, with n and interval.
        common: On those that every method has scored.
        p_two_sided: Of the correlation on its own samples against no agreement, by permutations
            (`correlation_test`); nan for ``mae``, and where samples belong together in groups.
    """

    method: str
    measure: Measure
    own: Interval
    common: Interval
    p_two_sided: float


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One method against the reference, by one measure, on the samples that both have scored.

    Attributes:
        method: Its name.
        reference: The other's.
        result: The difference (method minus reference), its interval, p-values and n.
        p_holm: By the primary measure: the two-sided p, adjusted for all comparisons that were
            looked at (Holm 1979). By other measures nan: they are shown, and nothing is claimed.
        smallest: By the primary measure: the true difference that such a test finds in 80 % of
            cases, with as many samples and comparisons; smaller ones are mostly missed.
        equivalence: By the primary measure, where a margin was given: whether the method is as
            good as the reference, p adjusted for all methods (Holm 1979).
    """

    method: str
    reference: str
    result: PairedDifference
    p_holm: float
    smallest: float = math.nan
    equivalence: Equivalence | None = None


@dataclass(frozen=True, slots=True)
class HumanRatings:
    """The methods against human ratings.

    Attributes:
        rated: Samples with a human rating.
        common: Those that every method has scored, too.
        agreements: One per method and measure.
        reference: The method that the others are tested against; empty with a single method.
        chosen: True where it was picked as the best on these very samples.
        objective: The primary measure, chosen before looking: it picks the best method, and is
            the one that is tested.
        tests: One per other method and measure.
        n_tests: Comparisons that Holm's adjustment allows for: those with the reference, or, where
            this was picked as the best one, those of every two methods.
        left_out: Measures that were left out, with the reason.
    """

    rated: int
    common: int
    agreements: tuple[HumanAgreement, ...]
    reference: str
    chosen: bool
    objective: Measure
    tests: tuple[PairedTest, ...]
    n_tests: int
    left_out: tuple[tuple[Measure, str], ...]

    @property
    def is_few(self) -> bool:
        """Whether there are too few ratings for any interval."""
        return self.rated < LEAST_SAMPLES


def compare_with_ratings(
    table: ScoreTable,
    *,
    objective: Measure = "spearman",
    reference: str | None = None,
    margin: float | None = None,
    measures: Sequence[Measure] = MEASURES,
    n_boot: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    groups: Sequence[object] | None = None,
) -> HumanRatings:
    """Agreement of every method with human ratings, and every method tested against one of them.

    Args:
        table: With human ratings.
        objective: The primary measure, by which methods are tested; chosen before looking.
        reference: The method to test against; by default the best one by the objective on the
            common samples (on its own samples where these are too few).
        margin: Test also whether the methods are as good as the reference, up to this difference.
        measures: Which.
        n_boot: Resamples per interval and test.
        level: Of the intervals.
        seed: Of the resamples.
        groups: One per sample, to resample whole groups.

    Raises:
        InvalidValueError: No human ratings, an unknown method or measure, groups that do not fit.
        MissingDependencyError: scipy is not installed.
    """
    if table.human is None:
        msg = "the table has no human ratings; pass them to ScoreTable.of"
        raise InvalidValueError(msg)
    if reference is not None:
        table.column(reference)  # refuses a name that is not there
    for measure in (objective, *measures):
        check_measure(measure)
    left_out: list[tuple[Measure, str]] = []
    if "mae" in measures and (why := no_common_scale(table)):
        left_out.append(("mae", why))
    wanted = [m for m in measures if m not in dict(left_out)]
    resampled = {"n_boot": n_boot, "level": level, "seed": seed, "groups": groups}
    rated = np.isfinite(table.human)
    common = np.isfinite(table.scores).all(axis=1) & rated
    chosen = reference is None
    against = _best(table, common, objective) if reference is None else reference
    results = _differences(table, wanted, against, resampled)
    tests, n_tests = _adjusted(results, against, objective, every_two=chosen)
    primary = [test for test in tests if test.result.measure == objective]
    as_good = {} if margin is None else _as_good(table, primary, margin, resampled)
    tests = tuple(
        replace(
            test,
            smallest=_smallest(test.result, n_tests),
            equivalence=as_good.get(test.method),
        )
        if test.result.measure == objective
        else test
        for test in tests
    )
    return HumanRatings(
        rated=int(rated.sum()),
        common=int(common.sum()),
        agreements=_agreements(table, wanted, common, resampled),
        reference=against,
        chosen=chosen and bool(against),
        objective=objective,
        tests=tests,
        n_tests=n_tests,
        left_out=tuple(left_out),
    )


def _agreements(
    table: ScoreTable, measures: Sequence[Measure], common: Flags, resampled: dict[str, Any]
) -> tuple[HumanAgreement, ...]:
    """One per method and measure; the table has human ratings."""
    human = np.asarray(table.human)
    shared = np.where(common[:, None], table.scores, np.nan)
    # A method's own samples often are the common ones; its resamples are drawn once then.
    rated = np.isfinite(human)[:, None]
    wider = ((np.isfinite(table.scores) & rated) != common[:, None]).any(axis=0)
    columns = np.concatenate([table.scores, shared[:, wider]], axis=1)
    agreements = []
    for measure in measures:
        found = intervals(measure, columns, human, **resampled)
        on_common = iter(found[len(table.methods) :])
        agreements += [
            HumanAgreement(
                method,
                measure,
                own,
                next(on_common) if differs else own,
                math.nan
                if resampled["groups"] is not None
                else correlation_test(
                    measure, table.column(method), human, seed=resampled["seed"]
                ).p_two_sided,
            )
            for method, own, differs in zip(table.methods, found, wider.tolist(), strict=False)
        ]
    return tuple(agreements)


def _differences(
    table: ScoreTable, measures: Sequence[Measure], against: str, resampled: dict[str, Any]
) -> list[tuple[str, PairedDifference]]:
    """One per other method and measure; none without a method to test against."""
    if not against:
        return []
    reference, human = table.column(against), np.asarray(table.human)
    return [
        (method, paired_difference(measure, table.column(method), reference, human, **resampled))
        for measure in measures
        for method in table.methods
        if method != against
    ]


def _adjusted(
    results: Sequence[tuple[str, PairedDifference]],
    against: str,
    objective: Measure,
    *,
    every_two: bool,
) -> tuple[tuple[PairedTest, ...], int]:
    """With p adjusted by the primary measure, and the number of comparisons that it allows for."""
    # What could not be tested is no hypothesis that others must allow for.
    tested = [
        result.p_two_sided
        for _, result in results
        if result.measure == objective and not math.isnan(result.p_two_sided)
    ]
    # Who picks the best one has looked at every two. Those without it stay untested.
    others = len(tested) * (len(tested) - 1) // 2 if every_two else 0
    adjusted = iter(holm([*tested, *[math.nan] * others]).tolist())
    tests = tuple(
        PairedTest(
            method,
            against,
            result,
            next(adjusted)
            if result.measure == objective and not math.isnan(result.p_two_sided)
            else math.nan,
        )
        for method, result in results
    )
    return tests, len(tested) + others


def _smallest(result: PairedDifference, comparisons: int) -> float:
    ends = (result.low, result.high, result.level)
    return smallest_from(*ends, comparisons=comparisons) if comparisons else math.nan


def _as_good(
    table: ScoreTable, tests: Sequence[PairedTest], margin: float, resampled: dict[str, Any]
) -> dict[str, Equivalence]:
    """By method, its p allowing for all methods (Holm); one-sided at the level of the comparisons."""
    given = {name: value for name, value in resampled.items() if name != "level"}
    alpha, human = 1 - resampled["level"], np.asarray(table.human)
    found = [
        equivalence(
            test.result.measure,
            table.column(test.method),
            table.column(test.reference),
            human,
            margin,
            alpha=alpha,
            **given,
        )
        for test in tests
    ]
    worse = holm([each.p_not_worse for each in found]).tolist()
    apart = holm([each.p_equivalent for each in found]).tolist()
    return {
        test.method: replace(each, p_not_worse=one, p_equivalent=other)
        for test, each, one, other in zip(tests, found, worse, apart, strict=True)
    }


def _best(table: ScoreTable, common: Flags, objective: Measure) -> str:
    """The method that agrees best, the first of equals; none for a single method."""
    if len(table.methods) < 2 or table.human is None:
        return ""
    sign = 1.0 if higher_is_better(objective) else -1.0
    for scores in (np.where(common[:, None], table.scores, np.nan), table.scores):
        values = [sign * agreement(objective, column, table.human).value for column in scores.T]
        if not np.isnan(values).all():
            return table.methods[int(np.nanargmax(values))]
    return ""


def no_common_scale(table: ScoreTable) -> str:
    """Why an absolute error would mean nothing, if so."""
    for name, way, values in (
        ("human ratings", "name their scale (human_scale, --human-scale)", table.human),
        ("scores", "rescale them", table.scores),
    ):
        known = values[np.isfinite(values)] if values is not None else np.array([])
        if len(known) and (known.min() < 0.0 or known.max() > 1.0):
            return f"{name} lie outside [0, 1] ({known.min():g} to {known.max():g}); {way}"
    return ""
