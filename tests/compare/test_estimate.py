"""Estimates of judged files from a few human ratings, and the way of labels to raters and back."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tcva_adapters import Assessment
from tcva_adapters.compare import choose_samples, estimate
from tcva_adapters.compare.choosing import Choice
from tcva_adapters.compare.labels import Draw, Labels
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.files import write_assessments
from tcva_adapters.stats.prediction_powered import PoweredMean


def judged(n: int = 400, seed: int = 1) -> tuple[list[Assessment], dict[str, float]]:
    """Answers of two systems to the same questions, and what humans would say of each."""
    rng = np.random.default_rng(seed)
    assessments: list[Assessment] = []
    truth: dict[str, float] = {}
    for i in range(n):
        words = rng.choice(LEVELS, 4, p=[0.6, 0.2, 0.1, 0.05, 0.05]).tolist()
        lost = np.mean([LEVELS.index(word) for word in words]) / 4
        name = f"s{i}"
        truth[name] = float(np.clip(np.round(4 * (1 - 1.5 * lost + 0.1 * rng.normal())) / 4, 0, 1))
        metadata: dict[str, str | float] = {"system": "ab"[i % 2], "query": f"q{i // 2}"}
        if i < 80:
            metadata["human"] = truth[name]
        made = Assessment.from_verdicts(words, sample_id=name)
        assessments.append(made.model_copy(update={"metadata": metadata}))
    return assessments, truth


def rated(choice: Choice, truth: dict[str, float]) -> Labels:
    """What comes back from the raters."""
    rows = [(row["id"], row["inclusion"], row["round"]) for row in choice.records()]
    draws = {name: Draw(inclusion, turn) for name, inclusion, turn in rows}
    return Labels("labels.jsonl", {name: truth[name] for name in draws}, draws=draws)


def test_an_estimate_is_that_of_the_arrays() -> None:
    samples, _ = judged()
    found = estimate(samples, "human", temperature=0.3)
    ratings = [each.metadata.get("human") for each in samples]
    expected = PoweredMean(ratings, found.samples.scores)  # type: ignore[arg-type]  # None is one of what it takes
    [row] = found.rows
    assert row.estimate == expected.estimate()
    assert (row.samples, row.ratings, row.slope) == (400, 80, expected.slope)
    assert row.judge == pytest.approx(found.samples.scores.mean(), abs=1e-12)
    assert "80 ratings, 400 scores of the judge" in found.sentence


def test_systems_are_compared_within_questions() -> None:
    samples, _ = judged()
    found = estimate(samples, "human", system="system", group="query")
    assert [row.system for row in found.rows] == ["a", "b"]
    assert [row.estimate.clusters for row in found.rows] == [40, 40]
    [pair] = found.differences
    assert pair.found.low < pair.found.value < pair.found.high
    assert "a less b is" in found.sentence


def test_all_pairs_hold_together() -> None:
    samples, _ = judged()
    names = ["xyz"[i % 3] for i in range(400)]
    found = estimate(samples, "human", system=names, level=0.94)
    assert [each.level for each in found.differences] == pytest.approx([0.98] * 3)
    assert "pairs of systems" in found.sentence


def test_a_pass_rate() -> None:
    samples, _ = judged()
    found = estimate(samples, "human", threshold=0.75)
    [row] = found.rows
    passed = [each.metadata["human"] >= 0.75 for each in samples[:80]]
    assert row.alone.value == pytest.approx(np.mean(passed), abs=1e-12)
    assert row.judge == pytest.approx(np.mean(found.samples.scores >= 0.75), abs=1e-12)
    with pytest.raises(InvalidValueError, match="threshold 2 lies outside the scale"):
        estimate(samples, "human", threshold=2)
    with pytest.raises(InvalidValueError, match=r"outside the scale from 0 to 0\.5"):
        estimate(samples, "human", human_scale=(0, 0.5))


def test_what_is_said_of_labels() -> None:
    samples, truth = judged()
    low = sorted(truth, key=lambda name: truth[name])[:50]
    labels = Labels("l.csv", {"gone": 1.0, **{name: truth[name] for name in low}})
    found = estimate(samples, labels)
    said = " ".join(found.notes)
    assert "l.csv: 1 of 51 labels is of no sample here" in said
    assert "lower than those of a random draw would be" in said
    assert "picked" in said


def test_figures_are_plain_json() -> None:
    samples, _ = judged()
    found = estimate(samples[:100], [1.0] * 4 + [math.nan] * 96)
    figures = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    [row] = figures["rows"]
    assert row["estimate"]["low"] is None
    assert row["estimate"]["reason"] == "4 samples: an interval needs 10"
    assert "no interval" in found.text()


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_from_the_choice_to_the_estimate(tmp_path: Path, suffix: str) -> None:
    samples, truth = judged()
    source = tmp_path / "judged.jsonl"
    write_assessments(source, samples)
    draw, page = tmp_path / f"draw.{suffix}", tmp_path / "labels.csv"
    choice = choose_samples(source, 40, system="system", seed=3)
    assert choice.systems == {"a": 20, "b": 20}
    choice.save(draw)
    with pytest.raises(UnreadableInputError, match="none of its 40 lines has a rating"):
        Labels.read(draw)
    lines = [f"{each.id},{truth[each.id]}" for each in choice.chosen[:-4]]
    page.write_text("\n".join(["id,human", *lines]), encoding="utf-8")
    labels = Labels.read(draw, page)
    first = estimate(source, labels)
    assert first.rows[0].ratings == 36
    assert "4 of 40 chosen samples have no rating" in " ".join(first.notes)
    # A second round, by what the first one showed: the file has both.
    more = choose_samples(source, 40, labels)
    assert more.by == "variance"
    assert [each.round for each in more.rated] == [1] * 36
    # Four of 40 were left open, so that the others had 0.9 of their chance.
    assert {round(each.inclusion, 12) for each in more.rated} == {0.09}
    assert {each.round for each in more.chosen} == {2}
    assert not {each.id for each in more.chosen} & labels.ratings.keys()
    more.save(draw)
    again = Labels.read(draw)
    assert again.ratings == labels.ratings
    assert estimate(source, again).rows[0].ratings == 36


def test_labels_of_several_files_must_agree(tmp_path: Path) -> None:
    for name, rating in (("a", 1), ("b", 0)):
        (tmp_path / f"{name}.csv").write_text(f"id,human\nx,{rating}\n", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match=r"b\.csv rates 'x' 0, another file 1"):
        Labels.read(tmp_path / "a.csv", tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text("id,human,inclusion\nx,1,2\n", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="inclusion 2 is no chance"):
        Labels.read(tmp_path / "c.csv")
    # Of two rounds' files the later one has all: its chances allow for what was left open.
    for name, chance in (("d", 0.1), ("e", 0.09)):
        text = f"id,human,inclusion,round\nx,1,{chance},1\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableInputError, match=r"e\.csv says .* 0\.09 in round 1, another"):
        Labels.read(tmp_path / "d.csv", tmp_path / "e.csv")
    assert Labels.read(tmp_path / "d.csv", tmp_path / "d.csv").draws["x"].inclusion == 0.1


@pytest.mark.slow
def test_chosen_in_rounds_and_rated_the_estimate_is_unbiased() -> None:
    samples, truth = judged(1000, seed=5)
    mean = np.mean(list(truth.values()))
    values, hits, runs = [], 0, 150
    for seed in range(runs):
        labels = rated(choose_samples(samples, 30, seed=seed), truth)
        labels = rated(choose_samples(samples, 30, labels, by="variance", seed=seed), truth)
        row = estimate(samples, labels).rows[0]
        values.append(row.estimate.value)
        hits += bool(row.estimate.low <= mean <= row.estimate.high)
    # Four standard errors of so many draws.
    assert abs(np.mean(values) - mean) < 4 * np.std(values) / runs**0.5
    assert hits / runs > 0.93


def test_disagreement_of_methods(tmp_path: Path) -> None:
    samples, _ = judged(200)
    scores = np.array([estimate(samples, "human").samples.scores[i] for i in range(200)])
    table = tmp_path / "scores.csv"
    # The other method turns the first fifty round.
    rows = [f"s{i},other,{1 - s if i < 50 else s}" for i, s in enumerate(scores)]
    table.write_text("\n".join(["sample,method,score", *rows]), encoding="utf-8")
    found = choose_samples(samples, 40, by="disagreement", methods=table)
    of_first = [each.inclusion for each in found.chosen if int(each.id[1:]) < 50]
    others = [each.inclusion for each in found.chosen if int(each.id[1:]) >= 50]
    assert np.mean(of_first) > 1.5 * np.mean(others)
    with pytest.raises(InvalidValueError, match="one method alone, so nothing disagrees"):
        choose_samples(samples, 40, by="disagreement")
    with pytest.raises(InvalidValueError, match="not by stratum"):
        choose_samples(samples, 40, by="stratum", methods=table)
    with pytest.raises(InvalidValueError, match="none left to choose"):
        choose_samples(samples[:80], 5, "human")


def test_a_difference_that_does_not_show_says_which_would() -> None:
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 2, 120)
    counts = [[4, 0, 0, 0, 0] if score else [0, 0, 0, 0, 4] for score in scores]
    ratings = np.clip(scores + rng.normal(0, 0.2, 120), 0, 1)
    found = estimate(
        counts, ratings, system=["new", "old"] * 60, group=[i // 4 for i in range(120)]
    )
    (pair,) = found.differences
    assert pair.found.low < 0.0 < pair.found.high
    error = (pair.found.high - pair.found.low) / 2 / stats.norm.ppf(0.975)
    smallest = error * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8))
    assert pair.smallest == pytest.approx(smallest, abs=1e-9)
    assert found.to_dict()["differences"][0]["smallest"] == pair.smallest
    said = str(list(found.parts()))
    assert "30 groups of samples, the largest with 4 of 120" in said
    assert ("would mostly show" in said, f"{smallest:.3f}" in said) == (True, True)
    raised = np.where(np.arange(120) % 2, ratings, np.clip(ratings + 0.6, 0, 1))
    (told,) = estimate(counts, raised, system=["new", "old"] * 60).differences
    assert math.isnan(told.smallest)
