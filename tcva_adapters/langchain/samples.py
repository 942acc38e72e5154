"""What flows through a chain, read as a sample: mappings, messages, documents, agent states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.prompt_values import PromptValue

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.samples.messages import conversation, is_messages, text_of_message
from tcva_adapters.samples.names import ALIASES
from tcva_adapters.samples.sample import Sample

CRITIC: Final = "tcva"
"""The name of messages that tell a model what was wrong; they are no question of the user's."""

_MORE: Final = {"text": "response", "docs": "contexts", "reference_output": "reference"}
"""Names in chains that mean something else in files."""
_NAMES: Final = {
    "input": (*ALIASES["input"], "inputs"),
    "response": (*ALIASES["response"], "text", "outputs"),
    "contexts": (*ALIASES["contexts"], "docs"),
    "reference": (*ALIASES["reference"], "reference_output", "reference_outputs"),
}
_KNOWN: Final = {"messages", *(name for names in _NAMES.values() for name in names)}
_ROLES: Final = ((HumanMessage, "user"), (AIMessage, "assistant"), (ToolMessage, "tool"))


def as_sample(value: Any) -> Sample:
    """A sample from what a chain, a retriever or an agent passes on.

    A mapping may use the field names of any framework; an agent's ``messages`` give the answer
    (last AI message), the question (last human message before it) and the contexts (tool
    messages), unless named fields say otherwise. To a named answer, the question is the last human
    message. An answer may be a list of messages that hold all of it. Entries under ``metadata`` are
    what profiles go by. A text or a message alone is an answer.

    Raises:
        InvalidSampleError: The value, or one of its fields, cannot be read.

    >>> as_sample({"question": "Who?", "answer": AIMessage("Ada."), "docs": ["Ada."]}).response
    'Ada.'
    """
    if isinstance(value, Sample):
        return value
    if isinstance(value, str | BaseMessage):
        return Sample(response=value if isinstance(value, str) else str(value.text))
    if is_messages(_plain(value)):
        value = {"messages": value}
    if not isinstance(value, Mapping):
        msg = (
            f"cannot read a {type(value).__name__} as a sample; pass a mapping with the answer under "
            "'response' or 'answer' and the documents under 'contexts' or 'context', or use mapper="
        )
        raise InvalidSampleError(msg)
    record = _record(value)
    sample = Sample.from_record(record)
    metadata = value.get("metadata")
    # What else a chain hands on is none of the sample's.
    own: dict[str, Any] = {"metadata": dict(metadata) if isinstance(metadata, Mapping) else {}}
    if sample.contexts is None and record["messages"]:
        own["contexts"] = ()  # an agent that used no tool has retrieved nothing
    return sample.model_copy(update=own)


def sample_for(scorer: Scorer[Any], value: Any) -> Sample:
    """A sample with all that a scorer needs.

    Raises:
        InvalidSampleError: The value cannot be read, or a field is missing; of a mapping, the
            message says which names there were and under which one the field is looked for.
    """
    sample = as_sample(value)
    try:
        return scorer.require(sample)
    except InvalidSampleError as error:
        if isinstance(value, str | BaseMessage):
            hint = (
                "the step before passes on its answer alone: keep question and documents beside "
                "it, with RunnablePassthrough.assign(answer=...)"
            )
        elif isinstance(value, Mapping):
            read = ", ".join(known for name in scorer.missing(sample) for known in _NAMES[name])
            found = ", ".join(str(name) for name in value if value[name] is not None) or "none"
            hint = f"names read: {read}; names given: {found:.200}; mapper= reads any other"
        else:
            raise
        msg = f"{error}; {hint}"
        raise InvalidSampleError(msg) from None


def run_record(inputs: Any, outputs: Any, reference: Any) -> dict[str, Any]:
    """One record from the inputs, outputs and reference outputs of an evaluated run.

    In a mapping with one entry, that entry is the output or the reference, whatever its name. What
    the inputs call an answer, and answers in their messages, are not the one that this run gave.

    Raises:
        InvalidSampleError: Something among the messages is none.
    """
    name = "messages" if is_messages(_plain(inputs)) else "input"
    given: Mapping[str, Any] = inputs if isinstance(inputs, Mapping) else {name: inputs}
    record = {name: given[name] for name in given if name not in _NAMES["response"]}
    history = _messages({"messages": record.pop("messages", None)})
    if isinstance(outputs, Mapping):
        record.update(outputs)
        if (only := _only_entry(outputs)) is not None:
            record["response"] = only
    else:
        record["response"] = outputs
    if new := _messages(record):
        has_question = "input" in conversation("messages", new, is_answered=True)
        record["messages"] = new if has_question else [*history, *new]
    else:
        found = conversation("messages", history, is_answered=True)
        _fill(record, {name: found.get(name) for name in ("input", "contexts")})
    if not isinstance(reference, Mapping):
        return record if reference is None else {**record, "reference": reference}
    said = conversation("messages", _messages(reference))
    answer = _first(reference, (*_NAMES["reference"], *_NAMES["response"]))
    found = {"reference": answer, "only": _only_entry(reference), "said": said.get("response")}
    if (right := _first(found, found)) is not None:
        record["reference"] = right
    if "messages" not in record:
        _fill(record, {"contexts": _first(reference, _NAMES["contexts"])})
    return record


def _fill(record: dict[str, Any], found: Mapping[str, Any]) -> None:
    """Add fields that a record has under none of their names."""
    for field, value in found.items():
        if value is not None and _first(record, _NAMES[field]) is None:
            record[field] = value


def _first(value: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _only_entry(value: Mapping[str, Any]) -> Any:
    """The only entry of a mapping, if its name means nothing else."""
    return next(iter(value.values())) if len(value) == 1 and _KNOWN.isdisjoint(value) else None


def _record(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a sample in it, as files hold them."""
    record: dict[str, Any] = {"messages": _messages(value)}
    if type(value.get("id")) in {str, int}:
        record["id"] = value["id"]
    for names in _NAMES.values():
        name = next((name for name in names if value.get(name) is not None), None)
        if name is not None:
            record[_MORE.get(name, name)] = _plain(value[name])
    reference = _first(record, _NAMES["reference"])
    if is_messages(reference):
        record["reference"] = conversation("reference", reference).get("response")
    return record


def _messages(value: Mapping[str, Any]) -> list[Any]:
    """The messages under that name; none where it holds something else, such as a text."""
    found = _plain(value.get("messages"))
    return found if isinstance(found, list) else []


def _plain(value: Any) -> Any:
    """LangChain's objects as files hold them, and lists of them; anything else unchanged."""
    if isinstance(value, BaseMessage):
        role = next((role for kind, role in _ROLES if isinstance(value, kind)), "system")
        return {"role": role, "content": str(value.text), "name": value.name}
    if isinstance(value, PromptValue):
        return value.to_string()
    if isinstance(value, Document):
        return {"page_content": value.page_content}
    if isinstance(value, list | tuple):
        return [item for item in map(_plain_item, value) if not _is_criticism(item)]
    return value


def _is_criticism(item: Any) -> bool:
    named = isinstance(item, Mapping) and item.get("name") == CRITIC
    return named and text_of_message(item) is not None


def _plain_item(item: Any) -> Any:
    if not isinstance(item, tuple):
        return _plain(item)
    # Searches with scores return pairs of a document and its score. Of two texts, such as a title
    # and a passage, neither can be left out; among messages they are a role and what is said.
    return item if all(isinstance(part, str) for part in item) else _plain(item[0])
