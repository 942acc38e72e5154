"""What flows through a chain, read as a sample: mappings, messages, documents, agent states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.judging.sample import ALIASES, Sample

CRITIC: Final = "tcva"
"""The name of messages that tell a model what was wrong; they are no question of the user's."""

_NAMES: Final = {
    "input": (*ALIASES["input"], "inputs"),
    "response": (*ALIASES["response"], "text", "outputs"),
    "contexts": (*ALIASES["contexts"], "docs"),
    "reference": (*ALIASES["reference"], "reference_output", "reference_outputs"),
}


def as_sample(value: Any) -> Sample:
    """A sample from what a chain, a retriever or an agent passes on.

    A mapping may use the field names of any framework; an agent's ``messages`` give the answer
    (last AI message), the question (last human message before it) and the contexts (tool
    messages), unless named fields say otherwise. A text or a message alone is an answer.

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
    if isinstance(value, Sequence) and value and isinstance(value[0], BaseMessage):
        return Sample.from_record(_conversation(value))
    msg = (
        f"cannot read a {type(value).__name__} as a sample; pass a mapping with the answer under "
        "'response' or 'answer' and the documents under 'contexts' or 'context', or use mapper="
    )
    raise InvalidSampleError(msg)


def run_record(inputs: Any, outputs: Any, reference: Any) -> dict[str, Any]:
    """One record from the inputs, outputs and reference outputs of an evaluated run.

    In a mapping with one entry, that entry is the output or the reference, whatever its name.
    """
    record = dict(inputs) if isinstance(inputs, Mapping) else {"input": inputs}
    # Whatever the inputs call an answer, it is not the one that this run gave.
    record = {name: value for name, value in record.items() if name not in _NAMES["response"]}
    if isinstance(outputs, Mapping):
        known = {"messages", *(name for names in _NAMES.values() for name in names)}
        record |= outputs
        if len(outputs) == 1 and known.isdisjoint(outputs):
            record["response"] = next(iter(outputs.values()))
    else:
        record["response"] = outputs
    if not isinstance(reference, Mapping):
        return record if reference is None else {**record, "reference": reference}
    answer = _first(reference, (*_NAMES["reference"], *_NAMES["response"]))
    if answer is None and len(reference) == 1:
        answer = next(iter(reference.values()))
    if answer is not None:
        record["reference"] = answer
    if _first(record, _NAMES["contexts"]) is None and "messages" not in record:
        record["contexts"] = _first(reference, _NAMES["contexts"])
    return record


def _record(value: Mapping[str, Any]) -> dict[str, Any]:
    messages = value.get("messages")
    record = _conversation(messages) if isinstance(messages, Sequence) else {}
    for field in ("input", "response", "reference"):
        found = _first(value, _NAMES[field])
        if found is not None:
            record[field] = _text(found, is_question=field == "input")
    contexts = _first(value, _NAMES["contexts"])
    if contexts is not None:
        record["contexts"] = _passages(contexts)
    record["id"] = next((v for v in (value.get("id"),) if isinstance(v, str | int)), None)
    return record


def _first(value: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _conversation(messages: Sequence[Any]) -> dict[str, Any]:
    known = convert_to_messages(messages)
    answered = next(
        (i for i in reversed(range(len(known))) if isinstance(known[i], AIMessage)), len(known)
    )
    return {
        "input": _last_text(known[:answered], HumanMessage),
        "response": _last_text(known[answered:], AIMessage),
        "contexts": [_text(m) for m in known if isinstance(m, ToolMessage)],
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
    if isinstance(value, Sequence) and value and isinstance(value[0], BaseMessage):
        return _last_text(value, HumanMessage if is_question else AIMessage)
    return value


def _passages(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return _text(value)
    # Searches with scores return pairs of a document and its score.
    return [_text(item[0] if isinstance(item, tuple) and item else item) for item in value]
