"""The isotonic mapping: monotone, least squares, and measured on samples it has not seen."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import sweep
from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration.isotonic import fit_isotonic
from tcva_adapters.compare.calibration.nested import Division, Resampling
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.stats.checks import FloatArray

from .test_calibrate import draw


def pooled(scores: FloatArray, human: FloatArray) -> FloatArray:
    """Isotonic regression by its min-max formula, at each sample's score.

    The fit at x is the largest, over all a <= x, of the smallest, over all b >= x, of the mean of
    the ratings with scores from a to b.
    """
    xs = np.unique(scores)
    fit = {
        x: max(
            min(human[(scores >= a) & (scores <= b)].mean() for b in xs[xs >= x])
            for a in xs[xs <= x]
        )
        for x in xs
    }
    return np.array([fit[s] for s in scores])


@given(st.integers(0, 10_000), st.integers(1, 14))
def test_the_fit_is_the_min_max_formula(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    scores, human = rng.integers(0, 7, n) / 6, rng.random(n)
    line = fit_isotonic(scores, human)
    np.testing.assert_allclose(np.interp(scores, line.x, line.y), pooled(scores, human), atol=1e-12)
    assert (np.diff(line.y) >= 0).all()
    # Beyond the ends it stays where it is.
    assert line(-1.0) == line.y[0]
    assert line(2.0) == line.y[-1]


def test_errors_are_those_of_plain_loops() -> None:
    counts, human = draw(11)
    stars = 1 + 4 * human
    found = calibrate(
        counts,
        stars,
        mapping=True,
        human_scale=(1, 5),
        folds=4,
        repeats=2,
        n_boot=100,
        temperatures=[0.5],
    )
    scores = sweep(counts, [0.5])[:, 0]
    division = Division.of(stars, None, Resampling(4, 2, 100, 0.95, 0))
    errors = []
    for fold in division.fold:
        for part in range(4):
            line = fit_isotonic(scores[fold != part], stars[fold != part])
            errors += [
                abs(line(s) - h)
                for s, h in zip(scores[fold == part], stars[fold == part], strict=True)
            ]
    mapped = found.mapping
    assert mapped is not None
    assert mapped.mae == pytest.approx(np.mean(errors), abs=1e-12)
    assert mapped.mae_raw == pytest.approx(np.abs(1 + 4 * scores - stars).mean(), abs=1e-12)
    assert mapped.mae_in_sample < mapped.mae
    assert mapped.gain.value == pytest.approx(mapped.mae_raw - mapped.mae, abs=1e-12)


def test_a_bent_scale_is_straightened_and_a_straight_one_is_not() -> None:
    counts, _ = draw(12, n=100)
    scores = sweep(counts, [0.5])[:, 0]
    noise = 0.02 * np.random.default_rng(1).normal(size=100)
    options = {"mapping": True, "repeats": 2, "n_boot": 200, "temperatures": [0.5]}
    bent = calibrate(counts, np.clip(scores**4 + noise, 0, 1), **options)  # type: ignore[arg-type]  # mixed values
    straight = calibrate(counts, np.clip(scores + noise, 0, 1), **options)  # type: ignore[arg-type]  # the same
    assert bent.mapping is not None
    assert straight.mapping is not None
    assert bent.mapping.gain.detectable
    assert not straight.mapping.gain.detectable
    assert bent.to_dict()["mapping"]["detectable"] is True


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingDependencyError, match=r"tcva-adapters\[stats\]"):
        fit_isotonic(np.array([0.1, 0.2]), np.array([0.0, 1.0]))
