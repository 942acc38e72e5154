"""Our scorers wherever DeepEval takes a metric: TCVA on its dial, or anything else that scores."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from types import EllipsisType
from typing import Annotated, Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar
from uuid import uuid4

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.metrics.utils import construct_verbose_logs
from deepeval.test_case import LLMTestCase
from pydantic import BeforeValidator, Field

from tcva_adapters.criteria import Criterion
from tcva_adapters.deepeval.llm import llm_of_name
from tcva_adapters.deepeval.results import carried, result_of
from tcva_adapters.deepeval.samples import PARAMS, missing_params, sample_of
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.judges.llm import LLMJudge
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

R = TypeVar("R", bound=Scored)

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


def _check_name(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and value.strip()):
        msg = "it should be a text, or None for a name that tells the settings"
        raise ValueError(msg)
    return value


def _check_collected(value: Any) -> Any:
    if not (value is None or isinstance(value, list)):
        msg = "it should be a list to add results to, or None for a new one"
        raise ValueError(msg)
    return value  # itself: copies of a metric share it


class MetricConfig(SettingsModel):
    """What every metric takes in DeepEval, beside what it is scored by."""

    name: Annotated[str | None, BeforeValidator(_check_name)] = Field(
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
    collected: Annotated[Any, BeforeValidator(_check_collected)] = Field(
        default=None,
        description="The list that results are added to; by default a new one.",
    )


_FOLLOWED: Final = frozenset({"threshold", "strict_mode", "async_mode", "verbose_mode"})
"""What DeepEval itself sets on a metric that is built, and the threshold, which users set."""

_DEEPEVALS: Final = frozenset(vars(BaseMetric)) | {"__orig_class__"}
"""What DeepEval keeps on a metric, most of it of the last test case, and Python on a generic."""


class ScorerMetric(BaseMetric, Generic[R]):  # type: ignore[no-untyped-call]  # DeepEval's __init_subclass__
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
        **settings: See `MetricConfig`.

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

    setting_names: ClassVar[frozenset[str]] = frozenset(
        {"scorer", "threshold", *MetricConfig.model_fields}
    )

    name: str
    collected: list[Collected[R]]
    # Any: DeepEval declares them narrower than it uses them.
    model: Any
    score_breakdown: Any
    _required_params: Any
    _scorer: Scorer[R]

    @shows_settings(MetricConfig)
    def __init__(
        self,
        scorer: Scorer[R],
        threshold: float | EllipsisType | None = ...,
        **settings: Any,
    ) -> None:
        _check_scorer(scorer)
        found = dict(MetricConfig(**settings))
        found["threshold"] = scorer.threshold if threshold is ... else threshold
        _build(self, scorer, {**found, "scorer": scorer})

    @property
    def scorer(self) -> Scorer[R]:
        """What scores, under the metric's threshold."""
        return self._scorer

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, scorer={self._scorer!r})"

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "error" and value is None:
            # All that DeepEval does where another test case begins. If its time limit ends that
            # one before it is measured here, it would report the one before a second time.
            _forget(self)
        is_setting = name in {*self.setting_names, "model"}
        if "_scorer" not in vars(self) or (name in _DEEPEVALS and not is_setting):
            super().__setattr__(name, value)
        elif name in _FOLLOWED:
            _follow(self, name, value)
        else:
            msg = (
                f"{name}={value!r} on a built metric is not used; changed({name}=...) gives a copy"
            )
            raise InvalidValueError(msg)

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
        known = {*self.setting_names, *inspect.signature(type(self)).parameters}
        now = {name: value for name, value in vars(self).items() if name in known}
        now["collected"] = None
        if self.name == self._scorer.title:
            now["name"] = None  # it tells the settings, so it changes with them
        of_scorer = {name: value for name, value in settings.items() if name not in known}
        if of_scorer:
            now |= _with_scorer(self, of_scorer)
        return type(self)(**{**now, **{n: v for n, v in settings.items() if n in known}})

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
        with _begun(self, test_case) as sample:
            result = self._scorer.evaluate(sample)
        return _finish(self, test_case, sample, result)

    async def a_measure(  # type: ignore[override]  # as above
        self, test_case: LLMTestCase, _show_indicator: bool = True, _in_component: bool = False
    ) -> float | None:
        """The same, awaited.

        Raises:
            MissingTestCaseParamsError: See `measure`.
            InvalidSampleError: See `measure`.
        """
        with _begun(self, test_case) as sample:
            result = await self._scorer.aevaluate(sample)
        return _finish(self, test_case, sample, result)

    @property
    def criteria(self) -> str:
        """What can change a score: DeepEval's cache compares it, and none of the settings."""
        settings = self._scorer.fingerprint
        # The metadata that profiles go by is in no key of the cache: nothing may be taken from it.
        return settings if _profiles(self._scorer) is None else f"{settings} {uuid4()}"

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
        **settings: See `MetricConfig` and `TCVASettings`.

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

    setting_names = frozenset(
        {
            "criterion",
            "threshold",
            "temperature",
            "model",
            *MetricConfig.model_fields,
            *TCVASettings.model_fields,
        }
    )

    criterion: Criterion
    temperature: float
    store: VerdictStore | None
    profiles: Profiles | None

    @shows_settings(MetricConfig, TCVASettings)
    def __init__(
        self,
        criterion: Criterion | str = "faithfulness",
        threshold: float | None = TCVASettings.default("threshold"),
        temperature: float | str = TCVASettings.default("temperature"),
        model: Any = None,
        **settings: Any,
    ) -> None:
        check_names(settings, sorted(self.setting_names), of="TCVAMetric")
        own = MetricConfig.model_fields
        given = {name: value for name, value in settings.items() if name in own}
        found = dict(MetricConfig(**given))
        _check_threshold(threshold)
        is_name = model is None or (isinstance(model, str) and not _OURS.fullmatch(model))
        judge = llm_of_name(model) if is_name else model
        judging: Any = {name: value for name, value in settings.items() if name not in own}
        tcva = TCVA(criterion, judge=judge, temperature=temperature, **judging)
        if isinstance(judge, str) and isinstance(tcva.judge, LLMJudge):
            judge = tcva.judge.model  # one client for all copies
        shown = {"criterion": tcva.criterion, "model": judge, "threshold": threshold}
        _build(self, tcva, {**found, **tcva.settings, **shown})


