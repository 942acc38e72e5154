"""Results as LlamaIndex carries them, and read back: in memory, from JSON, of earlier versions."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.evaluation import EvaluationResult

from tcva_adapters import CCRS, TCVA
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.llamaindex import ScorerEvaluationResult, ScorerEvaluator, result_of

QUERY = "When does the office open?"
RESPONSE = "The office opens at nine. Dogs bark."
CONTEXTS = ["The office opens at nine on weekdays."]


def evaluations() -> list[ScorerEvaluationResult[Any]]:
    """One of each kind: scored, fused, rated, and without a score."""
    scorers: list[Any] = [
        TCVA(judge="lexical", temperature="strict", scheme="linear"),
        TCVA(judge="lexical", fuse=TCVA("answer_relevancy", judge="lexical")),
        CCRS("qr", judge="lexical", threshold=0.9),
    ]
    found = [ScorerEvaluator(each).evaluate(QUERY, RESPONSE, CONTEXTS) for each in scorers]
    return [*found, ScorerEvaluator(scorers[0]).evaluate(QUERY, RESPONSE, [])]


@pytest.mark.parametrize("evaluation", evaluations())
def test_the_result_is_there_however_it_was_carried(evaluation: Any) -> None:
    result = evaluation.result
    assert result_of(evaluation) is result
    assert evaluation.score == result.score
    for carried in (
        evaluation.model_dump(),
        evaluation.model_dump(mode="json"),
        evaluation.model_dump_json(),
        result.to_json(),
    ):
        assert result_of(carried) == result
    again = ScorerEvaluationResult[Any].model_validate_json(evaluation.model_dump_json())
    assert again.model_dump() == evaluation.model_dump()


@pytest.mark.parametrize(
    "other", [EvaluationResult(score=1.0), {"score": 1.0}, "not JSON", 5, None, {"rated": None}]
)
def test_what_holds_no_result_is_named(other: Any) -> None:
    with pytest.raises(UnreadableInputError, match=r"(no|not a) result"):
        result_of(other)
