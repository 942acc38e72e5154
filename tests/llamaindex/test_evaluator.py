"""TCVAEvaluator called directly. The LLM is scripted, all else is LlamaIndex."""

from __future__ import annotations

import asyncio
import copy
import inspect
import math
import pickle
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatResponse
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.llms import CompletionResponse, CompletionResponseGen
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from pydantic import BaseModel

from tcva_adapters import TCVA, Panel, Result, Sample, Verdict
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, TCVAError
from tcva_adapters.llamaindex import LexicalLLM, ScorerEvaluationResult, TCVAEvaluator
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.settings import settings_of
from tcva_adapters.tcva import TCVASettings
from tests.llamaindex.entry import ScriptedLLM, scripted
from tests.support.scripted import ScriptedModel, verdict_json

QUERY = "When does the office open, and what does parking cost?"
RESPONSE = "The office opens at nine. Parking costs money."
CONTEXTS = ["The office opens at nine on weekdays."]
TWO = verdict_json((1, "fully", "opens at nine"), (2, "minor", ""))
SCORE = 0.65  # weights 1 and .3, T=.5: p=1, the plain mean; no `none`, so no penalty
ONE = verdict_json((1, "fully", "opens at nine"))


def evaluated(evaluator: TCVAEvaluator, **kwargs: Any) -> ScorerEvaluationResult[Result]:
    result = evaluator.evaluate(query=QUERY, response=RESPONSE, contexts=CONTEXTS, **kwargs)
    assert isinstance(result, ScorerEvaluationResult)
    return result


def reason_of(evaluation: ScorerEvaluationResult[Result]) -> Reason | None:
    unscored = evaluation.result.unscored
    return None if unscored is None else unscored.reason


def nodes(*texts: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=text), score=0.5) for text in texts]


# --- the result --------------------------------------------------------------------------------


def test_the_result_is_llamaindex_own_with_claims_and_a_dial() -> None:
    llm = scripted(TWO)
    result = evaluated(TCVAEvaluator(llm))
    assert isinstance(result, EvaluationResult)
    assert result.score == pytest.approx(SCORE, abs=1e-12)
    assert result.passing is True
    assert (result.query, result.response, result.contexts) == (QUERY, RESPONSE, CONTEXTS)
    assert not result.invalid_result
    assert result.invalid_reason is None
    assert [c.verdict for c in result.claims] == [Verdict.FULLY, Verdict.MINOR]
    assert [c.evidence for c in result.claims] == ["opens at nine", ""]
    assert result.feedback is not None
    assert "Parking costs money." in result.feedback
    # T=.1 gives p=-8: ((1 + .3^-8) / 2)^(-1/8)
    strict = result.at(0.1, threshold=0.3)
    assert strict.score == pytest.approx(((1 + 0.3**-8) / 2) ** (-1 / 8), abs=1e-12)
    assert strict.passing is True
    assert strict.response == RESPONSE
    assert "T=0.1" in (strict.feedback or "")
    assert len(llm.prompts) == 1


def test_the_result_survives_json() -> None:
    result = evaluated(TCVAEvaluator(scripted(TWO), temperature="strict", scheme="linear"))
    again: ScorerEvaluationResult[Result]
    again = ScorerEvaluationResult.model_validate_json(result.model_dump_json())
    assert again == result
    assert again.at(0.9).score == result.at(0.9).score


def test_the_score_is_the_one_of_the_scorer() -> None:
    sample = Sample(input=QUERY, response=RESPONSE, contexts=tuple(CONTEXTS))
    options: dict[str, Any] = {"temperature": 0.37, "scheme": "aggressive", "penalty": "ramped"}
    expected = TCVA(judge=scripted(TWO), **options).evaluate(sample)
    result = evaluated(TCVAEvaluator(scripted(TWO), **options))
    assert result.score == expected.score
    assert result.result.claims == expected.claims
    assert result.feedback == expected.reason


