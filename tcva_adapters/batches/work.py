"""A pass over the samples of a submission: as far as each gets with the answers that there are.

The way of a sample is that of a live run: the same questions of the scorer, the same conversation of the
judge, the same reading of a server's answers, and the same store. Only that an answer which is not
there yet ends the way for today, and its request goes into the next file.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from typing import Any, Final, cast

from tcva_adapters.batches.drafts import Drafts, Request
from tcva_adapters.batches.ledger import Ledger, Turn
from tcva_adapters.ccrs.scorer import CCRS
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.panel import single_judges
from tcva_adapters.models.openai_exchange import Answer, exchange
from tcva_adapters.models.openai_model import NEUTRAL, OpenAICompatibleModel
from tcva_adapters.models.protocol import JudgeRequest, ModelReply
from tcva_adapters.results.assessment import Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner import Question, stored
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_ID: Final = 48
"""Characters of a key that name its question: 192 bits, so that a custom_id stays below 64."""

_TOGETHER: Final = 500
"""Answers that go into the store in one transaction; the ledger has their replies until then."""

_TRIES: Final = 100
"""Numbers of turns that each request of a question has: a server may refuse a parameter of it."""

_EXAMPLE: Final = Sample(input="i", response="r", contexts=["c"], reference="f")


@dataclass
class Asked:
    """A model of a submission.

    Attributes:
        model: The model.
        refused: What its server is known to refuse; new questions begin with it.
        is_tried: Whether one live question has found out.
    """

    model: OpenAICompatibleModel
    refused: dict[str, str] = field(default_factory=dict)
    is_tried: bool = False


def judges_of(scorer: Scorer[Any]) -> list[Any]:
    """Everyone who is asked by a scorer: repeats, the judges of panels and of fused scores one by one.

    Raises:
        InvalidValueError: It is neither `TCVA` nor `CCRS`.
    """
    if isinstance(scorer, CCRS):
        return [scorer.judge]
    if isinstance(scorer, TCVA):
        whole = (scorer, *scorer.members)
        return [voice for each in whole for voice in single_judges(each.judge)]
    msg = f"a batch is made for a TCVA or a CCRS, not for a {type(scorer).__name__}"
    raise InvalidValueError(msg)


def models_of(scorer: Scorer[Any]) -> dict[str, OpenAICompatibleModel]:
    """The models that a batch asks, by name.

    Raises:
        InvalidValueError: There is none; a judge calls by itself; or two have one name and other
            settings.
    """
    found: dict[str, OpenAICompatibleModel] = {}
    for judge in judges_of(scorer):
        if judge.is_local:
            continue
        model = judge.model if type(judge) is LLMJudge else None
        if not isinstance(model, OpenAICompatibleModel):
            msg = f"{judge.name} calls by itself; a batch asks judges that are named openai:MODEL"
            raise InvalidValueError(msg)
        other = found.setdefault(model.name, model)
        if other.parameters != model.parameters:
            msg = f"{model.name} is asked with two settings; make a submission for each"
            raise InvalidValueError(msg)
    if not found:
        msg = f"{scorer!r} asks no model, and needs no batch; tcva evaluate, or evaluate_many, judges at once"
        raise InvalidValueError(msg)
    return found


def judging_of(scorer: Scorer[Any]) -> str:
    """A digest of everything that can change what is asked; the dial cannot."""
    keys = [question.key for question in scorer.questions(_EXAMPLE)]
    return hashlib.sha256(" ".join(keys).encode()).hexdigest()


@dataclass
class Counts:
    """How far the samples are.

    Attributes:
        scored: Samples with a score.
        unscored: Samples that have none, for good.
        waiting: Samples that wait for answers.
        failed: Samples whose judging failed, by reason.
        first: What was said of the first failure of each reason.
    """

    scored: int = 0
    unscored: int = 0
    waiting: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, result: Scored | None) -> None:
        """Count one sample; None for one that waits."""
        why: Unscored | None = None if result is None else result.unscored
        if result is None:
            self.waiting += 1
        elif why is None:
            self.scored += 1
        elif why.reason.is_failure:
            self.failed[why.reason] += 1
            self.first.setdefault(why.reason, why.detail)
        else:
            self.unscored += 1


class Work:
    """One pass, inside one transaction of the ledger.

    Args:
        ledger: What was asked, and what came of it.
        scorer: Whose questions; it has a store.
        asked: Its models.
        drafts: Takes what is to be asked now; None where nothing is.
        again: Ask questions that failed anew.
    """

    def __init__(
        self,
        ledger: Ledger,
        scorer: Scorer[Any],
        asked: Mapping[str, Asked],
        drafts: Drafts | None,
        *,
        again: bool = False,
    ) -> None:
        self._ledger = ledger
        self._scorer = scorer
        self._asked = asked
        self._drafts = drafts
        self._again = again
        self._new: list[tuple[str, Any]] = []

    def run(self, samples: Iterable[Sample], told: Callable[[Scored | None], None]) -> Counts:
        """Take every sample as far as it gets.

        Args:
            samples: All of the submission.
            told: Told each result, None for one that waits.
        """
        counts = Counts()
        for sample in samples:
            answers = [self._answer(question) for question in self._scorer.questions(sample)]
            waits = any(answer is None for answer in answers)
            result = None if waits else self._scorer.answered(sample, answers)
            counts.add(result)
            told(result)
        self._keep()
        return counts

    def _answer(self, question: Question[Any]) -> Any:
        """The answer to a question; None where it is not there yet."""
        store = cast("VerdictStore", self._scorer.store)
        (answer,) = stored(store, [question])
        if answer is not None:
            return answer
        if getattr(question.judge, "is_local", False):
            answer = question.ask()
        else:
            answer = self._told(question)
        is_failure = answer is not None and answer.failure is not None
        if is_failure and self._again and self._drafts is not None:
            self._ledger.forget(_id(question))
            answer = self._told(question)
        if answer is not None:
            self._new.append((question.key, answer))
            if len(self._new) >= _TOGETHER:
                self._keep()
        return answer

    def _keep(self) -> None:
        """Put new answers into the store, in one transaction of it."""
        if self._new:
            store = cast("VerdictStore", self._scorer.store)
            store.put_many(self._new)
            self._new = []

    def _told(self, question: Question[Any]) -> Any:
        """The answer that the ledger has the replies for; else what is lacking is asked for."""
        name, judging = _id(question), question.conversation()
        asked = self._asked[question.judge.model.name]
        turns = self._ledger.turns(name)
        if not turns and self._drafts is None:
            return None
        if not turns and not asked.is_tried:
            asked.model.complete(NEUTRAL)
            asked.refused |= asked.model.refused
            asked.is_tried = True
        dropped = turns[0].dropped if turns else dict(asked.refused)
        talk = _Talk(name, asked.model, dict(dropped), turns, dropped)
        try:
            requests, place = next(judging), 0
            while True:
                replies = [self._reply(talk, place + i, each) for i, each in enumerate(requests)]
                found = [reply for reply in replies if reply is not None]
                if len(found) < len(replies):
                    return None
                place += len(requests)
                requests = judging.send(found)
        except StopIteration as stop:
            return stop.value
        finally:
            judging.close()
            asked.refused |= talk.refused

    def _reply(
        self, talk: _Talk, place: int, request: JudgeRequest
    ) -> ModelReply | JudgeError | None:
        """The reply to a request of a question; None where it is not there yet."""
        bodies = exchange(talk.model.server, talk.model.config, request, talk.refused)
        answer: Answer | None = None
        for number in count(place * _TRIES):
            try:
                body = bodies.send(answer)  # type: ignore[arg-type]  # None begins
            except StopIteration as stop:
                return cast("ModelReply", stop.value)
            except JudgeError as error:
                return error
            turn = talk.turns.get(number)
            answer = None if turn is None else turn.answer
            if turn is None or turn.is_open:
                if self._drafts is None:
                    return None
                if self._drafts.fits(body):
                    tries = 1 if turn is None else turn.tries + 1
                    ask = Request(talk.model.name, talk.question, number, tries, body)
                    self._drafts.ask(ask, talk.dropped)
                    return None
                answer = _too_large(self._drafts.limits.bytes)
            elif answer is None:
                return None  # it is under way
        return None


@dataclass(frozen=True, slots=True)
class _Talk:
    """A question, whom it is asked of, what is refused, and its turns so far."""

    question: str
    model: OpenAICompatibleModel
    refused: dict[str, str]
    turns: Mapping[int, Turn]
    dropped: Mapping[str, str]


def _id(question: Question[Any]) -> str:
    """The name of a question: its key, or a digest of several."""
    key = question.key
    return (hashlib.sha256(key.encode()).hexdigest() if " " in key else key)[:_ID]


def _too_large(most: int) -> Answer:
    said = f"the request is larger than a file of a batch may be ({most:,} bytes)"
    content = json.dumps({"error": {"message": said}}).encode()
    return Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, content)
