"""Agreement with ratings by decision, within and between groups, and against several raters."""

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.compare import ScoreTable, compare, comparison, validate
from tcva_adapters.compare.agreement.raters import stand_in_table
from tcva_adapters.compare.agreement.within_between import within_and_between
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.alternative_annotator import alternative_annotator
from tcva_adapters.stats.decisions import auc, decision_estimate, kappa
from tcva_adapters.stats.describe import seen
from tcva_adapters.stats.inference import estimate

RNG = np.random.default_rng(11)
GROUPS = np.repeat(np.arange(20), 6)
SYSTEMS = np.tile(np.array(list("abcdef")), 20)
HUMAN = np.round(RNG.random(120) * 4) / 4
OURS = np.clip(HUMAN + RNG.normal(0, 0.35, 120), 0, 1)
OTHER = np.clip(HUMAN + RNG.normal(0, 0.5, 120), 0, 1)
OURS[5] = HUMAN[17] = math.nan
FEW: dict[str, Any] = {"resamples": 200}


def table_of(human: Any = HUMAN, *, grouped: bool = True, **more: Any) -> ScoreTable:
    return ScoreTable(
        tuple(f"s{i}" for i in range(120)),
        ("ours", "other"),
        np.column_stack([OURS, OTHER]),
        np.array(human),
        groups=tuple(GROUPS.tolist()) if grouped else (),
        metadata=[{"system": name} for name in SYSTEMS.tolist()],
        **more,
    )


def rows(table: ScoreTable) -> dict[tuple[str, str], dict[str, Any]]:
    records = within_and_between(table).records
    return {(row["method"], row["where"]): row for row in records}


@pytest.mark.parametrize("labels", [GROUPS, SYSTEMS], ids=["groups", "systems"])
def test_within_and_between_are_those_of_a_plain_loop(labels: Any) -> None:
    name = "groups" if labels is GROUPS else "systems"
    scores, known = seen(OURS), np.isfinite(OURS) & np.isfinite(HUMAN)
    own, means = [], []
    for label in dict.fromkeys(labels.tolist()):
        part = known & (labels == label)
        own.append(stats.spearmanr(scores[part], HUMAN[part]).statistic)
        means.append((OURS[part].mean(), HUMAN[part].mean()))
    scored, rated = np.array(means).T
    expected = stats.spearmanr(seen(scored), rated).statistic
    row = rows(table_of())["ours", f"between {name}"]
    assert row["spearman"] == pytest.approx(expected, abs=1e-12)
    assert row["n"] == len(means)
    if name == "groups":
        within = rows(table_of())["ours", "within groups"]
        assert within["spearman"] == pytest.approx(np.mean(own), abs=1e-12)
        ends = estimate("mean", own)
        assert (within["spearman_low"], row["reason"]) == (
            pytest.approx(ends.low, abs=1e-12),
            "",
        )
        assert math.isnan(row["pairwise_accuracy"])
        return
    ordered = [
        (a[0] - b[0]) * (a[1] - b[1]) > 0
        for a, b in combinations(means, 2)
        if a[1] != b[1]
    ]
    assert row["pairwise_accuracy"] == pytest.approx(np.mean(ordered), abs=1e-12)
    assert row["reason"] == "it needs 10 systems, got 6"


def test_a_judge_that_only_tells_groups_apart() -> None:
    judge = np.repeat(RNG.random(20), 6)
    human = np.clip(judge + RNG.normal(0, 0.2, 120), 0, 1)
    table = ScoreTable(
        tuple(map(str, range(120))),
        ("m",),
        (judge + RNG.normal(0, 0.01, 120))[:, None],
        human,
        groups=tuple(GROUPS.tolist()),
    )
    found = rows(table)
    assert abs(found["m", "within groups"]["spearman"]) < 0.2
    assert found["m", "between groups"]["spearman"] > 0.9
    assert found.keys() == {("m", "within groups"), ("m", "between groups")}


def test_sentences_carry_what_is_within_and_between() -> None:
    report = validate(table_of(), **FEW)
    row = rows(table_of())["ours", "within groups"]
    ends = f"[{row['spearman_low']:.2f}, {row['spearman_high']:.2f}]"
    assert f"; {row['spearman']:.3f} {ends} within groups (n = 20), " in report.sentence
    systems = rows(table_of())["ours", "between systems"]
    pairs = f"{100 * systems['pairwise_accuracy']:.0f} % of pairs of 6 systems in the"
    between = f"{systems['spearman']:.3f} between systems (n = 6)"
    assert f"{between}, {pairs}" in report.sentence
    compared = comparison(table_of(), **FEW)
    assert any(f"{ends} within groups" in note for note in compared.notes)
    assert compared.records("within and between") == report.records(
        "within and between"
    )
    prompts = [{"system": f"You are assistant {i}."} for i in range(120)]
    assert rows(replace(table_of(grouped=False), metadata=prompts)) == {}
    alone = ScoreTable(("a", "b"), ("m",), np.array([[0.1], [0.4]]), np.array([0, 1.0]))
    assert not within_and_between(alone).records
    assert "groups" not in validate(alone, **FEW).sentence


