"""Records of any of the frameworks, as the fields of a sample.

A record has its fields at the top, in nested objects (LangSmith's ``inputs`` and ``outputs``, or the
columns ``inputs.question`` of a csv file), or in messages. A context is a text, a list of texts or
documents, or what JSON and Python print of such a list.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, takewhile
from typing import Any, Final

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.messages import (
    FEW_WORDS,
    RETRIEVED,
    Said,
    Talk,
    answer_in,
    as_mapping,
    is_messages,
    said_in,
    statements_in,
    text_of_message,
    without_statements,
)

_NAMES: Final = {
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
    "reference": (
        "reference expected_output expectedOutput ground_truth reference_answer expected "
        "reference_outputs reference_output"
    ),
}
ALIASES: Final = {field: tuple(names.split()) for field, names in _NAMES.items()}
"""Field names of RAGAS, DeepEval, LangChain and LlamaIndex; where several occur, the first wins."""

_GROUPS: Final = {
    "id": "",
    "input": "inputs input outputs output",
    "response": "outputs output",
    "contexts": "outputs output inputs input reference_outputs reference",
    "reference": "reference_outputs reference outputs output inputs input",
}
"""In which nested objects each field is looked for, in this order; the first two are its own."""


def _inside(groups: str, names: Iterable[str]) -> list[str]:
    return [f"{group}.{name}" for group in groups.split() for name in names]


_PLACES: Final = {
    field: [*own, *_inside(_GROUPS[field], own)] for field, own in ALIASES.items()
}
_PLACES["reference"] += _inside("reference_outputs reference", ALIASES["response"])
"""Where each field is looked for, in this order."""

_NESTED: Final = _GROUPS["contexts"].split()
_AS_TEXT: Final = ("inputs", "outputs", "reference_outputs")
"""Nested objects that csv files hold as text."""

_ASKED: Final = ("messages", "turns", "inputs.messages", "input.messages")
_ANSWERED: Final = ("outputs.messages", "output.messages")
"""Where messages are."""

_OWN: Final = (
    "retrieval_context",
    "retrievalContext",
    "contexts",
    "retrieved_contexts",
)
"""What a message calls its own contexts."""

_KNOWN: Final = {"messages", *(name for names in ALIASES.values() for name in names)}
_OFTEN_ELSE: Final = ("name", "expected")
"""Names that often mean something else: only a text under them is a field."""

_DATASET_FIELDS: Final = {"actual_output", "source_file", "custom_column_key_values"}
"""A row of a DeepEval dataset has them; its passages are joined by bars."""

_DOCUMENT_TEXTS: Final = ("page_content", "text", "content")
_DOCUMENT_PARTS: Final = ("node", "text_resource", "kwargs")
"""Where LlamaIndex and LangChain put a document when they write it to JSON."""

_PRINTED: Final = re.compile(
    r"""array\(\[|\[[\s\[]*(?:[bu]?['"]|(?:None|nan|null)\s*[,\]]|\w+\((?:\w+=|\[)|np\.str_\()"""
)
_PRINTED_ON: Final = re.compile(r"""\]\Z|\Aarray\((?s:.*)\)\Z|\A[^\]]*['"],[^\]]*\Z""")
"""Such a text goes on like a list: it is closed, or cut off behind an item."""
_TOUCHING: Final = re.compile(r"""['"]\s*['"]""")
_SHOWN: Final = 40


def fields_of(
    record: Mapping[str, Any], columns: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a sample in a record, and all else that has a value.

    * Nested objects, or columns with a dot: a question is looked for in ``inputs``, an answer in
      ``outputs``, contexts in both, a reference in ``reference_outputs`` or ``reference``.
    * Messages: see `fields_in`. They fill the fields that are not given otherwise.
    * Rows of a DeepEval dataset (csv, jsonl): contexts are parted at ``|``, as DeepEval reads them.

    Args:
        record: One row of a file, or what a framework has of a sample.
        columns: Names of the record to the fields that they hold; dots lead into objects.

    Raises:
        InvalidSampleError: A field or a message cannot be read.
    """
    talk, fields, rest = parts_of(record, columns)
    return ({} if talk is None else fields_in(talk)) | fields, rest


def fields_in(talk: Talk) -> dict[str, Any]:
    """Question, answer and contexts of messages; only what there is.

    Contexts are what tools returned before the answer, and the contexts of its own that it or a message
    before it has. The answer is empty if the model ended without a text to the last question.

    Raises:
        InvalidSampleError: Something in it is no message.

    >>> messages = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ada."}]
    >>> fields_in(Talk("messages", messages, None, True))
    {'input': 'Who?', 'response': 'Ada.'}
    """
    said = [*chain.from_iterable(spoken(talk.name, talk.messages))]
    answers = [
        place
        for place, (who, text) in enumerate(said)
        if who == "model" and text.strip()
        if talk.answer is None or talk.answer.strip().endswith(text.strip())
    ]
    end = answers[-1] if answers else len(said)
    fields: dict[str, Any] = {}
    if questions := [text for who, text in said[:end] if who == "user"]:
        fields["input"] = questions[-1]
    last = [*takewhile(lambda part: part[0] != "user", reversed(said))]
    is_from_model = last and last[0][0] == "model"
    if talk.answer is None and is_from_model and not answer_in(last):
        fields["response"] = ""
    elif answers:
        fields["response"] = answer_in(said[: end + 1])
    if contexts := [part for part in said[:end] if part[0] in RETRIEVED]:
        fields["contexts"] = [part[1] for part in contexts if part != ("context", "")]
    return fields


def spoken(name: str, messages: Iterable[Any]) -> Iterator[list[Said]]:
    """Who says what in each message, after the contexts of its own.

    Statements with which a tool, or one before it, was called are taken out of what it returns.

    Raises:
        InvalidSampleError: Something is no message.
    """
    statements: dict[tuple[str, ...], set[int]] = {}
    for number, message in enumerate(messages, start=1):
        said = said_in(name, number, message)
        if said[0][0] in {"model", "other", "context"} or "arguments" in message:
            for words in statements_in(message):
                statements.setdefault(words[:FEW_WORDS], set()).add(len(words))
                statements.setdefault(words, set())
        yield [("context", text) for text in own_contexts(message)] + [
            (who, without_statements(statements, text) if who in RETRIEVED else text)
            for who, text in said
        ]


def own_contexts(message: Any) -> Iterator[str]:
    """The contexts that a message has in a field of its own, as DeepEval's turns do; or one empty."""
    for key in _OWN if isinstance(message, Mapping) else ():
        if message.get(key) is not None:
            yield from read_contexts(key, message[key]) or [""]


def parts_of(
    record: Mapping[str, Any], columns: Mapping[str, str]
) -> tuple[Talk | None, dict[str, Any], dict[str, Any]]:
    """The messages of a record, the fields that stand beside them, and all else; see `fields_of`."""
    flat = flattened(record)
    groups: dict[str, list[str]] = {}
    for name in flat:
        group, dot, _ = name.partition(".")
        if dot and name not in columns:
            groups.setdefault(group, []).append(name)
    if flat.keys() >= _DATASET_FIELDS:
        for name in ("retrieval_context", "context"):
            if isinstance(joined := flat.get(name), str):
                flat[name] = joined.split("|") if joined else []
    keys = dict(zip(columns.values(), columns, strict=True))
    for column in columns:
        flat[column] = _value_at(record, flat, column)
    free = {name: value for name, value in flat.items() if name not in columns}
    for field in _PLACES:
        if field not in keys and (key := _place(free, groups, field)):
            keys[field] = key
    talk = _said(flat, keys)
    found = {}
    for field, key in keys.items():
        value = flat.pop(key)
        found[field] = None if value is None else _read(field, key, value)
    return (
        talk,
        found,
        {name: value for name, value in flat.items() if value is not None},
    )


def flattened(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record whose nested objects (``inputs``, ``outputs``) are columns with a dot in their name.

    >>> flattened({"inputs": {"question": "Who?"}, "outputs": '{"answer": "Ada."}'})
    {'inputs.question': 'Who?', 'outputs.answer': 'Ada.'}
    """
    flat: dict[str, Any] = {}
    for key, value in record.items():
        name = str(key)
        inner = _parsed(value) if name in _AS_TEXT and isinstance(value, str) else value
        is_nested = name in _NESTED and isinstance(inner, Mapping)
        if is_nested and text_of_message(inner) is None:
            if isinstance(
                inner.get("inputs"), Mapping
            ):  # a traced function's only argument
                inner = {**inner, **inner["inputs"]}
            flat |= {f"{name}.{part}": entry for part, entry in inner.items()}
        else:
            flat[name] = value
    for name, value in flat.items():
        if isinstance(value, float) and math.isnan(value):
            flat[name] = None  # data frames say so that there is nothing
    return flat


def read_contexts(name: str, value: Any) -> tuple[str, ...]:
    """A field's contexts.

    Args:
        name: The field, for messages.
        value: One text, a list of texts or documents, one document, or the text that JSON or Python
            prints of such a list.

    Raises:
        InvalidSampleError: Something else, or a printed list that cannot be read back for certain:
            taken as one context, it would silently change what is judged.

    >>> read_contexts("contexts", "['One.', 'Two.']"), read_contexts("contexts", "[1] One.")
    (('One.', 'Two.'), ('[1] One.',))
    """
    items = value
    if isinstance(value, str):
        items = _printed_items(name, value) if value.strip() else []
    elif isinstance(value, Mapping) or not hasattr(value, "__iter__"):
        items = [value]
    passages = []
    for item in items:
        text = item if isinstance(item, str) else _document_text(item)
        if text is None:
            kind = type(item).__name__
            msg = f"field {name!r} must hold texts or documents, got {kind}"
            raise InvalidSampleError(msg)
        passages.append(text)
    return tuple(passages)


def _value_at(record: Mapping[str, Any], flat: Mapping[str, Any], path: str) -> Any:
    """What stands under a name, or at a path of names with dots between, in nested objects."""
    value: Any = flat if path in flat else record
    for name in [path] if path in flat else path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            msg = f"there is no field {path!r}; the fields are {', '.join(map(repr, flat))}"
            raise InvalidSampleError(msg)
        value = value[name]
    return value


def _place(
    flat: Mapping[str, Any], groups: Mapping[str, Sequence[str]], field: str
) -> str | None:
    """Where a field stands: at the top, or in a nested object."""
    for key in _PLACES[field]:
        value = flat.get(key)
        is_there = value is not None and not (field == "id" and value == "")
        if is_there and (isinstance(value, str) or key not in _OFTEN_ELSE):
            return key
    # The only entry of the field's own object needs no name that is known.
    inner: list[str] = []
    for group in () if field == "contexts" else _GROUPS[field].split()[:2]:
        inner += groups.get(group, ())
    is_only = len(inner) == 1 and inner[0].partition(".")[2] not in _KNOWN
    return inner[0] if is_only else None


def _said(flat: dict[str, Any], keys: dict[str, str]) -> Talk | None:
    """The messages of a record that fill fields which are not given; they leave the record."""
    is_complete = {"input", "response", "contexts"} <= keys.keys()
    talk: list[Any] = []
    used: dict[str, str] = {}
    for place in ("input", *_ASKED, "response", *_ANSWERED):
        key = keys.get(place, place)
        value = flat.get(key)
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = _parsed(value)
        if value is None or isinstance(value, str):
            continue
        is_talk = is_messages(value) and (
            key != "turns" or not {"input", "response"} & keys.keys()
        )
        if key.endswith("messages"):
            is_talk = isinstance(value, list) and not is_complete
        if is_talk:
            talk += _after(talk, [*map(as_mapping, value)])
            used[place] = key
            keys.pop(place, None)
        elif (text := text_of_message(value)) is not None:
            flat[key] = text
    if not used:
        return None
    # Where outputs are there, what was said before them is no answer of theirs.
    has_others = [*used][-1] not in ("response", *_ANSWERED) and any(
        name.startswith("output") for name in flat
    )
    for key in {*used.values()}:
        del flat[key]
    answer = "" if has_others else None
    if "response" in keys:
        answer = str(flat[keys["response"]])
    is_whole = len({*used.values()}) == 1 and answer is None and "input" not in keys
    return Talk(next(iter(used.values())), talk, answer, is_whole)


def _after(talk: Sequence[Any], more: list[Any]) -> list[Any]:
    """Messages without those that they repeat: outputs begin with the inputs, often in another form."""
    texts = [
        (text_of_message(m) and said_in("", 1, m)) or m for m in (*talk[-1:], *more)
    ]
    last = texts[:0:-1].index(texts[0]) if talk and texts[0] in texts[1:] else len(more)
    return more[len(more) - last :]


def _read(field: str, name: str, value: Any) -> Any:
    if field == "contexts":
        return read_contexts(name, value)
    if field == "id" and type(value) in {int, float} and value % 1 == 0:
        value = str(int(value))  # tables make floats of whole numbers with gaps
    if not isinstance(value, str):
        msg = f"field {name!r} must be a string, got {type(value).__name__}"
        raise InvalidSampleError(msg)
    return value


def _document_text(item: Any) -> str | None:
    for key in _DOCUMENT_TEXTS:
        found = item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)
        if isinstance(found, str):
            return found
    parts = map(item.get, _DOCUMENT_PARTS) if isinstance(item, Mapping) else ()
    texts = (_document_text(part) for part in parts if part is not None)
    return next((text for text in texts if text is not None), None)


def _printed_items(name: str, text: str) -> list[Any]:
    """The texts or documents of a printed list; any other text is one context."""
    found = _parsed(text)
    items = [found] if isinstance(found, dict) else found
    if isinstance(items, list | tuple):
        if all(isinstance(item, str) for item in items):
            return list(items)
        if all(isinstance(item, dict) for item in items):
            # What a tool returned is one passage; documents are one each.
            return list(items) if all(map(_document_text, items)) else [text]
    bare = text.strip()
    if _PRINTED.match(bare) and _PRINTED_ON.search(bare):
        msg = (
            f"field {name!r} looks like a printed list that cannot be read back, "
            f'{bare[:_SHOWN]!r}; save it as a JSON list of texts ["...", "..."], or save the file '
            "as jsonl or parquet"
        )
        raise InvalidSampleError(msg)
    return [text]


def _parsed(text: str) -> Any:
    """A list or object of JSON, or as Python prints it; None for any other text."""
    text = text.strip()
    if not text.startswith(("[", "{", "(")):
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(text, strict=False)
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        found = ast.literal_eval(text)
        # Python makes one text of two that stand side by side, which numpy prints as two.
        return None if _TOUCHING.search(text) and repr(found) != text else found
    return None
