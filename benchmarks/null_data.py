"""Data in which there is nothing to find: methods, systems, groups and runs that are equally good.

*good* has normal errors, *tied* five levels on either side, *skewed* most values high and a long tail.
Methods are equal by construction: given the ratings, their errors are drawn alike, a part of them in
common.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy import special

from tcva_adapters.stats.checks import FloatArray

KINDS: Final = ("good", "tied", "skewed")

_SHAPES: Final[dict[str, Callable[[FloatArray], FloatArray]]] = {
    "good": lambda values: 0.5 + 0.2 * values,
    "tied": lambda values: np.clip(np.round(2 + 1.2 * values), 0, 4) / 4,
    "skewed": lambda values: 1 - special.ndtr(values) ** 3,
}


def rated(
    rng: np.random.Generator, kind: str, n: int, methods: int, *, size: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Scores of so many equal methods, shape (n, methods), and human ratings, shape (n,).

    Args:
        rng: Draws them.
        kind: Of data.
        n: Samples.
        methods: How many.
        size: Samples of one group, which share half of the variance of everything.
    """
    groups = np.repeat(np.arange(-(-n // size)), size)[:n]

    def drawn(columns: int) -> FloatArray:
        values = rng.normal(size=(n, columns))
        if size > 1:
            shared = rng.normal(size=(groups[-1] + 1, columns))[groups]
            values = np.sqrt(0.5) * (values + shared)
        return values

    true = drawn(1)
    errors = np.sqrt(0.3) * drawn(1) + np.sqrt(0.7) * drawn(methods)
    shape = _SHAPES[kind]
    return shape(0.7 * true + 0.71 * errors), shape(true)[:, 0]


def unequal(rng: np.random.Generator, kind: str, n: int) -> tuple[FloatArray, FloatArray]:
    """Scores of a better and a worse method, shape (n, 2), and human ratings, shape (n,)."""
    true = rng.normal(size=(n, 1))
    shape = _SHAPES[kind]
    errors = np.array([0.5, 1.0]) * rng.normal(size=(n, 2))
    return shape(0.7 * true + errors), shape(true)[:, 0]


def nested(
    rng: np.random.Generator, n: int, others: int
) -> tuple[FloatArray, list[FloatArray], FloatArray]:
    """A method, others whose mean with it is no better than it is, and ratings.

    Errors of the others have three times its variance, so those of a mean of two have its own.
    """
    human = rng.normal(size=n)
    first = human + rng.normal(size=n)
    more = [human + np.sqrt(3.0) * rng.normal(size=n) for _ in range(others)]
    return first, more, human


def systems(rng: np.random.Generator, kind: str, n: int, spreads: FloatArray) -> FloatArray:
    """Scores of systems with the same mean on n queries, shape (n, systems)."""
    shape = _SHAPES[kind]
    hard = 0.5 * rng.normal(size=(n, 1))
    noise = rng.normal(size=(n, len(spreads)))
    if np.ptp(spreads) == 0.0:
        return shape(hard + noise)
    # Unequal spreads around one mean: a shape that bends would move the means apart.
    return 0.5 + 0.1 * (hard + spreads * noise)
