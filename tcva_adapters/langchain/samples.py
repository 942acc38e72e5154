"""What flows through a chain, read as a sample: mappings, messages, documents, agent states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.samples.names import ALIASES
from tcva_adapters.samples.sample import Sample

CRITIC: Final = "tcva"
"""The name of messages that tell a model what was wrong; they are no question of the user's."""

_NAMES: Final = {
    "input": (*ALIASES["input"], "inputs"),
    "response": (*ALIASES["response"], "text", "outputs"),
    "contexts": (*ALIASES["contexts"], "docs"),
    "reference": (*ALIASES["reference"], "reference_output", "reference_outputs"),
}

_KNOWN: Final = frozenset({"messages", *(name for names in _NAMES.values() for name in names)})


def as_sample(value: Any) -> Sample:
    """A sample from what a chain, a retriever or an agent passes on.

    A mapping may use the field names of any framework; an agent's ``messages`` give the answer
    (last AI message), the question (last human message before it) and the contexts (tool
    messages), unless named fields say otherwise. To a named answer, the question is the last human
    message. An answer may be a list of messages that hold all of it. Entries under ``metadata`` are what profiles go by. A text or a message alone is an
    answer.

    Raises:
        InvalidSampleError: The value, or one of its fields, cannot be read.

    >>> as_sample({"question": "Who?", "answer": AIMessage("Ada."), "docs": ["Ada."]}).response
    'Ada.'
    """
    if isinstance(value, Sample):
        return value
    if isinstance(value, str | BaseMessage):
        return Sample(response=_text(value))
    if isinstance(value, Mapping):
        return Sample.from_record(_record(value))
    if _is_conversation(value):
        return Sample.from_record(_conversation(_messages(value)))
    msg = (
        f"cannot read a {type(value).__name__} as a sample; pass a mapping with the answer under "
        "'response' or 'answer' and the documents under 'contexts' or 'context', or use mapper="
    )
    raise InvalidSampleError(msg)


@contextmanager
def sample_for(scorer: Scorer[Any], value: Any) -> Iterator[Sample]:
    """A sample for a scorer, which is asked inside.

    Raises:
        InvalidSampleError: The value cannot be read, or a field is missing; of a mapping, the
            message says which names there were and under which one the field is looked for.
    """
    sample = as_sample(value)
    try:
        yield sample
    except InvalidSampleError as error:
        if isinstance(value, str | BaseMessage):
            msg = (
                f"{error}; the step before passes on its answer alone: keep question and documents "
                "beside it, with RunnablePassthrough.assign(answer=...)"
            )
            raise InvalidSampleError(msg) from None
        if not isinstance(value, Mapping):
            raise
        read = ", ".join(known for name in scorer.missing(sample) for known in _NAMES[name])
        found = ", ".join(str(name) for name in value if value[name] is not None) or "none"
        msg = f"{error}; names read: {read}; names given: {found:.200}; mapper= reads any other"
        raise InvalidSampleError(msg) from None


def run_record(inputs: Any, outputs: Any, reference: Any) -> dict[str, Any]:
    """One record from the inputs, outputs and reference outputs of an evaluated run.

    In a mapping with one entry, that entry is the output or the reference, whatever its name. What
    the inputs call an answer, and answers in their messages, are not the one that this run gave.
    """
    given: Any = {"messages": inputs} if _is_conversation(inputs) else inputs
    record: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {"input": given}
    record = {name: value for name, value in record.items() if name not in _NAMES["response"]}
    before = _messages(record.pop("messages", None))
    if isinstance(outputs, Mapping):
        record |= outputs
        if (sole := _sole_entry(outputs)) is not None:
            record["response"] = sole
    else:
        record["response"] = outputs
    _add_history(record, before)
    if not isinstance(reference, Mapping):
        return record if reference is None else {**record, "reference": reference}
    answer = _first(reference, (*_NAMES["reference"], *_NAMES["response"]))
    if answer is None:
        answer = _sole_entry(reference)
    if answer is None:
        answer = _last_text(_messages(reference.get("messages")), AIMessage)
    if answer is not None:
        record["reference"] = answer
    if _first(record, _NAMES["contexts"]) is None and "messages" not in record:
        record["contexts"] = _first(reference, _NAMES["contexts"])
    return record


