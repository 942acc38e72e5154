"""How many labels show what, and what so many labels can show.

Everything rests on one figure, the spread of an estimate per label: its standard deviation over
draws of n samples, times ``sqrt(n)``. A pilot gives it by the jackknife, assumptions by a formula or a
simulation. From there on an estimate is taken to be normal around its true value (Student's t stands
for means and errors), which ``python -m benchmarks.planning`` holds against simulated tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    check_level,
    group_codes,
    numbers,
    one_of,
    same_length,
    same_within,
    whole,
)
from tcva_adapters.stats.clusters import worth
from tcva_adapters.stats.enough import (
    LEAST_CLUSTERS,
    LEAST_SAMPLES,
    LEAST_WORTH,
    why_no_interval,
)
from tcva_adapters.stats.means import means_without
from tcva_adapters.stats.power import check_difference, least_whole
from tcva_adapters.stats.replicates import Replicates
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.stats.student import quantile

PlannedName = Literal["spearman", "kendall", "pearson", "mae", "mean"]
PLANNED: Final[tuple[PlannedName, ...]] = get_args(PlannedName)

POWER: Final = 0.8
"""The power that is meant where none is named."""
ALPHA: Final = 0.05

_LOST: Final[Mapping[str, int]] = {"spearman": 8, "kendall": 13, "pearson": 3}
"""Labels that the tests of correlations lose, by simulation (``python -m benchmarks.planning``).

Resamples of ranks are tied, and vary more than samples do: with 50 and 100 labels powers are those of 6
to 12 labels less for Spearman and of 14 to 17 for Kendall, and of none to 6 with 200. Fisher's z varies
like ``1 / sqrt(n - 3)``, with groups in place of labels; ranks by group lose none.
"""


@dataclass(frozen=True, slots=True)
class Spread:
    """How much an estimate varies from one draw of samples to the next.

    Attributes:
        objective: ``spearman``, ``kendall``, ``pearson``, ``mae`` or ``mean``.
        per_label: Standard deviation over draws of n samples, times ``sqrt(n)``.
        n: Samples of the pilot; None where it is assumed.
        error: Standard error of ``per_label`` as a share of it; 0 where it is assumed. Numbers of
            labels go with its square, so that they are unsure by twice this share.
        clusters: Groups of the pilot that count as one; None where single samples do.
        worth: To how many groups of one size these amount (`clusters.worth`); None likewise.
    """

    objective: PlannedName
    per_label: float
    n: int | None = None
    error: float = 0.0
    clusters: int | None = None
    worth: float | None = None

    def units(self, n: int) -> float:
        """What counts as one in so many labels: these, or groups of one size of the pilot's kind."""
        return n if self.n is None or self.worth is None else n * self.worth / self.n

    @property
    def least(self) -> int:
        """Labels below which there is no interval: ten, or those of as many groups as it needs."""
        if self.n is None or self.clusters is None or self.worth is None:
            return LEAST_SAMPLES
        share = max(LEAST_CLUSTERS / self.clusters, LEAST_WORTH / self.worth)
        return max(LEAST_SAMPLES, int(np.ceil(self.n * share - 1e-9)))

    def degrees(self, n: int) -> float:
        """Of freedom, of Student's t for so many labels: one less than units, two for correlations."""
        return max(1.0, self.units(n) - (1 if self.objective in {"mae", "mean"} else 2))

    def standard_error(self, n: int) -> float:
        """With so many labels."""
        return self.per_label / float(np.sqrt(n))


