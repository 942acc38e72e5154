"""Scorers wherever LlamaIndex takes an evaluator: five-level verdicts with a temperature, ratings."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Generic, Self

from llama_index.core import Settings
from llama_index.core.evaluation.base import BaseEvaluator
from llama_index.core.prompts.mixin import PromptDictType
from llama_index_instrumentation import get_dispatcher
from pydantic import Field

from tcva_adapters._adapter.evaluator import check_scorer, check_settings, require
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.evaluator import Frozen, R, Scorer
from tcva_adapters.llamaindex.results import (
    ScorerEvaluationEndEvent,
    ScorerEvaluationResult,
    ScorerEvaluationStartEvent,
    fields_of,
)
from tcva_adapters.llamaindex.samples import aread_response, read_response
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import Number, TCVASettings, check, shows_settings
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_Pause = Annotated[Number, Field(ge=0, le=86_400)]  # at most a day
_dispatcher: Final = get_dispatcher(__name__)


class ScorerEvaluator(Frozen, BaseEvaluator, Generic[R]):
    """Scores answers with a `TCVA`, a `CCRS` or any other scorer.

    Takes the place of `FaithfulnessEvaluator` and its siblings in ``BatchEvalRunner``,
    ``RetryQueryEngine``, ``RetryGuidelineQueryEngine`` and ``EvalQueryEngineTool``. Frozen: `changed`
    gives a copy.

    Args:
        scorer: What scores. It keeps its own judge where no ``llm`` is given.
        llm: Another judge: a LlamaIndex LLM, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object.

    Attributes:
        scorer: The same, with the judge that it asks.

    Raises:
        InvalidValueError: A setting is out of range, or it is no scorer; raised before any call.
        MissingDependencyError: The judge's package is not installed.

    >>> from tcva_adapters import CCRS
    >>> evaluator = ScorerEvaluator(CCRS("qr"), llm="lexical")
    >>> evaluator.evaluate("Where is the car?", "The car is at home.").score
    1.0
    """

    def __init__(self, scorer: Scorer[R], *, llm: Any = None) -> None:
        check_scorer(self, scorer)
        self.scorer: Scorer[R] = scorer if llm is None else scorer.changed(judge=llm)
        self._is_built = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.scorer!r})"

    def changed(self, **settings: Any) -> Self:
        """A copy with other settings; it shares judge and store.

        Args:
            **settings: ``llm``, and those of the scorer.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        check_settings(self, settings, ["llm", *self.scorer.arguments], judge="llm")
        if "llm" in settings:
            settings["judge"] = _llm_or_default(settings.pop("llm"))
        other = copy.copy(self)
        vars(other)["scorer"] = self.scorer.changed(**settings)
        return other

    @_dispatcher.span
    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **options: Any,
    ) -> ScorerEvaluationResult[R]:
        """Judge one answer without an event loop: it also works where one is running.

        Args:
            query: The question.
            response: The text under test.
            contexts: The passages that it was to rest on.
            **options: ``reference``, the answer that is known to be right; ``metadata``, what
                profiles go by and the result carries along; ``temperature`` (where the scorer has
                one) and ``threshold``, for this sample alone; ``sleep_time_in_seconds``, a pause
                before the judgement. Others are ignored: batch runners hand every evaluator the
                arguments of all.

        Raises:
            InvalidSampleError: A field that the scorer needs is missing (a ValueError, as
                LlamaIndex's own evaluators raise). What goes wrong after that makes an invalid
                result.
            InvalidValueError: A setting is out of range.
        """
        scorer, sample, pause = self._begin(query, response, contexts, **options)
        time.sleep(pause)
        return _end(scorer.evaluate(sample), sample)

    @_dispatcher.span
    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **options: Any,
    ) -> ScorerEvaluationResult[R]:
        """The same, awaited; what `evaluate` raises makes an invalid result instead.

        ``BatchEvalRunner`` calls this, and there one exception loses the results of all samples.
        """
        sample, reason = _readable(query, response), Reason.INVALID_INPUT
        try:
            scorer, sample, pause = self._begin(query, response, contexts, **options)
            await asyncio.sleep(pause)
            reason = Reason.MISSING_FIELD
            return _end(await scorer.aevaluate(sample), sample)
        except (InvalidSampleError, InvalidValueError) as error:
            return _end(self.scorer.unscored(reason, str(error), sample), sample)

    def evaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> ScorerEvaluationResult[R]:
        """Judge the response of a query engine, of whichever of the four types, or a chat engine's.

        A stream is read to its end first; its text stays readable afterwards. A plain string is a
        response without source nodes, for scorers that need none; ``contexts=`` adds passages.

        Raises:
            InvalidSampleError: See `evaluate`.
            InvalidValueError: Not a response; or an asynchronous stream that only
                `aevaluate_response` can read: a chat engine's, or one inside a running event loop.
        """
        read = read_response(response)
        return self.evaluate(query, **{**read, **kwargs})

    async def aevaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> ScorerEvaluationResult[R]:
        """The same, awaited; a response that cannot be read makes an invalid result."""
        try:
            read = await aread_response(response)
        except Exception as error:  # noqa: BLE001  # a stream may end in any error; see `aevaluate`
            msg, sample = f"the response could not be read: {error!r}", _readable(query, None)
            return _end(self.scorer.unscored(Reason.INVALID_INPUT, msg, sample), sample)
        return await self.aevaluate(query, **{**read, **kwargs})

    def _begin(
        self,
        query: Any,
        response: Any,
        contexts: Any,
        *,
        reference: Any = None,
        metadata: Any = None,
        temperature: Any = None,
        threshold: Any = None,
        sleep_time_in_seconds: Any = 0,
        **_: Any,
    ) -> tuple[Scorer[R], Sample, float]:
        """Who scores, under the settings for this sample alone, the sample, and the pause before."""
        changes = {} if threshold is None else {"threshold": threshold}
        if temperature is not None and isinstance(self.scorer, TCVA):  # others have none
            changes |= {"temperature": temperature, "profiles": None}
        scorer = self.scorer.changed(**changes) if changes else self.scorer
        # What batch runners hand to all evaluators may be another one's metadata.
        known: Any = metadata if isinstance(metadata, Mapping) else {}
        sample = Sample(
            input=query, response=response, contexts=contexts, reference=reference, metadata=known
        )
        wait = sleep_time_in_seconds
        pause = 0.0 if wait == 0 else check(_Pause, "sleep_time_in_seconds", wait)
        event = ScorerEvaluationStartEvent(subject=scorer.subject, query=query, response=response)
        _dispatcher.event(event)
        return scorer, sample, pause

    def _get_prompts(self) -> PromptDictType:
        return {}  # the judge's prompt is no template of LlamaIndex

    def _update_prompts(self, prompts: PromptDictType) -> None:
        require(not prompts, "prompts", [*prompts], "there are none; changed(criterion=...) is one")


