"""What only LlamaIndex' evaluators have: its result, its arguments, its default judge."""

import asyncio
import copy
import pickle
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult

from tcva_adapters import CCRS, Verdict
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.llamaindex import LexicalLLM, ScorerEvaluator, TCVAEvaluator
from tcva_adapters.results.judgement import Reason
from tests.ccrs.entries import SAMPLES, judge
from tests.llamaindex.entry import CONTEXTS, ScriptedLLM, evaluated, reason_of, scripted
from tests.support.office import QUERY, RESPONSE, SCORE, TWO

STRICT = ((1 + 0.3**-8) / 2) ** (-1 / 8)  # T=.1 gives p=-8
GIVEN: dict[str, Any] = {"query": QUERY, "response": RESPONSE, "contexts": CONTEXTS}


def test_the_result_is_llamaindex_own_with_claims_and_a_dial() -> None:
    llm = scripted(TWO)
    evaluator = TCVAEvaluator(llm)
    assert isinstance(evaluator, BaseEvaluator)
    result = evaluated(evaluator)
    assert isinstance(result, EvaluationResult)
    assert result.score == pytest.approx(SCORE, abs=1e-12)
    assert result.passing is True
    assert (result.query, result.response, result.contexts) == (
        QUERY,
        RESPONSE,
        CONTEXTS,
    )
    assert (result.invalid_result, result.invalid_reason) == (False, None)
    assert [c.verdict for c in result.claims] == [Verdict.FULLY, Verdict.MINOR]
    assert "Parking costs money." in (result.feedback or "")
    strict = result.at(0.1, threshold=0.3)
    assert strict.score == pytest.approx(STRICT, abs=1e-12)
    assert (strict.passing, strict.response) == (True, RESPONSE)
    assert "T=0.1" in (strict.feedback or "")
    assert "0.650 < 0.9" in (result.at(0.5, threshold=0.9).feedback or "")
    for again in (
        copy.copy(result),
        copy.deepcopy(result),
        pickle.loads(pickle.dumps(result)),
    ):
        assert (again, again.at(0.1).score) == (result, strict.score)
    assert len(llm.prompts) == 1


# --- one sample's own settings -----------------------------------------------------------------


@pytest.mark.parametrize("is_async", [False, True])
def test_one_sample_may_have_its_own_setting(is_async: bool) -> None:
    llm = ScriptedLLM(reply=lambda _: TWO)
    evaluator = TCVAEvaluator(llm)
    arguments: dict[str, Any] = {
        **GIVEN, "temperature": 0.1, "threshold": 0.9, "something_for_another_evaluator": 1,
        "sleep_time_in_seconds": 0.001,
    }  # fmt: skip
    awaited = evaluator.aevaluate(**arguments) if is_async else None
    result = asyncio.run(awaited) if awaited else evaluator.evaluate(**arguments)
    assert result.score == pytest.approx(STRICT, abs=1e-12)
    assert result.result.scoring.threshold == 0.9
    assert evaluated(evaluator).score == pytest.approx(SCORE)
    assert len(llm.prompts) == 1  # settings of the dial ask for no other judgement


@pytest.mark.parametrize("pause", [False, True, 0, 0.5])
def test_a_pause_is_any_number_that_llamaindex_sleeps_for(
    pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("tcva_adapters.llamaindex.evaluator.time.sleep", pauses.append)
    evaluator = TCVAEvaluator("lexical")
    assert evaluator.evaluate(**GIVEN, sleep_time_in_seconds=pause).score is not None
    assert pauses == [pause]


@pytest.mark.parametrize("pause", [None, "1", -1, float("inf")])
def test_a_pause_that_is_no_length_of_time_is_refused(pause: Any) -> None:
    with pytest.raises(InvalidValueError, match="sleep_time_in_seconds must be"):
        TCVAEvaluator("lexical").evaluate(**GIVEN, sleep_time_in_seconds=pause)


def test_ratings_have_a_threshold_for_one_sample_and_no_dial() -> None:
    evaluator = ScorerEvaluator(
        CCRS("qr", judge=ScriptedLLM(reply=judge), threshold=0.95)
    )
    texts: Any = (SAMPLES[0].input, SAMPLES[0].response)  # rated 0.9
    assert evaluator.evaluate(*texts).passing is False
    assert evaluator.evaluate(*texts, threshold=0.6).passing is True
    awaited = asyncio.run(
        evaluator.aevaluate(*texts, threshold=0.6, temperature="no dial here")
    )
    assert (awaited.passing, awaited.score) == (True, 0.9)


# --- what has no score -------------------------------------------------------------------------


def test_a_failed_judgement_is_an_invalid_result() -> None:
    result = evaluated(TCVAEvaluator(scripted(TimeoutError("slow")), on_unscored=0.0))
    assert (result.score, result.passing, result.invalid_result) == (None, None, True)
    assert reason_of(result) is Reason.TIMEOUT
    assert "timeout" in (result.invalid_reason or "")
    assert result.feedback == result.invalid_reason  # retry engines refuse None
    counted = TCVAEvaluator(scripted(), on_unscored=1.0).evaluate(
        **{**GIVEN, "contexts": []}
    )
    assert (counted.score, counted.passing, counted.invalid_result) == (
        1.0,
        True,
        False,
    )
    for name, meant in {"treshold": "threshold", "context": "contexts"}.items():
        with pytest.raises(InvalidValueError, match=f"did you mean '{meant}'"):
            TCVAEvaluator(scripted()).evaluate(**{**GIVEN, name: 0.3})


# --- judges and settings -----------------------------------------------------------------------


def test_the_judge_is_settings_llm_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = scripted(TWO)
    monkeypatch.setattr(Settings, "_llm", llm)
    assert evaluated(TCVAEvaluator()).score == pytest.approx(SCORE)
    assert evaluated(TCVAEvaluator("lexical").changed(llm=None)).score == pytest.approx(
        SCORE
    )
    assert len(llm.prompts) == 1
    monkeypatch.setattr(Settings, "_llm", LexicalLLM())
    assert evaluated(TCVAEvaluator()).score == evaluated(TCVAEvaluator("lexical")).score


def test_no_judge_at_all_is_said_when_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", None)
    monkeypatch.delenv("IS_TESTING", raising=False)
    with pytest.raises(InvalidValueError, match=r"Settings\.llm") as caught:
        TCVAEvaluator()
    assert isinstance(caught.value.__cause__, ImportError | ValueError)


def test_a_scorer_keeps_its_judge_unless_an_llm_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, given, from_settings = (ScriptedLLM(reply=judge) for _ in range(3))
    monkeypatch.setattr(Settings, "_llm", from_settings)
    texts = (SAMPLES[0].input, SAMPLES[0].response)
    ScorerEvaluator(CCRS("qr", judge=own)).evaluate(*texts)
    ScorerEvaluator(CCRS("qr", judge=own), llm=given).evaluate(*texts)
    assert [len(llm.prompts) for llm in (own, given, from_settings)] == [1, 1, 0]


def test_it_has_no_prompts_to_change() -> None:
    evaluator = ScorerEvaluator(CCRS("qr", judge="lexical"))
    assert evaluator.get_prompts() == {}
    with pytest.raises(
        InvalidValueError, match=r"prompts must be empty.*got \['instruction'\]"
    ):
        evaluator._update_prompts({"instruction": "x"})  # type: ignore[dict-item]  # refused before it is read
