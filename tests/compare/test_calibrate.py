"""The choice of settings against plain loops over scipy, and its honesty where there is no gain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters import sweep
from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration.candidates import DEFAULT, Grid, describe, temperature_grid
from tcva_adapters.compare.calibration.nested import Choice, Division, Gain, Resampling
from tcva_adapters.compare.calibration.objectives import Objective, mid_ranks
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.resampling import resample
from tests.support.paper import judged, needs_paper_data


def draw(seed: int, n: int = 40) -> tuple[FloatArray, FloatArray]:
    """Counts of answers of varied quality, and noisy ratings on seven levels."""
    rng = np.random.default_rng(seed)
    quality = rng.random(n)
    counts = np.empty((n, 5))
    for i, q in enumerate(quality):
        shares = np.array([q + 0.2, 0.3 * q + 0.1, 0.25, 0.15, 0.6 * (1 - q) + 0.05])
        counts[i] = rng.multinomial(rng.integers(2, 9), shares / shares.sum())
    human = np.clip(np.round(6 * (quality + 0.25 * rng.normal(size=n))), 0, 6) / 6
    return counts, human


def test_choices_figures_and_interval_are_those_of_plain_loops() -> None:
    counts, human = draw(1)
    grid = [0.5, 0.35, 0.7, 0.2, 0.9]  # in the order of their distance from the default
    found = calibrate(
        counts, human, temperatures=grid, folds=4, repeats=3, n_boot=150, level=0.9, seed=7
    )
    scores = sweep(counts, grid)
    ranks = np.stack([stats.rankdata(column) for column in scores.T], axis=1)
    division = Division.of(human, None, Resampling(4, 3, 150, 0.9, 7))

    unseen = np.empty((len(human), 3))
    picked = []
    for repeat, fold in enumerate(division.fold):
        for part in range(4):
            train = fold != part
            values = [stats.spearmanr(s[train], human[train])[0] for s in scores.T]
            best = next(j for j, v in enumerate(values) if v >= max(values) - 1e-12)
            picked.append(grid[best])
            unseen[~train, repeat] = ranks[~train, best]
    assert {s.temperature: share for s, share in found.picks} == {
        t: picked.count(t) / 12 for t in set(picked)
    }
    assert len(set(picked)) > 1  # otherwise nothing would be tested

    def gain(rows: Any) -> float:
        new = [stats.spearmanr(column[rows], human[rows])[0] for column in unseen.T]
        return float(np.mean(new)) - float(stats.spearmanr(scores[rows, 0], human[rows])[0])

    everything = np.arange(len(human))
    assert found.gain.value == pytest.approx(gain(everything), abs=1e-12)
    assert found.out_of_fold - found.before == pytest.approx(found.gain.value, abs=1e-12)
    assert found.in_sample == pytest.approx(
        max(stats.spearmanr(s, human)[0] for s in scores.T), abs=1e-12
    )
    drawn = [
        gain(np.repeat(everything, times))
        for times in np.concatenate(list(resample(len(human), 150, seed=7)))
    ]
    # The training parts of 4 folds share 2/3 of their samples: variance times 1 + 2/3.
    ends = found.gain.value + np.sqrt(5 / 3) * (np.quantile(drawn, [0.05, 0.95]) - found.gain.value)
    np.testing.assert_allclose([found.gain.low, found.gain.high], ends, rtol=0, atol=1e-12)
    inside = [
        stats.spearmanr(unseen[fold == part, r], human[fold == part])[0]
        for r, fold in enumerate(division.fold)
        for part in range(4)
    ]
    assert found.by_fold == pytest.approx(np.mean(inside), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "folds"), [("spearman", 5), ("mae", 5), ("kappa", 10)])
def test_equally_good_settings_are_seldom_told_apart(objective: Any, folds: int) -> None:
    """Nineteen candidates that see the same quality, each with noise of its own."""
    runs, said = 200, 0
    measured = Objective(objective)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        quality = rng.normal(size=60)
        noise = rng.normal(size=(60, 19))
        scores = np.round(4 * (np.sqrt(0.9) * quality[:, None] + np.sqrt(0.1) * noise)) / 4
        human = np.clip(np.round(2 * (quality + 0.9 * rng.normal(size=60))) / 2, -2, 2)
        if measured.kind == "rank":
            scores = mid_ranks(scores)
        elif measured.kind == "pass_fail":
            scores, human = (scores > 0).astype(float), (human > 0).astype(float)
        division = Division.of(human, None, Resampling(folds, 5, 150, 0.95, seed))
        choice = Choice.of(measured, scores, human, division)
        gain = division.gain(measured, choice.unseen(scores, division), scores[:, [0]], human)
        said += gain.detectable
    assert said <= 0.05 * runs


def test_labels_that_have_nothing_to_do_with_the_answers_give_no_recommendation() -> None:
    said = 0
    for seed in range(60):
        counts, _ = draw(seed)
        human = np.random.default_rng(1000 + seed).integers(0, 7, len(counts)) / 6
        said += calibrate(counts, human, repeats=5, n_boot=150, seed=seed).detectable
    assert said <= 3  # 5 %


def test_a_real_difference_is_found() -> None:
    """People who look for the best claim: T=0.5 does not order the answers as they do."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(4, [0.4, 0.2, 0.2, 0.2, 0.0], size=120).astype(float)
    human = sweep(counts, [1.0])[:, 0]
    assert stats.spearmanr(sweep(counts, [0.5])[:, 0], human)[0] < 0.9
    found = calibrate(counts, human, repeats=5, n_boot=300)
    assert found.in_sample == pytest.approx(1.0, abs=1e-12)
    assert found.chosen.temperature > 0.8
    assert found.recommended == found.chosen
    assert found.detectable
    assert found.recommendation == f"use T={found.chosen.temperature:g}"
    assert 0 < found.gain.low < found.gain.value < found.gain.high
    assert found.picks[0] == (found.chosen, 1.0)


