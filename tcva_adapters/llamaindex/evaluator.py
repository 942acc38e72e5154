"""TCVAEvaluator: five-level verdicts and the dial wherever LlamaIndex takes an evaluator."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from llama_index.core import Settings
from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.prompts import PromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import MetadataMode
from llama_index_instrumentation import get_dispatcher

from tcva_adapters.claims.criteria import Criterion
from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.verdicts import LEVELS, WeightScheme
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode
from tcva_adapters.llamaindex.samples import aread_response, read_response
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason, Unscored
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import (
    GEOMETRIC,
    Fusion,
    HumanScale,
    Profiles,
    Scoring,
    changed,
)
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_dispatcher: Final = get_dispatcher(__name__)

_PROMPTS: Final = ("wording", *(level.value for level in LEVELS))


class TCVAEvaluationResult(EvaluationResult):
    """What LlamaIndex expects of an evaluation, and the judgement behind it.

    LlamaIndex's fields are filled as its own evaluators fill them: ``score`` in [0, 1],
    ``passing``, ``feedback`` (never None), and ``invalid_result`` with ``invalid_reason`` where
    there is no score.

    Attributes:
        assessment: What was judged; kept, so that every other setting is free.
        scoring: The setting of the dial.
    """

    assessment: Assessment
    scoring: Scoring

    @property
    def result(self) -> Result:
        """The same as a `Result`, as `TCVA` returns it."""
        return Result(self.assessment, self.scoring)

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims with verdict, evidence and reason, non-claims included."""
        return self.assessment.claims

    def at(self, temperature: float | str, **changes: Any) -> TCVAEvaluationResult:
        """The same judgement at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        result = self.result.at(temperature, **changes)
        return _evaluation(result, self.query, self.response, self.contexts)


def _evaluation(
    result: Result, query: str | None, response: str | None, contexts: Sequence[str] | None
) -> TCVAEvaluationResult:
    is_invalid = result.score is None
    return TCVAEvaluationResult(
        query=query,
        response=response,
        contexts=None if contexts is None else list(contexts),
        passing=result.passed,
        feedback=result.reason,
        score=result.score,
        invalid_result=is_invalid,
        invalid_reason=result.reason if is_invalid else None,
        assessment=result.assessment,
        scoring=result.scoring,
    )


class TCVAEvaluationStartEvent(BaseEvent):
    """A TCVA evaluation begins.

    Attributes:
        criterion: Name of the criterion.
        query: The question.
        response: The text under test.
    """

    criterion: str
    query: str | None
    response: str | None

    @classmethod
    def class_name(cls) -> str:
        """The event's name for handlers."""
        return "TCVAEvaluationStartEvent"


class TCVAEvaluationEndEvent(BaseEvent):
    """A TCVA evaluation has a result, be it valid or not.

    Attributes:
        result: The result, with claims, verdicts and evidence.
    """

    result: TCVAEvaluationResult

    @classmethod
    def class_name(cls) -> str:
        """The event's name for handlers."""
        return "TCVAEvaluationEndEvent"