def test_a_failing_score_says_why() -> None:
    result = evaluated(TCVAEvaluator(scripted(TWO), threshold=0.9))
    assert result.passing is False
    assert "0.650 < 0.9" in (result.feedback or "")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("what a lovely day", Reason.UNREADABLE_REPLY),
        (TimeoutError("slow"), Reason.TIMEOUT),
        (RuntimeError("the server went away"), Reason.JUDGE_ERROR),
    ],
)
def test_a_failed_judgement_is_an_invalid_result(answer: Any, reason: Reason) -> None:
    llm = scripted(answer, answer)
    evaluator = TCVAEvaluator(llm, on_unscored=0.0)
    result = evaluated(evaluator)
    assert (result.score, result.passing, result.invalid_result) == (None, None, True)
    assert result.result.unscored is not None
    assert result.result.unscored.reason is reason
    assert reason.value in (result.invalid_reason or "")
    assert result.feedback == result.invalid_reason  # retry engines refuse None


def test_on_unscored_scores_what_has_no_score_of_its_own() -> None:
    evaluator = TCVAEvaluator(scripted(), on_unscored=1.0)
    result = evaluator.evaluate(query=QUERY, response=RESPONSE, contexts=[])
    assert (result.score, result.passing, result.invalid_result) == (1.0, True, False)
    assert TCVAEvaluator(scripted()).evaluate(response=RESPONSE, contexts=[]).invalid_result


def test_unicode_comes_through() -> None:
    text = "Das Büro öffnet um neun – 朝九時です 🕘."
    llm = scripted(verdict_json((1, "fully", "朝九時です 🕘")))
    result = TCVAEvaluator(llm).evaluate(query="何時?", response=text, contexts=[text])
    assert result.score == 1.0
    assert text in llm.prompts[0]


# --- every way to call it ----------------------------------------------------------------------


def test_sync_and_async_are_the_same_in_every_place() -> None:
    evaluator = TCVAEvaluator(ScriptedLLM(reply=lambda _: TWO))

    async def inside() -> list[ScorerEvaluationResult[Result]]:
        awaited = await evaluator.aevaluate(query=QUERY, response=RESPONSE, contexts=CONTEXTS)
        return [awaited, evaluated(evaluator)]

    results = [evaluated(evaluator), *asyncio.run(inside()), evaluated(evaluator)]
    with ThreadPoolExecutor(4) as pool:
        results += pool.map(lambda _: evaluated(evaluator), range(8))
    assert {result.score for result in results} == {results[0].score}


def test_the_sync_face_does_not_use_the_async_one() -> None:
    class SyncOnly(ScriptedLLM):
        async def achat(self, *_: Any, **__: Any) -> ChatResponse:
            raise AssertionError

    assert evaluated(TCVAEvaluator(SyncOnly(reply=lambda _: TWO))).score == pytest.approx(SCORE)


def test_cancelling_leaves_the_evaluator_usable() -> None:
    class Slow(ScriptedLLM):
        async def achat(self, *_: Any, **__: Any) -> ChatResponse:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    asked = asyncio.Event()

    async def cancelled() -> None:
        task = asyncio.create_task(
            evaluator.aevaluate(query=QUERY, response=RESPONSE, contexts=CONTEXTS)
        )
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    evaluator = TCVAEvaluator(Slow(reply=lambda _: TWO))
    asyncio.run(cancelled())
    assert evaluated(evaluator).score == pytest.approx(SCORE)


