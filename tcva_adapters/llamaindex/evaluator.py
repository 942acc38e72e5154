"""TCVA, and any other scorer, wherever LlamaIndex takes an evaluator."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Generic, Self

from llama_index.core import Settings
from llama_index.core.evaluation.base import BaseEvaluator
from llama_index.core.prompts.mixin import PromptDictType
from llama_index_instrumentation import get_dispatcher
from pydantic import Field

from tcva_adapters._adapter.evaluator import check_scorer, check_settings, require
from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters._adapter.results import with_views
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.evaluator import Frozen, Scorer
from tcva_adapters.llamaindex.results import (
    ScorerEvaluationEndEvent,
    ScorerEvaluationResult,
    ScorerEvaluationStartEvent,
    fields_of,
)
from tcva_adapters.llamaindex.samples import aread_response, read_response
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.judgement import Reason
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.settings_base import Number, check, shows_settings
from tcva_adapters.runner.questions import R
from tcva_adapters.samples.contexts import read_ids
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

# At most a day; LlamaIndex sleeps for a truth value, too, as for 0 or 1.
_Pause = Annotated[Number | bool, Field(ge=0, le=86_400)]
_NAMES = (
    "response",
    "contexts",
    "reference",
    "metadata",
    "temperature",
    "threshold",
)
_dispatcher = get_dispatcher(__name__)


class ScorerEvaluator(Frozen, BaseEvaluator, Generic[R]):
    """Scores answers with a `TCVA`, a `CCRS` or any other scorer.

    It goes wherever `FaithfulnessEvaluator` goes: ``BatchEvalRunner``, ``RetryQueryEngine``,
    ``RetryGuidelineQueryEngine``, ``EvalQueryEngineTool``. It is frozen: `changed` returns a copy.

    Args:
        scorer: A `TCVA` or a `CCRS`. It keeps its own judge if no ``llm`` is given.
        llm: Another judge: a LlamaIndex LLM, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object.

    Attributes:
        scorer: The scorer, with its judge.

    Raises:
        InvalidValueError: A setting is out of range, or it is not a scorer; raised before any call.
        MissingDependencyError: The judge's package is not installed.

    >>> from tcva_adapters import CCRS
    >>> evaluator = ScorerEvaluator(CCRS("qr"), llm="lexical")
    >>> evaluator.evaluate("Where is the car?", "The car is at home.").score
    1.0
    """

    def __init__(self, scorer: Scorer[R], *, llm: object = None) -> None:
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
        check_settings(self, settings, self.scorer.arguments)
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
        """Judge one answer. It needs no event loop and also works inside a running one.

        Args:
            query: The question.
            response: The answer.
            contexts: The contexts of the answer.
            **options: ``reference``, the reference answer; ``context_ids``, the ids of the contexts by
                which an answer may cite them; ``metadata``, which selects a profile
                and stays in the result; ``temperature`` (if the scorer has one) and
                ``threshold``, for this sample only; ``sleep_time_in_seconds``, a pause before the
                judge is asked. Names close to these are refused, others ignored: batch runners
                pass every evaluator the arguments of all.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing (a ValueError, as from
                LlamaIndex's own evaluators). A later failure gives an invalid result.
            InvalidValueError: A setting is out of range.
        """
        scorer, sample, pause = self._begin(query, response, contexts, **options)
        time.sleep(pause)
        return ended(scorer.evaluate(sample), sample)

    @_dispatcher.span
    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **options: Any,
    ) -> ScorerEvaluationResult[R]:
        """The same, awaited; it gives an invalid result where `evaluate` raises.

        ``BatchEvalRunner`` calls this, and one exception there loses the results of all samples.
        """
        sample = _readable(query, response)
        reason = Reason.INVALID_INPUT
        try:
            scorer, sample, pause = self._begin(query, response, contexts, **options)
            await asyncio.sleep(pause)
            reason = Reason.MISSING_FIELD
            return ended(await with_views(await scorer.aevaluate(sample)), sample)
        except (InvalidSampleError, InvalidValueError) as error:
            return self._invalid(reason, str(error), sample)

    def evaluate_response(
        self,
        query: str | None = None,
        response: object = None,
        **kwargs: Any,
    ) -> ScorerEvaluationResult[R]:
        """Judge the response of a query engine or a chat engine.

        A stream is read to its end first; its text stays readable afterwards. A plain string is a
        response without source nodes: pass ``contexts=`` if the criterion needs them.

        Raises:
            InvalidSampleError: See `evaluate`.
            InvalidValueError: It is not a response, or an asynchronous stream, which only
                `aevaluate_response` can read.
        """
        return self.evaluate(query, **{**read_response(response), **kwargs})

    async def aevaluate_response(
        self,
        query: str | None = None,
        response: object = None,
        **kwargs: Any,
    ) -> ScorerEvaluationResult[R]:
        """The same, awaited; a response that cannot be read gives an invalid result."""
        try:
            read = await aread_response(response)
        except Exception as error:  # noqa: BLE001  # a stream may end in any error; see `aevaluate`
            detail = f"reading the response failed: {error}"
            sample = _readable(query, None)
            return self._invalid(Reason.INVALID_INPUT, detail, sample)
        return await self.aevaluate(query, **{**read, **kwargs})

    def _invalid(
        self, reason: Reason, detail: str, sample: Sample
    ) -> ScorerEvaluationResult[R]:
        unscored = self.scorer.unscored(reason, detail, sample)
        return ended(self.scorer.emit_result(unscored), sample)

    def _begin(
        self,
        query: str | None,
        response: str | None,
        contexts: Sequence[str] | None,
        *,
        reference: str | None = None,
        context_ids: object = (),
        metadata: object = None,
        temperature: float | str | None = None,
        threshold: float | None = None,
        sleep_time_in_seconds: float = 0,
        **others: object,
    ) -> tuple[Scorer[R], Sample, float]:
        """Return the scorer with the settings of this sample, the sample, and the pause in seconds."""
        for name in others:
            for near in get_close_matches(name, _NAMES, n=1, cutoff=0.85):
                raise InvalidValueError(
                    f"evaluate has no argument {name!r}; did you mean {near!r}?"
                )
        changes: Arguments = {}
        if threshold is not None:
            changes["threshold"] = threshold
        if temperature is not None and isinstance(self.scorer, TCVA):
            changes |= {"temperature": temperature, "profiles": None}
        scorer = self.scorer.changed(**changes) if changes else self.scorer
        sample = Sample(
            input=query,
            response=response,
            contexts=contexts,
            # Those of a response name no contexts that are given instead of its own.
            context_ids=read_ids(context_ids, contexts or ()),
            reference=reference,
            # Batch runners pass the arguments of all evaluators, so this may be the
            # metadata of another one.
            metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
        )
        pause = check(_Pause, "sleep_time_in_seconds", sleep_time_in_seconds)
        _dispatcher.event(
            ScorerEvaluationStartEvent(
                subject=scorer.subject, query=query, response=response
            )
        )
        return scorer, sample, pause

    def _get_prompts(self) -> PromptDictType:
        return {}  # the judge's prompt is no template of LlamaIndex

    def _update_prompts(self, prompts: PromptDictType) -> None:
        require(
            not prompts,
            "prompts",
            [*prompts],
            "empty (use changed(criterion=...) instead)",
        )


class TCVAEvaluator(FromConfig, ScorerEvaluator[Result]):
    """Judges claims on five levels and scores them at a temperature; see `ScorerEvaluator`.

    Args:
        llm: The judge: a LlamaIndex LLM, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object. By default ``Settings.llm``.
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
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
        check_settings(self, settings, TCVASettings.model_fields)
        super().__init__(TCVA(criterion, judge=_llm_or_default(llm), **settings))


def _readable(question: object, answer: object) -> Sample:
    """Make the sample of an input that cannot be judged, with question and answer if they are texts."""
    return Sample(
        input=question if isinstance(question, str) else None,
        response=answer if isinstance(answer, str) else None,
    )


def ended(result: R, sample: Sample) -> ScorerEvaluationResult[R]:
    """Make the evaluation of a result, and announce that it has ended."""
    evaluation: ScorerEvaluationResult[R] = ScorerEvaluationResult(
        query=sample.input,
        response=sample.response,
        contexts=None if sample.contexts is None else list(sample.contexts),
        **fields_of(result),
    )
    _dispatcher.event(ScorerEvaluationEndEvent(result=evaluation))
    return evaluation


def _llm_or_default(llm: object) -> Any:
    """Return the LLM that is given, or LlamaIndex's ``Settings.llm``.

    Raises:
        InvalidValueError: There is neither, and LlamaIndex's own default cannot be used.
    """
    try:
        return Settings.llm if llm is None else llm
    except (ImportError, ValueError) as error:
        raise InvalidValueError(
            "there is no judge: set Settings.llm, or pass llm=... (a LlamaIndex LLM, 'lexical' or "
            "'openai:MODEL'). LlamaIndex's default LLM cannot be used here"
        ) from error
