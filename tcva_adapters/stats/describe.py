"""A system's scores under one metric in figures: centre, spread, shape, bounds and ties."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import BoolArray, FloatArray, numbers

DIGITS = 3
"""Decimals of a score that readers see; scores that agree in them count as equal."""

TIES = "scores that are equal to 3 decimals count as ties"
"""The note on ties in tables; they count in shares and in correlations of ranks alike."""


def mean(values: FloatArray | BoolArray) -> float:
    """The mean of all values; nan where there are none."""
    return float(values.mean()) if len(values) else float("nan")


def describe(scores: npt.ArrayLike) -> dict[str, float]:
    """Describe scores in [0, 1]. The figures are those of the CCRS paper (tables 5, 6 and 13 to 16).

    Args:
        scores: Shape (N,), nan or None where there is none.

    Returns:
        ``n`` and ``missing``; ``mean``, ``geometric_mean`` (nan with a negative score), ``median``,
        ``lower_quartile``, ``upper_quartile`` and their ``midhinge``, ``variance`` (n - 1 in the denominator), ``minimum``,
        ``maximum``, ``range``, ``iqr``, ``skewness`` and ``kurtosis`` (excess, n in all denominators; nan
        where all are equal), the shares ``at_lower`` and ``at_upper`` of scores that are `seen` as 0
        and 1, and ``ties`` (see `tie_probability`). Each is nan where it is not defined.

    Raises:
        InvalidValueError: Values that are no numbers.

    >>> figures = describe([0.0, 0.5, 1.0, 1.0, None])
    >>> [figures[name] for name in ("n", "missing", "mean", "midhinge", "at_upper")]
    [4, 1, 0.625, 0.6875, 0.5]
    """
    every = numbers("scores", scores)
    values = every[np.isfinite(every)]
    n = len(values)
    figures = _figures(values if n else np.zeros(1))
    if not n:
        figures = dict.fromkeys(figures, float("nan"))
    return {"n": n, "missing": len(every) - n, **figures}


def _figures(values: FloatArray) -> dict[str, float]:
    """The figures of at least one finite score."""
    smallest, lower, median, upper, largest = np.quantile(
        values, [0, 0.25, 0.5, 0.75, 1]
    ).tolist()
    geometric = skewness = kurtosis = float("nan")
    if smallest >= 0:
        geometric = math.exp(np.log(values).mean()) if smallest else 0.0
    if largest - smallest > 1e-12 * np.abs(values).max():
        standardised = (values - mean(values)) / values.std()
        skewness = mean(standardised**3)
        kurtosis = mean(standardised**4) - 3.0
    shown = seen(values)
    return {
        "mean": mean(values),
        "geometric_mean": geometric,
        "median": median,
        "lower_quartile": lower,
        "upper_quartile": upper,
        "midhinge": (lower + upper) / 2,
        "variance": float(values.var(ddof=1)) if len(values) > 1 else float("nan"),
        "minimum": smallest,
        "maximum": largest,
        "range": largest - smallest,
        "iqr": upper - lower,
        "skewness": skewness,
        "kurtosis": kurtosis,
        "at_lower": mean(shown == 0.0),
        "at_upper": mean(shown == 1.0),
        "ties": tie_probability(values),
    }


def seen(scores: npt.ArrayLike) -> FloatArray:
    """Scores as a reader sees them: with three digits.

    >>> seen([4.58e-10, 0.12345, 0.9996]).tolist()
    [0.0, 0.123, 1.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    # Python rounds like the printed figure; numpy scales first, and differs in the middle.
    rounded = [round(value, DIGITS) for value in values.ravel().tolist()]
    return np.array(rounded, dtype=np.float64).reshape(values.shape)


def as_shown(measure: str, scores: npt.ArrayLike) -> FloatArray:
    """Scores as a measure takes them: a correlation of ranks takes them as they are `seen`.

    Scores that are shown as equal are ties then.

    >>> as_shown("kendall", [4.58e-10, 0.12345]), as_shown("pearson", [0.12345])
    (array([0.   , 0.123]), array([0.12345]))
    """
    if measure in ("spearman", "kendall"):
        return seen(scores)
    return np.asarray(scores, dtype=np.float64)


def tie_probability(scores: npt.ArrayLike) -> float:
    """The chance that two different responses, drawn at random, have the same score as it is `seen`.

    From the counts c of the distinct scores: sum of c (c - 1) over n (n - 1). The CCRS paper's table
    13 is about this figure.

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
    counts = np.unique(seen(values[np.isfinite(values)]), return_counts=True)[1]
    n = int(counts.sum())
    return int(counts @ (counts - 1)) / (n * (n - 1)) if n > 1 else float("nan")
