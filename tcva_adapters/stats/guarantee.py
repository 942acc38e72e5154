"""The most permissive setting of a gate at which few rejected answers pass, with a guarantee.

Settings are tested one after the other along a path that was fixed before any rating was seen, the
strictest first: "at this setting the true share of passes is above the limit". The first test that
does not reject ends the path, and the setting before it is certified. The chance of certifying a
setting whose true share is above the limit is at most `error`, however many settings the path has
and whether or not the shares rise along it: for that, the first such setting on the path has to be
rejected, and that is one test. Source: Angelopoulos, Bates, Candès, Jordan and Lei, Learn then Test:
Calibrating predictive algorithms to achieve risk control, Annals of Applied Statistics 19 (2025).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, Groups, check_level
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.scipy_extra import scipy_module

_HALVINGS = 60
_MAX_ANSWERS = 20_000


@dataclass(frozen=True, slots=True)
class PathResult:
    """The outcome of the tests along a path of K settings.

    Attributes:
        place: The index of the most permissive certified setting, from 0; None where not even the
            strictest one is certified.
        shares: The share of rejected answers that pass at each setting, shape (K,). With groups,
            the mean over groups of the share within each. nan where there is no rejected answer.
        bounds: One-sided upper confidence bounds of the true shares, at 1 - error each, shape (K,).
            A bound is at most the limit exactly where p is at most the error.
        p: The p of "the true share is above the limit", shape (K,).
        n: The number of rejected answers.
        groups: The number of their groups; None where they stand alone.
    """

    place: int | None
    shares: FloatArray
    bounds: FloatArray
    p: FloatArray
    n: int
    groups: int | None = None


def certify(
    passes: npt.ArrayLike,
    limit: float,
    *,
    error: float,
    groups: Groups = None,
) -> PathResult:
    """Test a path of settings by the rejected answers that pass at each.

    For answers that are drawn independently the tests are exact: p is the chance that at most so
    many of n answers pass if each does with probability `limit`, and the bounds are those of Clopper
    and Pearson (1934). The number of rejected answers is taken as given.

    With groups, groups are drawn independently and a group counts one, by the share of its rejected
    answers that pass. The guarantee is then for the mean of this share over groups that have a
    rejected answer. p is that of Hoeffding and Bentkus for means of values between 0 and 1 (Bates,
    Angelopoulos, Lei, Malik and Jordan, Distribution-free, risk-controlling prediction sets, Journal
    of the ACM 68, 2021), and the bounds invert it. Groups of one answer each count as answers alone.

    Args:
        passes: Which of the n rejected answers pass at each of the K settings, shape (K, n), the
            strictest setting first. The settings and their order must not depend on the ratings.
        limit: The largest share that may pass, between 0 and 1.
        error: The largest chance of certifying a setting that lets more pass, between 0 and 1.
        groups: One per rejected answer; equal objects are one group.

    Raises:
        InvalidValueError: Another shape, a limit or an error outside (0, 1), or groups that do not
            fit.
        MissingDependencyError: scipy is not installed.

    Of 29 rejected answers none may pass at a limit of 0.1, since 0.9 ** 29 = 0.047:

    >>> path = certify(np.array([[0] * 29, [1] + [0] * 28]), 0.1, error=0.05)
    >>> path.place, path.p.round(3).tolist(), path.bounds.round(3).tolist()
    (0, [0.047, 0.199], [0.098, 0.153])
    """
    marks = np.asarray(passes, dtype=np.bool_)
    if marks.ndim != 2 or not len(marks):
        raise InvalidValueError(
            f"passes must have one row per setting and one column per answer, not the shape {marks.shape}"
        )
    _check_shares(limit, error)
    n = marks.shape[1]
    units = Units(groups, np.ones(n, dtype=np.bool_))
    if units.codes is None:
        sums = marks.sum(axis=1)
        p = _binomial(sums, n, limit)
        bounds = largest_share(sums, n, error)
    else:
        sizes = np.bincount(units.codes)
        # A sum that is whole on paper must not be rounded up to the next whole number.
        sums = (marks @ (1.0 / sizes)[units.codes]).round(9)
        p, bounds = _hoeffding_bentkus(
            sums,
            units.number,
            limit,
            error,
        )
    # The first test that does not reject ends the path.
    certified = int(np.append(p <= error, False).argmin())
    return PathResult(
        place=certified - 1 if certified else None,
        shares=sums / units.number if n else np.full(len(marks), np.nan),
        bounds=bounds,
        p=p,
        n=n,
        groups=units.groups,
    )


def needed(limit: float, error: float, share: float = 0.0) -> int | None:
    """The fewest rejected answers that can certify a setting at which `share` of them pass.

    Args:
        limit: The largest share that may pass, between 0 and 1.
        error: See `certify`.
        share: The share that passes, rounded up to whole answers. 0 gives the fewest answers that
            can certify any setting.

    Returns:
        Their number; None where `share` is not below the limit, or so close that 20,000 are too
        few.

    Raises:
        InvalidValueError: A limit or an error outside (0, 1).

    0.9 ** 28 is above 0.05, and 0.9 ** 29 below:

    >>> needed(0.1, 0.05), needed(0.1, 0.05, 0.05), needed(0.1, 0.05, 0.1)
    (29, 116, None)
    """
    _check_shares(limit, error)
    fewest = math.ceil(math.log(error) / math.log1p(-limit))
    if share <= 0.0:
        return fewest
    sizes = np.arange(fewest, _MAX_ANSWERS if share < limit else fewest)
    enough = _binomial(np.ceil((sizes * share).round(9)), sizes, limit) <= error
    return int(sizes[enough.argmax()]) if enough.any() else None


def _check_shares(limit: float, error: float) -> None:
    check_level(limit, "limit", 0.1)
    check_level(error, "error", 0.1)


def _binomial(
    hits: npt.ArrayLike,
    n: npt.ArrayLike,
    limit: float,
) -> FloatArray:
    """P(Bin(n, limit) <= hits)."""
    return np.asarray(scipy_module("special").bdtr(hits, n, limit))


def largest_share(
    hits: npt.ArrayLike,
    n: float,
    error: float,
) -> FloatArray:
    """The share x with P(Bin(n, x) <= hits) = error (Clopper and Pearson); 1 where all n are hits.

    The smallest share is ``1 - largest_share(n - hits, n, error)``.
    """
    passed = np.asarray(hits, dtype=np.float64)
    ends = scipy_module("special").betaincinv(
        passed + 1.0,
        n - passed,
        1.0 - error,
    )
    return np.where(passed < n, ends, 1.0)


def _hoeffding_bentkus(
    sums: FloatArray,
    n: int,
    limit: float,
    error: float,
) -> tuple[FloatArray, FloatArray]:
    """The p-values and upper bounds of the means of n values in [0, 1] that have these sums."""
    shares = sums / n
    ceiling = np.ceil(sums)
    hoeffding = np.exp(-n * _divergence(np.minimum(shares, limit), limit))
    bentkus = math.e * _binomial(ceiling, n, limit)
    p = np.minimum(1.0, np.minimum(hoeffding, bentkus))
    # Hoeffding's p falls as the limit rises: bisect to where it is the error.
    low = shares.copy()
    high = np.ones(len(sums))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        above = np.exp(-n * _divergence(shares, middle)) > error
        low = np.where(above, middle, low)
        high = np.where(above, high, middle)
    return p, np.minimum(high, largest_share(ceiling, n, error / math.e))


def _divergence(a: FloatArray, b: FloatArray | float) -> FloatArray:
    """Kullback-Leibler divergence of Bernoulli distributions: a log(a/b) + (1-a) log((1-a)/(1-b))."""
    special = scipy_module("special")
    return np.asarray(special.rel_entr(a, b) + special.rel_entr(1.0 - a, 1.0 - b))
