"""What a field's cell or value holds: the passages of a context, however they were written down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.printed import printed_items

_TEXT_KEYS: Final = ("page_content", "text", "content")
_INNER_KEYS: Final = ("node", "text_resource", "kwargs")
"""Where LlamaIndex and LangChain put a document when they write it to JSON."""

_DEEPEVAL_SOURCE: Final = re.compile(
    r"deepeval_source=.*?,deepeval_context=(?P<text>.*)", re.DOTALL
)
"""How DeepEval's datasets write a passage with a source."""


def read_contexts(name: str, value: Any) -> tuple[str, ...]:
    """A field's passages.

    Args:
        name: The field, for messages.
        value: One text, a list of texts or documents, one document, or the text that Python, numpy
            or JSON prints of such a list.

    Raises:
        InvalidSampleError: Something else, or a printed list that cannot be read back for certain.

    >>> read_contexts("contexts", "['One.', 'Two.']"), read_contexts("contexts", "[1] One.")
    (('One.', 'Two.'), ('[1] One.',))
    """
    if isinstance(value, str):
        items = printed_items(name, value) if value.strip() else []
        if items is not None and any(isinstance(item, Mapping) for item in items):
            # What a tool returned is one passage; documents are one each.
            items = items if all(map(_document_text, items)) else None
        value = [value] if items is None else items
    elif isinstance(value, Mapping) or not hasattr(value, "__iter__"):
        value = [value]
    return tuple(_passage(name, item) for item in value)


def _passage(name: str, item: Any) -> str:
    text = item if isinstance(item, str) else _document_text(item)
    if text is None:
        msg = f"field {name!r} holds a {type(item).__name__}, which is neither text nor a document"
        raise InvalidSampleError(msg)
    sourced = _DEEPEVAL_SOURCE.fullmatch(text)
    return text if sourced is None else sourced["text"]


def _document_text(item: Any) -> str | None:
    for key in _TEXT_KEYS:
        found = item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)
        if isinstance(found, str):
            return found
    inner = [item.get(key) for key in _INNER_KEYS] if isinstance(item, Mapping) else []
    found = (_document_text(each) for each in inner if isinstance(each, Mapping))
    return next((text for text in found if text is not None), None)