def pilot_spread(
    objective: PlannedName,
    methods: Sequence[npt.ArrayLike],
    human: npt.ArrayLike | None = None,
    *,
    groups: Sequence[object] | None = None,
) -> Spread:
    """The spread of one method's figure, or of the difference of two, from a pilot: by the jackknife.

    Args:
        objective: See `Spread`.
        methods: Scores of one method, or of two on the same samples; each of shape (N,), nan or
            None where there is none. Samples that lack anything are left out.
        human: Shape (N,), likewise; for ``mean`` there is none.
        groups: One per sample: samples of a group are taken out together.

    Raises:
        InvalidValueError: An unknown objective, fewer than 10 samples (or groups), groups of which
            one has nearly all samples, lengths that differ, no ratings for a measure that needs them, or an estimate that is not defined
            or does not vary.
        MissingDependencyError: A correlation without scipy.

    The jackknife's error of a mean is that of the textbook, so that this is the variance:

    >>> found = pilot_spread("mean", [[0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0]])
    >>> round(found.per_label**2, 12), found.n
    (0.122222222222, 10)
    """
    one_of("objective", objective, PLANNED)
    columns = [numbers(f"method {place}", each) for place, each in enumerate(methods, start=1)]
    if not 1 <= len(columns) <= 2:
        msg = f"{len(columns)} methods; a plan is about one, or about the difference of two"
        raise InvalidValueError(msg)
    ratings = None if human is None else numbers("human", human)
    if ratings is None and objective != "mean":
        msg = f"{objective} is measured against human ratings; give them, or plan for a mean"
        raise InvalidValueError(msg)
    given = columns if ratings is None else [*columns, ratings]
    same_length(**{f"column {place}": each for place, each in enumerate(given, start=1)})
    kept: BoolArray = np.isfinite(np.array([*given])).all(axis=0)
    columns = [column[kept] for column in columns]
    ratings = None if ratings is None else ratings[kept]
    n = int(kept.sum())
    codes = np.arange(n) if groups is None else group_codes(groups, kept)
    units = int(codes.max()) + 1 if n else 0
    if units < LEAST_SAMPLES:
        what = "samples with all scores" if groups is None else "groups of such samples"
        msg = f"a pilot of {units} {what} says too little; plan from {LEAST_SAMPLES} or more"
        raise InvalidValueError(msg)
    if groups is not None and (why := why_no_interval(n, codes=codes)):
        msg = f"{why}; take a pilot in which no group has nearly all samples"
        raise InvalidValueError(msg)
    without = _jackknife(objective, columns, ratings, codes if groups is not None else None)
    centred = without - without.mean()
    variance = float((len(without) - 1) / len(without) * (centred**2).sum())
    if not np.ptp(without) > same_within(without):  # nan is not
        msg = (
            f"the {objective} of this pilot is not defined, or does not vary; take samples of more "
            "varied quality"
        )
        raise InvalidValueError(msg)
    kurtosis = float((centred**4).mean() / (centred**2).mean() ** 2)
    return Spread(
        objective,
        per_label=float(np.sqrt(variance * n)),
        n=n,
        error=float(np.sqrt(max(kurtosis - 1.0, 0.0) / (4 * units))),
        clusters=None if groups is None else units,
        worth=None if groups is None else worth(codes),
    )


def _jackknife(
    objective: PlannedName,
    columns: Sequence[FloatArray],
    human: FloatArray | None,
    codes: IntArray | None,
) -> FloatArray:
    """The figure, or the difference of two, without each unit in turn."""
    if objective == "mean" or human is None:
        values = columns[0] if len(columns) == 1 else columns[0] - columns[1]
        return means_without(values, codes)
    without = Replicates(objective, columns, human, n_boot=1, seed=0, codes=codes).jackknife
    found: FloatArray = without[0] if len(columns) == 1 else without[0] - without[1]
    return found


def standard_error_of(low: float, high: float, level: float) -> float:
    """The standard error that an interval of this level stands for: its width over twice z.

    >>> round(standard_error_of(-0.0196, 0.0196, 0.95), 4)
    0.01
    """
    check_level(level)
    return (high - low) / (2 * float(scipy_module("special").ndtri((1 + level) / 2)))


def smallest_from(
    low: float, high: float, level: float, *, comparisons: int = 1, target: float = POWER
) -> float:
    """The difference that samples find with a given power, from the interval that they gave.

    Args:
        low: Lower end of the interval of a difference.
        high: Upper end.
        level: Of the interval; the tests have the level ``1 - level`` together.
        comparisons: That share this level (Bonferroni's share, which Holm's first step has, too).
        target: The power.

    Returns:
        nan where there is no interval, or nothing varies.

    Raises:
        InvalidValueError: As for `smallest_difference`.
        MissingDependencyError: scipy is not installed.

    Half the interval is 1.96 standard errors; 80 % power takes 1.96 + 0.84 of them:

    >>> round(smallest_from(-0.0196, 0.0196, 0.95), 4)
    0.028
    """
    alpha = (1 - level) / whole("comparisons", comparisons, least=1)
    _check_target(target, alpha)
    z = scipy_module("special").ndtri
    error = standard_error_of(low, high, level)
    return float(error * (z(1 - alpha / 2) + z(target))) if error > 0.0 else float("nan")