@pytest.mark.parametrize("is_async", [False, True])
def test_one_sample_may_have_its_own_setting(is_async: bool) -> None:
    llm = ScriptedLLM(reply=lambda _: TWO)
    evaluator = TCVAEvaluator(llm)
    arguments: dict[str, Any] = {
        "query": QUERY,
        "response": RESPONSE,
        "contexts": CONTEXTS,
        "temperature": 0.1,
        "threshold": 0.9,
        "something_for_another_evaluator": 1,
        "sleep_time_in_seconds": 0.001,
    }
    result = (
        asyncio.run(evaluator.aevaluate(**arguments))
        if is_async
        else evaluator.evaluate(**arguments)
    )
    assert result.score == pytest.approx(((1 + 0.3**-8) / 2) ** (-1 / 8), abs=1e-12)
    assert result.result.scoring.threshold == 0.9
    assert evaluated(evaluator).score == pytest.approx(SCORE)
    assert len(llm.prompts) == 1  # settings of the dial ask for no other judgement
    assert "at T=0.2" in (evaluated(evaluator, temperature="strict").feedback or "")


@pytest.mark.parametrize(
    "setting",
    [
        {"temperature": 7},
        {"temperature": True},
        {"temperature": math.nan},
        {"temperature": "sharp"},
        {"threshold": 2},
        {"threshold": True},
        {"threshold": "0.5"},
    ],
)
def test_a_wrong_setting_of_one_sample_costs_no_call_and_no_batch(setting: dict[str, Any]) -> None:
    llm = scripted()
    evaluator = TCVAEvaluator(llm, on_unscored=1.0)
    (name,) = setting
    with pytest.raises(InvalidValueError, match=name):
        evaluated(evaluator, **setting)
    given: dict[str, Any] = {"query": QUERY, "response": RESPONSE, "contexts": CONTEXTS}
    result = asyncio.run(evaluator.aevaluate(**given, **setting))
    assert (result.score, result.invalid_result) == (None, True)
    assert reason_of(result) is Reason.INVALID_INPUT
    assert name in (result.invalid_reason or "")
    assert (result.query, result.response, result.contexts) == (QUERY, RESPONSE, CONTEXTS)
    assert llm.prompts == []


@pytest.mark.parametrize(
    "setting",
    ["llm", "temperature", "threshold", "criterion", "context_metadata_mode", "scorer", "anything"],
)
def test_a_built_evaluator_is_frozen(setting: str) -> None:
    evaluator = TCVAEvaluator("lexical")
    with pytest.raises(
        InvalidValueError, match=f"{setting}='strict' on a built evaluator"
    ) as error:
        setattr(evaluator, setting, "strict")
    assert f"changed({setting}=...) gives a copy" in str(error.value)
    assert evaluated(evaluator).result.scoring.temperature == 0.5


def test_a_changed_evaluator_is_a_copy() -> None:
    llm, other = scripted(TWO), scripted(ONE)
    evaluator = TCVAEvaluator(llm)
    strict = evaluator.changed(temperature="strict", context_metadata_mode="llm")
    assert evaluated(strict).result.scoring.temperature == 0.2
    assert strict.context_metadata_mode is MetadataMode.LLM
    assert evaluated(evaluator).result.scoring.temperature == 0.5
    assert evaluator.context_metadata_mode is MetadataMode.NONE
    assert len(llm.prompts) == 1
    another = evaluator.changed(llm=other, criterion="correctness")
    assert (another.scorer.criterion.name, evaluator.scorer.criterion.name) == (
        "correctness",
        "faithfulness",
    )
    another.evaluate(QUERY, "It opens at nine.", CONTEXTS, reference="It opens at nine.")
    assert (len(llm.prompts), len(other.prompts)) == (1, 1)
    for wrong in ({"temperature": 7}, {"tone": 1}, {"context_metadata_mode": "some"}):
        with pytest.raises(InvalidValueError, match=next(iter(wrong))):
            evaluator.changed(**wrong)


def test_signatures_show_every_setting_once() -> None:
    shown = inspect.signature(TCVAEvaluator).parameters
    settings = settings_of(TCVASettings)
    assert list(shown) == ["llm", "criterion", "context_metadata_mode", *settings]
    assert all(shown[name].default == setting.default for name, setting in settings.items())


