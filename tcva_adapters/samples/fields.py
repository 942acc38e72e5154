"""Read the fields of a sample from the records of any framework.

A record has its fields at the top, in nested objects (LangSmith's ``inputs`` and ``outputs``, or the
columns ``inputs.question`` of a csv file), or in messages. A context is a text, a list of texts or
documents, or what JSON and Python print of such a list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.contexts import parse_printed, read_contexts, read_ids
from tcva_adapters.samples.messages import (
    Dialogue,
    as_mapping,
    is_messages,
    text_of_message,
    utterances_in,
)
from tcva_adapters.tables import Record

Fields: TypeAlias = Mapping[str, Any]
"""A record, or a part of it, by the names of its fields."""

FieldNames: TypeAlias = Mapping[str, str]
"""Names of columns, each with the field of a sample that it holds."""

_NAMES = {
    "id": "id sample_id name uid",
    "input": "input user_input question query prompt inputs",
    "response": (
        "response actual_output actualOutput answer output prediction result completion "
        "generated_answer outputs"
    ),
    "contexts": (
        "contexts retrieved_contexts retrieval_context retrievalContext context source_documents "
        "documents source_nodes"
    ),
    "context_ids": "context_ids retrieved_context_ids",
    "reference": (
        "reference expected_output expectedOutput ground_truth reference_answer expected "
        "reference_outputs reference_output"
    ),
}
ALIASES = {field: tuple(names.split()) for field, names in _NAMES.items()}
"""Field names of RAGAS, DeepEval, LangChain and LlamaIndex; where several occur, the first wins."""

NESTED_OBJECTS = {
    "id": "",
    "input": "inputs input outputs output",
    "response": "outputs output",
    "contexts": "outputs output inputs input reference_outputs reference",
    "context_ids": "outputs output inputs input reference_outputs reference",
    "reference": "reference_outputs reference outputs output inputs input",
}
"""The nested objects that are searched for each field, in order; the first two are its own."""


def _inside(groups: str, names: Iterable[str]) -> list[str]:
    return [f"{group}.{name}" for group in groups.split() for name in names]


PLACES = {
    field: [*names, *_inside(NESTED_OBJECTS[field], names)]
    for field, names in ALIASES.items()
}
PLACES["reference"] += _inside("reference_outputs reference", ALIASES["response"])
"""The keys under which each field is looked for, in this order."""

KNOWN = {"messages", *chain(*ALIASES.values())}
OFTEN_ELSE = ("name", "expected")
"""Names that often mean something else: only a text under them is a field."""


_NESTED = NESTED_OBJECTS["contexts"].split()
_AS_TEXT = ("inputs", "outputs", "reference_outputs")
"""Nested objects that csv files hold as text."""

_ASKED = ("messages", "turns", "inputs.messages", "input.messages")
_ANSWERED = ("outputs.messages", "output.messages")
"""Keys under which messages stand."""

_DATASET_FIELDS = {"actual_output", "source_file", "custom_column_key_values"}
"""Fields that mark a row of a DeepEval dataset, whose passages are joined by bars."""


def parts_of(
    record: Fields, columns: FieldNames
) -> tuple[Dialogue | None, Record, Record]:
    """Split a record into its messages, the fields of a sample, and all else that has a value.

    * Nested objects, or columns with a dot: a question is looked for in ``inputs``, an answer in
      ``outputs``, contexts in both, a reference in ``reference_outputs`` or ``reference``.
    * Messages: see `fields_in`. They fill the fields that are not given otherwise.
    * Ids of contexts, in a field or in the documents. Where there are not as many as contexts,
      ``context_ids`` is an error, and a framework's own field is none of a sample.
    * Rows of a DeepEval dataset (csv, jsonl): contexts are split at ``|``, as DeepEval reads them.

    Args:
        record: One row of a file, or a framework's own form of a sample.
        columns: Names in the record, each with the field that it holds; dots lead into objects.

    Raises:
        InvalidSampleError: A field cannot be read, or there are not as many ``context_ids`` as contexts.
    """
    flat = flatten(record)
    if flat.keys() >= _DATASET_FIELDS:
        for name in ("retrieval_context", "context"):
            if isinstance(joined := flat.get(name), str):
                flat[name] = joined.split("|") if joined else []
    keys = dict(zip(columns.values(), columns, strict=True))
    for column in columns:
        flat[column] = _value_at(record, flat, column)
    free = {name: value for name, value in flat.items() if name not in columns}
    for field in PLACES:
        if field not in keys and (key := _place(free, field)):
            keys[field] = key

    dialogue = _dialogue_in(flat, keys)
    key_of_ids = keys.pop("context_ids", keys.get("contexts", ""))
    given_ids = flat.get(key_of_ids)
    is_named = key_of_ids.rpartition(".")[2] == "context_ids" or (
        columns.get(key_of_ids) == "context_ids"
    )
    fields: Record = {}
    for field, key in keys.items():
        value = flat.pop(key)
        fields[field] = None if value is None else _read(field, key, value)
    contexts = fields.get("contexts")
    must_fit = is_named and contexts is not None
    if ids := read_ids(given_ids, contexts or (), must_fit=must_fit):
        fields["context_ids"] = ids
        flat.pop(key_of_ids, None)
    rest = {name: value for name, value in flat.items() if value is not None}
    return dialogue, fields, rest


def flatten(record: Fields) -> Record:
    """Turn a record's nested objects (``inputs``, ``outputs``) into columns with a dot in the name.

    >>> flatten({"inputs": {"question": "Who?"}, "outputs": '{"answer": "Ada."}'})
    {'inputs.question': 'Who?', 'outputs.answer': 'Ada.'}
    """
    flat: Record = {}
    for key, value in record.items():
        name = str(key)
        inner = (
            parse_printed(value)
            if name in _AS_TEXT and isinstance(value, str)
            else value
        )
        is_nested = name in _NESTED and isinstance(inner, Mapping)
        if is_nested and text_of_message(inner) is None:
            # The only argument of a traced function may itself be called inputs.
            if isinstance(inner.get("inputs"), Mapping):
                inner = {**inner, **inner["inputs"]}
            flat |= {f"{name}.{part}": entry for part, entry in inner.items()}
        else:
            flat[name] = value
    for name, value in flat.items():
        if isinstance(value, float) and math.isnan(value):
            flat[name] = None  # the missing value of data frames
    return flat


def _value_at(record: Fields, flat: Fields, path: str) -> Any:
    """Look up a value by a name, or by a path of names with dots into nested objects."""
    if path in flat:
        return flat[path]
    value: Any = record
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise InvalidSampleError(
                f"there is no field {path!r}; the fields are {', '.join(map(repr, flat))}"
            )
        value = value[name]
    return value


def _place(flat: Fields, field: str) -> str | None:
    """Find the key of a field: at the top, or in a nested object."""
    for key in PLACES[field]:
        value = flat.get(key)
        is_there = value is not None and not (field == "id" and value == "")
        if is_there and (isinstance(value, str) or key not in OFTEN_ELSE):
            return key
    # The only entry of the field's own object needs no name that is known.
    groups = () if field.startswith("context") else NESTED_OBJECTS[field].split()[:2]
    owners = tuple(f"{group}." for group in groups)
    inner = [name for name in flat if name.startswith(owners)]
    is_only = len(inner) == 1 and inner[0].partition(".")[2] not in KNOWN
    return inner[0] if is_only else None


def _dialogue_in(flat: Record, keys: dict[str, str]) -> Dialogue | None:
    """Take the messages out of a record where they fill fields that are not given otherwise."""
    is_complete = {"input", "response", "contexts"} <= keys.keys()
    messages: list[Any] = []
    used: dict[str, str] = {}
    for place in ("input", *_ASKED, "response", *_ANSWERED):
        key = keys.get(place, place)
        value = flat.get(key)
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = parse_printed(value)
        if value is None or isinstance(value, str):
            continue
        if _is_dialogue(key, value, keys, is_complete=is_complete):
            messages += _after(messages, [*map(as_mapping, value)])
            used[place] = key
            keys.pop(place, None)
        elif (text := text_of_message(value)) is not None:
            flat[key] = text
    if not used:
        return None
    has_outputs = any(name.startswith("output") for name in flat)
    answer = None
    if "response" in keys:
        answer = str(flat[keys["response"]])
    elif has_outputs and [*used][-1] not in ("response", *_ANSWERED):
        answer = ""  # what was said before the outputs is no answer of theirs
    names = [*dict.fromkeys(used.values())]
    for name in names:
        del flat[name]
    return Dialogue(
        name=names[0],
        messages=messages,
        answer=answer,
        is_whole=len(names) == 1 and answer is None and "input" not in keys,
    )


def _is_dialogue(key: str, value: Any, keys: FieldNames, *, is_complete: bool) -> bool:
    """Whether a value is the messages of a record that has fields under these keys."""
    if key.endswith("messages"):
        return isinstance(value, list) and not is_complete
    is_asked = key == "turns" and not keys.keys().isdisjoint(("input", "response"))
    return is_messages(value) and not is_asked


def _after(earlier: Sequence[Any], messages: list[Any]) -> list[Any]:
    """Drop messages that repeat earlier ones: outputs begin with the inputs, often in another form."""
    start = 0
    for number, message in enumerate(messages, start=1):
        if earlier and _utterances(message) == _utterances(earlier[-1]):
            start = number
    return messages[start:]


def _utterances(message: Any) -> Any:
    """The utterances of a message; anything else as it is."""
    return (text_of_message(message) and utterances_in("", 1, message)) or message


def _read(field: str, name: str, value: Any) -> Any:
    if field == "contexts":
        return read_contexts(name, value)
    if field == "id" and type(value) in {int, float} and value % 1 == 0:
        value = str(int(value))  # tables make floats of whole numbers with gaps
    if not isinstance(value, str):
        raise InvalidSampleError(
            f"field {name!r} must be a string, got {type(value).__name__}"
        )
    return value
