"""Read samples from the data of chains: mappings, messages, documents, agent states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from tcva_adapters._adapter.conversation import ConversationScorer
from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import AnyScorer, lacks
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.samples.fields import ALIASES, KNOWN, flatten, parts_of
from tcva_adapters.samples.messages import is_messages
from tcva_adapters.samples.sample import Sample

S = TypeVar("S", Sample, Conversation)

CRITIC = "tcva"
"""The name of messages that say to a model what was wrong; they are not questions of the user."""

_NAMES = {
    **{name: name for name in KNOWN.difference(ALIASES["id"])},
    "id": "id",
    "inputs": "inputs",
    "outputs": "outputs",
    "reference_outputs": "reference_outputs",
    # In files these names may mean anything, so all others come first.
    "text": ALIASES["response"][-1],
    "docs": ALIASES["contexts"][-1],
}
"""The entries of a mapping that are read, with the names under which they are read."""


def as_sample(value: object) -> Sample:
    """Read a sample from the output of a chain, a retriever or an agent.

    A mapping is read as `Sample.from_record` reads records; it may hold LangChain's messages and
    documents. An agent's ``messages`` give the answer (last AI message), the question (last human
    message before it) and the contexts (tool messages), unless named fields give them. The mapping's
    ``metadata`` selects a profile; other entries are left out. A single text or message is an
    answer.

    Raises:
        InvalidSampleError: The value, or one of its fields, cannot be read.

    >>> from langchain_core.messages import AIMessage
    >>> as_sample({"question": "Who?", "answer": AIMessage("Ada."), "docs": ["Ada."]}).response
    'Ada.'
    """
    if isinstance(value, Sample):
        return value
    if isinstance(value, str | BaseMessage):
        return Sample(response=value if isinstance(value, str) else str(value.text))
    record, metadata = _record_of(value)
    sample = Sample.from_record(record)
    update: Arguments = {"metadata": metadata}
    if sample.contexts is None and isinstance(record.get("messages"), list):
        update["contexts"] = ()  # an agent that used no tool has retrieved nothing
    return sample.model_copy(update=update)


def as_conversation(value: Any) -> Conversation:
    """Read a conversation from messages: a list of them, an agent's state, or the data of a run.

    A mapping may have ``contexts`` for turns without tool messages, an answer to the messages with
    its own contexts instead, a ``reference`` for the last turn, an ``id`` and ``metadata``.

    Raises:
        InvalidSampleError: The value, or one of its messages, cannot be read, or no question in it
            has an answer.

    >>> talk = [("user", "Who?"), ("assistant", "Ada."), ("user", "When?"), ("ai", "In 1815.")]
    >>> [turn.response for turn in as_conversation(talk).turns]
    ['Ada.', 'In 1815.']
    """
    if isinstance(value, Conversation):
        return value
    record, metadata = _record_of(
        {"messages": value} if isinstance(value, list | tuple) else value
    )
    talk, fields, _ = parts_of(record, {})
    if talk is None and "response" not in fields:
        raise InvalidSampleError(
            f"the input must have messages, got {', '.join(map(str, value)) or 'no field'}"
        )
    messages = [] if talk is None else [*talk.messages]
    contexts = fields.get("contexts", ())
    if "input" in fields:
        messages.append({"role": "user", "content": fields["input"]})
    if "response" in fields:  # the contexts were retrieved for this answer
        messages.append(
            {"role": "assistant", "content": fields["response"], "contexts": contexts}
        )
        contexts = ()
    return Conversation.from_messages(
        messages,
        contexts=contexts,
        metadata=metadata,
        reference=fields.get("reference"),
        id=fields.get("id"),
    )


def _record_of(value: object) -> tuple[Arguments, Arguments]:
    """Return the record and the metadata in the output of a chain, a retriever or an agent."""
    if isinstance(value, Mapping):
        record = {
            _NAMES[name]: _plain(entry)
            for name, entry in value.items()
            if name in _NAMES
        }
        metadata = value.get("metadata")
        return record, dict(metadata) if isinstance(metadata, Mapping) else {}
    messages = _plain(value)
    if is_messages(messages):
        return {"messages": messages}, {}
    raise InvalidSampleError(
        f"give a mapping or a list of messages, got {type(value).__name__}; mapper= can make one"
    )


def sample_for(
    scorer: AnyScorer | ConversationScorer, value: object, read: Callable[[object], S]
) -> S:
    """Read a sample or a conversation, and check that it has all that the scorer needs.

    Args:
        scorer: The scorer, or `ConversationScorer`.
        value: The output of the previous step.
        read: Reads a sample or a conversation from the value.

    Raises:
        InvalidSampleError: The value cannot be read, or a field is missing; the message lists the
            names that were given.
    """
    sample = read(value)
    missing = scorer.missing(sample)  # type: ignore[arg-type]  # it judges what is read
    if missing:
        names = f"a {type(value).__name__}"
        if isinstance(value, Mapping):
            names = ", ".join(
                name for name, entry in flatten(value).items() if entry is not None
            )
        raise InvalidSampleError(
            f"{lacks('the input', missing, scorer.subject)}; the evaluator was given {names:.200}. "
            f"Add {' and '.join(missing)} (RunnablePassthrough.assign keeps all fields; in a "
            "stream, RunnableLambda(agent.invoke) gives an agent's state), or read other names with mapper="
        )
    return sample


def _plain(value: object) -> Any:
    """Return documents (also of searches with scores) and critiques in the form that files have."""
    match value:
        case BaseMessage() if value.name == CRITIC:
            return {"role": "system", "content": str(value.text)}
        case (Document() as document) | (Document() as document, float()):
            name = document.id or document.metadata.get("id")
            return {"page_content": document.page_content, "id": name}
        case Mapping():
            return {name: _plain(entry) for name, entry in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
    return value