def test_evaluators_and_results_copy_and_pickle() -> None:
    evaluator = TCVAEvaluator("lexical", temperature=0.9)
    result = evaluated(evaluator)
    other: TCVAEvaluator
    for other in (
        copy.copy(evaluator),
        copy.deepcopy(evaluator),
        pickle.loads(pickle.dumps(evaluator)),
    ):
        assert evaluated(other).score == result.score
    for again in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert again == result
        assert again.at(0.2).score == result.at(0.2).score


# --- the four response types -------------------------------------------------------------------


class Answer(BaseModel):
    text: str


def stream() -> Iterator[str]:
    yield "The office opens "
    yield "at nine."


async def astream() -> AsyncGenerator[str, None]:
    for piece in stream():
        yield piece


def response_of(kind: str) -> Any:
    sources = nodes(*CONTEXTS)
    if kind == "streaming":
        return StreamingResponse(stream(), sources)  # type: ignore[arg-type]  # an iterator serves
    if kind == "async":
        return AsyncStreamingResponse(astream(), sources)
    if kind == "pydantic":
        return PydanticResponse(Answer(text="The office opens at nine."), sources)
    return Response("The office opens at nine.", sources)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("kind", ["plain", "streaming", "async", "pydantic"])
def test_all_response_types(kind: str, is_async: bool) -> None:
    llm = scripted(ONE)
    evaluator = TCVAEvaluator(llm)

    async def awaited() -> ScorerEvaluationResult[Result]:
        return await evaluator.aevaluate_response(QUERY, response_of(kind))

    result = (
        asyncio.run(awaited())
        if is_async
        else evaluator.evaluate_response(QUERY, response_of(kind))
    )
    assert result.score == 1.0
    assert result.contexts == CONTEXTS
    text = "The office opens at nine."
    assert result.response == ('{"text":"' + text + '"}' if kind == "pydantic" else text)


def test_a_judged_stream_stays_readable() -> None:
    response = response_of("streaming")
    TCVAEvaluator(scripted(ONE)).evaluate_response(QUERY, response)
    assert str(response) == "The office opens at nine."


def test_an_async_stream_inside_a_loop_is_sent_to_the_async_face() -> None:
    async def inside() -> None:
        TCVAEvaluator(scripted(ONE)).evaluate_response(QUERY, response_of("async"))

    with pytest.raises(InvalidValueError, match="aevaluate_response"):
        asyncio.run(inside())


@pytest.mark.parametrize("response", [None, Response(None), PydanticResponse(None)])
def test_a_response_without_text_is_a_missing_field(response: Any) -> None:
    evaluator = TCVAEvaluator(scripted())
    with pytest.raises(InvalidSampleError, match="no response"):
        evaluator.evaluate_response(QUERY, response)
    result = asyncio.run(evaluator.aevaluate_response(QUERY, response))
    assert "missing_field" in (result.invalid_reason or "")


def test_a_string_is_a_response_without_source_nodes() -> None:
    text = "The office opens at nine."
    relevant = TCVAEvaluator(scripted(ONE), criterion="answer_relevancy")
    assert relevant.evaluate_response("When does the office open?", text).score == 1.0
    faithful = TCVAEvaluator(scripted(ONE))
    with pytest.raises(InvalidSampleError, match="no contexts"):
        faithful.evaluate_response(QUERY, text)
    assert faithful.evaluate_response(QUERY, text, contexts=CONTEXTS).score == 1.0


def test_a_chat_engines_response_is_one_too() -> None:
    response = AgentChatResponse("The office opens at nine.", source_nodes=nodes(*CONTEXTS))
    assert TCVAEvaluator(scripted(ONE)).evaluate_response(QUERY, response).score == 1.0


class Talker(ScriptedLLM):
    """Says one sentence in two pieces."""

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        del prompt, formatted, kwargs
        pieces = ("The office ", "opens at nine.")
        return (CompletionResponse(text=piece, delta=piece) for piece in pieces)


