"""What a report can be made of: files, folders, lists and report objects; and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import CCRS, TCVA, Assessment, Panel, Result, Sample
from tcva_adapters.ccrs.summary import summarise_ccrs
from tcva_adapters.compare import Evaluation, compare, validate
from tcva_adapters.compare.labels import Labels
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.report import write
from tcva_adapters.results.files import write_assessments
from tests.report.blocks import blocks_of

OPENS = "The office opens at nine. Parking is free for visitors."
SAMPLES = [
    Sample(
        id=f"q{i}",
        input=f"When does it open, number {i}?",
        response=answer,
        contexts=(OPENS,),
        metadata={"human": rating, "part": "odd" if i % 2 else "even"},
    )
    for i, (answer, rating) in enumerate(
        [
            ("The office opens at nine.", 1.0),
            ("Parking costs five euros.", 0.0),
            ("The office opens at nine. Parking costs five euros.", 0.5),
            ("I cannot say.", 0.25),
        ]
    )
]


def page(source: Any, folder: Path, **reading: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Figures and details of a page that is written for it."""
    write(source, folder / "page.html", overwrite=True, **reading)
    return blocks_of(folder / "page.html")


def judged(**settings: Any) -> list[Result]:
    return TCVA(judge="lexical", **settings).evaluate_many(SAMPLES, progress=False)


def written(path: Path, samples: list[Sample] = SAMPLES) -> Path:
    path.write_text("".join(f"{s.model_dump_json()}\n" for s in samples), encoding="utf-8")
    return path


def test_a_file_keeps_its_setting_and_gets_texts_from_another(tmp_path: Path) -> None:
    write_assessments(tmp_path / "judged.jsonl", judged(temperature=0.3, threshold=0.8))
    figures, details = page(tmp_path / "judged.jsonl", tmp_path)
    setting = figures["runs"][0]["settings"]
    assert (setting["temperature"], setting["threshold"]) == (0.3, 0.8)
    assert " at T=0.3 (" in figures["sentence"]
    assert figures["samples"]["human"] == [1.0, 0.0, 0.5, 0.25]
    assert "response" not in details[0]
    texts = written(tmp_path / "samples.jsonl", SAMPLES[:3])
    figures, details = page(tmp_path / "judged.jsonl", tmp_path, samples=texts)
    assert details[0]["response"] == SAMPLES[0].response
    assert figures["samples"]["questions"][0] == SAMPLES[0].input
    assert figures["notes"] == ["the texts of 1 sample of 4 were not given"]


def test_lists_files_and_reports_give_the_same_figures(tmp_path: Path) -> None:
    tcva = TCVA(judge="lexical")
    results = judged()
    write_assessments(tmp_path / "judged.jsonl", results)
    sources = [
        results,
        [each.assessment for each in results],
        tmp_path / "judged.jsonl",
        [str(tmp_path / "judged.jsonl")],
        Evaluation.of(tcva, results),
    ]
    found = [page(each, tmp_path, title="one", samples=SAMPLES) for each in sources]
    assert all(each == found[0] for each in found)


def test_two_files_are_two_runs(tmp_path: Path) -> None:
    write_assessments(tmp_path / "before.jsonl", judged())
    write_assessments(tmp_path / "after.jsonl", judged(temperature=0.9)[1:])
    figures, _ = page([tmp_path / "before.jsonl", tmp_path / "after.jsonl"], tmp_path)
    assert [run["name"] for run in figures["runs"]] == ["before", "after"]
    assert figures["title"] == "before.jsonl, after.jsonl"
    assert figures["sentence"].startswith("before.jsonl: ")