@pytest.mark.parametrize("threshold", [0.5, 0.75])
def test_decisions_are_the_same_in_both_commands_and_take_the_threshold(
    threshold: float,
) -> None:
    table = table_of(thresholds={"ours": 0.6})
    compared = comparison(table, human_threshold=threshold, **FEW)
    (row,) = [r for r in compared.records("decisions by rating") if r["method"] == "ours"]  # fmt: skip
    both = np.isfinite(OURS) & np.isfinite(HUMAN)
    good = np.where(both, threshold <= HUMAN, np.nan)
    decided = np.where(both, OURS >= 0.6, np.nan)
    groups = GROUPS.tolist()
    beyond = decision_estimate(kappa, decided, good, groups)
    area = decision_estimate(auc, seen(OURS), good, groups)
    assert (row["kappa"], row["kappa_low"]) == (beyond.value, beyond.low)
    assert (row["auc"], row["auc_high"]) == (area.value, area.high)
    assert row["rating_passes"] == np.nanmean(good)
    validated = validate(table, human_threshold=threshold, **FEW).records("decisions")
    figures = {record["figure"]: record for record in validated}
    for name, record in figures.items():
        for end in ("", "_low", "_high"):
            assert record[f"value{end}"] == row[f"{name.replace(' ', '_')}{end}"]
    assert "auc" in figures


def test_a_mean_of_raters_passes_where_it_does_on_paper() -> None:
    ratings = np.array([[0.0, 0.3, 0.3]] * 12)  # in floats their mean is below .2
    names = tuple(map(str, range(12)))
    table = ScoreTable(names, ("m",), np.linspace(0, 1, 12)[:, None], ratings)
    decided = validate(table, human_threshold=0.2, **FEW).records("decisions")
    shares = {row["figure"]: row["value"] for row in decided}
    assert shares["rating passes"] == 1.0


def test_a_threshold_of_ratings_is_refused_before_anything_is_judged() -> None:
    sample = Sample(response="It opens at nine.", contexts=["It opens at nine."])
    with pytest.raises(InvalidValueError, match=r"human_threshold=0\.7 needs human"):
        compare([sample], {"judge": "lexical"}, frameworks="none", human_threshold=0.7)
    with pytest.raises(InvalidValueError, match="must be between 0 and 1, got 4"):
        compare([sample], {"judge": "lexical"}, frameworks="none", human_threshold=4)


def test_no_method_agrees_whose_interval_holds_0() -> None:
    rng = np.random.default_rng(2)
    scores, human = rng.random((80, 2)), rng.random(80)
    names = tuple(map(str, range(80)))
    report = comparison(ScoreTable(names, ("a", "b"), scores, human), **FEW)
    assert report.sentence.startswith("No method is shown to agree with the human ")
    rho = max(
        (estimate("spearman", [seen(column), human]) for column in scores.T),
        key=lambda figure: figure.value,
    )
    assert rho.low < 0.0 < rho.value
    assert f"(Spearman {rho.value:.3f} [{rho.low:.2f}, {rho.high:.2f}], n = 80)" in (
        report.sentence
    )
    near = human[:, None] + scores * 0.1
    agreed = comparison(ScoreTable(names, ("a", "b"), near, human), **FEW)
    assert "has the highest agreement with the human ratings" in agreed.sentence
    (tested,) = agreed.records("differences")
    assert tested["p_corrected"] > 0.05
    assert "is not significant" in agreed.sentence
    flat = np.repeat([[0.0], [1.0]], [8, 4], axis=0)
    few = comparison(ScoreTable(names[:12], ("a",), flat, human[:12]), **FEW)
    assert "; no interval: all but 4 values are equal" in few.sentence