class Notes(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return nodes(*CONTEXTS)


def test_a_chat_engines_stream_is_read_to_its_end() -> None:
    # The default memory leaves an open database connection behind.
    memory = ChatMemoryBuffer(token_limit=100)
    engine = ContextChatEngine.from_defaults(Notes(), llm=Talker(reply=str), memory=memory)
    response = engine.stream_chat(QUERY)
    result = TCVAEvaluator(scripted(ONE)).evaluate_response(QUERY, response)
    assert (result.score, result.response) == (1.0, "The office opens at nine.")
    assert "".join(response.response_gen) == "The office opens at nine."

    async def inside() -> ScorerEvaluationResult[Result]:
        evaluator = TCVAEvaluator(scripted(ONE))
        response = await engine.astream_chat(QUERY)
        with pytest.raises(InvalidValueError, match="aevaluate_response"):
            evaluator.evaluate_response(QUERY, response)
        return await evaluator.aevaluate_response(QUERY, response)

    assert asyncio.run(inside()).score == 1.0


@pytest.mark.parametrize("response", [5, ["text"], {"response": "text"}, b"text"])
def test_what_is_no_response_is_named_and_costs_no_batch(response: Any) -> None:
    evaluator = TCVAEvaluator(scripted())
    with pytest.raises(InvalidValueError, match="PydanticResponse") as caught:
        evaluator.evaluate_response(QUERY, response)
    assert f"response={response!r}" in str(caught.value)
    result = asyncio.run(evaluator.aevaluate_response(QUERY, response))
    assert (result.query, result.score) == (QUERY, None)
    assert reason_of(result) is Reason.INVALID_INPUT
    assert "PydanticResponse" in (result.invalid_reason or "")


@pytest.mark.parametrize("is_async", [False, True])
def test_a_stream_that_breaks_costs_no_batch(is_async: bool) -> None:
    def broken() -> Iterator[str]:
        yield "The office "
        msg = "the line went dead"
        raise ConnectionError(msg)

    async def abroken() -> AsyncGenerator[str, None]:
        for piece in broken():
            yield piece

    pieces: Any = broken()  # an iterator serves where a generator is asked for
    response: Any = AsyncStreamingResponse(abroken()) if is_async else StreamingResponse(pieces)
    evaluator = TCVAEvaluator(scripted(), on_unscored=1.0)
    result = asyncio.run(evaluator.aevaluate_response(QUERY, response))
    assert (result.query, result.score, result.invalid_result) == (QUERY, None, True)
    assert reason_of(result) is Reason.INVALID_INPUT
    assert "the line went dead" in (result.invalid_reason or "")


@pytest.mark.parametrize(("mode", "is_seen"), [("none", False), (MetadataMode.LLM, True)])
def test_metadata_of_source_nodes_is_shown_on_demand(mode: Any, is_seen: bool) -> None:
    llm = scripted(ONE)
    node = TextNode(text=CONTEXTS[0], metadata={"updated": "2031-05-06"})
    response = Response("The office opens at nine.", [NodeWithScore(node=node)])
    TCVAEvaluator(llm, context_metadata_mode=mode).evaluate_response(QUERY, response)
    assert ("2031-05-06" in llm.prompts[0]) is is_seen


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "missing", "named"),
    [
        ("faithfulness", "contexts", "contexts"),
        ("faithfulness", "response", "response"),
        ("answer_relevancy", "query", "input"),
        ("correctness", "reference", "reference"),
        ("completeness", "reference", "reference"),
        ("context_recall", "contexts", "contexts"),
    ],
)
def test_a_missing_field_is_named(criterion: str, missing: str, named: str) -> None:
    given: dict[str, Any] = {
        "query": QUERY,
        "response": RESPONSE,
        "contexts": CONTEXTS,
        "reference": "At nine.",
    }
    given[missing] = None
    llm = scripted()
    evaluator = TCVAEvaluator(llm, criterion=criterion)
    with pytest.raises(ValueError, match=f"no {named}, which {criterion} needs"):
        evaluator.evaluate(**given)
    # The async face is what BatchEvalRunner calls: an exception there would lose the batch.
    result = asyncio.run(evaluator.aevaluate(**given))
    assert result.invalid_result
    assert reason_of(result) is Reason.MISSING_FIELD
    assert f"no {named}" in (result.invalid_reason or "")
    assert llm.prompts == []


