"""The base of the metrics for answers and for conversations in DeepEval."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping
from copy import copy
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeAlias
from uuid import uuid4

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.metrics.utils import print_verbose_logs
from deepeval.test_case import ConversationalTestCase, LLMTestCase

from tcva_adapters._adapter.evaluator import check_settings
from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters._adapter.results import views_of, with_views
from tcva_adapters.deepeval.samples import PARAMS
from tcva_adapters.deepeval.settings import MetricSettings
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import AnyScorer, Frozen
from tcva_adapters.results.judgement import Reason
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.runner.questions import R

_NO_BRACKETS = str.maketrans("[]", "()")
"""DeepEval prints texts as markup of rich, which swallows "[none]" and breaks off at a "[/INST]"."""

_ENDED = "DeepEval ended the measurement before the judge replied"
"""The reason for no score if DeepEval's time limit came first."""

_UNMEASURED = {
    "score": None,
    "success": None,
    "evaluation_cost": None,
    "input_tokens": None,
    "output_tokens": None,
    "_sample": None,
    "_result": None,
}
"""The values of a metric that has not measured its test case."""

_METRICS = {
    "LLMTestCase": "TCVAMetric",
    "ConversationalTestCase": "TCVAConversationalMetric",
}
"""The metric that judges a test case, by the class of the test case."""

_MODES = ("threshold", "strict_mode", "async_mode", "verbose_mode")
"""Settings that DeepEval sets on a metric that is built, and the threshold, which users set."""


TestCase: TypeAlias = LLMTestCase | ConversationalTestCase


class Collected(NamedTuple, Generic[R]):
    """One judged test case.

    Attributes:
        test_case: The test case.
        result: Its result.
    """

    test_case: LLMTestCase
    result: R


