"""Intervals of agreement with human ratings, and paired comparisons of two methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import (
    FloatArray,
    check_level,
    group_codes,
    in_all,
    numbers,
    one_of,
    same_length,
    same_within,
    whole,
)
from tcva_adapters.stats.correlation import Measure, check_measure, higher_is_better, value_of
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.paired_test import paired_p
from tcva_adapters.stats.replicates import IntervalMethod, Replicates
from tcva_adapters.stats.resampling import resample

__all__ = [
    "AgreementInterval",
    "IntervalMethod",
    "PairedDifference",
    "interval",
    "intervals",
    "paired_difference",
    "resample",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementInterval(Interval):
    """A measure of agreement with its interval, on the samples with both scores.

    Attributes:
        measure: Which measure.
        n_boot: Resamples drawn; 0 for ``student``, which needs none.
        level: Of confidence, e.g. 0.95.
        method: ``student``, ``percentile`` or ``bca``.
        undefined: Resamples without a value (one side constant), which are left out.
    """

    measure: Measure
    n_boot: int
    level: float
    method: IntervalMethod
    undefined: int


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Two methods on the same samples, and how sure their difference is.

    Attributes:
        measure: Which measure.
        first: Its value for the first method, on the samples that have all three scores.
        second: For the second one.
        delta: ``first - second``.
        low: Lower end of the interval of the difference; nan where there is none.
        high: Upper end, likewise.
        p_two_sided: For "no difference", by the test of this measure; see `test`.
        p_paper: The TCVA paper's one-sided figure: the share of resamples in which the second
            method is ahead by at least what the first one is ahead by on all samples.
        n: Samples on which both methods and a human have a score.
        n_boot: Resamples drawn.
        undefined: Resamples in which either value is undefined, which are left out.
        level: Of the interval.
        clusters: Groups that were resampled; None where single samples were.
        test: What `p_two_sided` is made by: ``sign flips, exact`` or ``sign flips, drawn`` (mae),
            ``jackknife t`` (pearson), ``bootstrap`` (spearman, kendall).
        reason: Why there is no interval; empty where there is one. A correlation that has no p
            either has the same reason.
    """

    measure: Measure
    first: float
    second: float
    delta: float
    low: float
    high: float
    p_two_sided: float
    p_paper: float
    n: int
    n_boot: int
    undefined: int
    level: float = 0.95
    clusters: int | None = None
    test: str = ""
    reason: str = ""


def interval(
    measure: Measure,
    scores: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    n_boot: int = 10_000,
    level: float = 0.95,
    method: IntervalMethod = "student",
    seed: int = 0,
    groups: Sequence[object] | None = None,
) -> AgreementInterval:
    """The agreement of one method with human ratings, with an interval.

    Args:
        measure: ``spearman``, ``kendall``, ``pearson`` or ``mae``.
        scores: Shape (N,). Pairs with a nan, None or infinity are left out before resampling.
        human: Shape (N,), likewise.
        n_boot: Resamples.
        level: Of confidence, in (0, 1).
        method: ``student`` leaves out one sample at a time and takes Student's quantiles, on
            Fisher's z for correlations and with Hall's correction for skewness for ``mae``, see
            `tcva_adapters.stats.student`. ``percentile`` takes the quantiles of resamples; ``bca``
            corrects them for bias and acceleration (Efron and Tibshirani, An Introduction to the
            Bootstrap, section 14.3).
        seed: Same seed, same resamples, same bits.
        groups: One per sample: leave out, or resample, whole groups instead of single samples.

    Returns:
        Ends are nan, with the reason, where an interval cannot be trusted: fewer than ten samples
        or groups (more for some methods), too many resamples without a value, perfect agreement.

    Raises:
        InvalidValueError: An unknown measure or method, lengths that differ, n_boot below 1, a
            level outside (0, 1), a negative seed, or groups that do not fit.
        MissingDependencyError: scipy is not installed.

    >>> human = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    >>> scores = [0.1, 0.0, 0.3, 0.2, 0.4, 0.4, 0.9, 0.5, 0.8, 1.0]
    >>> found = interval("pearson", scores, human)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3), found.n
    (0.905, 0.578, 0.982, 10)
    >>> interval("pearson", scores[:4], human[:4]).reason
    '4 samples: an interval needs 10'
    """
    column = numbers("scores", scores)[:, None]
    return intervals(
        measure,
        column,
        human,
        n_boot=n_boot,
        level=level,
        method=method,
        seed=seed,
        groups=groups,
    )[0]


