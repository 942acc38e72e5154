"""Bootstrap intervals beside a Python loop over scipy on the same resamples, in one run.

Run: python -m benchmarks.bootstrap [--vectorised]
With ``--vectorised`` it is scipy's own ``bootstrap`` and ``permutation_test``, with functions that take
all resamples of a batch at once, at 200 and 5,000 samples; the resamples are not the same there.
The loop calls scipy once per resample and is timed once, without the drawing; our part draws for
itself and is timed several times. Times are this process's CPU time, which other processes on the
machine disturb less than the wall clock. Ends must be equal to 12 digits.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from tcva_adapters.stats.bootstrap import interval
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.correlation_test import correlation_test

SAMPLES = 200
RESAMPLES = 10_000
RUNS = 9
LEVEL = 0.95
FUNCTIONS = {
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
    "pearson": stats.pearsonr,
}


def scores(*, ties: bool, n: int = SAMPLES) -> tuple[FloatArray, FloatArray]:
    """Scores and human ratings that agree moderately: in steps, as judges give them, or not."""
    rng = np.random.default_rng(0)
    human = rng.random(n)
    method = human + rng.normal(0, 0.3, n)
    if not ties:
        return method, human
    return np.clip(np.round(method * 10) / 10, 0, 1), np.round(human * 12) / 12


def compare(measure: Measure, *, ties: bool) -> float:
    """Print both intervals and their times; the median of the ratios."""
    method, human = scores(ties=ties)
    generator = np.random.Generator(np.random.PCG64(0))
    resamples = generator.integers(0, SAMPLES, (RESAMPLES, SAMPLES))
    started = time.process_time()
    values = [FUNCTIONS[measure](method[row], human[row]).statistic for row in resamples]
    looped = time.process_time() - started
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    taken = []
    for _ in range(RUNS):
        started = time.process_time()
        ours = interval(measure, method, human, n_boot=RESAMPLES, level=LEVEL, method="percentile")
        taken.append(time.process_time() - started)
    ratio = looped / statistics.median(taken)
    off = max(abs(ours.low - low), abs(ours.high - high))
    print(
        f"{measure:8} {'with' if ties else 'without'} ties\n"
        f"  scipy loop   [{low:.12f}, {high:.12f}]  {looped:6.2f} s\n"
        f"  tcva         [{ours.low:.12f}, {ours.high:.12f}]  {statistics.median(taken):6.3f} s "
        f"(median of {RUNS}, {min(taken):.3f} to {max(taken):.3f})\n"
        f"  {ratio:.0f} times faster; ends differ by {off:.0e}"
    )
    return ratio


def correlations(first: FloatArray, second: FloatArray, axis: int) -> FloatArray:
    """Pearson along an axis."""
    first = first - first.mean(axis=axis, keepdims=True)
    second = second - second.mean(axis=axis, keepdims=True)
    spread = np.sqrt((first**2).sum(axis=axis) * (second**2).sum(axis=axis))
    found: FloatArray = (first * second).sum(axis=axis) / spread
    return found


def rank_correlations(first: FloatArray, second: FloatArray, axis: int) -> FloatArray:
    """Spearman along an axis."""
    return correlations(stats.rankdata(first, axis=axis), stats.rankdata(second, axis=axis), axis)


def seconds(call: Callable[[], object]) -> float:
    """CPU time of one call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def vectorised(n: int) -> None:
    """Print times of the bootstrap and of the permutation test of Spearman."""
    method, human = scores(ties=True, n=n)
    batch = max(1, 2_000_000 // n)
    drawn = {"n_resamples": RESAMPLES, "batch": batch, "vectorized": True}

    def theirs() -> object:
        return stats.bootstrap(
            (method, human), rank_correlations, paired=True, method="percentile", **drawn
        )

    def ours() -> object:
        return interval("spearman", method, human, n_boot=RESAMPLES, method="percentile")

    ranks = stats.rankdata(method), stats.rankdata(human)

    def their_permutations() -> object:
        return stats.permutation_test(
            (ranks[0],),
            lambda moved, axis: correlations(moved, ranks[1], axis),
            permutation_type="pairings",
            **drawn,
        )

    def our_permutations() -> object:
        return correlation_test("spearman", method, human, n_permutations=RESAMPLES)

    pairs = (("bootstrap", theirs, ours), ("permutation", their_permutations, our_permutations))
    for what, scipys, own in pairs:
        slow, fast = seconds(scipys), min(seconds(own) for _ in range(3))
        print(
            f"{what:12} N={n:5}  scipy {slow:7.2f} s  tcva {fast:6.3f} s  {slow / fast:5.1f} times"
        )


def main() -> None:
    if "--vectorised" in sys.argv[1:]:
        for n in (SAMPLES, 5_000):
            vectorised(n)
        return
    print(f"N={SAMPLES}, B={RESAMPLES}, {LEVEL:.0%} percentile intervals, CPU time")
    spearman = [compare("spearman", ties=ties) for ties in (True, False)]
    for measure in ("kendall", "pearson"):
        compare(measure, ties=True)
    print(f"Spearman: at least {min(spearman):.0f} times faster (target >= 50)")


if __name__ == "__main__":
    main()
