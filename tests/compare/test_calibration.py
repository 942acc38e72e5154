"""The choice of settings against plain loops over scipy, and its honesty where there is no gain."""

import json
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra stats")

from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters import TCVA, Config, Sample, aggregate_counts
from tcva_adapters.compare import ScoreTable, calibrate, read_scores
from tcva_adapters.compare.calibration import choice_by_agreement
from tcva_adapters.compare.calibration.recommendation import recommended
from tcva_adapters.compare.calibration.settings_grid import with_thresholds
from tcva_adapters.compare.scores.judged_by import JudgedBy
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats import bootstrap
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.tables import Report
from tests.support.paper import judged, needs_paper_data
from tests.support.recomputed_calibration import recompute


@pytest.fixture(autouse=True)
def _few_divisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice_by_agreement, "REPEATS", 4)


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


def table(counts: FloatArray, human: FloatArray, **more: Any) -> ScoreTable:
    names = tuple(f"s{i}" for i in range(len(counts)))
    scores = np.full((len(counts), 1), np.nan)
    return ScoreTable(names, ("m",), scores, human, counts=counts[:, None], **more)


def units(codes: IntArray) -> Units:
    return Units(codes.tolist(), np.ones(len(codes), dtype=bool))


def gain_of(report: Report, choice: str = "T") -> dict[str, Any]:
    (row,) = (row for row in report.records("settings") if row["choice"] == choice)
    return row


def test_choices_and_interval_are_those_of_plain_loops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[IntArray] = []
    folds = choice_by_agreement._folds

    def seen(*given: Any) -> IntArray:
        drawn.append(folds(*given))
        return drawn[-1]

    monkeypatch.setattr(choice_by_agreement, "_folds", seen)
    counts, human = draw(1, n=60)
    grid = [0.5, 0.35, 0.7, 0.2, 0.9]  # in the order of their distance from the default
    found = calibrate(
        counts, human, temperatures=grid, resamples=150, level=0.9, seed=7
    )
    scores = aggregate_counts(counts, grid).round(3)  # what is shown as equal is equal
    ranks = np.stack([stats.rankdata(column) for column in scores.T], axis=1)
    unseen, picked = np.empty((len(human), 4)), []
    for repeat, fold in enumerate(drawn[0]):
        for part in range(5):
            train = fold != part
            values = [stats.spearmanr(s[train], human[train])[0] for s in scores.T]
            best = next(j for j, v in enumerate(values) if v >= max(values) - 1e-12)
            picked.append(grid[best])
            unseen[~train, repeat] = ranks[~train, best]
    assert len(set(picked)) > 1  # otherwise nothing would be tested

    def gain(rows: Any) -> float:
        new = [stats.spearmanr(column[rows], human[rows])[0] for column in unseen.T]
        return float(np.mean(new)) - float(
            stats.spearmanr(scores[rows, 0], human[rows])[0]
        )

    everything = np.arange(len(human))
    shown = gain_of(found)
    assert shown["gain"] == pytest.approx(gain(everything), abs=1e-12)
    in_use, best_of = (row["spearman"] for row in found.records("settings"))
    assert shown["cross_validated"] - in_use == pytest.approx(shown["gain"], abs=1e-12)
    most = max(stats.spearmanr(s, human)[0] for s in scores.T)
    assert best_of == pytest.approx(most, abs=1e-12)
    chosen = grid[int(np.argmax([stats.spearmanr(s, human)[0] for s in scores.T]))]
    assert (shown["setting"], shown["tried"]) == (f"T={chosen:g}", 5)
    assert shown["share"] == picked.count(chosen) / 20
    often = np.concatenate(
        list(bootstrap.draw_resamples(len(human), 150, seed=7, codes=None))
    )
    resampled = [gain(np.repeat(everything, times)) for times in often]
    # The training parts of 5 folds share 3/4 of their samples: variance times 1 + 3/4.
    wider, value = math.sqrt(7 / 4), shown["gain"]
    ends = value + wider * (np.quantile(resampled, [0.05, 0.95]) - value)
    assert [shown["gain_low"], shown["gain_high"]] == pytest.approx(ends, abs=1e-12)
    # What mostly shows has to reach out of the widened interval, and varies without the widening.
    half = (ends[1] - ends[0]) / 2
    smallest = half + half / wider / stats.norm.ppf(0.95) * stats.norm.ppf(0.8)
    assert shown["detectable"] == pytest.approx(smallest, abs=1e-12)


