"""Speed of what runs without a model: one score, and a sweep.

Run: python -m benchmarks.speed
Times are CPU times, which other processes on the machine disturb less than the clock, and medians.
The unit is `score_agg` in plain Python, as eval-ai-library 0.8.2 has it.
"""

import statistics
import time
from collections.abc import Callable
from itertools import cycle, product
from typing import Final

import numpy as np

from tcva_adapters import (
    Assessment,
    Result,
    aggregate,
    aggregate_counts,
    flip_temperature,
)
from tcva_adapters.core.verdicts import LEVELS, Verdict, WeightScheme

ROUNDS: Final = 15
LIMITS: Final = {"aggregate": 6, "flip_temperature": 120}
ROWS, LOOPED, GRID = 1_000_000, 2_000, np.linspace(0.1, 1.0, 91)


def score_agg(scores: list[float], temperature: float) -> float:
    """The reference library's work for one list, written anew."""
    p = -8.0 + (temperature - 0.1) / 0.9 * 20.25
    n = len(scores)
    used = [s if s > 0.0 else 1e-9 for s in scores] if p < 0 else scores
    mean = (sum(s**p for s in used) / n) ** (1.0 / p)
    share = sum(1 for s in scores if s == 0.0) / n
    return float(
        round(mean * (1.0 - share) ** ((1.5 - temperature) * min(1.0, (n - 1) / 4)), 4)
    )


def cpu(work: Callable[[], object], calls: int = 1) -> float:
    """Seconds of this process for one call."""
    started = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - started) / calls


def print_score() -> None:
    """One score, another temperature of a result and a flip temperature, over the unit."""
    weights = dict(zip(LEVELS, WeightScheme.DEFAULT.weights, strict=True))
    words = [[level.value for level in four] for four in product(LEVELS, repeat=4)]
    numbers = cycle([[weights[Verdict(word)] for word in four] for four in words])
    fresh, temperatures = cycle(words), cycle(np.linspace(0.1, 1.0, 997).tolist())
    judged = cycle([Result(Assessment.from_verdicts(four)) for four in words])
    works: dict[str, tuple[Callable[[], object], int]] = {
        "aggregate": (lambda: aggregate(next(fresh), 0.4), 400),
        "Result.at": (lambda: next(judged).at(next(temperatures)), 400),
        "flip_temperature": (lambda: flip_temperature(next(fresh), 0.5), 50),
    }
    units: list[float] = []
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        units.append(cpu(lambda: score_agg(next(numbers), 0.4), 400))
        for name, (work, calls) in works.items():
            taken[name].append(cpu(work, calls))
    print(f"score_agg of four claims: {statistics.median(units) * 1e6:.1f} us")
    for name, times in taken.items():
        ratio = statistics.median(
            t / unit for t, unit in zip(times, units, strict=True)
        )
        limit = f" (at most {LIMITS[name]})" if name in LIMITS else ""
        taken_us = statistics.median(times) * 1e6
        print(f"{name}: {taken_us:.1f} us, {ratio:.1f} times that{limit}")


def print_sweep() -> None:
    """A million rows of counts at 91 temperatures, beside a loop over the unit."""
    rng = np.random.default_rng(0)
    counts = (
        rng.multinomial(rng.integers(1, 9, ROWS), [0.4, 0.15, 0.15, 0.15, 0.15]) * 1.0
    )
    weights = WeightScheme.DEFAULT.weights
    lists = [np.repeat(weights, row.astype(int)).tolist() for row in counts[:LOOPED]]
    looped = cpu(lambda: [score_agg(one, t) for one in lists for t in GRID.tolist()])
    swept = statistics.median(
        cpu(lambda: aggregate_counts(counts, GRID)) for _ in range(5)
    )
    times = looped * ROWS / LOOPED / swept
    print(
        f"{ROWS} rows at {len(GRID)} temperatures: {swept:.2f} s; "
        f"score_agg, by {LOOPED} of them, {times:.0f} times as long"
    )


if __name__ == "__main__":
    print_score()
    print_sweep()
