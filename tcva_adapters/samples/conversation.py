"""A conversation as samples: one for each question of the user that the model answered."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from pydantic import Field, ValidationInfo, field_validator

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.fields import ALIASES, parts_of, read_contexts
from tcva_adapters.samples.messages import conversation, said_in
from tcva_adapters.samples.sample import Checked, Sample, Text

LONGEST_HISTORY: Final = 4000
"""Characters of what was said before a question, at most."""

CONVERSATION: Final = "conversation"
"""The metadata of a turn that names its conversation."""

_TURN: Final = "turn"
_CALLED: Final = {"user": "User", "model": "Assistant"}
_UNANSWERED: Final = "no question of the user in it has an answer"

Said = tuple[str, str]
"""Who said something (``user`` or ``model``), and what."""


class Conversation(Checked):
    """Questions of one user and a model's answers, in order.

    Turns get ids (``ID/1``, ``ID/2``), the conversation's metadata, and in their own metadata
    ``conversation`` (its id) and ``turn`` (from 1). A turn without a history has the questions and
    answers of the turns before it for one. The history of a turn never changes when the conversation
    grows: it is the end, 4 000 characters at most, of what was said before its question.

    Attributes:
        id: A name for the conversation.
        metadata: What every turn of it has in its metadata.
        turns: A sample for each question that has an answer, at least one.

    Raises:
        InvalidSampleError: There is no turn, or one is no sample.

    >>> talk = Conversation.from_messages(
    ...     [("user", "Who was Ada?"), ("assistant", "A mathematician."), ("user", "When born?"),
    ...      ("tool", "Ada was born in 1815."), ("assistant", "In 1815.")], id="a",
    ... )
    >>> [(turn.id, turn.input, turn.response, turn.contexts) for turn in talk.turns]
    [('a/1', 'Who was Ada?', 'A mathematician.', ()), ('a/2', 'When born?', 'In 1815.', ('Ada was born in 1815.',))]
    >>> print(talk.turns[1].history)
    User: Who was Ada?
    Assistant: A mathematician.
    """

    refusal = InvalidSampleError

    id: Text | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    turns: tuple[Sample, ...]

    @field_validator("turns")
    @classmethod
    def _as_turns(cls, turns: tuple[Sample, ...], info: ValidationInfo) -> tuple[Sample, ...]:
        if not turns:
            raise ValueError(_UNANSWERED)
        own = info.data.get("id")
        found, said = list[Sample](), list[Said]()
        for number, turn in enumerate(turns, start=1):
            place = {_TURN: number} if own is None else {CONVERSATION: own, _TURN: number}
            metadata = {**info.data.get("metadata", {}), **turn.metadata, **place}
            name = turn.id if own is None else f"{own}/{number}"
            history = turn.history or history_of(said)
            about = {"id": name, "metadata": metadata, "history": history}
            found.append(turn.model_copy(update=about))
            said += [("user", turn.input or ""), ("model", turn.response or "")]
        return tuple(found)

    @classmethod
    def from_messages(
        cls,
        messages: Iterable[Any],
        *,
        contexts: Any = None,
        reference: str | None = None,
        id: str | None = None,  # noqa: A002  # as the field is called
        metadata: Mapping[str, Any] | None = None,
    ) -> Self:
        """A conversation from messages of OpenAI's, Anthropic's, LangChain's or RAGAS' interfaces.

        A turn is a question of the user with the last text of the model before the next question.
        Questions without an answer between them are one. Contexts of a turn are what tools returned
        since its question, and the ``retrieval_context`` (``contexts``, ``retrieved_contexts``) of
        its messages. System messages, thoughts and tool calls are left out, as are questions
        without an answer.

        Args:
            messages: Mappings with a role (or type) and a content, or pairs of a role and a text.
            contexts: One text or a list of texts or documents, for turns that have none of their own.
            reference: The reference answer of the last turn.
            id: A name for the conversation.
            metadata: What every turn has in its metadata.

        Raises:
            InvalidSampleError: Something is no message, or no question has an answer.
        """
        given = None if contexts is None else read_contexts("contexts", contexts)
        turns = turns_of("messages", list(messages), given, reference)
        return cls(turns=turns, id=id, metadata=dict(metadata or {}))


def checked_conversation(given: Any) -> Conversation:
    """A conversation as it is.

    Raises:
        InvalidSampleError: It is something else.
    """
    if not isinstance(given, Conversation):
        msg = (
            f"expected a Conversation, got {type(given).__name__}; "
            "Conversation.from_messages(...) makes one from messages"
        )
        raise InvalidSampleError(msg)
    return given


@dataclass
class _Turn:
    """A question of the user, and what followed.

    Attributes:
        before: How much had been said before it.
        asked: The texts of the question.
        answer: The model's last text.
        returned: Contexts; None where there was no tool and no field for them.
    """

    before: int
    asked: list[str] = field(default_factory=list)
    answer: str = ""
    returned: list[str] | None = None

    def hear(self, speaker: str, text: str) -> None:
        if speaker == "tool" and self.returned is None:
            self.returned = []
        if not text.strip():
            return
        if speaker == "user":
            self.asked.append(text)
        elif speaker == "model":
            self.answer = text
        elif self.returned is not None and speaker == "tool":
            self.returned.append(text)


def turns_of(
    name: str, messages: Sequence[Any], contexts: Sequence[str] | None, reference: str | None
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
    said: list[Said] = []
    turns: list[_Turn] = []
    for number, message in enumerate(messages, start=1):
        entries = said_in(name, number, message)
        for speaker, text in entries:
            # A text beside what tools returned, as Anthropic has it, is no new question.
            is_new = not turns or (turns[-1].answer and len(entries) == 1)
            if speaker == "user" and is_new:
                turns.append(_Turn(len(said)))
            if turns:
                turns[-1].hear(speaker, text)
            if speaker in _CALLED and text.strip():
                said.append((speaker, text))
        for text in _own_contexts(message) if turns else ():
            turns[-1].hear("tool", text)
    if contexts is None and any(turn.returned is not None for turn in turns):
        contexts = ()
    answered = [turn for turn in turns if turn.answer]
    return tuple(
        Sample(
            input="\n\n".join(turn.asked) or None,
            response=turn.answer,
            contexts=contexts if turn.returned is None else turn.returned,
            reference=reference if turn is answered[-1] else None,
            history=history_of(said[: turn.before]),
        )
        for turn in answered
    )


def _own_contexts(message: Any) -> Iterator[str]:
    """The contexts that a message has in a field of its own, as DeepEval's turns do."""
    for key in ALIASES["contexts"] if isinstance(message, Mapping) else ():
        if message.get(key) is not None:
            yield from read_contexts(key, message[key]) or ("",)


