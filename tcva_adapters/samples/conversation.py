"""The class `Conversation`, with ids, histories and earlier contexts; `turns` splits its messages."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

from pydantic import Field, ValidationInfo, field_validator

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.contexts import read_contexts
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.messages import Utterance, as_mapping, is_messages
from tcva_adapters.samples.sample import Checked, Sample, Text, is_one
from tcva_adapters.samples.turns import history_of, turns_of

CONVERSATION = "conversation"
"""The key in a turn's metadata under which the id of its conversation stands."""

_TURN = "turn"

UNANSWERED = "no message of the user is followed by an answer of the assistant"


class Conversation(Checked):
    """Questions of one user and a model's answers, in order.

    Turns get ids (``ID/1``, ``ID/2``), the conversation's metadata, and in their own metadata
    ``conversation`` (its id) and ``turn`` (from 1). A turn without a history gets the questions
    and answers of the turns before it. The history of a turn never changes when the conversation
    grows: it is the end, 4 000 characters at most, of what was said before its question. A turn
    without contexts has those of the turns before it as ``earlier_contexts``.

    Attributes:
        id: A name for the conversation.
        metadata: Metadata that every turn gets.
        turns: A sample for each question that has an answer, at least one.

    Raises:
        InvalidSampleError: There is no turn, or one is not a sample.

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
    metadata: Json = Field(default_factory=dict)
    turns: tuple[Sample, ...]

    @field_validator("turns")
    @classmethod
    def _as_turns(
        cls, turns: tuple[Sample, ...], info: ValidationInfo
    ) -> tuple[Sample, ...]:
        if not turns:
            raise ValueError(UNANSWERED)
        conversation = info.data.get("id")
        placed = []
        before: list[Utterance] = []
        contexts: list[str] = []
        for number, turn in enumerate(turns, start=1):
            name = turn.id
            metadata = {**info.data.get("metadata", {}), **turn.metadata}
            if conversation is not None:
                name = f"{conversation}/{number}"
                metadata[CONVERSATION] = conversation
            earlier = turn.earlier_contexts or tuple(contexts) or None
            placed.append(
                turn.model_copy(
                    update={
                        "id": name,
                        "metadata": {**metadata, _TURN: number},
                        "history": turn.history or history_of(before),
                        "earlier_contexts": None if turn.contexts else earlier,
                    }
                )
            )
            contexts += turn.contexts or ()
            before += [
                Utterance("user", turn.input or ""),
                Utterance("model", turn.response or ""),
            ]
        return tuple(placed)

    @classmethod
    def from_messages(
        cls,
        messages: Iterable[Any],
        *,
        contexts: Any = None,
        reference: str | None = None,
        id: str | None = None,  # noqa: A002  # as the field is called
        metadata: Json | None = None,
    ) -> Self:
        """Read messages of OpenAI, Anthropic, LangChain, LlamaIndex, RAGAS or DeepEval.

        A turn is a question of the user with the model's answer: its last text before the next
        question, with the texts right before it. Its text before a tool call is history.
        Questions without an answer between them are one. Contexts of a turn are what tools returned
        between its question and its answer, and the ``retrieval_context`` (``contexts``,
        ``retrieved_contexts``) of its messages, whose ``metadata`` is the turn's, too. Statements
        that a tool repeats from its arguments are left out, since the model wrote them, as are
        system messages, thoughts, tool calls, and questions without an answer.

        Args:
            messages: Mappings or objects with a role (or type) and a content, or pairs of a role
                and a text.
            contexts: One text or a list of texts or documents, for turns that have none of their own.
            reference: The reference answer of the last turn.
            id: A name for the conversation.
            metadata: Metadata that every turn gets.

        Raises:
            InvalidSampleError: An item is not a message, or no question has an answer.
        """
        if is_one(messages):
            kind = type(messages).__name__
            raise InvalidSampleError(
                f"a conversation must be a list of messages, got {kind} {messages!r:.60}"
            )
        turns = turns_of(
            "messages",
            [*map(as_mapping, messages)],
            contexts=None if contexts is None else read_contexts("contexts", contexts),
            reference=reference,
        )
        return cls(turns=turns, id=id, metadata=metadata or {})


def as_conversation(value: Any) -> Conversation:
    """Return a conversation as it is, or make one of messages."""
    if isinstance(value, Conversation):
        return value
    return Conversation.from_messages(value)


def as_conversations(values: Iterable[Any]) -> list[Conversation]:
    """Return conversations as they are, or make them of messages.

    Raises:
        InvalidSampleError: One of them is not a conversation, or only one is given.
    """
    if not is_one(values):
        conversations = [*values]
        if not is_messages([*map(as_mapping, conversations)]):
            return [*map(as_conversation, conversations)]
    kind = type(values).__name__
    raise InvalidSampleError(
        f"expected several conversations, got one {kind}; evaluate_conversation judges one"
    )


def add_group(
    groups: list[Hashable],
    number: int,
    conversation: Hashable | None,
) -> None:
    """Append the group of the next sample to a list: its conversation, or its own number.

    Args:
        groups: The groups of the samples before it, which is changed; empty as long as none is a
            turn.
        number: The number of the sample, from 1.
        conversation: The id of its conversation; None for a sample that is no turn.
    """
    if conversation is not None or groups:
        groups += range(len(groups) + 1, number)
        groups.append(number if conversation is None else conversation)


def conversation_of(name: str | None, metadata: Fields) -> str | None:
    """The id of the conversation that a sample is a turn of; None for any other sample.

    Args:
        name: The sample's id; a number may have been added to it.
        metadata: Its metadata.
    """
    conversation = metadata.get(CONVERSATION)
    place = f"{conversation}/{metadata.get(_TURN)}"
    is_turn = conversation is not None and (name or "").startswith(place)
    return conversation if is_turn else None
