"""CCRSMetric: one of the five direct metrics wherever DeepEval takes a metric."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics.utils import construct_verbose_logs
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase

from tcva_adapters.ccrs import CCRS, CCRSResult, ExactMatch
from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA, resolve_metric
from tcva_adapters.deepeval.adjustable import AdjustableMetric
from tcva_adapters.deepeval.evaluator import sample_for, unmarked
from tcva_adapters.deepeval.settings import FLAGS, PARAMS, check_usual, judge_for
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample

_SETTINGS: Final = frozenset(
    {"metric", "threshold", "model", "lambda_", "em", "store", "name", "collected", *FLAGS}
)
"""Everything that a metric is built with, by the names of its parameters."""


class CollectedRating(NamedTuple):
    """One rated test case.

    Attributes:
        test_case: The test case.
        result: Its rating.
    """

    test_case: LLMTestCase
    result: CCRSResult


class CCRSMetric(AdjustableMetric):  # type: ignore[no-untyped-call]  # DeepEval's __init_subclass__
    """Rates answers with a number for one metric. One class serves all five.

    It works in ``evaluate``, ``assert_test`` and ``deepeval test run``. DeepEval measures copies of
    a metric, so ratings are also put where all copies reach: in `collected`, and in
    ``verbose_logs`` as JSON, which ``CCRSResult.from_json`` reads.

    Every argument is also an attribute that may be set later. A new value is checked as one given
    here, and from then on everything follows it: the score, the name, copies, and DeepEval's cache.

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

    Attributes:
        collected: `CollectedRating` of every measured test case, in the order they were finished.
        result: The `CCRSResult` of the last test case that this object measured, or None.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call, also
            where an attribute is set, which then keeps its value.
        MissingDependencyError: The judge's package is not installed.
        DeepEvalError: The choice is left to DeepEval, and its provider has no key.

    >>> metric = CCRSMetric("qr", model="lexical")
    >>> metric.measure(LLMTestCase(input="Where is it?", actual_output="It is where it was."))
    1.0
    """

    setting_names = _SETTINGS

    metric: str
    lambda_: float
    em: ExactMatch
    store: VerdictStore | None
    name: str
    collected: list[CollectedRating]
    _ccrs: CCRS

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
        given = {
            "metric": metric,
            "threshold": threshold,
            "model": model,
            "lambda_": lambda_,
            "em": em,
            "store": store,
            "name": name,
            "include_reason": include_reason,
            "async_mode": async_mode,
            "strict_mode": strict_mode,
            "verbose_mode": verbose_mode,
            "flaky": flaky,
            "collected": collected,
        }
        vars(self).update(_attributes(given))

    @classmethod
    def attributes_for(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """See `AdjustableMetric`."""
        return _attributes(given)

    @classmethod
    def name_for(cls, given: Mapping[str, Any]) -> str:
        """See `AdjustableMetric`."""
        return _default_name(given)

    def __repr__(self) -> str:
        return f"CCRSMetric(name={self.name!r}, ccrs={self._ccrs!r})"

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
    def result(self) -> CCRSResult | None:
        """The rating of the last test case, also where it came from DeepEval's cache."""
        return None if self.verbose_logs is None else CCRSResult.from_json(self.verbose_logs)


def _attributes(given: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a metric with these settings, in the form in which copies share them."""
    check_usual(given)
    judge = judge_for(given["model"])
    ccrs = CCRS(
        [given["metric"]],
        judge=judge,
        lambda_=given["lambda_"],
        em=given["em"],
        store=given["store"],
    )
    (metric,) = ccrs.metrics
    # One client for all copies, which DeepEval makes from these attributes.
    is_own = isinstance(judge, DeepEvalBaseLLM)
    return {
        **given,
        "metric": metric.name,
        "threshold": 1.0 if given["strict_mode"] else given["threshold"],
        "model": judge if is_own else getattr(ccrs.rater, "model", judge),
        "lambda_": ccrs.lambda_,
        "store": ccrs.store,
        "name": _default_name(given) if given["name"] is None else given["name"],
        "collected": [] if given["collected"] is None else given["collected"],
        "evaluation_model": ccrs.rater.name,
        "_required_params": [PARAMS[field] for field in metric.needs],
        "_ccrs": ccrs,
    }


def _default_name(given: Mapping[str, Any]) -> str:
    return f"CCRS {resolve_metric(given['metric']).title}"


def _start(metric: CCRSMetric, test_case: object) -> Sample:
    metric.error = None  # and with it all else that is left from the test case before
    metric.skipped = False
    try:
        return sample_for(metric, test_case)
    except (MissingTestCaseParamsError, InvalidSampleError) as error:
        metric.error = str(error)
        raise


def _finish(metric: CCRSMetric, test_case: LLMTestCase, result: CCRSResult) -> float | None:
    score = result.score(metric.metric)
    reason = unmarked(result.reason(metric.metric))
    unscored = result.unscored.get(metric.metric)
    if metric.strict_mode and score is not None and score < 1.0:
        score = 0.0
    metric.score = score
    metric.reason = reason if metric.include_reason else None
    if unscored is not None and unscored.reason.is_failure:
        metric.error = unmarked(f"{unscored.reason.value}: {unscored.detail}")
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
