"""Lowered and unchecked verdicts are counted, whoever shows them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, ClaimVerdict, Panel, Result, Sample, Verdict
from tcva_adapters.compare import compare, sweep
from tcva_adapters.compare.evaluation import Evaluation
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.results.evidence import EvidenceCounts
from tests.support.scripted import ScriptedModel, verdict_json

SAMPLE = Sample(
    id="a",
    input="When?",
    response="The office opens at nine. Parking is free. The drug cures cancer. Dogs can come.",
    contexts=("The office opens at nine. Parking is not free. They met in Paris. Hunde verboten.",),
)
REPLY = verdict_json(
    (1, "fully", "opens at noon"),
    (2, "fully", "free"),
    (3, "fully", "They met in Paris"),
    (4, "minor", "made up, and of no consequence"),
)
FIGURES = {
    "verdicts": 4,
    "not_found": 1,
    "unrelated": 1,
    "negated": 1,
    "unchecked": 0,
    "not_lowered": 1,
}
LINES = [
    "1 of 4 verdicts lowered: quote not found in the passages",
    "1 of 4 verdicts lowered: quote has nothing to do with the claim",
    "1 of 4 verdicts lowered: a negation stands beside the quote",
]


def tcva(**settings: Any) -> TCVA:
    return TCVA(judge=ScriptedModel([REPLY] * 2), **settings)


def test_the_reason_of_a_sample_counts_them() -> None:
    result = tcva().evaluate(SAMPLE)
    assert f"3 partial, 1 minor; {'; '.join(LINES)}; worst: " in result.reason
    assert [claim.evidence_check for claim in result.claims] == [
        EvidenceCheck.NOT_FOUND,
        EvidenceCheck.NEGATED,
        EvidenceCheck.UNRELATED,
        EvidenceCheck.NOT_FOUND,  # of the minor one, which stays
    ]
    assert Result.from_json(result.to_json()) == result


def test_a_summary_counts_them() -> None:
    judge = tcva()
    report = Evaluation.of(judge, judge.evaluate_many([SAMPLE]))
    assert report.to_dict()["evidence"] == FIGURES
    for line in LINES:
        assert line in report.text()


def test_a_comparison_and_a_sweep_count_them() -> None:
    found = compare([SAMPLE], tcva(), frameworks="none", n_boot=10)
    assert found.to_dict()["evidence"] == FIGURES
    seen = sweep(found.results)
    assert seen.to_dict()["evidence"] == FIGURES
    for line in LINES:
        assert line in found.text()
        assert line in seen.text()


def test_of_a_panel_and_of_additional_judges_every_verdict_counts() -> None:
    models = [ScriptedModel([REPLY], name=f"scripted:{i}") for i in range(3)]
    result = TCVA(judge=Panel(models[:2]), fuse=[models[2]]).evaluate(SAMPLE)
    counts = EvidenceCounts.of([result.assessment])
    assert counts.to_dict() == {name: 3 * number for name, number in FIGURES.items()}


def test_what_is_unchecked_is_said() -> None:
    judged = Assessment(
        criterion="faithfulness",
        judge="j",
        prompt_version="1",
        claims=(
            ClaimVerdict(claim="c", verdict=Verdict.FULLY, evidence_check=EvidenceCheck.UNCHECKED),
            ClaimVerdict(claim="hello", verdict=None),
        ),
    )
    [line] = EvidenceCounts.of([judged]).lines()
    assert line.startswith("1 of 1 verdicts unchecked: ")
    assert line in Result(judged).reason


def test_nothing_is_said_where_nothing_is_amiss() -> None:
    assert list(EvidenceCounts.of([Assessment.from_verdicts(["fully"])]).lines()) == []


@pytest.mark.parametrize("layout", [1, 2])
def test_what_was_lowered_before_there_was_a_reason_lacked_its_quote(layout: int) -> None:
    name = "judged" if layout == 1 else "original_verdict"
    plain = {
        "schema_version": layout,
        "criterion": "faithfulness",
        "judge": "j",
        "prompt_version": "tcva/1",
        "claims": [{"claim": "c", "verdict": "partial", name: "fully"}],
    }
    read = Assessment.from_json(json.dumps(plain))
    assert read.claims[0].evidence_check is EvidenceCheck.NOT_FOUND
    assert Assessment.from_json(read.to_json()) == read
