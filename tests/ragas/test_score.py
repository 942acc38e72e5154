"""What TCVAMetric makes of a sample in RAGAS' `evaluate`. The LLM is scripted."""

from __future__ import annotations

import pytest

from tcva_adapters.ragas import TCVAMetric
from tests.ragas.entry import ScriptedLLM
from tests.ragas.office import COLUMN, evaluated, native_faithfulness
from tests.support.office import SCORE, TWO


def test_a_score_in_a_suite_beside_the_native_metric() -> None:
    result = evaluated([native_faithfulness(), TCVAMetric()], llm=ScriptedLLM(lambda _: TWO))
    assert set(result.scores[0]) == {"faithfulness", COLUMN}
    assert result[COLUMN] == pytest.approx([SCORE], abs=1e-12)
    assert result.to_pandas()[COLUMN].dtype == float


def test_the_question_reaches_the_judge_though_it_is_optional() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    evaluated([TCVAMetric(llm=llm)])
    assert "what does parking cost?" in llm.prompts[0]


def test_columns_follow_the_criterion() -> None:
    required = {
        name: TCVAMetric(llm="lexical", criterion=name).required_columns["SINGLE_TURN"]
        for name in ("faithfulness", "answer_relevancy", "correctness", "context_recall")
    }
    assert required == {
        "faithfulness": {"response", "retrieved_contexts"},
        "answer_relevancy": {"user_input", "response"},
        "correctness": {"response", "reference"},
        "context_recall": {"reference", "retrieved_contexts"},
    }


def test_a_repr_shows_no_secret() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    assert llm.api_key not in repr(TCVAMetric(llm=llm))
    assert "ragas:scripted" in repr(TCVAMetric(llm=llm))