class TCVAEvaluator(FromConfig, BaseEvaluator):
    """Judges claims on five levels and scores them on the dial.

    Takes the place of `FaithfulnessEvaluator` and its siblings in `BatchEvalRunner`,
    `RetryQueryEngine`, `RetryGuidelineQueryEngine` and `EvalQueryEngineTool`.

    Args:
        llm: The judge: a LlamaIndex LLM, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object. By default ``Settings.llm``.
        context_metadata_mode: How much of a source node's metadata the judge sees;
            ``MetadataMode.LLM`` is what a query engine's LLM saw.

    All other settings are those of `TCVA`.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or there is no judge; raised
            before any call.
        MissingDependencyError: The judge's package is not installed.
    """

    def __init__(
        self,
        llm: Any = None,
        *,
        criterion: Criterion | str = "faithfulness",
        temperature: float | str = 0.5,
        threshold: float = 0.5,
        scheme: WeightScheme | str | Sequence[float] = WeightScheme.DEFAULT,
        penalty: Penalty = "paper",
        eps: float = 1e-9,
        floor: Floor = "paper",
        on_unscored: float | None = None,
        claims: ClaimsMode = "split",
        max_claims: int = MAX_CLAIMS,
        store: VerdictStore | str | Path | None = None,
        fuse: Any = None,
        fusion: Fusion = GEOMETRIC,
        mapping: HumanScale | None = None,
        profiles: Profiles | None = None,
        context_metadata_mode: MetadataMode | str = MetadataMode.NONE,
    ) -> None:
        self.tcva = TCVA(
            criterion,
            judge=settings_llm() if llm is None else llm,
            temperature=temperature,
            threshold=threshold,
            scheme=scheme,
            penalty=penalty,
            eps=eps,
            floor=floor,
            on_unscored=on_unscored,
            claims=claims,
            max_claims=max_claims,
            store=store,
            fuse=fuse,
            fusion=fusion,
            mapping=mapping,
            profiles=profiles,
        )
        try:
            self._metadata_mode = MetadataMode(context_metadata_mode)
        except ValueError:
            modes = ", ".join(mode.value for mode in MetadataMode)
            msg = f"context_metadata_mode={context_metadata_mode!r}; it is one of {modes}"
            raise InvalidValueError(msg) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SETTINGS:
            msg = (
                f"{name}={value!r} on a built evaluator would not be used; build another, or see a "
                "result at other settings with result.at(...)"
            )
            raise InvalidValueError(msg)
        super().__setattr__(name, value)

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
    ) -> TCVAEvaluationResult:
        """Judge one answer without an event loop: it also works where one is running.

        Args:
            query: The question.
            response: The text under test.
            contexts: The passages that it was to rest on.
            reference: The answer that is known to be right.
            metadata: What profiles go by, and what the result carries along.
            temperature: Another setting for this sample alone.
            threshold: Another setting for this sample alone.
            sleep_time_in_seconds: Pause before the judgement.
            **kwargs: Ignored: batch runners hand every evaluator the arguments of all.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing (a ValueError, as
                LlamaIndex's own evaluators raise). What goes wrong after that makes an invalid
                result.
            InvalidValueError: A setting is out of range.
        """
        del kwargs
        changes = self._changes(temperature, threshold)
        time.sleep(sleep_time_in_seconds)
        sample = Sample.from_record(_record(query, response, contexts, reference, metadata))
        self._start(sample)
        return _end(self.tcva.evaluate(sample), sample, changes)

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
    ) -> TCVAEvaluationResult:
        """The same, awaited; what `evaluate` raises makes an invalid result instead.

        `BatchEvalRunner` calls this, and there one exception loses the results of all samples.
        """
        del kwargs
        record = _record(query, response, contexts, reference, metadata)
        try:
            changes = self._changes(temperature, threshold)
        except InvalidValueError as error:
            return self._refused(Reason.JUDGE_ERROR, str(error), record)
        await asyncio.sleep(sleep_time_in_seconds)
        try:
            sample = Sample.from_record(record)
            self._start(sample)
            result = await self.tcva.aevaluate(sample)
        except InvalidSampleError as error:
            return self._refused(Reason.MISSING_FIELD, str(error), record, changes)
        return _end(result, sample, changes)

    def evaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> TCVAEvaluationResult:
        """Judge the response of a query engine, of whichever of the four types, or a chat engine's.

        A stream is read to its end first; its text stays readable afterwards. A plain string is a
        response without source nodes, for criteria that need none; ``contexts=`` adds passages.

        Raises:
            InvalidSampleError: See `evaluate`.
            InvalidValueError: Not a response; or an asynchronous stream that only
                `aevaluate_response` can read: a chat engine's, or one inside a running event loop.
        """
        return self.evaluate(query, **{**read_response(response, self._metadata_mode), **kwargs})

    async def aevaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> TCVAEvaluationResult:
        """The same, awaited; a response that cannot be read makes an invalid result."""
        try:
            read = await aread_response(response, self._metadata_mode)
        except Exception as error:  # noqa: BLE001  # a stream may end in any error; see `aevaluate`
            msg = f"the response could not be read: {type(error).__name__}: {error}"
            return self._refused(Reason.JUDGE_ERROR, msg, {"query": query})
        return await self.aevaluate(query, **{**read, **kwargs})

    def _changes(self, temperature: float | str | None, threshold: float | None) -> dict[str, Any]:
        given = {"temperature": temperature, "threshold": threshold}
        changes = {name: value for name, value in given.items() if value is not None}
        changed(self.tcva.scoring, changes)  # refused before the judge is asked
        return changes

    def _start(self, sample: Sample) -> None:
        name = self.tcva.criterion.name
        event = TCVAEvaluationStartEvent(
            criterion=name, query=sample.input, response=sample.response
        )
        _dispatcher.event(event)

    def _refused(
        self,
        reason: Reason,
        detail: str,
        record: Mapping[str, Any],
        changes: Mapping[str, Any] = MappingProxyType({}),
    ) -> TCVAEvaluationResult:
        """The invalid result of what cannot be judged, with everything of it that can be read."""
        assessment = Assessment(
            criterion=self.tcva.criterion.name,
            judge=self.tcva.judge.name,
            prompt_version=self.tcva.judge.prompt_version,
            unscored=Unscored(reason=reason, detail=detail),
        )
        return _end(self.tcva.result(assessment), readable(record), changes)

    def _get_prompts(self) -> PromptDictType:
        criterion = self.tcva.criterion
        texts = (criterion.wording, *criterion.levels)
        return {key: PromptTemplate(text) for key, text in zip(_PROMPTS, texts, strict=True)}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        for key in prompts:
            if key not in _PROMPTS:
                msg = f"no prompt {key!r}; the prompts are {', '.join(_PROMPTS)}"
                raise InvalidValueError(msg)
        texts = {key: prompt.get_template() for key, prompt in self._get_prompts().items()}
        for key, prompt in prompts.items():
            texts[key] = _text(key, prompt, texts[key])
        wording, *levels = texts.values()
        criterion = replace(
            self.tcva.criterion,
            wording=wording,
            levels=tuple(levels),  # type: ignore[arg-type]  # one text per level, see _PROMPTS
        )
        self.tcva = self.tcva.changed(criterion=criterion)


