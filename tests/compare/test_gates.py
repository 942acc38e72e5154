"""Gates: by method, to the last digit, with the samples that failed them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcva_adapters import TCVA, Assessment, Result, Sample
from tcva_adapters.compare.changes import Changes, changed_since, read_baseline
from tcva_adapters.compare.claim_view import check_wanted, claim_views
from tcva_adapters.compare.evaluation import Evaluation
from tcva_adapters.compare.gates import Gated, Gates, verdict_of
from tcva_adapters.compare.graded import Case, Cases, Graded, grade, grade_tcva
from tcva_adapters.criteria import CRITERIA
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.panel import Panel
from tcva_adapters.printing import text_of
from tcva_adapters.results.assessment import Reason, Unscored
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.settings import ScoringConfig
from tests.support.scripted import ScriptedModel, verdict_json

PASSAGE = "The office opens at nine. Parking is free for visitors."


def graded(*scores: float | None, name: str = "m", failed: int = 0) -> Graded:
    """One method; the first `failed` samples without a score were lost by the judge."""
    cases, left = [], failed
    for number, score in enumerate(scores):
        lost = score is None and left > 0
        left -= lost
        why = "" if score is not None else "timeout: late" if lost else "refusal: declined"
        passed = None if score is None else score >= 0.5
        cases.append(Case(f"s{number}", score, passed, why, is_failure=lost))
    return Graded(name, tuple(cases), 0.5)


def texts(gated: Gated) -> list[str]:
    return [gate.text for gate in gated.failed]


def test_figures_are_of_the_scored_samples() -> None:
    found = graded(0.2, None, 1.0, None, failed=1)
    assert (found.mean, found.pass_rate, found.coverage, found.lost) == (0.6, 0.5, 0.5, 1)
    empty = graded()
    assert (empty.mean, empty.pass_rate, empty.coverage) == (None, None, 1.0)


def test_a_number_is_for_all_that_are_not_named() -> None:
    gates = Gates.of(["0.5", "b=0.9"], 0.5, {"a": 1.0})
    found = gates.judge([graded(0.6, name="a"), graded(0.6, name="b"), graded(0.4, name="c")])
    assert texts(found) == [
        "b: mean score 0.600 < 0.9",
        "c: mean score 0.400 < 0.5",
        "c: pass rate 0.000 < 0.5",
    ]
    assert found.to_dict()["passed"] is False
    assert len(found.to_dict()["checked"]) == 9  # a has a coverage; b and c that nobody was lost


def test_without_gates_nothing_passes_or_fails() -> None:
    found = Gates().judge([graded(0.1)])
    assert found.to_dict() == {"passed": None, "checked": []}
    assert list(found.parts()) == []


def test_without_gates_no_sample_is_looked_at() -> None:
    """A million results that nobody asks about are not read again from their file."""

    def unread(_: object, place: int) -> Case:
        raise AssertionError(place)

    assert Gates().judge([Graded("m", Cases(range(3), unread))]).gates == []
    other = Graded("other", Cases(range(3), unread))
    assert len(Gates.of("m=0.5").judge([graded(0.6), other]).gates) == 2  # and that none was lost


def test_a_gate_is_exact_and_says_so() -> None:
    below = 0.8 - 1e-12
    assert texts(Gates.of(0.8).judge([graded(below)])) == ["m: mean score 0.799999999999 < 0.8"]
    assert texts(Gates.of(0.8).judge([graded(0.8)])) == []
    assert verdict_of(Case("a", 0.49999, passed=False), graded()) == "0.49999 < 0.5"


def test_what_has_no_score_reaches_no_gate() -> None:
    assert texts(Gates.of(0.0).judge([graded(None)])) == [
        "m: there is no mean score, and 0 is asked for"
    ]
    unthreshold = Graded("m", (Case("a", 0.3),))
    assert texts(Gates.of(min_pass_rate=0.0).judge([unthreshold])) == [
        "m: there is no pass rate, and 0 is asked for"
    ]


def test_without_a_mean_the_samples_say_why() -> None:
    found = Gates.of(0.5).judge([graded(None, None, failed=1, name=name) for name in "ab"])
    # Each once: both methods say the same of it.
    assert [(m.name, case.sample) for m, case in found.worst()] == [("a", "s0"), ("a", "s1")]
    assert "s1 (a): no score: refusal: declined" in text_of(found.parts())


def test_a_sample_is_named_once_where_methods_share_its_claims() -> None:
    judged = Assessment.from_verdicts(["none"], sample_id="x")
    methods = [grade(name, [Result(judged, ScoringConfig())]) for name in ("T=0.1", "T=0.9")]
    methods.append(Graded("other", (Case("x", 0.2),)))
    found = Gates.of(0.5).judge(methods).worst()
    assert [method.name for method, _ in found] == ["T=0.1", "other"]


def test_a_number_is_shown_as_it_was_asked_for() -> None:
    (said,) = Gates.of(0.1234567).judge([graded(0.12345672)]).gates[:1]
    assert said.text == "m: mean score 0.1235 >= 0.1234567"


def test_a_judge_that_failed_is_no_pass_unless_coverage_says_so() -> None:
    lost = [graded(1.0, None, None, failed=1)]
    (said,) = texts(Gates.of(0.0).judge(lost))
    assert said.startswith("m: 1 of 3 samples has no score because the judge or the metric failed")
    assert texts(Gates.of(0.0, min_coverage=0.3).judge(lost)) == []
    worst = Gates.of(0.0).judge(lost).worst()
    assert [case.sample for _, case in worst] == ["s1"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("much", "min_score 'much'; give a number, or NAME=NUMBER"),
        ("=0.5", "min_score '=0.5'"),
        ("a=", "min_score 'a='"),
        (["0.5", "0.6"], "is given twice, 0.5 and 0.6"),
        (["a=0.5", "a =0.6"], "of 'a' is given twice"),
        (1.5, r"the gate on the mean score is 1.5; it lies in \[0, 1\]"),
        ("nan", "the gate on the mean score is nan"),
        ("a=inf", "the gate on the mean score of 'a' is inf"),
    ],
)
def test_numbers_that_are_no_gates(given: str | float | list[str], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        Gates.of(given)


def test_a_named_method_may_have_a_scale_of_its_own() -> None:
    assert texts(Gates.of("m=60").judge([graded(55.0)])) == ["m: mean score 55.000 < 60"]
    with pytest.raises(InvalidValueError, match="pass rate of 'm' is 60"):
        Gates.of(min_pass_rate="m=60")


def test_a_name_that_is_unknown_is_refused_or_fails() -> None:
    gates = Gates.of("tcva T=0.5=0.8")
    with pytest.raises(InvalidValueError, match=r"called 'tcva T=0\.5'; there are a, b"):
        gates.check_names(["a", "b"])
    absent = gates.judge([graded(1.0)])  # a fused method that could not be made, say
    assert texts(absent) == ["tcva T=0.5: there are no such scores"]
    assert absent.worst() == []


def test_at_most_ten_samples_are_named_worst_first() -> None:
    many = [
        graded(*(n / 100 for n in range(50)), *[None] * 9, name="a"),
        graded(0.1, 0.9, name="b"),
    ]
    found = Gates.of(0.8, min_coverage=1).judge(many)
    named = [(method.name, case.sample) for method, case in found.worst()]
    lowest, unscored = [("a", f"s{n}") for n in range(5)], [("a", f"s{n}") for n in range(50, 54)]
    assert named == [*lowest, *unscored, ("b", "s0")]


def test_claims_are_named_with_their_reasons_in_80_columns() -> None:
    tcva = TCVA(judge="lexical", threshold=0.9)
    sample = Sample(
        id="x" * 300,
        response=f"Zebras invented {'long' * 50} telephones. The zebra sings at night. "
        "The lion sleeps at noon. The tiger eats at six.",
        contexts=[PASSAGE],
    )
    found = Gates.of(0.9).judge(grade_tcva(tcva, [tcva.evaluate(sample)]))
    lines = text_of(found.parts(), 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("gate failed: faithfulness: mean score 0.")
    text = " ".join(" ".join(lines).split())
    assert "none: Zebras invented" in text
    assert "(not in the passages: " in text
    assert "and 1 more claim below fully" in text


def test_each_judge_of_several_has_a_gate_of_its_own() -> None:
    sample = Sample(id="a", response="It opens at nine.", contexts=[PASSAGE])
    lacking = Sample(id="b", response="It opens at nine.", contexts=[])
    for tcva in (
        TCVA(judge="lexical", fuse=["lexical"]),
        TCVA(
            judge=Panel(
                ["lexical", ScriptedModel([verdict_json((1, "fully", "opens at nine"))] * 3)]
            )
        ),
    ):
        results = tcva.evaluate_many([sample, lacking])
        first, *parts = grade_tcva(tcva, results)
        assert [part.name.partition(" ")[0] for part in parts] == ["faithfulness"] * 2
        assert all(part.is_part for part in parts)
        assert [[case.sample for case in part.cases] for part in parts] == [["a", "b"]] * 2
        gates = Gates.of(["0.5", f"{parts[1].name}=1"])
        found = Evaluation.of(tcva, results, gates=gates)
        assert [gate.method for gate in found.gated.gates if gate.figure == "mean score"] == [
            first.name,
            parts[1].name,
        ]
    with pytest.raises(InvalidValueError, match="there are faithfulness"):
        Evaluation.of(TCVA(judge="lexical"), [], gates=Gates.of("ragas=1"))


def test_the_criteria_are_names_of_gates() -> None:
    for name in CRITERIA:
        assert Gates.of(f"{name}=0.5").least["mean score"] == {name: 0.5}


def test_what_changed() -> None:
    before = graded(0.9, 0.2, 0.7, 0.6)
    now = Graded("m", (*graded(0.1, 0.8, None).cases, Case("new", 1.0, passed=True)), 0.5)
    found = Changes(before, now)
    assert [case.sample for _, case in found.broken] == ["s0", "s2"]
    assert [case.sample for _, case in found.repaired] == ["s1"]
    assert (found.only_before, found.only_now) == (["s3"], ["new"])
    assert found.sentence == (
        "mean score 0.600 before, 0.633 now; on 2 samples of both -0.100 [-0.911, 0.866], pass rate "
        "+0.000 [-0.975, 0.975], 95% intervals; 2 of 3 samples no longer pass, 1 pass now; 1 new; 1 gone"
    )


def test_a_baseline_of_another_judge_says_so(tmp_path: Path) -> None:
    tcva, sample = TCVA(judge="lexical"), Sample(id="a", response="No one.", contexts=[PASSAGE])
    results = [tcva.evaluate(sample)]
    write_assessments(tmp_path / "same.jsonl", results)
    other = results[0].assessment.model_copy(update={"judge": "openai:m"})
    write_assessments(tmp_path / "other.jsonl", [other])
    now = grade_tcva(tcva, results)
    same = changed_since(read_baseline(tmp_path / "same.jsonl", tcva), now)
    assert same is not None
    assert "judged by" not in same.sentence
    changed = changed_since(read_baseline(tmp_path / "other.jsonl", tcva), now)
    assert changed is not None
    assert changed.sentence.endswith("; the baseline was judged by openai:m")


def test_a_long_question_is_a_headline_of_a_few_lines() -> None:
    tcva, sample = TCVA(judge="lexical"), Sample(input="why\n" * 500 + "y" * 200, response="No.")
    lines = text_of(
        claim_views([tcva.result(Assessment.from_verdicts(["none"]))], lambda: [sample], ["all"])
    )
    assert max(map(len, lines.splitlines())) <= 80
    assert lines.count("why") < 100


def test_claims_are_shown_for_what_is_asked_for() -> None:
    tcva = TCVA(judge="lexical")
    samples = [
        Sample(id="good", input="When?", response="It opens at nine.", contexts=[PASSAGE]),
        Sample(id="bad", response="Zebras invented the telephone.", contexts=[PASSAGE]),
        Sample(response="No.", contexts=[]),
    ]
    results = tcva.evaluate_many(samples)

    def shown(*wanted: str) -> list[str]:
        check_wanted(wanted, lambda: samples)
        lines = text_of(claim_views(results, lambda: samples, wanted), 80).splitlines()
        return [line for line in lines if ": When?" in line or ": (no question)" in line]

    assert shown("worst") == ["bad: (no question)", "good: When?"]
    assert shown("all") == ["good: When?", "bad: (no question)", "row-3: (no question)"]
    assert shown("row-3", "good") == ["good: When?", "row-3: (no question)"]
    text = text_of(claim_views(results, lambda: samples, ["row-3"]))
    assert "unscored: empty_context: contexts is empty" in text
    with pytest.raises(InvalidValueError, match=r"no sample 'x' to show; .* good, bad, row-3"):
        shown("x")


def test_unscored_results_say_why() -> None:
    why = Unscored(reason=Reason.TIMEOUT, detail="no answer in 3 s")
    lost = Assessment(criterion="f", judge="j", prompt_version="1", unscored=why)
    (case,) = grade("f", [Result(lost, ScoringConfig())]).cases
    assert (case.why, case.is_failure, case.sample) == ("timeout: no answer in 3 s", True, "row-1")
