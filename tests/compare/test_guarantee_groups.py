"""A guarantee for answers in groups: for the mean over groups or for answers, and what is said of it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra stats")

from tcva_adapters.compare import ScoreTable, calibrate
from tcva_adapters.compare.calibration.certify_setting import guarantee_table
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.guarantee import Limits
from tests.cli.conftest import Run, record, tcva, write  # noqa: F401  # a fixture

ANSWERS: dict[str, Any] = {"per": "answer", "largest_group": 4}
FIFTH: dict[str, Any] = {"max_false_pass": 0.2}


def drawn(sizes: list[int], *, passing: int = 0, grouped: bool = True) -> ScoreTable:
    """Groups of rejected answers of these sizes, the first of which pass whole, and 60 good answers."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    levels = np.where(codes < passing, 0, 4)
    counts = np.zeros((len(codes) + 60, 5))
    counts[np.arange(len(codes)), levels] = 3.0
    counts[len(codes) :, 0] = 3.0
    human = np.repeat([0.0, 1.0], [len(codes), 60])
    groups = (*codes.tolist(), *range(-60, 0))
    return ScoreTable(
        tuple(f"s{number}" for number in range(len(counts))),
        (),
        np.empty((len(counts), 0)),
        human,
        counts=counts[:, None],
        groups=groups if grouped else (),
    )


def test_the_certificate_says_what_it_holds_for() -> None:
    table = drawn([4, 2] * 40, passing=2)
    of_groups = calibrate(table, **FIFTH)
    of_answers = calibrate(table, **FIFTH, **ANSWERS)
    alone = calibrate(drawn([4, 2] * 40, grouped=False), **FIFTH)
    certified = [
        report.settings["guarantee"] for report in (of_groups, of_answers, alone)
    ]
    assert [(each["per"], each["largest_group"]) for each in certified] == [
        (None, None),
        ("answer", 4),
        (None, None),
    ]
    assert [each["false_pass"] for each in certified] == pytest.approx(
        [2 / 80, 6 / 240, 0.0]
    )
    claim = "at most 20 % of the answers that people reject pass"
    assert f"{claim} in the mean over groups (95 % confidence)" in of_groups.sentence
    assert f"{claim} (95 % confidence). Of those rated, 6 of 240" in of_answers.sentence
    assert f"{claim} (95 % confidence). Of those rated, 0 of 240" in alone.sentence
    notes = [" ".join(each.notes) for each in (of_groups, of_answers, alone)]
    assert "the mean of this share over groups (per answer: --per answer)" in notes[0]
    assert "the share of answers, where no group has more than 4 rejected" in notes[1]
    assert "roups" not in notes[2]
    # The default of the largest group, at which these are too few.
    usual = calibrate(table, **FIFTH, per="answer")
    assert (usual.settings["largest_group"], usual.settings["guarantee"]) == (50, None)


@pytest.mark.parametrize(("sizes", "passing", "options", "said"), [
    ([2] * 10, 0, {}, "the limit takes at least 14 groups with a rated rejection, got 10; rate 4 more"),
    ([4] * 10, 0, ANSWERS, "the limit takes about 14 groups with a rated rejection, got 10; rate 4"),
    ([2] * 10, 0, ANSWERS, "the limit takes about 26 groups with a rated rejection, got 10; rate 16"),
    ([4] * 30, 4, {}, "13.3 % of 120 rejected answers (mean over groups) have the score 1"),
    ([4] * 30, 4, ANSWERS, "16 of 120 rejected answers have the score 1"),
])  # fmt: skip
def test_how_many_groups_it_takes(
    sizes: list[int], passing: int, options: dict[str, Any], said: str
) -> None:
    report = calibrate(drawn(sizes, passing=passing), **FIFTH, **options)
    assert report.settings["guarantee"] is None
    assert said in report.sentence


@pytest.mark.parametrize(("grouped", "options", "said"), [
    (True, {"per": "answer"}, "per='answer' needs a limit, max_false_pass"),
    (True, {"largest_group": 4, **FIFTH}, "largest_group=4 needs per='answer' (--per answer)"),
    (True, {"per": "group", "largest_group": 4, **FIFTH}, "largest_group=4 needs per='answer'"),
    (False, {"per": "answer", **FIFTH}, "per='answer' needs groups (--group)"),
    (True, {"per": "answers", **FIFTH}, "per must be 'group' or 'answer', got 'answers'"),
    (True, {"per": "answer", "largest_group": 0, **FIFTH}, "largest_group must be at least 1, got 0"),
    (True, {"per": "answer", "largest_group": 3, **FIFTH}, "a group has 4 answers, and largest_group"),
])  # fmt: skip
def test_refusals(grouped: bool, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        calibrate(drawn([4, 2] * 20, grouped=grouped), **options)
    assert said in str(error.value)


def test_the_command(tcva: Run) -> None:  # noqa: F811  # the fixture
    bad = {"answer": "The museum shows paintings of old ships.", "human": 0}
    write(
        "samples.jsonl",
        *(
            record(i, topic=i // 4, **(bad if i % 2 else {"human": 1}))
            for i in range(120)
        ),
    )
    tcva("evaluate", "samples.jsonl", "--judge", "lexical", "--out", "judged.jsonl")
    limit = ["calibrate", "judged.jsonl", "--human", "human", "--max-false-pass", "0.2"]
    grouped = [*limit, "--group", "topic", "--per", "answer"]
    found = tcva(*grouped, "--largest-group", "2", "--out", "gate.json", "--json").json
    assert found["settings"]["guarantee"]["per"] == "answer"
    held = tcva(
        "evaluate", "samples.jsonl", "--judge", "lexical", "--config", "gate.json"
    )
    assert "at most 20 % of the answers that people reject pass (95 %" in held.text
    assert "a group has 2 answers" in tcva(*grouped, "--largest-group", "1", code=2).err
    assert "--per answer" in tcva(*limit, "--largest-group", "2", code=2).err


def test_the_largest_group_is_about_the_answers_that_a_limit_counts() -> None:
    table = drawn([4, 2] * 40)
    assert table.groups is not None
    one = replace(table, groups=(*table.groups[:240], *["good"] * 60))
    found = calibrate(one, **FIFTH, **ANSWERS).settings["guarantee"]
    assert (found["per"], found["true_pass"]) == ("answer", 1.0)
    with pytest.raises(InvalidValueError, match="a group has 60 answers"):
        calibrate(one, **FIFTH, **ANSWERS, min_true_pass=0.5)


def test_good_answers_that_must_pass() -> None:
    table = drawn([4, 2] * 40)
    pairs = replace(table, groups=tuple(number // 2 for number in range(300)))
    of_answers = calibrate(pairs, min_true_pass=0.8, per="answer", largest_group=2)
    row = of_answers.records("guarantee")[0]
    # 30 pairs, all of which pass: as many as that could fail.
    assert row["true_bound"] == pytest.approx(0.05 ** (1 / 30), abs=0.01)
    assert of_answers.settings["guarantee"]["per"] == "answer"


def test_a_comparison_says_what_limits_hold_for() -> None:
    scores = np.repeat([0.0, 1.0], 60)[:, None]
    table = ScoreTable(
        tuple(f"s{number}" for number in range(120)),
        ("m",),
        scores,
        scores[:, 0],
        groups=tuple(number // 2 for number in range(120)),
    )
    [note, *_] = guarantee_table(table, Limits(**FIFTH)).notes
    assert "people reject pass in the mean over groups (95 % confidence, for" in note
    [note, *_] = guarantee_table(replace(table, groups=()), Limits(**FIFTH)).notes
    assert "people reject pass (95 % confidence, for" in note
