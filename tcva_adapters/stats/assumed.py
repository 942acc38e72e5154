"""The spread of an estimate where there is no pilot: from what is assumed about the scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, one_of, whole
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.planning import Spread

_LABELS: Final = 100
_DRAWS: Final = 4000
_BLOCK: Final = 100

# Pearson's correlation of normal values that have a given rank correlation (Kruskal 1958).
_LATENT: Final[dict[Measure, Callable[[float], float]]] = {
    "pearson": lambda r: r,
    "spearman": lambda rho: 2 * math.sin(math.pi * rho / 6),
    "kendall": lambda tau: math.sin(math.pi * tau / 2),
}


def assumed_mean(spread: float, *, between: float | None = None, is_error: bool = False) -> Spread:
    """The spread of a mean or of a mean absolute error, or of the difference of two.

    Args:
        spread: Standard deviation of the scores (or of the absolute errors) over samples.
        between: Correlation of the two methods' scores (errors) over the same samples, in [-1, 1);
            None where the plan is about one method.
        is_error: The figure is a mean absolute error.

    Raises:
        InvalidValueError: A spread that is not above 0, or a correlation outside [-1, 1).

    Two with the same spread differ by ``spread * sqrt(2 * (1 - between))``:

    >>> assumed_mean(0.3, between=0.5).per_label
    0.3
    """
    if not 0 < spread < float("inf"):
        msg = f"spread is {spread!r}; give the standard deviation of the scores, above 0"
        raise InvalidValueError(msg)
    factor = 1.0
    if between is not None:
        if not -1 <= between < 1:
            msg = f"between is {between!r}; the correlation of two methods lies in [-1, 1)"
            raise InvalidValueError(msg)
        factor = float(np.sqrt(2 * (1 - between)))
    return Spread("mae" if is_error else "mean", spread * factor)


def assumed_correlation(
    measure: Measure,
    first: float,
    second: float | None = None,
    *,
    between: float | None = None,
    seed: int = 0,
) -> Spread:
    """The spread of a correlation with human ratings, or of the difference of two: simulated.

    Scores and ratings are normal with these correlations, without ties; 4000 draws of 100 samples
    say how much the figure varies (to about 1 %).

    Args:
        measure: ``spearman``, ``kendall`` or ``pearson``.
        first: One method's correlation with human ratings, by this measure, in (-1, 1).
        second: The other method's; None where the plan is about one method.
        between: The correlation of the two methods; needed with ``second``.
        seed: Of the draws.

    Raises:
        InvalidValueError: Another measure, a correlation outside (-1, 1), no ``between`` for two
            methods, or correlations that no three variables have.

    The standard deviation of Pearson's r times sqrt(n) is about 1 - r**2:

    >>> round(assumed_correlation("pearson", 0.6).per_label, 2)
    0.65
    """
    one_of("correlation", measure, tuple(_LATENT))
    root = _root(measure, first, second, between)
    rng = np.random.Generator(np.random.PCG64(whole("seed", seed, least=0)))
    figures = []
    for _ in range(_DRAWS // _BLOCK):
        drawn = np.moveaxis(rng.standard_normal((_BLOCK, _LABELS, len(root))) @ root.T, -1, 0)
        sides = [_comparable(measure, each) for each in drawn]
        values = [_correlations(sides[0], side) for side in sides[1:]]
        figures.append(values[0] if second is None else values[0] - values[1])
    return Spread(measure, float(np.concatenate(figures).std(ddof=1) * np.sqrt(_LABELS)))


def _root(
    measure: Measure, first: float, second: float | None, between: float | None
) -> FloatArray:
    """What makes independent normal values of three (or two) that correlate as is wanted."""
    given = {"correlation": first}
    if second is not None:
        if between is None:
            msg = (
                "the difference of two correlations depends on how the two methods correlate with "
                "each other; give that, between -1 and 1 (from a pilot, if you can)"
            )
            raise InvalidValueError(msg)
        given |= {"other correlation": second, "between": between}
    for name, value in given.items():
        if not -1 < value < 1:
            msg = f"{name} is {value!r}; a correlation to plan with lies between -1 and 1"
            raise InvalidValueError(msg)
    latent = [_LATENT[measure](value) for value in given.values()]
    table = np.eye(1 + min(len(latent), 2))
    table[0, 1] = table[1, 0] = latent[0]
    if second is not None:
        table[0, 2] = table[2, 0] = latent[1]
        table[1, 2] = table[2, 1] = latent[2]
    try:
        return np.asarray(np.linalg.cholesky(table), dtype=np.float64)
    except np.linalg.LinAlgError:
        said = ", ".join(f"{value:g}" for value in given.values())
        msg = (
            f"no three columns of scores and ratings correlate by {said}: two methods that rate "
            "like people rate like each other; give correlations that go together"
        )
        raise InvalidValueError(msg) from None


def _comparable(measure: Measure, values: FloatArray) -> FloatArray:
    """What of values (draws, labels) is correlated: themselves, ranks, or signs of differences."""
    if measure == "spearman":
        values = values.argsort(axis=1).argsort(axis=1).astype(np.float64)
    if measure == "kendall":
        values = np.sign(values[:, :, None] - values[:, None, :]).reshape(len(values), -1)
    centred: FloatArray = values - values.mean(axis=1, keepdims=True)
    return centred


def _correlations(one: FloatArray, other: FloatArray) -> FloatArray:
    product = (one * other).sum(axis=1)
    scale = np.sqrt((one * one).sum(axis=1) * (other * other).sum(axis=1))
    return np.asarray(product / scale, dtype=np.float64)
