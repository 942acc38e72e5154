"""A question's exchange with a model, replayed from a ledger as far as the replies are there.

It follows a live run: the same rounds of the judge, the same reading of a server's answers. But it ends
at the first round with a reply that has not arrived yet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count

from tcva_adapters.batches.ledger import Ledger
from tcva_adapters.batches.request_lines import request_line
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.prompts import SENTENCE_SCHEMA
from tcva_adapters.models.judge_model import JudgeRequest, ModelReply
from tcva_adapters.models.openai_exchange import Answer, exchange
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.results.judgement import Judgement
from tcva_adapters.runner.questions import Question

_BODIES = 100
"""The most requests for one reply: a server may refuse one parameter after the other."""


@dataclass(slots=True)
class Replay:
    """A question that is asked in batches.

    Attributes:
        question: The question.
        model: The model that is asked.
        ledger: The requests and their outcomes.
        refused: The features that the model's server refuses, each with its reason.
    """

    question: Question
    model: OpenAICompatibleModel
    ledger: Ledger
    refused: Mapping[str, str]
    _names: set[str] = field(default_factory=set)

    def answer(self) -> Judgement | None:
        """Return the judgement from the replies in the ledger; None if replies are missing.

        Missing replies are requested in the next batch.
        """
        place = 0
        refused = dict(self.refused)
        with closing(self.question.rounds()) as rounds:
            try:
                requests = next(rounds)
                while True:
                    replies = [
                        self._reply(number, request, refused)
                        for number, request in enumerate(requests, place)
                    ]
                    known = [reply for reply in replies if reply is not None]
                    if len(known) < len(replies):
                        return None
                    # Requests about sentences do not count: a later replay may not make them,
                    # and the other requests must keep their numbers.
                    names = [request.schema_name for request in requests]
                    place += len(names) - names.count(SENTENCE_SCHEMA)
                    requests = rounds.send(known)
            except StopIteration as stop:
                judgement: Judgement = stop.value
                return judgement

    def forget(self) -> None:
        """Delete the requests for the answer, so that they are made anew."""
        for name in self._names:
            self.ledger.forget(name)

    def _reply(
        self, place: int, request: JudgeRequest, refused: dict[str, str]
    ) -> ModelReply | JudgeError | None:
        """Return the reply to the request at this place; None if it has not arrived yet."""
        key = self.question.key
        first = place * _BODIES
        if request.schema_name == SENTENCE_SCHEMA:  # asked once for all samples
            key = f"{self.model.name} {request!r}"
            first = 0
        # 192 bits, so that a custom_id stays below 64 letters.
        name = hashlib.sha256(key.encode()).hexdigest()[:48]
        self._names.add(name)
        known = self.ledger.requests_of(name)
        bodies = exchange(
            self.model.server,
            self.model.config,
            request,
            refused,
        )
        try:
            body = next(bodies)
            for number in count(first):
                if number not in known:
                    self.ledger.ask(
                        self.model.name,
                        name,
                        number,
                        request_line(name, number, body),
                    )
                    break
                tries, status, content = known[number]
                if status is None:
                    break  # it is under way
                body = bodies.send(Answer(status, content.encode(), sent=tries))
        except StopIteration as stop:
            reply: ModelReply = stop.value
            return reply
        except JudgeError as error:
            return error
        return None
