"""Answers of real query engines behind a `TCVAQueryEngine`. The LLM is scripted, all else is real."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.llms import CompletionResponse, CompletionResponseGen
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import BaseModel, PrivateAttr

from tcva_adapters.llamaindex import (
    BelowThresholdError,
    TCVAEvaluator,
    TCVAQueryEngine,
)
from tcva_adapters.serving import OnFail
from tests.llamaindex.entry import ScriptedLLM

QUESTION: Final = "When does the office open?"
PASSAGE: Final = "The office opens at nine on weekdays."
GOOD: Final = "The office opens at nine on weekdays."
BAD: Final = "Bananas ripen faster in paper bags."


class Answer(BaseModel):
    """What an engine with an output class answers."""

    text: str


ANSWERS: Final = {
    "a supported and an unsupported claim": f"{GOOD} {BAD}",
    "supported claims": GOOD,
    "unsupported claims": BAD,
    "greeting": "Hello! How can I help you?",
    "refusal": "I cannot find this in the documents.",
    "claim without contexts": GOOD,
    "failed judge": f"Hello! {GOOD}",
    "object, supported": Answer(text=GOOD).model_dump_json(),
    "object, unsupported": Answer(text=BAD).model_dump_json(),
}
CASES: Final = tuple(ANSWERS)
MODES: Final[tuple[OnFail, ...]] = get_args(OnFail)
WAYS: Final = ("sync", "async", "stream", "async stream")
RAISED: Final = "(raises)"


class Writer(ScriptedLLM):
    """Writes one answer, word by word where it streams."""

    def __init__(self, answer: str) -> None:
        super().__init__(reply=lambda _: answer)

    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponseGen:
        answer = self.reply(prompt)

        def stream() -> CompletionResponseGen:
            text = ""
            for piece in answer.replace(" ", "\0 ").split("\0"):
                text += piece
                yield CompletionResponse(text=text, delta=piece)

        return stream()


class Notes(BaseRetriever):
    """Finds the same passages whatever the question."""

    def __init__(self, *passages: str) -> None:
        self.passages = passages
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        del query_bundle
        return nodes(*self.passages)


class Unsourced(CustomQueryEngine):
    """Answers without any source node, as an engine does that asks a model alone."""

    answer: str
    is_streaming: bool = False
    _asked: list[str] = PrivateAttr(default_factory=list)

    def custom_query(self, query_str: str) -> Any:
        self._asked.append(query_str)
        if self.is_streaming:
            return StreamingResponse(piece for piece in [self.answer])
        return self.answer


def nodes(*texts: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=text), score=0.5) for text in texts]


def engine_for(
    answer: str,
    passages: Sequence[str] = (PASSAGE,),
    way: str = "sync",
    *,
    is_object: bool = False,
) -> BaseQueryEngine:
    """An engine that gives this answer from these passages, if any."""
    is_streaming = "stream" in way
    if not passages:
        # LlamaIndex' own synthesizers ask no model then, and answer "Empty Response".
        return Unsourced(answer=answer, is_streaming=is_streaming)
    llm: Any = Writer(answer)
    if is_object:
        llm = llm.as_structured_llm(Answer)
    return RetrieverQueryEngine.from_args(
        Notes(*passages), llm=llm, streaming=is_streaming
    )


def engine_of(case: str, way: str = "sync") -> BaseQueryEngine:
    """The engine behind, which answers as the case says."""
    passages = () if case == "claim without contexts" else (PASSAGE,)
    return engine_for(ANSWERS[case], passages, way, is_object="object" in case)


def evaluator_of(case: str) -> TCVAEvaluator:
    """The lexical judge, or one that fails."""
    return TCVAEvaluator(broken_llm() if case == "failed judge" else "lexical")


def broken_llm() -> ScriptedLLM:
    """An LLM that raises an error."""
    return ScriptedLLM(reply=_fail)


def _fail(_: str) -> str:
    raise ConnectionError("the line went dead")


@dataclass
class Served:
    """What came out.

    Attributes:
        text: What the reader sees; of a stream, all pieces joined.
        pieces: The pieces of a stream, or the text alone.
        response: The response.
        error: What was raised.
    """

    pieces: list[str] = field(default_factory=list)
    response: Any = None
    error: BelowThresholdError | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def marks(self) -> Any:
        return self.response.metadata["tcva"]


def serve(engine: BaseQueryEngine, way: str = "sync") -> Served:
    """Ask the engine, and read the response to its end."""
    served = Served()

    async def awaited() -> None:
        served.response = await engine.aquery(QUESTION)
        if isinstance(served.response, AsyncStreamingResponse):
            async for piece in served.response.async_response_gen():
                served.pieces.append(piece)

    try:
        if "async" in way:
            asyncio.run(awaited())
        else:
            served.response = engine.query(QUESTION)
        if isinstance(served.response, StreamingResponse):
            for piece in served.response.response_gen:
                served.pieces.append(piece)
        elif isinstance(served.response, Response | PydanticResponse):
            served.pieces.append(str(served.response))
    except BelowThresholdError as error:
        served.error = error
    return served


def outcome(case: str, mode: OnFail, way: str) -> str:
    """What a reader gets to see, and whether an error ended it."""
    engine = TCVAQueryEngine(engine_of(case, way), evaluator_of(case), on_fail=mode)
    served = serve(engine, way)
    return served.text + RAISED * (served.error is not None)
