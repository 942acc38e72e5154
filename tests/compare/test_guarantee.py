"""A gate with a guarantee: what is certified, of whom, what is said where nothing is, and what carries it."""

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.paper.data import read_folder

pytest.importorskip("scipy", reason="the extra stats")

from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters import TCVA, Config, Sample
from tcva_adapters.compare import ScoreTable, calibrate, comparison, read_scores
from tcva_adapters.compare.calibration.certify_setting import (
    guarantee_table,
    judge_of_table,
    limits_of,
)
from tcva_adapters.compare.calibration.recommendation import recommended
from tcva_adapters.compare.combined_methods import with_fused
from tcva_adapters.compare.scores.judged_by import JudgedBy
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import settings_of
from tcva_adapters.results.guarantee import Guarantee, Limits, check_guarantee
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.threshold_steps import Steps
from tcva_adapters.tables import Report
from tests.cli.conftest import Run, record, tcva, write  # noqa: F401  # a fixture
from tests.support.paper import FOLDER, needs_paper_data

TENTH: dict[str, Any] = {"max_false_pass": 0.1}
TEN = Limits(**TENTH)
FUSED = "fused(tcva + ragas)"


def drawn(seed: int = 0, bad: int = 100, good: int = 100, **more: Any) -> ScoreTable:
    """Rejected answers with none and partial claims mostly, good ones with fully and partial ones."""
    rng = np.random.default_rng(seed)
    shares = [[0.1, 0.1, 0.3, 0.1, 0.4]] * bad + [[0.8, 0.1, 0.1, 0.0, 0.0]] * good
    counts = np.array([rng.multinomial(5, each) for each in shares], dtype=float)
    names = tuple(f"s{i}" for i in range(bad + good))
    human = np.repeat([0.0, 1.0], [bad, good])
    empty = np.empty((len(names), 0))
    return ScoreTable(names, (), empty, human, counts=counts[:, None], **more)


def row_of(report: Report) -> dict[str, Any]:
    [row] = report.records("guarantee")
    return row


def by_hand(
    scores: FloatArray,
    rejects: Any,
    limit: float,
    error: float,
    observed: Any = None,
) -> tuple[float, float]:
    """The threshold above the rejected score at which scipy's test fails, and the good ones that pass."""
    higher = 1.0
    for score in sorted({*(observed or scores.tolist()), 1.0}, reverse=True):
        hits = int((scores[rejects] >= score).sum())
        n = int(rejects.sum())
        if stats.binomtest(hits, n, limit, alternative="less").pvalue > error:
            found = (score + higher) / 2 if score < 1.0 else math.nan
            return found, float((scores[~rejects] >= higher).mean())
        higher = score
    return 0.0, 1.0


@pytest.mark.parametrize(("limit", "seed"), [(0.05, 5), (0.1, 0), (0.2, 2)])
def test_the_threshold_is_that_of_a_loop_over_tests(limit: float, seed: int) -> None:
    table = drawn(seed)
    rejects = table.rating < 0.5
    tried: list[float | str] = [0.3, "balanced", 0.8]
    for grid in (tried[1:2], tried):
        found = calibrate(table, temperatures=grid, max_false_pass=limit)
        for row, temperature in zip(found.records("guarantee"), grid, strict=True):
            scores = table.at(ScoringConfig(temperature=temperature))
            wanted = by_hand(scores, rejects, limit, 0.05 / len(grid))
            assert (row["threshold"], row["true_pass"]) == pytest.approx(wanted)
            hits = int((scores[rejects] >= row["threshold"]).sum())
            scipys = stats.binomtest(hits, 100, alternative="less")
            bound = scipys.proportion_ci(1 - 0.05 / len(grid), "exact").high
            figures = (row["false_pass"], row["bound"])
            assert figures == pytest.approx((hits / 100, bound), abs=1e-12)
        best = max(found.records("guarantee"), key=lambda row: row["true_pass"])
        assert found.settings["guarantee"]["setting"]["threshold"] == best["threshold"]
    path = found.records("thresholds")
    certified = [row["threshold"] for row in path if row["certified"]]
    assert certified[-1] == best["threshold"]
    ends = [row["up_to"] for row in path]
    assert ends == sorted({*ends, 1.0}, reverse=True)
    assert [row["threshold"] for row in path] == pytest.approx(
        [*((a + b) / 2 for a, b in pairwise(ends)), 0.0]
    )


