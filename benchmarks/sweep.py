"""``sweep`` beside a Python loop over score_agg, in one run, with the peak of memory.

Run: python -m benchmarks.sweep
The loop runs ``compat.score_agg``, which does the reference library's arithmetic in its order;
where eval-ai-library is installed, the library's own function runs instead. It is timed on a part
of the samples and extrapolated, since the whole would take minutes. Times are this process's CPU
time, user and system, which other processes on the machine disturb less than the wall clock. The
system's share is the handing out of memory for the result: on a virtual machine it may be ten times
larger where the host has to provide the pages first, for a bare fill of such an array just as well.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np

from benchmarks.compat import reference_module
from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.compat import score_agg
from tcva_adapters.core.verdicts import FloatArray, WeightScheme

SAMPLES = 1_000_000
GRID = np.linspace(0.1, 1.0, 91)
LOOPED = 2_000
RUNS = 5


def random_counts() -> FloatArray:
    """Level counts of lists of one to eight random verdicts."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 9, SAMPLES)
    return rng.multinomial(lengths, [0.4, 0.15, 0.15, 0.15, 0.15]).astype(np.float64)


def peak_of_sweep() -> None:
    """Print the peak memory of this whole process, input included, as a multiple of the result."""
    result = sweep(random_counts(), GRID)
    print(peak_kibibytes() * 1024 / result.nbytes)


def peak_kibibytes() -> int:
    """The kernel's high-water mark; getrusage would report that of the parent process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0])


def main() -> None:
    if sys.argv[1:] == ["--peak"]:
        peak_of_sweep()
        return
    try:
        loop, name = reference_module().score_agg, "eval-ai-library's score_agg"
    except PackageNotFoundError:
        loop, name = score_agg, "compat.score_agg"
    counts = random_counts()
    weights = WeightScheme.DEFAULT.weights
    lists = [
        [w for w, n in zip(weights, row, strict=True) for _ in range(int(n))]
        for row in counts[:LOOPED]
    ]
    temperatures = GRID.tolist()  # plain floats: numpy's would slow the loop down by half
    ratios = []
    for _ in range(RUNS):
        started = time.process_time()
        for scores in lists:
            for temperature in temperatures:
                loop(scores, temperature)
        looped = (time.process_time() - started) * SAMPLES / LOOPED
        before = os.times()
        sweep(counts, GRID)
        after = os.times()
        system = after.system - before.system
        swept = after.user - before.user + system
        ratios.append(looped / swept)
        print(
            f"{name}: {looped:.0f} s (extrapolated from {LOOPED} samples); "
            f"sweep: {swept:.2f} s, of which system {system:.2f} s; {ratios[-1]:.0f} times faster"
        )
    print(
        f"sweep of {SAMPLES} x {len(GRID)}: {statistics.median(ratios):.0f} times faster in the "
        f"median, {min(ratios):.0f} at least (target >= 300)"
    )
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.sweep", "--peak"],
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"peak of the process: {float(done.stdout):.2f} x the result (target <= 2.5)")


if __name__ == "__main__":
    main()