class TCVAEvaluator(FromConfig, ScorerEvaluator[Result]):
    """Judges claims on five levels and scores them at a temperature; see `ScorerEvaluator`.

    Args:
        llm: The judge: a LlamaIndex LLM, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object. By default ``Settings.llm``.
        criterion: See `TCVA`.
        **settings: See `TCVASettings`.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or there is no judge; raised
            before any call.
        MissingDependencyError: The judge's package is not installed.
    """

    scorer: TCVA

    @shows_settings(TCVASettings)
    def __init__(
        self,
        llm: Any = None,
        *,
        criterion: Criterion | str = "faithfulness",
        **settings: Any,
    ) -> None:
        check_settings(self, settings, TCVASettings.model_fields, judge="llm")
        super().__init__(TCVA(criterion, judge=_llm_or_default(llm), **settings))


def _readable(*texts: Any) -> Sample:
    """A sample that cannot be judged, as far as question and answer are texts."""
    question, answer = (text if isinstance(text, str) else None for text in texts)
    return Sample(input=question, response=answer)


def _end(result: R, sample: Sample) -> ScorerEvaluationResult[R]:
    evaluation: ScorerEvaluationResult[R] = ScorerEvaluationResult(
        query=sample.input,
        response=sample.response,
        contexts=None if sample.contexts is None else list(sample.contexts),
        **fields_of(result),
    )
    _dispatcher.event(ScorerEvaluationEndEvent(result=evaluation))
    return evaluation


def _llm_or_default(llm: Any) -> Any:
    """The LLM that is given, or LlamaIndex's ``Settings.llm``.

    Raises:
        InvalidValueError: Neither is there, and LlamaIndex's own default cannot be used.
    """
    try:
        return Settings.llm if llm is None else llm
    except (ImportError, ValueError) as error:
        msg = (
            "no judge: Settings.llm is not set and LlamaIndex's default cannot be used; pass "
            "llm=..., llm='lexical' or llm='openai:MODEL', or set Settings.llm"
        )
        raise InvalidValueError(msg) from error
