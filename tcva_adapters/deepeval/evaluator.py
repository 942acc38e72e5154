"""Our scorers wherever DeepEval takes a metric: TCVA on its dial, or anything else that scores."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from copy import copy
from types import EllipsisType
from typing import Annotated, Any, Final, Generic, NamedTuple, Self
from uuid import uuid4

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.metrics.utils import construct_verbose_logs
from deepeval.test_case import LLMTestCase
from pydantic import Field, InstanceOf

from tcva_adapters._adapter.evaluator import check_scorer, check_settings
from tcva_adapters.criteria import Criterion
from tcva_adapters.deepeval.llm import llm_of_name
from tcva_adapters.deepeval.results import carried, result_of
from tcva_adapters.deepeval.samples import PARAMS, check_params, sample_of
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import Frozen, R, Scorer
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import (
    Profiles,
    SettingsModel,
    Share,
    TCVASettings,
    check,
    check_names,
    shows_settings,
)
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_OURS: Final = re.compile(r"lexical|openai:.*")
"""Names of judges that are not DeepEval's to understand."""


class Collected(NamedTuple, Generic[R]):
    """One judged test case.

    Attributes:
        test_case: The test case.
        result: Its result.
    """

    test_case: LLMTestCase
    result: R


class MetricSettings(SettingsModel):
    """What every metric takes in DeepEval, beside what it is scored by."""

    threshold: Share | None = Field(
        default=None,
        description="A score passes from here on; None decides nothing.",
    )
    name: Annotated[str, Field(pattern=r"\S")] | None = Field(
        default=None,
        description="What reports call the metric; by default what is scored, and in brackets the "
        "settings that are not the usual ones.",
    )
    include_reason: bool = Field(default=True, description="Say why in reason. It costs no call.")
    async_mode: bool = Field(
        default=True,
        description="As DeepEval expects it; measure needs no event loop.",
    )
    strict_mode: bool = Field(
        default=False,
        description="As in DeepEval: the threshold is 1, and a score below counts as 0.",
    )
    verbose_mode: bool = Field(default=False, description="Print each result.")
    flaky: bool = Field(
        default=False,
        description="As in DeepEval: reported, but it decides nothing.",
    )
    collected: InstanceOf[list[Any]] | None = Field(  # itself: copies of a metric share it
        default=None,
        description="The list that results are added to; by default a new one.",
    )


_FOLLOWED: Final = ("threshold", "strict_mode", "async_mode", "verbose_mode")
"""What DeepEval itself sets on a metric that is built, and the threshold, which users set."""


