"""The turns of a conversation: a sample for each question of the user that the model answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tcva_adapters.samples.dialogues import answer_in, spoken
from tcva_adapters.samples.messages import RETRIEVED, Said
from tcva_adapters.samples.sample import Sample

LONGEST_HISTORY: Final = 4000
"""Characters of what was said before a question, at most."""
_CALLED: Final = {"user": "User", "model": "Assistant"}
"""Whose texts are a history, and under which name."""


def turns_of(
    name: str,
    messages: Sequence[Any],
    contexts: Sequence[str] | None,
    reference: str | None,
) -> tuple[Sample, ...]:
    """The questions of the user that the model answered; see `Conversation.from_messages`.

    Args:
        name: The field, for messages.
        messages: Its messages.
        contexts: For turns that have none of their own. Where there are none of these either, but
            some turn has its own, nothing was retrieved for the others.
        reference: Of the last turn.

    Raises:
        InvalidSampleError: Something is no message.
    """
    # What was said before the first question, then question by question; and what is noted of it.
    parts: list[list[Said]] = [[]]
    about: list[dict[str, Any]] = [{}]
    for message, said in zip(messages, spoken(name, messages), strict=True):
        # A text beside what tools returned, as Anthropic has it, is no new question, and questions
        # without an answer between them are one.
        if {*dict(said)} - {"context"} == {"user"} and (
            len(parts) == 1 or _texts(parts[-1], "model")
        ):
            parts.append([])
            about.append({})
        parts[-1] += said
        noted = message.get("metadata") if isinstance(message, Mapping) else None
        about[-1] |= noted if isinstance(noted, Mapping) else {}
    if contexts is None and any(who in RETRIEVED for part in parts for who, _ in part):
        contexts = ()
    turns: list[Sample] = []
    before = parts[0]
    for part, metadata in zip(parts[1:], about[1:], strict=True):
        if answer := answer_in(part):
            *_, end = (
                n
                for n, (who, text) in enumerate(part)
                if who == "model" and text.strip()
            )
            turn = Sample(
                input="\n\n".join(_texts(part, "user")) or None,
                response=answer,
                contexts=_texts(part[:end], *RETRIEVED)
                if any(who in RETRIEVED for who, _ in part)
                else contexts,
                history=history_of(before),
                metadata=metadata,
            )
            turns.append(turn)
        before += part
    if turns and reference is not None:
        turns[-1] = turns[-1].model_copy(update={"reference": reference})
    return tuple(turns)


def _texts(said: Iterable[Said], *speakers: str) -> list[str]:
    return [text for who, text in said if who in speakers and text.strip()]


def history_of(said: Sequence[Said]) -> str | None:
    """The end of what was said, in whole messages where one fits; None where nothing was.

    >>> print(history_of([("user", "Who?"), ("model", "Ada.")]))
    User: Who?
    Assistant: Ada.
    """
    lines: list[str] = []
    left = LONGEST_HISTORY
    for speaker, text in reversed(said):
        if speaker not in _CALLED or not text.strip():
            continue
        line = f"{_CALLED[speaker]}: {text}"
        if len(line) > left:
            lines = lines or [f"... {line[4 - left :]}"]
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(reversed(lines)) or None
