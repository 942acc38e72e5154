"""TCVA, and any other scorer, wherever DeepEval takes a metric."""

from __future__ import annotations

import inspect
from types import EllipsisType
from typing import Any, ClassVar

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from tcva_adapters._adapter.evaluator import check_scorer, check_settings
from tcva_adapters.criteria import Criterion, resolve_criterion
from tcva_adapters.deepeval.base import ScorerBase, build
from tcva_adapters.deepeval.llm import llm_of_name
from tcva_adapters.deepeval.samples import PARAMS, as_sample
from tcva_adapters.deepeval.settings import MetricSettings
from tcva_adapters.evaluator import Scorer
from tcva_adapters.judges.resolve import is_judge_name
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.settings_base import shows_settings
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.questions import R
from tcva_adapters.tcva import TCVA


class ScorerMetric(ScorerBase[R], BaseMetric):  # type: ignore[misc,no-untyped-call,override]  # DeepEval's metrics always have a score, and set reason and logs
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

    test_case_class = LLMTestCase
    field_names: ClassVar = {name: param.value for name, param in PARAMS.items()}
    sample_of = staticmethod(as_sample)

    @shows_settings(MetricSettings)
    def __init__(
        self,
        scorer: Scorer[R],
        threshold: float | EllipsisType | None = ...,
        **settings: Any,
    ) -> None:
        check_scorer(self, scorer)
        least: Any = scorer.threshold if threshold is ... else threshold
        build(
            self,
            scorer,
            MetricSettings(threshold=least, **settings),
            {"scorer": scorer},
        )


class TCVAArguments(FromConfig):
    """Builds a metric's `TCVA` from its arguments."""

    criterion: Criterion
    temperature: float
    store: VerdictStore | None

    @shows_settings(MetricSettings, TCVASettings)
    def __init__(
        self,
        criterion: Criterion | str = "faithfulness",
        threshold: float | None = TCVASettings.default("threshold"),
        temperature: float | str = TCVASettings.default("temperature"),
        model: object = None,
        **settings: Any,
    ) -> None:
        check_settings(
            self, settings, inspect.signature(TCVAArguments).parameters, judge="model"
        )
        criterion = resolve_criterion(criterion)  # before DeepEval looks for a key
        of_metric = {
            name: settings.pop(name)
            for name in MetricSettings.model_fields
            if name in settings
        }
        metric_settings = MetricSettings(threshold=threshold, **of_metric)
        if model is None or (isinstance(model, str) and not is_judge_name(model)):
            model = llm_of_name(model)
        tcva = TCVA(criterion, judge=model, temperature=temperature, **settings)
        if isinstance(model, str):
            model = tcva.arguments["judge"]  # one client for all copies
        build(
            self,
            tcva,
            metric_settings,
            {**tcva.settings, "criterion": tcva.criterion, "model": model},
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
