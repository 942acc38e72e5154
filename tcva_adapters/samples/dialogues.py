"""Who says what in a list of messages, and the question, answer and contexts in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import Any, NamedTuple

from tcva_adapters.samples.contexts import read_contexts
from tcva_adapters.samples.messages import RETRIEVED, Utterance, utterances_in
from tcva_adapters.samples.repeated_arguments import (
    FEW_WORDS,
    statements_in,
    without_statements,
)


class Dialogue(NamedTuple):
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


def answer_in(utterances: Sequence[Utterance]) -> str:
    """The model's last text, with those right before it; a text's own contexts are not in between."""
    texts: list[str] = []
    for speaker, text in reversed(utterances):
        if speaker == "model" and text.strip():
            texts.append(text)
        elif texts and speaker not in ("model", "context"):
            break
    return "\n\n".join(reversed(texts))


_CONTEXTS = (
    "retrieval_context",
    "retrievalContext",
    "contexts",
    "retrieved_contexts",
)
"""What a message calls its own contexts."""


def fields_in(dialogue: Dialogue) -> dict[str, Any]:
    """Question, answer and contexts of messages; only what there is.

    Contexts are what tools returned before the answer, and the contexts of its own that it or a message
    before it has. The answer is empty if the model ended without a text to the last question.

    Raises:
        InvalidSampleError: Something in it is no message.

    >>> messages = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ada."}]
    >>> fields_in(Dialogue("messages", messages, None, True))
    {'input': 'Who?', 'response': 'Ada.'}
    """
    utterances = [*chain(*utterances_by_message(dialogue.name, dialogue.messages))]
    answers = [
        place
        for place, (speaker, text) in enumerate(utterances)
        if speaker == "model" and text.strip()
        if dialogue.answer is None or dialogue.answer.strip().endswith(text.strip())
    ]
    end = answers[-1] if answers else len(utterances)
    before = utterances[:end]
    fields: dict[str, Any] = {}
    if questions := [text for speaker, text in before if speaker == "user"]:
        fields["input"] = questions[-1]
    if dialogue.answer is None and _ends_without_text(utterances):
        fields["response"] = ""
    elif answers:
        fields["response"] = answer_in(utterances[: end + 1])
    if any(utterance.speaker in RETRIEVED for utterance in before):
        fields["contexts"] = [
            utterance.text
            for utterance in before
            if utterance.speaker in RETRIEVED and utterance != ("context", "")
        ]
    return fields


def _ends_without_text(utterances: Sequence[Utterance]) -> bool:
    """Whether the model spoke last, and said nothing since the last question."""
    since = [*takewhile(lambda part: part.speaker != "user", reversed(utterances))]
    return bool(since) and since[0].speaker == "model" and not answer_in(since)


def utterances_by_message(
    name: str, messages: Iterable[Any]
) -> Iterator[list[Utterance]]:
    """Who says what in each message, after the contexts of its own.

    Statements with which a tool, or one before it, was called are taken out of what it returns.

    Raises:
        InvalidSampleError: Something is no message.
    """
    statements: dict[tuple[str, ...], set[int]] = {}
    for number, message in enumerate(messages, start=1):
        utterances = utterances_in(name, number, message)
        calls = utterances[0].speaker in {"model", "other", "context"}
        if calls or "arguments" in message:
            for words in statements_in(message):
                statements.setdefault(words[:FEW_WORDS], set()).add(len(words))
                statements.setdefault(words, set())
        spoken = [Utterance("context", text) for text in _contexts_of(message)]
        for speaker, text in utterances:
            is_retrieved = speaker in RETRIEVED
            left = without_statements(statements, text) if is_retrieved else text
            spoken.append(Utterance(speaker, left))
        yield spoken


def _contexts_of(message: Any) -> Iterator[str]:
    """The contexts that a message has in a field of its own, as DeepEval's turns do; or one empty."""
    if isinstance(message, Mapping):
        for key in _CONTEXTS:
            if message.get(key) is not None:
                yield from read_contexts(key, message[key]) or [""]