@pytest.mark.parametrize("more", [{}, {"objective": "mae"}, {"max_false_pass": 0.4}])
def test_ratings_of_a_list_are_laid_on_the_scale_of_scores(
    more: dict[str, Any],
) -> None:
    counts, human = draw(1, n=60)
    scaled: dict[str, Any] = {"human_scale": (1, 5), "resamples": 50, **more}
    if "max_false_pass" in more:
        more["human_threshold"] = 0.5
        scaled["human_threshold"] = 3
    plain = calibrate(counts, human, resamples=50, **more)
    stars = (1 + 4 * human).tolist()
    found = calibrate(counts, stars, **scaled)
    assert found.sentence == plain.sentence.replace("below 0.5", "below 3")
    # Several raters, of whom one has not rated all.
    several = calibrate(counts, [[rating, None] for rating in stars], **scaled)
    assert several.sentence == found.sentence


@pytest.mark.parametrize("objective", ["spearman", "mae"])
def test_a_rating_that_passes_is_refused_where_none_has_to(objective: Any) -> None:
    counts, human = draw(1, n=60)
    with pytest.raises(InvalidValueError, match=r"human_threshold=0\.6 needs the obj"):
        calibrate(counts, human, objective=objective, human_threshold=0.6)


def test_a_real_difference_is_found_and_its_end_of_the_scale_is_said() -> None:
    """People who look for the best claim: T=0.5 does not order the answers as they do."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(4, [0.4, 0.2, 0.2, 0.2, 0.0], size=120).astype(float)
    human = aggregate_counts(counts, [1.0])[:, 0]
    found = calibrate(counts, human, resamples=300)
    gain, chosen = gain_of(found), found.settings["recommended"]["temperature"]
    assert chosen > 0.8
    assert 0 < gain["gain_low"] < gain["gain"] < gain["gain_high"]
    few = calibrate(counts, human, temperatures=[0.4, 0.5, 0.6], resamples=300)
    beyond = "0.6, is an end of those that were tried. Try others beyond it"
    assert any(beyond in note for note in few.notes)
    mean = calibrate(
        counts, aggregate_counts(counts, [1.0])[:, 0], objective="mae", resamples=300
    )
    assert mean.settings["recommended"]["temperature"] == 1.0
    assert any("at an end of the scale, other weights" in n for n in mean.notes)
    assert not any(
        "were tried" in note for note in calibrate(*draw(1), resamples=100).notes
    )


def test_what_has_no_score_or_no_label_is_left_out_and_counted() -> None:
    counts, human = draw(2)
    plain = calibrate(counts, human, resamples=100)
    more = np.concatenate([counts, np.zeros((3, 5)), counts[:2]])
    ratings = np.concatenate([human, [0.5, np.nan, 1.0], [np.nan, np.nan]])
    found = calibrate(more, ratings, resamples=100)
    assert gain_of(found) == gain_of(plain)
    assert found.notes == ["Left out: 5 samples without a score or a rating."]
    few = calibrate(*draw(2, n=29), resamples=100)
    assert any(note.startswith("29 ratings are too few") for note in few.notes)
    assert few.sentence.startswith("Keep T=0.5: ")
    assert (
        gain_of(calibrate(*draw(2, n=29), objective="mae", resamples=100))["reason"]
        == ""
    )


def test_groups_stay_together_and_folds_have_low_and_high_ratings_alike() -> None:
    counts, human = draw(4)
    codes = np.arange(40) // 2
    for fold in choice_by_agreement._folds(human, units(codes), 0):
        assert all(len(set(fold[codes == g].tolist())) == 1 for g in range(20))
        assert np.bincount(fold).tolist() == [8] * 5
    rare = np.repeat([0.0, 1.0], [35, 5])
    for fold in choice_by_agreement._folds(rare, units(np.arange(40)), 0):
        assert np.bincount(fold[35:], minlength=5).tolist() == [1] * 5
    grouped = table(counts, human, groups=tuple(codes.tolist()))
    found = calibrate(grouped, resamples=100)
    assert gain_of(found) != gain_of(calibrate(counts, human, resamples=100))
    with pytest.raises(
        InvalidValueError, match=r"too few rated samples.*groups, got 5"
    ):
        calibrate(
            table(counts, human, groups=tuple((codes // 4).tolist())), resamples=100
        )


def test_kappa_is_that_of_equal_decisions_less_chance() -> None:
    counts, human = draw(6, n=80)
    found = calibrate(
        counts, human, objective="kappa", human_threshold=0.6, resamples=200
    )
    in_use = gain_of(found, "in use")
    scores, passes = aggregate_counts(counts, [0.5])[:, 0] >= 0.5, human >= 0.6
    both = [np.mean(scores == passes), scores.mean(), passes.mean()]
    chance = both[1] * both[2] + (1 - both[1]) * (1 - both[2])
    assert in_use["false_pass"] == pytest.approx(np.mean(scores[~passes]))
    assert in_use["missed"] == pytest.approx(np.mean(~scores[passes]))
    assert in_use["kappa"] == pytest.approx(
        (both[0] - chance) / (1 - chance), abs=1e-12
    )


@pytest.mark.parametrize(("changes", "says"), [
    ({"human": np.full(40, 0.5)}, r"all 40 human ratings are 0\.5"),
    ({"human": np.full(40, np.nan)}, "no sample has both a score and a human rating"),
    ({"human": np.ones(3)}, "3 human ratings for 40 samples"),
    ({"human": [0.2] * 38 + [0.4] * 2, "objective": "kappa"}, "human ratings fail"),
    ({"human": [1.0] * 20 + [4.0] * 20, "objective": "mae"}, "between 0 and 1, got 1 to 4"),
    ({"objective": "auc"}, "unknown objective 'auc'"),
    ({"objective": "kappa", "cost_false_pass": 5.0}, "leave objective kappa out"),
    ({"cost_false_pass": 0.0}, r"^cost_false_pass must be above 0, got 0\.0$"),
    ({"cost_false_pass": 5.0, "max_false_pass": 0.1}, "cost is not used with a limit"),
    ({"level": 1.0}, r"level must .*got 1\.0"),
    ({"source": [[1, 0, 0, 0, 0]] * 40}, "all 40 samples have the same score"),
    ({"temperatures": [2.0]}, "got 2"),
    ({"temperatures": 0.5}, "temperatures must be a list, got 0.5"),
    ({"schemes": ["steep"]}, "got 'steep'"),
    ({"by": "domain"}, "no rated sample has 'domain' in its metadata"),
    (
        {"source": ScoreTable(("a",), ("m",), np.ones((1, 1))), "human": None},
        "imported scores have no ",
    ),
])  # fmt: skip
def test_what_cannot_be_calibrated_is_refused(
    changes: dict[str, Any], says: str
) -> None:
    counts, human = draw(9)
    with pytest.raises(InvalidValueError, match=says):
        calibrate(**{"source": counts, "human": human, "resamples": 100, **changes})


def bundled() -> tuple[FloatArray, FloatArray]:
    """Verdicts of the lexical judge on the package's own answers, and a reader's worst label."""
    grades = dict(zip(LEVELS, (1.0, 0.75, 0.5, 0.25, 0.0), strict=True))
    judge = TCVA(judge="lexical")
    results, human = [], []
    for line in sample_lines():
        sample = Sample.from_record(json.loads(line))
        levels = [label.level for label in labels_of(sample) if label.level]
        result = judge.evaluate(sample)
        if levels and result.score is not None:
            results.append(result)
            human.append(min(grades[level] for level in levels))
    read = read_scores(results).counts
    assert read is not None
    return read[:, 0], np.array(human)


SETS: list[Any] = [
    "bundled",
    *(
        pytest.param(name, marks=needs_paper_data)
        for name in ("summeval", "summeval_rel")
    ),
]


@pytest.mark.parametrize("cost", [None, 1.0, 5.0])
@pytest.mark.parametrize("name", SETS)
def test_decisions_are_those_of_numpy_alone(name: str, cost: float | None) -> None:
    counts, human = bundled() if name == "bundled" else judged(name)[:2]
    measure: Literal["kappa", "cost"] = "kappa" if cost is None else "cost"
    found = calibrate(
        counts, human, objective=measure, cost_false_pass=cost, resamples=150
    )
    expected = recompute(counts, human, cost=cost, divisions=4, resamples=150)
    rows = found.records("settings")
    constant = [] if cost is None else ["reject all", "pass all"]
    assert [row["choice"] for row in rows] == ["in use", "threshold", "T", "both", *constant]  # fmt: skip
    sign = 1 if cost is None else -1
    for row in rows:
        way = expected.ways[row["choice"]]
        setting = f"T={way.temperature:g}, threshold {way.threshold:g}"
        assert row["setting"] == (None if row["choice"] in constant else setting)
        shown = [
            row[key]
            for key in (measure, "cross_validated", "gain", "gain_low", "gain_high", "false_pass", "missed")
        ]  # fmt: skip
        figures = [sign * way.on_same, sign * way.on_unseen, way.gain, way.low, way.high]  # fmt: skip
        np.testing.assert_allclose(
            np.array(shown, dtype=float),
            [*figures, way.false_pass, way.missed],
            rtol=0,
            atol=1e-9,
        )
    chosen = expected.ways[expected.recommended]
    written = found.settings["recommended"]
    assert written["temperature"] == chosen.temperature
    assert written["threshold"] == chosen.threshold
    flips = [row["sample"] for row in found.records("flips")]
    assert flips == [f"row-{place + 1}" for place in expected.flips]
    alone = "A threshold alone does as well" in found.sentence
    assert alone == (expected.recommended == "threshold" != expected.leading)


def strict_judge() -> tuple[FloatArray, FloatArray]:
    """Answers whose order is that of people, but which pass at 0.5 although people want more."""
    counts = np.array([[k, 0, 0, 12 - k, 0] for k in range(13)] * 12, dtype=float)
    human = (aggregate_counts(counts, [0.5])[:, 0] > 0.8).astype(float)
    return counts, human


def test_a_threshold_is_preferred_where_a_temperature_does_no_better() -> None:
    counts, human = strict_judge()
    found = calibrate(counts, human, objective="kappa", resamples=200)
    assert found.sentence.startswith(
        "Use T=0.5, threshold 0.796: it raises kappa by 0."
    )
    # It leads, so there is nothing to compare it with.
    assert "alone" not in found.sentence
    changed = ((aggregate_counts(counts, [0.5])[:, 0] >= 0.5) != (human == 1)).sum()
    assert f"It changes {changed} of 156 decisions." in found.sentence
    flips = found.records("flips")
    assert len(flips) == changed
    for row in flips:
        assert row["decision"] == "pass to fail"
        assert 0.5 <= row["before"] == row["after"] < 0.796
        assert row["rating"] == 0.0
    threshold, temperature = gain_of(found, "threshold"), gain_of(found, "T")
    assert threshold["gain"] >= temperature["gain"] > 0
    assert threshold["false_pass"] == threshold["missed"] == 0.0
    assert threshold["kappa"] == 1.0


def test_a_temperature_is_chosen_where_a_threshold_alone_is_worse() -> None:
    """People who ask only whether the best claim holds: no threshold at T=0.2 orders by it."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(4, [0.1, 0.1, 0.1, 0.3, 0.4], size=200).astype(float)
    human = (aggregate_counts(counts, [1.0])[:, 0] >= 0.5).astype(float)
    strict = ScoringConfig(temperature=0.2)
    found = calibrate(counts, human, objective="kappa", scoring=strict, resamples=200)
    assert found.settings["recommended"]["temperature"] > 0.8
    assert "alone" not in found.sentence
    assert gain_of(found, "threshold")["gain"] < gain_of(found, "T")["gain"]


