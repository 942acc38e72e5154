"""CCRS: metrics, a judge and a store in one object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import Field

from tcva_adapters.ccrs.lexical import LEXICAL_VERSION, LexicalRater
from tcva_adapters.ccrs.metrics import (
    DEFAULT_LAMBDA,
    METRICS,
    ExactMatch,
    Metric,
    exact_match,
)
from tcva_adapters.ccrs.question import PROMPT_VERSION, RatingQuestion
from tcva_adapters.ccrs.result import CCRSResult, MetricAnswer
from tcva_adapters.criteria import FIELDS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer, lacks
from tcva_adapters.judges.base import EMPTY_REASONS
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.resolve import DEFAULT, resolve_judge, warn_of_default_judge
from tcva_adapters.models.store_keys import digest, key_of
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.setting_names import column_name, title_of, unusual
from tcva_adapters.results.settings import RunConfig
from tcva_adapters.results.settings_base import Share, shows_settings
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.questions import Question
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.sample import Sample


class CCRSSettings(RunConfig):
    """The settings of `CCRS`."""

    threshold: Share = Field(
        default=0.5, description="A sample passes with at least this score, in [0, 1]."
    )
    lambda_: Share = Field(
        default=DEFAULT_LAMBDA,
        title="lambda",
        description="Weight of the exact match in answer correctness, in [0, 1].",
    )
    em: ExactMatch = Field(
        default="strict",
        description="How the exact match compares: strict (equal strings) or normalised (ignores "
        "case, punctuation, articles and white space).",
    )


class CCRS(Scorer[CCRSResult]):
    """Rate whole answers with a number per metric, without claims.

    An empty response scores 0 without a call, as the source's prompts say. A metric whose fields
    the sample lacks is unscored (``missing_field``). Settings never change: `changed` returns a
    copy.

    Args:
        metrics: Short names: ``cc`` contextual coherence, ``qr`` question relevance,
            ``id`` information density, ``ac`` answer correctness, ``ir`` information recall.
        judge: ``"lexical"`` (by counting words, no more than a baseline), ``"openai:MODEL"``, a
            model object, or an LLM object of one of the frameworks. Without one the lexical judge
            is used, with a `DefaultJudgeWarning`.
        **settings: See `CCRSSettings`. The store may be the file that holds verdicts.

    Attributes:
        metrics: The metrics, in the order given.
        judge: The judge or rater that gives the numbers.
        prompt_version: The version of the prompt or the algorithm.
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
        metrics: Iterable[str] | str = tuple(METRICS),
        *,
        judge: Any = None,
        **settings: Any,
    ) -> None:
        config = CCRSSettings(**settings)
        self.metrics = _metrics(metrics)
        self.threshold = config.threshold
        self.share = config.share
        self.max_concurrency = config.max_concurrency
        self.events = config.events

        self.judge = _rater_of(
            DEFAULT if judge is None else judge, config.max_concurrency
        )
        self.is_local = self.is_instant = self.judge.is_local
        self.judge_name = self.judge.name
        self.prompt_version = LEXICAL_VERSION if self.is_local else PROMPT_VERSION

        counts = Counter(name for metric in self.metrics for name in metric.needs)
        self.required = tuple(n for n in FIELDS if counts[n] == len(self.metrics))
        self.shown = tuple(n for n in FIELDS if 0 < counts[n] < len(self.metrics))

        self._has_exact_match = any(metric.has_exact_match for metric in self.metrics)
        unused = set() if self._has_exact_match else {"lambda_", "em"}
        details = unusual(
            CCRSSettings, {n: value for n, value in config if n not in unused}
        )
        titles = ", ".join(metric.title for metric in self.metrics)
        names = tuple(metric.name for metric in self.metrics)
        self.subject = "_".join(names)
        self.name = column_name(f"ccrs_{self.subject}", details)
        self.title = title_of(f"CCRS {titles}", details)

        key_of(self.judge, is_stored=config.store is not None)
        self.store = VerdictStore.opened(config.store)
        self.settings: Fields = {**dict(config), "store": self.store}
        self._views = config.model_dump(include={"threshold", "lambda_", "em"})
        self.arguments = {
            "metrics": names,
            # Copies get the resolved model, so that they share its client.
            "judge": None if judge is None else getattr(self.judge, "model", "lexical"),
            **self.settings,
        }
        self._is_built = True

    def __repr__(self) -> str:
        metrics = ", ".join(self.arguments["metrics"])
        return f"CCRS({metrics!r}, judge={self.judge.name!r})"

    @property
    def fingerprint(self) -> str:
        """A text of everything that can change a score; it is equal where all of that is equal."""
        metrics = [metric.fingerprint for metric in self.metrics]
        judge = digest(key_of(self.judge))
        return f"ccrs {metrics!r} {self._views!r} {self.prompt_version} {judge}"

    def unscored(
        self,
        reason: Reason,
        detail: str,
        sample: Sample | None = None,
    ) -> CCRSResult:
        """Build the result of a sample that cannot be rated; see `Scorer.unscored`."""
        why = Unscored(reason=reason, detail=detail)
        return self._result(
            sample or Sample(),
            {metric.name: MetricAnswer(unscored=why) for metric in self.metrics},
        )

    def questions(self, sample: Sample) -> list[Question]:
        """Build a question for each metric that needs the judge; warn where no judge was named."""
        metrics = [m for m in self.metrics if _without_call(sample, m) is None]
        if metrics and self.arguments["judge"] is None:
            warn_of_default_judge()
        return [
            RatingQuestion(
                self.judge,
                self.prompt_version,
                metric,
                sample,
            )
            for metric in metrics
        ]

    def result_of(self, sample: Sample, answers: Sequence[MetricAnswer]) -> CCRSResult:
        """Combine the judge's answers with those that need no judge."""
        from_judge = iter(answers)
        return self._result(
            sample,
            {
                metric.name: _without_call(sample, metric) or next(from_judge)
                for metric in self.metrics
            },
        )

    def _result(self, sample: Sample, answers: dict[str, MetricAnswer]) -> CCRSResult:
        exact = None
        response = sample.response
        reference = sample.reference
        if self._has_exact_match and response is not None and reference is not None:
            exact = exact_match(response, reference, self._views["em"])
        return CCRSResult(
            judge=self.judge.name,
            prompt_version=self.prompt_version,
            answers=answers,
            exact=exact,
            **self._views,
            sample_id=sample.id,
            metadata=sample.metadata,
        )


