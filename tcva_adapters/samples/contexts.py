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
    passages = []
    for item in _items_in(name, value):
        text = item if isinstance(item, str) else _document_text(item)
        if text is None:
            kind = type(item).__name__
            raise InvalidSampleError(
                f"field {name!r} must hold texts or documents, got {kind}"
            )
        passages.append(text)
    return tuple(passages)


def _items_in(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return _printed_items(name, value) if value.strip() else []
    if isinstance(value, Mapping) or not hasattr(value, "__iter__"):
        return [value]
    return value


def read_context_ids(value: Any) -> tuple[str, ...]:
    """Read a list of ids, also one that JSON or Python printed; anything else holds none.

    >>> read_context_ids("['a', 2]"), read_context_ids([{}])
    (('a', '2'), ())
    """
    items = parse_printed(value) if isinstance(value, str) else value
    ids = [*items] if hasattr(items, "__iter__") else [value]
    are_ids = all(isinstance(item, str | int) for item in ids)
    return tuple(map(str, ids)) if are_ids else ()


def document_ids(name: str, value: Any) -> tuple[str, ...]:
    """Read the ids of the documents in a field of contexts, empty for one without; () if all are.

    >>> document_ids("contexts", [{"id": 7, "text": "One."}, "Two."]), document_ids("contexts", "One.")
    (('7', ''), ())
    """
    ids = tuple(
        "" if isinstance(item, str) else _document_id(item)
        for item in _items_in(name, value)
    )
    return ids if any(ids) else ()


def _document_id(item: Any) -> str:
    for key in _DOCUMENT_IDS:
        name = value_of(item, key)
        if isinstance(name, str | int):
            return str(name)
    parts = (value_of(item, key) for key in ("metadata", *_DOCUMENT_PARTS))
    names = (_document_id(part) for part in parts if isinstance(part, Mapping))
    return next(filter(None, names), "")


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