def test_good_answers_that_must_pass_and_both_limits() -> None:
    table = drawn(3)
    lenient = calibrate(table, min_true_pass=0.8)
    scores, good = table.at(0.5), table.rating >= 0.5
    ends = sorted({*scores.tolist(), 1.0}, reverse=True)
    fails = [int((scores[good] < t).sum()) for t in ends]
    kept = [stats.binom.cdf(k, 100, 0.2) <= 0.05 for k in fails]
    assert row_of(lenient)["threshold"] == ends[kept.index(True)]
    assert ends[kept.index(True)] in scores[good]
    assert lenient.records("thresholds")[-1]["certified"]
    several = calibrate(table, temperatures=[0.2, 0.5, 0.9], min_true_pass=0.8)
    least = min(row["false_pass"] for row in several.records("guarantee"))
    assert several.settings["guarantee"]["false_pass"] == least
    both = calibrate(table, max_false_pass=0.2, min_true_pass=0.8)
    for report, bounds in (
        (lenient, ["true bound"]),
        (calibrate(table, max_false_pass=0.2), ["bound"]),
        (both, ["bound", "true bound"]),
    ):
        shown = report.table("guarantee")
        headings = [column.heading for column in shown.columns]
        assert [name for name in headings if name.endswith("bound")] == bounds
        assert f"{', '.join(bounds)}: of the true share" in " ".join(shown.notes)
    assert row_of(both)["threshold"] == by_hand(scores, ~good, 0.2, 0.025)[0]
    certified = [row["up_to"] for row in both.records("thresholds") if row["certified"]]
    halved = [stats.binom.cdf(k, 100, 0.2) <= 0.025 for k in fails]
    assert max(certified) == ends[halved.index(True)]
    assert "2 paths" in " ".join(
        calibrate(table, max_false_pass=0.5, min_true_pass=0.5).notes
    )
    none = calibrate(table, max_false_pass=0.05, min_true_pass=0.93)
    assert none.settings["guarantee"] is None
    assert "at most 5 % false passes need a threshold above" in none.sentence
    never = calibrate(table.select(np.arange(0, 200, 20)), min_true_pass=0.9)
    assert (
        "even at threshold 0, 1.000 of 5 good answers pass (lower bound 0.549)"
        in never.sentence
    )


def test_unscored_answers_give_no_credit() -> None:
    """A rejected one is left out, although it does not pass; a good one does not pass."""
    table, rng = drawn(4), np.random.default_rng(4)
    whole = row_of(calibrate(table, max_false_pass=0.2))
    gone = np.r_[
        rng.choice(100, 30, replace=False), 100 + rng.choice(100, 30, replace=False)
    ]
    assert table.counts is not None
    table.counts[gone] = 0.0
    found = calibrate(table, max_false_pass=0.2)
    row = row_of(found)
    assert (row["rejected"], row["good"]) == (70, 100)
    assert (
        row["true_pass"]
        == (table.at(0.5)[100:] >= row["threshold"]).mean()
        < whole["true_pass"]
    )
    assert (
        "Left out: 30 rejected answers without a score, which cannot pass."
        in found.notes
    )
    assert "Counted as not passing: 30 good answers without a score." in found.notes


def test_refusals_that_people_reject_pass_since_gates_let_them_through() -> None:
    fact = "The office opens at nine."
    scorer = TCVA(judge="lexical")
    good = scorer.evaluate_many([Sample(response=fact, contexts=[fact])] * 60)
    false = scorer.evaluate_many([Sample(response="Zebras fly.", contexts=[fact])] * 60)
    declined = scorer.evaluate_many(
        [Sample(response="I do not know.", contexts=[fact])] * 20
    )
    ratings = [1.0] * 60 + [0.0] * 60
    report = calibrate([*good, *false], human=ratings, max_false_pass=0.1)
    assert row_of(report)["rejected"] == 60
    report = calibrate(
        [*good, *false, *declined], human=[*ratings, *[0.0] * 20], max_false_pass=0.1
    )
    row = row_of(report)
    assert (row["rejected"], row["at_threshold_1"]) == (80, 0.25)
    assert report.settings["guarantee"] is None
    # Refusals that people accept are good answers that pass.
    report = calibrate(
        [*good, *false, *declined], human=[*ratings, *[1.0] * 20], max_false_pass=0.1
    )
    assert (row_of(report)["good"], row_of(report)["true_pass"]) == (80, 1.0)


