"""The turns of a conversation: a sample for each question of the user that the model answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tcva_adapters.samples.messages import (
    RETRIEVED,
    Utterance,
    answer_in,
    utterances_by_message,
)
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Record

LONGEST_HISTORY = 4000
"""Characters of what was said before a question, at most."""
_CALLED = {"user": "User", "model": "Assistant"}
"""Speakers whose texts make up a history, with their names in it."""


def turns_of(
    name: str,
    messages: Sequence[Any],
    contexts: Sequence[str] | None,
    reference: str | None,
) -> tuple[Sample, ...]:
    """Make a sample of each question that the model answered; see `Conversation.from_messages`.

    Args:
        name: The field, for messages.
        messages: Its messages.
        contexts: Contexts of turns that have none of their own. Without these, if some turn has
            its own, nothing was retrieved for the others.
        reference: The reference answer of the last turn.

    Raises:
        InvalidSampleError: An item is not a message.
    """
    first, *parts = _by_question(name, messages)
    if contexts is None and any(part.has_contexts for part in (first, *parts)):
        contexts = ()
    turns = []
    before = first.utterances
    for part in parts:
        if answer := answer_in(part.utterances):
            turns.append(
                Sample(
                    input="\n\n".join(_texts(part.utterances, "user")) or None,
                    response=answer,
                    contexts=part.contexts if part.has_contexts else contexts,
                    history=history_of(before),
                    metadata=part.metadata,
                )
            )
        before += part.utterances
    if turns and reference is not None:
        turns[-1] = turns[-1].model_copy(update={"reference": reference})
    return tuple(turns)


@dataclass(frozen=True, slots=True)
class _Part:
    """The utterances from one question to the next, and the metadata of their messages."""

    utterances: list[Utterance] = field(default_factory=list)
    metadata: Record = field(default_factory=dict)

    @property
    def has_contexts(self) -> bool:
        """Whether anything was looked up, even if nothing was found."""
        return any(utterance.speaker in RETRIEVED for utterance in self.utterances)

    @property
    def contexts(self) -> list[str]:
        """The texts that were retrieved before the answer."""
        texts = []
        before_answer = []
        for speaker, text in self.utterances:
            if speaker in RETRIEVED and text.strip():
                texts.append(text)
            elif speaker == "model" and text.strip():
                before_answer = [*texts]
        return before_answer


def _by_question(name: str, messages: Sequence[Any]) -> list[_Part]:
    """Split messages into the part before the first question and one part per question."""
    parts = [_Part()]
    for message, utterances in zip(
        messages, utterances_by_message(name, messages), strict=True
    ):
        # A text next to tool outputs, as in Anthropic's messages, is no new question,
        # and questions without an answer between them are one.
        speakers = {utterance.speaker for utterance in utterances} - {"context"}
        is_answered = len(parts) == 1 or _texts(parts[-1].utterances, "model")
        if speakers == {"user"} and is_answered:
            parts.append(_Part())
        parts[-1].utterances.extend(utterances)
        metadata = message.get("metadata") if isinstance(message, Mapping) else None
        if isinstance(metadata, Mapping):
            parts[-1].metadata.update(metadata)
    return parts


def _texts(utterances: Iterable[Utterance], speaker: str) -> list[str]:
    return [text for who, text in utterances if who == speaker and text.strip()]


def history_of(utterances: Sequence[tuple[str, str]]) -> str | None:
    """Write out the end of a dialogue, in whole messages where one fits; None for an empty one.

    >>> print(history_of([("user", "Who?"), ("model", "Ada.")]))
    User: Who?
    Assistant: Ada.
    """
    lines: list[str] = []
    left = LONGEST_HISTORY
    for speaker, text in reversed(utterances):
        if speaker not in _CALLED or not text.strip():
            continue
        line = f"{_CALLED[speaker]}: {text}"
        if len(line) > left:
            lines = lines or [f"... {line[4 - left :]}"]
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(reversed(lines)) or None
