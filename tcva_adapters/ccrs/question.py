"""One metric of one sample as a question: the request, the reading of the reply, one further call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Self

from pydantic import ValidationError

from tcva_adapters.ccrs.lexical import LexicalRater
from tcva_adapters.ccrs.metrics import Metric
from tcva_adapters.ccrs.prompts import PROMPT_VERSION, rating_request
from tcva_adapters.ccrs.reply import read_rating
from tcva_adapters.ccrs.result import MetricAnswer
from tcva_adapters.judges.base import digest
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.turns import Calls, Turns, adrive, drive, why_unscored
from tcva_adapters.results.assessment import Reason, Unscored, Usage
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner import Question
from tcva_adapters.samples.sample import Sample


def version_of(judge: LLMJudge | LexicalRater) -> str:
    """The version of the prompt that a judge is asked with, or of its algorithm."""
    return judge.version if isinstance(judge, LexicalRater) else PROMPT_VERSION


def answer_of(judge: LLMJudge | LexicalRater, metric: Metric, **said: Any) -> MetricAnswer:
    """What a judge says to a metric: a ``rating``, or why there is none (``unscored``)."""
    version = version_of(judge)
    return MetricAnswer(metric=metric.name, judge=judge.name, prompt_version=version, **said)


class RatingQuestion(Question[MetricAnswer]):
    """A judge's number for one metric of one sample.

    Args:
        judge: Who is asked.
        metric: For what.
        sample: It has what the metric needs, and a response that is not blank.
    """

    def __init__(self, judge: LLMJudge | LexicalRater, metric: Metric, sample: Sample) -> None:
        self.judge: LLMJudge | LexicalRater = judge
        self.identity = judge.identity
        self._metric = metric
        self._sample = sample
        self.key = digest(
            {
                "sample": {name: getattr(sample, name) for name in metric.needs},
                "metric": metric.fingerprint,
                "judge": judge.name,
                "prompt_version": version_of(judge),
                "parameters": dict(judge.parameters),
            }
        )

    def ask(self) -> MetricAnswer:
        """Ask the judge; what goes wrong is a value."""
        if isinstance(self.judge, LexicalRater):
            return self._counted(self.judge)
        return drive(self._turns(), self.judge.model)

    async def aask(self) -> MetricAnswer:
        """The same, awaited."""
        if isinstance(self.judge, LexicalRater):
            return self._counted(self.judge)
        return await adrive(self._turns(), self.judge.model)

    def conversation(self) -> Turns[MetricAnswer] | None:
        """The same without its calls; None where nobody is called."""
        return None if isinstance(self.judge, LexicalRater) else self._turns()

    def _counted(self, judge: LexicalRater) -> MetricAnswer:
        started = time.perf_counter()
        said = judge.rate(self._sample, self._metric)
        return self._answer(said, usage=Usage(seconds=time.perf_counter() - started))

    def _turns(self) -> Turns[MetricAnswer]:
        """Ask, and once more where the reply is no number; it raises nothing."""
        calls, problem = Calls(), ""
        said: float | Unscored
        try:
            for _ in range(2):
                request = rating_request(self._sample, self._metric, problem=problem)
                (reply,) = yield from calls.ask([request])
                rating = read_rating(reply.text, request.user)
                problem = "it was cut off" if reply.truncated else rating.problem
                if rating.value is not None and not reply.truncated:
                    said = rating.value
                    break
            else:
                said = _unreadable(problem, calls)
        except Exception as error:  # noqa: BLE001  # nothing that a reply holds ends a batch
            said = why_unscored(error, calls.replies)
            if problem:
                detail = f"{problem}; the further call failed: {said.detail}"
                said = _unreadable(detail, calls, fatal=said.fatal)
        return self._answer(said, replies=tuple(calls.replies), usage=calls.usage)

    def _answer(self, said: float | Unscored, **about: Any) -> MetricAnswer:
        kind = "unscored" if isinstance(said, Unscored) else "rating"
        return answer_of(self.judge, self._metric, **{kind: said}, **about)

    @classmethod
    def read(cls, store: VerdictStore, questions: Sequence[Self]) -> list[MetricAnswer | None]:
        """The ratings that a store has."""
        found = store.get_records(each.key for each in questions)
        return [_read(found.get(each.key)) for each in questions]

    @classmethod
    def write(cls, store: VerdictStore, answered: Sequence[tuple[Self, MetricAnswer]]) -> None:
        """Put ratings into a store."""
        store.put_records(
            (question.key, answer.model_dump_json(), question.failure(answer) is not None)
            for question, answer in answered
        )

    def free(self, answer: MetricAnswer) -> MetricAnswer:
        """The answer that somebody else had paid for."""
        return answer.model_copy(update={"usage": Usage(), "shared": not answer.from_store})

    def failure(self, answer: MetricAnswer) -> Unscored | None:
        """Why another try may give a rating."""
        why = answer.unscored
        return why if why is not None and why.reason.is_failure else None

    def own_failure(self, answer: MetricAnswer) -> MetricAnswer:
        """A failure that says nothing about further calls."""
        why = answer.unscored and answer.unscored.model_copy(update={"fatal": False})
        return answer.model_copy(update={"unscored": why})

    def given_up(self, why: Unscored) -> MetricAnswer:
        """The answer where no call can succeed."""
        return self._answer(why)


def _unreadable(detail: str, calls: Calls, *, fatal: bool = False) -> Unscored:
    raw = "\n---\n".join(calls.replies)
    reason = Reason.UNREADABLE_REPLY
    return Unscored(reason=reason, detail=detail, raw_reply=raw, fatal=fatal)


def _read(text: str | None) -> MetricAnswer | None:
    """A stored answer; None for none, and for one that cannot be read."""
    if text is None:
        return None
    try:
        stored = MetricAnswer.model_validate_json(text)
    except ValidationError:
        return None
    return stored.model_copy(update={"from_store": True, "shared": False})
