"""How well each method agrees with human ratings, with intervals and paired tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.compare.views.crosstab import Flags
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.bootstrap import Interval, PairedDifference, intervals, paired_difference
from tcva_adapters.stats.correlation import MEASURES, Measure, agreement, check_measure
from tcva_adapters.stats.holm import holm

LEADING: Final[Measure] = "spearman"
"""The measure that picks the best method."""


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """One method against human ratings by one measure.

    Attributes:
        method: Its name.
        measure: ``spearman``, ``kendall``, ``pearson`` or ``mae``.
        own: On all samples that it has scored and humans have rated, with n and interval.
        common: On those that every method has scored.
    """

    method: str
    measure: Measure
    own: Interval
    common: Interval


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One method against the reference, by one measure, on the samples that both have scored.

    Attributes:
        method: Its name.
        reference: The other's.
        result: The difference (method minus reference), its interval, p-values and n.
        p_holm: The two-sided p adjusted for all tests of the comparison (Holm 1979).
    """

    method: str
    reference: str
    result: PairedDifference
    p_holm: float


@dataclass(frozen=True, slots=True)
class HumanRatings:
    """The methods against human ratings.

    Attributes:
        rated: Samples with a human rating.
        common: Those that every method has scored, too.
        agreements: One per method and measure.
        reference: The method that the others are tested against; empty with a single method.
        chosen: True where it was picked as the best on these very samples.
        tests: One per other method and measure.
        n_tests: Tests with a p-value, over which Holm's adjustment runs.
        left_out: Measures that were left out, with the reason.
    """

    rated: int
    common: int
    agreements: tuple[HumanAgreement, ...]
    reference: str
    chosen: bool
    tests: tuple[PairedTest, ...]
    n_tests: int
    left_out: tuple[tuple[Measure, str], ...]


def compare_with_ratings(
    table: ScoreTable,
    *,
    reference: str | None = None,
    measures: Sequence[Measure] = MEASURES,
    n_boot: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    groups: Sequence[object] | None = None,
) -> HumanRatings:
    """Agreement of every method with human ratings, and every method tested against one of them.

    Args:
        table: With human ratings.
        reference: The method to test against; by default the one with the highest Spearman
            correlation on the common samples (on its own samples where these are too few).
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
    for measure in measures:
        check_measure(measure)
    left_out: list[tuple[Measure, str]] = []
    if "mae" in measures and (why := no_common_scale(table)):
        left_out.append(("mae", why))
    wanted = [m for m in measures if m not in dict(left_out)]
    resampled = {"n_boot": n_boot, "level": level, "seed": seed, "groups": groups}
    rated = np.isfinite(table.human)
    common = np.isfinite(table.scores).all(axis=1) & rated
    against = reference or _best(table, common)
    tests = _tests(table, wanted, against, resampled)
    return HumanRatings(
        rated=int(rated.sum()),
        common=int(common.sum()),
        agreements=_agreements(table, wanted, common, resampled),
        reference=against,
        chosen=reference is None and bool(against),
        tests=tests,
        n_tests=sum(not math.isnan(test.p_holm) for test in tests),
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
            HumanAgreement(method, measure, own, next(on_common) if differs else own)
            for method, own, differs in zip(table.methods, found, wider.tolist(), strict=False)
        ]
    return tuple(agreements)


def _tests(
    table: ScoreTable, measures: Sequence[Measure], against: str, resampled: dict[str, Any]
) -> tuple[PairedTest, ...]:
    """One per other method and measure; none without a method to test against."""
    if not against:
        return ()
    reference, human = table.column(against), np.asarray(table.human)
    results = [
        (method, paired_difference(measure, table.column(method), reference, human, **resampled))
        for measure in measures
        for method in table.methods
        if method != against
    ]
    # What could not be tested is no hypothesis that others must allow for.
    tested = [result.p_two_sided for _, result in results if not math.isnan(result.p_two_sided)]
    adjusted = iter(holm(tested).tolist())
    return tuple(
        PairedTest(method, against, result, p if math.isnan(p) else next(adjusted))
        for method, result in results
        for p in [result.p_two_sided]
    )


def _best(table: ScoreTable, common: Flags) -> str:
    """The method with the highest correlation, the first of equals; none for a single method."""
    if len(table.methods) < 2 or table.human is None:
        return ""
    for scores in (np.where(common[:, None], table.scores, np.nan), table.scores):
        values = [agreement(LEADING, column, table.human).value for column in scores.T]
        if not np.isnan(values).all():
            return table.methods[int(np.nanargmax(values))]
    return ""


def no_common_scale(table: ScoreTable) -> str:
    """Why an absolute error would mean nothing, if so."""
    for name, values in (("human ratings", table.human), ("scores", table.scores)):
        known = values[np.isfinite(values)] if values is not None else np.array([])
        if len(known) and (known.min() < 0.0 or known.max() > 1.0):
            return f"{name} lie outside [0, 1] ({known.min():g} to {known.max():g}); rescale them"
    return ""