def test_costs_move_the_threshold_and_the_file_holds_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    counts, human = strict_judge()
    human = np.where(rng.random(len(human)) < 0.1, 1 - human, human)
    thresholds = []
    for cost in (0.2, 1.0, 20.0):
        found = calibrate(counts, human, cost_false_pass=cost, resamples=200)
        row = gain_of(found, "threshold")
        bad = np.mean(human < 0.5)
        loss = cost * bad * row["false_pass"] + (1 - bad) * row["missed"]
        assert row["cross_validated"] == pytest.approx(loss, abs=1e-12)
        thresholds.append(float(row["setting"].rpartition(" ")[2]))
    assert thresholds[0] < thresholds[1] < thresholds[2]
    found = calibrate(counts, human, cost_false_pass=2.0, resamples=200)
    recommended(found).dump(tmp_path / "tcva.json")
    tcva = TCVA.from_config(tmp_path / "tcva.json")
    assert tcva.scoring.threshold == found.settings["recommended"]["threshold"] > 0.5
    assert found.settings["cost_false_pass"] == 2.0
    # A field's values have temperatures of their own, at the threshold for all.
    metadata = tuple({"part": "ab"[row % 2]} for row in range(len(human)))
    by = calibrate(table(counts, human, metadata=metadata), by="part", cost_false_pass=1.0, resamples=100)  # fmt: skip
    assert [row["value"] for row in by.records("by part")] == ["a", "b"]


