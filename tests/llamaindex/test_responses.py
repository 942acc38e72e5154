"""The types of responses that LlamaIndex' engines return, streams among them."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.llms import CompletionResponse, CompletionResponseGen
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import BaseModel

from tcva_adapters import CCRS, TCVA, Result
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.llamaindex import (
    ScorerEvaluationResult,
    ScorerEvaluator,
    TCVAEvaluator,
    result_of,
)
from tcva_adapters.results.judgement import Reason
from tests.llamaindex.entry import CONTEXTS, ScriptedLLM, reason_of, scripted
from tests.support.office import ONE, QUERY


def nodes(*texts: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=text), score=0.5) for text in texts]


TEXT = "The office opens at nine."


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
        return PydanticResponse(Answer(text=TEXT), sources)
    return (AgentChatResponse if kind == "chat" else Response)(
        TEXT, source_nodes=sources
    )


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("kind", ["plain", "streaming", "async", "pydantic", "chat"])
def test_all_response_types(kind: str, is_async: bool) -> None:
    evaluator = TCVAEvaluator(scripted(ONE))

    async def awaited() -> ScorerEvaluationResult[Result]:
        return await evaluator.aevaluate_response(QUERY, response_of(kind))

    if kind == "async" and not is_async:
        with pytest.raises(InvalidValueError, match="aevaluate_response"):
            evaluator.evaluate_response(QUERY, response_of(kind))
        return
    face = evaluator.evaluate_response
    result = asyncio.run(awaited()) if is_async else face(QUERY, response_of(kind))
    assert (result.score, result.contexts) == (1.0, CONTEXTS)
    assert result.response == (
        '{"text":"' + TEXT + '"}' if kind == "pydantic" else TEXT
    )


def test_a_judged_stream_stays_readable() -> None:
    response = response_of("streaming")
    TCVAEvaluator(scripted(ONE)).evaluate_response(QUERY, response)
    assert str(response) == TEXT


@pytest.mark.parametrize("response", [None, Response(None), PydanticResponse(None)])
def test_a_response_without_text_is_a_missing_field(response: Any) -> None:
    evaluator = TCVAEvaluator(scripted())
    with pytest.raises(InvalidSampleError, match="no response"):
        evaluator.evaluate_response(QUERY, response)
    result = asyncio.run(evaluator.aevaluate_response(QUERY, response))
    assert "missing_field" in (result.invalid_reason or "")


def test_a_string_is_a_response_without_source_nodes() -> None:
    relevant = TCVAEvaluator(scripted(ONE), criterion="answer_relevancy")
    assert relevant.evaluate_response("When does the office open?", TEXT).score == 1.0
    faithful = TCVAEvaluator(scripted(ONE))
    with pytest.raises(InvalidSampleError, match="no contexts"):
        faithful.evaluate_response(QUERY, TEXT)
    assert faithful.evaluate_response(QUERY, TEXT, contexts=CONTEXTS).score == 1.0


class Talker(ScriptedLLM):
    """Says one sentence in two pieces."""

    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponseGen:
        del prompt
        pieces = ("The office ", "opens at nine.")
        return (CompletionResponse(text=piece, delta=piece) for piece in pieces)


class Notes(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return nodes(*CONTEXTS)


def test_a_chat_engines_stream_is_read_to_its_end() -> None:
    # The default memory leaves an open database connection behind.
    memory = ChatMemoryBuffer(token_limit=100)
    engine = ContextChatEngine.from_defaults(
        Notes(), llm=Talker(reply=str), memory=memory
    )
    response = engine.stream_chat(QUERY)
    result = TCVAEvaluator(scripted(ONE)).evaluate_response(QUERY, response)
    assert (result.score, result.response) == (1.0, TEXT)
    assert "".join(response.response_gen) == TEXT

    async def inside() -> ScorerEvaluationResult[Result]:
        evaluator = TCVAEvaluator(scripted(ONE))
        response = await engine.astream_chat(QUERY)
        with pytest.raises(InvalidValueError, match="aevaluate_response"):
            evaluator.evaluate_response(QUERY, response)
        return await evaluator.aevaluate_response(QUERY, response)

    assert asyncio.run(inside()).score == 1.0


@pytest.mark.parametrize("response", [5, ["text"], {"response": "text"}, b"text"])
def test_values_that_are_no_response_are_named_and_cost_no_batch(response: Any) -> None:
    evaluator = TCVAEvaluator(scripted())
    with pytest.raises(InvalidValueError, match="response must be") as caught:
        evaluator.evaluate_response(QUERY, response)
    assert f"got {response!r}" in str(caught.value)
    result = asyncio.run(evaluator.aevaluate_response(QUERY, response))
    assert (result.query, result.score, reason_of(result)) == (
        QUERY,
        None,
        Reason.INVALID_INPUT,
    )
    assert "response must be" in (result.invalid_reason or "")


def test_a_stream_that_breaks_costs_no_batch() -> None:
    async def broken() -> AsyncGenerator[str, None]:
        yield "The office "
        msg = "the line went dead"
        raise ConnectionError(msg)

    evaluator = TCVAEvaluator(scripted(), on_unscored=1.0)
    response = AsyncStreamingResponse(broken())
    result = asyncio.run(evaluator.aevaluate_response(QUERY, response))
    assert (result.query, result.score, result.invalid_result) == (QUERY, None, True)
    assert reason_of(result) is Reason.INVALID_INPUT
    assert "the line went dead" in (result.invalid_reason or "")


ASKED = "When does the office open?"
SAID = "The office opens at nine. Dogs bark."
GIVEN = ["The office opens at nine on weekdays."]


def evaluations() -> list[ScorerEvaluationResult[Any]]:
    """One of each kind: scored, fused, rated, and without a score."""
    scorers: list[Any] = [
        TCVA(judge="lexical", temperature="strict", scheme="linear"),
        TCVA(judge="lexical", fuse=TCVA("answer_relevancy", judge="lexical")),
        CCRS("qr", judge="lexical", threshold=0.9),
    ]
    found = [ScorerEvaluator(each).evaluate(ASKED, SAID, GIVEN) for each in scorers]
    return [*found, ScorerEvaluator(scorers[0]).evaluate(ASKED, SAID, [])]


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
    again = ScorerEvaluationResult[Any].model_validate_json(
        evaluation.model_dump_json()
    )
    assert again.model_dump() == evaluation.model_dump()


OTHERS = [
    EvaluationResult(score=1.0),
    {"score": 1.0},
    "not JSON",
    5,
    None,
    {"rated": None},
]


@pytest.mark.parametrize("other", OTHERS)
def test_values_without_a_result_are_named(other: Any) -> None:
    with pytest.raises(UnreadableInputError, match=r"(no|not a) result"):
        result_of(other)
