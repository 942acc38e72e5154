"""Run a framework's own metric on samples with TCVA's judge."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from importlib import import_module
from typing import Any, NoReturn

from pydantic import Field

from tcva_adapters.compare.runs.framework_metrics import ADAPTERS, FrameworkMetric
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import lacks
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.judges.base import Judge, why_unscored
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.panel import single_judges
from tcva_adapters.loops import wait_for
from tcva_adapters.models.framework_prompts import PromptedModel
from tcva_adapters.models.judge_model import JudgeModel, identity_of
from tcva_adapters.models.store_keys import digest, key_of
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.results.judgement import Judgement, Reason, Unscored, Usage
from tcva_adapters.runner.questions import Evaluation, Question
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.tcva import TCVA

_KEY_VERSION = 2
"""Version of the store key; it changes when the key or the bridges to frameworks change."""

_NOTHING_TO_SCORE = "the metric returned nan"
"""The error of a metric that has no score although all its calls succeeded."""

_LACKS_A_FIELD = " is missing. Please add "
"""RAGAS' words for an empty field, such as contexts that are an empty list."""


class MetricJudgement(Judgement):
    """A framework metric's judgement of a sample, as it is stored.

    Attributes:
        score: On the metric's own scale; None where there is none.
        verdicts: Its verdicts, where it gives any.
    """

    stored_as = "framework metric"

    score: float | None = Field(default=None, allow_inf_nan=False)
    verdicts: tuple[FrameworkVerdict, ...] = ()


class MetricEvaluation(Evaluation[Any]):
    """One metric on many samples, for `tcva_adapters.runner.running.Runner`.

    Args:
        metric: The metric.
        tcva: The TCVA whose judge answers the metric's prompts (of a panel, the first judge with a
            model), and whose store and limits are used.
        seconds: Seconds after which the metric is given up on a sample.

    Attributes:
        model: The model that answers the metric's prompts; None for the lexical judge.
        is_refused: Whether a call failed in a way in which every other call would fail.

    Raises:
        InvalidValueError: The judge cannot answer the prompts of frameworks.
    """

    is_instant = False
    is_refused = False

    def __init__(
        self,
        metric: FrameworkMetric,
        tcva: TCVA,
        seconds: float,
    ) -> None:
        self.metric = metric
        self.seconds = seconds
        self.store = tcva.store
        self.share = tcva.share
        self.max_concurrency = tcva.max_concurrency
        self.model = _model_of(tcva.judge)
        self.answers = self.model or tcva.judge

    def questions(self, sample: Sample) -> list[Question]:
        """Build one question, or none where the sample lacks what the metric needs."""
        return [] if self.metric.missing(sample) else [_MetricQuestion(self, sample)]

    def result_of(
        self,
        sample: Sample,
        answers: Sequence[MetricJudgement],
    ) -> MetricJudgement:
        """Return the answer, or an unscored judgement that names what the sample lacks."""
        if answers:
            return answers[0]
        detail = lacks("the sample", self.metric.missing(sample), self.metric.name)
        return MetricJudgement(
            unscored=Unscored(reason=Reason.MISSING_FIELD, detail=detail)
        )

    def key(self, sample: Sample) -> str:
        """Make the store key of a judgement from all that can change it."""
        fields = {name: getattr(sample, name) for name in self.metric.entry.needs}
        return digest(
            {
                "key_version": _KEY_VERSION,
                "method": self.metric.name,
                "version": self.metric.version,
                **key_of(self.answers),
                "sample": fields,
            }
        )


