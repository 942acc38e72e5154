"""Is one method as good as another one? Two one-sided tests against a margin (TOST).

"No detectable difference" is no such claim: with few samples nothing is detectable. Here the burden is
turned round: a method counts as not worse if the data speak against a loss as large as the margin.
D. J. Schuirmann, A comparison of the two one-sided tests procedure and the power approach, Journal of
Pharmacokinetics and Biopharmaceutics 15 (1987).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import check_level, group_codes, in_all, whole
from tcva_adapters.stats.clusters import clustered_p
from tcva_adapters.stats.correlation import Measure, check_measure, higher_is_better
from tcva_adapters.stats.replicates import Replicates
from tcva_adapters.stats.scipy_extra import scipy_module

_NEAREST = 1e-9
"""How close to 0 and to 1 levels are tried."""

_LEAST: Final = {"spearman": 50}
"""Samples: at the margin "not worse" is said of 30 in 7 % of cases (``python -m benchmarks.planning``)."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two methods against a margin.

    Attributes:
        measure: Which measure.
        delta: The first method's value less the second one's.
        margin: A difference of this size would matter.
        low: Lower end of the interval that belongs to the tests; nan where there is none.
        high: Upper end, likewise.
        level: Of that interval: ``1 - 2 * alpha``.
        p_not_worse: For "the first is worse by the margin or more".
        p_equivalent: For "they differ by the margin or more": the larger one of both sides' p.
        n: Samples on which both methods and a human have a score.
        clusters: Groups that count as one; None where single samples do.
        reason: Why there is no test; empty where there is one.
    """

    measure: Measure
    delta: float
    margin: float
    low: float
    high: float
    level: float
    p_not_worse: float
    p_equivalent: float
    n: int
    clusters: int | None = None
    reason: str = ""


def equivalence(
    measure: Measure,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    human: npt.ArrayLike,
    margin: float,
    *,
    alpha: float = 0.05,
    n_boot: int = 10_000,
    seed: int = 0,
    groups: Sequence[object] | None = None,
) -> Equivalence:
    """Test whether one method agrees with human ratings as well as another one, up to a margin.

    Both one-sided tests are those that `paired_difference`'s interval is made of: the share of
    resamples beyond the margin (plus one, so that it is never 0; with groups further out, as the
    interval's ends are) for ``spearman`` and ``kendall``,
    Student's t for ``mae``, and for ``pearson`` the level at which the interval's end meets the
    margin. p is below alpha where the interval of level ``1 - 2 * alpha`` lies within the margin.

    Args:
        measure: ``spearman``, ``kendall``, ``pearson`` or ``mae``.
        first: Shape (N,); nan or None where there is none.
        second: Shape (N,), likewise.
        human: Shape (N,), likewise.
        margin: Above 0: the difference that would matter, chosen before looking.
        alpha: Level of each test, below 0.5.
        n_boot: Resamples.
        seed: Of the resamples.
        groups: One per sample: whole groups count as one.

    Raises:
        InvalidValueError: A margin that is not above 0, an alpha outside (0, 0.5), and as for
            `paired_difference`.
        MissingDependencyError: scipy is not installed.

    >>> ratings = np.linspace(0, 1, 40)
    >>> one, other = ratings + 0.1 * np.sin(7 * ratings), ratings + 0.1 * np.cos(9 * ratings)
    >>> found = equivalence("mae", one, other, ratings, 0.05)
    >>> round(found.delta, 3), found.p_equivalent < 0.001
    (-0.003, True)
    """
    check_measure(measure)
    check_level(alpha)
    if alpha >= 0.5:
        msg = f"alpha is {alpha!r}; a one-sided test has one below 0.5, e.g. 0.05"
        raise InvalidValueError(msg)
    check_margin(margin)
    (*sides, ratings), kept = in_all(first=first, second=second, human=human)
    codes = None if groups is None else group_codes(groups, kept)
    n_boot = whole("n_boot", n_boot, least=1)
    run = Replicates(measure, sides, ratings, n_boot=n_boot, seed=seed, codes=codes)
    level = 1 - 2 * alpha
    ends = run.difference(level)
    least = _LEAST.get(measure, 0)
    if not ends.reason and len(ratings) < least:
        why = f"{len(ratings)} samples: this test of {measure} needs {least}"
        ends = ends._replace(low=float("nan"), high=float("nan"), reason=why)
    delta = float(run.observed[0] - run.observed[1])
    loss = below = above = float("nan")
    if not ends.reason:
        above, below = _p(run, -margin, sign=1), _p(run, margin, sign=-1)
        loss = above if higher_is_better(measure) else below
    return Equivalence(
        measure=measure,
        delta=delta,
        margin=margin,
        low=ends.low,
        high=ends.high,
        level=level,
        p_not_worse=loss,
        p_equivalent=max(below, above),
        n=len(ratings),
        clusters=run.clusters,
        reason=ends.reason,
    )


def check_margin(margin: float) -> None:
    """Nothing, if a difference of this size can matter.

    Raises:
        InvalidValueError: It is not above 0, or not finite.
    """
    if not 0 < margin < float("inf"):
        msg = f"the margin is {margin!r}; give the least difference that would matter, above 0"
        raise InvalidValueError(msg)


def _p(run: Replicates, limit: float, *, sign: int) -> float:
    """One-sided, for "the difference is at most the limit" (sign 1) or "at least" (sign -1)."""
    if run.measure in {"spearman", "kendall"}:
        deltas = run.values[0] - run.values[1]
        deltas = deltas[~np.isnan(deltas)]
        beyond = int(np.count_nonzero(sign * (deltas - limit) <= 1e-12))
        share = (beyond + 1) / (len(deltas) + 1)
        return clustered_p(2 * share, run.size, run.worth) / 2
    delta = float(run.observed[0] - run.observed[1])
    # The end that moves from the difference towards the limit as the level rises.
    is_beyond = sign * (delta - limit) <= 0
    is_low = (sign > 0) != is_beyond

    def left(level: float) -> float:
        ends = run.difference(level)
        return ((ends.low if is_low else ends.high) - limit) * (1 if is_low else -1)

    if left(1 - _NEAREST) > 0:
        tail = _NEAREST / 2
    elif left(_NEAREST) < 0:
        tail = 0.5
    else:
        level = scipy_module("optimize").brentq(left, _NEAREST, 1 - _NEAREST, xtol=1e-12)
        tail = (1 - float(level)) / 2
    return 1 - tail if is_beyond else tail