@pytest.mark.parametrize("step", [1, -1])  # either value comes first
def test_the_values_of_a_field_share_the_error_and_one_threshold(step: int) -> None:
    parts = tuple({"domain": "ab"[i % 2] if i % 10 != 1 else None} for i in range(200))
    table = drawn(5, metadata=parts).select(np.arange(200)[::step])
    found = calibrate(table, by="domain", max_false_pass=0.1)
    scores, rejects, row, passed = table.at(0.5), table.rating < 0.5, row_of(found), []
    observed = [
        score
        for score, each in zip(scores.tolist(), table.metadata, strict=True)
        if each["domain"]
    ]
    own = {row["value"]: row["threshold"] for row in found.records("by domain")}
    for value, threshold in own.items():
        of = np.array([each["domain"] == value for each in table.metadata])
        wanted, _ = by_hand(scores[of], rejects[of], 0.1, 0.025, observed)
        assert threshold == pytest.approx(wanted, abs=1e-15)
        passed.append((scores[of & ~rejects] >= row["threshold"]).mean())
    assert (row["threshold"], row["true_pass"]) == pytest.approx(
        (max(own.values()), min(passed))
    )
    assert row["true_pass"] < max(passed)
    shares = [
        each["bound"] for each in found.records("thresholds") if each["certified"]
    ]
    assert max(shares) == row["bound"] <= 0.1
    assert (
        "pass for each domain (95 % confidence). Of 90 rejected answers (rated"
        in found.sentence
    )
    assert "Left out: 20 rated samples without 'domain'." in found.notes
    good = calibrate(table, by="domain", min_true_pass=0.8)
    own = {row["value"]: row["threshold"] for row in good.records("by domain")}
    assert row_of(good)["threshold"] == min(own.values()) < max(own.values())
    some = np.r_[np.flatnonzero(rejects)[:40], np.flatnonzero(~rejects)]
    few = calibrate(table.select(some), **TENTH, by="domain")
    assert "the limit takes at least 36 rated rejections, got" in few.sentence
    assert few.sentence.endswith(" (and 1 more value).")
    assert "No threshold at T=0.5 is certified" in few.sentence
    assert not few.table("by domain").notes
    assert "uses the one of the table above" in found.table("by domain").notes[0]
    two = calibrate(table.select(some), **TENTH, temperatures=[0.4, 0.5], by="domain")
    assert ", the best of 2 settings, is certified to let at most 10 %" in two.sentence


def test_groups_count_once() -> None:
    groups = tuple(f"s{i // 2}" for i in range(200))
    found = calibrate(drawn(6, groups=groups), max_false_pass=0.2)
    assert found.settings["guarantee"]["groups"] == 50
    assert (
        row_of(found)["threshold"]
        > row_of(calibrate(drawn(6), max_false_pass=0.2))["threshold"]
    )
    assert (
        "in the mean over groups (50 of them with a rejected answer)" in found.sentence
    )
    lenient = calibrate(drawn(6, groups=groups), min_true_pass=0.6)
    alone = row_of(calibrate(drawn(6), min_true_pass=0.6))
    assert row_of(lenient)["true_bound"] != alone["true_bound"]
    twice = drawn(6)
    twice = replace(
        twice, samples=tuple(f"s{i // 2}" + "#2" * (i % 2) for i in range(200))
    )
    assert row_of(calibrate(twice, max_false_pass=0.2)) == row_of(found)
    few = calibrate(drawn(6, bad=40, groups=groups[:140]), max_false_pass=0.1)
    assert "at least 29 groups with a rated rejection, got 20" in few.sentence


def table_of(passing: int, bad: int, low: float = 0.0) -> ScoreTable:
    """Of so many rejected answers some have the score 1, the others a low one."""
    scores = np.where(np.arange(bad + 20) < passing, 1.0, low)
    scores[bad:] = 1.0
    human = np.repeat([0.0, 1.0], [bad, 20])
    return ScoreTable(tuple(map(str, range(bad + 20))), ("m",), scores[:, None], human)


FULL = "have the score 1 and pass at every threshold;"
WHY = [
    (0, 28, "the limit takes at least 29 rated rejections, got 28"),
    (3, 30, f"3 of 30 rejected answers {FULL} a second judge"),
    (
        2,
        40,
        f"{FULL} about 116 rated rejections would be enough at this share, or a second",
    ),
]


