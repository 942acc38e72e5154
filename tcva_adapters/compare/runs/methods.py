"""The frameworks' own metrics as methods of a comparison: which there are, and how one is asked."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Final, NoReturn

from pydantic import Field

from tcva_adapters.core.checks import nearest
from tcva_adapters.errors import (
    InvalidValueError,
    JudgeError,
    MissingDependencyError,
    install_hint,
)
from tcva_adapters.evaluator import lacks
from tcva_adapters.frameworks import FRAMEWORKS, Framework, Metric
from tcva_adapters.judges.base import Judge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.panel import single_judges
from tcva_adapters.judges.unscored import why_unscored
from tcva_adapters.loops import wait_for
from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel, identity_of
from tcva_adapters.models.store_keys import digest, key_of
from tcva_adapters.results.framework_score import FrameworkVerdict
from tcva_adapters.results.judgement import Judgement
from tcva_adapters.results.reasons import Reason, Unscored
from tcva_adapters.results.usage import Usage
from tcva_adapters.runner.questions import Evaluation, Question
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.tcva import TCVA

ALL: Final = "all"
NONE: Final = "none"

_KEY_VERSION: Final = 2
"""Changes when judgements stored before are no longer the same: another key, or other bridges."""

_NOTHING_TO_SCORE: Final = "the metric returned nan"
"""What a metric says where all calls went well and there still is no score."""

_LACKS_A_FIELD: Final = " is missing. Please add "
"""RAGAS' words for an empty field, such as contexts that are an empty list."""


@dataclass(frozen=True)
class Method:
    """One framework's own metric.

    Attributes:
        framework: One of `FRAMEWORKS`.
        metric: The metric's name there.
    """

    framework: str
    metric: str

    @property
    def name(self) -> str:
        """As tables show it, e.g. ``ragas faithfulness``."""
        return f"{self.framework} {self.metric}"

    @property
    def known(self) -> Metric:
        """What is known of it."""
        return FRAMEWORKS[self.framework].metrics[self.metric]

    @cached_property
    def version(self) -> str:
        """The framework's distribution with its version."""
        distribution = FRAMEWORKS[self.framework].metrics_need.distribution
        return f"{distribution} {version(distribution)}"

    def missing(self, sample: Sample) -> list[str]:
        """The fields that the metric needs and the sample does not have."""
        return [name for name in self.known.needs if getattr(sample, name) is None]


def choose(
    frameworks: Sequence[str],
    metrics: Sequence[str] | None = None,
    *,
    criterion: str = "faithfulness",
    samples: Sequence[Sample] = (),
    is_lexical: bool = False,
) -> tuple[list[Method], list[str]]:
    """The metrics of a comparison. Imports the frameworks, which takes seconds.

    Args:
        frameworks: Names of `FRAMEWORKS`; ``all`` takes those that are installed, ``none`` none.
        metrics: ``faithfulness`` (of every framework that has it) or ``ragas.faithfulness``;
            ``all`` takes all. By default those that stand for the criterion.
        criterion: A criterion's name.
        samples: A metric whose fields none of them has is left out; none of them tells nothing.
        is_lexical: Whether the lexical judge stands for a model; metrics whose prompts it cannot
            answer are left out.

    Returns:
        The metrics, framework by framework, and in sentences what was left out.

    Raises:
        InvalidValueError: An unknown framework or metric.
        MissingDependencyError: A framework that is named is not installed.
    """
    if NONE in frameworks:
        return [], []
    known, notes = _installed(frameworks)
    found = [
        Method(name, m) for name in known for m in _adapter(name).framework_metrics()
    ]
    if metrics is None:
        chosen = [method for method in found if method.known.criterion == criterion]
        if not chosen:
            notes.append(
                f"{', '.join(known)}: no metric for {criterion}; name metrics (--metrics)."
            )
    else:
        chosen = [
            method
            for method in found
            if any(_is_named(method, each) for each in metrics)
        ]
    for wanted in metrics or ():
        if not any(_is_named(method, wanted) for method in found):
            options = ", ".join(
                f"{method.framework}.{method.metric}" for method in found
            )
            msg = (
                f"no metric {wanted!r} in {', '.join(known)}; the metrics are {options}"
            )
            raise InvalidValueError(msg)
    used: list[Method] = []
    left: dict[str, list[str]] = {}
    for method in chosen:
        why = _why_not(method, samples, is_lexical=is_lexical)
        if why:
            left.setdefault(why, []).append(method.name)
        else:
            used.append(method)
    return used, notes + [
        f"Left out: {', '.join(of)} ({why})." for why, of in left.items()
    ]


