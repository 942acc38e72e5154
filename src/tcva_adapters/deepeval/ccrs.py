"""CCRSMetric: one of the five direct metrics wherever DeepEval takes a metric."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.metrics.utils import construct_verbose_logs
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase

from tcva_adapters.ccrs import CCRS, CCRSResult, ExactMatch
from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA
from tcva_adapters.ccrs.result import check_threshold
from tcva_adapters.deepeval.evaluator import sample_for
from tcva_adapters.deepeval.settings import PARAMS, judge_for
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.judging.store import VerdictStore

_FIXED: Final = frozenset({"metric", "model", "lambda_", "em", "store"})


class CollectedRating(NamedTuple):
    """One rated test case.

    Attributes:
        test_case: The test case.
        result: Its rating.
    """

    test_case: LLMTestCase
    result: CCRSResult


class CCRSMetric(BaseMetric):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Rates answers with a number for one metric. One class serves all five.

    It works in ``evaluate``, ``assert_test`` and ``deepeval test run``. DeepEval measures copies of
    a metric, so ratings are also put where all copies reach, in `collected`; ``verbose_logs``
    begins with the rating as JSON.

    Args:
        metric: ``cc``, ``qr``, ``id``, ``ac`` or ``ir``, or a long name.
        threshold: A score passes from here on. None scores without passing or failing.
        model: The judge: a DeepEval LLM, ``"lexical"``, ``"openai:MODEL"``, or another framework's
            LLM object. None and all other names mean what they mean to DeepEval's own metrics.
        lambda_: What the exact match weighs in answer correctness.
        em: The exact match, ``strict`` or ``normalised``.
        store: A path or a `VerdictStore`.
        name: What reports call the metric; by default ``CCRS`` and the metric's long name.
        include_reason: Say why in ``reason``. It costs no call.
        async_mode: As DeepEval expects it of every metric. `measure` needs no event loop.
        strict_mode: As in DeepEval: the threshold is 1, and a score below it counts as 0.
        verbose_mode: Print the rating.
        flaky: As in DeepEval: reported, but it decides nothing.
        collected: The list that ratings are added to; by default a new one.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call. Also where
            metric, model, ``lambda_``, ``em`` or store of a built metric is set.
        MissingDependencyError: The judge's package is not installed.
        DeepEvalError: The choice is left to DeepEval, and its provider has no key.

    >>> metric = CCRSMetric("qr", model="lexical")
    >>> metric.measure(LLMTestCase(input="Where is it?", actual_output="It is where it was."))
    1.0
    """

    # Any: DeepEval declares them narrower than it uses them.
    model: Any
    score_breakdown: Any
    _required_params: Any

    def __init__(
        self,
        metric: str,
        threshold: float | None = 0.5,
        model: Any = None,
        *,
        lambda_: float = DEFAULT_LAMBDA,
        em: ExactMatch = "strict",
        store: VerdictStore | str | Path | None = None,
        name: str | None = None,
        include_reason: bool = True,
        async_mode: bool = True,
        strict_mode: bool = False,
        verbose_mode: bool = False,
        flaky: bool = False,
        collected: list[CollectedRating] | None = None,
    ) -> None:
        if threshold is not None:
            check_threshold(threshold)
        judge = judge_for(model)
        ccrs = CCRS([metric], judge=judge, lambda_=lambda_, em=em, store=store)
        self.metric = ccrs.metrics[0].name
        self.threshold = 1.0 if strict_mode else threshold
        # One client for all copies, which DeepEval makes from these attributes.
        is_own = isinstance(judge, DeepEvalBaseLLM)
        self.model = judge if is_own else getattr(ccrs.rater, "model", judge)
        self.lambda_ = ccrs.lambda_
        self.em = em
        self.store = ccrs.store
        self.name = name or f"CCRS {ccrs.metrics[0].title}"
        self.include_reason = include_reason
        self.async_mode = async_mode
        self.strict_mode = strict_mode
        self.verbose_mode = verbose_mode
        self.flaky = flaky
        self.collected = [] if collected is None else collected
        self.evaluation_model = ccrs.rater.name
        self._required_params = [PARAMS[field] for field in ccrs.metrics[0].needs]
        self._ccrs = ccrs

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_ccrs" in vars(self):
            msg = f"{name}={value!r} on a built metric would not be used; build another"
            raise InvalidValueError(msg)
        super().__setattr__(name, value)

    def measure(  # type: ignore[override]  # a score may be missing
        self, test_case: LLMTestCase, _show_indicator: bool = True, _in_component: bool = False
    ) -> float | None:
        """Rate one test case without an event loop: it also works where one is running.

        Returns:
            The score in [0, 1]; None where there is none. A failure of the judge is in ``error``,
            as DeepEval reports it; it does not end the run.

        Raises:
            MissingTestCaseParamsError: The test case has no field that the metric needs.
            InvalidSampleError: It is a conversation, or multimodal (a ValueError).
        """
        sample = _start(self, test_case)
        return _finish(self, test_case, self._ccrs.evaluate(sample))

    async def a_measure(  # type: ignore[override]  # as above
        self, test_case: LLMTestCase, _show_indicator: bool = True, _in_component: bool = False
    ) -> float | None:
        """The same, awaited.

        Raises:
            MissingTestCaseParamsError: See `measure`.
            InvalidSampleError: See `measure`.
        """
        sample = _start(self, test_case)
        return _finish(self, test_case, await self._ccrs.aevaluate(sample))

    @property
    def criteria(self) -> str:
        """What can change a score: DeepEval's cache compares it, and none of the settings."""
        rater = self._ccrs.rater
        parameters = sorted(rater.parameters.items())
        return (
            f"ccrs {self._ccrs.metrics[0].fingerprint} {self.lambda_!r} {self.em} {rater.name} "
            f"{rater.prompt_version} {parameters!r}"
        )

    @property
    def __name__(self) -> str:
        """What reports call the metric."""
        return self.name


def _start(metric: CCRSMetric, test_case: object) -> Any:
    metric.error = None  # and all else that is left from the test case before
    metric.skipped = False
    metric.score = metric.reason = metric.success = metric.verbose_logs = None
    metric.score_breakdown = metric.evaluation_cost = None
    try:
        return sample_for(metric, test_case)  # type: ignore[arg-type]  # it reads name and fields only
    except (MissingTestCaseParamsError, InvalidSampleError) as error:
        metric.error = str(error)
        raise


def _finish(metric: CCRSMetric, test_case: LLMTestCase, result: CCRSResult) -> float | None:
    score = result.score(metric.metric)
    reason = result.reason(metric.metric)
    unscored = result.unscored.get(metric.metric)
    if metric.strict_mode and score is not None and score < 1.0:
        score = 0.0
    metric.score = score
    metric.reason = reason if metric.include_reason else None
    if unscored is not None and unscored.reason.is_failure:
        metric.error = f"{unscored.reason.value}: {unscored.detail}"
    if metric.metric == "ac" and score is not None:
        judged = result.judged("ac")
        metric.score_breakdown = {"exact match": float(bool(result.exact)), "judged": judged}
    usage = result.usage
    metric.evaluation_cost = usage.cost
    metric.input_tokens, metric.output_tokens = usage.input_tokens, usage.output_tokens
    metric.success = metric.is_successful()
    # The last step is printed in verbose mode only, the others also make up the logs.
    steps = [result.to_json(), f"Score: {score}\nReason: {reason}"]
    metric.verbose_logs = construct_verbose_logs(metric, steps=steps)
    metric.collected.append(CollectedRating(test_case, result))
    return score
