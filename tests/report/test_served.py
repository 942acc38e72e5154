"""What reports show of answers as they are served is what `Result.supported` serves."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.compare import read_scores
from tcva_adapters.report import write
from tcva_adapters.report.served import (
    SUPPORTED_BEGINNING,
    is_removed,
    removal_text,
    served_json,
    supported_lines,
)
from tcva_adapters.results.writer import write_results
from tests.report.blocks import blocks_of
from tests.support.reports import example_samples

THRESHOLDS = ("fully", "mostly", "partial", "minor", "none", 0.0, 0.35, 0.71, 1.0)
TEXTS = (
    "Prices:\n- Basic costs 5.\n- Plus costs 9.\n\nAsk us. 🎉 We answer.",
    "# Hours\r\n\r\nWe open at 9. Entry is 90 EUR.\r\n",
    "| Plan | Price |\n|---|---|\n| Basic | 5 |\n| Plus | 9 |",
    "Hello! How can I help?",
)
SAMPLES = [
    *example_samples(),
    Sample(id="empty", response="", contexts=["We open at 9."]),
    *(
        Sample(
            id=str(n), response=text, contexts=["Basic costs 5. We open at 9. Ask us."]
        )
        for n, text in enumerate(TEXTS)
    ),
]


@pytest.fixture(scope="module")
def results() -> Sequence[Result]:
    return TCVA(judge="lexical").evaluate_many(SAMPLES)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("most", [1.0, 0.5, 0.0])
def test_the_page_and_the_counts_follow_what_is_served(
    threshold: str | float, most: float, results: Sequence[Result]
) -> None:
    views = [r.changed(claim_threshold=threshold, max_removed=most) for r in results]
    removed = claims = empty = answers = 0
    for result, sample in zip(views, SAMPLES, strict=True):
        text = sample.response or ""
        answer = result.supported()
        served = served_json(result, sample)
        assert served is not None
        assert "".join(text[a:b] for a, b in served["left"]) == answer.text
        parts = sorted([*answer.kept, *answer.removed], key=lambda part: part.start)
        assert served["parts"] == [
            (part.start, part.end, part in answer.kept, part.orphan) for part in parts
        ]
        if result.unscored is None:
            weights = [part.weight for part in parts if part.weight is not None]
            below = [weight < result.scoring.least_weight for weight in weights]
            marked = [is_removed(result, claim) for claim in result.claims]
            assert sum(marked) == sum(below)
            removed += sum(below)
            claims += len(weights)
            empty += answer.is_empty
            answers += 1
    sentence = removal_text(views)
    assert bool(sentence) is bool(removed)
    if removed:
        assert f", {removed} of {claims} (" in sentence
        assert sentence.endswith(f"leaves {empty} of {answers} answers empty.")


def test_lines_hold_the_answers_and_their_cuts(results: Sequence[Result]) -> None:
    text = supported_lines(read_scores(results), SAMPLES)
    assert SUPPORTED_BEGINNING.match(text.encode())
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["id"] for row in rows] == [sample.id for sample in SAMPLES]
    for row, result in zip(rows, results, strict=True):
        answer = result.supported()
        assert row.pop("answer") == answer.text
        assert row == {
            "id": result.sample_id,
            "is_empty": answer.is_empty,
            "kept": [part.to_dict() for part in answer.kept],
            "removed": [part.to_dict() for part in answer.removed],
        }
    assert any(row["removed"] for row in rows)


def test_claims_that_stand_in_no_answer_are_not_removed() -> None:
    sample = Sample(
        input="When?",
        response="We open at 9. Entry is 90 EUR.",
        contexts=["Zebras are striped. They graze."],
        reference="Entry to the zoo is free.",
    )
    result = TCVA("context_recall", judge="lexical").evaluate(sample)
    (claim,) = result.claims
    assert (claim.weight() or 0.0) < result.scoring.least_weight
    assert not is_removed(result, claim)
    assert removal_text([result]) == ""
    assert served_json(result, sample) is None


def test_results_read_back_are_shown_alike(
    results: Sequence[Result], tmp_path: Path
) -> None:
    path = tmp_path / "judged.jsonl"
    write_results(path, results)
    table = read_scores(path)
    again = [
        served_json(result, sample)
        for result, sample in zip(table.results["faithfulness"], SAMPLES, strict=True)
        if isinstance(result, Result)
    ]
    live = [served_json(r, sample) for r, sample in zip(results, SAMPLES, strict=True)]
    assert again == live


def test_a_report_without_texts_shows_none(
    results: Sequence[Result], tmp_path: Path
) -> None:
    write_results(tmp_path / "judged.jsonl", results)
    write(tmp_path / "judged.jsonl", tmp_path / "report.html")
    figures, details = blocks_of(tmp_path / "report.html")
    assert "leaves" in figures["runs"][0]["served"]
    shown = [line["runs"]["faithfulness"].get("served") for line in details]
    assert not any(served and served["parts"] for served in shown)
