"""Who says what in a list of messages, and the question, answer and contexts in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, takewhile
from operator import itemgetter
from typing import Any, Final, NamedTuple

from tcva_adapters.samples.contexts import read_contexts
from tcva_adapters.samples.messages import RETRIEVED, Said, said_in
from tcva_adapters.samples.repeated_arguments import (
    FEW_WORDS,
    statements_in,
    without_statements,
)


class Talk(NamedTuple):
    """The messages of a record.

    Attributes:
        name: The field that holds them, for messages.
        messages: Messages, or pairs of a role and a text.
        answer: The answer, where it stands elsewhere; empty where none of its fields is known.
        is_whole: Whether the record has no question and no answer beside them.
    """

    name: str
    messages: Sequence[Any]
    answer: str | None
    is_whole: bool


def answer_in(said: Iterable[Said]) -> str:
    """The model's last text, with those right before it; a text's own contexts are not in between."""
    by_speaker = groupby(
        (each for each in said if each[0] != "context"), key=itemgetter(0)
    )
    runs = (
        [text for _, text in run if text.strip()]
        for who, run in by_speaker
        if who == "model"
    )
    return "\n\n".join(next(filter(None, reversed([*runs])), ()))


_OWN: Final = (
    "retrieval_context",
    "retrievalContext",
    "contexts",
    "retrieved_contexts",
)
"""What a message calls its own contexts."""


def fields_in(talk: Talk) -> dict[str, Any]:
    """Question, answer and contexts of messages; only what there is.

    Contexts are what tools returned before the answer, and the contexts of its own that it or a message
    before it has. The answer is empty if the model ended without a text to the last question.

    Raises:
        InvalidSampleError: Something in it is no message.

    >>> messages = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ada."}]
    >>> fields_in(Talk("messages", messages, None, True))
    {'input': 'Who?', 'response': 'Ada.'}
    """
    said = [*chain.from_iterable(spoken(talk.name, talk.messages))]
    answers = [
        place
        for place, (who, text) in enumerate(said)
        if who == "model" and text.strip()
        if talk.answer is None or talk.answer.strip().endswith(text.strip())
    ]
    end = answers[-1] if answers else len(said)
    fields: dict[str, Any] = {}
    if questions := [text for who, text in said[:end] if who == "user"]:
        fields["input"] = questions[-1]
    last = [*takewhile(lambda part: part[0] != "user", reversed(said))]
    is_from_model = last and last[0][0] == "model"
    if talk.answer is None and is_from_model and not answer_in(last):
        fields["response"] = ""
    elif answers:
        fields["response"] = answer_in(said[: end + 1])
    if contexts := [part for part in said[:end] if part[0] in RETRIEVED]:
        fields["contexts"] = [part[1] for part in contexts if part != ("context", "")]
    return fields


def spoken(name: str, messages: Iterable[Any]) -> Iterator[list[Said]]:
    """Who says what in each message, after the contexts of its own.

    Statements with which a tool, or one before it, was called are taken out of what it returns.

    Raises:
        InvalidSampleError: Something is no message.
    """
    statements: dict[tuple[str, ...], set[int]] = {}
    for number, message in enumerate(messages, start=1):
        said = said_in(name, number, message)
        if said[0][0] in {"model", "other", "context"} or "arguments" in message:
            for words in statements_in(message):
                statements.setdefault(words[:FEW_WORDS], set()).add(len(words))
                statements.setdefault(words, set())
        yield [("context", text) for text in own_contexts(message)] + [
            (who, without_statements(statements, text) if who in RETRIEVED else text)
            for who, text in said
        ]


def own_contexts(message: Any) -> Iterator[str]:
    """The contexts that a message has in a field of its own, as DeepEval's turns do; or one empty."""
    for key in _OWN if isinstance(message, Mapping) else ():
        if message.get(key) is not None:
            yield from read_contexts(key, message[key]) or [""]
