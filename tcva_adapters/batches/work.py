"""What is asked in batches: the models, and a question as far as the answers that there are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import closing
from itertools import count
from typing import Any, Final, cast

from tcva_adapters.batches.ledger import MOST_BYTES, Ledger
from tcva_adapters.batches.lines import request_line
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.prompts import SENTENCE_SCHEMA
from tcva_adapters.judges.rounds import Rounds
from tcva_adapters.models.openai_exchange import Answer, exchange
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.protocol import JudgeRequest, ModelReply
from tcva_adapters.runner.questions import Question
from tcva_adapters.samples.sample import Sample

_Reply = ModelReply | JudgeError | None

_BODIES: Final = (
    100  # of a request: a server may refuse one parameter of it after the other
)

_EXAMPLE: Final = Sample(
    input="i",
    response="r",
    contexts=["c"],
    reference="f",
)


def models_of(scorer: Scorer[Any]) -> dict[str, OpenAICompatibleModel]:
    """The models that a batch asks, by name.

    Raises:
        InvalidValueError: There is none; a judge calls by itself; or two have one name and other
            settings.
    """
    found: dict[str, OpenAICompatibleModel] = {}
    for judge in (question.judge for question in scorer.questions(_EXAMPLE)):
        if judge.is_local:
            continue
        model = judge.model if type(judge) is LLMJudge else None
        if not isinstance(model, OpenAICompatibleModel):
            msg = f"batches need a judge of the form openai:MODEL, got {judge.name}"
            raise InvalidValueError(msg)
        if found.setdefault(model.name, model).parameters != model.parameters:
            msg = f"two judges use {model.name} with different settings; make a submission for each"
            raise InvalidValueError(msg)
    if not found:
        msg = f"{scorer!r} uses no model and needs no batch; use 'tcva evaluate'"
        raise InvalidValueError(msg)
    return found


def judging_of(scorer: Scorer[Any]) -> str:
    """A digest of everything that can change what is asked; views of verdicts cannot."""
    keys = [question.key for question in scorer.questions(_EXAMPLE)]
    return hashlib.sha256(" ".join(keys).encode()).hexdigest()


def replayed(
    question: Question,
    model: OpenAICompatibleModel,
    ledger: Ledger,
    known: Mapping[str, str],
    names: set[str],
) -> Any:
    """The answer that the ledger has the replies for; else what is lacking is asked, and it is None.

    The way is that of a live run: the same conversation of the judge, the same reading of a server's
    answers. Only that an answer which is not there yet ends the way for today.

    Args:
        question: A question.
        model: Whom it is asked.
        ledger: What was asked, and what came of it.
        known: What the model's server refuses.
        names: Receives the names under which the ledger holds the replies.
    """
    refused = dict(known)

    def reply(place: int, request: JudgeRequest) -> _Reply:
        key, first = question.key, place * _BODIES
        if request.schema_name == SENTENCE_SCHEMA:  # asked once for all samples
            key, first = f"{model.name} {request!r}", 0
        name = _name_of(key)
        names.add(name)
        turns = ledger.turns(name)
        bodies = exchange(model.server, model.config, request, refused)
        try:
            body = next(bodies)
            for turn in count(first):
                if turn not in turns:
                    line = request_line(name, turn, body)
                    if len(line) > MOST_BYTES:
                        return JudgeError(
                            f"the request is larger than {MOST_BYTES:,} bytes"
                        )
                    ledger.ask(model.name, name, turn, line)
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

    with closing(question.rounds()) as judging:
        return _conversed(judging, reply)


def _name_of(key: str) -> str:
    """What a question is called in the ledger: 192 bits, so that a custom_id stays below 64 letters."""
    return hashlib.sha256(key.encode()).hexdigest()[:48]


def _conversed(
    judging: Rounds[Any], reply: Callable[[int, JudgeRequest], _Reply]
) -> Any:
    """What a conversation ends with; None where a reply is not there yet."""
    place = 0
    try:
        requests = next(judging)
        while True:
            replies = [reply(place + i, each) for i, each in enumerate(requests)]
            if None in replies:
                return None
            # A sentence that is known by the next time is not asked about: the others keep their places.
            place += sum(request.schema_name != SENTENCE_SCHEMA for request in requests)
            requests = judging.send(cast("list[ModelReply | JudgeError]", replies))
    except StopIteration as stop:
        return stop.value