def _sole_entry(value: Mapping[str, Any]) -> Any:
    """The only entry of a mapping, if its name means nothing else."""
    return next(iter(value.values())) if len(value) == 1 and _KNOWN.isdisjoint(value) else None


def _add_history(record: dict[str, Any], before: list[BaseMessage]) -> None:
    """Add what a run was asked and had found before, out of the messages that it was given."""
    after = _messages(record.get("messages"))
    if after:
        if not any(isinstance(message, HumanMessage) for message in after):
            record["messages"] = [*before, *after]
        return
    found = _conversation(before, is_answered=True)
    for field in ("input", "contexts"):
        if found[field] and _first(record, _NAMES[field]) is None:
            record[field] = found[field]


def _record(value: Mapping[str, Any]) -> dict[str, Any]:
    messages = _messages(value.get("messages"))
    answer = _first(value, _NAMES["response"])
    record = _conversation(messages, is_answered=answer is not None) if messages else {}
    if not messages and _is_conversation(answer):
        # What was asked and found stands in it; where it holds no documents, others may.
        record = {n: found for n, found in _conversation(_messages(answer)).items() if found}
    for field in ("input", "response", "reference"):
        found = _first(value, _NAMES[field])
        if found is not None:
            record[field] = _text(found, is_question=field == "input")
    contexts = _first(value, _NAMES["contexts"])
    if contexts is not None:
        record["contexts"] = _passages(contexts)
    metadata = value.get("metadata")
    record["metadata"] = dict(metadata) if isinstance(metadata, Mapping) else {}
    given = value.get("id")
    record["id"] = given if isinstance(given, str | int) and not isinstance(given, bool) else None
    return record


def _first(value: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _is_conversation(value: Any) -> bool:
    """Whether these are messages, be they objects or the mappings that chat interfaces take."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return False
    first = value[0]
    return isinstance(first, BaseMessage) or (
        isinstance(first, Mapping) and {"role", "content"} <= first.keys()
    )


def _messages(value: Any) -> list[BaseMessage]:
    """The messages under that name; none where it holds something else, such as a text."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    try:
        return convert_to_messages(value)
    except Exception as error:
        # LangChain raises whatever the entry's own fault leads to.
        msg = f"field 'messages' holds what is no message: {str(error).partition(chr(10))[0]}"
        raise InvalidSampleError(msg) from error


def _conversation(messages: list[BaseMessage], *, is_answered: bool = False) -> dict[str, Any]:
    """Question, answer and contexts; where the answer is elsewhere, the last question is its own."""
    answers = [i for i, message in enumerate(messages) if isinstance(message, AIMessage)]
    answered = len(messages) if is_answered or not answers else answers[-1]
    return {
        "input": _last_text(messages[:answered], HumanMessage),
        "response": _last_text(messages[answered:], AIMessage),
        "contexts": [_text(m) for m in messages if isinstance(m, ToolMessage)],
    }


def _last_text(messages: Sequence[BaseMessage], kind: type[BaseMessage]) -> str | None:
    found = (m for m in reversed(messages) if isinstance(m, kind) and m.name != CRITIC)
    message = next(found, None)
    return None if message is None else _text(message)


def _text(value: Any, *, is_question: bool = False) -> Any:
    """The text of a message, a prompt or a conversation; anything else unchanged."""
    if isinstance(value, BaseMessage):
        return str(value.text)
    if isinstance(value, PromptValue):
        return value.to_string()
    if _is_conversation(value):
        return _last_text(_messages(value), HumanMessage if is_question else AIMessage)
    return value


def _passages(value: Any) -> Any:
    if isinstance(value, Document):  # which is iterable: over its fields
        return [value]
    if not isinstance(value, list | tuple):
        return _text(value)
    return [_text(item[0] if _is_scored(item) else item) for item in value]


def _is_scored(item: Any) -> bool:
    """Whether this is a pair of a document and its score, as searches with scores return them."""
    # Of two texts, such as a title and a passage, neither can be left out.
    return isinstance(item, tuple) and not all(isinstance(part, str) for part in item)