# Functions, not methods: DeepEval traces every method of a metric as a span.


def _build(metric: Any, scorer: Scorer[Any], settings: Mapping[str, Any]) -> None:
    """Keep the settings under the names of their parameters: DeepEval's copies are built of them."""
    view = _view(scorer, settings["threshold"], strict=settings["strict_mode"])
    vars(metric).update(
        {
            "_scorer": scorer,  # first: it is the one that says so where it cannot be pickled
            **settings,
            "collected": [] if settings["collected"] is None else settings["collected"],
            **view,
            "name": scorer.title if settings["name"] is None else settings["name"],
            "evaluation_model": scorer.judge_name,
            "_required_params": [PARAMS[field] for field in scorer.required],
            "_given": scorer,
            "_current": None,
        }
    )


def _view(scorer: Scorer[Any], threshold: Any, *, strict: bool) -> dict[str, Any]:
    """The threshold that holds, and the scorer under it."""
    threshold = _check_threshold(threshold)
    if strict:
        threshold = 1.0  # whatever else is set
    # Without a threshold there is nothing that a score could fall short of.
    from_here_on = 0.0 if threshold is None else threshold
    if scorer.threshold != from_here_on:
        scorer = scorer.changed(threshold=from_here_on)
    return {"threshold": threshold, "_scorer": scorer}


def _check_scorer(scorer: Any) -> None:
    if not isinstance(scorer, Scorer):
        msg = f"scorer={scorer!r}; it is a TCVA, a CCRS or another Scorer"
        raise InvalidValueError(msg)


def _check_threshold(threshold: Any) -> Any:
    return None if threshold is None else check(Share, "threshold", threshold)


def _profiles(scorer: Scorer[Any]) -> Profiles | None:
    return getattr(scorer, "profiles", None)


def _follow(metric: Any, name: str, value: Any) -> None:
    """Take a new value; where it is refused, nothing has changed."""
    if name in MetricConfig.model_fields:
        value = getattr(MetricConfig(**{name: value}), name)
    now = {**vars(metric), name: value}
    vars(metric).update(
        {name: value, **_view(now["_given"], now["threshold"], strict=now["strict_mode"])}
    )


def _with_scorer(metric: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A scorer with other settings, for a metric that is built of one."""
    known = metric.setting_names
    if "scorer" not in known:
        check_names(settings, sorted(known), of=type(metric).__name__)
    return {"scorer": metric._given.changed(**settings)}  # noqa: SLF001  # of this class


def _forget(metric: Any) -> None:
    """Drop what is left from the test case before; if that is still measured, it comes too late."""
    names = ("score", "reason", "success", "verbose_logs", "score_breakdown", "evaluation_cost")
    vars(metric).update(dict.fromkeys((*names, "input_tokens", "output_tokens", "_current")))


@contextmanager
def _begun(metric: Any, test_case: LLMTestCase) -> Iterator[Sample]:
    """The sample of a test case while it is measured; says in DeepEval's words what it lacks."""
    metric.error = None  # and all else that is left from the test case before
    metric.skipped = False
    scorer = metric._scorer  # noqa: SLF001  # of this class
    sample = None
    try:
        sample = sample_of(test_case, metric.name)
        # DeepEval may end the measurement at its time limit, and reports what the logs hold then.
        ended = "the measurement was ended before there were verdicts"
        logs = scorer.unscored(Reason.TIMEOUT, ended, sample).to_json()
        vars(metric).update(verbose_logs=logs, _current=sample)
        yield sample
    except InvalidSampleError as error:
        reason = Reason.INVALID_INPUT if sample is None else Reason.MISSING_FIELD
        said = str(error)
        if sample is not None:
            said = missing_params(scorer.missing(sample), metric.name)
        metric.verbose_logs = scorer.unscored(reason, said, sample).to_json()
        metric.error = said
        if sample is None:
            raise
        raise MissingTestCaseParamsError(said) from None


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