def test_where_all_settings_agree_alike_the_default_is_kept() -> None:
    """With one claim per answer every temperature orders the answers alike."""
    counts = np.eye(5)[[0, 1, 2, 3, 4] * 8]
    human = np.random.default_rng(0).random(40)
    found = calibrate(counts, human, schemes=["default", "linear"], repeats=3, n_boot=100)
    assert found.chosen == ScoringConfig()
    assert found.picks == ((ScoringConfig(), 1.0),)
    # An interval without width would be certain of what nothing is known about.
    assert found.gain.value == pytest.approx(0.0, abs=1e-12)
    assert found.gain.reason == "both agree as well on all resamples: nothing varies"
    assert np.isnan([found.gain.low, found.gain.high, found.gain.smallest]).all()
    assert found.to_dict()["gain"]["reason"] == found.gain.reason
    assert f"no interval: {found.gain.reason})" in found.sentence
    # Averages over repeats may leave a last bit: it is no gain.
    assert not Gain(1e-17, 1e-17, 1e-17, 0.95).detectable
    assert found.recommendation == "no detectable difference: keep 0.5"


def test_what_would_be_found_is_what_reaches_out_of_the_widened_interval() -> None:
    # Resamples vary by 0.01; five folds widen 1.96 of that by sqrt(1 + 3 / 4).
    half = 0.01 * stats.norm.ppf(0.975) * math.sqrt(1.75)
    gain = Gain(0.02, 0.02 - half, 0.02 + half, 0.95, 0.01)
    assert gain.power(gain.smallest) == pytest.approx(0.8, abs=1e-12)
    assert gain.power(half) == pytest.approx(0.5, abs=1e-12)
    assert gain.power(half + 0.01) == pytest.approx(stats.norm.cdf(1.0), abs=1e-12)
    assert math.isnan(Gain(0.0, math.nan, math.nan, 0.95, reason="nothing varies").smallest)
    counts, human = draw(2)
    found = calibrate(counts, human, repeats=2, n_boot=100, folds=5).gain
    width = (found.high - found.low) / math.sqrt(1.75)
    assert found.error == pytest.approx(width / 2 / stats.norm.ppf(0.975), rel=1e-12)


