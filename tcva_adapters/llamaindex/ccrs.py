"""CCRSEvaluator: one of the five direct metrics wherever LlamaIndex takes an evaluator."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult
from llama_index.core.prompts.mixin import PromptDictType

from tcva_adapters.ccrs import CCRS, CCRSResult, ExactMatch
from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA
from tcva_adapters.ccrs.result import check_threshold
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.llamaindex.evaluator import readable, settings_llm
from tcva_adapters.llamaindex.samples import aread_response, read_response
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample

_SETTINGS: Final = frozenset({"metric", "llm", "threshold", "lambda_", "em", "store"})


class CCRSEvaluationResult(EvaluationResult):
    """What LlamaIndex expects of an evaluation, and the rating behind it.

    Attributes:
        rated: The rating; None where the answer could not be read as a sample.
    """

    rated: CCRSResult | None = None


class CCRSEvaluator(BaseEvaluator):
    """Rates answers with a number for one metric. One class serves all five.

    Takes the place of `CorrectnessEvaluator`, `AnswerRelevancyEvaluator` and their siblings, also
    in `BatchEvalRunner`.

    Args:
        metric: ``cc``, ``qr``, ``id``, ``ac`` or ``ir``, or a long name.
        llm: The judge: a LlamaIndex LLM, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object. By default ``Settings.llm``.
        threshold: A score passes from here on.
        lambda_: What the exact match weighs in answer correctness.
        em: The exact match, ``strict`` or ``normalised``.
        store: A path or a `VerdictStore`.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or there is no judge; raised
            before any call.
        MissingDependencyError: The judge's package is not installed.

    >>> evaluator = CCRSEvaluator("qr", "lexical")
    >>> evaluator.evaluate("Where is the car?", "The car is at home.").score
    1.0
    """

    def __init__(
        self,
        metric: str,
        llm: Any = None,
        *,
        threshold: float = 0.5,
        lambda_: float = DEFAULT_LAMBDA,
        em: ExactMatch = "strict",
        store: VerdictStore | str | Path | None = None,
    ) -> None:
        self._threshold = check_threshold(threshold)
        judge = settings_llm() if llm is None else llm
        self.ccrs = CCRS([metric], judge=judge, lambda_=lambda_, em=em, store=store)
        self._metric = self.ccrs.metrics[0]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SETTINGS:
            msg = f"{name}={value!r} on a built evaluator would not be used; build another"
            raise InvalidValueError(msg)
        super().__setattr__(name, value)

    @property
    def metric(self) -> str:
        """The metric's short name."""
        return self._metric.name

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        *,
        reference: str | None = None,
        sleep_time_in_seconds: float = 0,
        **kwargs: Any,
    ) -> CCRSEvaluationResult:
        """Rate one answer without an event loop: it also works where one is running.

        Args:
            query: The question.
            response: The text under test.
            contexts: The passages that it was to rest on.
            reference: The answer that is known to be right.
            sleep_time_in_seconds: Pause before the rating.
            **kwargs: Ignored: batch runners hand every evaluator the arguments of all.

        Raises:
            InvalidSampleError: A field that the metric needs is missing (a ValueError, as
                LlamaIndex's own evaluators raise). What goes wrong after that makes an invalid
                result.
        """
        del kwargs
        record = {
            "input": query,
            "response": response,
            "contexts": contexts,
            "reference": reference,
        }
        sample = Sample.from_record(record)
        self._metric.require(sample)
        time.sleep(sleep_time_in_seconds)
        return self._end(sample, self.ccrs.evaluate(sample))

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        *,
        reference: str | None = None,
        sleep_time_in_seconds: float = 0,
        **kwargs: Any,
    ) -> CCRSEvaluationResult:
        """The same, awaited; what `evaluate` raises makes an invalid result instead.

        `BatchEvalRunner` calls this, and there one exception loses the results of all samples.
        """
        del kwargs
        record = {
            "input": query,
            "response": response,
            "contexts": contexts,
            "reference": reference,
        }
        try:
            sample = Sample.from_record(record)
        except InvalidSampleError as error:
            return _invalid(readable(record), str(error), None)
        await asyncio.sleep(sleep_time_in_seconds)
        return self._end(sample, await self.ccrs.aevaluate(sample))

    def evaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> CCRSEvaluationResult:
        """Rate the response of a query engine, of whichever of the four types, or a chat engine's.

        A stream is read to its end first; its text stays readable afterwards. A plain string is a
        response without source nodes; ``contexts=`` adds passages.

        Raises:
            InvalidSampleError: See `evaluate`.
            InvalidValueError: Not a response; or an asynchronous stream that only
                `aevaluate_response` can read: a chat engine's, or one inside a running event loop.
        """
        return self.evaluate(query, **{**read_response(response), **kwargs})

    async def aevaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> CCRSEvaluationResult:
        """The same, awaited; a response that cannot be read makes an invalid result."""
        try:
            read = await aread_response(response)
        except Exception as error:  # noqa: BLE001  # a stream may end in any error; see `aevaluate`
            msg = f"the response could not be read: {type(error).__name__}: {error}"
            return _invalid(readable({"query": query}), msg, None)
        return await self.aevaluate(query, **{**read, **kwargs})

    def _end(self, sample: Sample, rated: CCRSResult) -> CCRSEvaluationResult:
        score = rated.score(self.metric)
        reason = rated.reason(self.metric)
        if score is None:
            return _invalid(sample, reason, rated)
        return CCRSEvaluationResult(
            query=sample.input,
            response=sample.response,
            contexts=None if sample.contexts is None else list(sample.contexts),
            passing=score >= self._threshold,
            feedback=reason,
            score=score,
            rated=rated,
        )

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        if prompts:
            msg = f"the prompts of CCRS are fixed, so {', '.join(prompts)} cannot be changed"
            raise InvalidValueError(msg)


def _invalid(sample: Sample, reason: str, rated: CCRSResult | None) -> CCRSEvaluationResult:
    return CCRSEvaluationResult(
        query=sample.input,
        response=sample.response,
        contexts=None if sample.contexts is None else list(sample.contexts),
        feedback=reason,
        invalid_result=True,
        invalid_reason=reason,
        rated=rated,
    )
