"""A query engine that serves only what its sources support."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from tcva_adapters._adapter.evaluator import require
from tcva_adapters.errors import InvalidValueError, TCVAError
from tcva_adapters.llamaindex.evaluator import ScorerEvaluator, ended
from tcva_adapters.llamaindex.results import ScorerEvaluationResult
from tcva_adapters.llamaindex.samples import read_response
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings_base import check
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.serving import REFUSAL, OnFail, ServedAnswer, serve
from tcva_adapters.streaming import AnswerStream, ServedPart
from tcva_adapters.tcva import TCVA

MARKS = "tcva"
"""The key of the marks in the metadata of responses."""

_STREAMS = (StreamingResponse, AsyncStreamingResponse)


class BelowThresholdError(TCVAError, ValueError):
    """An answer did not pass a query engine with ``on_fail="raise"``.

    Attributes:
        response: The response of the engine behind it.
        result: The result of its answer.
    """

    def __init__(self, response: RESPONSE_TYPE, result: Scored) -> None:
        super().__init__(response, result)
        self.response = response
        self.result = result

    def __str__(self) -> str:
        return self.result.reason


class TCVAQueryEngine(BaseQueryEngine):
    """Answers with another query engine, and serves what the evaluator lets through.

    Source nodes stay. What was judged stands in the ``metadata`` of the response under ``tcva``: the
    claims with level, reason, quote and place, and whether the answer was refused. A streaming
    response is cut while it streams; its metadata is whole at the end of the stream. A
    `PydanticResponse` is never cut: it stays, or is refused as a whole.

    Args:
        query_engine: The engine that answers. `retrieve` is its own, `synthesize` is judged, too.
        evaluator: An evaluator of a `TCVA` that judges the response.
        on_fail: What happens to unsupported claims: ``flag`` (the answer whole, marks in the
            metadata), ``remove`` (the answer without them), ``refuse`` (`refusal` instead of an
            answer that does not pass) or ``raise`` (`BelowThresholdError`).
        refusal: The text in place of an answer that is refused, or of which nothing is left.

    Raises:
        InvalidValueError: An argument is of the wrong kind, or the criterion needs a reference
            answer.
    """

    def __init__(
        self,
        query_engine: BaseQueryEngine,
        evaluator: ScorerEvaluator[Result],
        *,
        on_fail: OnFail = "remove",
        refusal: str = REFUSAL,
    ) -> None:
        require(
            isinstance(query_engine, BaseQueryEngine),
            "query_engine",
            query_engine,
            "a query engine of LlamaIndex",
        )
        tcva = getattr(evaluator, "scorer", None)
        if not isinstance(tcva, TCVA) or "reference" in tcva.required:
            raise InvalidValueError(
                "evaluator must be a TCVAEvaluator whose criterion needs no reference answer, "
                f"got {evaluator!r:.80}"
            )
        if on_fail in {"flag", "remove"} and (why := tcva.not_in_parts()):
            raise InvalidValueError(f"on_fail={on_fail!r} needs sentences, and {why}")
        super().__init__(query_engine.callback_manager)
        self.query_engine = query_engine
        self.evaluator = evaluator
        self.tcva = tcva
        self.on_fail: OnFail = check(OnFail, "on_fail", on_fail)
        self.refusal = check(str, "refusal", refusal)

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Retrieve as the engine behind it does."""
        return self.query_engine.retrieve(query_bundle)

    def synthesize(
        self, query_bundle: QueryBundle, *nodes: Any, **options: Any
    ) -> RESPONSE_TYPE:
        """Answer from these nodes, and serve what the evaluator lets through."""
        response = self.query_engine.synthesize(query_bundle, *nodes, **options)
        return self._served(query_bundle, response)

    async def asynthesize(
        self, query_bundle: QueryBundle, *nodes: Any, **options: Any
    ) -> RESPONSE_TYPE:
        """The same, awaited."""
        response = await self.query_engine.asynthesize(query_bundle, *nodes, **options)
        return await self._aserved(query_bundle, response)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._served(query_bundle, self.query_engine.query(query_bundle))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        response = await self.query_engine.aquery(query_bundle)
        return await self._aserved(query_bundle, response)

    def get_prompts(self) -> PromptDictType:
        """Return the prompts of the engine behind it, under its names."""
        return self.query_engine.get_prompts()

    def update_prompts(self, prompts_dict: PromptDictType) -> None:
        """Update the prompts of the engine behind it."""
        self.query_engine.update_prompts(prompts_dict)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"query_engine": self.query_engine}

    def _served(self, query: QueryBundle, response: Any) -> RESPONSE_TYPE:
        if isinstance(response, _STREAMS):
            return self._streamed(query, response)
        evaluation = self.evaluator.evaluate(**_judged(query, response))
        return self._served_as(response, evaluation)

    async def _aserved(self, query: QueryBundle, response: Any) -> RESPONSE_TYPE:
        if isinstance(response, _STREAMS):
            return self._streamed(query, response)
        evaluation = await self.evaluator.aevaluate(**_judged(query, response))
        return self._served_as(response, evaluation)

    def _served_as(
        self, response: Any, evaluation: ScorerEvaluationResult[Result]
    ) -> RESPONSE_TYPE:
        served = serve(evaluation.result, self.on_fail, refusal=self.refusal)
        is_object = isinstance(response, PydanticResponse)
        if is_object and served.text != evaluation.response:
            served = replace(served, text=self.refusal, is_refused=True)
        own = response.metadata or {}
        marked: RESPONSE_TYPE = replace(
            response, metadata={**own, MARKS: served.to_dict()}
        )
        self._raise_if_failed(marked, served)
        if is_object and not served.is_refused:
            return marked
        return Response(served.text, response.source_nodes, marked.metadata)

    def _streamed(self, query: QueryBundle, response: Any) -> RESPONSE_TYPE:
        """Return a copy of a response whose stream is judged and cut while it is read."""
        nodes = response.source_nodes
        stream = AnswerStream(
            self.tcva,
            Sample(
                input=str(query),
                contexts=[node.get_content() for node in nodes],
                context_ids=tuple(node.node_id for node in nodes),
            ),
            on_fail=self.on_fail,
            refusal=self.refusal,
        )
        metadata: Json = {**(response.metadata or {}), MARKS: {"marks": []}}

        # By some engines, e.g. RetryQueryEngine.
        is_read = response.response_txt is not None

        def text_of(part: ServedPart) -> str:
            metadata[MARKS]["marks"] += part.marks
            return part.text

        def end() -> None:
            served: Any = stream.served
            metadata[MARKS] = served.to_dict()
            ended(served.result, served.result.sample)
            self._raise_if_failed(cut, served)

        def chunks() -> Generator[str]:
            texts = [response.response_txt] if is_read else response.response_gen
            yield from filter(None, map(text_of, stream.chunks(texts)))
            end()

        async def achunks() -> AsyncGenerator[str]:
            read = response.async_response_gen
            texts = read() if is_read else response.response_gen
            async with aclosing(stream.achunks(texts)) as parts:
                async for part in parts:
                    if text := text_of(part):
                        yield text
            end()

        is_async = isinstance(response, AsyncStreamingResponse)
        cut: RESPONSE_TYPE = replace(
            response,
            response_gen=achunks() if is_async else chunks(),
            response_txt=None,
            metadata=metadata,
        )
        return cut

    def _raise_if_failed(self, response: Any, served: ServedAnswer) -> None:
        if self.on_fail == "raise" and served.failed:
            raise BelowThresholdError(response, served.result)


def _judged(query: QueryBundle, response: Any) -> dict[str, Any]:
    """Return question, answer and contexts of a response."""
    read = read_response(response)
    return {"query": str(query), **read, "response": read["response"] or ""}