def _is_named(method: Method, wanted: str) -> bool:
    dotted = f"{method.framework}.{method.metric}"
    return wanted in (ALL, method.metric, dotted, method.name)


def _why_not(method: Method, samples: Sequence[Sample], *, is_lexical: bool) -> str:
    if method.known.compares_embeddings:
        return "they need embeddings; import their scores instead"
    if is_lexical and not method.known.is_lexical:
        return "the lexical judge cannot answer their prompts"
    if samples and all(method.missing(sample) for sample in samples):
        return f"no sample has {' and '.join(method.missing(samples[0]))}"
    return ""


def _installed(frameworks: Sequence[str]) -> tuple[list[str], list[str]]:
    unknown = [name for name in frameworks if name not in FRAMEWORKS and name != ALL]
    if unknown or not frameworks:
        name, options = (
            ", ".join(unknown),
            f"give {', '.join(FRAMEWORKS)}, {ALL} or {NONE}",
        )
        msg = f"no framework {name!r}; {nearest(name, FRAMEWORKS, options)}"
        raise InvalidValueError(msg)
    wanted = list(FRAMEWORKS) if ALL in frameworks else list(dict.fromkeys(frameworks))
    lacking = {
        name: f"{name} is not installed: {install_hint(FRAMEWORKS[name].metrics_need.extra)}"
        for name in wanted
        if not is_installed(FRAMEWORKS[name])
    }
    if lacking and ALL not in frameworks:
        raise MissingDependencyError(next(iter(lacking.values())))
    notes = [f"Left out: {why}." for why in lacking.values()]
    return [name for name in wanted if name not in lacking], notes


def is_installed(framework: Framework) -> bool:
    """Whether the package of its own metrics is there; nothing is imported to find out."""
    return find_spec(framework.metrics_need.module.partition(".")[0]) is not None


def _adapter(name: str) -> Any:
    return import_module(f"tcva_adapters.{name}")


class MetricJudgement(Judgement):
    """What a framework's metric said of a sample, as it is stored.

    Attributes:
        score: On the metric's own scale; None where there is none.
        verdicts: Its verdicts, where it gives any.
    """

    stored_as = "framework metric"
    called = "a framework metric's judgement"

    score: float | None = Field(default=None, allow_inf_nan=False)
    verdicts: tuple[FrameworkVerdict, ...] = ()


class Asked(Evaluation[Any]):
    """One metric on many samples, for `tcva_adapters.runner.running.Runner`.

    Args:
        method: The metric.
        tcva: Whose judge answers the metric's prompts, of a panel the first one with a model; and
            whose store and limits hold.
        seconds: After which the metric is given up on a sample.

    Attributes:
        is_refused: Whether a call failed as every other one would.

    Raises:
        InvalidValueError: A judge that cannot answer the prompts of others.
    """

    is_instant = False
    is_refused = False

    def __init__(
        self,
        method: Method,
        tcva: TCVA,
        seconds: float,
    ) -> None:
        self.method, self.seconds = method, seconds
        self.store, self.share = tcva.store, tcva.share
        self.max_concurrency = tcva.max_concurrency
        self.model = _model_of(tcva.judge)
        self.answers = tcva.judge if self.model is None else self.model

    def questions(self, sample: Sample) -> list[Question]:
        """One, where the sample has what the metric needs."""
        return [] if self.method.missing(sample) else [_MetricQuestion(self, sample)]

    def result_of(
        self, sample: Sample, answers: Sequence[MetricJudgement]
    ) -> MetricJudgement:
        """The answer, or what the sample lacks."""
        if answers:
            return answers[0]
        detail = lacks("the sample", self.method.missing(sample), self.method.name)
        return MetricJudgement(
            unscored=Unscored(reason=Reason.MISSING_FIELD, detail=detail)
        )

    def key(self, sample: Sample) -> str:
        """Of a judgement: everything that can change it, and of the sample what the metric sees."""
        return digest(
            {
                "key_version": _KEY_VERSION,
                "method": self.method.name,
                "version": self.method.version,
                **key_of(self.answers),
                "sample": {
                    name: getattr(sample, name) for name in self.method.known.needs
                },
            }
        )