def intervals(
    measure: Measure,
    table: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    n_boot: int = 10_000,
    level: float = 0.95,
    method: IntervalMethod = "student",
    seed: int = 0,
    groups: Sequence[object] | None = None,
) -> list[AgreementInterval]:
    """``interval`` for every column of a table, bit for bit, faster than one by one.

    Methods that have scores on the same samples share the resamples.

    Args:
        measure: As for ``interval``, and so are the others.
        table: Shape (N, M), one column per method.
        human: Shape (N,).
        n_boot: Resamples.
        level: Of confidence.
        method: ``student``, ``percentile`` or ``bca``.
        seed: Of the resamples.
        groups: One per sample, or None.

    Returns:
        One per column.

    Raises:
        InvalidValueError: As for ``interval``.
        MissingDependencyError: scipy is not installed.
    """
    n_boot = _checked(measure, n_boot, level)
    one_of("method", method, get_args(IntervalMethod))
    columns, ratings = numbers("scores", table, ndim=2), numbers("human", human)
    same_length(scores=columns, human=ratings)
    masks = (np.isfinite(columns) & np.isfinite(ratings)[:, None]).T
    sharing: dict[bytes, list[int]] = {}
    for number, mask in enumerate(masks):
        sharing.setdefault(mask.tobytes(), []).append(number)
    found: dict[int, AgreementInterval] = {}
    for members in sharing.values():
        kept = masks[members[0]]
        methods, humans = [columns[kept, number] for number in members], ratings[kept]
        codes = None if groups is None else group_codes(groups, kept)
        runs = Replicates(measure, methods, humans, n_boot=n_boot, seed=seed, codes=codes)
        for place, (number, scores) in enumerate(zip(members, methods, strict=True)):
            ends = runs.ends(place, level, method)
            found[number] = AgreementInterval(
                value_of(measure, scores, humans),
                ends.low,
                ends.high,
                len(humans),
                runs.clusters,
                ends.reason,
                measure=measure,
                n_boot=0 if method == "student" else n_boot,
                level=level,
                method=method,
                undefined=ends.undefined,
            )
    return [found[number] for number in range(len(masks))]


def paired_difference(
    measure: Measure,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    n_boot: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    groups: Sequence[object] | None = None,
) -> PairedDifference:
    """Which of two methods agrees better with human ratings, on the samples that both scored.

    Both are measured on the same resamples, so that what is hard for both cancels out.

    Args:
        measure: ``spearman``, ``kendall``, ``pearson`` or ``mae``.
        first: Shape (N,); nan or None where there is none.
        second: Shape (N,), likewise.
        human: Shape (N,), likewise.
        n_boot: Resamples.
        level: Of the interval of the difference, in (0, 1).
        seed: Same seed, same resamples, same bits.
        groups: One per sample: resample whole groups instead of single samples.

    Returns:
        The difference with its interval (of resamples for ranks, else Student's) and two p-values.
        With ``mae``, where lower is better, a negative difference speaks for the first method, and
        ``p_paper`` is turned round so that small still does. Fewer than ten samples (or groups)
        have no interval (30 for ``spearman``, 50 for ``kendall``), and a correlation no p; that of
        ``mae`` is exact.

    Raises:
        InvalidValueError: As for ``interval``.
        MissingDependencyError: scipy is not installed.

    The second method is off on four samples, always to the same side: of the 16 ways to assign
    signs to these differences two are as far from 0.

    >>> ratings = [1, 2, 3, 4, 5, 6]
    >>> found = paired_difference("mae", ratings, [2, 2, 2, 4, 6, 8], ratings, n_boot=1000)
    >>> round(found.delta, 3), found.p_two_sided, found.test
    (-0.833, 0.125, 'sign flips, exact')
    >>> found.reason
    '6 samples: an interval needs 10'
    """
    n_boot = _checked(measure, n_boot, level)
    (*sides, ratings), kept = in_all(first=first, second=second, human=human)
    codes = None if groups is None else group_codes(groups, kept)
    run = Replicates(measure, sides, ratings, n_boot=n_boot, seed=seed, codes=codes)
    values = run.values[:, ~np.isnan(run.values).any(axis=0)]
    p_two_sided, test = paired_p(measure, (sides[0], sides[1]), ratings, run, codes, seed=seed)
    ends = run.difference(level)
    one, other = (value_of(measure, side, ratings) for side in sides)
    return PairedDifference(
        measure,
        one,
        other,
        one - other,
        ends.low,
        ends.high,
        p_two_sided,
        _p_paper(values, run.observed, sign=1 if higher_is_better(measure) else -1),
        len(ratings),
        n_boot,
        n_boot - values.shape[1],
        level,
        run.clusters,
        test,
        ends.reason,
    )


def _p_paper(values: FloatArray, observed: FloatArray, *, sign: int) -> float:
    """See `PairedDifference`; nan where the difference is undefined, on all samples or resamples."""
    delta = observed[0] - observed[1]
    if np.isnan(delta) or not values.size:
        return float("nan")
    other_way = -sign * (values[0] - values[1])
    return float(np.mean(other_way >= sign * delta - same_within(values)))


def _checked(measure: Measure, n_boot: int, level: float) -> int:
    check_measure(measure)
    check_level(level)
    return whole("n_boot", n_boot, least=1)