class _MetricQuestion(Question):
    """One metric on one sample."""

    answered_by = MetricJudgement

    def __init__(
        self,
        evaluation: MetricEvaluation,
        sample: Sample,
    ) -> None:
        self._evaluation = evaluation
        self._sample = sample
        self.key = evaluation.key(sample)
        self.sample_fields: Fields = {}
        model = evaluation.model
        self.judge = model or evaluation
        # Others that need the same judgement wait as long as it may take.
        identity = None if model is None else identity_of(model)
        self.identity = identity and replace(identity, seconds=evaluation.seconds)

    def ask(self) -> MetricJudgement:
        return wait_for(self.aask())

    async def aask(self) -> MetricJudgement:
        """Run the metric; a failure becomes the reason why there is no score."""
        metric = self._evaluation.metric
        seconds = self._evaluation.seconds
        model = self._evaluation.model
        # One per judgement, so that its counts are those of this judgement alone.
        prompted = None if model is None else PromptedModel(model)
        task = asyncio.current_task()
        started = time.perf_counter()
        reason = Reason.JUDGE_ERROR
        try:
            async with asyncio.timeout(seconds) as limit:
                outcome = await ADAPTERS[metric.framework].ascore_framework_metric(
                    metric.metric, self._sample, _llm_of(metric.framework, prompted)
                )
        except (
            Exception,
            SystemExit,
            asyncio.CancelledError,
        ) as raised:  # a failing metric stops nothing else
            is_cancelled = isinstance(raised, asyncio.CancelledError)
            if is_cancelled and task is not None and task.cancelling():
                raise  # the run was cancelled, not something inside the metric
            error = f"{type(raised).__name__}: {raised}"
            if isinstance(raised, TimeoutError) and limit.expired():
                reason = Reason.TIMEOUT
                error = f"no score after {seconds:g} seconds"
            outcome = FrameworkScore(metric.name, None, error=error)
        usage = Usage() if prompted is None else prompted.usage
        unscored = None
        if outcome.score is None:
            unscored = self._why_no_score(reason, outcome.error, prompted)
        return MetricJudgement(
            score=outcome.score,
            verdicts=outcome.verdicts,
            unscored=unscored,
            usage=usage.model_copy(update={"seconds": time.perf_counter() - started}),
        )

    def _why_no_score(
        self,
        reason: Reason,
        error: str,
        prompted: PromptedModel | None,
    ) -> Unscored:
        """Give the reason for no score; a fatal call also sets the evaluation's ``is_refused``."""
        if prompted is not None and prompted.fatal is not None:
            self._evaluation.is_refused = True
            return why_unscored(prompted.fatal)
        detail = " ".join(whole_characters(error or "the metric gave no score").split())
        if prompted is None or not prompted.failures:
            if error == _NOTHING_TO_SCORE:
                reason = Reason.NO_CLAIMS
            elif _LACKS_A_FIELD in error:
                reason = Reason.MISSING_FIELD
            elif reason is Reason.JUDGE_ERROR:
                detail = f"{self._evaluation.metric.name} failed: {detail}"
        return Unscored(reason=reason, detail=detail)

    def rounds(self) -> NoReturn:
        """Refuse, as a framework makes its calls by itself."""
        raise JudgeError(
            f"{self._evaluation.metric.name} makes its own calls; a batch of them cannot be submitted"
        )


def _llm_of(framework: str, model: PromptedModel | None) -> Any:
    """Wrap a judge model as a framework's LLM; None stands for the lexical judge."""
    if model is None:
        return ADAPTERS[framework].LexicalLLM()
    # This module imports the framework.
    llm = import_module(f"{FRAMEWORKS[framework].package}.llm")
    return llm.BridgedLLM(model)


def _model_of(judge: Judge) -> JudgeModel | None:
    """Return the model behind a judge; None for the lexical judge.

    Each metric has its own copy of an OpenAI-compatible model, as a feature that the server refuses
    for one metric may work for another. Connections and limits are shared.
    """
    if judge.name.startswith("lexical/"):
        return None
    judges = single_judges(judge)
    models = [single.model for single in judges if isinstance(single, LLMJudge)]
    if not models:
        raise InvalidValueError(
            f"{judge.name} cannot answer the prompts of framework metrics; use openai:MODEL, an LLM object, or frameworks='none' (--with none)"
        )
    return copy(models[0]) if hasattr(models[0], "refused") else models[0]
