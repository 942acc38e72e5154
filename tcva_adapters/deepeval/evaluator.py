"""TCVA, and any other scorer, wherever DeepEval takes a metric."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from types import EllipsisType
from typing import Annotated, Any, ClassVar, Final, Generic, NamedTuple, Self
from uuid import uuid4

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.metrics.utils import print_verbose_logs
from deepeval.test_case import LLMTestCase, SingleTurnParams
from pydantic import Field, InstanceOf
from pydantic_core import to_jsonable_python

from tcva_adapters._adapter.evaluator import check_scorer, check_settings
from tcva_adapters.criteria import Criterion, resolve_criterion
from tcva_adapters.deepeval.llm import llm_of_name
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import Frozen, R, Scorer
from tcva_adapters.judges.resolve import is_judge_name
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import (
    SettingsModel,
    Share,
    TCVASettings,
    check,
    shows_settings,
)
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

PARAMS: Final = {
    "input": SingleTurnParams.INPUT,
    "response": SingleTurnParams.ACTUAL_OUTPUT,
    "contexts": SingleTurnParams.RETRIEVAL_CONTEXT,
    "reference": SingleTurnParams.EXPECTED_OUTPUT,
}
"""A sample's fields under DeepEval's names."""

_ROUND: Final = str.maketrans("[]", "()")
_ENDED: Final = "DeepEval ended the measurement before the judge replied"
"""DeepEval prints texts as markup of rich, which swallows "[none]" and breaks off at a "[/INST]"."""


class Collected(NamedTuple, Generic[R]):
    """One judged test case.

    Attributes:
        test_case: The test case.
        result: Its result.
    """

    test_case: LLMTestCase
    result: R


class MetricSettings(SettingsModel):
    """Settings of metrics in DeepEval, in addition to those of the scorer."""

    threshold: Share | None = Field(
        default=None,
        description="The lowest score that passes; with None, no pass or fail.",
    )
    name: Annotated[str, Field(pattern=r"\S")] | None = Field(
        default=None,
        description="The metric's name in reports; by default its criterion and settings.",
    )
    include_reason: bool = Field(
        default=True, description="Explain the score in reason; no call."
    )
    async_mode: bool = Field(
        default=True, description="Has no effect; DeepEval expects it."
    )
    strict_mode: bool = Field(
        default=False, description="Set the threshold to 1; a lower score counts as 0."
    )
    verbose_mode: bool = Field(default=False, description="Print each result.")
    flaky: bool = Field(
        default=False, description="Report the metric; it fails no test case."
    )
    collected: InstanceOf[list[Any]] | None = (
        Field(  # itself: copies of a metric share it
            default=None, description="A list to add results to; by default a new one."
        )
    )


_NOTHING: Final = dict.fromkeys(
    (
        "score",
        "success",
        "evaluation_cost",
        "input_tokens",
        "output_tokens",
        "_sample",
        "_result",
    )
)
"""What a metric has of a test case that it has not measured."""

_TAKES: Final = {
    "LLMTestCase": "TCVAMetric",
    "ConversationalTestCase": "TCVAConversationalMetric",
}
"""Which metric judges a test case, by its class."""

_FOLLOWED: Final = ("threshold", "strict_mode", "async_mode", "verbose_mode")
"""What DeepEval itself sets on a metric that is built, and the threshold, which users set."""


class OfScorer(Frozen, Generic[R]):
    """What the metrics for answers and for conversations have in common.

    Attributes:
        scorer: The scorer, with the metric's threshold.
        judging: What judges a test case: the scorer, or the scorer on conversations.
        collected: `Collected` of every measured test case, in the order they were finished.
        name: The metric's name in reports.
        result: The result of the last test case that this object measured, or None.
        reads: The class of its test cases.
        called: What a sample's fields are called in them.
        sample_of: Makes what is judged of a test case.
    """

    reads: ClassVar[type]
    called: ClassVar[Mapping[str, str]]
    sample_of: ClassVar[Callable[..., Any]]

    # What DeepEval keeps on a metric, most of it of the last test case; not what was built in.
    settable = frozenset({*vars(BaseMetric), *_FOLLOWED}) - {
        "include_reason",
        "flaky",
        "model",
    }

    name: str
    error: str | None
    success: bool | None
    include_reason: bool
    model: Any  # whatever can judge
    collected: list[Collected[R]]
    _scorer: Scorer[Any]
    _sample: Any
    _result: R | None

    @property
    def scorer(self) -> Scorer[Any]:
        """The scorer, with the metric's threshold."""
        return self._scorer

    @property
    def judging(self) -> Any:
        """What judges a test case, for conversations another one."""
        return self._scorer

    def is_successful(self) -> bool | None:
        """Whether the score reaches the threshold, or the answer claims nothing; None without a threshold.

        An answer that is `Result.mostly_marked` does not pass, nor a conversation in which one claims
        something without contexts.
        """
        reaches: bool | None = super().is_successful()  # type: ignore[misc]  # DeepEval's own
        if reaches is not None and self._result is not None:
            result = self._result
            is_closed = isinstance(result, Result) and (
                result.mostly_marked or result.at_gate().score is None
            )
            self.success = (reaches and not is_closed) or result.nothing_to_check
            return self.success
        return reaches

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, scorer={self.scorer!r})"

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "error" and value is None:
            # All that DeepEval does where another test case begins. If its time limit ends that
            # one before it is measured here, it would report the one before a second time.
            vars(self).update(_NOTHING)
            for text in ("reason", "verbose_logs"):
                vars(self).pop(text, None)
        if name in _FOLLOWED:
            value = check(MetricSettings.type_of(name), name, value)
        super().__setattr__(name, value)
        if name in ("threshold", "strict_mode"):
            _follow_threshold(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy(self)  # clients and stores cannot be copied

    def changed(self, **settings: Any) -> Self:
        """A copy with other settings and a new `collected`; it shares judge and store.

        Args:
            settings: The metric's, or the scorer's.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        # A subclass may have parameters of its own; DeepEval finds them in the same way.
        parameters = {
            n for cls in type(self).__mro__ for n in inspect.signature(cls).parameters
        }
        now = {name: value for name, value in vars(self).items() if name in parameters}
        of_scorer = self._scorer.arguments if "scorer" in now else {}
        check_settings(self, settings, sorted({*now, *of_scorer}), judge="model")
        further = {name: settings.pop(name) for name in {*settings} - {*now}}
        if further:
            now["scorer"] = self._scorer.changed(**further)
        if self.name == self._scorer.title:
            now["name"] = None  # it tells the settings, so it changes with them
        return type(self)(
            **{
                **now,
                "collected": None,
                **settings,
            }
        )

    def measure(
        self,
        test_case: Any,
        _show_indicator: bool = True,
        _in_component: bool = False,
    ) -> float | None:
        """Judge one test case. It needs no event loop and also works inside a running one.

        Args:
            test_case: The test case; of a retrieved context with a source, the text is judged.

        Returns:
            The score in [0, 1], or None if the test case is unscored. If the judge fails, ``error``
            says why, as DeepEval reports it; the run goes on.

        Raises:
            MissingTestCaseParamsError: The test case lacks a field that the criterion needs; of a
                conversation, no turn has it, or no question is answered.
            InvalidSampleError: It is of the other class, whose metric the message names, or
                multimodal (a ValueError, as from DeepEval's own metrics).
        """
        judged = _begin(self, test_case)
        return _finish(self, test_case, judged, self.judging.evaluate(judged))

    async def a_measure(
        self,
        test_case: Any,
        _show_indicator: bool = True,
        _in_component: bool = False,
    ) -> float | None:
        """The same, awaited.

        Raises:
            MissingTestCaseParamsError: See `measure`.
            InvalidSampleError: See `measure`.
        """
        judged = _begin(self, test_case)
        try:
            return _finish(
                self, test_case, judged, await self.judging.aevaluate(judged)
            )
        except asyncio.CancelledError:
            self.judging.emit_result(
                self.judging.unscored(Reason.TIMEOUT, _ENDED, judged)
            )
            raise

    @property
    def criteria(self) -> str:
        """All that can change a score, for DeepEval's cache, which compares no other setting."""
        settings, profiles = (
            self.scorer.fingerprint,
            getattr(self._scorer, "profiles", None),
        )
        # The metadata that profiles go by is in no key of the cache: nothing may be taken from it.
        return settings if profiles is None else f"{settings} {uuid4()}"

    @property
    def result(self) -> R | None:
        """The result of the last test case; unscored if its measurement was ended early."""
        if self._result is None and self._sample is not None:
            unscored: R = self.judging.unscored(Reason.TIMEOUT, _ENDED, self._sample)
            return unscored
        return self._result

    # Made when DeepEval reads them; what it has in its cache, it sets.

    @cached_property
    def reason(self) -> str | None:
        """The score in one sentence; None after an error, or without ``include_reason``."""
        if self.result is None or self.error is not None or not self.include_reason:
            return None
        return self.result.reason.translate(_ROUND)

    @cached_property
    def verbose_logs(self) -> str | None:
        """The result as JSON: the only text of a metric that DeepEval stores."""
        return None if self.result is None else self.result.to_json()

    @property
    def __name__(self) -> str:
        """The metric's name in reports."""
        return self.name


def texts_of(retrieved: Sequence[Any] | None) -> list[Any] | None:
    """The texts of retrieved contexts, also of those with a source."""
    return (
        None
        if retrieved is None
        else [getattr(each, "context", each) for each in retrieved]
    )


def metadata_of(test_case: Any) -> Any:
    """A test case's metadata as JSON values."""
    return to_jsonable_python(test_case.metadata or {}, fallback=str)


def _sample_of(test_case: LLMTestCase) -> Sample:
    contexts: Any = texts_of(test_case.retrieval_context)
    return Sample(
        input=test_case.input,
        response=test_case.actual_output,
        contexts=contexts,
        reference=test_case.expected_output,
        id=test_case.name,
        metadata=metadata_of(test_case),
    )


class ScorerMetric(OfScorer[R], BaseMetric):  # type: ignore[misc,no-untyped-call,override]  # DeepEval's metrics always have a score, and set reason and logs
    """Scores test cases with a scorer: ``ScorerMetric(CCRS("qr", judge=llm))``.

    It works in ``evaluate``, ``assert_test`` and ``deepeval test run``. DeepEval measures copies of
    a metric, one per test case, so results are also in `collected`, which all copies share, and in
    ``verbose_logs`` (see `results_of`).

    The metric is frozen: `changed` returns a copy with other settings. Only ``threshold`` and the
    modes that DeepEval sets (``strict_mode``, ``async_mode``, ``verbose_mode``) can be set later.

    Args:
        scorer: A `CCRS` or a `TCVA`, with its judge.
        threshold: The lowest score that passes; by default the scorer's. With None, as for
            DeepEval's own metrics, a test case is scored, but neither passes nor fails.
        **settings: See `MetricSettings`.

    Attributes:
        scorer: The scorer, with the metric's threshold.
        collected: `Collected` of every measured test case, in the order they were finished.
        name: The metric's name in reports.
        result: The result of the last test case that this object measured, or None.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or is set later; raised before
            any call.

    >>> from tcva_adapters import CCRS
    >>> metric = ScorerMetric(CCRS("qr", judge="lexical"), threshold=0.6)
    >>> metric.measure(LLMTestCase(input="Where is it?", actual_output="It is where it was."))
    1.0
    >>> metric.name, metric.threshold
    ('CCRS question relevance (threshold=0.6)', 0.6)
    """

    reads = LLMTestCase
    called: ClassVar = {name: param.value for name, param in PARAMS.items()}
    sample_of = staticmethod(_sample_of)

    @shows_settings(MetricSettings)
    def __init__(
        self,
        scorer: Scorer[R],
        threshold: float | EllipsisType | None = ...,
        **settings: Any,
    ) -> None:
        check_scorer(self, scorer)
        usual: Any = scorer.threshold if threshold is ... else threshold
        found = dict(MetricSettings(threshold=usual, **settings))
        _build(self, scorer, {**found, "scorer": scorer})


class TCVAArguments(FromConfig):
    """Builds a metric's `TCVA` of its arguments."""

    criterion: Criterion
    temperature: float
    store: VerdictStore | None

    @shows_settings(MetricSettings, TCVASettings)
    def __init__(
        self,
        criterion: Criterion | str = "faithfulness",
        threshold: float | None = TCVASettings.default("threshold"),
        temperature: float | str = TCVASettings.default("temperature"),
        model: Any = None,
        **settings: Any,
    ) -> None:
        known = inspect.signature(TCVAArguments).parameters
        check_settings(self, settings, known, judge="model")
        criterion = resolve_criterion(criterion)  # before DeepEval looks for a key
        own = {
            name: settings.pop(name)
            for name in MetricSettings.model_fields
            if name in settings
        }
        found = dict(MetricSettings(threshold=threshold, **own))
        is_name = isinstance(model, str) and not is_judge_name(model)
        judge = llm_of_name(model) if model is None or is_name else model
        tcva = TCVA(
            criterion,
            judge=judge,
            temperature=temperature,
            **settings,
        )
        if isinstance(judge, str):
            judge = tcva.arguments["judge"]  # one client for all copies
        _build(
            self,
            tcva,
            {
                **tcva.settings,
                **found,
                "criterion": tcva.criterion,
                "model": judge,
            },
        )


class TCVAMetric(TCVAArguments, ScorerMetric[Result]):  # type: ignore[misc,no-untyped-call,override]  # as above
    """Judges claims on five levels and scores them at a temperature.

    It goes wherever `FaithfulnessMetric` goes; see `ScorerMetric`.

    Args:
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        threshold: The lowest score that passes. With None, as for DeepEval's own metrics, a test
            case is scored, but neither passes nor fails.
        temperature: The strictness of the score, from 0.1 (strictest) to 1.0 (most lenient); or ``strict``,
            ``balanced``, ``lenient``. It is not the model's sampling temperature.
        model: The judge: a DeepEval LLM, ``"lexical"``, ``"openai:MODEL"``, or another framework's
            LLM object. None and any other name work as in DeepEval's own metrics: DeepEval's
            settings choose the provider.
        **settings: See `MetricSettings` and `TCVASettings`.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or is set later; raised before
            any call.
        MissingDependencyError: The judge's package is not installed.
        DeepEvalError: DeepEval chooses the provider, and its API key is missing.

    >>> metric = TCVAMetric(model="lexical")
    >>> opens = "The office opens at nine."
    >>> metric.measure(LLMTestCase(input="When?", actual_output=opens, retrieval_context=[opens]))
    1.0
    >>> metric.changed(temperature="strict").name
    'TCVA faithfulness (T=0.2)'
    """


# Functions, not methods: DeepEval traces every method of a metric as a span.


def _build(metric: Any, scorer: Scorer[Any], settings: dict[str, Any]) -> None:
    """Keep the settings under the names of their parameters: DeepEval's copies are built of them."""
    vars(metric).update(
        {
            "_scorer": scorer,  # first: it is the one that says so where it cannot be pickled
            **settings,
            **_NOTHING,
            "name": scorer.title if settings["name"] is None else settings["name"],
            "collected": [] if settings["collected"] is None else settings["collected"],
            "evaluation_model": scorer.judge_name,
            "_required_params": [PARAMS[field] for field in scorer.required],
            "_is_built": True,
        }
    )
    _follow_threshold(metric)


def _follow_threshold(metric: Any) -> None:
    own = vars(metric)
    if own["strict_mode"]:
        own["threshold"] = 1.0  # whatever else is set
    # Without a threshold there is nothing that a score could fall short of.
    passes, scorer = own["threshold"] or 0.0, own["_scorer"]
    own["_scorer"] = (
        scorer if scorer.threshold == passes else scorer.changed(threshold=passes)
    )
    if own["name"] == scorer.title:  # it tells the threshold, so it changes with it
        own["name"] = own["_scorer"].title


def _begin(metric: Any, test_case: Any) -> Any:
    """What is judged of a test case; DeepEval's own error if it lacks a field."""
    metric.error = None  # and all else that is left from the test case before
    metric.skipped = False
    kind, is_kind = metric.reads.__name__, isinstance(test_case, metric.reads)
    if not is_kind or test_case.multimodal:
        got = f"multimodal {kind}" if is_kind else type(test_case).__name__
        way = f"; {_TAKES[got]} judges those" if got in _TAKES else ""
        msg = f"'{metric.name}' needs a test case of class {kind}, with text only; got a {got}{way}"
        raise InvalidSampleError(msg)
    sample, msg = None, ""
    try:
        sample = metric.sample_of(test_case)
        if missing := [
            f"'{metric.called[name]}'" for name in metric.judging.missing(sample)
        ]:
            msg = (
                f"{' and '.join(missing)} cannot be None for the '{metric.name}' metric"
            )
    except (
        InvalidSampleError
    ) as error:  # of a conversation in which nothing is answered
        msg = f"'{metric.name}' has nothing to judge: {error}"
    if msg:
        metric.error = msg
        refused = metric.judging.unscored(Reason.MISSING_FIELD, msg, sample)
        vars(metric)["_result"] = metric.judging.emit_result(refused)
        raise MissingTestCaseParamsError(msg)
    vars(metric)["_sample"] = sample
    return sample


def _finish(
    metric: Any,
    test_case: Any,
    sample: Any,
    result: Scored,
) -> float | None:
    """Keep a result where DeepEval looks for its parts; returns the score."""
    metric.collected.append(Collected(test_case, result))
    fails = metric.strict_mode and result.score is not None and not result.passed
    score, usage, why = 0.0 if fails else result.score, result.usage, result.unscored
    # Otherwise it outlived DeepEval's time limit: the metric is at another test case now.
    if vars(metric)["_sample"] is sample:
        vars(metric).update(
            _result=result,
            score=score,
            # As DeepEval books what it has in its cache: 0 where nobody was asked.
            evaluation_cost=usage.cost if usage.calls else 0.0,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )
        if why is not None and why.reason.is_failure:
            metric.error = f"{why.reason}: {why.detail}".translate(_ROUND)
        metric.is_successful()
        if metric.verbose_mode:
            print_verbose_logs(
                metric.name, f"{metric.verbose_logs}\n \nReason: {result.reason}"
            )
    return score