@pytest.mark.parametrize(("passing", "bad", "said"), WHY)
def test_why_there_is_no_threshold(passing: int, bad: int, said: str) -> None:
    found = guarantee_table(table_of(passing, bad), TEN)
    assert found.records[0].get("true_pass") is None
    assert said in found.notes[1]
    assert found.records[0]["at_threshold_1"] == passing / bad


def test_a_comparison_has_the_good_answers_that_pass() -> None:
    just_below = float(
        np.nextafter(0.6, 0.0)
    )  # as the same score computed in another order is
    for low, threshold in ((0.0, 0.5), (just_below, (just_below + 1) / 2)):
        [row] = comparison(table_of(0, 60, low), limits=TEN, resamples=100).records(
            "guarantee"
        )
        assert (row["threshold"], row["true_pass"]) == (threshold, 1.0)
    with pytest.raises(InvalidValueError, match="needs human ratings"):
        comparison(ScoreTable(("a",), ("m",), np.ones((1, 1))), limits=TEN)


@pytest.mark.parametrize(("table", "options", "said"), [
    (drawn(), {"max_false_pass": 10}, "max_false_pass must be less than 1, got 10"),
    (drawn(), {"min_true_pass": 0.0}, "min_true_pass must be above 0"),
    (drawn(), {"confidence": 1.0, **TENTH}, "confidence must be less than 1"),
    (drawn(), {"confidence": 0.9}, "confidence=0.9 needs a limit"),
    (drawn(), {"human_threshold": 4, **TENTH}, "human_threshold must be between 0 and 1"),
    (drawn(), {"human_threshold": [0.3, 0.5], **TENTH}, "human_threshold must be a valid number"),
    (drawn(), {"scoring": ScoringConfig(on_unscored=1.0), **TENTH}, "on_unscored"),
    (drawn(), {"objective": "mae", **TENTH}, "objective mae is not used with a limit"),
    (drawn(), {"by": "part", **TENTH}, "no rated sample has 'part'"),
    (drawn(good=0), TENTH, "all 100 rated answers are rejected"),
    (replace(drawn(), human=np.full((200, 3), 0.7)), {"human_threshold": 0.7, **TENTH}, "are good"),
    *((replace(drawn(), judged_methods={n: JudgedBy(*n) for n in (one, "ax")}), TENTH, f"2 judgements: a by x, {one[0]} by {one[1]};") for one in ("ay", "bx")),
    (replace(drawn(), human=np.arange(200.0)), TENTH, "between 0 and 1, got 0 to 199"),
    (replace(drawn(), human=np.empty(0)), TENTH, "no sample has a human rating"),
    (replace(drawn(), counts=np.repeat([[0.0] * 5, [1.0] * 5], 100, axis=0)[:, None]), {"min_true_pass": 0.5}, "no rejected answer has a score"),
])  # fmt: skip
def test_refusals(table: ScoreTable, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        calibrate(table, **options)


def test_the_settings_file_carries_the_guarantee(tmp_path: Path) -> None:
    found = calibrate(drawn(7), temperatures=["strict"], human_scale=(1, 5), **TENTH)
    assert found.settings["guarantee"]["human_threshold"] == 3.0
    recommended(found).dump(tmp_path / "tcva.json")
    again = Config.load(tmp_path / "tcva.json")
    assert again == recommended(found)
    assert again.provenance is None
    assert again.guarantee == Guarantee(**found.settings["guarantee"])
    threshold = again.guarantee.setting["threshold"]
    built = TCVA.from_config(again, judge="lexical")
    assert (built.threshold, built.settings["guarantee"]) == (
        threshold,
        again.guarantee,
    )
    other = ScoringConfig(**again.settings).changed(threshold=0.5, on_unscored=1.0)
    lost = check_guarantee(again.guarantee, again.guarantee.judged_by, other)
    wanted = f"threshold 0.5 instead of {threshold:g}; on_unscored 1 instead of None"
    assert lost == ("lost", f"The guarantee is lost: {wanted}")
    with pytest.raises(
        InvalidValueError, match="no settings to recommend: No threshold"
    ):
        recommended(calibrate(drawn(7, bad=10), max_false_pass=0.1))


def test_who_judged_is_stored() -> None:
    fused = TCVA(judge="lexical", fuse="lexical")
    samples = [
        Sample(response="It opens.", contexts=["It opens."], id=name) for name in "ab"
    ]
    results = [fused.evaluate(sample) for sample in samples]
    assert (
        judge_of_table(read_scores(results)) | {"profiles": None} == fused.judged_by()
    )
    other = fused.changed(fuse=()).evaluate(samples[0])
    by_two = ScoreTable(
        ("a",), ("m", "n"), np.ones((1, 2)), results={"m": results[:1], "n": [other]}
    )
    assert judge_of_table(by_two) == judge_of_table(drawn()) == {}
    assert settings_of(ScoringConfig(fuse_weights=(1, 2)))["fuse_weights"] == [1, 2]
    with pytest.raises(
        InvalidValueError, match="human_threshold must be between 0 and 1"
    ):
        limits_of(human_threshold=4, **TENTH)  # before anything is judged


def test_a_run_is_told_what_holds_for_it(tcva: Run) -> None:  # noqa: F811  # the fixture
    bad = {"answer": "The museum shows paintings of old ships.", "human": 0}
    write(
        "samples.jsonl",
        *(record(i, **(bad if i % 2 else {"human": 1})) for i in range(80)),
    )
    run = ["evaluate", "samples.jsonl", "--judge", "lexical", "--out"]
    tcva(*run, "judged.jsonl")
    limit = ["calibrate", "judged.jsonl", "--human", "human", "--max-false-pass", "0.1"]
    given = tcva(*limit, "--out", "tcva.json", "--json").json["settings"]["guarantee"]
    stored = json.loads(Path("tcva.json").read_text(encoding="utf-8"))["guarantee"]
    assert {**given, **stored} == given
    assert (stored["rejected"], stored["judged_by"]["judge"]) == (40, "lexical/6")
    said = f"Guarantee of {stored['date']}: at most 10 % of the answers that people reject pass"
    held = tcva(*run, "x.jsonl", "--config", "tcva.json", "--markdown", "x.md")
    assert said in held.text
    assert said in Path("x.md").read_text(encoding="utf-8")
    assert "warning" not in held.err
    other = tcva(
        *run,
        "x.jsonl",
        "--config",
        "tcva.json",
        "--threshold",
        0.3,
        "--fuse",
        "lexical",
    )
    assert said not in other.text
    assert "warning: The guarantee is lost: threshold 0.3 instead of" in " ".join(
        other.err.split()
    )
    assert "fused faithfulness by lexical/6 instead of ;" in " ".join(other.out.split())
    profiles = ("--set", 'profiles={"human": {"1": 0.2}}')
    by_field = tcva(*run, "x.jsonl", "--config", "tcva.json", *profiles)
    assert "The guarantee is lost: profiles by human instead of None" in by_field.out
    assert "--set level is not used" in tcva(*limit, "--set", "level=0.9", code=2).err
    none = tcva(*limit, "--confidence", "0.9999", "--out", "none.json", code=1)
    assert "the limit takes at least 88 rated rejections, got 40" in none.text
    assert not Path("none.json").exists()
    compared = [
        "compare",
        "samples.jsonl",
        "--judge",
        "lexical",
        "--with",
        "none",
        "--json",
    ]
    limit = ["--human", "human", "--max-false-pass", "0.1", "--set", "confidence=0.9"]
    shown = tcva(*compared, *limit).json
    assert shown["tables"]["guarantee"][0]["true_pass"] == 1.0
    assert shown["settings"]["confidence"] == 0.9


def test_scores_that_are_equal_but_for_rounding_are_one_step() -> None:
    below = 0.6 - 4e-13
    steps = Steps.between(np.array([below, 0.6, 0.3, 1 - 1e-13, np.nan, -0.5, 1.5]))
    assert steps.ends.tolist() == [1 - 1e-13, below, 0.3]
    middles = [(0.6 + 1 - 1e-13) / 2, (0.3 + below) / 2, 0.0]
    assert steps.middles.tolist() == pytest.approx(middles, abs=1e-15)
    # 28 rejected answers below 0.6, and one just below 1: at a limit of 0.1 none of 29 may pass.
    scores = np.r_[[below] * 28, 1 - 1e-13, [1.0] * 20]
    human = np.repeat([0.0, 1.0], [29, 20])
    table = ScoreTable(tuple(map(str, range(49))), ("m",), scores[:, None], human)
    [row] = guarantee_table(table, TEN).records
    assert row["at_threshold_1"] == 1 / 29
    assert "threshold" not in row


@given(
    st.lists(st.integers(0, 12), min_size=30, max_size=60),
    st.lists(st.integers(0, 12), min_size=1, max_size=40),
    st.sampled_from([0.1, 0.2, 0.5]),
)
def test_no_threshold_of_any_grid_is_certified_below_the_path(
    bad: list[int], good: list[int], limit: float
) -> None:
    """The threshold is what a loop over a fine grid comes to, and passes the same answers."""
    scores = np.array([*bad, *good]) / 12.5
    rejects = np.arange(len(scores)) < len(bad)
    table = ScoreTable(
        tuple(map(str, range(len(scores)))),
        ("m",),
        scores[:, None],
        np.where(rejects, 0.0, 1.0),
    )
    [row] = guarantee_table(table, Limits(max_false_pass=limit)).records
    grid = np.linspace(1, 0, 5001)
    hits = (scores[rejects] >= grid[:, None]).sum(axis=1)
    fails = stats.binom.cdf(hits, len(bad), limit) > 0.05
    certified = grid[: int(fails.argmax()) if fails.any() else len(grid)]
    assert ("threshold" in row) == bool(len(certified))
    if len(certified):
        lowest = certified[-1]
        assert (scores >= row["threshold"]).tolist() == (scores >= lowest).tolist()
        assert row["threshold"] >= lowest - 1e-12
        wanted = by_hand(scores, rejects, limit, 0.05)
        assert (row["threshold"], row["true_pass"]) == pytest.approx(wanted, abs=1e-15)


def test_what_stands_beside_a_certificate() -> None:
    for options in ({}, {"temperatures": [0.3, 0.5, 0.8]}, {"by": "domain"}):
        parts = tuple({"domain": "ab"[i % 2]} for i in range(200))
        table = drawn(2, metadata=parts)
        found = calibrate(table, max_false_pass=0.2, **options)
        guarantee = Guarantee(**found.settings["guarantee"])
        scores = table.at(ScoringConfig(**guarantee.setting))
        passes = scores >= found.settings["guarantee"]["setting"]["threshold"]
        good = table.rating >= 0.5
        hits = int((passes & good).sum())
        number = int(passes.sum())
        interval = stats.binomtest(hits, number).proportion_ci(0.95, "exact")
        values = np.array([each["domain"] for each in parts])
        p = max(
            stats.fisher_exact(
                [
                    [(passes & good & of).sum(), (~passes & good & of).sum()],
                    [(passes & ~good & of).sum(), (~passes & ~good & of).sum()],
                ],
                "greater",
            ).pvalue
            for of in (
                [values == "a", values == "b"] if "by" in options else [values != ""]
            )
        )
        where = " in the domain where p is largest" if "by" in options else ""
        figures = (
            guarantee.passing,
            guarantee.precision,
            guarantee.precision_low,
            guarantee.precision_high,
            guarantee.p,
        )
        wanted = (
            number,
            hits / number,
            interval.low,
            interval.high,
            min(1.0, p * len(options.get("temperatures", [0]))),
        )
        assert figures == pytest.approx(wanted, abs=1e-12)
        assert (
            f"{hits / number:.3f} [{interval.low:.2f}, {interval.high:.2f}] among those that pass "
            f"({number}), 0.500 among all (p < 0.001, Fisher's exact test{where})."
        ) in found.sentence


def test_a_gate_that_passes_good_and_rejected_answers_alike_is_not_recommended(
    tcva: Run,  # noqa: F811  # the fixture
) -> None:
    # 98 of 1 152 rejected answers and 72 of 671 good ones pass.
    numbers = [98, 1054, 72, 599]
    counts = np.repeat([[9, 1, 0, 0, 0], [0, 0, 0, 0, 1]] * 2, numbers, axis=0)
    ratings = np.repeat([0.0, 0.0, 1.0, 1.0], numbers)
    found = calibrate(counts, ratings, max_false_pass=0.1)
    assert found.settings["guarantee"]["p"] == pytest.approx(
        stats.fisher_exact([[72, 599], [98, 1054]], "greater").pvalue, abs=1e-12
    )
    assert found.settings["recommended"] is None
    assert (
        "is certified but not recommended, since it does not pass good"
        in found.sentence
    )
    assert (
        "98 of 1152 rejected answers (rated below 0.5) and 72 of 671" in found.sentence
    )
    with pytest.raises(InvalidValueError, match="certified but not recommended"):
        recommended(found)
    good: dict[str, Any] = {"answer": "Nothing of this stands there.", "human": 1}
    write(
        "samples.jsonl",
        *(record(i, **(good if i % 2 else {**good, "human": 0})) for i in range(80)),
    )
    tcva("evaluate", "samples.jsonl", "--judge", "lexical", "--out", "judged.jsonl")
    limit = ["calibrate", "judged.jsonl", "--human", "human", "--max-false-pass", "0.1"]
    run = tcva(*limit, "--out", "tcva.json", code=1)
    assert "is certified but not recommended" in " ".join(run.out.split())
    assert "not written: tcva.json: no threshold is recommended" in run.text
    assert not Path("tcva.json").exists()
    [row] = guarantee_table(table_of(0, 60, 1.0), Limits(min_true_pass=0.5)).records
    assert (row["precision"], row["p"], row["recommended"]) == (0.25, 1.0, False)
    table = guarantee_table(table_of(0, 60, 1.0), Limits(min_true_pass=0.5))
    assert "m: certified, but good answers do not pass significantly" in table.notes[1]


@needs_paper_data
def test_the_papers_stored_verdicts() -> None:
    """No temperature catches what scores 1 on SummEval; the score of a second judge does."""
    sets, found = read_folder(FOLDER), dict[tuple[str, str], Any]()
    for name, table in sets.items():
        scored = with_fused(table.with_method("tcva", table.at(0.5)), "tcva + ragas")
        for row in guarantee_table(scored, TEN).records:
            found[name.partition("_")[2], row["method"]] = row.get("true_pass")
    assert found["", "ragas"] is found["rel", "ragas"] is found["", "tcva"] is None
    shares = [found[each] for each in (("rel", "tcva"), ("", FUSED), ("rel", FUSED))]
    assert shares == pytest.approx([21 / 114, 40 / 62, 20 / 114])
    floors = calibrate(
        sets["summeval"], temperatures=[0.1, 0.5, 0.9], max_false_pass=0.1
    )
    assert [row["at_threshold_1"] for row in floors.records("guarantee")] == [
        12 / 108
    ] * 3
    assert f"12 of 108 rejected answers {FULL}" in floors.sentence


def test_a_difference_of_digits_that_are_not_shown_is_shown() -> None:
    guarantee = Guarantee(**calibrate(drawn(7), **TENTH).settings["guarantee"])
    setting = {**guarantee.setting, "threshold": 0.78146912345}
    certified = guarantee.model_copy(update={"setting": setting}).with_digest()
    typed = ScoringConfig(**setting).changed(threshold=0.781469)
    lost = check_guarantee(certified, guarantee.judged_by, typed)
    assert lost.state == "lost"
    assert lost.text.endswith("threshold 0.781469 instead of 0.78146912345")


def test_a_gate_that_tells_only_the_values_of_a_field_apart_is_not_recommended() -> (
    None
):
    # In "a" 9 of 10 are good and all pass, in "b" 1 of 10 is and none passes.
    numbers = [180, 20, 20, 180]
    counts = np.repeat([[9, 1, 0, 0, 0]] * 2 + [[0, 0, 0, 0, 1]] * 2, numbers, axis=0)
    human = np.repeat([1.0, 0.0, 1.0, 0.0], numbers)
    metadata = tuple({"domain": value} for value in "a" * 200 + "b" * 200)
    names = tuple(f"s{i}" for i in range(400))
    table = ScoreTable(
        names,
        (),
        np.empty((400, 0)),
        human,
        counts=counts[:, None].astype(float),
        metadata=metadata,
    )
    wide: dict[str, Any] = {"max_false_pass": 0.8, "human_threshold": 0.5}
    # 10 of the 20 rejected answers of "a" fail, so that the limit holds there.
    counts[180:190] = [0, 0, 0, 0, 1]
    table = replace(table, counts=counts[:, None].astype(float))
    assert calibrate(table, **wide).settings["recommended"] is not None
    found = calibrate(table, by="domain", **wide)
    ps = [
        stats.fisher_exact(each, "greater").pvalue
        for each in ([[180, 0], [10, 10]], [[0, 20], [0, 180]])
    ]
    assert found.settings["guarantee"]["passing"] == 190
    assert found.settings["guarantee"]["p"] == pytest.approx(max(ps), abs=1e-12)
    assert found.settings["recommended"] is None
