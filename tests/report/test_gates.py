"""Gates on a table of scores: every sample that was handed in counts, to the last digit."""

import math
import re
from collections.abc import Sequence

import numpy as np
import pytest

from tcva_adapters.compare import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report import Gates, changes, evaluation
from tcva_adapters.report.failing_samples import gate_lines, worst
from tcva_adapters.report.gates import Gate, exit_code

LATE, REFUSAL = "timeout: late", "refusal: declined"


def table(
    *scores: float | str, name: str = "m", skipped: int = 0, **more: object
) -> ScoreTable:
    """One method; a text says why a sample has no score."""
    names = tuple(f"s{n}" for n in range(len(scores)))
    return ScoreTable(
        names,
        (name,),
        np.array([[math.nan if isinstance(score, str) else score] for score in scores]),
        reasons={
            (s, name): why
            for s, why in zip(names, scores, strict=True)
            if isinstance(why, str)
        },
        skipped=skipped,
        **more,  # type: ignore[arg-type]  # fields of the table
    )


def failed(
    found: ScoreTable, *gates: str, before: ScoreTable | None = None
) -> list[str]:
    records = Gates.of(gates).judge(found, before)
    return [record["text"] for record in records if not record["passed"]]


@pytest.mark.parametrize(("text", "gate"), [
    ("mean>=0.8", Gate("mean", 0.8)),
    (" tcva T=0.5 : pass_rate >= 0.9 @ 95 %", Gate("pass_rate", 0.9, "tcva T=0.5", 0.95)),
    ("m by openai:gpt:coverage>=1", Gate("coverage", 1.0, "m by openai:gpt")),
    ("change>=-0.02@99.5%", Gate("change", -0.02, "", 0.995)),
    ("stars:mean>=3.5", Gate("mean", 3.5, "stars")),
])  # fmt: skip
def test_a_gate_is_written(text: str, gate: Gate) -> None:
    assert Gate.of(text) == gate


