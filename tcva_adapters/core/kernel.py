"""The mathematics of a score, on rows of level counts (paper, eqs. 7 to 12).

Every score of the library is computed here. Nothing in a row's result depends on the rows around
it: sums run over the levels elementwise and in a fixed order, so the same row gives the same bits
alone and among a million others.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.verdicts import FloatArray

Penalty = Literal["paper", "ramped", "absolute", "off"]

TINY_EXPONENT: Final = 1e-12
"""Below this distance from 0 the geometric mean stands in (paper, step 5); likewise 1 and the
arithmetic mean."""

GRAINS: Final = 2.0**30
"""Expected counts that are whole numbers of 1/GRAINS are summed and reduced exactly."""

_EXACT_DECIMALS: Final = 15
_ABSOLUTE_STEPS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is fixed before the first row is looked at.

    Attributes:
        temperatures: One per column of the result.
        exponents: The power mean's exponent at each temperature.
        floored: The five weights for exponents up to 0; all above 0.
        weights: The five weights for exponents above 0.
        penalty: How ``none`` verdicts are punished.
    """

    temperatures: FloatArray
    exponents: FloatArray
    floored: FloatArray
    weights: FloatArray
    penalty: Penalty


def score_rows(rows: FloatArray, plan: Plan) -> FloatArray:
    """The scores of rows of counts or shares, shape (rows, temperatures); nan for rows of zeros."""
    scores = np.empty((len(rows), len(plan.exponents)))
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        low = plan.exponents < TINY_EXPONENT
        if low.any():
            scores[:, low] = _power_means(rows, plan.floored, plan.exponents[low])
        if not low.all():
            scores[:, ~low] = _power_means(rows, plan.weights, plan.exponents[~low])
        kept, of, alpha = _penalty_terms(rows, plan)
        if plan.penalty != "off":
            # Equal, contiguous operands: numpy's power treats some broadcast exponents specially.
            shape = scores.shape
            base = np.broadcast_to((kept / of)[:, None], shape).copy()
            scores *= np.power(base, np.broadcast_to(alpha, shape).copy())
        for column in np.flatnonzero(np.abs(plan.exponents - 1.0) < TINY_EXPONENT):
            top, bottom = _arithmetic_ratio(rows, plan.weights)
            power = np.broadcast_to(alpha, scores.shape)[:, column]
            linear = np.abs(power - 1.0) < TINY_EXPONENT
            factor = np.power(kept / of, power)
            # One division for mean and penalty: equal fractions give equal floats, and such ties
            # matter to rank correlations.
            top = top * np.where(linear, kept, factor)
            scores[:, column] = top / (bottom * np.where(linear, of, 1.0))
        np.clip(scores, 0.0, 1.0, out=scores)
    scores[~(rows > 0).any(axis=1)] = np.nan
    return scores


def _penalty_terms(rows: FloatArray, plan: Plan) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The factor of each row as ``(top / bottom) ** power``; power has one column or one per T."""
    ones = np.ones(len(rows))
    linear = np.ones((1, len(plan.temperatures)))
    if plan.penalty == "off":
        return ones, ones, linear
    if plan.penalty == "absolute":
        left = np.maximum(_ABSOLUTE_STEPS - rows[:, -1], 0.0)
        return left, _ABSOLUTE_STEPS * ones, linear
    reduced = _reduced(rows)
    kept, total = _total(reduced[:, :-1]), _total(reduced)
    alpha = 1.5 - plan.temperatures[None, :]
    if plan.penalty == "ramped":
        ramp = np.clip((_total(rows) - 1.0) / 4.0, 0.0, 1.0)
        alpha = alpha * ramp[:, None]
    return kept, total, alpha


def _arithmetic_ratio(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The arithmetic mean as numerator and denominator, exact for counts and decimal weights."""
    levels, merged = _merged(rows, weights)
    counts = _reduced(merged)
    whole, scale = _as_integers(tuple(levels.tolist()))
    top = np.zeros(len(rows))
    for i, weight in enumerate(whole):
        top += counts[:, i] * weight
    return top, _total(counts) * scale