def test_a_comparison_and_its_folder_give_the_same_page(tmp_path: Path) -> None:
    """Also where a second run takes all from the store."""
    pytest.importorskip("scipy", reason="the extra stats")
    scores = tmp_path / "mine.csv"
    scores.write_text("id,=mine\nq0,0.5\nq1,\nq2,1\n", encoding="utf-8")
    options: dict[str, Any] = {
        "frameworks": "none",
        "human": "human",
        "n_boot": 50,
        "imported": [str(scores)],
        "fuse": ["tcva T=0.5 + =mine"],
        "store": tmp_path / "store.sqlite",
        "progress": False,
    }
    first = compare(SAMPLES, {"judge": "lexical", "scheme": "linear"}, **options)
    first.save(tmp_path / "side")
    expected = page(first, tmp_path, title="side")
    assert page(tmp_path / "side", tmp_path) == expected
    assert page([str(tmp_path / "side")], tmp_path) == expected
    again = compare(SAMPLES, {"judge": "lexical", "scheme": "linear"}, **options)
    assert page(again, tmp_path, title="side")[1] == expected[1]
    figures, details = expected
    assert figures["sentence"] == first.sentence
    assert figures["runs"][0]["settings"]["temperature"] == 0.5
    assert figures["runs"][0]["settings"]["scheme"] == "linear"
    assert [(m["name"], m["framework"]) for m in figures["methods"]] == [
        ("=mine", "imported"),
        ("fused(tcva T=0.5 + =mine)", "fused"),
    ]
    table = first.table
    for method in figures["methods"]:
        column = [None if np.isnan(x) else x for x in table.column(method["name"]).tolist()]
        assert method["scores"] == column
    assert figures["samples"]["human"] == [1.0, 0.0, 0.5, 0.25]
    assert details[0]["contexts"] == [OPENS]
    assert "mine.csv (scores): =mine on 3 samples" in figures["notes"]


def test_a_folder_that_lacks_a_file_or_is_older_is_named(tmp_path: Path) -> None:
    found = compare(SAMPLES, {"judge": "lexical"}, frameworks="none", n_boot=50, progress=False)
    found.save(tmp_path / "side")
    (tmp_path / "side" / "details.jsonl").unlink()
    with pytest.raises(UnreadableInputError, match=r"details\.jsonl: there is no such file"):
        page(tmp_path / "side", tmp_path)
    summary = tmp_path / "side" / "summary.json"
    summary.write_text(json.dumps({"settings": {}}), encoding="utf-8")
    found.save(tmp_path / "other")
    (tmp_path / "other" / "summary.json").write_text(json.dumps({"settings": {}}), encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="no comparison's of this version"):
        page(tmp_path / "other", tmp_path)
    summary.write_text("{", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match=r"summary\.json cannot be read"):
        page(tmp_path / "side", tmp_path)


def test_ccrs_ratings_are_methods_without_a_dial(tmp_path: Path) -> None:
    rated = CCRS(["cc", "qr"], judge="lexical").evaluate_many(SAMPLES, progress=False)
    write_assessments(tmp_path / "rated.jsonl", rated)
    summary = summarise_ccrs(rated)
    figures, details = page(tmp_path / "rated.jsonl", tmp_path)
    assert figures["runs"] == []
    assert [method["framework"] for method in figures["methods"]] == ["ccrs", "ccrs"]
    for method, name in zip(figures["methods"], ("cc", "qr"), strict=True):
        assert method["scores"] == [each.scores[name] for each in rated]
    assert figures["sentence"] == summary.sentence
    assert details[0]["methods"][figures["methods"][0]["name"]]["reason"] == rated[0].reasons["cc"]
    assert page(summary, tmp_path, title="rated.jsonl")[0] == figures


def test_errors_are_shown_with_enough_ratings(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="the extra stats")
    few, many = judged(), judged() * 5
    for results, shown in ((few, len(few) >= 10), (many, True)):
        rated = [
            each.model_copy(update={"metadata": {"human": 0.1 * (n % 11)}, "sample_id": f"s{n}"})
            for n, each in enumerate(result.assessment for result in results)
        ]
        scored = [each for each in rated if each.unscored is None]
        figures, _ = page(rated, tmp_path)
        assert ("errors" in figures["sections"]) == (shown and len(scored) >= 10)
    found = validate(rated, "human")
    figures, details = page(found, tmp_path)
    assert (figures["sections"]["errors"][0], details) == (found.sentence, [])


