"""How often each test that is offered finds something where there is nothing, at nominal 0.05.

Run: python -m benchmarks.false_positives [--sets 2000] [--n 5 10 30 50 170] [--only WORD] [--data tied]
Each cell is the share of null data sets in which a test finds something. ``not offered``: the test
refuses so few samples. ``!``: above 0.065, and the command fails. ``<``: below 0.035, for the reason
that stands under the table. Data sets are of three kinds in turn (see `null_data`), or of one with
``--data``; one in twenty of them for what takes long. The Monte Carlo error of 0.05 of 2,000 is 0.005.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from benchmarks.null_data import KINDS
from benchmarks.null_tests import ALPHA, TESTS, NullTest

SIZES: Final = (5, 10, 30, 50, 170)
MOST: Final = 0.065
LEAST: Final = 0.035
OFFERED: Final = 0.01
"""A test that answers on fewer data sets than this share is not offered."""


def share(test: NullTest, n: int, sets: int, kinds: Sequence[str]) -> float:
    """Of the data sets on which the test is offered, those in which it finds something.

    Returns:
        nan where it is not offered.
    """
    sets = max(1, sets // test.one_in)
    rng = np.random.default_rng([n, *test.name.encode()])
    ps = np.array([test.p(rng, kinds[number % len(kinds)], n, number) for number in range(sets)])
    answered = ~np.isnan(ps)
    if answered.mean() < OFFERED:
        return float("nan")
    return float(np.mean(ps[answered] <= ALPHA))


def cell(value: float) -> str:
    """As the table shows it."""
    if np.isnan(value):
        return "not offered"
    mark = "!" if value > MOST else "<" if value < LEAST else " "
    return f"{value:.3f}{mark}".removeprefix("0")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns how many cells are above the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--n", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", default="")
    parser.add_argument("--data", choices=KINDS, nargs="+", default=KINDS)
    given = parser.parse_args(arguments)
    started = time.monotonic()
    chosen = [test for test in TESTS if given.only in test.name]
    width = max(len(test.name) for test in chosen)
    print(f"{given.sets} null data sets each ({', '.join(given.data)}), nominal {ALPHA:g}")
    print(" " * width, *(f"{f'n={n}':>12}" for n in given.n))
    found: dict[str, list[float]] = {}
    for test in chosen:
        values = found[test.name] = [share(test, n, given.sets, given.data) for n in given.n]
        print(f"{test.name:{width}}", *(f"{cell(value):>12}" for value in values), flush=True)
    print()
    for test in chosen:
        if any(value < LEAST for value in found[test.name]):
            print(f"< {test.name}: {test.why_low or 'NOT EXPLAINED'}")
    above = sum(value > MOST for values in found.values() for value in values)
    print(f"{above} above {MOST:g}; {time.monotonic() - started:.0f} s")
    return above


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
