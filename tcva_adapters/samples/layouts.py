"""Records as LangSmith, chat logs and DeepEval lay them out, with the fields of a sample at the top."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from tcva_adapters.samples.messages import (
    MESSAGE_FIELDS,
    conversation,
    is_messages,
    text_of_message,
)
from tcva_adapters.samples.names import ALIASES
from tcva_adapters.samples.printed import parsed

_GROUPS: Final = {
    "inputs": "input",
    "input": "input",
    "outputs": "response",
    "output": "response",
    "reference_outputs": "reference",
    "reference": "reference",
}
"""Names of nested objects, and the field that the only entry of one is."""

_ALWAYS: Final = ("inputs", "outputs", "reference_outputs")
"""Those that are never a field themselves; csv files hold them as text."""

_ARGUMENT: Final = "inputs.inputs"
"""Where LangSmith's runs of ``evaluate`` hold the inputs: the traced function's only argument."""

_PLACES: Final = {
    "input": (("input", "input"), ("response", "input")),
    "response": (("response", "response"),),
    "contexts": (("response", "contexts"), ("input", "contexts"), ("reference", "contexts")),
    "reference": (
        ("reference", "reference"),
        ("reference", "response"),
        ("response", "reference"),
        ("input", "reference"),
    ),
}
"""Where a field is looked for: in which nested object, under the names of which field."""

_KNOWN: Final = frozenset(
    {*MESSAGE_FIELDS, *(name for names in ALIASES.values() for name in names)}
)
_RUN_FIELDS: Final = frozenset(
    {"run_type", "trace_id", "start_time", "example_id", "reference_example_id"}
)
_DATASET_FIELDS: Final = frozenset({"actual_output", "source_file", "custom_column_key_values"})

_Parts = dict[str, dict[str, str]]
"""By field that its only entry would be: the entries of a nested object, and their full names."""


def dotted(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record whose nested objects (``inputs``, ``outputs``) are columns with a dot in their name.

    >>> dotted({"inputs": {"question": "Who?"}, "outputs": '{"answer": "Ada."}'})
    {'inputs.question': 'Who?', 'outputs.answer': 'Ada.'}
    """
    flat: dict[str, Any] = {}
    for key, value in record.items():
        name, inner = str(key), value
        if name in _ALWAYS and isinstance(value, str) and value.lstrip().startswith("{"):
            inner = parsed(value.strip())
        if name in _GROUPS and isinstance(inner, Mapping) and text_of_message(inner) is None:
            flat |= {f"{name}.{part}": entry for part, entry in inner.items()}
        else:
            flat[name] = value
    return flat


def values_at(value: Any, path: str) -> list[Any]:
    """What stands at a path: names and places with dots between, in objects, lists or texts of them.

    Returns:
        One value, or none where the path leads nowhere.

    >>> values_at({"choices": [{"text": "Ada."}]}, "choices.0.text"), values_at({"a.b": 1}, "a.b.c")
    (['Ada.'], [])
    """
    if not path:
        return [value]
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        value = parsed(value.strip())
    names = path.split(".")
    if isinstance(value, list | tuple):
        place = next((place for place in range(len(value)) if str(place) == names[0]), None)
        return [] if place is None else values_at(value[place], ".".join(names[1:]))
    if not isinstance(value, Mapping):
        return []
    # A name may have dots of its own, as columns of csv files do: the longest that there is.
    heads = (".".join(names[:end]) for end in range(len(names), 0, -1))
    head = next((head for head in heads if head in value), None)
    return [] if head is None else values_at(value[head], path[len(head) + 1 :])