class ScorerMetric(Frozen, BaseMetric, Generic[R]):  # type: ignore[no-untyped-call]  # DeepEval's __init_subclass__
    """Scores test cases by a scorer: ``ScorerMetric(CCRS("qr", judge=llm))``.

    It works in ``evaluate``, ``assert_test`` and ``deepeval test run``. DeepEval measures copies of
    a metric, one per test case, so results are also put where all copies reach: in `collected` and
    in ``verbose_logs`` (see `results_of`).

    Frozen: `changed` gives a copy with other settings. Followed are ``threshold`` and the modes
    that DeepEval sets (``strict_mode``, ``async_mode``, ``verbose_mode``).

    Args:
        scorer: What scores, a `CCRS` or a `TCVA`, with its judge.
        threshold: A score passes from here on; by default the scorer's. None as for DeepEval's own
            metrics: the test case is scored, neither passed nor failed.
        **settings: See `MetricSettings`.

    Attributes:
        scorer: What scores, under the metric's threshold.
        collected: `Collected` of every measured test case, in the order they were finished.
        name: What reports call the metric.
        result: The result of the last test case that this object measured, or None.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or is set later; raised before
            any call.

    >>> from tcva_adapters import CCRS
    >>> metric = ScorerMetric(CCRS("qr", judge="lexical"), threshold=0.6)
    >>> metric.measure(LLMTestCase(input="Where is it?", actual_output="It is where it was."))
    1.0
    >>> metric.name, metric.threshold
    ('CCRS question relevance', 0.6)
    """

    # What DeepEval keeps on a metric, most of it of the last test case; not what was built in.
    settable = frozenset({*vars(BaseMetric), *_FOLLOWED}) - {"include_reason", "flaky", "model"}

    name: str
    collected: list[Collected[R]]
    # Any: DeepEval declares them narrower than it uses them.
    model: Any
    score_breakdown: Any
    _required_params: Any
    _scorer: Scorer[R]

    @shows_settings(MetricSettings)
    def __init__(
        self,
        scorer: Scorer[R],
        threshold: float | EllipsisType | None = ...,
        **settings: Any,
    ) -> None:
        check_scorer(self, scorer)
        usual = scorer.threshold if threshold is ... else threshold
        _build(self, scorer, {**_checked(self, usual, settings), "scorer": scorer})

    @property
    def scorer(self) -> Scorer[R]:
        """What scores, under the metric's threshold."""
        usual, threshold = self._scorer, _passes_from(self.threshold)
        return usual if usual.threshold == threshold else usual.changed(threshold=threshold)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, scorer={self.scorer!r})"

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "error" and value is None:
            # All that DeepEval does where another test case begins. If its time limit ends that
            # one before it is measured here, it would report the one before a second time.
            _forget(self)
        if name in _FOLLOWED:
            value = check(MetricSettings.type_of(name), name, value)
        if name == "threshold" and self.strict_mode:
            value = 1.0  # whatever else is set
        super().__setattr__(name, value)
        if name == "strict_mode" and value:
            self.threshold = 1.0

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Clients and stores cannot be copied, and nothing else is ever changed in place.
        copied = copy(self)
        vars(copied)["collected"] = [*self.collected]
        return copied

    def changed(self, **settings: Any) -> Self:
        """A copy with other settings; it shares judge and store, and collects for itself.

        Args:
            settings: The metric's, or the scorer's.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        # A subclass may have parameters of its own; DeepEval finds them in the same way.
        parameters = {n for cls in type(self).__mro__ for n in inspect.signature(cls).parameters}
        now = {name: value for name, value in vars(self).items() if name in parameters}
        of_scorer = self._scorer.arguments if "scorer" in now else {}
        check_settings(self, settings, sorted({*now, *of_scorer}), judge="model")
        further = {name: settings.pop(name) for name in {*settings} - {*now}}
        if further:
            now["scorer"] = self._scorer.changed(**further)
        if self.name == self._scorer.title:
            now["name"] = None  # it tells the settings, so it changes with them
        return type(self)(**{**now, "collected": None, **settings})

    def measure(  # type: ignore[override]  # a score may be missing
        self, test_case: LLMTestCase, _show_indicator: bool = True, _in_component: bool = False
    ) -> float | None:
        """Judge one test case without an event loop: it also works where one is running.

        Args:
            test_case: The test case; a retrieved context with a source is judged by its text.

        Returns:
            The score in [0, 1]; None where there is none. A failure of the judge is in ``error``,
            as DeepEval reports it; it does not end the run.

        Raises:
            MissingTestCaseParamsError: The test case has no field that the scorer needs.
            InvalidSampleError: It is a conversation, or multimodal (a ValueError, as DeepEval's
                own metrics raise).
        """
        sample = _begin(self, test_case)
        return _finish(self, test_case, sample, self.scorer.evaluate(sample))

    async def a_measure(  # type: ignore[override]  # as above
        self, test_case: LLMTestCase, _show_indicator: bool = True, _in_component: bool = False
    ) -> float | None:
        """The same, awaited.

        Raises:
            MissingTestCaseParamsError: See `measure`.
            InvalidSampleError: See `measure`.
        """
        sample = _begin(self, test_case)
        return _finish(self, test_case, sample, await self.scorer.aevaluate(sample))

    @property
    def criteria(self) -> str:
        """What can change a score: DeepEval's cache compares it, and none of the settings."""
        settings, profiles = self.scorer.fingerprint, getattr(self._scorer, "profiles", None)
        # The metadata that profiles go by is in no key of the cache: nothing may be taken from it.
        return settings if profiles is None else f"{settings} {uuid4()}"

    @property
    def result(self) -> R | None:
        """The result of the last test case, also where it came from DeepEval's cache."""
        found: R | None = None if self.verbose_logs is None else result_of(self)
        return found

    @property
    def __name__(self) -> str:
        """What reports call the metric."""
        return self.name


