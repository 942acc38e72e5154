"""One score, another temperature and a flip temperature beside score_agg.

Run: python -m benchmarks.scores
Times are CPU times of one process, in turn, medians of ratios: the unit is the reference library's
work for one list of four scores, in plain Python, written anew (`_score_agg`). "fresh" has another list (another temperature) each time, "same" one. Nothing
here is served by a cache of scores: there is none.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import cycle, product
from typing import Final

import numpy as np

from tcva_adapters.core.aggregation import aggregate, sweep
from tcva_adapters.core.flip import flip_temperature
from tcva_adapters.core.verdicts import LEVELS, Verdict, WeightScheme
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.result import Result

ROUNDS: Final = 31
CALLS: Final = 400
FLIPS: Final = 2_000
TARGETS: Final = {"aggregate": 40, "result.at": 50, "flip_temperature": 400}


def _score_agg(
    scores: list[float], temperature: float = 0.5, penalty: float = 0.1, least: float = 1e-9
) -> float:
    """What the reference library does for one list, with its rounding."""
    del penalty  # as there
    if not scores:
        return 0.0
    share = (max(0.1, min(1.0, temperature)) - 0.1) / (1.0 - 0.1)
    p = -8.0 + share * (12.25 - -8.0)
    n = len(scores)
    used = [s if s > 0.0 else least for s in scores] if p < 0 else scores
    if abs(p) < 1e-12:
        mean = math.exp(sum(math.log(s) for s in used) / n)
    else:
        mean = (sum(s**p for s in used) / n) ** (1.0 / p)
    zeros = sum(1 for s in scores if s == 0.0)
    factor = (1.0 - zeros / n) ** ((1.5 - temperature) * min(1.0, (n - 1) / 4.0))
    return float(round(mean * factor, 4))


def timed() -> Iterator[tuple[str, Callable[[], object]]]:
    """What is timed, by name; the unit first."""
    weights = dict(zip(LEVELS, WeightScheme.DEFAULT.weights, strict=True))
    words = [[level.value for level in four] for four in product(LEVELS, repeat=4)]
    numbers = cycle([[weights[Verdict(word)] for word in four] for four in words])
    fresh, dial = cycle(words), cycle(np.linspace(0.1, 1.0, 997).tolist())
    four = ["fully", "mostly", "partial", "none"]
    assessment = Assessment.from_verdicts(four)
    result = Result(assessment)
    judged = cycle([Result(Assessment.from_verdicts(each)) for each in words])
    text = result.to_json()
    yield "unit", lambda: _score_agg(next(numbers), 0.4)
    yield "aggregate, fresh", lambda: aggregate(next(fresh), 0.4)
    yield "aggregate, same", lambda: aggregate(four, 0.4)
    yield "aggregate at T=0.5, fresh", lambda: aggregate(next(fresh))
    yield "result.at, fresh", lambda: next(judged).at(next(dial))
    yield "result.at, same", lambda: result.at(0.4)
    yield "flip_temperature, fresh", lambda: flip_temperature(next(fresh), 0.5)
    yield "flip_temperature, same", lambda: flip_temperature(four, 0.5)
    yield "Result.flip_temperature", lambda: result.flip_temperature
    yield "Assessment.from_verdicts", lambda: Assessment.from_verdicts(four)
    yield "Result(assessment)", lambda: Result(assessment)
    yield "Result.to_json", result.to_json
    yield "Result.from_json", lambda: Result.from_json(text)
    yield "Result.reason", lambda: result.reason


def print_times() -> None:
    """The medians of ratios to the unit, and of the unit in microseconds."""
    functions = list(timed())
    taken: dict[str, list[float]] = {name: [] for name, _ in functions}
    for _ in range(ROUNDS):
        for name, function in functions:
            calls = CALLS // 8 if "flip" in name else CALLS
            started = time.process_time()
            for _ in range(calls):
                function()
            taken[name].append((time.process_time() - started) / calls)
    unit = taken.pop("unit")
    print(f"score_agg, one list of four: {statistics.median(unit) * 1e6:.1f} us")
    for name, times in taken.items():
        ratio = statistics.median(mine / one for mine, one in zip(times, unit, strict=True))
        target = TARGETS.get(name.partition(",")[0])
        said = f" (target <= {target})" if target else ""
        print(f"{name:26} {statistics.median(times) * 1e6:8.1f} us {ratio:7.1f} x{said}")


def print_flips() -> None:
    """Whether flips pass from there on and fail just below, on random rows."""
    rng = np.random.default_rng(0)
    above = wrong = 0
    for _ in range(FLIPS):
        row = rng.multinomial(rng.integers(1, 9), [0.2] * 5).astype(np.float64)
        threshold = float(rng.choice([rng.random(), *sweep([row], [rng.uniform(0.1, 1.0)])[0]]))
        flip = flip_temperature(row, threshold)
        grid = np.linspace(0.1 if flip is None else flip, 1.0, 1000)
        below = [] if flip is None or flip == 0.1 else [math.nextafter(flip, 0.0)]
        scores = sweep([row], [*grid, *below])[0]
        above += int(flip is not None and (scores[: len(grid)] < threshold * (1 - 1e-12)).any())
        wrong += int(scores[-1] >= threshold) if below or flip is None else 0
    print(f"{FLIPS} flip temperatures: {above} fail above, {wrong} pass below (target 0)")


def main() -> None:
    print_times()
    print_flips()


if __name__ == "__main__":
    main()