def history_of(said: Sequence[Said]) -> str | None:
    """The end of what was said, in whole messages where one fits; None where nothing was.

    >>> print(history_of([("user", "Who?"), ("model", "Ada.")]))
    User: Who?
    Assistant: Ada.
    """
    lines: list[str] = []
    left = LONGEST_HISTORY
    for speaker, text in reversed(said):
        line = f"{_CALLED[speaker]}: {text}"
        if len(line) > left:
            if not lines:
                lines = [f"{_CALLED[speaker]}: ... {text[12 + len(_CALLED[speaker]) - left :]}"]
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(reversed(lines)) or None


def read_item(
    record: Mapping[str, Any], columns: Mapping[str, str], name: str | None = None
) -> Sample | Conversation:
    """What a record has to judge: a conversation's turns, or one sample.

    Messages are a conversation where several questions in them have an answer, and the record has
    no question and no answer beside them. Anything else is read by `Sample.from_record`.

    Args:
        record: The fields by name.
        columns: As for `Sample.from_record`.
        name: The id of a conversation whose record has none.

    Raises:
        InvalidSampleError: As for `Sample.from_record`.
    """
    talk, fields, rest = parts_of(record, columns)
    said: dict[str, Any] = {}
    if talk is not None:
        if not talk.is_answered and "input" not in fields:
            turns = turns_of(*talk[:2], fields.get("contexts"), fields.get("reference"))
            if len(turns) > 1:
                metadata = Sample.of_parts({}, rest).metadata
                return Conversation(turns=turns, id=fields.get("id") or name, metadata=metadata)
        said = conversation(*talk)
    return Sample.of_parts(said | fields, rest)


def add_group(
    groups: list[Hashable], number: int, name: str | None, metadata: Mapping[str, Any]
) -> None:
    """Note what the next sample belongs to: the conversation that it is a turn of, or itself.

    Args:
        groups: Of the samples before it; empty as long as none is a turn.
        number: Its place, from 1.
        name: Its id.
        metadata: Its metadata.
    """
    own, turn = metadata.get(CONVERSATION), metadata.get(_TURN)
    is_turn = isinstance(own, str) and (name or "").startswith(f"{own}/{turn}")
    if is_turn or groups:
        groups += range(len(groups) + 1, number)
        groups.append(own if is_turn else number)