class _MetricQuestion(Question):
    """One metric on one sample."""

    answered_by = MetricJudgement

    def __init__(self, of: Asked, sample: Sample) -> None:
        self.judge = of if of.model is None else of.model
        self.key = of.key(sample)
        self.sample_fields: Mapping[str, Any] = {}
        # Who waits for the same judgement waits as long as it may take.
        identity = None if of.model is None else identity_of(of.model)
        self.identity = identity and replace(identity, seconds=of.seconds)
        self._of, self._sample = of, sample

    def ask(self) -> MetricJudgement:
        return wait_for(self.aask())

    async def aask(self) -> MetricJudgement:
        """Run the metric; whatever fails is the reason why there is no score."""
        method, model = self._of.method, self._of.model
        # One per judgement, so that its counts are those of this judgement alone.
        asked = None if model is None else Prompted(model)
        task, started = asyncio.current_task(), time.perf_counter()
        reason, error, score = Reason.JUDGE_ERROR, "", None
        verdicts: tuple[FrameworkVerdict, ...] = ()
        try:
            async with asyncio.timeout(self._of.seconds) as limit:
                llm = _llm_of(method.framework, asked)
                adapter = _adapter(method.framework)
                found = await adapter.ascore_framework_metric(
                    method.metric, self._sample, llm
                )
            error, verdicts = found.error, found.verdicts
            score = None if found.score is None else float(found.score)
            if score is not None and not math.isfinite(score):
                score, error = None, f"the metric returned {score:g}"
        except TimeoutError as raised:
            error = f"TimeoutError: {raised}"
            if limit.expired():
                reason, error = (
                    Reason.TIMEOUT,
                    f"no score after {self._of.seconds:g} seconds",
                )
        except asyncio.CancelledError as raised:
            if task is not None and task.cancelling():
                raise
            error = f"CancelledError: {raised}"  # something inside the metric, and not this run
        except (Exception, SystemExit) as raised:  # noqa: BLE001  # it stops nothing else
            error = f"{type(raised).__name__}: {raised}"
        usage = Usage() if asked is None else asked.usage
        return MetricJudgement(
            score=score,
            verdicts=verdicts,
            unscored=None if score is not None else self._why(reason, error, asked),
            usage=usage.model_copy(update={"seconds": time.perf_counter() - started}),
        )

    def _why(
        self,
        reason: Reason,
        error: str,
        asked: Prompted | None,
    ) -> Unscored:
        """The reason for no score: of a call that failed, or of the metric itself."""
        if asked is not None and asked.fatal is not None:
            self._of.is_refused = True
            return why_unscored(asked.fatal)
        detail = " ".join(whole_characters(error or "the metric gave no score").split())
        if asked is None or not asked.failures:
            if error == _NOTHING_TO_SCORE:
                reason = Reason.NO_CLAIMS
            elif _LACKS_A_FIELD in error:
                reason = Reason.MISSING_FIELD
            elif reason is Reason.JUDGE_ERROR:
                detail = f"{self._of.method.name} failed: {detail}"
        return Unscored(reason=reason, detail=detail)

    def rounds(self) -> NoReturn:
        """Not to be had: a framework makes its calls by itself."""
        msg = f"{self._of.method.name} makes its own calls; a batch of them cannot be submitted"
        raise JudgeError(msg)

    def failed_answer(self, why: Unscored) -> MetricJudgement:
        return MetricJudgement(unscored=why)


def _llm_of(framework: str, model: Prompted | None) -> Any:
    """A framework's LLM out of a judge model; None stands for the lexical judge."""
    if model is None:
        return _adapter(framework).LexicalLLM()
    return import_module(f"tcva_adapters.{framework}.llm").from_judge_model(model)


def _model_of(judge: Judge) -> JudgeModel | None:
    """The model behind a judge, None for the lexical one.

    Each metric has a copy of an OpenAI-compatible model: what the server refuses of one's requests
    says nothing about the others'. Connections and limits are the same.
    """
    if judge.name.startswith("lexical/"):
        return None
    models = [each.model for each in single_judges(judge) if isinstance(each, LLMJudge)]
    if not models:
        msg = f"{judge.name} cannot answer the prompts of framework metrics; use openai:MODEL, an LLM object, or frameworks='none' (--with none)"
        raise InvalidValueError(msg)
    return copy(models[0]) if hasattr(models[0], "refused") else models[0]
