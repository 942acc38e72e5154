"""Every test that is offered, on data in which there is nothing to find."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from benchmarks import null_data
from benchmarks.groups import graded, series
from tcva_adapters.compare.changes import Changes
from tcva_adapters.compare.fused import corrected, gain_of
from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.compare.views.human_ratings import compare_with_ratings
from tcva_adapters.compare.watch import Watch
from tcva_adapters.stats.bootstrap import paired_difference
from tcva_adapters.stats.correlation import MEASURES, Measure, value_of
from tcva_adapters.stats.correlation_test import correlation_test
from tcva_adapters.stats.equivalence import equivalence
from tcva_adapters.stats.least_mean import least_mean
from tcva_adapters.stats.randomisation import tukey_hsd
from tcva_adapters.stats.sign_flip import sign_flip
from tcva_adapters.stats.studentised import studentised_pairs

ALPHA: Final = 0.05
RUNS: Final = 10
RESAMPLES: Final = 399
METHODS: Final = 4
POPULATION: Final = 400_000
GROUP: Final = 5
"""Samples of one group, where samples belong together: 170 are 34 groups."""

P = Callable[[np.random.Generator, str, int, int], float]
"""From a generator, the kind of data, n and a seed to a p; nan where the test is not offered."""

_DISCRETE: Final = (
    "p takes few values with few samples; fewer than six differences never reach 0.05"
)
_FEW: Final = "five ratings have 120 orders at most, fewer with ties"
_SPREAD: Final = (
    "resamples repeat samples, whose ties add to the spread of a rank correlation; with more samples "
    "that fades"
)
_LEFT_OUT: Final = (
    "of ten samples each one left out moves a correlation more than it varies; that fades"
)
_WHY_APART: Final = {
    "spearman": _SPREAD,
    "kendall": _SPREAD,
    "pearson": _LEFT_OUT,
    "mae": _DISCRETE,
}
_BOTH_SIDES: Final = (
    "both one-sided tests must find it; with few samples the interval is wider than the margins"
)
_EXACT: Final = "its guarantee holds for any scores and, over runs, for any number of them, so it leaves room here"
_HOLM: Final = "Holm allows for any dependence, and these comparisons share a method"


@dataclass(frozen=True)
class NullTest:
    """A test on null data.

    Attributes:
        name: As the table shows it.
        p: Draws one data set and tests it.
        why_low: Why it finds something less often than it may.
        one_in: Of how many data sets one is drawn, as it takes long.
    """

    name: str
    p: P
    why_low: str = ""
    one_in: int = 1


def _difference(measure: Measure, *, size: int = 1) -> P:
    def p(rng: np.random.Generator, kind: str, n: int, seed: int) -> float:
        scores, human = null_data.rated(rng, kind, n, 2, size=size)
        groups = None if size == 1 else [i // size for i in range(n)]
        options: dict[str, Any] = {"n_boot": _resamples(measure), "seed": seed, "groups": groups}
        found = paired_difference(measure, scores[:, 0], scores[:, 1], human, **options)
        return found.p_two_sided

    return p


def _resamples(measure: Measure) -> int:
    """As many as the test looks at."""
    return RESAMPLES if measure in {"spearman", "kendall"} else 2


def _mean(rng: np.random.Generator, kind: str, n: int, seed: int) -> float:
    scores, _ = null_data.rated(rng, kind, n, 2)
    return sign_flip(scores[:, 0] - scores[:, 1], n_flips=RESAMPLES, seed=seed).p_two_sided


def _lead(objective: Measure, *, reference: str | None = None) -> P:
    """Any claim of a comparison of equal methods."""

    def p(rng: np.random.Generator, kind: str, n: int, seed: int) -> float:
        scores, human = null_data.rated(rng, kind, n, METHODS)
        names = tuple(f"m{i}" for i in range(METHODS))
        table = ScoreTable(tuple(map(str, range(n))), names, scores, human)
        options: dict[str, Any] = {"n_boot": _resamples(objective), "seed": seed}
        options["measures"] = [objective]
        found = compare_with_ratings(table, objective=objective, reference=reference, **options)
        return _smallest([test.p_holm for test in found.tests])

    return p


def _alone(measure: Measure) -> P:
    """One correlation with ratings that have nothing to do with the scores."""

    def p(rng: np.random.Generator, kind: str, n: int, seed: int) -> float:
        scores, _ = null_data.rated(rng, kind, n, 1)
        _, human = null_data.rated(rng, kind, n, 1)
        options: dict[str, Any] = {"n_permutations": RESAMPLES, "seed": seed}
        return correlation_test(measure, scores[:, 0], human, **options).p_two_sided

    return p


def _fused(rng: np.random.Generator, _: str, n: int, seed: int) -> float:
    first, others, human = null_data.nested(rng, n, 3)
    rows = {}
    for number, other in enumerate(others):
        members = {"first": first, "other": other}
        mean = (first + other) / 2
        rows[number] = gain_of(mean, members, human, n_boot=RESAMPLES, seed=seed)
    known = {number: row for number, row in rows.items() if row is not None}
    return _smallest([row.p_holm for row in corrected(known).values()])


def _tukey(rng: np.random.Generator, kind: str, n: int, seed: int) -> float:
    table = null_data.systems(rng, kind, n, np.ones(METHODS))
    return _smallest(tukey_hsd(table, permutations=RESAMPLES, seed=seed).pair_ps().tolist())


def _studentised(spreads: Sequence[float]) -> P:
    def p(rng: np.random.Generator, kind: str, n: int, seed: int) -> float:
        table = null_data.systems(rng, kind, n, np.array(spreads))
        found = studentised_pairs(table, permutations=RESAMPLES, seed=seed)
        return _smallest(found.pair_ps().tolist())

    return p


def _equivalence(measure: Measure) -> P:
    """Two methods that differ by just the margin are no equals."""

    def p(rng: np.random.Generator, kind: str, n: int, seed: int) -> float:
        scores, human = null_data.unequal(rng, kind, n)
        options: dict[str, Any] = {"n_boot": _resamples(measure), "seed": seed}
        margin = _true_difference(measure, kind)
        found = equivalence(measure, scores[:, 0], scores[:, 1], human, margin, **options)
        return found.p_equivalent

    return p


@cache
def _true_difference(measure: Measure, kind: str) -> float:
    scores, human = null_data.unequal(np.random.default_rng(1), kind, POPULATION)
    return abs(value_of(measure, scores[:, 0], human) - value_of(measure, scores[:, 1], human))


def _gate(rng: np.random.Generator, _: str, n: int, __: int) -> float:
    """Whether the lower bound of a pass rate lies above the true rate: 0 for yes, 1 for no."""
    rate = (0.5, 0.8, 0.95)[int(rng.integers(3))]
    bound = least_mean((rng.random(n) < rate).astype(float), 1 - ALPHA)
    return float(bound <= rate + 1e-9)


def _runs(rng: np.random.Generator, _: str, n: int, __: int) -> float:
    """Whether any of several runs raises an alarm: 0 for yes, 1 for no."""
    judged = series(rng, n, 0.2)
    baseline = graded(judged())
    watch = Watch.of(baseline, false_alarms=ALPHA)
    for _run in range(RUNS):
        look = watch.after(Changes(baseline, graded(judged())))
        if look.has_fallen:
            return 0.0
        watch = look.watch
    return 1.0


def _smallest(ps: list[float]) -> float:
    return min((p for p in ps if not math.isnan(p)), default=math.nan)


TESTS: Final = (
    *(
        NullTest(
            f"difference of {measure}",
            _difference(measure),
            _WHY_APART[measure],
        )
        for measure in MEASURES
    ),
    *(
        NullTest(
            f"difference of {measure}, groups of {GROUP}",
            _difference(measure, size=GROUP),
            _WHY_APART[measure],
        )
        for measure in MEASURES
    ),
    *(
        NullTest(f"{measure} of one method", _alone(measure), _FEW)
        for measure in MEASURES
        if measure != "mae"
    ),
    NullTest("difference of means", _mean, _DISCRETE),
    NullTest(f"spearman, best of {METHODS} against the rest", _lead("spearman"), _HOLM),
    NullTest(
        f"spearman, one of {METHODS} against the rest",
        _lead("spearman", reference="m0"),
        f"{_HOLM}; {_SPREAD}",
    ),
    NullTest(f"mae, best of {METHODS} against the rest", _lead("mae"), f"{_HOLM}; {_DISCRETE}"),
    NullTest(f"pearson, best of {METHODS} against the rest", _lead("pearson"), _HOLM),
    NullTest("gains of 3 fused scores", _fused, f"{_HOLM}; the best member is picked beforehand"),
    NullTest(f"Tukey, {METHODS} systems of equal spread", _tukey, _DISCRETE),
    NullTest(f"studentised, {METHODS} systems of equal spread", _studentised([1.0] * METHODS)),
    NullTest("studentised, 4 systems of unequal spread", _studentised([0.2, 0.5, 1.0, 3.0])),
    NullTest("gate with --confidence 0.95", _gate, _EXACT),
    NullTest(f"gate with --sequential, {RUNS} runs", _runs, _EXACT, one_in=20),
    *(
        NullTest(f"equivalence by {measure}", _equivalence(measure), _BOTH_SIDES)
        for measure in MEASURES
    ),
)
