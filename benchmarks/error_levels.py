"""How often the tests of ``tcva errors`` reject where there is nothing, and what its intervals cover.

Run: python -m benchmarks.error_levels [--sets 2000]
``!``: false positives above 0.065, or coverage below 0.93, and the command fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.calibration.objectives import mid_ranks
from tcva_adapters.stats.dependence import dependence
from tcva_adapters.stats.jackknife import coefficient_intervals, exact_share
from tcva_adapters.stats.means import mean_interval

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

SIZES = (10, 30, 50, 170)
CLUSTERS = (10, 15, 30, 50)
FEWEST_WITH_PARTS = 30
"""Three parts of ten groups each: fewer are not tested."""
FEWEST_WITH_LEVELS = 50
"""Fewer samples get no intervals of the levels."""
ERRORS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(0.0, 0.2, n),
    "tied": lambda rng, n: rng.choice([0.0, 0.0, 0.0, 0.3, -0.5], n),
    "skewed": lambda rng, n: rng.beta(0.6, 3.0, n),
}
MEANS = {"normal": 0.0, "tied": -0.04, "skewed": 0.6 / 3.6}


def rejected(draw: Draw, n: int, sets: int, *, parts: bool, size: int = 0) -> float:
    """Share of data sets whose p is at most 0.05; ``size`` samples a group, or none."""
    rng, found = np.random.default_rng(n), 0
    for number in range(sets):
        errors = draw(rng, n * max(size, 1))
        codes = None
        if size:
            codes = np.repeat(np.arange(n), size)
            errors = errors + np.repeat(draw(rng, n), size)
        if parts:
            labels = rng.integers(0, 3, len(errors)) if codes is None else codes % 3
            columns = np.eye(3)[labels]
            targets = errors[:, None]
        else:
            x = rng.lognormal(5.0, 0.6, len(errors))
            if size:
                x = x * np.repeat(rng.lognormal(0.0, 0.6, n), size)
            columns, targets = mid_ranks(x[:, None]), mid_ranks(errors[:, None])
        p = dependence(columns, targets, codes=codes, draws=399, seed=number)
        found += int(p[0] <= 0.05)
    return found / sets


def covered(kind: str, n: int, sets: int, *, size: int = 0) -> float:
    """Of the intervals of the mean that are offered, the share that holds the true one."""
    rng, found, offered = np.random.default_rng(n), 0, 0
    for _ in range(sets):
        if size:
            codes = np.repeat(np.arange(n), size)
            errors = ERRORS[kind](rng, n * size) + np.repeat(ERRORS[kind](rng, n), size)
            mean = mean_interval(errors, codes=codes, ends=(-1.0, 1.0))
            truth = 2 * MEANS[kind]
        else:
            mean, truth = mean_interval(ERRORS[kind](rng, n), ends=(-1.0, 1.0)), MEANS[kind]
        offered += not mean.reason
        found += int(mean.low <= truth <= mean.high)
    return found / max(offered, 1)


def covered_share(n: int, sets: int, share: float, *, size: int = 0) -> float:
    """The same of a share."""
    rng, found = np.random.default_rng(n), 0
    for _ in range(sets):
        if size:
            codes = np.repeat(np.arange(n), size)
            own = rng.beta(4.0 * share, 4.0 * (1.0 - share), n)
            hits = (rng.random(n * size) < np.repeat(own, size)).astype(np.float64)
            got = exact_share(hits, codes=codes)
        else:
            got = exact_share((rng.random(n) < share).astype(np.float64))
        found += int(got.low <= share <= got.high)
    return found / sets


def covered_levels(n: int, sets: int) -> tuple[float, float]:
    """Least share over the levels, and the share in which all of 5 hold together at 99 % each."""
    rng, truth = np.random.default_rng(n), np.array([0.95, 0.8, 0.5, 0.2, 0.1])
    single, together = np.zeros(5), 0
    for _ in range(sets):
        counts = rng.multinomial(5, rng.dirichlet([1.5, 1.0, 1.0, 0.7, 0.7], n))
        shares = counts / counts.sum(axis=1, keepdims=True)
        ratings = np.clip(np.round(4 * (shares @ truth + rng.normal(0, 0.15, n))) / 4, 0, 1)
        # The truth of clipped and rounded ratings is what a very large sample gives.
        found = coefficient_intervals(shares, ratings, level=0.99)
        wide = LEVEL_TRUTH
        holds = np.array([f.low <= w <= f.high for f, w in zip(found, wide, strict=True)])
        single += holds
        together += int(holds.all())
    return float(single.min() / sets), together / sets


def level_truth() -> Floats:
    """What the regression of `covered_levels` tends to."""
    rng, truth = np.random.default_rng(1), np.array([0.95, 0.8, 0.5, 0.2, 0.1])
    n = 1_000_000
    counts = rng.multinomial(5, rng.dirichlet([1.5, 1.0, 1.0, 0.7, 0.7], n))
    shares = counts / 5.0
    ratings = np.clip(np.round(4 * (shares @ truth + rng.normal(0, 0.15, n))) / 4, 0, 1)
    found: Floats = np.linalg.lstsq(shares, ratings, rcond=None)[0]
    return found


LEVEL_TRUTH = level_truth()


class Table:
    """Rows of shares, and how many of these are outside their limit."""

    def __init__(self) -> None:
        self.outside = 0

    def row(
        self, name: str, shares: Iterable[float], *, most: float = 1.0, least: float = 0.0
    ) -> None:
        """Print one."""
        cells = []
        for share in shares:
            is_outside = not least <= share <= most
            self.outside += is_outside
            cells.append(f"{share:.3f}{'!' if is_outside else ' '}")
        print(f"{name:11}", *cells, flush=True)


def main() -> int:
    """Print the tables; returns how many cells are outside their limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sets", type=int, default=2000)
    sets = parser.parse_args().sets
    table = Table()
    units = [(f"n {n}", n, 0) for n in SIZES] + [(f"groups {n}", n, 4) for n in CLUSTERS]
    print("false positives at 0.05: number by kind of error, parts by kind of error")
    for name, n, size in units:
        kinds = (False, True) if n >= FEWEST_WITH_PARTS else (False,)
        found = (rejected(d, n, sets, parts=p, size=size) for p in kinds for d in ERRORS.values())
        table.row(name, found, most=0.065)
    print("coverage of 95 %: mean by kind of error; shares .5, .8, .95")
    for name, n, size in units:
        means = [covered(kind, n, sets, size=size) for kind in ERRORS]
        shares = [covered_share(n, sets, share, size=size) for share in (0.5, 0.8, 0.95)]
        table.row(name, means + shares, least=0.93)
    print("levels: least coverage of 99 % each, and of all five together")
    for n in (n for n in SIZES if n >= FEWEST_WITH_LEVELS):
        table.row(f"n {n}", covered_levels(n, sets), least=0.93)
    print(f"{table.outside} outside")
    return table.outside


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
