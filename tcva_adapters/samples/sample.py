"""What is judged: one question, answer, context and reference, under any framework's names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tcva_adapters.errors import InvalidSampleError

ALIASES: Final[dict[str, tuple[str, ...]]] = {
    "id": ("id", "sample_id", "name", "uid"),
    "input": ("input", "user_input", "question", "query", "prompt"),
    "response": (
        "response",
        "actual_output",
        "answer",
        "output",
        "prediction",
        "result",
        "completion",
        "generated_answer",
    ),
    "contexts": (
        "contexts",
        "retrieved_contexts",
        "retrieval_context",
        "context",
        "source_documents",
        "documents",
        "source_nodes",
    ),
    "reference": (
        "reference",
        "expected_output",
        "ground_truth",
        "reference_answer",
        "ground_truths",
        "expected",
    ),
}
"""Field names of RAGAS, DeepEval, LangChain and LlamaIndex; where several occur, the first wins."""


_SIDE_FIELDS: Final = frozenset({"id", "reference"})
"""Fields whose other names (``name``, ``expected``) often mean something else."""


def whole_characters(text: str) -> str:
    """A text that can be encoded: halves of characters, which JSON escapes can name, replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Sample(BaseModel):
    """One item to judge. Fields that a criterion does not look at may stay None.

    Attributes:
        input: The user's question or request.
        response: The answer of the system under test.
        contexts: The passages that the answer was to rest on, in the order retrieved. None means
            that the sample has no such field; an empty tuple, that nothing was retrieved.
        reference: The answer that is known to be right.
        id: A name for the sample, carried into its assessment.
        metadata: Everything else that came with the record, untouched.

    >>> Sample.from_record({"question": "Who?", "answer": "Ada.", "domain": "chat"}).metadata
    {'domain': 'chat'}
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: str | None = None
    response: str | None = None
    contexts: tuple[str, ...] | None = None
    reference: str | None = None
    id: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("id", "input", "response", "reference", "contexts")
    @classmethod
    def _can_be_encoded(cls, value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        if isinstance(value, str):
            return whole_characters(value)
        return value and tuple(map(whole_characters, value))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Sample:
        """A sample from a record with the field names of any of the four frameworks.

        Unknown fields are kept as metadata, as are further names of a field already filled.
        A context may be one string, a list of strings, a JSON list (as csv files hold it), or a
        list of documents with ``page_content``, ``text`` or ``content``.

        Raises:
            InvalidSampleError: A field has a type that cannot be read.
        """
        rest = dict(record)
        fields: dict[str, Any] = {}
        for field, names in ALIASES.items():
            for name in names:
                if rest.get(name) is None:
                    continue
                try:
                    fields[field] = _READERS[field](name, rest[name])
                except InvalidSampleError:
                    if name == names[0] or field not in _SIDE_FIELDS:
                        raise
                    continue  # another meaning of a common word: it stays metadata
                del rest[name]
                break
        metadata = rest.pop("metadata", None)
        extra = {key: value for key, value in rest.items() if value is not None}
        if isinstance(metadata, Mapping):
            extra = {**metadata, **extra}
        elif metadata is not None:
            extra["metadata"] = metadata
        try:
            return cls(**fields, metadata=extra)
        except ValidationError as error:
            first = error.errors()[0]
            msg = f"field {'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise InvalidSampleError(msg) from None

    def field(self, name: str) -> str | None:
        """One of the text fields as a single string; contexts are joined by blank lines."""
        value = getattr(self, name)
        if isinstance(value, tuple):
            return "\n\n".join(value)
        return value  # type: ignore[no-any-return]  # every other field is str | None


def _read_text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]  # RAGAS' older `ground_truths` is a list of one
    msg = f"field {name!r} must be a string, got {type(value).__name__}"
    raise InvalidSampleError(msg)


def _read_id(name: str, value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # what tables make of whole numbers with gaps
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    msg = f"field {name!r} must be a string or a whole number, got {type(value).__name__}"
    raise InvalidSampleError(msg)


def _read_contexts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return ()
        if text.startswith("[") and text.endswith("]"):
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):  # not JSON after all
                return (value,)
            if all(isinstance(item, str) for item in parsed):
                return tuple(parsed)
        return (value,)
    if isinstance(value, Mapping) or not hasattr(value, "__iter__"):
        value = [value]
    return tuple(_passage_text(name, item) for item in value)


def _passage_text(name: str, item: Any) -> str:
    if isinstance(item, str):
        return item
    for key in ("page_content", "text", "content"):
        found = item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)
        if isinstance(found, str):
            return found
    msg = f"field {name!r} holds a {type(item).__name__}, which is neither text nor a document"
    raise InvalidSampleError(msg)


_READERS: Final = {
    "id": _read_id,
    "input": _read_text,
    "response": _read_text,
    "contexts": _read_contexts,
    "reference": _read_text,
}
