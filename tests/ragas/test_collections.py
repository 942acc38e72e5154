"""TCVACollectionMetric where RAGAS' newer metrics go. The LLM is scripted, all else is RAGAS."""

import asyncio
import copy
import math
import pickle
from typing import Any

import pytest
from ragas.metrics.result import MetricResult

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.ragas import TCVACollectionMetric, TCVAMetric
from tcva_adapters.results.judgement import Reason
from tests.ragas.entry import ScriptedInstructorLLM, ScriptedLLM, turn
from tests.support.office import PASSAGE, QUERY, RESPONSE, SCORE, TWO
from tests.support.scripted import in_turn, verdict_json

ROW: dict[str, Any] = {
    "user_input": QUERY,
    "response": RESPONSE,
    "retrieved_contexts": [PASSAGE],
}


def metric(*replies: str | Exception, **options: Any) -> TCVACollectionMetric:
    reply = in_turn(*replies) if len(replies) > 1 else lambda _: replies[0]
    return TCVACollectionMetric(ScriptedInstructorLLM(reply), **options)  # type: ignore[arg-type]  # options of any kind


def test_the_result_is_ragas_own_with_claims_and_a_dial() -> None:
    result = metric(TWO).score(**ROW)
    assert isinstance(result, MetricResult)
    assert result.value == pytest.approx(SCORE, abs=1e-12)
    assert result.reason is not None
    assert result.reason.startswith("0.650 >= 0.5 at T=0.5: 1 fully, 1 minor")
    assert [claim.verdict for claim in result.claims] == ["fully", "minor"]
    assert float(result.at(0.9)) == pytest.approx(((1 + 0.3**10) / 2) ** 0.1, abs=1e-12)
    assert result.traces is not None
    assert result.traces["output"]["claims"][1]["verdict"] == "minor"


def test_results_and_scores_copy_and_pickle() -> None:
    result: Any = metric(TWO).score(**ROW)
    score: Any = TCVAMetric(llm=ScriptedLLM(lambda _: TWO)).single_turn_score(turn())
    for each in (result, score):
        for other in (
            copy.copy(each),
            copy.deepcopy(each),
            pickle.loads(pickle.dumps(each)),
        ):
            assert type(other) is type(each)
            assert (other, other.result) == (each, each.result)
    assert copy.copy(result).traces == result.traces


def test_a_failing_judge_is_nan_with_its_reason() -> None:
    tcva = metric(verdict_json())
    for result in (tcva.score(**ROW), asyncio.run(tcva.ascore(**ROW))):
        assert math.isnan(result.value)
        assert result.result.unscored is not None
        assert result.result.unscored.reason is Reason.UNREADABLE_REPLY
        assert "unreadable_reply" in str(result.reason)


@pytest.mark.parametrize(("rows", "said"), [
    ([ROW, ROW | {"response": 5}], r"inputs\[1\].*field 'response' must be a string, got int"),
    ([ROW | {"retrieved_contexts": [1]}], r"inputs\[0\].*field 'retrieved_contexts' .*got int"),
    ([None], r"inputs\[0\] must be a dict.*got None"),
    (ROW, r"inputs\[0\] must be a dict.*got 'user_input'"),
])  # fmt: skip
def test_rows_that_cannot_be_read_are_refused_before_any_call(
    rows: Any, said: str
) -> None:
    llm = ScriptedInstructorLLM(lambda _: TWO)
    with pytest.raises(InvalidSampleError, match=said):
        TCVACollectionMetric(llm).batch_score(rows)
    with pytest.raises(InvalidSampleError, match=said):
        asyncio.run(TCVACollectionMetric(llm).abatch_score(rows))
    assert llm.prompts == []


def test_results_have_a_hash_that_agrees_with_equality() -> None:
    # RAGAS compares results by value, with each other and with plain numbers.
    first, second = metric(TWO).score(**ROW), metric(TWO).score(**ROW)
    assert first == second == first.value
    assert ({first, second, first.value}, len({first, first.at(0.9)})) == ({first}, 2)
