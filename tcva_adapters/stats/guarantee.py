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
from tcva_adapters.stats.checks import (
    BoolArray,
    FloatArray,
    Groups,
    IntArray,
    check_level,
)
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.scipy_extra import scipy_module

_HALVINGS = 50
_BELOW_1 = 1.0 - 1e-12
_MAX_ANSWERS = 20_000
_BETS = 8
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
    1 on average where the true share is above the limit. p is 1 / capital, in the mean over bets that
    were fixed by the number of groups, limit and error (Markov's inequality; Waudby-Smith and Ramdas,
    Estimating means of bounded random variables by betting, Journal of the Royal Statistical Society
    B 86, 2024), and the bounds invert it. The order of the groups does not matter. A group counts
    one, by the share of its rejected answers that pass (``size`` and ``largest`` are 1): the guarantee
    is for the mean of this share over groups that have a rejected answer. With ``largest_group`` an
    answer counts one, and the guarantee is for the share of answers. Groups of one answer each count
    as answers alone.

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
    if units.codes is None:
        sums = marks.sum(axis=1)
        shares = sums / n if n else np.full(len(marks), np.nan)
        p = _binomial(sums, n, limit)
        bounds = largest_share(sums, n, error)
    else:
        shares, p, bounds = _by_betting(marks, units.codes, limit, error, largest_group)
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
    enough = _binomial(np.ceil((sizes * share).round(9)), sizes, limit) <= error
    return int(sizes[enough.argmax()]) if enough.any() else None


def groups_needed(p: float, groups: int, error: float) -> int | None:
    """About how many groups like these would certify a setting, if these have this p.

    Each further group multiplies the capital by as much as these do on average.

    Args:
        p: The p of the setting, see `PathResult`.
        groups: The number of groups.
        error: See `certify`.

    Returns:
        Their number; None where the capital does not grow.

    >>> groups_needed(0.9**20, 20, 0.05), groups_needed(1.0, 20, 0.05)
    (29, None)
    """
    return math.ceil(groups * math.log(error) / math.log(p)) if p < 1.0 else None


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


def _by_betting(
    marks: BoolArray,
    codes: IntArray,
    limit: float,
    error: float,
    largest_group: int | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The shares, p and bounds of answers in groups."""
    answers = np.bincount(codes)
    most = int(answers.max())
    if largest_group is not None and most > largest_group:
        raise InvalidValueError(
            f"a group has {most} answers, and largest_group (--largest-group) is {largest_group}; give "
            "the most that any group may have, or let groups count one each (--per group)"
        )
    starts = answers.cumsum() - answers
    in_groups = marks[:, codes.argsort(kind="stable")]
    passed = np.add.reduceat(in_groups, starts, axis=1, dtype=np.int64)

    # Groups with as many answers, of which as many pass, are counted, to save time.
    whole = answers if largest_group is None else largest_group
    pairs = np.stack(np.broadcast_arrays(passed / whole, answers / whole))
    kinds, places = np.unique(pairs.reshape(2, -1), axis=1, return_inverse=True)
    counts = np.apply_along_axis(
        np.bincount, 1, places.reshape(passed.shape), minlength=kinds.shape[1]
    )
    passed, sizes = kinds @ counts.T

    fewest = math.log(error) / math.log1p(-limit)
    bets = np.linspace(min(1.0, math.sqrt(fewest / len(answers))), 1.0, _BETS)
    low = shares = passed / sizes
    high = np.ones(len(marks))
    # p falls as the limit rises: bisect to where it is the error.
    for _ in range(_HALVINGS):
        middle = np.minimum((low + high) / 2.0, _BELOW_1)
        above = _p_of_bets(bets, counts, kinds, middle) > error
        low = np.where(above, middle, low)
        high = np.where(above, high, middle)
    return shares, _p_of_bets(bets, counts, kinds, np.array(limit)), high


def _p_of_bets(
    bets: FloatArray,
    counts: IntArray,
    kinds: FloatArray,
    limits: FloatArray,
) -> FloatArray:
    """The p of groups that bet against a limit, or against one of each setting, shape (K,).

    Args:
        bets: The part of the capital that is lost if all answers of a largest group pass, shape (J,).
        counts: The number of groups of each kind at each setting, shape (K, U).
        kinds: What passes of a kind of group, and its size, as parts of the largest size, shape
            (2, U).
        limits: Shape () or (K,).
    """
    passed, sizes = kinds
    odds = limits.reshape(-1, 1)
    gains = (odds * sizes - passed) / (1.0 - odds)
    special = scipy_module("special")
    logarithms = [
        special.xlog1py(counts, np.maximum(bet * gains, -1.0)).sum(axis=1)
        for bet in bets
    ]
    capital = special.logsumexp(logarithms, axis=0) - math.log(_BETS)
    return np.asarray(np.exp(-np.maximum(capital, 0.0)))