@pytest.mark.parametrize(("gates", "said"), [
    (["much"], "'much': write"), (["mean>=nan"], "write "),
    (["pass-rate>=0.5"], "no figure 'pass-rate'; use mean, pass_rate, coverage or change"),
    (["mean>=1.5"], r"between 0 and 1, got 1.5"), (["change>=-2"], r"between -1 and 1, got -2"),
    (["m:pass_rate>=60"], "got 60; for 60 % write 0.6"),
    (["mean>=0.5@40%"], "confidence must be above 50 %"),
    (["coverage>=0.5@95%"], "coverage takes no confidence"),
    (["n:mean>=0.5"], "gate on 'n': no such method; the methods are m"),
    (["change>=0"], "needs a baseline"),
])  # fmt: skip
def test_what_is_no_gate_is_refused(gates: Sequence[str], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        Gates.of(gates).check(["m"])


def test_a_gate_is_exact_and_says_so() -> None:
    assert failed(table(0.8 - 1e-12), "mean>=0.8") == ["m: mean 0.799999999999 < 0.8"]
    assert failed(table(0.8), "mean>=0.8") == []
    (record,) = Gates.of("mean>=0.1234567").judge(table(0.12345672))
    assert record["text"] == "m: mean 0.1235 >= 0.1234567"


def test_a_gate_without_a_method_is_for_all_that_are_not_named() -> None:
    scores = ScoreTable(("s",), ("a", "b", "c"), np.array([[0.6, 0.6, 0.4]]))
    missed = failed(scores, "mean>=0.5", "b:mean>=0.9", "a:pass_rate>=1")
    assert missed == ["b: mean 0.600 < 0.9", "c: mean 0.400 < 0.5"]


def test_failures_fail_a_gate_unless_a_coverage_was_asked_for() -> None:
    """Every figure, the change since a baseline too: 25 of 30 samples failed here."""
    lost = table(*[1.0] * 5, *[LATE] * 25)
    before = table(*[0.9] * 30)
    for gate in ("mean>=0", "pass_rate>=0", "change>=-0.02"):
        (said,) = failed(lost, gate, before=before)
        assert said.startswith("m: 25 of 30 samples cannot pass: the judge")
        assert failed(lost, gate, "coverage>=0.1", before=before) == []
    assert failed(lost, "coverage>=0.5") == ["m: coverage 0.167 < 0.5"]
    assert failed(table(1.0, REFUSAL, "unscored: no_claims"), "mean>=0.5") == []
    assert (
        len(failed(table(1.0, "no row"), "mean>=0.5")) == 1
    )  # imported scores lack one


def test_what_claims_nothing_fails_no_gate_and_what_lacks_contexts_does() -> None:
    silent = table(1.0, REFUSAL, "unscored: no_claims")
    assert failed(silent, "mean>=0.5") == failed(silent, "coverage>=1") == []
    for reason in ("empty_context: no contexts were retrieved", "too_long: 300 claims"):
        said = failed(table(1.0, reason), "pass_rate>=1")[-1]
        assert said.startswith("m: 1 of 2 samples cannot pass:")
        assert failed(table(1.0, reason), "coverage>=1") == ["m: coverage 0.500 < 1"]


def test_skipped_lines_count_as_samples_of_the_file() -> None:
    """9 of 10 unusable lines are no coverage of 1."""
    found = table(1.0, skipped=9)
    assert failed(found, "coverage>=0.95") == ["m: coverage 0.100 < 0.95"]
    assert failed(found, "mean>=0.5")[0].startswith("m: 9 of 10 samples cannot pass")
    report = evaluation(found)
    assert report.records("methods")[0]["coverage"] == 0.1


def test_nothing_judged_is_no_pass() -> None:
    nothing = table(LATE, REFUSAL)
    assert exit_code(nothing) == 2
    assert exit_code(nothing, Gates.of("coverage>=0").judge(nothing)) == 2
    assert failed(nothing, "mean>=0", "coverage>=0") == [
        "m: mean has no value, 0 is required"
    ]
    some = table(0.5)
    codes = [
        exit_code(some, Gates.of(gate).judge(some))
        for gate in ("mean>=0.5", "mean>=0.6")
    ]
    assert [exit_code(some), *codes] == [0, 0, 1]


def test_a_confidence_takes_the_lower_bound() -> None:
    """Clopper and Pearson: of 20 that all pass, the rate is at least .05 ** (1 / 20)."""
    perfect = table(*[1.0] * 20)
    (record,) = Gates.of("pass_rate>=0.8@95%").judge(perfect)
    assert (record["reached"], record["value"]) == (
        pytest.approx(0.05 ** (1 / 20), abs=1e-9),
        1.0,
    )
    grouped = table(*[1.0] * 20, groups=tuple("a" * 20))
    (said,) = failed(grouped, "mean>=0.5@95%")
    assert re.search(
        r"with 95 % confidence at least 0\.05\d? \(1 groups\) < 0\.5", said
    )
    (said,) = failed(table(3.0), "m:mean>=2@95%")
    assert said == "m: mean has no lower bound, as scores lie outside [0, 1]"


def test_what_changed() -> None:
    before = table(0.9, 0.2, 0.7, 0.6, 0.5)
    now = table(0.1, 0.8, LATE, 0.6, 0.5)
    report = changes(before, now)
    assert [r["sample"] for r in report.records("newly fail")] == ["s2", "s0"]
    assert [r["sample"] for r in report.records("newly pass")] == ["s1"]
    (row,) = report.records("changes")
    assert (row["samples"], row["change"]) == (4, pytest.approx(-0.05))
    assert (row["before"], row["now"]) == (pytest.approx(0.55), pytest.approx(0.5))
    (record, lost) = Gates.of("change>=-0.1").judge(now, before)
    assert (record["passed"], lost["passed"]) == (True, False)
    same = evaluation(now, Gates.of(["change>=0", "coverage>=0"]), before)
    named, behind = worst(same, now)
    assert [(s.method, s.place) for s in named[:2]] == [("m", 2), ("m", 0)]
    assert behind == 2
    with pytest.raises(InvalidValueError, match=r"other.* m"):
        changes(table(0.5, name="other"), now)


def test_samples_behind_failed_gates_take_turns() -> None:
    scores: list[float | str] = [*(n / 100 for n in range(50)), *[LATE] * 9]
    found = evaluation(table(*scores), Gates.of(["mean>=0.8", "coverage>=1"]))
    named, behind = worst(found, table(*scores))
    assert [sample.place for sample in named] == [0, 50, 1, 51, 2, 52, 3, 53, 4, 54]
    assert behind == 59
    # Only if all pass are those below the mean asked for listed.
    assert [s.place for s in worst(found, table(0.6, 0.7, 0.9))[0]] == [0, 1]
    lines = list(gate_lines(found, table(*scores)))
    assert lines[2:4] == ["samples (10 of 59 shown):", "  s0: 0.000 < 0.5"]
    assert lines[4] == "  s50: no score: timeout: late"
