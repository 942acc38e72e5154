"""A query engine that serves only what its sources support."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    PydanticResponse,
    Response,
)
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from tcva_adapters._adapter.evaluator import require
from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.errors import TCVAError
from tcva_adapters.llamaindex.evaluator import ScorerEvaluator
from tcva_adapters.llamaindex.samples import aread_response, read_response
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings_base import check
from tcva_adapters.samples.json_values import Json
from tcva_adapters.serving import REFUSAL, OnFail, serve
from tcva_adapters.tcva import TCVA


class BelowThresholdError(TCVAError, ValueError):
    """An answer did not pass a query engine with ``on_fail="raise"``.

    Attributes:
        response: The response of the engine behind it.
        result: The result of its answer.
    """

    def __init__(self, response: RESPONSE_TYPE, result: Result) -> None:
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
        scorer: Any = getattr(evaluator, "scorer", None)
        require(
            isinstance(scorer, TCVA) and "reference" not in scorer.required,
            "evaluator",
            evaluator,
            "a TCVAEvaluator whose criterion needs no reference answer",
        )
        super().__init__(query_engine.callback_manager)
        self.query_engine = query_engine
        self.evaluator = evaluator
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

    def _served(self, query: QueryBundle, response: RESPONSE_TYPE) -> RESPONSE_TYPE:
        answer = read_response(response)
        evaluation = self.evaluator.evaluate(str(query), **_with_text(answer))
        return self._served_as(response, evaluation.result)

    async def _aserved(
        self, query: QueryBundle, response: RESPONSE_TYPE
    ) -> RESPONSE_TYPE:
        answer = await aread_response(response)
        evaluation = await self.evaluator.aevaluate(str(query), **_with_text(answer))
        return self._served_as(response, evaluation.result)

    def _served_as(self, response: RESPONSE_TYPE, result: Result) -> RESPONSE_TYPE:
        served = serve(result, self.on_fail, refusal=self.refusal)
        if self.on_fail == "raise" and served.failed:
            raise BelowThresholdError(response, result)
        metadata: Json = {**(response.metadata or {}), "tcva": served.to_dict()}
        if isinstance(response, PydanticResponse):
            if served.text == read_response(response)["response"]:
                return replace(response, metadata=metadata)
            metadata["tcva"]["is_refused"] = True
            return Response(self.refusal, response.source_nodes, metadata)
        return Response(served.text, response.source_nodes, metadata)


def _with_text(answer: Arguments) -> Arguments:
    """Put an empty answer in place of none, which some engines return."""
    return {**answer, "response": answer["response"] or ""}
