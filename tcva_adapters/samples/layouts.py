"""Records as LangSmith, chat logs and DeepEval lay them out, with the fields of a sample at the top."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tcva_adapters.samples.messages import (
    MESSAGE_FIELDS,
    conversation,
    is_messages,
    text_of_message,
)
from tcva_adapters.samples.names import ALIASES
from tcva_adapters.samples.printed import parsed

_IN: Final = ("inputs", "input")
_OUT: Final = ("outputs", "output")
_RIGHT: Final = ("reference_outputs", "reference")
_GROUPS: Final = {"input": _IN, "response": _OUT, "reference": _RIGHT}
"""Names of nested objects, by the field that the only entry of one is."""

_NESTED: Final = {*_IN, *_OUT, *_RIGHT}
_ALWAYS: Final = ("inputs", "outputs", "reference_outputs")
"""Those that are never a field themselves; csv files hold them as text."""


def _inside(groups: Iterable[str], field: str) -> list[str]:
    return [f"{group}.{name}" for group in groups for name in ALIASES[field]]


_KEYS: Final = {
    "input": [*ALIASES["input"], "inputs", *_inside((*_IN, *_OUT), "input")],
    "response": [*ALIASES["response"], "outputs", *_inside(_OUT, "response")],
    "contexts": [*ALIASES["contexts"], *_inside((*_OUT, *_IN, *_RIGHT), "contexts")],
    "reference": [
        *(*ALIASES["reference"], "reference_outputs", *_inside(_RIGHT, "reference")),
        *(*_inside(_RIGHT, "response"), *_inside((*_OUT, *_IN), "reference")),
    ],
}
"""Where each field is looked for, in this order."""

_MESSAGES: Final = [
    *MESSAGE_FIELDS,
    *(f"{group}.{name}" for group in (*_IN, *_OUT) for name in MESSAGE_FIELDS),
]
_KNOWN: Final = {*MESSAGE_FIELDS, *(name for names in ALIASES.values() for name in names)}
_RUN_FIELDS: Final = ("run_type", "trace_id", "start_time", "example_id", "reference_example_id")
_DATASET_FIELDS: Final = {"actual_output", "source_file", "custom_column_key_values"}


def dotted(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record whose nested objects (``inputs``, ``outputs``) are columns with a dot in their name.

    >>> dotted({"inputs": {"question": "Who?"}, "outputs": '{"answer": "Ada."}'})
    {'inputs.question': 'Who?', 'outputs.answer': 'Ada.'}
    """
    flat: dict[str, Any] = {}
    for key, value in record.items():
        name, inner = str(key), value
        if name in _ALWAYS and isinstance(value, str):
            inner = parsed(value.strip())
        if name in _NESTED and isinstance(inner, Mapping) and text_of_message(inner) is None:
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
    if isinstance(value, str):
        value = parsed(value.strip())
    if isinstance(value, list | tuple):
        value = {str(place): item for place, item in enumerate(value)}
    if not isinstance(value, Mapping):
        return []
    # A name may have dots of its own, as columns of csv files do: the longest that there is.
    names = path.split(".")
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
    flat = {name: None if _is_nan(value) else value for name, value in dotted(record).items()}
    if isinstance(
        arguments := flat.get("inputs.inputs"), Mapping
    ):  # the traced function's only one
        del flat["inputs.inputs"]
        flat = {f"inputs.{name}": value for name, value in arguments.items()} | flat
    if flat.keys() >= _DATASET_FIELDS:
        for name in ("retrieval_context", "context"):
            if isinstance(joined := flat.get(name), str):
                flat[name] = joined.split("|") if joined else []
    if _is_example(flat):
        flat = {name.replace("outputs.", "reference_outputs.", 1): flat[name] for name in flat}
    keys = {field: key for field in _KEYS if (key := _key_of(flat, field)) is not None}
    _lift_messages(flat, keys)
    for field, key in keys.items():
        if key not in ALIASES[field]:
            flat[field] = flat.pop(key)
    return flat


def _is_example(flat: Mapping[str, Any]) -> bool:
    """Whether this is an example of a LangSmith dataset, without what an application answered."""
    has_others = any(name in flat for name in (*_RUN_FIELDS, *_inside(_OUT, "contexts")))
    has_reference = any(name.startswith("reference") for name in flat)
    return "dataset_id" in flat and not has_others and not has_reference


def _key_of(flat: Mapping[str, Any], field: str) -> str | None:
    """Where a field stands: at the top, or in a nested object."""
    found = next((key for key in _KEYS[field] if flat.get(key) is not None), None)
    if found is not None or field not in _GROUPS:
        return found
    inner = [key for key in flat if key.partition(".")[0] in _GROUPS[field] and "." in key]
    is_only = len(inner) == 1 and inner[0].partition(".")[2] not in _KNOWN
    return inner[0] if is_only else None


def _lift_messages(flat: dict[str, Any], keys: dict[str, str]) -> None:
    """Fill the fields that are not given from the messages that are."""
    before: list[Any] = []
    after: list[Any] = []
    used = []
    for field, found in (("input", before), ("response", after)):
        value = _listed(flat.get(keys.get(field, "")))
        if (text := text_of_message(value)) is not None:
            flat[keys[field]] = text
        elif is_messages(value):
            found.extend(value)
            used.append(keys.pop(field))
    if not {"input", "response", "contexts"} <= keys.keys():
        for key in _MESSAGES:
            value = _listed(flat.get(key))
            if isinstance(value, list) and (key.endswith("messages") or is_messages(value)):
                talk = after if key.startswith(_OUT) else before
                talk.extend(value)
                used.append(key)
    if not used:
        return
    has_question = "input" in conversation(used[-1], after, is_answered=True)
    talk = after if has_question else before + after
    # Where outputs are there, what was said before them is no answer of theirs.
    has_outputs = any(name.startswith(_OUT) for name in flat)
    is_answered = "response" in keys or (has_outputs and not after)
    said = conversation(used[0], talk, is_answered=is_answered)
    for key in used:
        del flat[key]
    flat |= {field: value for field, value in said.items() if field not in keys}


def _is_nan(value: Any) -> bool:
    """Whether this is how data frames say that there is nothing."""
    return isinstance(value, float) and math.isnan(value)


def _listed(value: Any) -> Any:
    """A value; a text that prints a list of objects, as that list."""
    return (
        parsed(value.strip()) if isinstance(value, str) and value.strip().startswith("[") else value
    )