@lru_cache(maxsize=64)
def _as_integers(levels: tuple[float, ...]) -> tuple[tuple[float, ...], float]:
    """Short decimals as whole numbers over a power of ten; other numbers as they are, over 1."""
    decimals = [Decimal(repr(level)) for level in levels]
    places = max(-int(d.as_tuple().exponent) for d in decimals)
    if places > _EXACT_DECIMALS:
        return levels, 1.0
    return tuple(float(d.scaleb(places)) for d in decimals), 10.0**places


def _power_means(rows: FloatArray, weights: FloatArray, exponents: FloatArray) -> FloatArray:
    """Power means with exponents of one sign (0 counts as negative; then no weight is 0).

    With w0 the weight that the exponent favours (the largest one present for p > 0, else the
    smallest), ``M = w0 * exp(ln(1 + S) / p)`` and ``S = sum_i share_i * ((w_i / w0)**p - 1)``. All
    terms of S lie in [-1, 0]: nothing overflows and nothing cancels, however small p is.
    """
    levels, merged = _merged(rows, weights)
    if exponents[0] < TINY_EXPONENT:
        levels, merged = levels[::-1], merged[:, ::-1]
    counts = _reduced(merged)
    shares = counts / _total(counts)[:, None]
    present = shares > 0.0
    first = present.argmax(axis=1)
    last = len(levels) - 1 - present[:, ::-1].argmax(axis=1)
    means = np.empty((len(rows), len(exponents)))
    for r, level in enumerate(levels):
        chosen = np.flatnonzero(first == r)
        if level == 0.0:
            means[chosen] = 0.0
        elif len(chosen):
            logs = np.log(levels[r:] / level)
            means[chosen] = level * _relative_means(shares[chosen, r:], logs, exponents)
    ends = levels[first], levels[last]
    np.clip(means, np.minimum(*ends)[:, None], np.maximum(*ends)[:, None], out=means)
    return means


def _relative_means(shares: FloatArray, logs: FloatArray, exponents: FloatArray) -> FloatArray:
    """Power means of ``exp(logs)``; ``exponents * logs`` is nowhere positive."""
    geometric = np.abs(exponents) < TINY_EXPONENT
    powers = np.where(geometric, 1.0, exponents)
    scaled = np.multiply.outer(logs, powers)
    deficits, values = np.expm1(scaled), np.exp(scaled)
    deficit = np.zeros((len(shares), len(exponents)))
    value = np.zeros_like(deficit)
    for i in range(len(logs)):
        share = shares[:, i, None]
        deficit += share * deficits[i]
        value += share * values[i]
    # 1 + S loses digits where S is close to -1; the plain sum of positive terms does not.
    log_mean = np.where(deficit > -0.5, np.log1p(deficit), np.log(value)) / powers
    if geometric.any():
        centre = np.zeros(len(shares))
        for i in range(len(logs)):
            centre += shares[:, i] * logs[i]
        log_mean[:, geometric] = centre[:, None]
    return np.exp(log_mean)


def _merged(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The distinct weights, falling, and the rows with columns of equal weight added."""
    levels = np.unique(weights)[::-1]
    if len(levels) == len(weights):
        return levels, rows
    merged = np.zeros((len(rows), len(levels)))
    for i, weight in enumerate(weights):
        merged[:, np.flatnonzero(levels == weight)[0]] += rows[:, i]
    return levels, merged


def _reduced(rows: FloatArray) -> FloatArray:
    """Rows of whole numbers, or of whole `GRAINS`, over their greatest common divisor.

    A list repeated k times thereby becomes the same row before any rounding can tell them apart.
    Other rows stay as they are.
    """
    whole: npt.NDArray[np.bool_] = (rows == np.floor(rows)).all(axis=1)
    scaled = np.where(whole[:, None], rows, rows * GRAINS)
    exact = (scaled == np.floor(scaled)).all(axis=1) & (scaled.max(axis=1, initial=0.0) < 2.0**53)
    integers = np.where(exact[:, None], scaled, 0.0).astype(np.int64)
    divisors = np.maximum(np.gcd.reduce(integers, axis=1), 1)
    reduced: FloatArray = np.where(exact[:, None], scaled, rows) / divisors[:, None]
    return reduced


def _total(rows: FloatArray) -> FloatArray:
    """Row sums, added from the first column to the last."""
    total = np.zeros(len(rows))
    for i in range(rows.shape[1]):
        total += rows[:, i]
    return total
