"""One system's scores under one metric, in figures: centre, spread, shape, bounds and ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, numbers, same_within

DIGITS: Final = 3
"""Scores that are the same with so many digits behind the point are equal to a reader."""


@dataclass(frozen=True, slots=True)
class Description:
    """Figures of a list of scores; each is nan where it is not defined.

    Attributes:
        n: Scores.
        missing: Places without one (nan, None or infinite).
        mean: Arithmetic mean.
        geometric_mean: 0 as soon as one score is 0; nan with a negative one.
        median: The middle score, or the mean of the middle two.
        midhinge: Mean of the two quartiles.
        variance: With n - 1 in the denominator; nan for a single score.
        minimum: The lowest score.
        maximum: The highest one.
        range: ``maximum - minimum``.
        iqr: Upper less lower quartile. Quartiles lie on the straight line between neighbouring
            scores (numpy's and scipy's default, type 7 of Hyndman and Fan).
        skewness: Third standardised moment, with n in all denominators; nan where all are equal.
        kurtosis: Excess over the normal distribution's: fourth standardised moment less 3, with n
            in all denominators; nan where all are equal.
        at_lower: Share of the scores that are the scale's lower bound as they are `seen`: TCVA's
            floor leaves a trace above 0.
        at_upper: Share at its upper bound, likewise.
        ties: See `tie_probability`.
    """

    n: int
    missing: int
    mean: float
    geometric_mean: float
    median: float
    midhinge: float
    variance: float
    minimum: float
    maximum: float
    range: float
    iqr: float
    skewness: float
    kurtosis: float
    at_lower: float
    at_upper: float
    ties: float


def describe(scores: npt.ArrayLike, *, bounds: tuple[float, float] = (0.0, 1.0)) -> Description:
    """Describe scores. The figures are those of the CCRS paper (tables 5, 6 and 13 to 16).

    Args:
        scores: Shape (N,), nan or None where there is none.
        bounds: Of the scale, for the shares at its ends.

    Raises:
        InvalidValueError: Values that are no numbers, or bounds that do not rise.

    >>> found = describe([0.0, 0.5, 1.0, 1.0, None])
    >>> found.n, found.missing, found.mean, found.midhinge, found.at_upper
    (4, 1, 0.625, 0.6875, 0.5)
    """
    check_bounds(bounds)
    low, high = bounds
    every = numbers("scores", scores)
    values = every[np.isfinite(every)]
    n = len(values)
    if n == 0:
        return Description(0, len(every), *[float("nan")] * 14)
    lower, median, upper = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    skewness, kurtosis = _shape(values)
    smallest, largest = float(values.min()), float(values.max())
    return Description(
        n=n,
        missing=len(every) - n,
        mean=float(values.mean()),
        geometric_mean=_geometric_mean(values),
        median=median,
        midhinge=(lower + upper) / 2,
        variance=float(values.var(ddof=1)) if n > 1 else float("nan"),
        minimum=smallest,
        maximum=largest,
        range=largest - smallest,
        iqr=upper - lower,
        skewness=skewness,
        kurtosis=kurtosis,
        at_lower=float(np.mean(seen(values) == seen(low))),
        at_upper=float(np.mean(seen(values) == seen(high))),
        ties=tie_probability(values),
    )


def check_bounds(bounds: tuple[float, float]) -> None:
    """Nothing, if these can be the ends of a scale.

    Raises:
        InvalidValueError: They do not rise, or one is not finite.
    """
    low, high = bounds
    if not -np.inf < low < high < np.inf:
        msg = f"bounds are {bounds!r}; give the lowest and the highest possible score, e.g. (0, 1)"
        raise InvalidValueError(msg)


def seen(scores: npt.ArrayLike) -> FloatArray:
    """Scores as a reader sees them: with three digits.

    >>> seen([4.58e-10, 0.12345, 0.9996]).tolist()
    [0.0, 0.123, 1.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    # Python rounds like the printed figure; numpy scales first, and differs in the middle.
    rounded = [round(value, DIGITS) for value in values.ravel().tolist()]
    return np.array(rounded, dtype=np.float64).reshape(values.shape)


def tie_probability(scores: npt.ArrayLike) -> float:
    """The chance that two different responses, drawn at random, have the same score as it is `seen`.

    From the counts c of the distinct scores: sum of c (c - 1) over n (n - 1). The CCRS paper's table
    13 is about this figure. Statistics that correct for ties, as Kendall's tau-b, take exact ones.

    Args:
        scores: Shape (N,); nan, None and infinities are left out.

    Returns:
        In [0, 1]; nan for fewer than two scores.

    Raises:
        InvalidValueError: Values that are no numbers.

    Of the six pairs among four scores, one ties:

    >>> round(tie_probability([0.0, 0.5, 1.0, 1.0]), 6)
    0.166667
    """
    values = numbers("scores", scores)
    _, counts = np.unique(seen(values[np.isfinite(values)]), return_counts=True)
    n = int(counts.sum())
    return int((counts * (counts - 1)).sum()) / (n * (n - 1)) if n > 1 else float("nan")


def _geometric_mean(values: FloatArray) -> float:
    if values.min() < 0:
        return float("nan")
    if values.min() == 0:
        return 0.0
    return float(np.exp(np.log(values).mean()))


def _shape(values: FloatArray) -> tuple[float, float]:
    centred = values - values.mean()
    if np.abs(centred).max() <= same_within(values):
        return float("nan"), float("nan")
    scaled = centred / np.sqrt(np.mean(centred**2))
    return float(np.mean(scaled**3)), float(np.mean(scaled**4)) - 3.0