def test_a_choice_by_cost_has_to_beat_rejecting_all() -> None:
    # Ratings that depend on nothing: a bad answer costs five times as much, so none should pass.
    rng = np.random.default_rng(2)
    counts = rng.multinomial(6, [0.5, 0.2, 0.1, 0.1, 0.1], size=120).astype(float)
    human = (rng.random(120) < 0.4).astype(float)
    found = calibrate(counts, human, cost_false_pass=5.0, resamples=200)
    rows = {row["choice"]: row for row in found.records("settings")}
    good = float(human.mean())
    assert rows["reject all"]["cross_validated"] == pytest.approx(good, abs=1e-12)
    assert rows["pass all"]["cross_validated"] == pytest.approx(5 * (1 - good), abs=1e-12)  # fmt: skip
    assert rows["reject all"]["missed"] == rows["pass all"]["false_pass"] == 1.0
    assert rows["threshold"][
        "significant"
    ]  # which is better than the setting in use only
    assert found.sentence.startswith("Keep T=0.5, threshold 0.5: ")
    said = f"It is not shown to cost less than to reject all answers ({good:.3f})."
    assert said in found.sentence
    assert found.settings["recommended"]["threshold"] == 0.5


def test_a_set_of_ties_gets_no_threshold_that_rejects_all() -> None:
    counts = np.array([[9, 0, 0, 0, 0.5]] * 58 + [[1, 0, 0, 0, 1]] * 2)
    human = np.array([0.0, 1.0] * 30)
    found = calibrate(counts, human, cost_false_pass=5.0, resamples=200)
    assert found.sentence.startswith("Keep ")


