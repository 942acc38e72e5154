"""One metric of one sample as a question: the request, the reading of the reply, one further call."""

from __future__ import annotations

from typing import Final

from tcva_adapters.ccrs.lexical import LexicalRater
from tcva_adapters.ccrs.metrics import Metric
from tcva_adapters.ccrs.prompts import rating_request
from tcva_adapters.ccrs.reply import read_rating
from tcva_adapters.ccrs.result import MetricAnswer
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.base import Turns, digest, why_unscored
from tcva_adapters.judges.llm import Calls, LLMJudge, adrive, drive
from tcva_adapters.results.assessment import Reason, Unscored
from tcva_adapters.runner import Question
from tcva_adapters.samples.sample import Sample

_MOST_CALLS: Final = 2


class RatingQuestion(Question[MetricAnswer]):
    """A judge's number for one metric of one sample.

    Args:
        judge: Who is asked.
        version: Of the prompt or the algorithm.
        metric: For what.
        sample: It has what the metric needs, and a response that is not blank.
    """

    answered_by = MetricAnswer

    def __init__(
        self, judge: LLMJudge | LexicalRater, version: str, metric: Metric, sample: Sample
    ) -> None:
        self.judge: LLMJudge | LexicalRater = judge
        self.identity = judge.identity
        self.own = {}
        self._metric = metric
        self._sample = sample
        self.key = digest(
            {
                "sample": {name: getattr(sample, name) for name in metric.needs},
                "metric": metric.fingerprint,
                "judge": judge.name,
                "prompt_version": version,
                "parameters": dict(judge.parameters),
            }
        )

    def ask(self) -> MetricAnswer:
        """Ask the judge; what goes wrong is a value."""
        if isinstance(self.judge, LexicalRater):
            return self.judge.rate(self._sample, self._metric)
        return drive(self.conversation(), self.judge.model)

    async def aask(self) -> MetricAnswer:
        """The same, awaited."""
        if isinstance(self.judge, LexicalRater):
            return self.judge.rate(self._sample, self._metric)
        return await adrive(self.conversation(), self.judge.model)

    def conversation(self) -> Turns[MetricAnswer]:
        """Ask, and once more where the reply is no number; it raises nothing."""
        calls = Calls()
        rating: float | None = None
        why: Unscored | None = None
        try:
            rating = yield from self._rating(calls)
        except Exception as error:  # noqa: BLE001  # nothing that a reply holds ends a batch
            why = why_unscored(error, calls.replies)
        replies = tuple(calls.replies)
        return MetricAnswer(rating=rating, unscored=why, replies=replies, usage=calls.usage)

    def _rating(self, calls: Calls) -> Turns[float]:
        problem = ""
        for _ in range(_MOST_CALLS):
            request = rating_request(self._sample, self._metric, problem=problem)
            (reply,) = yield from calls.ask([request])
            found = read_rating(reply.text, request.user)
            if found.value is not None and not reply.truncated:
                return found.value
            problem = "it was cut off" if reply.truncated else found.problem
        raise JudgeError(problem, reason=Reason.UNREADABLE_REPLY)

    def given_up(self, why: Unscored) -> MetricAnswer:
        """The answer where no call can succeed."""
        return MetricAnswer(unscored=why)