_SETTINGS: Final = frozenset(inspect.signature(TCVAEvaluator).parameters)


def _text(key: str, prompt: Any, current: str) -> str:
    text: str = prompt.format()
    open_variables = [name for name in prompt.template_vars if name not in prompt.kwargs]
    if text != current and open_variables:
        msg = (
            f"prompt {key!r} has the variable {{{open_variables[0]}}}; it is a plain text: "
            "question, answer and contexts are added around it"
        )
        raise InvalidValueError(msg)
    return text


def _record(
    query: str | None,
    response: str | None,
    contexts: Sequence[str] | None,
    reference: str | None,
    metadata: Mapping[str, Any] | None,
) -> dict[str, Any]:
    return {
        "query": query,
        "response": response,
        "contexts": contexts,
        "reference": reference,
        "metadata": metadata,
    }


def readable(record: Mapping[str, Any]) -> Sample:
    """A sample of those fields of a record that can be read."""
    sample = Sample()
    for name, value in record.items():
        with suppress(InvalidSampleError):
            found = Sample.from_record({name: value}).model_dump(exclude_none=True)
            sample = sample.model_copy(update=found)
    return sample


def _end(result: Result, sample: Sample, changes: Mapping[str, Any]) -> TCVAEvaluationResult:
    seen = Result(result.assessment, changed(result.scoring, changes))
    evaluation = _evaluation(seen, sample.input, sample.response, sample.contexts)
    _dispatcher.event(TCVAEvaluationEndEvent(result=evaluation))
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
