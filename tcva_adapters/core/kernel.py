"""The mathematics of a score, on rows of level counts (paper, eqs. 7 to 12).

Every score of the library is computed here. Nothing in a row's result depends on the rows around
it: sums run over the levels elementwise and in a fixed order, so the same row gives the same bits
alone and among a million others.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.summing import added
from tcva_adapters.core.verdicts import FloatArray

Penalty = Literal["paper", "ramped", "absolute", "off"]

TINY_EXPONENT: Final = 1e-12
"""Below this distance from 0 the geometric mean stands in (paper, step 5); likewise 1 and the
arithmetic mean."""

GRAINS: Final = 2.0**30
"""Expected counts that are whole numbers of 1/GRAINS are summed and reduced exactly."""

LARGEST_WHOLE: Final = 2.0**53
"""From here on a float no longer tells whole numbers apart."""

VANISHING: Final = 2.0**-200
GROWTH: Final = 2.0**650
"""Shares that all lie below the former are taken times the latter, lest their products are 0."""

_EXACT_DECIMALS: Final = 15
ABSOLUTE_STEPS: Final = 10.0
"""So many ``none`` verdicts leave nothing with the penalty ``absolute``."""

PLAIN_SUM_BELOW: Final = -0.5
"""Below this the sum of powers less 1 has lost digits that the plain sum has."""


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


class PreparedRows:
    """Rows of counts or shares with all that no temperature changes worked out once.

    Args:
        rows: Shape (N, 5), fully first; checked.
        plan: Its temperatures and exponents are not looked at.
        reduced: What ``reduced_rows`` makes of the rows, where that is known.
    """

    def __init__(self, rows: FloatArray, plan: Plan, *, reduced: FloatArray | None = None) -> None:
        self.rows = rows
        self.plan = plan
        self._reduced = reduced_rows(rows) if reduced is None else reduced
        self._kept, self._of = self._penalty_share()
        self._is_punished = bool((self._kept != self._of).any())
        self._empty = np.flatnonzero(~(rows > 0).any(axis=1))

    @cached_property
    def _low(self) -> _Means:
        levels, counts = self._by_weight(self.plan.floored)
        return _Means(levels[::-1], counts[:, ::-1])

    @cached_property
    def _high(self) -> _Means:
        return _Means(*self._by_weight(self.plan.weights))

    def _by_weight(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The distinct weights, falling, and the reduced rows with columns of equal weight added."""
        levels, columns = merged_columns(weights)
        if len(levels) == len(weights):
            return levels, self._reduced
        merged = np.zeros((len(self.rows), len(levels)))
        for i, column in enumerate(columns):
            merged[:, column] += self.rows[:, i]
        return levels, reduced_rows(merged)

    def scores(self, temperatures: FloatArray, exponents: FloatArray) -> FloatArray:
        """Shape (rows, temperatures); nan for rows of zeros."""
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            low = exponents < TINY_EXPONENT
            if not low.any():
                scores = self._high.at(exponents)
            elif low.all():
                scores = self._low.at(exponents)
            else:
                scores = np.empty((len(self.rows), len(exponents)))
                scores[:, low] = self._low.at(exponents[low])
                scores[:, ~low] = self._high.at(exponents[~low])
            alpha = self._alpha(temperatures)
            if self._is_punished:
                # Equal, contiguous operands: numpy's power treats some broadcast exponents specially.
                base, power = np.empty_like(scores), np.empty_like(scores)
                base[:] = (self._kept / self._of)[:, None]
                power[:] = alpha
                scores *= np.power(base, power)
            for column in (np.abs(exponents - 1.0) < TINY_EXPONENT).nonzero()[0]:
                scores[:, column] = self._linear(alpha[:, column])
            _clip(scores, 0.0, 1.0)
        if len(self._empty):
            scores[self._empty] = np.nan
        return scores

    def _linear(self, alpha: FloatArray) -> FloatArray:
        """The scores at exponent 1, shape (rows,), for a penalty's power or one for each row."""
        top, bottom = self._arithmetic_ratio
        linear = np.abs(alpha - 1.0) < TINY_EXPONENT
        # A power that all rows share is a number: numpy then takes square roots as such.
        power = alpha if self.plan.penalty == "ramped" else alpha[0]
        factor = np.power(self._kept / self._of, power)
        # One division for mean and penalty: equal fractions give equal floats, and such ties matter
        # to rank correlations.
        top = top * np.where(linear, self._kept, factor)
        ratio: FloatArray = top / (bottom * np.where(linear, self._of, 1.0))
        return ratio

    @cached_property  # a search near exponent 1 asks for it again and again
    def _arithmetic_ratio(self) -> tuple[FloatArray, FloatArray]:
        """The arithmetic mean as numerator and denominator, exact for counts and decimal weights."""
        levels, counts = self._by_weight(self.plan.weights)
        whole, scale = whole_weights(tuple(levels.tolist()))
        top = np.zeros(len(counts))
        for i, weight in enumerate(whole):
            top += counts[:, i] * weight
        return top, _total(counts) * scale

    def _penalty_share(self) -> tuple[FloatArray, FloatArray]:
        """What the penalty raises to a power, as numerator and denominator."""
        ones = np.ones(len(self.rows))
        if self.plan.penalty == "off":
            return ones, ones
        if self.plan.penalty == "absolute":
            return np.maximum(ABSOLUTE_STEPS - self.rows[:, -1], 0.0), ABSOLUTE_STEPS * ones
        return _total(self._reduced[:, :-1]), _total(self._reduced)

    def _alpha(self, temperatures: FloatArray) -> FloatArray:
        """The penalty's power: one row, or one for each row of counts."""
        if self.plan.penalty in {"off", "absolute"}:
            return np.ones((1, len(temperatures)))
        alpha = 1.5 - temperatures[None, :]
        if self.plan.penalty == "ramped":
            alpha = alpha * np.clip((_total(self.rows) - 1.0) / 4.0, 0.0, 1.0)[:, None]
        return alpha


