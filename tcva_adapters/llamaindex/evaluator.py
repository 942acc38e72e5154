"""Scorers wherever LlamaIndex takes an evaluator: five-level verdicts with a dial, ratings."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final, Generic, Self

from llama_index.core import Settings
from llama_index.core.evaluation.base import BaseEvaluator
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import MetadataMode
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
    evaluation_of,
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
        context_metadata_mode: How much of a source node's metadata the judge sees;
            ``MetadataMode.LLM`` is what a query engine's LLM saw.

    Attributes:
        scorer: The same, with the judge that it asks.
        context_metadata_mode: The same.

    Raises:
        InvalidValueError: A setting is out of range, or it is no scorer; raised before any call.
        MissingDependencyError: The judge's package is not installed.

    >>> from tcva_adapters import CCRS
    >>> evaluator = ScorerEvaluator(CCRS("qr"), llm="lexical")
    >>> evaluator.evaluate("Where is the car?", "The car is at home.").score
    1.0
    """

    def __init__(
        self,
        scorer: Scorer[R],
        *,
        llm: Any = None,
        context_metadata_mode: MetadataMode | str = MetadataMode.NONE,
    ) -> None:
        check_scorer(self, scorer)
        self.scorer: Scorer[R] = scorer if llm is None else scorer.changed(judge=llm)
        self.context_metadata_mode = _metadata_mode(context_metadata_mode)
        self._is_built = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.scorer!r})"

    def changed(self, **settings: Any) -> Self:
        """A copy with other settings; it shares judge and store.

        Args:
            **settings: ``llm``, ``context_metadata_mode``, and those of the scorer.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        known = ["llm", "context_metadata_mode", *self.scorer.arguments]
        check_settings(self, settings, known, judge="llm")
        mode = settings.pop("context_metadata_mode", self.context_metadata_mode)
        if "llm" in settings:
            settings["judge"] = _llm_or_default(settings.pop("llm"))
        other = copy.copy(self)
        scorer = self.scorer.changed(**settings)
        vars(other).update(scorer=scorer, context_metadata_mode=_metadata_mode(mode))
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
                profiles go by and the result carries along; ``temperature`` (where the scorer has a
                dial) and ``threshold``, for this sample alone; ``sleep_time_in_seconds``, a pause
                before the judgement. Others are ignored: batch runners hand every evaluator the
                arguments of all.

        Raises:
            InvalidSampleError: A field that the scorer needs is missing (a ValueError, as
                LlamaIndex's own evaluators raise). What goes wrong after that makes an invalid
                result.
            InvalidValueError: A setting is out of range.
        """
        sample, changes, pause = self._asked(query, response, contexts, **options)
        time.sleep(pause)
        self._start(sample)
        return _end(self.scorer.evaluate(sample), sample, changes)

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
        try:
            sample, changes, pause = self._asked(query, response, contexts, **options)
        except (InvalidSampleError, InvalidValueError) as error:
            return self._refused(str(error), query, response, contexts, **options)
        await asyncio.sleep(pause)
        self._start(sample)
        try:
            result = await self.scorer.aevaluate(sample)
        except InvalidSampleError as error:
            result = self.scorer.unscored(Reason.MISSING_FIELD, str(error), sample)
        return _end(result, sample, changes)

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
        read = read_response(response, self.context_metadata_mode)
        return self.evaluate(query, **{**read, **kwargs})

    async def aevaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> ScorerEvaluationResult[R]:
        """The same, awaited; a response that cannot be read makes an invalid result."""
        try:
            read = await aread_response(response, self.context_metadata_mode)
        except Exception as error:  # noqa: BLE001  # a stream may end in any error; see `aevaluate`
            msg = f"the response could not be read: {type(error).__name__}: {error}"
            return self._refused(msg, query)
        return await self.aevaluate(query, **{**read, **kwargs})

    def _asked(
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
    ) -> tuple[Sample, dict[str, Any], float]:
        """The sample, the settings for it alone, and the pause before."""
        changes = {} if threshold is None else {"threshold": threshold}
        if temperature is not None and isinstance(self.scorer, TCVA):  # others have no dial
            changes["temperature"] = temperature
        if changes:
            self.scorer.changed(**changes)  # refused before the judge is asked
        # What batch runners hand to all evaluators may be another one's metadata.
        known: Any = metadata if isinstance(metadata, Mapping) else {}
        sample = Sample(
            input=query, response=response, contexts=contexts, reference=reference, metadata=known
        )
        return sample, changes, check(_Pause, "sleep_time_in_seconds", sleep_time_in_seconds)

    def _start(self, sample: Sample) -> None:
        event = ScorerEvaluationStartEvent(
            subject=self.scorer.subject, query=sample.input, response=sample.response
        )
        _dispatcher.event(event)

    def _refused(
        self, detail: str, query: Any, response: Any = None, contexts: Any = None, **options: Any
    ) -> ScorerEvaluationResult[R]:
        """The invalid result of what cannot be judged, with everything of it that can be read."""
        fields = {"input": query, "response": response, "contexts": contexts, **options}
        sample = Sample()
        for name in fields.keys() & Sample.model_fields.keys():
            with suppress(InvalidSampleError):
                read = Sample(**{name: fields[name]})
                sample = sample.model_copy(update={name: getattr(read, name)})
        return _end(self.scorer.unscored(Reason.INVALID_INPUT, detail, sample), sample, {})

    def _get_prompts(self) -> PromptDictType:
        return {}  # the judge's prompt is no template of LlamaIndex

    def _update_prompts(self, prompts: PromptDictType) -> None:
        needed = (
            "there are none to update; changed(criterion=...) gives a copy with another wording"
        )
        require(not prompts, "prompts", [*prompts], needed)


class TCVAEvaluator(FromConfig, ScorerEvaluator[Result]):
    """Judges claims on five levels and scores them on the dial; see `ScorerEvaluator`.

    Args:
        llm: The judge: a LlamaIndex LLM, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object. By default ``Settings.llm``.
        criterion: See `TCVA`.
        context_metadata_mode: See `ScorerEvaluator`.
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
        context_metadata_mode: MetadataMode | str = MetadataMode.NONE,
        **settings: Any,
    ) -> None:
        check_settings(self, settings, TCVASettings.model_fields, judge="llm")
        mode = _metadata_mode(context_metadata_mode)  # before a store is opened
        tcva = TCVA(criterion, judge=_llm_or_default(llm), **settings)
        super().__init__(tcva, context_metadata_mode=mode)


def _metadata_mode(given: Any) -> MetadataMode:
    known = [mode.value for mode in MetadataMode]
    require(given in known, "context_metadata_mode", given, f"it is one of {known}")
    return MetadataMode(given)


def _end(result: R, sample: Sample, changes: Mapping[str, Any]) -> ScorerEvaluationResult[R]:
    evaluation = evaluation_of(result, sample)
    if changes:
        dial = {"temperature": result.scoring.temperature} if isinstance(result, Result) else {}
        evaluation = evaluation.at(**{**dial, **changes})
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