def flat_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its fields at the top; a field that is there already stays.

    * Nested objects, or columns with a dot: a question is looked for in ``inputs``, an answer in
      ``outputs``, contexts in both, a reference in ``reference_outputs`` or ``reference``. An only
      entry is the field, whatever its name. The outputs of an example of a LangSmith dataset are
      the reference, as LangSmith has it, unless they hold contexts.
    * Messages: see `conversation`. They fill the fields that are not given otherwise.
    * Rows of a DeepEval dataset (csv, jsonl): contexts are parted at ``|``, as DeepEval reads them.

    Raises:
        InvalidSampleError: Something among the messages is none.
    """
    flat = dotted(record)
    if isinstance(arguments := flat.get(_ARGUMENT), Mapping):
        del flat[_ARGUMENT]
        flat = {f"inputs.{name}": value for name, value in arguments.items()} | flat
    flat = {name: None if _is_nan(value) else value for name, value in flat.items()}
    if flat.keys() >= _DATASET_FIELDS:
        for name in ("retrieval_context", "context"):
            if isinstance(joined := flat.get(name), str):
                flat[name] = joined.split("|") if joined else []
    parts = _parts(flat)
    keys = {field: key for field in _PLACES if (key := _key_of(flat, parts, field)) is not None}
    _lift_messages(flat, parts, keys)
    for field, key in keys.items():
        if key not in ALIASES[field]:
            flat[field] = flat.pop(key)
    return flat


def _parts(flat: Mapping[str, Any]) -> _Parts:
    parts: _Parts = {field: {} for field in ("input", "response", "reference")}
    for key in flat:
        group, dot, name = key.partition(".")
        if dot and group in _GROUPS:
            parts[_GROUPS[group]][name] = key
    outputs = parts["response"]
    is_example = "dataset_id" in flat and _RUN_FIELDS.isdisjoint(flat) and not parts["reference"]
    if is_example and outputs.keys().isdisjoint(ALIASES["contexts"]):
        parts["reference"], parts["response"] = outputs, {}
    return parts


def _key_of(flat: Mapping[str, Any], parts: _Parts, field: str) -> str | None:
    """Where a field stands: at the top, or in a nested object."""
    places = [(name, name) for name in ALIASES[field]]
    if field in _GROUPS.values():
        places += [(name, name) for name in _ALWAYS if _GROUPS[name] == field]
    for group, meaning in _PLACES[field]:
        inner = parts[group]
        places += [(name, inner[name]) for name in ALIASES[meaning] if name in inner]
    for _, key in places:
        if flat.get(key) is not None:
            return key
    alone = parts.get(field, {})
    return next(iter(alone.values())) if len(alone) == 1 and _KNOWN.isdisjoint(alone) else None


def _lift_messages(flat: dict[str, Any], parts: _Parts, keys: dict[str, str]) -> None:
    """Fill the fields that are not given from the messages that are."""
    before: list[Any] = []
    after: list[Any] = []
    used = []
    for field, found in (("input", before), ("response", after)):
        value = flat[keys[field]] if field in keys else None
        if (text := text_of_message(value)) is not None:
            flat[keys[field]] = text
        elif is_messages(messages := _listed(value)):
            found.extend(messages)
            used.append(keys.pop(field))
    lacks = not {"input", "response", "contexts"} <= keys.keys()
    for names, found in (
        ({name: name for name in MESSAGE_FIELDS}, before),
        (parts["input"], before),
        (parts["response"], after),
    ):
        for name in filter(names.__contains__, MESSAGE_FIELDS):
            messages = _listed(flat.get(names[name]))
            if (
                lacks
                and isinstance(messages, list)
                and (name == "messages" or is_messages(messages))
            ):
                found.extend(messages)
                used.append(names[name])
    if not used:
        return
    has_question = "input" in conversation(used[-1], after, is_answered=True)
    said = conversation(
        used[0], after if has_question else before + after, is_answered="response" in keys
    )
    for key in used:
        del flat[key]
    flat |= {field: value for field, value in said.items() if field not in keys}


def _is_nan(value: Any) -> bool:
    """Whether this is how data frames say that there is nothing."""
    return isinstance(value, float) and math.isnan(value)


def _listed(value: Any) -> Any:
    """A value; a text that prints a list of objects, as that list."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        return parsed(value.strip())
    return value