def score_rows(rows: FloatArray, plan: Plan) -> FloatArray:
    """The scores of rows of counts or shares, shape (rows, temperatures); nan for rows of zeros."""
    return PreparedRows(rows, plan).scores(plan.temperatures, plan.exponents)


@lru_cache(maxsize=64)
def whole_weights(levels: tuple[float, ...]) -> tuple[tuple[float, ...], float]:
    """Short decimals as whole numbers over a power of ten; other numbers as they are, over 1."""
    decimals = [Decimal(repr(level)) for level in levels]
    places = max(-int(d.as_tuple().exponent) for d in decimals)
    if places > _EXACT_DECIMALS:
        return levels, 1.0
    return tuple(float(d.scaleb(places)) for d in decimals), 10.0**places


class _Means:
    """Rows by the weight that exponents of one sign favour (0 counts as negative).

    Args:
        levels: The distinct weights, in the order of favour.
        counts: Shape (N, levels), reduced.

    With w0 that weight (the largest one present for p > 0, else the smallest, which is not 0),
    ``M = w0 * exp(ln(1 + S) / p)`` and ``S = sum_i share_i * ((w_i / w0)**p - 1)``. All terms of S
    lie in [-1, 0]: nothing overflows and nothing cancels, however small p is.
    """

    def __init__(self, levels: FloatArray, counts: FloatArray) -> None:
        with np.errstate(invalid="ignore", under="ignore"):
            shares = counts / _total(counts)[:, None]
        present = shares > 0.0
        self._by_favoured: list[tuple[Any, FloatArray, FloatArray]] = []
        if len(counts) == 1:
            self._of_one(levels, shares, present)
            return
        first = present.argmax(axis=1)
        last = len(levels) - 1 - present[:, ::-1].argmax(axis=1)
        ends = np.sort(levels[[first, last]], axis=0)
        self._least, self._most = ends[0, :, None], ends[1, :, None]
        for r in np.bincount(first).nonzero()[0].tolist():
            chosen = np.flatnonzero(first == r)
            # The favoured one is kept for rows of zeros, too.
            occur = present[chosen].any(axis=0) | (np.arange(len(levels)) == r)
            self._by_favoured.append((chosen, levels[occur], shares[chosen][:, occur]))

    def _of_one(self, levels: FloatArray, shares: FloatArray, present: npt.NDArray[Any]) -> None:
        """The same for one row, by plain numbers: arrays cost more to set up."""
        occur = present[0].nonzero()[0].tolist() or [0]  # the favoured one of a row of zeros
        ends = sorted((levels.item(occur[0]), levels.item(occur[-1])))
        self._least, self._most = np.array([[ends[0]]]), np.array([[ends[1]]])
        self._by_favoured.append((slice(None), levels[occur], shares[:, occur]))

    def at(self, exponents: FloatArray) -> FloatArray:
        """Shape (rows, exponents)."""
        means = np.empty((len(self._least), len(exponents)))
        for chosen, levels, shares in self._by_favoured:
            if levels[0]:
                relative = _relative_means(shares, relative_powers(levels, exponents))
                means[chosen] = levels[0] * relative
            else:
                means[chosen] = 0.0
        _clip(means, self._least, self._most)
        return means