def ragas(path: Path, rows: list[list[Any]]) -> Path:
    header = ["user_input", "retrieved_contexts", "response", "faithfulness", "human"]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def test_ragas_results_bring_their_own_texts(tmp_path: Path) -> None:
    path = ragas(
        tmp_path / "ragas.csv",
        [
            [s.input, json.dumps([OPENS]), s.response, "" if i == 1 else i / 4, i]
            for i, s in enumerate(SAMPLES)
        ],
    )
    figures, details = page(path, tmp_path)
    (method,) = figures["methods"]
    assert (method["name"], method["framework"]) == ("ragas faithfulness", "ragas")
    assert method["scores"] == [0.0, None, 0.5, 0.75]
    assert method["unscored"] == [[1, "no score in the file"]]
    assert figures["sentence"] == "Mean scores of 4 samples: ragas faithfulness 0.417"
    assert details[0]["contexts"] == [OPENS]
    assert "faithfulness" not in details[0].get("metadata", {})
    assert figures["samples"]["ids"][0] == "row-2"
    assert figures["samples"]["human"] == [0.0, 1.0, 2.0, 3.0]
    assert figures["samples"]["human_scale"] == [0.0, 3.0]


def test_existing_results_stand_beside_what_was_judged(tmp_path: Path) -> None:
    write_assessments(tmp_path / "judged.jsonl", judged())
    scores = tmp_path / "scores.csv"
    scores.write_text("id,strict\nq0,1\nq2,3\nunknown,2\n", encoding="utf-8")
    figures, _ = page([tmp_path / "judged.jsonl", scores], tmp_path, scale=(1, 5))
    assert figures["methods"][0]["scores"] == [0.0, None, 0.5, None]
    assert len(figures["runs"]) == 1
    assert "scores.csv: 1 row matches no sample" in figures["notes"]


def test_deepeval_results_with_their_reasons(tmp_path: Path) -> None:
    case = {
        "name": "first",
        "input": "When?",
        "actualOutput": "At nine.",
        "retrievalContext": [OPENS],
        "metricsData": [
            {"name": "Faithfulness", "score": 0.5, "threshold": 0.7, "reason": "Half."}
        ],
    }
    path = tmp_path / ".latest_test_run.json"
    path.write_text(json.dumps({"testRunData": {"testCases": [case]}}), encoding="utf-8")
    figures, details = page(path, tmp_path)
    (method,) = figures["methods"]
    assert (method["name"], method["framework"]) == ("deepeval Faithfulness", "deepeval")
    assert (method["scores"], method["threshold"]) == ([0.5], 0.7)
    assert details[0]["methods"] == {"deepeval Faithfulness": {"reason": "Half."}}
    assert details[0]["response"] == "At nine."
    assert "metricsData" not in details[0].get("metadata", {})


@pytest.mark.parametrize("kind", ["columns", "runs"])
def test_langsmith_feedback(tmp_path: Path, kind: str) -> None:
    if kind == "columns":
        path = tmp_path / "experiment.csv"
        header = ["inputs.question", "outputs.answer", "feedback.correct", "execution_time", "id"]
        rows = [["When?", "At nine.", "0.5", "1.5", "run-1"], ["Who?", "Ada.", "", "2.5", "run-2"]]
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    else:
        path = tmp_path / "runs.jsonl"
        runs: list[dict[str, Any]] = [
            {
                "id": "run-1",
                "inputs": {"question": "When?"},
                "outputs": {"answer": "At nine."},
                "feedback_stats": {"correct": {"n": 1, "avg": 0.5}},
            },
            {"id": "run-2", "inputs": {"question": "Who?"}, "outputs": {"answer": "Ada."}},
        ]
        path.write_text("".join(f"{json.dumps(run)}\n" for run in runs), encoding="utf-8")
    figures, details = page(path, tmp_path)
    (method,) = figures["methods"]
    assert (method["name"], method["framework"]) == ("langsmith correct", "langsmith")
    assert method["scores"] == [0.5, None]
    assert [line["response"] for line in details] == ["At nine.", "Ada."]
    assert figures["samples"]["ids"] == ["run-1", "run-2"]