def power(spread: Spread, difference: float, n: int, *, alpha: float = ALPHA) -> float:
    """The chance that a two-sided test with so many labels finds a true difference, and its sign.

    Args:
        spread: Of the difference.
        difference: Between the true figures, above 0.
        n: Labels, 2 or more.
        alpha: Level of the test.

    Raises:
        InvalidValueError: A difference that is not above 0, fewer than 2 labels, or a level
            outside (0, 1).
        MissingDependencyError: scipy is not installed.

    >>> round(power(Spread("mean", per_label=0.3), 0.05, 285), 3)
    0.801
    """
    check_difference(difference)
    check_level(alpha)
    error, middle, scale = _normal_power(spread, n, alpha)
    return float(scipy_module("special").ndtr((difference / error - middle) / scale))


def _normal_power(spread: Spread, n: int, alpha: float) -> tuple[float, float, float]:
    """Standard error, and the mean and deviation of what power is the normal distribution of.

    The noncentral t is nearly normal in this form (Johnson and Welch 1940), without the digits that
    exact routines lose for many labels.
    """
    n = whole("labels", n, least=2)
    is_by_group, units = spread.worth is not None, spread.units(n)
    is_ranked = spread.objective in {"spearman", "kendall"}
    lost = 0 if is_ranked and is_by_group else _LOST.get(spread.objective, 0)
    error = spread.standard_error(n) * float(np.sqrt(units / max(1, units - lost)))
    if is_ranked and not is_by_group:
        return error, float(scipy_module("special").ndtri(1 - alpha / 2)), 1.0
    df = spread.degrees(n)
    critical = quantile(1 - alpha, df)
    scale = float(np.sqrt(1 + critical**2 / (2 * df)))
    return error, critical * (1 - 1 / (4 * df)), scale


def smallest_difference(
    spread: Spread, n: int, *, target: float = POWER, alpha: float = ALPHA
) -> float:
    """The difference that so many labels find with a given power; smaller ones are mostly missed.

    Raises:
        InvalidValueError: As for `power`, or a power that does not lie between alpha and 1.
        MissingDependencyError: scipy is not installed.

    For many labels it is (1.96 + 0.84) standard errors:

    >>> round(smallest_difference(Spread("pearson", per_label=0.5), 10_000), 4)
    0.014
    """
    _check_target(target, alpha)
    error, middle, scale = _normal_power(spread, n, alpha)
    # Below 0 with two labels alone, where a test has more power than is asked for, whatever it is.
    return max(0.0, error * (middle + scale * float(scipy_module("special").ndtri(target))))


def labels_for_difference(
    spread: Spread, difference: float, *, target: float = POWER, alpha: float = ALPHA
) -> int | None:
    """How many labels find a true difference with a given power; None above ten millions.

    Raises:
        InvalidValueError: As for `smallest_difference`.
        MissingDependencyError: scipy is not installed.

    >>> labels_for_difference(Spread("mean", per_label=0.3), 0.05)
    285
    """
    check_difference(difference)
    _check_target(target, alpha)
    return least_whole(lambda n: power(spread, difference, n, alpha=alpha) >= target, spread.least)


def width(spread: Spread, n: int, *, level: float = 0.95) -> float:
    """How wide an interval will be, from end to end.

    Raises:
        InvalidValueError: Fewer than 2 labels, or a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    >>> round(width(Spread("spearman", per_label=0.5), 100), 3)
    0.198
    """
    check_level(level)
    n = whole("labels", n, least=2)
    return 2 * quantile(level, spread.degrees(n)) * spread.standard_error(n)


def labels_for_width(spread: Spread, wanted: float, *, level: float = 0.95) -> int | None:
    """How many labels make an interval at most so wide; None above ten millions.

    Raises:
        InvalidValueError: A width that is not above 0, or a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    >>> labels_for_width(Spread("spearman", per_label=0.5), 0.1)
    387
    """
    if not 0 < wanted < float("inf"):
        msg = (
            f"the width is {wanted!r}; give one above 0, from one end of the interval to the other"
        )
        raise InvalidValueError(msg)
    check_level(level)
    return least_whole(lambda n: width(spread, n, level=level) <= wanted, spread.least)


def _check_target(target: float, alpha: float) -> None:
    check_level(alpha)
    if not isinstance(target, int | float) or not alpha < target < 1:
        msg = f"the power is {target!r}; it lies between the level of the test ({alpha:g}) and 1"
        raise InvalidValueError(msg)
