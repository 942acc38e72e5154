"""Read contexts from texts, documents, or a list that JSON or Python printed."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from tcva_adapters.errors import InvalidSampleError

_DOCUMENT_TEXTS = ("page_content", "text", "content")
_DOCUMENT_IDS = ("id", "id_", "node_id")
_DOCUMENT_PARTS = ("node", "text_resource", "kwargs")
"""Where LlamaIndex and LangChain put a document when they write it to JSON."""

_PRINTED = re.compile(
    r"""array\(\[|\[[\s\[]*(?:[bu]?['"]|(?:None|nan|null)\s*[,\]]|\w+\((?:\w+=|\[)|np\.str_\()"""
)
_PRINTED_ON = re.compile(r"""\]\Z|\Aarray\((?s:.*)\)\Z|\A[^\]]*['"],[^\]]*\Z""")
"""The rest of a text that looks like a printed list: closed, or cut off behind an item."""
_TOUCHING = re.compile(r"""['"]\s*['"]""")
_SHOWN = 40


def read_contexts(name: str, value: Any) -> tuple[str, ...]:
    """Read the contexts of a field.

    Args:
        name: The field, for messages.
        value: One text, a list of texts or documents, one document, or the text that JSON or Python
            prints of such a list.

    Raises:
        InvalidSampleError: The value is something else, or a printed list that cannot be read back
            for certain: taken as one context, it would silently change what is judged.

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
            raise InvalidSampleError(
                f"field {name!r} must hold texts or documents, got {kind}"
            )
        passages.append(text)
    return tuple(passages)


def read_ids(
    value: Any, contexts: Sequence[str], *, must_fit: bool = False
) -> tuple[str, ...]:
    """Read the ids in a list of ids or of documents, if there are as many as contexts; else none.

    Raises:
        InvalidSampleError: There are ids, and not as many as they must be.

    >>> read_ids([{"id": 7, "text": "One."}], ["One."]), read_ids("['a', 'b']", ["One.", "Two."])
    (('7',), ('a', 'b'))
    """
    items = parse_printed(value) if isinstance(value, str) else value
    ids = tuple(map(_id_of, items)) if hasattr(items, "__iter__") else ()
    if must_fit and ids and len(ids) != len(contexts):
        raise InvalidSampleError(
            f"context_ids must name each of the contexts, got {len(ids)} ids for {len(contexts)} contexts; "
            "write an empty text for a context without an id"
        )
    is_usable = len(ids) == len(contexts) and any(ids) and ids != tuple(contexts)
    return ids if is_usable else ()


def _id_of(item: Any) -> str:
    """The id that this is, or that a document has; empty without one."""
    if isinstance(item, str | int):
        return str(item)
    for key in _DOCUMENT_IDS:
        name = value_of(item, key)
        if isinstance(name, str | int):
            return str(name)
    parts = (value_of(item, key) for key in ("metadata", *_DOCUMENT_PARTS))
    inner = (_id_of(part) for part in parts if isinstance(part, Mapping))
    return next(filter(None, inner), "")


def _document_text(item: Any) -> str | None:
    for key in _DOCUMENT_TEXTS:
        text = value_of(item, key)
        if isinstance(text, str):
            return text
    if isinstance(item, Mapping):
        for key in _DOCUMENT_PARTS:
            text = _document_text(item.get(key))
            if text is not None:
                return text
    return None


def value_of(item: Any, name: str) -> Any:
    """The value under a key of a mapping or in an attribute of an object; None without one."""
    if isinstance(item, Mapping):
        return item.get(name)
    return getattr(item, name, None)


def _printed_items(name: str, text: str) -> Sequence[Any]:
    """The texts or documents of a printed list; any other text is one context."""
    items = parse_printed(text)
    if isinstance(items, dict):
        items = [items]
    if isinstance(items, list | tuple):
        if all(isinstance(item, str) for item in items):
            return items
        if all(isinstance(item, dict) for item in items):
            # The output of a tool is one passage; each document is one.
            return items if all(map(_document_text, items)) else [text]
    bare = text.strip()
    if _PRINTED.match(bare) and _PRINTED_ON.search(bare):
        raise InvalidSampleError(
            f"field {name!r} looks like a printed list that cannot be read back, "
            f'{bare[:_SHOWN]!r}; save it as a JSON list of texts ["...", "..."], or save the file '
            "as jsonl or parquet"
        )
    return [text]


def parse_printed(text: str) -> Any:
    """Parse a list or object that JSON or Python printed; None for any other text."""
    text = text.strip()
    if not text.startswith(("[", "{", "(")):
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(text, strict=False)
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = ast.literal_eval(text)
        # Python joins two texts without a comma between them, which numpy prints for
        # two items.
        if not _TOUCHING.search(text) or repr(value) == text:
            return value
    return None