def test_a_field_of_the_wrong_type_is_named() -> None:
    evaluator = TCVAEvaluator(scripted())
    wrong: Any = [1, 2]
    with pytest.raises(InvalidSampleError, match="contexts"):
        evaluator.evaluate(response=RESPONSE, contexts=wrong)
    result = asyncio.run(evaluator.aevaluate(query=QUERY, response=RESPONSE, contexts=wrong))
    assert "contexts" in (result.invalid_reason or "")
    assert reason_of(result) is Reason.INVALID_INPUT
    assert (result.query, result.response, result.contexts) == (QUERY, RESPONSE, None)
    no_text: Any = 5
    result = asyncio.run(evaluator.aevaluate(query=QUERY, response=no_text, contexts=CONTEXTS))
    assert "response" in (result.invalid_reason or "")
    assert (result.query, result.response, result.contexts) == (QUERY, None, CONTEXTS)


@pytest.mark.parametrize(
    "options",
    [
        {option: value}
        for option, values in {
            "temperature": (0.05, "sharp", True, None, math.nan, -1, []),
            "threshold": (2, True, None, math.nan, -1, "0.5"),
            "scheme": ("steep", True, None, 3, (1.0, 0.0)),
            "penalty": ("harsh", False, None, 0),
            "floor": ("never", False, None, 0),
            "eps": (-1.0, True, False, None, math.nan, 0, "1e-9"),
            "on_unscored": (3, True, math.nan, -1),
            "criterion": ("tone", True, None, 3, ""),
            "claims": ("guess", True, None),
            "prompt": ("short", True, None),
            "max_claims": (0, True, None, math.nan, -1, 1.5),
            "context_metadata_mode": ("some", True, None, 3),
            "llm": (object(), "gpt-9", True, 0, ""),
        }.items()
        for value in values
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_wrong_option_is_refused_when_built(options: dict[str, Any]) -> None:
    llm = scripted()
    with pytest.raises(InvalidValueError) as caught:
        TCVAEvaluator(**{"llm": llm, **options})
    name, value = next(iter(options.items()))
    assert repr(value) in str(caught.value) or name in str(caught.value)
    assert llm.prompts == []


# --- judges ------------------------------------------------------------------------------------


def test_the_judge_is_settings_llm_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = scripted(TWO)
    monkeypatch.setattr(Settings, "_llm", llm)
    assert evaluated(TCVAEvaluator()).score == pytest.approx(SCORE)
    assert len(llm.prompts) == 1


def test_no_judge_at_all_is_said_when_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", None)
    monkeypatch.delenv("IS_TESTING", raising=False)
    with pytest.raises(InvalidValueError, match=r"Settings\.llm") as caught:
        TCVAEvaluator()
    assert isinstance(caught.value.__cause__, ImportError | ValueError)


def test_the_lexical_judge_needs_no_llm() -> None:
    result = TCVAEvaluator("lexical").evaluate(response=CONTEXTS[0], contexts=CONTEXTS)
    assert result.score == 1.0
    assert "lexical" in result.result.assessment.judge


@pytest.mark.parametrize("framework", ["ragas", "langchain", "llamaindex", "deepeval"])
def test_the_lexical_judge_is_known_in_every_dress(framework: str) -> None:
    llm = import_module(f"tcva_adapters.{framework}").LexicalLLM()
    result = evaluated(TCVAEvaluator(llm))
    expected = evaluated(TCVAEvaluator("lexical"))
    assert (result.score, result.claims) == (expected.score, expected.claims)
    assert result.result.assessment.judge == expected.result.assessment.judge


def test_the_lexical_llm_in_settings_serves_ours_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", LexicalLLM())
    assert evaluated(TCVAEvaluator()).score == evaluated(TCVAEvaluator("lexical")).score


def test_a_store_saves_the_call(tmp_path: Path) -> None:
    llm = scripted(TWO)
    first = evaluated(TCVAEvaluator(llm, store=tmp_path / "verdicts.sqlite"))
    again = evaluated(TCVAEvaluator(llm, store=tmp_path / "verdicts.sqlite", temperature=0.1))
    assert again.result.assessment.from_store
    assert again.claims == first.claims


def test_claims_may_be_asked_of_the_judge() -> None:
    llm = scripted('{"claims": ["The office opens at nine."]}', ONE)
    assert evaluated(TCVAEvaluator(llm, claims="llm")).score == 1.0
    assert len(llm.prompts) == 2


@pytest.mark.parametrize("name", ["correctness", "completeness", "context_recall"])
def test_criteria_with_a_reference(name: str) -> None:
    llm = scripted(ONE)
    text = "The office opens at nine."
    evaluator = TCVAEvaluator(llm, criterion=name)
    result = evaluator.evaluate(query=QUERY, response=text, contexts=[text], reference=text)
    assert (result.score, result.result.assessment.criterion) == (1.0, name)


# --- prompts -----------------------------------------------------------------------------------


def test_prompts_can_be_read_and_replaced() -> None:
    llm = scripted(TWO, TWO)
    evaluator = TCVAEvaluator(llm, share=False)
    assert list(evaluator.get_prompts()) == [
        "wording",
        "fully",
        "mostly",
        "partial",
        "minor",
        "none",
    ]
    evaluator.update_prompts(
        {
            "wording": PromptTemplate("Weigh each claim against the {what}.").partial_format(
                what="house rules"
            ),
            "minor": PromptTemplate("a faint echo of the rules"),
        }
    )
    evaluated(evaluator)
    assert "Weigh each claim against the house rules." in llm.prompts[0]
    assert "- minor: a faint echo of the rules" in llm.prompts[0]
    evaluator.update_prompts(evaluator.get_prompts())
    evaluated(evaluator)
    assert llm.prompts[1] == llm.prompts[0]


def test_prompts_reach_every_judge_of_the_criterion() -> None:
    models = [ScriptedModel([TWO], name=name) for name in ("one", "two", "further", "other")]
    one, two, further, other = models
    own = TCVA("answer_relevancy", judge=other)
    evaluator = TCVAEvaluator(Panel([one, two]), fuse=[further, own])
    evaluator.update_prompts({"wording": PromptTemplate("Decide otherwise.")})
    evaluated(evaluator)
    reached = ["Decide otherwise." in model.requests[0].system for model in models]
    assert reached == [True, True, True, False]


def test_other_wording_is_another_judgement_for_the_store(tmp_path: Path) -> None:
    llm = scripted(TWO, TWO)
    evaluator = TCVAEvaluator(llm, store=tmp_path / "verdicts.sqlite")
    evaluated(evaluator)
    evaluator.update_prompts({"wording": PromptTemplate("Decide otherwise.")})
    evaluated(evaluator)
    assert len(llm.prompts) == 2


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        ({"eval_template": PromptTemplate("x")}, "eval_template"),
        ({"wording": PromptTemplate("Judge {query_str}")}, "query_str"),
        ({"wording": PromptTemplate("   ")}, "wording"),
    ],
)
def test_prompts_that_would_not_be_used_are_refused(prompts: Any, said: str) -> None:
    evaluator = TCVAEvaluator(scripted())
    before = evaluator.get_prompts()
    with pytest.raises(TCVAError, match=said):
        evaluator.update_prompts(prompts)
    assert evaluator.get_prompts() == before


def test_it_is_an_evaluator_for_whoever_asks() -> None:
    assert isinstance(TCVAEvaluator(scripted()), BaseEvaluator)