def test_labels_are_joined_by_id(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,human\nq1,0.75\nq3,pass\nelsewhere,1\n", encoding="utf-8")
    figures, _ = page(judged(), tmp_path, human=Labels.read(path))
    samples = figures["samples"]
    assert samples["human"] == [None, 0.75, None, 1.0]
    assert samples["human_name"] == "labels.csv"
    assert figures["notes"] == [
        "labels.csv: 1 of 3 labels is of no sample here",
        "labels.csv: 2 of 4 samples have no label",
    ]


def test_a_scale_of_ratings_is_kept_to(tmp_path: Path) -> None:
    figures, _ = page(judged(), tmp_path, human="human", human_scale=(0, 5))
    assert figures["samples"]["human_scale"] == [0, 5]
    with pytest.raises(InvalidValueError, match=r"the rating of 'q0' is 1, outside \[0, 0\.5\]"):
        page(judged(), tmp_path, human_scale=(0, 0.5))
    with pytest.raises(InvalidValueError, match="the lower one first"):
        page(judged(), tmp_path, human_scale=(1, 1))
    with pytest.raises(InvalidValueError, match="two finite numbers"):
        page(judged(), tmp_path, human_scale=(0, float("inf")))
    with pytest.raises(InvalidSampleError, match="no sample has a rating in 'stars'"):
        page(judged(), tmp_path, human="stars")


def test_equal_ratings_beyond_one_have_a_scale_too(tmp_path: Path) -> None:
    rated = [Assessment.from_verdicts(["fully"], sample_id=name) for name in ("a", "b")]
    same = [each.model_copy(update={"metadata": {"human": 5}}) for each in rated]
    figures, _ = page(same, tmp_path)
    assert figures["samples"]["human_scale"] == [0.0, 5.0]


def test_samples_without_ids_are_named_by_their_row(tmp_path: Path) -> None:
    bare = [Assessment.from_verdicts(["fully"]), Assessment.from_verdicts(["none"])]
    assert page(bare, tmp_path)[0]["samples"]["ids"] == ["row-1", "row-2"]
    twice = [Assessment.from_verdicts([word], sample_id="a") for word in ("fully", "none")]
    figures, _ = page(twice, tmp_path)
    assert figures["samples"]["ids"] == ["a", "a#2"]
    assert "several rows have the same id" in figures["notes"][0]


def test_results_without_ids_get_the_texts_in_their_order(tmp_path: Path) -> None:
    # The frameworks give their evaluators no ids; the rows of the suite have some.
    bare = [sample.model_copy(update={"id": None}) for sample in SAMPLES]
    results = TCVA(judge="lexical").evaluate_many(bare)
    figures, details = page(results, tmp_path, samples=SAMPLES)
    assert figures["samples"]["questions"] == [sample.input for sample in SAMPLES]
    assert [each["response"] for each in details] == [sample.response for sample in SAMPLES]
    assert figures["samples"]["ids"] == [f"row-{n}" for n in range(1, len(SAMPLES) + 1)]
    with pytest.raises(InvalidValueError, match="ids there are"):
        page(results, tmp_path, samples=SAMPLES[:-1])


def test_what_makes_no_report_is_refused(tmp_path: Path) -> None:
    one = Assessment.from_verdicts(["fully"])
    other = Assessment.from_verdicts(["fully"], criterion="relevance")
    rated = CCRS("qr", judge="lexical").evaluate_many(SAMPLES, progress=False)
    for source, error, said in [
        (42, InvalidValueError, "no report can be made of '42'; give files"),
        ([], InvalidValueError, "no report can be made of"),
        ({"empty": []}, InvalidSampleError, "empty holds no assessments"),
        ([one, other], InvalidSampleError, "this list mixes judgements"),
        ([one, *rated], InvalidSampleError, "mixes assessments and CCRS ratings"),
        ([one, "a.jsonl"], InvalidValueError, "'a.jsonl' stands among the results"),
        ([Assessment.from_verdicts([])], InvalidSampleError, "none of the 1 assessments"),
        (tmp_path / "missing.jsonl", UnreadableInputError, "there is no such file"),
        (tmp_path, UnreadableInputError, "this is a folder"),
    ]:
        with pytest.raises(error, match=said):
            page(source, tmp_path)
    assert not (tmp_path / "page.html").exists()


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    found = compare(SAMPLES, {"judge": "lexical"}, frameworks="none", n_boot=50, progress=False)
    found.save(tmp_path / "side")
    write_assessments(tmp_path / "judged.jsonl", judged())
    with pytest.raises(InvalidValueError, match="makes a report of its own"):
        page([tmp_path / "side", tmp_path / "judged.jsonl"], tmp_path)
    with pytest.raises(InvalidValueError, match="none of the 4 judged samples is among"):
        page(judged(), tmp_path, samples=[Sample(id="else", response="x")])
    scores = tmp_path / "scores.csv"
    scores.write_text("id,strict\nq0,1\n", encoding="utf-8")
    with pytest.raises(InvalidValueError, match="two methods are named 'strict'"):
        page([tmp_path / "judged.jsonl", scores, scores], tmp_path)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="it holds no results"):
        page(empty, tmp_path)