class ScorerBase(Frozen, Generic[R]):
    """The base of the metrics for answers and for conversations.

    Attributes:
        scorer: The scorer, with the metric's threshold.
        judging: What judges a test case: the scorer, or the scorer on conversations.
        collected: `Collected` of every measured test case, in the order they were finished.
        name: The metric's name in reports.
        result: The result of the last test case that this object measured, or None.
        test_case_class: The class of its test cases.
        field_names: DeepEval's names of a sample's fields in them.
        sample_of: Reads what is judged from a test case.
    """

    test_case_class: ClassVar[type]
    field_names: ClassVar[Mapping[str, str]]
    sample_of: ClassVar[Callable[..., Any]]

    # Attributes that DeepEval sets on a metric, most of them about the last test case;
    # not those that are fixed when it is built.
    settable = frozenset({*vars(BaseMetric), *_MODES}) - {
        "include_reason",
        "flaky",
        "model",
    }

    name: str
    error: str | None
    success: bool | None
    strict_mode: bool
    verbose_mode: bool
    skipped: bool
    include_reason: bool
    model: Any  # whatever can judge
    collected: list[Collected[R]]
    _scorer: AnyScorer
    _sample: Any
    _result: R | None

    @property
    def scorer(self) -> AnyScorer:
        """The scorer, with the metric's threshold."""
        return self._scorer

    @property
    def judging(self) -> Any:
        """The scorer, or the scorer on conversations."""
        return self._scorer

    def is_successful(self) -> bool | None:
        """Whether the score reaches the threshold, or the answer claims nothing; None without a threshold.

        An answer that is `Result.mostly_marked` does not pass, nor does a conversation with an answer
        that claims something without contexts.
        """
        reaches: bool | None = super().is_successful()  # type: ignore[misc]  # DeepEval's own
        result = self._result
        if reaches is None or result is None:
            return reaches
        is_closed = isinstance(result, Result) and (
            result.mostly_marked or result.at_gate().score is None
        )
        self.success = (reaches and not is_closed) or result.nothing_to_check
        return self.success

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, scorer={self.scorer!r})"

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "error" and value is None:
            # This is all that DeepEval does when another test case begins. If its time
            # limit ended that one before it is measured here, the values of the test case
            # before it would be reported again.
            vars(self).update(_UNMEASURED)
            for text in ("reason", "verbose_logs"):
                vars(self).pop(text, None)
        if name in _MODES:
            value = getattr(MetricSettings(**{name: value}), name)
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
            name
            for base in type(self).__mro__
            for name in inspect.signature(base).parameters
        }
        now = {name: value for name, value in vars(self).items() if name in parameters}
        of_scorer = self._scorer.arguments if "scorer" in now else {}
        check_settings(self, settings, sorted({*now, *of_scorer}), judge="model")
        further = {name: settings.pop(name) for name in {*settings} - {*now}}
        if further:
            now["scorer"] = self._scorer.changed(**further)
        if self.name == self._scorer.title:
            now["name"] = None  # it names the settings, so it changes with them
        now["collected"] = None
        return type(self)(**(now | settings))

    def measure(
        self,
        test_case: TestCase,
        _show_indicator: bool = True,
        _in_component: bool = False,
    ) -> float | None:
        """Judge one test case. It needs no event loop and also works inside a running one.

        Args:
            test_case: The test case; a retrieved context with a source is judged by its text.

        Returns:
            The score in [0, 1], or None if the test case is unscored. If the judge fails, ``error``
            says why, as DeepEval reports it; the run goes on.

        Raises:
            MissingTestCaseParamsError: The test case lacks a field that the criterion needs; of a
                conversation, no turn has it, or no question is answered.
            InvalidSampleError: It is of the other class, whose metric the message names, or
                multimodal (a ValueError, as from DeepEval's own metrics).
        """
        sample = _begin(self, test_case)
        return _finish(self, test_case, sample, self.judging.evaluate(sample))

    async def a_measure(
        self,
        test_case: TestCase,
        _show_indicator: bool = True,
        _in_component: bool = False,
    ) -> float | None:
        """The same, awaited.

        Raises:
            MissingTestCaseParamsError: See `measure`.
            InvalidSampleError: See `measure`.
        """
        sample = _begin(self, test_case)
        try:
            result = await self.judging.aevaluate(sample)
        except asyncio.CancelledError:
            self.judging.emit_result(
                self.judging.unscored(Reason.TIMEOUT, _ENDED, sample)
            )
            raise
        return _finish(self, test_case, sample, await with_views(result))

    @property
    def criteria(self) -> str:
        """All that can change a score, for DeepEval's cache, which compares no other setting."""
        settings = self.scorer.fingerprint
        if getattr(self._scorer, "profiles", None) is None:
            return settings
        # The cache's keys lack the metadata that selects a profile, so nothing may be
        # taken from it.
        return f"{settings} {uuid4()}"

    @property
    def result(self) -> R | None:
        """The result of the last test case; unscored if its measurement was ended early."""
        if self._result is None and self._sample is not None:
            unscored: R = self.judging.unscored(Reason.TIMEOUT, _ENDED, self._sample)
            return unscored
        return self._result

    # Made when DeepEval reads them; DeepEval sets values from its cache.

    @cached_property
    def reason(self) -> str | None:
        """The score in one sentence; None after an error, or without ``include_reason``."""
        if self.result is None or self.error is not None or not self.include_reason:
            return None
        return self.result.reason.translate(_NO_BRACKETS)

    @cached_property
    def verbose_logs(self) -> str | None:
        """The result as JSON, citations and passages included: the only text that DeepEval stores."""
        if self.result is None:
            return None
        plain = self.result.to_dict() | views_of(self.result)
        return json.dumps(plain, ensure_ascii=False)

    @property
    def __name__(self) -> str:
        """The metric's name in reports."""
        return self.name


# Functions, not methods: DeepEval traces every method of a metric as a span.


