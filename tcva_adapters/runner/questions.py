"""Questions to judges about a sample, and evaluations, which make results of the answers.

A sample is a list of questions that do not wait for each other. Nothing here knows of claims or
ratings.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar

from tcva_adapters.events import emit
from tcva_adapters.judges.rounds import Rounds
from tcva_adapters.models.protocol import Identity
from tcva_adapters.results.judgement import Judgement, Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample

_LOG = logging.getLogger(__name__)

R_co = TypeVar("R_co", bound=Scored, covariant=True)
R = TypeVar("R", bound=Scored)


class Question(ABC):
    """A question to one judge about one sample.

    Attributes:
        judge: The judge that is asked.
        key: Equal where everything that can change the answer is equal.
        identity: Which judges are the same one; None for a judge that answers at once, whose
            answers are not shared.
        sample_fields: Fields of an answer that are this sample's, and not those of an equal question.
        answered_by: What an answer is.
    """

    answered_by: ClassVar[type[Judgement]]
    judge: Any
    key: str
    identity: Identity | None
    sample_fields: Mapping[str, object]

    @abstractmethod
    def ask(self) -> Judgement:
        """Ask the judge. Failures are values."""

    @abstractmethod
    async def aask(self) -> Judgement:
        """The same, awaited."""

    @abstractmethod
    def rounds(self) -> Rounds[Judgement]:
        """Ask a model as a generator of requests, for callers that make the calls themselves."""

    @abstractmethod
    def failed_answer(self, why: Unscored) -> Judgement:
        """The answer where no call can succeed."""


class Evaluation(ABC, Generic[R_co]):
    """The base of all that asks about samples and makes results of the answers.

    Attributes:
        is_instant: Whether all judging takes milliseconds: it is done at once in the thread that
            asks, and stored later, many at a time.
        store: Where judgements made before are served from; None for none.
        share: Whether judgements are shared with other evaluators of this process.
        max_concurrency: How many judgements are under way at once.
        events: Whether each result is emitted as an event, and whether with texts.
        name: What events call the evaluation.
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
        """The result of a sample, from an answer to each of its questions, in their order."""

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