@dataclass(frozen=True, slots=True)
class RelativePowers:
    """The powers of some weights, relative to the first of them.

    Attributes:
        logs: ``ln(w_i / w_0)``, shape (weights,).
        powers: The exponents; 1 where the geometric mean stands in.
        geometric: Where it does.
        deficits: ``(w_i / w_0)**p - 1``, shape (weights, exponents).
        scaled: ``p * ln(w_i / w_0)``.
    """

    logs: FloatArray
    powers: FloatArray
    geometric: npt.NDArray[np.bool_]
    deficits: FloatArray
    scaled: FloatArray


def relative_logs(levels: FloatArray) -> FloatArray:
    """The logarithms of weights over the first of them."""
    logs: FloatArray = np.log(levels / levels[0])
    return logs


def relative_powers(levels: FloatArray, exponents: FloatArray) -> RelativePowers:
    """The powers of weights whose first is the one that the exponents favour, and not 0.

    A weight of 0 has an infinite logarithm, and tiny ones may underflow: the caller silences numpy.
    """
    logs = relative_logs(levels)
    geometric = np.abs(exponents) < TINY_EXPONENT
    powers = np.where(geometric, 1.0, exponents)
    scaled = np.multiply.outer(logs, powers)
    return RelativePowers(logs, powers, geometric, np.expm1(scaled), scaled)


def _relative_means(shares: FloatArray, of: RelativePowers) -> FloatArray:
    """Power means of shares of weights, relative to the first weight."""
    deficit = _weighted(shares, of.deficits)
    log_mean = np.log1p(deficit)
    is_exact = deficit > PLAIN_SUM_BELOW
    if not is_exact.all():
        # 1 + S loses digits where S is close to -1; the plain sum of positive terms does not.
        log_mean = np.where(is_exact, log_mean, np.log(_weighted(shares, np.exp(of.scaled))))
    log_mean /= of.powers
    if of.geometric.any():
        centre = np.zeros(len(shares))
        for i in range(len(of.logs)):
            centre += shares[:, i] * of.logs[i]
        log_mean[:, of.geometric] = centre[:, None]
    return np.exp(log_mean)


def _weighted(shares: FloatArray, terms: FloatArray) -> FloatArray:
    """Sums over the weights, added from the first to the last."""
    total = np.zeros((len(shares), terms.shape[1]))
    for i, term in enumerate(terms):
        total += shares[:, i, None] * term
    return total


def merged_columns(weights: FloatArray) -> tuple[FloatArray, list[int]]:
    """The distinct weights, falling, and which of them each weight is."""
    given = weights.tolist()
    levels = sorted(set(given), reverse=True)
    return np.array(levels), [levels.index(weight) for weight in given]


def reduced_rows(rows: FloatArray) -> FloatArray:
    """Rows of whole numbers, or of whole `GRAINS`, over their greatest common divisor.

    A list repeated k times thereby becomes the same row before any rounding can tell them apart.
    Other rows stay as they are; those of tiny shares grow by a power of two.
    """
    whole: npt.NDArray[np.bool_] = (rows == np.floor(rows)).all(axis=1)
    scaled = np.where(whole[:, None], rows, rows * GRAINS)
    largest = scaled.max(axis=1, initial=0.0)
    exact = (scaled == np.floor(scaled)).all(axis=1) & (largest < LARGEST_WHOLE)
    integers = np.where(exact[:, None], scaled, 0.0).astype(np.int64)
    divisors = np.maximum(np.gcd.reduce(integers, axis=1), 1)
    grown = np.where((largest < VANISHING)[:, None], rows * GROWTH, rows)
    reduced: FloatArray = np.where(exact[:, None], scaled, grown) / divisors[:, None]
    return reduced


def _clip(values: FloatArray, least: FloatArray | float, most: FloatArray | float) -> None:
    """As ``numpy.clip`` in place, which takes ten times as long to begin."""
    np.maximum(values, least, out=values)
    np.minimum(values, most, out=values)


def _total(rows: FloatArray) -> FloatArray:
    """Row sums, added from the first column to the last."""
    if len(rows) == 1:  # where arrays cost more to set up than the sum
        return np.array([added(rows[0].tolist())])
    total = np.zeros(len(rows))
    for i in range(rows.shape[1]):
        total += rows[:, i]
    return total