def test_repeats_and_panels_are_told_among_the_notes(tmp_path: Path) -> None:
    def repeats(levels: list[str]) -> Assessment:
        each = [Assessment.from_verdicts([level], judge="m") for level in levels]
        whole = Assessment.from_verdicts(["fully"], judge="repeats(m, 2)", sample_id=levels[1])
        return whole.model_copy(update={"panel": tuple(each)})

    figures, details = page([repeats(["fully", "none"]), repeats(["fully", "minor"])], tmp_path)
    assert figures["notes"] == [
        "Over 2 repeats, 2 of 2 samples flip at the threshold; a score's sd by the judge is 0.610"
    ]
    ((run,),) = (details[0]["runs"].values(),)
    assert [each["judge"] for each in run["repeats"]] == ["repeat 1", "repeat 2"]
    assert "panel" not in run
    panel = TCVA(judge=Panel(["lexical", Strict()])).evaluate_many(SAMPLES, progress=False)
    figures, details = page(panel, tmp_path)
    assert "to how many independent judges these 2 amount is not known" in figures["notes"][0]
    ((run,),) = (details[0]["runs"].values(),)
    assert len(run["panel"]) == 2
    assert "repeats" not in run


class Strict(LexicalJudge):
    """The lexical judge by another name."""

    name = "strict"


def documents() -> list[Sample]:
    """48 rated samples of twelve documents."""
    draw = np.random.default_rng(0)
    answers = [sample.response for sample in SAMPLES]
    return [
        Sample(
            id=f"d{i}",
            response=answers[draw.integers(4)],
            contexts=(OPENS,),
            metadata={"document": f"page {i // 4}", "human": round(float(draw.random()), 2)},
        )
        for i in range(48)
    ]


def test_what_is_worked_out_for_the_page_is_of_other_documents(tmp_path: Path) -> None:
    samples = documents()
    results = TCVA(judge="lexical").evaluate_many(samples, progress=False)
    alone, _ = page(results, tmp_path, samples=samples)
    found, _ = page(results, tmp_path, samples=samples, group="document")
    assert alone["samples"]["clusters"] is None
    assert alone["interval"]["z"] > 1.9
    assert found["samples"]["clusters"] == [i // 4 for i in range(48)]
    assert found["interval"]["z"] is None
    note = (
        "12 groups of samples, the largest with 4 of 48, by 'document': on this page intervals of"
    )
    assert any(each.startswith(note) for each in found["notes"])
    ratings = [sample.metadata["human"] for sample in samples]
    given = [
        result.assessment.model_copy(update={"metadata": sample.metadata})
        for result, sample in zip(results, samples, strict=True)
    ]
    error = validate(given, ratings, group="document").records("errors")[0]
    assert f"{error['error']:+.3f}" in found["sections"]["errors"][0]
    assert found["sections"]["errors"] != alone["sections"]["errors"]
    with pytest.raises(InvalidSampleError, match="belongs to no group"):
        page(results, tmp_path, samples=samples, group="user")


def test_a_comparison_by_group_has_a_page_by_group(tmp_path: Path) -> None:
    samples = documents()
    how: dict[str, Any] = {"human": "human", "n_boot": 100, "group": "document"}
    found = compare(samples, {"judge": "lexical"}, frameworks="none", progress=False, **how)
    figures, _ = page(found, tmp_path)
    assert len(set(figures["samples"]["clusters"])) == 12
    assert "12 groups of samples, each counted as one" in figures["sections"]["errors"]
    found.save(tmp_path / "saved")
    assert page(tmp_path / "saved", tmp_path)[0]["sections"] == figures["sections"]
    assert page(found, tmp_path, group="document")[0] == figures
    with pytest.raises(InvalidValueError, match="this comparison is by 'document', not by 'human'"):
        page(tmp_path / "saved", tmp_path, group="human")
