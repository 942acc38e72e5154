"""Tukey's test by randomisation: its speed, its memory, its p under the null, and its power.

Run: python -m benchmarks.systems
The loop shuffles row by row (``rng.permutation``) and takes the means, as the CCRS paper's listing
does; 20 of its tables are timed and extrapolated, in the same run. Times are this process's CPU
time, which other processes on the machine disturb less than the wall clock. Memory is the most that
a process of its own ever held, interpreter and numpy included.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time

import numpy as np
from scipy import stats

from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.power import pair_power, variability
from tcva_adapters.stats.randomisation import shuffled_tables, tukey_hsd

QUERIES, SYSTEMS, PERMUTATIONS = 4719, 6, 10_000
LOOPED = 20
RUNS = 5
MEGABYTE = 1024  # ru_maxrss counts kilobytes on Linux
NULLS = 1000
DRAWS = 1000


def scores(n: int, systems: int, seed: int) -> FloatArray:
    """Scores in steps of a twentieth, hard and easy queries, as judges give them."""
    rng = np.random.default_rng(seed)
    raw = rng.beta(4, 1.5, (n, 1)) + rng.normal(0, 0.25, (n, systems))
    return np.asarray(np.round(np.clip(raw, 0, 1) * 20) / 20, dtype=np.float64)


def row_by_row(table: FloatArray) -> float:
    """Seconds for one shuffled table, by a loop over its rows."""
    rng = np.random.default_rng(0)
    shuffled = table.copy()
    started = time.process_time()
    for _ in range(LOOPED):
        for row in range(len(table)):
            shuffled[row] = rng.permutation(table[row])
        np.ptp(shuffled.mean(axis=0))
    return (time.process_time() - started) / LOOPED


def speed(name: str, table: FloatArray) -> float:
    looped = row_by_row(table) * PERMUTATIONS
    taken = []
    for _ in range(RUNS):
        started = time.process_time()
        tukey_hsd(table, permutations=PERMUTATIONS)
        taken.append(time.process_time() - started)
    ratio = looped / statistics.median(taken)
    print(
        f"{name}: loop {looped:.0f} s (extrapolated from {LOOPED}), ours "
        f"{statistics.median(taken):.2f} s (median of {RUNS}, {min(taken):.2f} to {max(taken):.2f}): "
        f"{ratio:.0f} times faster"
    )
    return ratio


def peak() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
    tukey_hsd(scores(QUERIES, SYSTEMS, 0), permutations=PERMUTATIONS)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
    print(f"peak memory {after:.0f} MB, of which {before:.0f} MB before the test (target <= 400)")


def same_as_a_loop() -> None:
    table = scores(60, SYSTEMS, 1)
    table[::7, 2] = np.nan
    found = tukey_hsd(table, permutations=2000, seed=3)
    means = np.nanmean(table, axis=0)
    reached = np.zeros((SYSTEMS, SYSTEMS), dtype=int)
    for copy in shuffled_tables(table, permutations=2000, seed=3):
        reached += np.ptp(np.nanmean(copy, axis=0)) >= np.abs(means[:, None] - means) - 1e-12
    off = ~np.eye(SYSTEMS, dtype=bool)
    equal = np.array_equal(found.p[off], ((1 + reached) / 2001)[off])
    print(
        f"p of {SYSTEMS * (SYSTEMS - 1) // 2} pairs equal to a loop's over the same copies: {equal}"
    )


def same_as_scipy() -> None:
    agreed, farthest = 0, 0.0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        table = rng.normal([0.0, 0.01, 0.35, 0.7], 1.0, (400, 4))
        ours, theirs = tukey_hsd(table, seed=seed), stats.tukey_hsd(*table.T)
        off = ~np.eye(4, dtype=bool)
        agreed += int(((ours.p < 0.05) == (theirs.pvalue < 0.05))[off].sum()) // 2
        farthest = max(farthest, float(np.abs(ours.p - theirs.pvalue)[off].max()))
    print(
        f"scipy.stats.tukey_hsd on normal data: {agreed} of {50 * 6} decisions the same, p at most "
        f"{farthest:.3f} apart"
    )


def null() -> None:
    rng = np.random.default_rng(5)
    smallest = []
    for number in range(NULLS):
        table = scores(50, 4, int(rng.integers(1 << 30))) + rng.normal(0, 1e-3, (50, 4))
        smallest.append(tukey_hsd(table, permutations=999, seed=number).pair_ps().min())
    uniform = stats.kstest(smallest, "uniform").pvalue
    level = float(np.mean(np.array(smallest) < 0.05))
    print(
        f"{NULLS} data sets without a difference: Kolmogorov-Smirnov p {uniform:.3f} (target > 0.01), "
        f"family-wise error {level:.3f} (target 0.05 +- 0.015)"
    )


def power() -> float:
    worst = 0.0
    print("power to find a difference: predicted, and found by the test")
    for systems, n, difference in ((2, 50, 0.1), (4, 50, 0.15), (6, 100, 0.1), (6, 400, 0.06)):
        at_hand = scores(400, systems, 7)
        predicted = float(pair_power(variability(at_hand), difference, n)[0, systems - 1])
        centred = at_hand - at_hand.mean(axis=0)
        rng = np.random.default_rng(8)
        found = 0
        for number in range(DRAWS):
            table = centred[rng.integers(0, len(centred), n)]
            table[:, 0] += difference
            p = tukey_hsd(table, permutations=499, seed=number).p
            found += int(p[0, systems - 1] < 0.05)
        worst = max(worst, abs(found / DRAWS - predicted))
        print(
            f"  {systems} systems, {n:3} queries, difference {difference}: {predicted:.3f}, "
            f"{found / DRAWS:.3f}"
        )
    return worst


def main() -> None:
    print(f"N={QUERIES}, S={SYSTEMS}, B={PERMUTATIONS}, one metric, CPU time")
    full = scores(QUERIES, SYSTEMS, 0)
    # Steps of a hundred-thousandth: hardly any row is constant, which would spare work.
    fine = full + np.random.default_rng(1).random(full.shape) * 1e-5
    ratios = [speed("scores in twentieths", full), speed("scores without ties", fine)]
    holed = fine.copy()
    holed[np.random.default_rng(2).random(holed.shape) < 0.05] = np.nan
    speed("5 % missing (the loop knows no gaps)", holed)
    print(f"at least {min(ratios):.0f} times faster (target >= 50)")
    process = multiprocessing.get_context("spawn").Process(target=peak)
    process.start()
    process.join()
    same_as_a_loop()
    same_as_scipy()
    null()
    print(f"at most {power():.3f} apart (target <= 0.05)")


if __name__ == "__main__":
    main()
