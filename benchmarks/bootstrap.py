"""Bootstrap intervals of Spearman's rho beside a Python loop over scipy on the same resamples, in one run.

Run: python -m benchmarks.bootstrap
The loop calls scipy once per resample and is timed once, without the drawing; our part draws for
itself and is timed several times. Times are this process's CPU time, which other processes on the
machine disturb less than the wall clock. Ends must be equal to 12 digits.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from scipy import stats

from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.inference import estimate

SAMPLES = 200
RESAMPLES = 10_000
RUNS = 9
LEVEL = 0.95


def scores(*, ties: bool) -> tuple[FloatArray, FloatArray]:
    """Scores and human ratings that agree moderately: in steps, as judges give them, or not."""
    rng = np.random.default_rng(0)
    human = rng.random(SAMPLES)
    method = human + rng.normal(0, 0.3, SAMPLES)
    if not ties:
        return method, human
    return np.clip(np.round(method * 10) / 10, 0, 1), np.round(human * 12) / 12


def compare(*, ties: bool) -> float:
    """Print both intervals and their times; the median of the ratios."""
    method, human = scores(ties=ties)
    generator = np.random.Generator(np.random.PCG64(0))
    resamples = generator.integers(0, SAMPLES, (RESAMPLES, SAMPLES))
    started = time.process_time()
    values = [stats.spearmanr(method[row], human[row]).statistic for row in resamples]
    looped = time.process_time() - started
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    taken = []
    for _ in range(RUNS):
        started = time.process_time()
        ours = estimate("spearman", [method, human], method="percentile", resamples=RESAMPLES)
        taken.append(time.process_time() - started)
    ratio = looped / statistics.median(taken)
    off = max(abs(ours.low - low), abs(ours.high - high))
    print(
        f"spearman {'with' if ties else 'without'} ties\n"
        f"  scipy loop   [{low:.12f}, {high:.12f}]  {looped:6.2f} s\n"
        f"  tcva         [{ours.low:.12f}, {ours.high:.12f}]  {statistics.median(taken):6.3f} s "
        f"(median of {RUNS}, {min(taken):.3f} to {max(taken):.3f})\n"
        f"  {ratio:.0f} times faster; ends differ by {off:.0e}"
    )
    return ratio


def main() -> None:
    """Print both, and the smaller ratio."""
    print(f"N={SAMPLES}, B={RESAMPLES}, {LEVEL:.0%} percentile intervals, CPU time")
    ratios = [compare(ties=ties) for ties in (True, False)]
    print(f"Spearman: at least {min(ratios):.0f} times faster (target >= 50)")


if __name__ == "__main__":
    main()