class TCVAMetric(FromConfig, ScorerMetric[Result]):  # type: ignore[no-untyped-call]  # as above
    """Judges claims on five levels and scores them on the dial.

    Takes the place of `FaithfulnessMetric` and its siblings; see `ScorerMetric`.

    Args:
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        threshold: A score passes from here on. None as for DeepEval's own metrics: the test case
            is scored, neither passed nor failed.
        temperature: Strictness in [0.1, 1.0], low is strict; or ``strict``, ``balanced``,
            ``lenient``.
        model: The judge: a DeepEval LLM, ``"lexical"``, ``"openai:MODEL"``, or another framework's
            LLM object. None and all other names mean what they mean to DeepEval's own metrics:
            its settings choose the provider.
        **settings: See `MetricSettings` and `TCVASettings`.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or is set later; raised before
            any call.
        MissingDependencyError: The judge's package is not installed.
        DeepEvalError: The choice is left to DeepEval, and its provider has no key.

    >>> metric = TCVAMetric(model="lexical")
    >>> opens = "The office opens at nine."
    >>> metric.measure(LLMTestCase(input="When?", actual_output=opens, retrieval_context=[opens]))
    1.0
    >>> metric.changed(temperature="strict").name
    'TCVA faithfulness (T=0.2)'
    """

    criterion: Criterion
    temperature: float
    store: VerdictStore | None
    profiles: Profiles | None

    @shows_settings(MetricSettings, TCVASettings)
    def __init__(
        self,
        criterion: Criterion | str = "faithfulness",
        threshold: float | None = TCVASettings.default("threshold"),
        temperature: float | str = TCVASettings.default("temperature"),
        model: Any = None,
        **settings: Any,
    ) -> None:
        check_settings(self, settings, [*inspect.signature(TCVAMetric).parameters], judge="model")
        own = {name: settings.pop(name) for name in MetricSettings.model_fields if name in settings}
        found = _checked(self, threshold, own)
        settings |= {"temperature": temperature, "threshold": _passes_from(found["threshold"])}
        is_name = model is None or (isinstance(model, str) and not _OURS.fullmatch(model))
        judge = llm_of_name(model) if is_name else model
        tcva = TCVA(criterion, judge=judge, **settings)
        if isinstance(judge, str):
            judge = tcva.arguments["judge"]  # one client for all copies
        shown = {"criterion": tcva.criterion, "model": judge}
        _build(self, tcva, {**tcva.settings, **found, **shown})


# Functions, not methods: DeepEval traces every method of a metric as a span.


def _checked(metric: Any, threshold: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    check_names(settings, MetricSettings.model_fields, of=type(metric).__name__)
    found = dict(MetricSettings(threshold=threshold, **settings))
    if found["collected"] is None:
        found["collected"] = []
    return {**found, "threshold": 1.0} if found["strict_mode"] else found


def _passes_from(threshold: float | None) -> float:
    # Without a threshold there is nothing that a score could fall short of.
    return threshold or 0.0


def _build(metric: Any, scorer: Scorer[Any], settings: Mapping[str, Any]) -> None:
    """Keep the settings under the names of their parameters: DeepEval's copies are built of them."""
    vars(metric).update(
        {
            "_scorer": scorer,  # first: it is the one that says so where it cannot be pickled
            **settings,
            "name": scorer.title if settings["name"] is None else settings["name"],
            "evaluation_model": scorer.judge_name,
            "_required_params": [PARAMS[field] for field in scorer.required],
            "_current": None,
            "_is_built": True,
        }
    )


def _forget(metric: Any) -> None:
    """Drop what is left from the test case before; if that is still measured, it comes too late."""
    names = ("score", "reason", "success", "verbose_logs", "score_breakdown", "evaluation_cost")
    vars(metric).update(dict.fromkeys((*names, "input_tokens", "output_tokens", "_current")))


def _begin(metric: Any, test_case: LLMTestCase) -> Sample:
    """The sample of a test case that is to be measured; says in DeepEval's words what it lacks."""
    metric.error = None  # and all else that is left from the test case before
    metric.skipped = False
    scorer = metric.scorer
    sample, reason = None, Reason.INVALID_INPUT
    try:
        sample, reason = sample_of(test_case, metric.name), Reason.MISSING_FIELD
        check_params(scorer.missing(sample), metric.name)
    except (InvalidSampleError, MissingTestCaseParamsError) as error:
        metric.verbose_logs = scorer.unscored(reason, str(error), sample).to_json()
        metric.error = str(error)
        raise
    # DeepEval may end the measurement at its time limit, and reports what the logs hold then.
    ended = "the measurement was ended before there were verdicts"
    logs = scorer.unscored(Reason.TIMEOUT, ended, sample).to_json()
    vars(metric).update(verbose_logs=logs, _current=sample)
    return sample


def _finish(metric: Any, test_case: LLMTestCase, sample: Sample, result: Scored) -> float | None:
    metric.collected.append(Collected(test_case, result))
    found = carried(result, strict=metric.strict_mode, explained=metric.include_reason)
    score: float | None = found["score"]
    # A thread that outlived DeepEval's time limit: the metric is at another test case now.
    if vars(metric)["_current"] is sample:
        # The last step is printed in verbose mode only, the others also make up the logs.
        steps = [found["verbose_logs"], f"Score: {score}\nReason: {result.reason}"]
        found["verbose_logs"] = construct_verbose_logs(metric, steps=steps)
        vars(metric).update(found)
        metric.success = metric.is_successful()
    return score
