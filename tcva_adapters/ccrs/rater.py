"""A judge model as rater: one call per metric, or one for several, and one more where it helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tcva_adapters.ccrs.lexical import LexicalRater
from tcva_adapters.ccrs.metrics import Metric
from tcva_adapters.ccrs.prompts import PROMPT_VERSION, rating_request, suite_request
from tcva_adapters.ccrs.reply import Rating, read_rating, read_ratings
from tcva_adapters.ccrs.result import MetricAnswer
from tcva_adapters.ccrs.result import Protocol as Asking
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.base import Asked
from tcva_adapters.judges.lexical import LexicalSampleJudge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.resolve import resolve_judge
from tcva_adapters.judges.turns import Calls, Turns, adrive, drive, why_unscored
from tcva_adapters.models.protocol import JudgeModel, ModelReply, identity_of_model
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.results.assessment import Reason, Unscored, Usage
from tcva_adapters.samples.sample import Sample
from tcva_adapters.sharing import Identity

Answers = dict[str, MetricAnswer]
Steps = Turns[Answers]


class Rater(Asked, Protocol):
    """What rates a sample. Failures are values: it raises nothing for a bad reply."""

    @property
    def protocol(self) -> Asking:
        """How it is asked."""

    @property
    def identity(self) -> Identity | None:
        """Which raters are the same one; None for one that only computes."""

    def rate(self, sample: Sample, metrics: Sequence[Metric], *, left: Sequence[Metric]) -> Answers:
        """One answer per metric; the sample has what they need, and the response is not blank.

        Args:
            sample: What is rated.
            metrics: By what. A suite shows the judge all of them.
            left: Those of them that still lack a number.
        """

    async def arate(
        self, sample: Sample, metrics: Sequence[Metric], *, left: Sequence[Metric]
    ) -> Answers:
        """The same, awaited."""


@dataclass(frozen=True, slots=True)
class ModelRater:
    """Asks a model for numbers.

    Attributes:
        model: What answers.
        suite: Whether metrics that are rated together share one call.
    """

    model: JudgeModel
    suite: bool = False
    is_local = False
    prompt_version = PROMPT_VERSION

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def identity(self) -> Identity:
        """The model's."""
        return identity_of_model(self.model)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The model's."""
        return self.model.parameters

    @property
    def protocol(self) -> Asking:
        """``suite`` or ``single``."""
        return "suite" if self.suite else "single"

    def rate(self, sample: Sample, metrics: Sequence[Metric], *, left: Sequence[Metric]) -> Answers:
        """One answer per metric: in one conversation, or in one for each; see `Rater`."""
        return drive(self.steps(sample, metrics, left=left), self.model)

    async def arate(
        self, sample: Sample, metrics: Sequence[Metric], *, left: Sequence[Metric]
    ) -> Answers:
        """The same, awaited."""
        return await adrive(self.steps(sample, metrics, left=left), self.model)

    def steps(self, sample: Sample, metrics: Sequence[Metric], *, left: Sequence[Metric]) -> Steps:
        """The same without its calls, for who brings the replies; it raises nothing."""
        if self.suite:
            return (yield from self._conversation(sample, metrics, left))
        found: Answers = {}
        for metric in left:
            found |= yield from self._conversation(sample, [metric], [metric])
        return found

    def _conversation(
        self, sample: Sample, metrics: Sequence[Metric], wanted: Sequence[Metric]
    ) -> Steps:
        talk = Calls()
        ratings: dict[str, Rating] = {}
        failure: Unscored | None = None
        try:
            (reply,) = yield from talk.ask([self._request(sample, metrics, wanted)])
            ratings = self._read(reply, wanted)
            lacking = [metric for metric in wanted if ratings[metric.name].value is None]
            if lacking:
                problem = ratings[lacking[0].name].problem
                again = self._request(sample, metrics, lacking, problem)
                (reply,) = yield from talk.ask([again])
                ratings |= self._read(reply, lacking)
        except Exception as error:  # noqa: BLE001  # nothing that a reply holds ends a batch
            failure = why_unscored(error, talk.replies)
        answers: Answers = {}
        for metric in wanted:
            rating = ratings.get(metric.name)
            value = None if rating is None else rating.value
            answers[metric.name] = MetricAnswer(
                metric=metric.name,
                judge=self.name,
                prompt_version=self.prompt_version,
                protocol=self.protocol,
                rating=value,
                unscored=_unscored(rating, failure, talk.replies) if value is None else None,
                replies=tuple(talk.replies),
                usage=talk.usage if metric is wanted[0] else Usage(),
            )
        return answers

    def _request(
        self,
        sample: Sample,
        metrics: Sequence[Metric],
        only: Sequence[Metric],
        problem: str | None = None,
    ) -> JudgeRequest:
        if self.suite:
            return suite_request(sample, metrics, only=only, problem=problem)
        return rating_request(sample, metrics[0], problem=problem)

    def _read(self, reply: ModelReply, metrics: Sequence[Metric]) -> dict[str, Rating]:
        if reply.truncated:
            cut = Rating(None, "it was cut off")
            return {metric.name: cut for metric in metrics}
        if self.suite:
            return read_ratings(reply.text, metrics)
        return {metric.name: read_rating(reply.text, metric) for metric in metrics}


def _unscored(
    rating: Rating | None, failure: Unscored | None, replies: Sequence[str]
) -> Unscored | None:
    """Why there is no number: the call that failed, or what was wrong with the last reply."""
    if rating is None:
        return failure
    detail = rating.problem
    if failure is not None:
        detail = f"{detail}; the further call failed: {failure.detail}"
    return Unscored(
        reason=Reason.UNREADABLE_REPLY,
        detail=detail,
        raw_reply="\n---\n".join(replies),
        fatal=failure is not None and failure.fatal,
    )


def resolve_rater(judge: Any, *, suite: bool, max_concurrency: int) -> Rater:
    """A rater from what a user passes as judge; see `resolve_judge` for what that may be.

    Raises:
        InvalidValueError: It cannot be asked for a number, or a suite is asked of the lexical one.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: No API key.
    """
    found = resolve_judge(judge, max_concurrency=max_concurrency)
    if isinstance(found, LexicalSampleJudge):
        if suite:
            msg = "suite=True saves calls of a model; the lexical judge makes none: leave it out"
            raise InvalidValueError(msg)
        return LexicalRater()
    if isinstance(found, LLMJudge):
        return ModelRater(found.model, suite=suite)
    msg = (
        f"{found.name} gives verdicts on claims and cannot be asked for a number; the judge here is "
        "'lexical', 'openai:MODEL' or an LLM object"
    )
    raise InvalidValueError(msg)