def test_nothing_is_said_of_other_temperatures_where_none_was_tried() -> None:
    counts, human = strict_judge()
    rng = np.random.default_rng(1)
    human = np.where(rng.random(len(human)) < 0.1, 1 - human, human)
    found = calibrate(counts, human, objective="kappa", temperatures=[0.5], resamples=200)  # fmt: skip
    assert found.sentence.startswith("Use T=0.5, threshold ")
    assert "alone" not in found.sentence


def test_a_loss_is_not_called_a_gain_and_the_most_that_were_tried_are_said() -> None:
    counts, human = draw(3, n=60)
    rng = np.random.default_rng(4)
    found = calibrate(counts, rng.permutation(human), objective="kappa", resamples=100)
    best = max(row["gain"] for row in found.records("settings")[1:])
    assert best < 0.0
    assert f"does not raise kappa (gain {best:.3f} [" in found.sentence
    most = max(row["tried"] for row in found.records("settings"))
    assert f"kappa: of the best of up to {most}, on" in found.text(200)


def test_the_text_shows_twenty_flips_and_json_all() -> None:
    counts, human = strict_judge()
    found = calibrate(counts, human, objective="kappa", resamples=100)
    flips = len(found.records("flips"))
    assert flips > 20
    assert found.text(full=True).count("pass to fail") == 20
    assert f"... {flips - 20} more rows; JSON shows all" in found.text(full=True)
    assert found.markdown(full=True).count("pass to fail") == 20
    assert len(found.to_dict()["tables"]["flips"]) == flips