def _metrics(metrics: object) -> tuple[Metric, ...]:
    """Resolve one metric or several, given by short name, in the order given.

    Raises:
        InvalidValueError: There is no metric, one twice, or one that does not exist.
    """
    names = metrics if isinstance(metrics, list | tuple) else [metrics]
    known = [name for name in names if isinstance(name, str) and name in METRICS]
    if not 0 < len(names) == len({*known}):
        all_names = ", ".join(f"{m.name} ({m.title})" for m in METRICS.values())
        raise InvalidValueError(
            f"metrics must be one or more of {all_names}, each at most once, got {metrics!r:.80}"
        )
    return tuple(METRICS[name] for name in known)


def _without_call(sample: Sample, metric: Metric) -> MetricAnswer | None:
    """The answer that needs no judge; None where the judge has to be asked."""
    missing = [name for name in metric.needs if getattr(sample, name) is None]
    if missing:
        reason = Reason.MISSING_FIELD
        detail = lacks("the sample", missing, metric.name)
    elif not (sample.response or "").strip():
        return MetricAnswer(rating=0.0)
    elif not (sample.field(metric.against) or "").strip():
        reason = EMPTY_REASONS[metric.against]
        detail = f"the sample has an empty {metric.against}"
    else:
        return None
    return MetricAnswer(unscored=Unscored(reason=reason, detail=detail))


def _rater_of(judge: object, max_concurrency: int) -> LLMJudge | LexicalRater:
    """Resolve a user's ``judge`` to a rater; see `resolve_judge`.

    Raises:
        InvalidValueError: The judge gives no ratings.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.
    """
    resolved = resolve_judge(judge, max_concurrency=max_concurrency)
    if isinstance(resolved, LexicalJudge):
        return LexicalRater()
    if isinstance(resolved, LLMJudge):
        return LLMJudge(resolved.model)  # its settings for claims change no rating
    raise InvalidValueError(
        f"{resolved.name} gives no ratings; use 'lexical', 'openai:MODEL' or an LLM object"
    )
