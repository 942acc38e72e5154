"""How well each method agrees with people, with intervals and paired tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.bootstrap import Interval, PairedDifference, intervals, paired_difference
from tcva_adapters.stats.correlation import MEASURES, Measure, agreement, check_measure
from tcva_adapters.stats.holm import holm

LEADING: Final[Measure] = "spearman"
"""The measure that picks the best method."""


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """One method against people by one measure.

    Attributes:
        method: Its name.
        measure: ``spearman``, ``kendall``, ``pearson`` or ``mae``.
        own: On all samples that it has scored and people have judged, with n and interval.
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
class People:
    """The methods against people.

    Attributes:
        judged: Samples with a human score.
        common: Those that every method has scored, too.
        agreements: One per method and measure.
        reference: The method that the others are tested against; empty with a single method.
        chosen: True where it was picked as the best on these very samples.
        tests: One per other method and measure.
        n_tests: Tests with a p-value, over which Holm's adjustment runs.
        left_out: Measures that were left out, with the reason.
    """

    judged: int
    common: int
    agreements: tuple[HumanAgreement, ...]
    reference: str
    chosen: bool
    tests: tuple[PairedTest, ...]
    n_tests: int
    left_out: tuple[tuple[Measure, str], ...]


def compare_with_people(
    table: ScoreTable,
    *,
    reference: str | None = None,
    measures: Sequence[Measure] = MEASURES,
    n_boot: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    groups: Sequence[object] | None = None,
) -> People:
    """Agreement of every method with people, and every method tested against one of them.

    Args:
        table: With human scores.
        reference: The method to test against; by default the one with the highest Spearman
            correlation on the common samples (on its own samples where these are too few).
        measures: Which.
        n_boot: Resamples per interval and test.
        level: Of the intervals.
        seed: Of the resamples.
        groups: One per sample, to resample whole groups.

    Raises:
        InvalidValueError: No human scores, an unknown method or measure, groups that do not fit.
        MissingDependencyError: scipy is not installed.
    """
    if table.human is None:
        msg = "the table has no human scores; pass them to ScoreTable.of"
        raise InvalidValueError(msg)
    if reference is not None:
        table.column(reference)  # refuses a name that is not there
    for measure in measures:
        check_measure(measure)
    left_out: list[tuple[Measure, str]] = []
    if "mae" in measures and (why := _no_common_scale(table)):
        left_out.append(("mae", why))
    wanted = [m for m in measures if m not in dict(left_out)]
    judged = np.isfinite(table.human)
    common = np.isfinite(table.scores).all(axis=1) & judged
    shared = np.where(common[:, None], table.scores, np.nan)
    # A method's own samples often are the common ones; its resamples are drawn once then.
    wider = ((np.isfinite(table.scores) & judged[:, None]) != common[:, None]).any(axis=0)
    agreements = []
    for measure in wanted:
        columns = np.concatenate([table.scores, shared[:, wider]], axis=1)
        found = intervals(
            measure, columns, table.human, n_boot=n_boot, level=level, seed=seed, groups=groups
        )
        on_common = iter(found[len(table.methods) :])
        for method, own, differs in zip(table.methods, found, wider.tolist(), strict=False):
            entry = HumanAgreement(method, measure, own, next(on_common) if differs else own)
            agreements.append(entry)
    against = reference or _best(table, shared)
    results = [
        (
            method,
            paired_difference(
                measure,
                table.column(method),
                table.column(against),
                table.human,
                n_boot=n_boot,
                level=level,
                seed=seed,
                groups=groups,
            ),
        )
        for measure in wanted
        for method in table.methods
        if against and method != against
    ]
    # What could not be tested is no hypothesis that others must allow for.
    tested = [result.p_two_sided for _, result in results if not math.isnan(result.p_two_sided)]
    adjusted = iter(holm(tested).tolist())
    tests = tuple(
        PairedTest(method, against, result, p if math.isnan(p) else next(adjusted))
        for method, result in results
        for p in [result.p_two_sided]
    )
    return People(
        judged=int(judged.sum()),
        common=int(common.sum()),
        agreements=tuple(agreements),
        reference=against,
        chosen=reference is None and bool(against),
        tests=tests,
        n_tests=len(tested),
        left_out=tuple(left_out),
    )


def _best(table: ScoreTable, shared: FloatArray) -> str:
    """The method with the highest correlation, the first of equals; none for a single method."""
    if len(table.methods) < 2 or table.human is None:
        return ""
    for scores in (shared, table.scores):
        values = [agreement(LEADING, column, table.human).value for column in scores.T]
        if not np.isnan(values).all():
            return table.methods[int(np.nanargmax(values))]
    return ""


def _no_common_scale(table: ScoreTable) -> str:
    """Why an absolute error would mean nothing, if so."""
    for name, values in (("human scores", table.human), ("scores", table.scores)):
        known = values[np.isfinite(values)] if values is not None else np.array([])
        if len(known) and (known.min() < 0.0 or known.max() > 1.0):
            return f"{name} lie outside [0, 1] ({known.min():g} to {known.max():g}); rescale them"
    return ""