def test_thresholds_are_thinned_and_many_scores_are_one() -> None:
    counts, human = draw(8, n=400)
    found = with_thresholds([ScoringConfig(threshold=0.6)], table(counts, human))
    thresholds = [setting.threshold for setting in found]
    assert thresholds[0] == 0.6
    assert len(thresholds) == 41
    apart = [abs(threshold - 0.6) for threshold in thresholds]
    assert apart == sorted(apart)
    passing = [int((aggregate_counts(counts, [0.5]) >= t).sum()) for t in thresholds]
    shown = aggregate_counts(counts, [0.5]).round(3)
    assert min(passing) == (shown == 1.0).sum()
    assert max(passing) == (shown > 0.0).sum()


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 3)] * 5).filter(any), min_size=1, max_size=30),
    temperature=st.sampled_from([0.1, 0.5, 0.9]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_every_division_of_few_scores_has_its_threshold(
    rows: list[tuple[int, ...]], temperature: float
) -> None:
    counts = np.array(rows, dtype=float)
    in_use = ScoringConfig(temperature=temperature)
    found = with_thresholds([in_use], table(counts, np.zeros(len(rows))))
    shown = aggregate_counts(counts, [temperature])[:, 0].round(3)
    passing = {tuple(shown >= setting.threshold) for setting in found}
    wanted = {tuple(shown > value) for value in {0.0, *shown} - {1.0}}
    assert wanted <= passing
    assert found[0] == in_use
    assert {setting.changed(threshold=0.5) for setting in found} == {in_use}


@needs_paper_data
def test_on_the_papers_sets_no_gain_is_significant() -> None:
    # Of scores as they are shown: most of the strict ones are 0.000 on the first set.
    sets = (("summeval", 169, 0.6630, 0.6670), ("summeval_rel", 195, 0.4800, 0.4862))
    for name, n, default, best in sets:
        counts, human, _ = judged(name)
        found = calibrate(counts, human, resamples=500)
        in_use, best_of = (row["spearman"] for row in found.records("settings"))
        assert gain_of(found)["n"] == n
        assert (in_use, best_of) == pytest.approx((default, best), abs=5e-5)
        assert gain_of(found)["cross_validated"] < best_of
        assert found.sentence.startswith("Keep T=0.5: ")


def test_values_of_a_field_have_their_own_answers_and_the_file_holds_them(
    tmp_path: Path,
) -> None:
    """Medical answers with ratings that follow T=0.5, creative ones that follow T=1, five others."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(4, [0.4, 0.2, 0.2, 0.2, 0.0], size=165).astype(float)
    both = aggregate_counts(counts, [0.5, 1.0])
    human = np.where(np.arange(165) < 80, both[:, 0], both[:, 1])
    values = ["medical"] * 80 + ["creative"] * 80 + ["chat"] * 4 + [None]
    metadata = tuple({"domain": value} for value in values)
    given = table(counts, human, metadata=metadata, judged=JudgedBy("faithfulness"))
    baseline = ScoringConfig(temperature=0.55)
    found = calibrate(given, by="domain", scoring=baseline, resamples=200)
    medical, creative, chat = found.records("by domain")
    assert [row["value"] for row in (medical, creative, chat)] == [
        "medical",
        "creative",
        "chat",
    ]
    assert chat["advice"].startswith("keep T=")
    assert chat["advice"].endswith("fewer than 50 ratings")
    own = found.settings["profiles"]["domain"]
    assert own["creative"] > 0.8
    assert "medical" not in own
    # Two values are large enough, and they share the 5 % that may go wrong.
    assert found.table("by domain").notes == [
        "intervals at 97.5 % (Bonferroni, for 2 values)"
    ]
    config = recommended(found)
    config.dump(tmp_path / "tcva.json")
    tcva = TCVA.from_config(tmp_path / "tcva.json")
    assert Config.load(tmp_path / "tcva.json") == config
    assert tcva.scoring.temperature == found.settings["recommended"]["temperature"]
    assert tcva.criterion.name == "faithfulness"
    assert config.provenance is not None
    assert config.provenance["tables"]["settings"] == found.records("settings")
    human[:80] = 1.0
    kept = calibrate(
        table(counts, human, metadata=metadata), by="domain", resamples=100
    )
    assert (
        "keep T=0.5: all 80 human ratings are 1"
        in kept.records("by domain")[0]["advice"]
    )
