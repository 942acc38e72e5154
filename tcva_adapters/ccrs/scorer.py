"""CCRS: metrics, a judge and a store in one object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

from pydantic import Field, ValidationError

from tcva_adapters.ccrs.exact import DEFAULT_MODE, ExactMatch, exact_match
from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA, METRICS, Metric, fields_of, resolve_metrics
from tcva_adapters.ccrs.rater import Answers, ModelRater, Rater, resolve_rater
from tcva_adapters.ccrs.rater import Steps as Rating
from tcva_adapters.ccrs.result import CCRSResult, MetricAnswer
from tcva_adapters.criteria import FIELDS
from tcva_adapters.evaluator import Scorer, column_name, lacks
from tcva_adapters.judges.base import EMPTY_REASONS, digest
from tcva_adapters.judges.resolve import DEFAULT, tell_of_default
from tcva_adapters.results.assessment import Reason, Unscored, Usage
from tcva_adapters.results.settings import RunConfig, Share, shows_settings, unusual
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner import Question
from tcva_adapters.samples.sample import Sample

_KEY_VERSION = 1


class CCRSSettings(RunConfig):
    """The settings of `CCRS`."""

    threshold: Share = Field(default=0.5, description="A score in [0, 1] passes from here on.")
    lambda_: Share = Field(
        default=DEFAULT_LAMBDA,
        title="lambda",
        description="What the exact match weighs in answer correctness, in [0, 1].",
    )
    em: ExactMatch = Field(
        default=DEFAULT_MODE,
        description="The exact match: strict (equal strings, as in the source) or normalised "
        "(without regard to case, punctuation, articles and white space).",
    )
    suite: bool = Field(
        default=False,
        description="Ask for all metrics in one call. It saves calls and is no longer the source's "
        "protocol: a number may lean on the others.",
    )


class CCRS(Scorer[CCRSResult]):
    """Rate whole answers with a number per metric, without claims.

    An empty response scores 0 without a call, as the source's prompts say. A metric whose fields
    the sample lacks is unscored (``missing_field``). Frozen: `changed` gives a copy.

    Args:
        metrics: Short or long names: ``cc`` contextual coherence, ``qr`` question relevance,
            ``id`` information density, ``ac`` answer correctness, ``ir`` information recall.
        judge: ``"lexical"`` (by counting words, no more than a baseline), ``"openai:MODEL"``, a
            model object, or an LLM object of one of the frameworks. Where none is named the
            lexical one rates, and warns of that (`DefaultJudgeWarning`).
        **settings: See `CCRSSettings`. The store may be the file that holds verdicts.

    Attributes:
        metrics: The metrics.
        rater: Who gives the numbers.
        settings: All settings by name, checked and in their final form.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.

    >>> ccrs = CCRS(("qr", "ir"), judge="lexical")
    >>> sample = Sample(
    ...     input="Where is the red car?", response="The red car is in the garage.",
    ...     contexts=[], reference="In the garage.",
    ... )
    >>> ccrs.evaluate(sample).scores
    {'qr': 1.0, 'ir': 1.0}
    """

    @shows_settings(CCRSSettings)
    def __init__(
        self,
        metrics: Iterable[str | Metric] | str = tuple(METRICS),
        *,
        judge: Any = None,
        **settings: Any,
    ) -> None:
        self.settings: Mapping[str, Any] = dict(CCRSSettings(**settings))
        self.metrics = resolve_metrics(metrics)
        self.store: VerdictStore | None = self.settings["store"]
        self.share: bool = self.settings["share"]
        self.max_concurrency: int = self.settings["max_concurrency"]
        self.suite: bool = self.settings["suite"]
        self.em: ExactMatch = self.settings["em"]
        self.lambda_: float = self.settings["lambda_"]
        self._is_default = judge is None
        judge = DEFAULT if judge is None else judge
        self.rater = resolve_rater(judge, suite=self.suite, max_concurrency=self.max_concurrency)
        self._is_built = True

    def __repr__(self) -> str:
        names = ", ".join(metric.name for metric in self.metrics)
        return f"CCRS({names!r}, judge={self.rater.name!r}, protocol={self.rater.protocol!r})"

    @cached_property
    def subject(self) -> str:
        """The metrics' short names."""
        return "_".join(metric.name for metric in self.metrics)

    @cached_property
    def name(self) -> str:
        """``ccrs_`` and the metric, and in brackets every setting that is not the usual one."""
        return column_name(f"ccrs_{self.subject}", unusual(CCRSSettings, self._told()))

    @cached_property
    def title(self) -> str:
        """``CCRS`` and the metric's long name, and the settings that are not the usual ones."""
        details = unusual(CCRSSettings, self._told(), without=("threshold",))
        names = ", ".join(metric.title for metric in self.metrics)
        return f"CCRS {names}" + (f" ({', '.join(details)})" if details else "")

    @property
    def judge_name(self) -> str:
        """The name of who gives the numbers."""
        return self.rater.name

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The fields that every one of the metrics needs."""
        return tuple(
            name for name in FIELDS if all(name in metric.needs for metric in self.metrics)
        )

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Fields that some of the metrics need."""
        return tuple(name for name in fields_of(self.metrics) if name not in self.required)

    @property
    def threshold(self) -> float:
        """A score passes from here on."""
        threshold: float = self.settings["threshold"]
        return threshold

    @property
    def is_local(self) -> bool:
        """Whether no judge is asked over a network."""
        return self.rater.is_local

    @property
    def fingerprint(self) -> str:
        """Everything that can change a score, as a text that is equal where it is equal."""
        views = {name: self.settings[name] for name in ("threshold", "lambda_", "em", "suite")}
        metrics = [metric.fingerprint for metric in self.metrics]
        parameters = sorted(self.rater.parameters.items())
        rater = (self.rater.name, self.rater.prompt_version, parameters)
        return f"ccrs {metrics!r} {views!r} {rater!r}"

    @property
    def arguments(self) -> Mapping[str, Any]:
        """Metrics, judge and settings."""
        judge: Any = self.rater.model if isinstance(self.rater, ModelRater) else "lexical"
        judge = None if self._is_default else judge
        return {"metrics": self.metrics, "judge": judge, **self.settings}

    def unscored(self, reason: Reason, detail: str, sample: Sample | None = None) -> CCRSResult:
        """The result of what cannot be rated; see `Scorer.unscored`."""
        why = Unscored(reason=reason, detail=detail)
        answers = {metric.name: _answer(self.rater, metric, why) for metric in self.metrics}
        return self._result(sample or Sample(), answers)

    def key(self, sample: Sample, metric: Metric, together: Sequence[Metric]) -> str:
        """The store key of one answer: everything that can change the rating, nothing else.

        The weight and the mode of the exact match are views of the rating and not part of it.

        Args:
            sample: What is rated.
            metric: By what.
            together: All metrics of the same call, this one included.
        """
        parts = {
            "ccrs_key_version": _KEY_VERSION,
            "sample": {name: getattr(sample, name) for name in fields_of(together)},
            "metric": metric.fingerprint,
            "together": [each.fingerprint for each in together] if self.suite else None,
            "judge": self.rater.name,
            "prompt_version": self.rater.prompt_version,
            "parameters": dict(self.rater.parameters),
        }
        return digest(parts)

    def questions(self, sample: Sample) -> list[Question[Any]]:
        """One for each metric, or one for all of a suite; what can be said without a judge is not asked."""
        asked = [
            metric for metric in self.metrics if _without_call(self.rater, sample, metric) is None
        ]
        if asked and self._is_default:
            tell_of_default()
        groups = [asked] if self.suite and asked else [[metric] for metric in asked]
        return [_RatingQuestion(self, sample, group) for group in groups]

    def answered(self, sample: Sample, answers: Sequence[Answers]) -> CCRSResult:
        """The numbers of the judge, and what can be said without one."""
        found: Answers = {}
        for each in answers:
            found |= each
        for metric in self.metrics:
            said = _without_call(self.rater, sample, metric)
            if said is not None:
                found[metric.name] = said
        return self._result(sample, {metric.name: found[metric.name] for metric in self.metrics})

    def _told(self) -> Mapping[str, Any]:
        """The settings as names tell them: those of the exact match where there is one."""
        if any(metric.has_exact_match for metric in self.metrics):
            return self.settings
        hidden = ("lambda_", "em")
        return {name: value for name, value in self.settings.items() if name not in hidden}

    def _result(self, sample: Sample, answers: Answers) -> CCRSResult:
        exact = None
        em, response, reference = self.em, sample.response, sample.reference
        if any(metric.has_exact_match for metric in self.metrics):
            has_both = response is not None and reference is not None
            exact = exact_match(response or "", reference or "", em) if has_both else None
        return CCRSResult(
            judge=self.rater.name,
            protocol=self.rater.protocol,
            answers=answers,
            exact=exact,
            em=em,
            lambda_=self.lambda_,
            threshold=self.threshold,
            sample_id=sample.id,
            metadata=sample.metadata,
        )


