"""Agreement of scores with human ratings: three correlations and the mean absolute error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import FloatArray, in_all, numbers, one_of
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.scipy_extra import scipy_module

Measure = Literal["spearman", "kendall", "pearson", "mae"]
MEASURES: tuple[Measure, ...] = get_args(Measure)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well scores agree with human ratings, as one number.

    Attributes:
        value: The correlation in [-1, 1] or the mean absolute error; nan where it is undefined.
        n: Samples that have both a score and a human score.
    """

    value: float
    n: int


def agreement(
    measure: Measure,
    scores: npt.ArrayLike,
    human: npt.ArrayLike,
) -> Agreement:
    """Agreement of scores with human ratings, on the samples where both are finite.

    Args:
        measure: ``spearman`` (ranks, ties get their average rank), ``kendall`` (tau-b),
            ``pearson``, or ``mae``.
        scores: Shape (N,); nan or None where there is none.
        human: Shape (N,), likewise.

    Returns:
        The value is nan for fewer than two samples (``mae``: none at all), and for a correlation
        where one side has the same value throughout.

    Raises:
        InvalidValueError: An unknown measure, lengths that differ, values that are no numbers.
        MissingDependencyError: A correlation without scipy.

    >>> agreement("spearman", [0.1, 0.5, 0.9, None], [1, 3, 2, 5])
    Agreement(value=0.5, n=3)
    >>> agreement("mae", [0.5, 1.0], [0.25, 0.75]).value
    0.25
    """
    check_measure(measure)
    sides, _ = in_all({"scores": scores, "human": human})
    return Agreement(value_of(measure, *sides), len(sides[0]))


def fisher_average(values: npt.ArrayLike) -> float:
    """The mean of correlations by Fisher's z: ``tanh(mean(atanh(r)))``.

    A correlation of exactly 1 or -1 has an infinite z, so the mean is 1 or -1 as well, the limit of
    the formula. Where 1 and -1 meet, there is no mean.

    Args:
        values: Shape (N,); nan and None are left out.

    atanh(0.5) = 0.5493 and atanh(0.9) = 1.4722; the tanh of their mean, 1.0108, is 0.7661:

    >>> round(fisher_average([0.5, 0.9, None]), 4)
    0.7661
    """
    known = numbers("values", values)
    known = known[~np.isnan(known)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return math.tanh(mean(np.arctanh(known)))


def higher_is_better(measure: Measure) -> bool:
    """Whether a larger value means a closer agreement: for all but ``mae``.

    Raises:
        InvalidValueError: An unknown measure.
    """
    check_measure(measure)
    return measure != "mae"


def check_measure(measure: str) -> None:
    """Refuse an unknown measure.

    Raises:
        InvalidValueError: The measure is unknown.
    """
    one_of("measure", measure, MEASURES)


def value_of(
    measure: Measure,
    scores: FloatArray,
    human: FloatArray,
) -> float:
    """The value for finite scores of one length; nan where it is undefined."""
    if measure == "mae":
        return mean(np.abs(scores - human))
    if len(scores) < 2 or scores.min() == scores.max() or human.min() == human.max():
        return float("nan")
    stats = scipy_module("stats")
    if measure == "kendall":
        return float(stats.kendalltau(scores, human).statistic)
    if measure == "spearman":
        scores = stats.rankdata(scores)
        human = stats.rankdata(human)
    x = centred(scores)
    y = centred(human)
    return float(np.clip(x @ y / math.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def centred(side: FloatArray) -> FloatArray:
    """Distances from the mean, scaled so that the largest is 1 and no square overflows."""
    side = side - side.mean()
    return side / max(float(np.abs(side).max()), 1e-300)
