"""`diagnose`: criteria joined claim by claim, the measures of RAGChecker, and causes."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.diagnosis import (
    Figures,
    Side,
    by_arrays,
    by_loops,
    by_ragchecker,
    draw,
    labels,
    load_ragchecker,
)
from tcva_adapters import TCVA, Assessment, ClaimVerdict, Result, Sample
from tcva_adapters.cli.app import run
from tcva_adapters.compare import diagnose
from tcva_adapters.compare.diagnosis.causes import (
    Cause,
    ClaimLabels,
    causes,
    measures,
)
from tcva_adapters.compare.diagnosis.joined import DIAGNOSED, diagnosis
from tcva_adapters.compare.scores.score_reader import read_scores
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.writer import write_results

pytest.importorskip("scipy", reason="the extra stats")


def known(figures: Figures) -> dict[str, float]:
    """Figures as numbers, nan where there is none."""
    return {
        name: math.nan if value is None else value for name, value in figures.items()
    }


def test_measures_are_those_of_the_definitions() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        drawn = draw(rng)
        expected = pytest.approx(known(by_loops(drawn)), abs=1e-12, nan_ok=True)
        assert known(by_arrays(drawn)) == expected


@pytest.mark.slow
def test_measures_are_those_of_ragchecker(tmp_path: Path) -> None:
    try:
        formulas, container = load_ragchecker(tmp_path)
    except subprocess.CalledProcessError:
        pytest.skip("pip cannot download ragchecker here")
    rng = np.random.default_rng(36)
    n_compared = 0
    for _ in range(200):
        drawn = draw(rng)
        theirs = by_ragchecker(drawn, formulas, container)
        ours = by_arrays(drawn)
        assert ours.keys() == theirs.keys()
        for name, value in ours.items():
            n_compared += value is not None
            expected = 0.0 if value is None else value  # where it is empty
            assert theirs[name] == pytest.approx(expected, abs=1e-9), name
    assert n_compared > 1000


SIDES = st.lists(
    st.tuples(st.booleans(), st.lists(st.booleans(), min_size=3, max_size=3)),
    max_size=6,
)


@given(SIDES, SIDES)
def test_every_wrong_and_every_missing_claim_has_one_cause(
    response: Side, reference: Side
) -> None:
    sides = labels(response, 3), labels(reference, 3)
    wrong, missing = causes(*sides)
    assert [bool(cause) for cause in wrong] == [not right for right, _ in response]
    assert [bool(cause) for cause in missing] == [not said for said, _ in reference]
    measured = measures(*sides)
    for cause, name in (
        (Cause.RELEVANT_PASSAGE, "noise_sensitivity_in_relevant"),
        (Cause.IRRELEVANT_PASSAGE, "noise_sensitivity_in_irrelevant"),
        (Cause.HALLUCINATION, "hallucination"),
    ):
        if not math.isnan(measured[name]):
            assert (wrong == cause).mean() == pytest.approx(measured[name])
    if response and reference:
        parts = ("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant")
        total = sum(measured[name] for name in ("precision", "hallucination", *parts))
        assert total == pytest.approx(1.0)


def test_where_a_quote_is_unknown_so_is_what_depends_on_passages() -> None:
    """A supported claim of the reference without a quote may stand in any passage."""

    def one(agrees: float, passages: list[bool], grounded: float = 1.0) -> ClaimLabels:
        return ClaimLabels(
            np.array([agrees]), np.array([grounded]), np.array([passages])
        )

    first, second, unknown = [True, False], [False, True], [False, False]
    noise = "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"
    for wrong, needed, cause in (
        (unknown, first, "some passage"),
        (first, unknown, "some passage"),
        (second, first, "irrelevant passage"),
        ([True, True], first, "relevant passage"),
    ):
        sides = one(0.0, wrong), one(1.0, needed)
        assert causes(*sides)[0].tolist() == [cause]
        measured = measures(*sides, n_passages=2)
        for name in noise:
            assert math.isnan(measured[name]) == (unknown in (wrong, needed))
        precision = math.nan if needed == unknown else 0.5
        assert measured["context_precision"] == pytest.approx(precision, nan_ok=True)
        assert measured["hallucination"] == 0.0
    # A passage that is known to be relevant is so, whatever else is unknown.
    both = ClaimLabels(np.ones(2), np.ones(2), np.array([first, unknown]))
    assert causes(one(0.0, first), both)[0].tolist() == ["relevant passage"]
    assert causes(one(0.0, second), both)[0].tolist() == ["some passage"]


def test_a_quote_counts_for_each_passage_that_holds_it() -> None:
    sample = Sample(
        id="a", response="We open at nine.", reference="Entry costs ten euros.",
        contexts=["We open at nine.", "We open at nine. Entry costs ten euros."],
    )  # fmt: skip
    results = {
        name: [TCVA(name, judge="lexical").evaluate(sample)] for name in DIAGNOSED
    }
    with_texts = diagnose(results, samples=[sample])
    [wrong, missing] = with_texts.records("claims")
    assert (wrong["cause"], wrong["passages"]) == ("relevant passage", "1, 2")
    assert (missing["cause"], missing["passages"]) == ("not used", "2")
    assert diagnose(results).records("claims")[0]["cause"] == "irrelevant passage"
    # Levels alone come without quotes.
    bare = {
        name: [
            Result(
                result.assessment.model_copy(
                    update={
                        "claims": tuple(
                            claim.model_copy(update={"evidence": "", "context": None})
                            for claim in result.claims
                        )
                    }
                )
            )
        ]
        for name, [result] in results.items()
    }
    report = diagnose(bare, samples=[sample])
    assert report.records("claims")[0]["cause"] == "some passage"
    means = {row["measure"]: row["mean"] for row in report.records("measures")}
    assert means["context_precision"] is means["noise_sensitivity_in_relevant"] is None
    assert means["claim_recall"] == 1.0


LEVELS = {True: "fully", False: "none"}


def judged(
    criterion: str,
    claims: list[tuple[str, str | None, int]],
    sample: str | None = "a",
    **fields: Any,
) -> Result:
    """A result with these claims: text, level, and passage of a sound quote (0: none)."""
    verdicts = tuple(
        ClaimVerdict(
            claim=text,
            verdict=None if level is None else Verdict(level),
            evidence="a quote" if passage else "",
            context=passage or None,
        )
        for text, level, passage in claims
    )
    return Result(
        Assessment(
            criterion=criterion,
            judge="given",
            prompt_version="given",
            claims=verdicts,
            sample_id=sample,
            **fields,
        )
    )


def with_rows(results: dict[str, Any], **rows: list[Result]) -> dict[str, Any]:
    return {**results, **rows}


def four(sample: str | None = "a") -> dict[str, Any]:
    """Six claims of a response, and four of a reference, of each cause one."""
    said = ["right.", "in relevant.", "in other.", "in none.", "known.", "Hello!"]
    needed = ["said.", "not retrieved.", "not used.", "known too."]
    levels: dict[str, list[tuple[str | None, int]]] = {
        "correctness": [
            ("fully", 0),
            ("none", 0),
            ("minor", 0),
            ("none", 0),
            ("mostly", 0),
            (None, 0),
        ],
        "faithfulness": [
            ("fully", 1),
            ("mostly", 1),
            ("partial", 2),
            ("minor", 2),
            ("none", 1),
            ("none", 0),
        ],
        "completeness": [("fully", 0), ("none", 0), ("none", 0), ("fully", 0)],
        "context_recall": [("fully", 1), ("none", 1), ("fully", 1), ("none", 0)],
    }
    return {
        criterion: [
            judged(
                criterion,
                [
                    (text, *label)
                    for text, label in zip(
                        said if criterion in DIAGNOSED[:2] else needed,
                        labels,
                        strict=True,
                    )
                ],
                sample,
            )
        ]
        for criterion, labels in levels.items()
    }


def test_claims_are_joined_by_place_and_each_gets_its_cause() -> None:
    found = diagnosis(read_scores(four()))
    assert [
        (claim.of, claim.place, claim.claim, cause.value, claim.passages)
        for claim, cause in found.faults
    ] == [
        ("response", 1, "in relevant.", "relevant passage", (1,)),
        ("response", 2, "in other.", "irrelevant passage", (2,)),
        ("response", 3, "in none.", "hallucination", ()),
        ("reference", 1, "not retrieved.", "not retrieved", ()),
        ("reference", 2, "not used.", "not used", (1,)),
    ]
    assert (found.needed, found.left_out) == (4, 1)
    report = diagnose(four())
    assert report.sentence == (
        "3 wrong claims: 1 from passages that also hold needed facts, 1 from other passages, 1 from none "
        "(hallucination). 2 missing claims (of 4 needed): 1 not retrieved (retriever), 1 retrieved and "
        "not used (generator)."
    )
    assert "1 claim left out, which one of two criteria calls none" in report.notes
    assert [row["passages"] for row in report.records("claims")] == [
        "1",
        "2",
        None,
        None,
        "1",
    ]


def test_the_claim_threshold_is_the_line_between_right_and_wrong() -> None:
    strict = diagnose(four(), scoring=ScoringConfig(claim_threshold="mostly"))
    line = "Claims count as supported from the weight 0.9 on (claim_threshold)."
    assert line in strict.notes
    causes_of = {row["claim"]: row["cause"] for row in strict.records("claims")}
    assert (
        causes_of["in other."] == "hallucination"
    )  # the contexts support it partially
    lenient = diagnose(four(), scoring=ScoringConfig(claim_threshold="minor"))
    assert "in other." not in {row["claim"] for row in lenient.records("claims")}


def test_a_lowered_or_unsound_quote_names_no_passage() -> None:
    results = four()
    claims = list(results["faithfulness"][0].assessment.claims)
    claims[1] = claims[1].model_copy(update={"evidence_check": EvidenceCheck.NOT_FOUND})
    claims[2] = claims[2].model_copy(
        update={
            "evidence_check": EvidenceCheck.NOT_FOUND,
            "original_verdict": Verdict.FULLY,
        }
    )
    changed = results["faithfulness"][0].assessment.model_copy(
        update={"claims": tuple(claims)}
    )
    faults = diagnosis(
        read_scores(with_rows(results, faithfulness=[Result(changed)]))
    ).faults
    found = {claim.claim: (cause.value, claim.passages) for claim, cause in faults}
    assert found["in relevant."] == ("some passage", ())
    assert found["in other."] == ("hallucination", ())


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ({"correctness"}, {"unknown": 3}),
        ({"correctness", "faithfulness"}, {"some passage": 2, "hallucination": 1}),
        ({"context_recall"}, {"not retrieved": 2}),
        ({"completeness"}, {"unknown": 2}),
        ({"completeness", "context_recall"}, {"not retrieved": 1, "not used": 1}),
        ({"faithfulness"}, {}),
    ],
)
def test_with_fewer_criteria_it_says_what_can_be_said(
    criteria: set[str], expected: dict[str, int]
) -> None:
    results = {name: rows for name, rows in four().items() if name in criteria}
    report = diagnose(results)
    assert {row["cause"]: row["number"] for row in report.records("causes")} == expected
    measured = {row["measure"]: row["mean"] for row in report.records("measures")}
    assert (measured["precision"] is None) == ("correctness" not in criteria)
    assert (measured["claim_recall"] is None) == ("context_recall" not in criteria)
    assert measured["noise_sensitivity_in_relevant"] is None
    [below] = [n for n in report.table("measures").notes if "in_relevant" in n]
    assert below.endswith(
        "it needs faithfulness, correctness, context_recall, and quotes"
    )


def unscored(criterion: str, reason: Reason, sample: str = "a") -> list[Result]:
    why = Unscored(reason=reason, detail="no answer")
    return [judged(criterion, [], sample, unscored=why)]


def test_a_failure_is_no_fault_of_retriever_or_generator() -> None:
    for criterion in DIAGNOSED:
        rest = {name: rows for name, rows in four().items() if name != criterion}
        failed = unscored(criterion, Reason.JUDGE_ERROR)
        with_failure = diagnose(with_rows(four(), **{criterion: failed}))
        without = diagnose(rest)
        assert with_failure.records("measures") == without.records("measures")
        expected = without.records("causes")
        if criterion == "completeness":  # it was asked for, so what is missing is open
            expected = [row for row in expected if row["claims"] == "wrong"]
            assert "missing" not in with_failure.sentence
        assert with_failure.records("causes") == expected
        assert with_failure.sentence.endswith(". 1 judgement without a score.")
        [row] = with_failure.records("unscored")
        assert (row["method"], row["reason"]) == (criterion, "judge_error")


def test_needed_and_missing_claims_are_of_the_same_samples() -> None:
    results = four()
    for name, rows in four("b").items():
        results[name] += rows
    both = diagnose(results).sentence
    assert "4 missing claims (of 8 needed): 2 not retrieved" in both
    for reason, missing in (
        (Reason.JUDGE_ERROR, "2 missing claims (of 4 needed): 1 not retrieved"),
        # Of nothing an answer says nothing: what was retrieved was not used.
        (Reason.EMPTY_RESPONSE, "6 missing claims (of 8 needed): 3 not retrieved"),
    ):
        rows = [results["completeness"][0], *unscored("completeness", reason, "b")]
        sentence = diagnose(with_rows(results, completeness=rows)).sentence
        assert missing in sentence
    lost = with_rows(results, completeness=results["completeness"][:1])
    assert "2 missing claims (of 4 needed)" in diagnose(lost).sentence


def test_an_empty_context_supports_no_claim() -> None:
    empty = {
        name: unscored(name, Reason.EMPTY_CONTEXT)
        for name in ("faithfulness", "context_recall")
    }
    report = diagnose(with_rows(four(), **empty))
    assert {row["cause"]: row["number"] for row in report.records("causes")} == {
        "hallucination": 3,
        "not retrieved": 2,
    }
    measured = {row["measure"]: row["mean"] for row in report.records("measures")}
    assert measured["claim_recall"] == measured["faithfulness"] == 0.0
    assert measured["context_precision"] is None


def test_a_refusal_says_none_of_the_claims_of_the_reference() -> None:
    sample = Sample(
        id="a", input="When do you open?", response="I'm sorry, but I can't answer that.",
        reference="We open at nine.", contexts=["We open at nine."],
    )  # fmt: skip
    for response in (sample.response, " "):
        judged_sample = sample.model_copy(update={"response": response})
        results = {
            name: [TCVA(name, judge="lexical").evaluate(judged_sample)]
            for name in DIAGNOSED
        }
        sentence = diagnose(results).sentence
        assert sentence.startswith("1 missing claim (of 1 needed): 1 retrieved and not")


def test_where_nothing_has_a_score_the_command_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for name in DIAGNOSED:
        files.append(str(tmp_path / f"{name}.jsonl"))
        write_results(files[-1], unscored(name, Reason.JUDGE_ERROR))
    assert run(["diagnose", *files]) == 2
    assert "no claim was judged; 'a': judge_error" in capsys.readouterr().err
    # A score that stands for a failure is no judgement.
    failed = unscored("completeness", Reason.JUDGE_ERROR)[0].assessment
    instead = [Result(failed, ScoringConfig(on_unscored=0.0))]
    with pytest.raises(InvalidSampleError, match="no claim was judged"):
        diagnose(instead)
    sentence = diagnose(with_rows(four(), completeness=instead)).sentence
    assert sentence.endswith(". 1 judgement without a score.")


def test_without_correctness_claims_in_no_passage_are_counted() -> None:
    report = diagnose({"faithfulness": four()["faithfulness"]})
    assert report.sentence == (
        "No passage supports 3 claims; whether that is wrong needs correctness."
    )
    supported = [judged("faithfulness", [("right.", "fully", 1)])]
    assert diagnose(supported).sentence == "No claim is known to be wrong or missing."


def test_files_with_different_thresholds_need_one() -> None:
    results = four()
    strict = ScoringConfig(claim_threshold="mostly")
    [other] = results["faithfulness"]
    mixed = with_rows(results, faithfulness=[Result(other.assessment, strict)])
    with pytest.raises(
        InvalidValueError, match=r"weights on, \[0\.7, 0\.9\].*--set claim_threshold"
    ):
        diagnose(mixed)
    assert diagnose(mixed, scoring=strict).records("causes")


def test_claims_that_a_model_lists_are_refused_even_if_they_are_alike() -> None:
    results = four()
    listed = [
        Result(
            result.assessment.model_copy(update={"prompt_version": "tcva/5 llm yes_no"})
        )
        for result in results["completeness"]
    ]
    with pytest.raises(InvalidSampleError, match="claims='split'"):
        diagnose(with_rows(results, completeness=listed))
    assert diagnose({"completeness": listed}).records("causes")  # nothing is joined


def test_passages_are_counted_by_id() -> None:
    samples = [
        Sample(id=name, response="Entry is free.", contexts=contexts, context_ids=ids)
        for name, contexts, ids in (
            ("a", ["Entry is free.", "We open at nine."], ["entry", "hours"]),
            ("b", ["We close at six.", "Entry is free."], ["end", "entry"]),
            ("c", ["We open at nine.", "Entry is free."], ["hours", "entry"]),
        )
    ]
    results = TCVA(judge="lexical").evaluate_many(samples)
    report = diagnose(results, samples=samples)
    by_id = report.records("passages by id")
    assert [(row["id"], row["retrieved"], row["used"]) for row in by_id] == [
        ("hours", 2, 0),
        ("end", 1, 0),
        ("entry", 3, 3),
    ]
    assert "passages by id (3 rows)" in report.text()


def test_turns_without_a_reference_are_refused_with_the_way_out() -> None:
    turn = {"conversation": "c1", "turn": 1}
    sample = Sample(response="We open at nine.", metadata=turn)
    with pytest.raises(
        InvalidSampleError,
        match=r"has no reference.* a row with conversation, turn and reference$",
    ):
        TCVA("correctness", judge="lexical").evaluate(sample)
    whole = sample.model_copy(update={"reference": "We open at nine."})
    result = TCVA("correctness", judge="lexical").evaluate(whole)
    assert diagnose([result]).records("measures")[0]["mean"] == 1.0


def test_samples_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "bot.jsonl"
    path.write_text('{"id": "a", "contexts": ["a quote", "two", "three", "four"]}\n')
    for samples in (path, str(path)):
        assert diagnose(four(), samples=samples).records("passages")
    with pytest.raises(InvalidSampleError, match="dict"):
        diagnose(four(), samples=[{"id": "a"}])  # type: ignore[list-item]  # as a user may


def test_what_cannot_be_joined_is_refused_with_the_way_out() -> None:
    results = four()
    other = judged("faithfulness", [("Another text.", "fully", 1)] * 6)
    with pytest.raises(
        InvalidSampleError, match=r"sample 'a': claim 1 is 'right\.'.*split"
    ):
        diagnose(with_rows(results, faithfulness=[other]))
    shorter = judged("faithfulness", [("right.", "fully", 1)])
    with pytest.raises(InvalidSampleError, match=r"claim 2 is 'in relevant\.'.* ''"):
        diagnose(with_rows(results, faithfulness=[shorter]))
    with pytest.raises(InvalidSampleError, match="occur twice"):
        diagnose({name: rows * 2 for name, rows in results.items()})
    with pytest.raises(InvalidValueError, match=r"each once.* got correctness"):
        diagnose(with_rows(results, again=results["faithfulness"]))
    with pytest.raises(InvalidValueError, match="got answer_relevancy"):
        diagnose([judged("answer_relevancy", [("x.", "fully", 0)])])


def test_samples_without_ids_are_joined_only_where_all_files_have_the_same_rows() -> (
    None
):
    results = four(None)
    assert len(diagnose(results).records("claims")) == 5
    uneven = {**results, "context_recall": results["context_recall"] * 2}
    with pytest.raises(InvalidSampleError, match="ids are missing"):
        diagnose(uneven)


def test_a_sample_missing_in_one_file_is_counted() -> None:
    results = four()
    more = four("b")
    report = diagnose(
        {
            name: rows + more[name] * (name != "context_recall")
            for name, rows in results.items()
        }
    )
    assert (
        "1 sample came without a row of context_recall" in report.table("causes").notes
    )
    found = {
        row["sample"]: row["cause"]
        for row in report.records("claims")
        if row["claim"] == "in other."
    }
    assert found == {"a": "irrelevant passage", "b": "some passage"}


def test_it_starts_from_the_largest_file_and_says_which_samples_it_lacks() -> None:
    more = four("b")
    results = {name: rows + more[name] for name, rows in four().items()}
    short = {"completeness": results.pop("completeness")[:1], **results}
    report = diagnose(short)
    assert report.sentence.startswith("6 wrong claims")
    line = "1 sample came without a row of completeness"
    assert line in report.table("causes").notes
    right: dict[str, Any] = {
        "correctness": [judged("correctness", [("right.", "fully", 0)])],
        "faithfulness": [
            judged("faithfulness", [("right.", "fully", 1)], name) for name in "ab"
        ],
    }
    assert (
        diagnose(right).notes[-1] == "1 sample came without a row of correctness"
    )  # without a table of causes


def test_notes_say_only_what_applies() -> None:
    report = diagnose({"faithfulness": four()["faithfulness"]})
    assert not [note for note in report.notes if "left out" in note]
    assert not [note for note in report.notes if "--samples" in note]
    both = diagnose(four())
    assert [note for note in both.notes if "checked with --samples" in note]
    texts = [Sample(id="a", contexts=["a quote", "two"])]
    known = diagnose(four(), samples=texts)
    assert not [note for note in known.notes if "checked with --samples" in note]
    assert "group" not in both.records("claims")[0]
    three = {
        name: [row for sample in "abc" for row in four(sample)[name]]
        for name in DIAGNOSED
    }
    [why] = diagnose(three).table("causes").notes
    assert "it needs 10 samples, got 3" in why


def test_intervals_count_groups() -> None:
    many: dict[str, list[Result]] = {name: [] for name in DIAGNOSED}
    for number in range(24):
        for name, [result] in four(f"s{number}").items():
            judgement = result.assessment.model_copy(
                update={"metadata": {"document": f"d{number // 8}"}}
            )
            many[name].append(Result(judgement))
    alone = diagnose(many).records("causes")[0]
    grouped = diagnose(many, group="document")
    assert alone["share_low"] is not None
    assert grouped.records("causes")[0]["share_low"] is None  # three groups are too few
    [why] = grouped.table("causes").notes
    assert why.startswith("no interval (relevant passage, irrelevant passage,")


def test_with_the_samples_passages_are_counted() -> None:
    texts = [Sample(id="a", contexts=["a quote", "two", "three", "four"])]
    report = diagnose(four(), samples=texts)
    measured = {row["measure"]: row["mean"] for row in report.records("measures")}
    assert measured["context_precision"] == 0.25
    assert {row["method"] for row in report.records("passages")} == {
        "faithfulness",
        "context_recall",
    }
    with pytest.raises(InvalidValueError, match="an id of the results, such as 'a'"):
        diagnose(four(), samples=[Sample(id="b", contexts=["one"])])


def test_samples_that_are_not_those_judged_are_refused() -> None:
    sample = Sample(
        id="a", response="Entry is free.", reference="We open at nine. Entry is free.",
        contexts=["Entry is free.", "We close at six.", "We open at nine."],
    )  # fmt: skip
    criteria = ("faithfulness", "context_recall")
    results = {
        name: [TCVA(name, judge="lexical").evaluate(sample)] for name in criteria
    }
    shorter = sample.model_copy(update={"contexts": ("Entry is free.",)})
    another = sample.model_copy(update={"response": "Entry costs ten euros."})
    for other in (shorter, another):
        with pytest.raises(InvalidSampleError, match="contexts judged of 'a' are not"):
            diagnose(results, samples=[other])
    assert diagnose(results, samples=[sample]).records("passages")


def test_the_command_reads_files_and_prints_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for name, rows in four().items():
        files.append(str(tmp_path / f"judged.{name}.jsonl"))
        write_results(files[-1], rows)
    assert run(["diagnose", *files]) == 0
    assert "relevant passage" in capsys.readouterr().out
    assert run(["diagnose", *files, "--json", "--set", "claim_threshold=0.95"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["cause"] for row in printed["tables"]["causes"]} >= {"hallucination"}
    assert run(["diagnose", files[0], files[0]]) == 2
    assert "two methods are named" in capsys.readouterr().err
