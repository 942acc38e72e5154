"""Do two metrics measure the same? Correlations between metrics, by system and over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, IntArray, numbers, one_of
from tcva_adapters.stats.correlation import Measure, check_measure, value_of

Weighting = Literal["equal", "n"]


@dataclass(frozen=True, eq=False)
class CorrelationMatrix:
    """Correlations between the metrics of one system.

    Attributes:
        measure: ``pearson``, ``spearman`` or ``kendall``.
        values: Shape (M, M), symmetric; nan where a correlation is not defined.
        n: Responses that have both scores, shape (M, M).
    """

    measure: Measure
    values: FloatArray
    n: IntArray


@dataclass(frozen=True, eq=False)
class AveragedMatrix:
    """Correlations between metrics, averaged over systems.

    Attributes:
        measure: As in the single matrices.
        values: Shape (M, M), symmetric; nan where no system has a value.
        systems: Systems that enter each value, shape (M, M).
        perfect: How many of them have a correlation of exactly 1 or -1, shape (M, M).
        n: Responses of these systems together, shape (M, M).
    """

    measure: Measure
    values: FloatArray
    systems: IntArray
    perfect: IntArray
    n: IntArray


def correlation_matrix(measure: Measure, table: npt.ArrayLike) -> CorrelationMatrix:
    """Correlations between all pairs of metrics, on the responses that have both scores.

    Args:
        measure: ``pearson``, ``spearman`` or ``kendall`` (tau-b).
        table: Shape (N, M): one row per response of a system, one column per metric; nan or None
            where there is no score.

    Returns:
        A value is nan for fewer than two responses and where a metric gives all the same score.

    Raises:
        InvalidValueError: Another measure, or values that are no numbers.
        MissingDependencyError: scipy is not installed.

    >>> correlation_matrix("spearman", [[0.1, 1, 5], [0.5, 2, 5], [0.9, 3, 5]]).values.tolist()
    [[1.0, 1.0, nan], [1.0, 1.0, nan], [nan, nan, nan]]
    """
    check_measure(measure)
    if measure == "mae":
        msg = "'mae' is no correlation; there are pearson, spearman and kendall"
        raise InvalidValueError(msg)
    scores = numbers("table", table, ndim=2)
    known = np.isfinite(scores)
    n = known.T.astype(np.int64) @ known.astype(np.int64)
    values = np.full(n.shape, np.nan)
    for i in range(len(values)):
        column = scores[known[:, i], i]
        if len(column) > 1 and column.min() < column.max():
            values[i, i] = 1.0
    for i, j in combinations(range(len(values)), 2):
        both = known[:, i] & known[:, j]
        values[i, j] = values[j, i] = value_of(measure, scores[both, i], scores[both, j])
    return CorrelationMatrix(measure, values, n)


def fisher_average(
    matrices: Sequence[CorrelationMatrix], *, weighting: Weighting = "equal"
) -> AveragedMatrix:
    """The mean of correlations by Fisher's z: ``tanh(mean(atanh(r)))``.

    A correlation of exactly 1 or -1 has an infinite z, so the mean is 1 or -1 as well, the limit of
    the formula; ``perfect`` counts them. Where 1 and -1 meet, there is no mean.

    Args:
        matrices: One per system, of one measure and one set of metrics. What is nan is left out.
        weighting: ``equal``, as in the CCRS paper, or ``n``: each system counts with its number of
            responses less 3, the inverse variance of z; those with 3 or fewer are left out.

    Raises:
        InvalidValueError: No matrix, several measures or sizes, or an unknown weighting.

    atanh(0.5) = 0.5493 and atanh(0.9) = 1.4722; the tanh of their mean, 1.0108, is 0.7661:

    >>> n = np.full((1, 1), 10)
    >>> two = [CorrelationMatrix("pearson", np.array([[r]]), n) for r in (0.5, 0.9)]
    >>> fisher_average(two).values.round(4).tolist()
    [[0.7661]]
    """
    one_of("weighting", weighting, get_args(Weighting))
    kinds = {(m.measure, m.values.shape) for m in matrices}
    if len(kinds) != 1:
        shown = ", ".join(f"{measure} {shape}" for measure, shape in sorted(kinds)) or "none"
        msg = f"matrices to average are {shown}; give at least one, all of one measure and size"
        raise InvalidValueError(msg)
    values = np.stack([m.values for m in matrices])
    n = np.stack([m.n for m in matrices])
    weights = np.maximum(n - 3, 0) if weighting == "n" else np.ones_like(n)
    weights = np.where(np.isnan(values), 0, weights)
    used = weights > 0
    perfect = used & (np.abs(values) == 1)
    z = np.arctanh(np.where(used & ~perfect, values, 0.0))
    total = weights.sum(axis=0)
    average = np.tanh((weights * z).sum(axis=0) / np.maximum(total, 1))
    signs = np.where(perfect, values, 0.0)
    up, down = (signs > 0).any(axis=0), (signs < 0).any(axis=0)
    average = np.where(up, 1.0, np.where(down, -1.0, average))
    average[(total == 0) | (up & down)] = np.nan
    return AveragedMatrix(
        matrices[0].measure,
        average,
        used.sum(axis=0),
        perfect.sum(axis=0),
        np.where(used, n, 0).sum(axis=0),
    )