def build(
    metric: Any,
    scorer: AnyScorer,
    settings: MetricSettings,
    arguments: Arguments,
) -> None:
    """Build a metric that keeps its settings under the names of the parameters.

    DeepEval builds its copies from them.

    Args:
        metric: The metric.
        scorer: Its scorer.
        settings: Its own settings.
        arguments: Further arguments of its constructor.
    """
    vars(metric).update(
        {
            # First, as its error is the clear one if it cannot be pickled.
            "_scorer": scorer,
            **arguments,
            **dict(settings),
            **_UNMEASURED,
            "name": settings.name or scorer.title,
            "collected": [] if settings.collected is None else settings.collected,
            "evaluation_model": scorer.judge_name,
            "_required_params": [PARAMS[field] for field in scorer.required],
            "_is_built": True,
        }
    )
    _follow_threshold(metric)


def _follow_threshold(metric: ScorerBase[Any]) -> None:
    """Give the scorer the metric's threshold, and the metric a name that contains it."""
    values = vars(metric)
    if values["strict_mode"]:
        values["threshold"] = 1.0  # whatever else is set
    # Without a threshold, no score can fall below it.
    threshold = values["threshold"] or 0.0
    scorer = values["_scorer"]
    if scorer.threshold != threshold:
        values["_scorer"] = scorer.changed(threshold=threshold)
    if values["name"] == scorer.title:
        values["name"] = values["_scorer"].title


def _begin(metric: ScorerBase[Any], test_case: TestCase) -> Any:
    """Reset the metric for another test case, and return what is judged of it.

    Raises:
        InvalidSampleError: It is of another class, or multimodal.
        MissingTestCaseParamsError: It lacks a field.
    """
    metric.error = None  # clears everything else of the test case before, too
    metric.skipped = False
    _check_class(metric, test_case)
    sample = None
    try:
        sample = metric.sample_of(test_case)
        missing = metric.judging.missing(sample)
        names = " and ".join(f"'{metric.field_names[name]}'" for name in missing)
        msg = f"{names} cannot be None for the '{metric.name}' metric" if names else ""
    except InvalidSampleError as error:  # nothing is answered in a conversation
        msg = f"'{metric.name}' has nothing to judge: {error}"
    if msg:
        metric.error = msg
        refused = metric.judging.unscored(Reason.MISSING_FIELD, msg, sample)
        metric._result = metric.judging.emit_result(refused)  # noqa: SLF001  # see above
        raise MissingTestCaseParamsError(msg)
    metric._sample = sample  # noqa: SLF001  # as above
    return sample


def _check_class(metric: ScorerBase[Any], test_case: TestCase) -> None:
    expected = metric.test_case_class.__name__
    is_expected = isinstance(test_case, metric.test_case_class)
    if is_expected and not test_case.multimodal:
        return
    got = f"multimodal {expected}" if is_expected else type(test_case).__name__
    hint = f"; {_METRICS[got]} judges those" if got in _METRICS else ""
    raise InvalidSampleError(
        f"'{metric.name}' needs a test case of class {expected}, with text only; "
        f"got a {got}{hint}"
    )


def _finish(
    metric: ScorerBase[Any], test_case: Any, sample: object, result: Scored
) -> float | None:
    """Store a result where DeepEval looks for its parts, and return the score."""
    metric.collected.append(Collected(test_case, result))
    fails = metric.strict_mode and result.score is not None and not result.passed
    score = 0.0 if fails else result.score
    # Otherwise DeepEval's time limit has passed, and the metric is at another test case.
    if metric._sample is sample:  # noqa: SLF001  # see above
        usage = result.usage
        unscored = result.unscored
        vars(metric).update(
            _result=result,
            score=score,
            # 0 if no call was made, as DeepEval counts cached results.
            evaluation_cost=usage.cost if usage.calls else 0.0,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )
        if unscored is not None and unscored.reason.is_failure:
            metric.error = f"{unscored.reason}: {unscored.detail}".translate(
                _NO_BRACKETS
            )
        metric.is_successful()
        if metric.verbose_mode:
            print_verbose_logs(
                metric.name, f"{metric.verbose_logs}\n \nReason: {result.reason}"
            )
    return score
