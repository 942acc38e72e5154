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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import (
    BoolArray,
    FloatArray,
    Groups,
    IntArray,
    check_level,
)
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.scipy_extra import scipy_module

_HIGHEST = 1.0 - 1e-12
_TOLERANCE = 1e-13
_MAX_ANSWERS = 20_000
_BETS = 8
# The least bet, in relation to the root of the share of groups that must not pass: no other one let
# more good answers pass in simulations.
_LEAST_BET = 1.2
LARGEST_GROUP = 50
"""The usual largest number of answers of a group, where the share of answers is tested."""


@dataclass(frozen=True, slots=True)
class PathResult:
    """The outcome of the tests along a path of K settings.

    Attributes:
        place: The index of the most permissive certified setting, from 0; None where not even the
            strictest one is certified.
        shares: The share of rejected answers that pass at each setting, shape (K,). With groups
            that count one each, the mean over groups of the share within each. nan where there is
            no rejected answer.
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
    largest_group: int | None = None,
) -> PathResult:
    """Test a path of settings by the rejected answers that pass at each.

    For answers that are drawn independently the tests are exact: p is the chance that at most so
    many of n answers pass if each does with probability `limit`, and the bounds are those of Clopper
    and Pearson (1934). The number of rejected answers is taken as given.

    With groups, groups are drawn independently, and each bets against the limit: it multiplies a
    capital of 1 by ``1 + bet * (limit * size - passed) / ((1 - limit) * largest)``, which is at most
    1 on average where the true share is above the limit. The capital is the mean over several bets,
    which depend on the number of groups, the limit and the error alone, and p is 1 / the largest
    capital (Ville's inequality; Waudby-Smith and Ramdas, Estimating means of bounded random variables
    by betting, Journal of the Royal Statistical Society B 86, 2024), but 1 where the share itself is
    above the limit. The bounds invert it. Groups bet in the order of a hash of their names, so that
    neither a seed nor the order of a file counts.

    A group counts one, by the share of its rejected answers that pass (``size`` and ``largest`` are
    1): the guarantee is for the mean of this share over groups that have a rejected answer. With
    ``largest_group`` an answer counts one, and the guarantee is for the share of answers. Without
    ``largest_group``, groups of one answer each count as answers alone; with it they do not, since
    another set may have larger ones.

    Args:
        passes: Which of the n rejected answers pass at each of the K settings, shape (K, n), the
            strictest setting first. The settings and their order must not depend on the ratings.
        limit: The largest share that may pass, between 0 and 1.
        error: The largest chance of certifying a setting that lets more pass, between 0 and 1.
        groups: One per rejected answer; equal objects are one group.
        largest_group: The most rejected answers that any group may have, fixed before any group is
            seen; answers then count one each. The tests are the sharper the smaller it is. None
            lets groups count one each.

    Raises:
        InvalidValueError: Another shape, a limit or an error outside (0, 1), groups that do not fit,
            or a group with more answers than ``largest_group``.
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
    if groups is None or (units.codes is None and largest_group is None):
        sums = marks.sum(axis=1)
        shares = sums / n if n else np.full(len(marks), np.nan)
        p = binomial_p(sums, n, limit)
        bounds = largest_share(sums, n, error)
    else:
        shares, p, bounds = _by_betting(
            marks, groups, units.unit_codes, limit, error, largest_group
        )
    # The first test that does not reject ends the path.
    certified = int(np.append(p <= error, False).argmin())
    return PathResult(
        place=certified - 1 if certified else None,
        shares=shares,
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
    enough = binomial_p(np.ceil((sizes * share).round(9)), sizes, limit) <= error
    return int(sizes[enough.argmax()]) if enough.any() else None


def _check_shares(limit: float, error: float) -> None:
    check_level(limit, "limit", 0.1)
    check_level(error, "error", 0.1)


def binomial_p(
    hits: npt.ArrayLike,
    n: npt.ArrayLike,
    limit: float,
) -> FloatArray:
    """P(Bin(n, limit) <= hits)."""
    return np.asarray(scipy_module("special").bdtr(hits, n, limit))


def largest_share(
    hits: npt.ArrayLike,
    n: float | IntArray,
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


def _by_betting(
    marks: BoolArray,
    groups: Sequence[object],
    codes: IntArray,
    limit: float,
    error: float,
    largest_group: int | None,
) -> FloatArray:
    """The shares, p and bounds of answers in groups, shape (3, K)."""
    order = np.argsort(
        [
            sha256(str(name).encode(errors="replace")).hexdigest()
            for name in dict.fromkeys(groups)
        ]
    )
    sizes = np.bincount(codes)[order]
    whole = sizes
    least = _LEAST_BET * math.sqrt(math.log(error) / math.log1p(-limit) / len(sizes))
    bets = np.linspace(min(1.0, least), 1.0, _BETS)
    stakes = np.full(_BETS, 1.0 / _BETS)
    if largest_group is not None:
        if sizes.max() > largest_group:
            raise InvalidValueError(
                f"a group has {sizes.max()} answers, and largest_group (--largest-group) is "
                f"{largest_group}; give the most that any group may have, or leave out per='answer' (--per answer)"
            )
        whole = np.full_like(sizes, largest_group)
        # Half of the capital goes to the largest bet, which is 1.
        stakes /= 2.0
        stakes[-1] += 0.5
    weights = sizes / whole

    def capital(passed: FloatArray, against: float) -> float:
        gains = (against * weights - passed) / (1.0 - against)
        factors = np.maximum(1.0 + bets[:, None] * gains, 0.0)
        # An infinite capital becomes nan where it is lost.
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.fmax.reduce(stakes @ factors.cumprod(axis=1)))

    def excess(against: float, passed: FloatArray) -> float:
        # The size of a capital far from 1 / error would only mislead the search.
        return math.log(min(max(capital(passed, against) * error, 1e-2), 1e2))

    @lru_cache(maxsize=1)
    def figures(row: bytes) -> tuple[float, float, float]:
        passed = np.bincount(codes, np.frombuffer(row, dtype=np.bool_))[order] / whole
        share = passed.sum() / weights.sum()
        p = 1.0
        if share <= limit:
            p = 1.0 / max(capital(passed, limit), 1.0)
        # The capital grows with the limit: find where it is 1 / error, but not below the share.
        low = min(share, _HIGHEST)
        if excess(low, passed) >= 0.0:
            return share, p, low
        if excess(_HIGHEST, passed) <= 0.0:
            return share, p, _HIGHEST
        find = scipy_module("optimize").brentq
        return share, p, find(excess, low, _HIGHEST, args=(passed,), xtol=_TOLERANCE)

    # Neighbouring settings often pass the same answers.
    return np.transpose([figures(row.tobytes()) for row in marks])
