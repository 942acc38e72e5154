"""Questions to judges about a sample, and evaluations, which make results from the answers.

An evaluation asks a list of independent questions about each sample. The two base classes know
nothing of claims or ratings.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.events import emit
from tcva_adapters.judges.base import Judge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.rounds import Rounds, adrive, drive
from tcva_adapters.models.judge_model import Identity, identity_of
from tcva_adapters.models.store_keys import verdict_key
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.judgement import Judgement, Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.sharing import SharedSentences
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.sample import Sample

_LOG = logging.getLogger(__name__)

R_co = TypeVar("R_co", bound=Scored, covariant=True)
R = TypeVar("R", bound=Scored)


class Question(ABC):
    """A question to one judge about one sample.

    Attributes:
        judge: The judge, rater, model or metric that is asked; failures are counted for each.
        key: A text that is equal where everything that can change the answer is equal.
        identity: The identity by which judges are the same; None for a judge that answers at once,
            whose answers are not shared.
        sample_fields: Fields of an answer that are this sample's, and not those of an equal question.
        answered_by: The class of the answers.
    """

    answered_by: ClassVar[type[Judgement]]
    judge: object
    key: str
    identity: Identity | None
    sample_fields: Fields

    @abstractmethod
    def ask(self) -> Judgement:
        """Ask the judge; a failed call gives an unscored judgement."""

    @abstractmethod
    async def aask(self) -> Judgement:
        """The same, awaited."""

    @abstractmethod
    def rounds(self) -> Rounds[Judgement]:
        """Ask a model as a generator of requests, for callers that make the calls themselves."""

    def failed_answer(self, why: Unscored) -> Judgement:
        """Make the unscored answer where asking failed, or where no call can succeed."""
        return self.answered_by(unscored=why)


class Evaluation(ABC, Generic[R_co]):
    """The base of all classes that ask about samples and make results from the answers.

    Attributes:
        is_instant: Whether all judging takes milliseconds: it is done at once in the thread that
            asks, and stored later, many at a time.
        store: The store of judgements; None for none.
        share: Whether judgements are shared with other evaluators of this process.
        max_concurrency: How many judgements are under way at once.
        events: Whether each result is emitted as an event, and whether with texts.
        name: The name of columns, feedback and events: the subject, and every setting that is not
            the default.
    """

    is_instant: bool
    store: VerdictStore | None
    share: bool
    max_concurrency: int
    events: Literal[False, True, "texts"] = False
    name: str

    @abstractmethod
    def questions(self, sample: Sample) -> Sequence[Question]:
        """The questions about a sample, all asked in one round; none where a required field is missing."""

    @abstractmethod
    def result_of(self, sample: Sample, answers: Sequence[Any]) -> R_co:
        """Make the result of a sample from an answer to each of its questions, in their order."""

    def emit_result(self, result: R) -> R:
        """Emit a result as an event, where there are events, and return it."""
        if self.events:
            emit(result, name=self.name, texts=self.events == "texts")
        return result


def stored_answers(
    store: VerdictStore, questions: Sequence[Question]
) -> list[Judgement | None]:
    """Look up questions of one kind in a store, all at once; None stands for one without an answer."""
    if not questions:
        return []
    judgements = store.get_many([q.key for q in questions], questions[0].answered_by)
    _LOG.debug("%s of %s judgements are in the store", len(judgements), len(questions))
    return [
        judgements[q.key].model_copy(update=q.sample_fields)
        if q.key in judgements
        else None
        for q in questions
    ]


class VerdictQuestion(Question):
    """The question for one judge's verdicts on one sample.

    Args:
        judge: The judge that is asked.
        criterion: The criterion that the sample is judged by.
        sample: The sample.
        identity: The identity of the judge, see `judge_identity`.
        share: Whether the judge's marks of sentences shown alone are shared in this process.
        store: The store of these marks; None for none.
    """

    answered_by = Assessment
    judge: Judge

    def __init__(
        self,
        judge: Judge,
        criterion: Criterion,
        sample: Sample,
        *,
        identity: Identity | None,
        share: bool,
        store: VerdictStore | None,
    ) -> None:
        self.judge = judge
        self.identity = identity
        self.key = verdict_key(sample, criterion, judge)
        # Another framework's evaluators may have asked the same judge.
        self.sample_fields = {
            "sample_id": sample.id,
            "metadata": sample.metadata,
            "judge": judge.name,
        }
        self._criterion = criterion
        self._sample = sample
        self._sentences = SharedSentences(judge, identity if share else None, store)

    def ask(self) -> Assessment:
        """Ask the judge; a failed call gives an unscored assessment.

        Raises:
            JudgeError: The judge returned something else.
        """
        if type(self.judge) is LLMJudge:  # a subclass may do more
            return drive(self.rounds(), self.judge.model)
        return _checked(self.judge.assess(self._sample, self._criterion))

    async def aask(self) -> Assessment:
        """The same, awaited."""
        if type(self.judge) is LLMJudge:
            return await adrive(self.rounds(), self.judge.model)
        return _checked(await self.judge.aassess(self._sample, self._criterion))

    def rounds(self) -> Rounds[Assessment]:
        """Ask the judge as a generator of requests; it has to be an `LLMJudge`."""
        judge = cast("LLMJudge", self.judge)
        return judge.rounds(self._sample, self._criterion, self._sentences)

    def failed_answer(self, why: Unscored) -> Assessment:
        """The same, as an assessment."""
        return unscored_assessment(why, self.judge, self._criterion, self._sample)


def judge_identity(judge: Judge) -> Identity | None:
    """The identity by which other judges are the same as one; None for one that answers at once."""
    is_slow = hasattr(judge, "identity") or not judge.is_local
    return identity_of(judge) if is_slow else None


def unscored_assessment(
    why: Unscored, judge: Judge, criterion: Criterion, sample: Sample
) -> Assessment:
    """Make the assessment of a sample that cannot be judged."""
    return Assessment(
        criterion=criterion.name,
        judge=judge.name,
        prompt_version=judge.prompt_version,
        unscored=why,
        sample_id=sample.id,
        metadata=sample.metadata,
    )


def _checked(answer: object) -> Assessment:
    if not isinstance(answer, Assessment):
        raise JudgeError(
            f"the judge returned {type(answer).__name__}; it must return an Assessment"
        )
    return answer
