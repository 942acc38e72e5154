"""What TCVAMetric makes of a test case by itself. The model is scripted."""

from __future__ import annotations

import pytest
from deepeval.errors import MissingTestCaseParamsError
from deepeval.test_case import LLMTestCase, RetrievedContextData

from tcva_adapters import TCVA
from tcva_adapters.criteria import rubric
from tcva_adapters.deepeval import TCVAMetric
from tests.deepeval.entry import scripted
from tests.deepeval.office import CASE, HALF, HALF_AT_HALF, OPENS, PARKING, SAMPLE
from tests.support.scripted import ScriptedModel, verdict_json


def test_measure_gives_the_score_of_the_paper_and_fills_what_deepeval_reads() -> None:
    llm = scripted(HALF)
    metric = TCVAMetric(model=llm)
    assert metric.measure(CASE) == pytest.approx(HALF_AT_HALF, abs=1e-12)
    assert metric.score == pytest.approx(HALF_AT_HALF, abs=1e-12)
    assert (metric.success, metric.is_successful(), metric.error) == (False, False, None)
    assert metric.reason is not None
    assert metric.reason.startswith("0.250 < 0.5 at T=0.5: 1 fully, 1 none; worst: ")
    assert PARKING in metric.reason
    assert metric.score_breakdown == {"fully": 1, "mostly": 0, "partial": 0, "minor": 0, "none": 1}
    assert metric.evaluation_model == "deepeval:scripted"
    assert metric.__name__ == "TCVA faithfulness"
    assert len(llm.prompts) == 1


def test_the_score_is_that_of_tcva_to_the_last_bit() -> None:
    for temperature in (0.1, 0.37, 0.5, 0.93, 1.0):
        metric = TCVAMetric(model=scripted(HALF), temperature=temperature)
        tcva = TCVA(judge=ScriptedModel([HALF]), temperature=temperature)
        assert metric.measure(CASE) == tcva.evaluate(SAMPLE).score


def test_another_temperature_costs_no_call() -> None:
    llm = scripted(HALF)
    metric = TCVAMetric(model=llm)
    metric.measure(CASE)
    result = metric.result
    assert result is not None
    # The floor under a weight of 0 is 1e-9; p(0.1) = -8 keeps the mean next to it.
    assert result.at("strict").score == pytest.approx(0.0, abs=1e-8)
    assert 0.25 < (result.at("lenient").score or 0) < 1
    assert len(llm.prompts) == 1


@pytest.mark.parametrize(
    ("criterion", "fields"),
    [
        ("faithfulness", {"actual_output", "retrieval_context"}),
        ("answer_relevancy", {"input", "actual_output"}),
        ("correctness", {"actual_output", "expected_output"}),
        ("completeness", {"actual_output", "expected_output"}),
        ("context_recall", {"retrieval_context", "expected_output"}),
    ],
)
def test_every_criterion_takes_its_own_fields(criterion: str, fields: set[str]) -> None:
    metric = TCVAMetric(criterion, model="lexical")
    assert {param.value for param in metric._required_params} == fields
    assert metric.measure(CASE) is not None
    for field in fields - {"input"}:
        with pytest.raises(MissingTestCaseParamsError, match=f"'{field}' cannot be None"):
            metric.measure(CASE.model_copy(update={field: None}))


def test_criteria_texts_are_claims() -> None:
    metric = TCVAMetric(
        rubric("tone", ["Is polite.", "Is short."]),
        model=scripted(verdict_json((1, "fully", ""), (2, "fully", ""))),
    )
    assert metric.measure(LLMTestCase(input="Hi", actual_output="Good morning.")) == 1.0
    assert metric.__name__ == "TCVA tone"


def test_a_context_with_a_source_is_judged_by_its_text() -> None:
    passage = RetrievedContextData(context=OPENS, source="handbook")
    case = LLMTestCase(input="When?", actual_output=OPENS, retrieval_context=[passage])
    llm = scripted(verdict_json((1, "fully", OPENS)))
    assert TCVAMetric(model=llm).measure(case) == 1.0
    assert "handbook" not in llm.prompts[0]


def test_the_reason_can_be_left_out() -> None:
    metric = TCVAMetric(model="lexical", include_reason=False)
    metric.measure(CASE)
    assert metric.reason is None


def test_verbose_mode_prints(capsys: pytest.CaptureFixture[str]) -> None:
    TCVAMetric(model="lexical").measure(CASE)
    assert capsys.readouterr().out == ""
    TCVAMetric(model="lexical", verbose_mode=True).measure(CASE)
    assert OPENS in capsys.readouterr().out
