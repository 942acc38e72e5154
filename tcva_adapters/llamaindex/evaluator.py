"""Scorers wherever LlamaIndex takes an evaluator: five-level verdicts with a dial, ratings."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Generic, Self

from llama_index.core import Settings
from llama_index.core.evaluation.base import BaseEvaluator
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import MetadataMode
from llama_index_instrumentation import get_dispatcher

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.evaluator import R, Scorer
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
from tcva_adapters.results.settings import TCVASettings, shows_settings
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_LONGEST_PAUSE: Final = 86_400
_dispatcher: Final = get_dispatcher(__name__)


class ScorerEvaluator(BaseEvaluator, Generic[R]):
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

    _is_built = False

    def __init__(
        self,
        scorer: Scorer[R],
        *,
        llm: Any = None,
        context_metadata_mode: MetadataMode | str = MetadataMode.NONE,
    ) -> None:
        given: Any = scorer
        if not isinstance(given, Scorer):
            msg = f"scorer={scorer!r}; it is a TCVA, a CCRS or another Scorer"
            raise InvalidValueError(msg)
        self.scorer: Scorer[R] = scorer if llm is None else scorer.changed(judge=llm)
        self.context_metadata_mode = _metadata_mode(context_metadata_mode)
        self._is_built = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_built and not name.startswith("__"):  # typing sets __orig_class__
            msg = (
                f"{name}={value!r} on a built evaluator would not be used; changed({name}=...) "
                "gives a copy, and result.at(...) shows a result at other settings"
            )
            raise InvalidValueError(msg)
        super().__setattr__(name, value)

    def changed(self, **settings: Any) -> Self:
        """A copy with other settings; it shares judge and store.

        Args:
            **settings: ``llm``, ``context_metadata_mode``, and those of the scorer.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        mode = settings.pop("context_metadata_mode", self.context_metadata_mode)
        if "llm" in settings:
            llm = settings.pop("llm")
            settings["judge"] = settings_llm() if llm is None else llm
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
        *,
        reference: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        temperature: float | str | None = None,
        threshold: float | None = None,
        sleep_time_in_seconds: float = 0,
        **kwargs: Any,
    ) -> ScorerEvaluationResult[R]:
        """Judge one answer without an event loop: it also works where one is running.

        Args:
            query: The question.
            response: The text under test.
            contexts: The passages that it was to rest on.
            reference: The answer that is known to be right.
            metadata: What profiles go by, and what the result carries along.
            temperature: Another setting for this sample alone, where the scorer has a dial.
            threshold: Another setting for this sample alone.
            sleep_time_in_seconds: Pause before the judgement.
            **kwargs: Ignored: batch runners hand every evaluator the arguments of all.

        Raises:
            InvalidSampleError: A field that the scorer needs is missing (a ValueError, as
                LlamaIndex's own evaluators raise). What goes wrong after that makes an invalid
                result.
            InvalidValueError: A setting is out of range.
        """
        del kwargs
        changes = self._changes(temperature, threshold)
        pause = _seconds(sleep_time_in_seconds)
        sample = _sample(query, response, contexts, reference, metadata)
        time.sleep(pause)
        self._start(sample)
        return _end(self.scorer.evaluate(sample), sample, changes)

    @_dispatcher.span
    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        *,
        reference: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        temperature: float | str | None = None,
        threshold: float | None = None,
        sleep_time_in_seconds: float = 0,
        **kwargs: Any,
    ) -> ScorerEvaluationResult[R]:
        """The same, awaited; what `evaluate` raises makes an invalid result instead.

        ``BatchEvalRunner`` calls this, and there one exception loses the results of all samples.
        """
        del kwargs
        given = (query, response, contexts, reference, metadata)
        try:
            changes = self._changes(temperature, threshold)
            pause = _seconds(sleep_time_in_seconds)
            sample = _sample(*given)
        except (InvalidSampleError, InvalidValueError) as error:
            return self._refused(str(error), *given)
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

    def _changes(self, temperature: float | str | None, threshold: float | None) -> dict[str, Any]:
        given = {"temperature": temperature, "threshold": threshold}
        if not isinstance(self.scorer, TCVA):
            del given["temperature"]  # there is no dial
        changes = {name: value for name, value in given.items() if value is not None}
        if changes:
            self.scorer.changed(**changes)  # refused before the judge is asked
        return changes

    def _start(self, sample: Sample) -> None:
        event = ScorerEvaluationStartEvent(
            subject=self.scorer.subject, query=sample.input, response=sample.response
        )
        _dispatcher.event(event)

    def _refused(self, detail: str, *given: Any) -> ScorerEvaluationResult[R]:
        """The invalid result of what cannot be judged, with everything of it that can be read."""
        sample = Sample()
        for place, value in enumerate(given):
            with suppress(InvalidSampleError):
                found = _sample(*[None] * place, value).model_dump(exclude_none=True)
                sample = sample.model_copy(update=found)
        return _end(self.scorer.unscored(Reason.INVALID_INPUT, detail, sample), sample, {})

    def _get_prompts(self) -> PromptDictType:
        return {}  # the judge's prompt is no template of LlamaIndex

    def _update_prompts(self, prompts: PromptDictType) -> None:
        if prompts:
            msg = f"there are no prompts to update, so {next(iter(prompts))!r} cannot be set; "
            msg += "changed(criterion=...) gives a copy with another wording"
            raise InvalidValueError(msg)


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
        tcva = TCVA(criterion, judge=settings_llm() if llm is None else llm, **settings)
        super().__init__(tcva, context_metadata_mode=context_metadata_mode)


def _metadata_mode(given: MetadataMode | str) -> MetadataMode:
    try:
        return MetadataMode(given)
    except ValueError:
        known = " or ".join(repr(mode.value) for mode in MetadataMode)
        msg = f"context_metadata_mode={given!r}; it is {known}"
        raise InvalidValueError(msg) from None


def _seconds(pause: Any) -> float:
    is_number = isinstance(pause, int | float) and not isinstance(pause, bool)
    if not (is_number and 0 <= pause <= _LONGEST_PAUSE):
        msg = f"sleep_time_in_seconds={pause!r}; it is a number of seconds from 0 to a day"
        raise InvalidValueError(msg)
    return float(pause)


def _sample(*given: Any) -> Sample:
    """A sample of the arguments of ``evaluate``, in their order; those left out are None."""
    names = ("query", "response", "contexts", "reference", "metadata")
    return Sample.from_record(dict(zip(names, given, strict=False)))


def _end(result: R, sample: Sample, changes: Mapping[str, Any]) -> ScorerEvaluationResult[R]:
    evaluation = evaluation_of(result, sample)
    if changes:
        dial = {"temperature": result.scoring.temperature} if isinstance(result, Result) else {}
        evaluation = evaluation.at(**{**dial, **changes})
    _dispatcher.event(ScorerEvaluationEndEvent(result=evaluation))
    return evaluation


def settings_llm() -> Any:
    """LlamaIndex's ``Settings.llm``, the judge where none is given.

    Raises:
        InvalidValueError: It is not set, and LlamaIndex's own default cannot be used.
    """
    try:
        return Settings.llm
    except (ImportError, ValueError) as error:
        msg = (
            "no judge: Settings.llm is not set and LlamaIndex's default cannot be used; pass "
            "llm=..., llm='lexical' or llm='openai:MODEL', or set Settings.llm"
        )
        raise InvalidValueError(msg) from error
