"""A calibration of decisions once more, with numpy and scipy alone: nothing of the library is called."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FOLDS = 5
GRID = (0.5, *(round(0.5 + s * 0.05 * k, 2) for k in range(1, 11) for s in (-1, 1) if 0.5 + s * 0.05 * k > 0.09))  # fmt: skip
"""The temperatures, the nearest to 0.5 first."""


def scores_at(counts: Floats, temperature: float) -> Floats:
    """Equations 6 and 12 of the paper: the power mean of the weights, less the penalty for none."""
    weights = np.array([1.0, 0.9, 0.7, 0.3, 0.0])
    exponent = 22.5 * (temperature - 0.1) - 8.0
    shares = counts / counts.sum(axis=1, keepdims=True)
    if exponent <= 0.0:
        weights = np.maximum(weights, 1e-9)
    mean = (shares @ weights**exponent) ** (1.0 / exponent)
    return np.asarray(mean * (1.0 - shares[:, 4]) ** (1.5 - temperature))


def candidates(scores: Floats) -> list[float]:
    """0.5, then halfway between scores of 3 digits, with 0 and 1, the nearest first; at most 40."""
    shown = sorted({0.0, 1.0, *(round(score, 3) for score in scores.tolist())})
    middles = [(a + b) / 2 for a, b in pairwise(shown)]
    if len(middles) > 40:
        at = np.quantile(np.arange(len(middles)), np.linspace(0, 1, 40), method="nearest")  # fmt: skip
        middles = [middles[place] for place in at]
    every = {0.5, *(round(middle, 4) for middle in middles)}
    return sorted(every, key=lambda cut: (abs(cut - 0.5), cut))


def kappa(passes: Floats, good: Floats, times: Floats) -> Floats:
    """Agreement of decisions (N, C) with people's, less chance, of samples that count so often."""
    n = times.sum()
    same = np.where(good[:, None] == 1, passes, 1 - passes)
    observed = times @ same / n
    share, people = times @ passes / n, times @ good / n
    chance = share * people + (1 - share) * (1 - people)
    return np.asarray((observed - chance) / (1 - chance))


def saved(cost: float) -> Callable[[Floats, Floats, Floats], Floats]:
    """The cost of false passes and missed answers with its sign changed, so that higher is better."""

    def value(passes: Floats, good: Floats, times: Floats) -> Floats:
        false = passes * (good[:, None] == 0)
        missed = (1 - passes) * (good[:, None] == 1)
        return np.asarray(-(times @ (cost * false + missed)) / times.sum())

    return value


@dataclass
class Way:
    """What comes of one way to choose; higher values are better."""

    temperature: float
    threshold: float
    on_same: float
    on_unseen: float
    gain: float
    low: float
    high: float
    false_pass: float
    missed: float


@dataclass
class Recomputed:
    """All ways, the recommended one, and the answers whose decision it changes."""

    ways: dict[str, Way]
    recommended: str
    leading: str
    flips: list[int]


def recompute(  # noqa: C901  # one computation, told from its beginning to its end
    counts: Floats,
    human: Floats,
    *,
    cost: float | None = None,
    divisions: int,
    resamples: int,
) -> Recomputed:
    """Choose the temperature, the threshold and both, from T = 0.5 and threshold 0.5."""
    measure = kappa if cost is None else saved(cost)
    n = len(human)
    good = (human >= 0.5).astype(float)
    by_temperature = {t: scores_at(counts, t).round(12) for t in GRID}
    cuts = {t: candidates(scores) for t, scores in by_temperature.items()}
    pairs = {
        "in use": [(0.5, 0.5)],
        "threshold": [(0.5, cut) for cut in cuts[0.5]],
        "T": [(t, 0.5) for t in GRID],
        "both": [(t, cut) for t in GRID for cut in cuts[t]],
    }
    others = [*pairs][1:]
    constant = {} if cost is None else {"reject all": 0.0, "pass all": 1.0}
    pairs |= {name: [(0.5, 0.5)] for name in constant}
    rng = np.random.default_rng([0, 1])
    folds = np.empty((divisions, n), dtype=int)
    for division in folds:
        order = np.lexsort((rng.random(n), good))
        dealt = [rng.permutation(FOLDS) for _ in range(0, n, FOLDS)]
        division[order] = np.concatenate(dealt)[:n]
    draws = np.random.Generator(np.random.PCG64(0)).integers(0, n, (resamples, n))
    ways: dict[str, Way] = {}
    resampled: dict[str, Floats] = {}
    for name, options in pairs.items():
        passes = np.array([by_temperature[t] >= cut for t, cut in options]).T * 1.0
        if name in constant:
            passes = np.full((n, 1), constant[name])

        def first_best(times: Floats, passes: Floats = passes) -> int:
            values = np.nan_to_num(measure(passes, good, times), nan=-np.inf)
            return int(np.flatnonzero(values >= values.max() - 1e-12)[0])

        best = first_best(np.ones(n))
        unseen = np.empty((n, divisions))
        for number, division in enumerate(folds):
            for fold in range(FOLDS):
                rest = (division != fold) * 1.0
                column = passes[:, first_best(rest)]
                unseen[division == fold, number] = column[division == fold]
        value = float(measure(unseen, good, np.ones(n)).mean())
        resampled[name] = np.array(
            [
                measure(
                    unseen, good, np.bincount(draw, minlength=n).astype(float)
                ).mean()
                for draw in draws
            ]
        )
        ways[name] = Way(
            *options[best],
            on_same=float(measure(passes, good, np.ones(n))[best]),
            on_unseen=value,
            gain=np.nan,
            low=np.nan,
            high=np.nan,
            false_pass=float(unseen[good == 0].mean()),
            missed=float(1 - unseen[good == 1].mean()),
        )

    def gain(new: str, old: str) -> tuple[float, float, float]:
        value = ways[new].on_unseen - ways[old].on_unseen
        apart = resampled[new] - resampled[old]
        apart = apart[np.isfinite(apart)]
        if np.ptp(apart) < 1e-12:
            return value, np.nan, np.nan
        ends = value + 1.75**0.5 * (np.quantile(apart, [0.025, 0.975]) - value)
        return value, float(ends[0]), float(ends[1])

    for name, way in ways.items():
        way.gain, way.low, way.high = gain(name, "in use")

    def is_worth(name: str) -> bool:
        return all(gain(name, rival)[1] > 0 for rival in ("in use", *constant))

    leading = max(others, key=lambda name: ways[name].on_unseen)
    recommended = "in use"
    if is_worth(leading):
        as_good = [name for name in others if not gain(leading, name)[1] > 0]
        recommended = next(name for name in as_good if is_worth(name))
    chosen = ways[recommended]
    before = by_temperature[0.5] >= 0.5
    after = by_temperature[chosen.temperature] >= chosen.threshold
    return Recomputed(
        ways, recommended, leading, np.flatnonzero(before != after).tolist()
    )
