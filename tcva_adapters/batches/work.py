"""A pass over the samples of a submission: as far as each gets with the answers that there are.

The way of a sample is that of a live run: the same questions of the scorer, the same conversation of
the judge, the same reading of a server's answers, and the same store. Only that an answer which is
not there yet ends the way for today, and its request goes into the next file.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, cast

from tcva_adapters.batches.ledger import MOST_BYTES, Ledger
from tcva_adapters.batches.lines import request_line
from tcva_adapters.ccrs.scorer import CCRS
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.judges.base import Turns
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.panel import single_judges
from tcva_adapters.models.openai_exchange import Answer, exchange
from tcva_adapters.models.openai_model import NEUTRAL, OpenAICompatibleModel
from tcva_adapters.models.protocol import JudgeRequest, ModelReply
from tcva_adapters.progress import Progress
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner import Question, stored
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_Reply = ModelReply | JudgeError | None

_ID: Final = 48
"""Characters of a key that name its question: 192 bits, so that a custom_id stays below 64."""

_TOGETHER: Final = 500
"""Answers that go into the store in one transaction; the ledger has their replies until then."""

_BODIES: Final = 100
"""Turns that each request of a question has: a server may refuse one parameter of it after the other."""

_EXAMPLE: Final = Sample(input="i", response="r", contexts=["c"], reference="f")


def models_of(scorer: Scorer[Any]) -> dict[str, OpenAICompatibleModel]:
    """The models that a batch asks, by name.

    Raises:
        InvalidValueError: There is none; a judge calls by itself; or two have one name and other
            settings.
    """
    if isinstance(scorer, TCVA):
        whole = (scorer, *scorer.members)
        judges: list[Any] = [single for each in whole for single in single_judges(each.judge)]
    else:
        judges = [cast("CCRS", scorer).judge]
    found: dict[str, OpenAICompatibleModel] = {}
    for judge in judges:
        if judge.is_local:
            continue
        model = judge.model if type(judge) is LLMJudge else None
        if not isinstance(model, OpenAICompatibleModel):
            msg = f"{judge.name} calls by itself; a batch asks judges that are named openai:MODEL"
            raise InvalidValueError(msg)
        if found.setdefault(model.name, model).parameters != model.parameters:
            msg = f"{model.name} is asked with two settings; make a submission for each"
            raise InvalidValueError(msg)
    if not found:
        msg = f"{scorer!r} asks no model, and needs no batch; 'tcva evaluate' judges at once"
        raise InvalidValueError(msg)
    return found


def judging_of(scorer: Scorer[Any]) -> str:
    """A digest of everything that can change what is asked; views of verdicts cannot."""
    keys = [question.key for question in scorer.questions(_EXAMPLE)]
    return hashlib.sha256(" ".join(keys).encode()).hexdigest()


@dataclass
class Work:
    """One pass, inside one transaction of the ledger.

    Attributes:
        ledger: What was asked, and what came of it.
        scorer: Whose questions; it has a store.
        models: Those that it asks.
        again: Ask questions that failed anew.
        refused: By model what its server refuses, which one live question without a sample finds
            out before the first request.
    """

    ledger: Ledger
    scorer: Scorer[Any]
    models: Mapping[str, OpenAICompatibleModel]
    again: bool
    refused: dict[str, dict[str, str]]
    _new: list[tuple[str, Any]] = field(default_factory=list)

    def run(
        self, samples: Iterable[Sample], shown: Progress
    ) -> tuple[Counter[str], dict[str, str]]:
        """Take every sample as far as it gets.

        Returns:
            How many samples are ``scored``, ``unscored`` for good, ``waiting``, or failed with a
            reason; and what was said of the first failure of each reason.
        """
        counts: Counter[str] = Counter()
        first: dict[str, str] = {}
        for sample in samples:
            answers = [self._answer(question) for question in self.scorer.questions(sample)]
            if any(answer is None for answer in answers):
                counts["waiting"] += 1
            else:
                why = self.scorer.answered(sample, answers).unscored
                if why is None:
                    counts["scored"] += 1
                elif why.reason.is_failure:
                    counts[why.reason.value] += 1
                    first.setdefault(why.reason.value, why.detail)
                else:
                    counts["unscored"] += 1
            if len(self._new) >= _TOGETHER:
                self._keep()
            shown.tick()
        self._keep()
        return counts, first

    def _answer(self, question: Question[Any]) -> Any:
        """The answer to a question; None where it is not there yet."""
        (answer,) = stored(self._store, [question])
        if answer is not None:
            return answer
        if question.judge.is_local:
            answer = question.ask()
        else:
            # Several samples may ask it, and one with several parts has several keys.
            name = hashlib.sha256(question.key.encode()).hexdigest()[:_ID]
            answer = self._replayed(question, name)
            if self.again and answer is not None and answer.failure is not None:
                self.ledger.forget(name)
                answer = self._replayed(question, name)
        if answer is not None:
            self._new.append((question.key, answer))
        return answer

    @property
    def _store(self) -> VerdictStore:
        return cast("VerdictStore", self.scorer.store)

    def _keep(self) -> None:
        """Put new answers into the store, in one transaction of it."""
        self._store.put_many(self._new)
        self._new = []

    def _replayed(self, question: Question[Any], name: str) -> Any:
        """The answer that the ledger has the replies for; else what is lacking is asked for."""
        model, turns = self.models[question.judge.model.name], self.ledger.turns(name)
        if model.name not in self.refused:
            model.complete(NEUTRAL)
            self.refused[model.name] = dict(model.refused)
        refused = dict(self.refused[model.name])

        def reply(place: int, request: JudgeRequest) -> _Reply:
            bodies = exchange(model.server, model.config, request, refused)
            try:
                body = next(bodies)
                for turn in count(place * _BODIES):
                    if turn not in turns:
                        line = request_line(name, turn, body)
                        if len(line) > MOST_BYTES:
                            return JudgeError(f"the request is larger than {MOST_BYTES:,} bytes")
                        self.ledger.ask(model.name, name, turn, line)
                        return None
                    tries, status, content = turns[turn]
                    if status is None:
                        return None  # it is under way
                    body = bodies.send(Answer(status, content.encode(), sent=tries))
            except StopIteration as stop:
                return cast("ModelReply", stop.value)
            except JudgeError as error:
                return error
            return None

        with closing(question.conversation()) as judging:
            return _conversed(judging, reply)


def _conversed(judging: Turns[Any], reply: Callable[[int, JudgeRequest], _Reply]) -> Any:
    """What a conversation ends with; None where a reply is not there yet."""
    place = 0
    try:
        requests = next(judging)
        while True:
            replies = [reply(place + i, each) for i, each in enumerate(requests)]
            found = [each for each in replies if each is not None]
            if len(found) < len(replies):
                return None
            place += len(requests)
            requests = judging.send(found)
    except StopIteration as stop:
        return stop.value
