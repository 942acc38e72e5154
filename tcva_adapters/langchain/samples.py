"""Samples from the data of chains: mappings, messages, documents, agent states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import lacks
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.samples.field_names import ALIASES
from tcva_adapters.samples.fields import flattened, parts_of
from tcva_adapters.samples.messages import is_messages
from tcva_adapters.samples.sample import Sample

CRITIC: Final = "tcva"
"""The name of messages that tell a model what was wrong; they are no question of the user's."""

_NAMES: Final = {
    **{name: name for field in ALIASES if field != "id" for name in ALIASES[field]},
    **{
        name: name
        for name in ("id", "messages", "inputs", "outputs", "reference_outputs")
    },
    # In files these may be anything; all others come before them.
    "text": ALIASES["response"][-1],
    "docs": ALIASES["contexts"][-1],
}
"""What is read of a mapping, and under which name."""

_ROLES: Final = (
    (HumanMessage, "user"),
    (AIMessage, "assistant"),
    (ToolMessage, "tool"),
)


def as_sample(value: Any) -> Sample:
    """A sample from the output of a chain, a retriever or an agent.

    A mapping is read as `Sample.from_record` reads records; it may hold LangChain's messages and
    documents. An agent's ``messages`` give the answer (last AI message), the question (last human
    message before it) and the contexts (tool messages), unless named fields give them. The mapping's
    ``metadata`` selects a profile; other entries are left out. A single text or message is an
    answer.

    Raises:
        InvalidSampleError: The value, or one of its fields, cannot be read.

    >>> as_sample({"question": "Who?", "answer": AIMessage("Ada."), "docs": ["Ada."]}).response
    'Ada.'
    """
    if isinstance(value, Sample):
        return value
    if isinstance(value, str | BaseMessage):
        return Sample(response=value if isinstance(value, str) else str(value.text))
    record, metadata = _record_of(value)
    sample = Sample.from_record(record)
    own: dict[str, Any] = {"metadata": metadata}
    if sample.contexts is None and isinstance(record.get("messages"), list):
        own["contexts"] = ()  # an agent that used no tool has retrieved nothing
    return sample.model_copy(update=own)


def as_conversation(value: Any) -> Conversation:
    """A conversation from messages: a list of them, an agent's state, or the data of a run.

    A mapping may have ``contexts`` for turns without tool messages, an answer to the messages with
    its own contexts instead, a ``reference`` for the last turn, an ``id`` and ``metadata``.

    Raises:
        InvalidSampleError: The value, or one of its messages, cannot be read, or no question in it
            has an answer.

    >>> talk = [("user", "Who?"), ("assistant", "Ada."), ("user", "When?"), AIMessage("In 1815.")]
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
        msg = f"the input must have messages, got {', '.join(map(str, value)) or 'no field'}"
        raise InvalidSampleError(msg)
    said, contexts = (
        [] if talk is None else [*talk.messages],
        fields.get("contexts", ()),
    )
    if "input" in fields:
        said.append({"role": "user", "content": fields["input"]})
    if "response" in fields:  # what was retrieved was so for it
        said.append(
            {
                "role": "assistant",
                "content": fields["response"],
                "contexts": contexts,
            }
        )
        contexts = ()
    about: Any = {name: fields.get(name) for name in ("reference", "id")}
    return Conversation.from_messages(
        said,
        contexts=contexts,
        metadata=metadata,
        **about,
    )


def _record_of(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The record and the metadata in what a chain, a retriever or an agent returned."""
    if isinstance(value, Mapping):
        named = {name: entry for name, entry in value.items() if name in _NAMES}
        metadata = value.get("metadata")
        record = {_NAMES[name]: _plain(entry) for name, entry in named.items()}
        return record, dict(metadata) if isinstance(metadata, Mapping) else {}
    if is_messages(talk := _plain(value)):
        return {"messages": talk}, {}
    msg = f"give a mapping or a list of messages, got {type(value).__name__}; mapper= can make one"
    raise InvalidSampleError(msg)


def sample_for(scorer: Any, value: Any, read: Callable[[Any], Any] = as_sample) -> Any:
    """A sample, or what else a scorer judges, with all that it needs.

    Args:
        scorer: The scorer, or `OfConversations`.
        value: The output of the previous step.
        read: Makes a sample of it, or a conversation.

    Raises:
        InvalidSampleError: The value cannot be read, or a field is missing; the message lists the
            names that were given.
    """
    sample = read(value)
    missing = scorer.missing(sample)
    if missing:
        has = (
            flattened(value)
            if isinstance(value, Mapping)
            else {f"a {type(value).__name__}": 1}
        )
        found = ", ".join(name for name, each in has.items() if each is not None)
        msg = (
            f"{lacks('the input', missing, scorer.subject)}; the evaluator was given {found:.200}. "
            f"Add {' and '.join(missing)} (RunnablePassthrough.assign keeps all fields), or read "
            "other names with mapper="
        )
        raise InvalidSampleError(msg)
    return sample


def _plain(value: Any) -> Any:
    """LangChain's objects as files hold them, also in lists and mappings; all else unchanged."""
    match value:
        case BaseMessage():
            roles = (
                role
                for kind, role in _ROLES
                if isinstance(value, kind) and value.name != CRITIC
            )
            role = next(roles, "system")
            calls = getattr(value, "tool_calls", None)
            return {
                "role": role,
                "content": str(value.text),
                "tool_calls": calls,
            }
        case (Document() as found) | (
            Document() as found,
            float(),
        ):  # of searches with scores
            return {"page_content": found.page_content}
        case Mapping():
            return {name: _plain(entry) for name, entry in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
    return value