def _without_call(rater: Rater, sample: Sample, metric: Metric) -> MetricAnswer | None:
    """What can be said without asking anybody; None where the judge has to be asked."""
    missing = metric.missing(sample)
    if missing:
        detail = lacks("the sample", missing, metric.name)
        return _answer(rater, metric, Unscored(reason=Reason.MISSING_FIELD, detail=detail))
    if not (sample.response or "").strip():
        return _answer(rater, metric, 0.0)
    if not (sample.field(metric.against) or "").strip():
        detail = f"{metric.against} is empty"
        return _answer(rater, metric, Unscored(reason=EMPTY_REASONS[metric.against], detail=detail))
    return None


def _answer(rater: Rater, metric: Metric, found: float | Unscored) -> MetricAnswer:
    """An answer that nobody was asked for."""
    return MetricAnswer(
        metric=metric.name,
        judge=rater.name,
        prompt_version=rater.prompt_version,
        protocol=rater.protocol,
        rating=None if isinstance(found, Unscored) else found,
        unscored=found if isinstance(found, Unscored) else None,
    )


class _RatingQuestion(Question[Answers]):
    """One rater's numbers for one sample: for one metric, or for all those of a suite."""

    def __init__(self, ccrs: CCRS, sample: Sample, metrics: Sequence[Metric]) -> None:
        self.judge: Rater = ccrs.rater
        self.identity = ccrs.rater.identity
        self._sample = sample
        self._metrics = metrics
        self.keys = {metric.name: ccrs.key(sample, metric, metrics) for metric in metrics}
        self.stored: Answers = {}
        self.key = " ".join(self.keys.values())

    def ask(self) -> Answers:
        return self._whole(self.judge.rate(self._sample, self._metrics, left=self._left))

    async def aask(self) -> Answers:
        return self._whole(await self.judge.arate(self._sample, self._metrics, left=self._left))

    def conversation(self) -> Rating | None:
        return self._rated(self.judge) if isinstance(self.judge, ModelRater) else None

    def _rated(self, rater: ModelRater) -> Rating:
        return self._whole((yield from rater.steps(self._sample, self._metrics, left=self._left)))

    @classmethod
    def read(cls, store: VerdictStore, questions: Sequence[Self]) -> list[Answers | None]:
        found = store.get_records([key for each in questions for key in each.keys.values()])
        return [each.taken(found) for each in questions]

    @classmethod
    def write(cls, store: VerdictStore, answered: Sequence[tuple[Self, Answers]]) -> None:
        store.put_records(
            (
                question.keys[name],
                answer.model_dump_json(),
                answer.unscored is not None and answer.unscored.reason.is_failure,
            )
            for question, answers in answered
            for name, answer in answers.items()
            if name not in question.stored
        )

    def free(self, answer: Answers) -> Answers:
        shared = {
            name: each.model_copy(update={"usage": Usage(), "shared": not each.from_store})
            for name, each in answer.items()
        }
        return shared | self.stored  # what the own store has was told before

    def failure(self, answer: Answers) -> Unscored | None:
        failures = [
            each.unscored
            for each in answer.values()
            if each.unscored is not None and each.unscored.reason.is_failure
        ]
        return max(failures, key=lambda why: why.fatal, default=None)

    def own_failure(self, answer: Answers) -> Answers:
        def own(why: Unscored | None) -> Unscored | None:
            return why and why.model_copy(update={"fatal": False})

        return {
            name: each.model_copy(update={"unscored": own(each.unscored)})
            for name, each in answer.items()
        }

    def given_up(self, why: Unscored) -> Answers:
        return self._whole({each.name: _answer(self.judge, each, why) for each in self._left})

    def taken(self, found: Mapping[str, str]) -> Answers | None:
        """All answers where they are among the stored records; a suite is asked for the rest."""
        answers = {name: _read(found.get(key)) for name, key in self.keys.items()}
        self.stored = {name: answer for name, answer in answers.items() if answer is not None}
        return None if self._left else self.stored

    @property
    def _left(self) -> list[Metric]:
        return [metric for metric in self._metrics if metric.name not in self.stored]

    def _whole(self, new: Answers) -> Answers:
        return {**self.stored, **new}


def _read(text: str | None) -> MetricAnswer | None:
    """A stored answer; None for none, and for one that cannot be read."""
    if text is None:
        return None
    try:
        stored = MetricAnswer.model_validate_json(text)
    except ValidationError:
        return None
    return stored.model_copy(update={"from_store": True, "shared": False})
