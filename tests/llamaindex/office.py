"""The question about the office, judged by an evaluator that is called directly."""

from __future__ import annotations

from typing import Any, Final

from tcva_adapters import Result
from tcva_adapters.llamaindex import ScorerEvaluationResult, TCVAEvaluator
from tcva_adapters.results.assessment import Reason
from tests.support.office import PASSAGE, QUERY, RESPONSE

CONTEXTS: Final = [PASSAGE]


def evaluated(evaluator: TCVAEvaluator, **kwargs: Any) -> ScorerEvaluationResult[Result]:
    """The evaluator's own result."""
    result = evaluator.evaluate(query=QUERY, response=RESPONSE, contexts=CONTEXTS, **kwargs)
    assert isinstance(result, ScorerEvaluationResult)
    return result


def reason_of(evaluation: ScorerEvaluationResult[Result]) -> Reason | None:
    """Why there is no score."""
    unscored = evaluation.result.unscored
    return None if unscored is None else unscored.reason