def test_what_has_no_score_or_no_label_is_left_out_and_counted() -> None:
    counts, human = draw(2)
    plain = calibrate(counts, human, repeats=2, n_boot=100)
    more = np.concatenate([counts, np.zeros((3, 5)), counts[:2]])
    ratings = np.concatenate([human, [0.5, np.nan, 1.0], [np.nan, np.nan]])
    found = calibrate(more, ratings, repeats=2, n_boot=100)
    assert (found.n, found.unscored, found.unrated) == (40, 3, 2)
    assert found.gain == plain.gain
    assert found.notes == ()


def test_few_labels_are_warned_of() -> None:
    counts, human = draw(2, n=29)
    (note,) = calibrate(counts, human, repeats=2, n_boot=100).notes
    assert "29 ratings are few: below 30" in note


def test_groups_stay_together() -> None:
    _, human = draw(4)
    groups = [i // 4 for i in range(40)]
    division = Division.of(human, groups, Resampling(5, 4, 100, 0.95, 0))
    for fold in division.fold:
        assert all(len(set(fold[4 * g : 4 * g + 4].tolist())) == 1 for g in range(10))
        assert np.bincount(fold).tolist() == [8] * 5
    counts, human = draw(4)
    found = calibrate(counts, human, group=groups, repeats=2, n_boot=100)
    assert found.notes[0] == (
        "10 groups of samples, the largest with 4 of 40: folds keep them together"
    )
    with pytest.raises(InvalidValueError, match="8 groups: an interval needs 10, and a choice"):
        calibrate(counts, human, group=[i // 5 for i in range(40)], repeats=2, n_boot=100)
    assert found.gain != calibrate(counts, human, repeats=2, n_boot=100).gain


def test_folds_have_low_and_high_labels_alike() -> None:
    human = np.repeat([0.0, 1.0], [35, 5])
    division = Division.of(human, None, Resampling(5, 6, 100, 0.95, 0))
    for fold in division.fold:
        assert np.bincount(fold[35:], minlength=5).tolist() == [1] * 5


def test_another_scale_changes_units_only() -> None:
    counts, human = draw(5)
    unit = calibrate(counts, human, objective="mae", repeats=2, n_boot=100)
    stars = calibrate(
        counts, 1 + 4 * human, objective="mae", human_scale=(1, 5), repeats=2, n_boot=100
    )
    assert stars.chosen == unit.chosen
    assert stars.gain.low == pytest.approx(4 * unit.gain.low, abs=1e-12)
    assert unit.in_sample <= unit.before  # a lower error is better
    assert unit.gain.value == pytest.approx(unit.before - unit.out_of_fold, abs=1e-12)


def test_thresholds_are_chosen_for_decisions() -> None:
    """People pass what scores 0.8 at the default."""
    counts, _ = draw(6, n=80)
    human = (sweep(counts, [0.5])[:, 0] >= 0.8).astype(float)
    found = calibrate(
        counts,
        human,
        objective="f1",
        temperatures=[0.5],
        thresholds=[0.2, 0.5, 0.8],
        repeats=3,
        n_boot=200,
    )
    assert (found.chosen.threshold, found.in_sample, found.candidates) == (0.8, 1.0, 3)
    assert found.detectable
    assert found.to_dict()["recommended"]["threshold"] == 0.8


def test_the_same_seed_gives_the_same_figures() -> None:
    counts, human = draw(8)
    first = calibrate(counts, human, repeats=2, n_boot=100, seed=3)
    assert first == calibrate(counts, human, repeats=2, n_boot=100, seed=3)
    assert first.gain != calibrate(counts, human, repeats=2, n_boot=100, seed=4).gain


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"human": np.full(40, 0.5)}, r"all 40 human ratings are 0\.5"),
        ({"human": np.full(40, np.nan)}, "none of the 40 samples has both a score and"),
        ({"human": np.ones(3)}, r"shape \(3,\) for 40 samples"),
        ({"human": [0.2] * 38 + [0.4] * 2, "objective": "f1"}, "human ratings fail at human_thre"),
        ({"human": [1.0] * 20 + [4.0] * 20, "objective": "mae"}, r"lie in \[1, 4\], outside"),
        ({"objective": "auc"}, "unknown objective 'auc'"),
        ({"thresholds": [0.3]}, "spearman knows no threshold"),
        ({"human_threshold": 0.3}, "--human-threshold 0.3: spearman knows no passing"),
        ({"folds": 41}, "40 rated samples cannot fill 41 folds; rate more"),
        ({"folds": 1}, "folds is 1; it must be a whole number from 2 up"),
        ({"repeats": 0}, "repeats is 0"),
        ({"n_boot": 20}, "n_boot is 20"),
        ({"level": 1.0}, r"level is 1\.0"),
        ({"group": ["a"] * 40}, "1 group: an interval needs 10"),
        ({"group": ["a"]}, "1 groups for 40 samples"),
        ({"judged": [[1, 0, 0, 0, 0]] * 40}, "all 40 samples score alike"),
        ({"temperatures": [2.0]}, r"temperature 2\.0 is outside"),
        ({"schemes": ["steep"]}, "unknown weight scheme 'steep'"),
        ({"human_scale": (5, 1), "objective": "mae"}, "its first number is the lowest"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(changes: dict[str, Any], says: str) -> None:
    counts, human = draw(9)
    with pytest.raises(InvalidValueError, match=says):
        calibrate(**{"judged": counts, "human": human, "n_boot": 100, **changes})


def test_the_grid_and_the_order_of_candidates() -> None:
    grid = temperature_grid()
    assert len(grid) == 19
    assert (grid[0], grid[1], grid[-1]) == (0.1, 0.15, 1.0)
    assert len(temperature_grid(0.01)) == 91
    with pytest.raises(InvalidValueError, match=r"between 0\.0001 and 0\.9"):
        temperature_grid(0)
    settings = Grid([0.2, 0.6], schemes=["linear", "default"]).candidates(DEFAULT)
    assert [describe(s) for s in settings] == [
        "T=0.5",
        "T=0.6",
        "T=0.2",
        "T=0.6, scheme linear",
        "T=0.2, scheme linear",
    ]


def test_a_larger_eps_is_only_chosen_with_the_floor_it_belongs_to() -> None:
    settings = Grid([0.5], floors=["paper", "always"], eps=[1e-9, 0.05]).candidates(DEFAULT)
    assert [describe(s) for s in settings] == [
        "T=0.5",
        "T=0.5, floor always",
        "T=0.5, floor always, eps 0.05",
    ]
    with pytest.raises(InvalidValueError, match='give floor="always"'):
        Grid([0.5], eps=[0.05]).candidates(DEFAULT)
    with pytest.raises(InvalidValueError, match=r"eps is 2"):
        Grid([0.5], floors=["always"], eps=[2]).candidates(DEFAULT)


@needs_paper_data
def test_on_the_papers_sets_no_gain_is_detectable() -> None:
    for name, n, default, best in (
        ("summeval", 169, 0.6630, 0.6678),
        ("summeval_rel", 195, 0.4800, 0.4862),
    ):
        counts, human, _ = judged(name)
        found = calibrate(counts, human, repeats=10, n_boot=500)
        assert (found.n, found.detectable) == (n, False)
        assert found.before == pytest.approx(default, abs=5e-5)
        assert found.in_sample == pytest.approx(best, abs=5e-5)
        assert found.out_of_fold < found.in_sample
        assert found.recommendation == "no detectable difference: keep 0.5"


def test_one_judge_of_several_is_the_same_as_one_judge() -> None:
    counts, human = draw(4)
    rows = np.asarray(counts)
    alone = calibrate(rows, human, repeats=3, n_boot=200)
    # A second judge without verdicts is left out of every mean.
    silent = np.stack([rows, np.zeros_like(rows)], axis=1)
    assert calibrate(silent, human, repeats=3, n_boot=200).to_dict() == alone.to_dict()
    with pytest.raises(InvalidValueError, match="5"):
        calibrate(silent[:, :, :4], human)
