"""How many queries would show a difference between systems, and what those at hand can show.

The tests are those of all pairs of systems. For the studentised one (`studentised_pairs`) a pair is
found if its t is larger than a critical value, the quantile of the largest t of any pair. Both are,
by the central limit theorem, close to what normal means with the systems' covariance have; that the
standard error is estimated is allowed for by Student's t in place of the normal distribution.

For Tukey's test (`tukey_hsd`) shuffled tables have a covariance that is known: two columns of a
shuffled row differ with twice the variance that the row has over the systems. So with n queries q* is,
by the central limit theorem, close to ``sqrt(V / n)`` times the studentised range of S normal values
with infinite degrees of freedom, where V is the mean of the rows' variances. A pair is found if its
difference is larger than that quantile.

Both sides of that comparison vary from one draw of queries to the next. They are simulated: means
of n queries are normal with the covariance that the scores at hand have between systems, one of
the two systems raised by the difference in question, and V varies with the spread that the rows'
variances have at hand. That a large difference raises V itself, since the shuffling mixes it in, is
part of the simulation. Nothing supposes that systems vary alike or independently.

What it rests on is that means of n queries are nearly normal: below about 20 queries, or with
scores that hardly ever differ between systems, it is a rough guide.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, check_level, numbers, one_of, whole
from tcva_adapters.stats.pairwise import Test
from tcva_adapters.stats.scipy_extra import scipy_module

DRAWS: Final = 10_000
MOST_QUERIES: Final = 10_000_000


@dataclass(frozen=True, eq=False)
class Variability:
    """What the power depends on, besides the difference and the number of queries.

    Attributes:
        n: Queries with a score of every system; the others are not looked at.
        covariance: Of the systems' scores over queries, shape (S, S), n - 1 in the denominator.
        row_variance: Residual mean square of scores over queries and systems: the mean of the rows'
            variances when all systems have the same mean.
        row_spread: Standard deviation of the rows' variances.
    """

    n: int
    covariance: FloatArray
    row_variance: float
    row_spread: float


@dataclass(frozen=True, slots=True)
class PowerView:
    """Power to find one difference.

    Attributes:
        difference: Between the true means of two systems.
        queries: Queries at hand.
        power: Share of draws of so many queries that show it, mean over pairs of systems.
        least: The same for the pair for which it is hardest.
        most: For the pair for which it is easiest.
        target: The power that is wanted.
        needed: Queries at which the mean over pairs reaches it; None above `MOST_QUERIES`.
        needed_hardest: Queries at which the hardest pair does.
        alpha: Level of the test.
    """

    difference: float
    queries: int
    power: float
    least: float
    most: float
    target: float
    needed: int | None
    needed_hardest: int | None
    alpha: float


def variability(scores: npt.ArrayLike) -> Variability:
    """How the scores at hand vary.

    Args:
        scores: Shape (N, S), one row per query and one column per system. Rows with a nan or None
            are left out.

    Raises:
        InvalidValueError: Fewer than two systems, or fewer than three complete rows.

    Rows less the systems' means are (-1, 1), (0, 0) and (1, -1) halves; the squares add up to 1,
    over (3 - 1) (2 - 1) degrees of freedom:

    >>> variability([[0.0, 2.0], [0.5, 1.5], [1.0, 1.0]]).row_variance
    0.5
    """
    table = numbers("scores", scores, ndim=2)
    complete = table[np.isfinite(table).all(axis=1)]
    n, systems = complete.shape
    if systems < 2 or n < 3:
        msg = (
            f"{n} queries have a score of each of {systems} systems; a power view needs 3 queries "
            "and 2 systems or more"
        )
        raise InvalidValueError(msg)
    centred = complete - complete.mean(axis=0)
    rows = centred.var(axis=1, ddof=1)
    return Variability(
        n=n,
        covariance=centred.T @ centred / (n - 1),
        row_variance=float(rows.sum() / (n - 1)),
        row_spread=float(rows.std(ddof=1)),
    )


def pair_power(
    about: Variability,
    difference: float,
    queries: int,
    *,
    test: Test = "studentised",
    alpha: float = 0.05,
    draws: int = DRAWS,
    seed: int = 0,
) -> FloatArray:
    """The power to find a difference between each two systems; see the module for the method.

    Args:
        about: From `variability`.
        difference: Between the true means of the two systems; the other systems have the mean of
            the lower one.
        queries: How many are drawn, 2 or more.
        test: Which test is to find it.
        alpha: Level of the test, over all pairs together.
        draws: Simulated draws of the queries.
        seed: Of these draws.

    Returns:
        Shape (S, S), symmetric, nan on the diagonal: the chance that the two differ significantly.

    Raises:
        InvalidValueError: A difference that is not above 0, fewer than 2 queries, a level outside
            (0, 1), draws below 1 or a negative seed.
        MissingDependencyError: scipy is not installed.
    """
    check_difference(difference)
    return _simulation(about, test, alpha, draws, seed).power(difference, queries)


def power_view(
    about: Variability,
    difference: float,
    *,
    queries: int | None = None,
    target: float = 0.8,
    test: Test = "studentised",
    alpha: float = 0.05,
    draws: int = DRAWS,
    seed: int = 0,
) -> PowerView:
    """What so many queries can show, and how many would show a difference.

    Args:
        about: From `variability`.
        difference: As for `pair_power`.
        queries: At hand; by default as many as ``about`` is made of.
        target: The power that is wanted, in (0, 1).
        test: Which test is to find it.
        alpha: Level of the test.
        draws: Simulated draws for each number of queries that is tried.
        seed: Of these draws.

    Raises:
        InvalidValueError: As for `pair_power`, or a target outside (0, 1).
        MissingDependencyError: scipy is not installed.

    >>> rng = np.random.default_rng(1)
    >>> view = power_view(variability(rng.normal(0.5, 0.2, (60, 3))), 0.1)
    >>> round(view.power, 1), 65 < view.needed < 75
    (0.7, True)
    """
    check_level(target)
    check_difference(difference)
    n = about.n if queries is None else queries
    simulation = _simulation(about, test, alpha, draws, seed)
    now = simulation.power(difference, n)
    return PowerView(
        difference=difference,
        queries=n,
        power=float(np.nanmean(now)),
        least=float(np.nanmin(now)),
        most=float(np.nanmax(now)),
        target=target,
        needed=simulation.needed(difference, target, hardest=False),
        needed_hardest=simulation.needed(difference, target, hardest=True),
        alpha=alpha,
    )


def check_difference(difference: float) -> None:
    """Nothing, if this can be the difference that should be found.

    Raises:
        InvalidValueError: It is not above 0, or not finite.
    """
    if not 0 < difference < float("inf"):
        msg = f"difference is {difference!r}; give one above 0, on the scale of the scores"
        raise InvalidValueError(msg)


def least_whole(enough: Callable[[int], bool], least: int) -> int | None:
    """The least whole number that is enough, where all larger ones are; None beyond all reason.

    >>> least_whole(lambda n: n * n >= 1000, 10)
    32
    """
    low, high = least - 1, least
    while not enough(high):
        if high >= MOST_QUERIES:
            return None
        low, high = high, min(2 * high, MOST_QUERIES)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class _Simulation(ABC):
    """The same normal draws for every number of queries, so that power rises with it."""

    def __init__(self, about: Variability, alpha: float, draws: int, seed: int) -> None:
        check_level(alpha)
        self._about = about
        self._systems = len(about.covariance)
        self._alpha = alpha
        self._stats = scipy_module("stats")
        rng = np.random.Generator(np.random.PCG64(whole("seed", seed, least=0)))
        normal = rng.standard_normal((whole("draws", draws, least=1), self._systems + 1))
        # A covariance may lack an inverse (two systems alike), so no Cholesky decomposition.
        sizes, directions = np.linalg.eigh(about.covariance)
        self._means = normal[:, 1:] @ (directions * np.sqrt(np.maximum(sizes, 0.0))).T
        self._rows = normal[:, 0] * about.row_spread

    @abstractmethod
    def power(self, difference: float, n: int) -> FloatArray:
        """Shape (S, S), nan on the diagonal."""

    def needed(self, difference: float, target: float, *, hardest: bool) -> int | None:
        """The least number of queries, by bisection; None beyond all reason."""

        def enough(n: int) -> bool:
            found = self.power(difference, n)
            return bool((np.nanmin(found) if hardest else np.nanmean(found)) >= target)

        return least_whole(enough, 2)


class _Tukey(_Simulation):
    def power(self, difference: float, n: int) -> FloatArray:
        n = whole("queries", n, least=2)
        quantile = self._quantile
        means = self._means / np.sqrt(n)
        within = self._about.row_variance * (n - 1) / n + self._rows / np.sqrt(n)
        found = np.full((self._systems, self._systems), np.nan)
        for i, j in combinations(range(self._systems), 2):
            raised = means.copy()
            raised[:, i] += difference
            shuffled = np.maximum(within, 0.0) + raised.var(axis=1, ddof=1)
            critical = quantile * np.sqrt(shuffled / n)
            apart = np.abs(raised[:, i] - raised[:, j])
            found[i, j] = found[j, i] = np.mean(apart >= critical)
        return found

    @cached_property
    def _quantile(self) -> float:
        return float(self._stats.studentized_range.ppf(1 - self._alpha, self._systems, np.inf))


class _Studentised(_Simulation):
    def power(self, difference: float, n: int) -> FloatArray:
        n = whole("queries", n, least=2)
        critical = float(self._stats.t.ppf(self._stats.norm.cdf(self._critical), n - 1))
        # Two systems that never differ by anything else show every difference.
        with np.errstate(divide="ignore"):
            shift = difference * np.sqrt(n) / self._spread
        found: FloatArray = self._stats.norm.sf(critical - shift)
        found += self._stats.norm.cdf(-critical - shift)
        np.fill_diagonal(found, np.nan)
        return found

    @cached_property
    def _spread(self) -> FloatArray:
        """Standard deviation of the difference of each two systems."""
        own = np.diag(self._about.covariance)
        variances = own[:, None] + own - 2.0 * self._about.covariance
        spread: FloatArray = np.sqrt(np.maximum(variances, 0.0))
        return spread

    @cached_property
    def _critical(self) -> float:
        """The quantile of the largest standard normal statistic of any pair."""
        largest = np.zeros(len(self._means))
        for i, j in combinations(range(self._systems), 2):
            if self._spread[i, j] > 0.0:
                sizes = np.abs(self._means[:, i] - self._means[:, j]) / self._spread[i, j]
                np.maximum(largest, sizes, out=largest)
        return float(np.quantile(largest, 1 - self._alpha))


def _simulation(about: Variability, test: Test, alpha: float, draws: int, seed: int) -> _Simulation:
    one_of("test", test, get_args(Test))
    kind = _Studentised if test == "studentised" else _Tukey
    return kind(about, alpha, draws, seed)