def test_a_difference_is_of_the_samples_that_its_sentence_names() -> None:
    rng = np.random.default_rng(3)
    human = rng.random(200)
    scores = human[:, None] + rng.normal(0, [0.1, 0.4, 0.9], (200, 3))
    scores[150:, 2] = np.nan
    names = tuple(map(str, range(200)))
    table = ScoreTable(names, ("a", "b", "c"), scores, human)
    sentence = comparison(table, **FEW).sentence
    rho = estimate("spearman", [seen(scores[:150, 0]), human[:150]])
    assert sentence.startswith(
        "On the samples that all methods scored, a agrees best with the human ratings "
        f"(Spearman {rho.value:.3f} [{rho.low:.2f}, {rho.high:.2f}], n = 150). The "
        "difference from b ("
    )
    assert " on the 200 samples that both scored) is significant" in sentence
    (of_b,) = [r for r in comparison(table, **FEW).records("differences") if r["method"] == "b"]  # fmt: skip
    assert f"({-of_b['difference']:+.3f} on the 200" in sentence
    alike = comparison(table.select(methods=("a", "b")), **FEW).sentence
    assert "both scored" not in alike
    assert alike.startswith("a agrees best")
    # The third is not tested better than the second, but the first is than both.
    views = replace(
        table, scores=np.column_stack([scores[:, :2], scores[:, 0] + 1e-3 * human])
    )
    assert comparison(views, **FEW).sentence.startswith(
        "c has the highest agreement with the human ratings"
    )


@pytest.mark.parametrize("number", [1, 2])
def test_a_small_error_is_no_agreement(number: int) -> None:
    human = np.linspace(0.0, 1.0, 60)
    scores = np.column_stack([1.0 - human, np.where(human > 0.5, 0.0, 1.0)])
    names = tuple(map(str, range(60)))
    table = ScoreTable(names, ("a", "b")[:number], scores[:, :number], human)
    sentence = comparison(table, objective="mae", **FEW).sentence
    assert "agrees" not in sentence
    claim = ("differs from", "has the smallest error against")[number - 1]
    assert sentence.startswith(
        f"a {claim} the human ratings (mean absolute error 0.508"
    )


@pytest.mark.parametrize("systems", [2, 4, 5])
def test_few_systems_have_no_correlation_in_a_sentence(systems: int) -> None:
    labels = [{"system": f"{i % systems}"} for i in range(120)]
    table = replace(table_of(grouped=False), metadata=labels)
    sentence = validate(table, **FEW).sentence
    assert f"% of pairs of {systems} systems in the same order" in sentence
    assert (" between systems" in sentence) == (systems == 5)
    assert f"(n = {systems})" in sentence or systems < 5
    assert rows(table)["ours", "between systems"]["n"] == systems


def test_decisions_say_why_they_have_no_interval() -> None:
    human = np.array([1.0] * 38 + [0.0] * 2)
    scores = np.linspace(0, 1, 40)[:, None]
    names = tuple(map(str, range(40)))
    report = comparison(ScoreTable(names, ("a",), scores, human), **FEW)
    (row,) = report.records("decisions by rating")
    assert row["kappa_low"] is None
    assert row["reason"]
    notes = report.table("decisions by rating").notes
    assert any("no interval (a)" in note and row["reason"] in note for note in notes)


def test_one_rater_with_enough_samples_shows_nothing() -> None:
    ratings = np.full((120, 3), math.nan)
    ratings[:40, 0] = ratings[:20, 1] = ratings[20:40, 2] = 0.5
    ratings[:40:3, 0] = 1.0
    steady = np.full((120, 2), 0.5)
    table = replace(table_of(ratings, grouped=False), scores=steady)
    row = stand_in_table(table, 0.2).records[0]
    assert (row["raters"], row["winning_rate"]) == (1, 1.0)
    assert row["may_stand_in"] == "not shown"


@pytest.mark.parametrize("is_binary", [False, True])
def test_who_may_stand_in_for_a_rater(is_binary: bool) -> None:
    ratings = np.clip(
        np.nan_to_num(HUMAN)[:, None] + RNG.integers(-1, 2, (120, 3)) / 4, 0, 1
    )
    if is_binary:
        ratings = np.round(ratings)
    table = table_of(ratings, thresholds={"ours": 0.6})
    judge = np.where(np.isnan(OURS), np.nan, OURS >= 0.6) if is_binary else OURS
    tests = alternative_annotator(judge, ratings, GROUPS.tolist(), epsilon=0.15)
    report = validate(table, epsilon=0.15, **FEW)
    row = report.records("alternative annotator")[0]
    assert row["p"] == tests.p.tolist()
    wins = (tests.p <= 0.05).sum()
    assert (row["raters"], row["winning_rate"]) == (3, pytest.approx(wins / 3))
    assert row["advantage_probability"] == pytest.approx(tests.advantage.mean())
    assert row["may_stand_in"] == ("yes" if wins >= 2 else "not shown")
    assert "epsilon 0.15" in report.table("alternative annotator").notes[0]
    compared = comparison(table, epsilon=0.15, **FEW)
    assert compared.records("alternative annotator")[0] == row
    assert not stand_in_table(table_of(ratings[:, :2]), 0.2).records
    assert not stand_in_table(table_of(1 + 4 * ratings), 0.2).records
