"""A sample: question, answer, contexts and reference, read from any framework's field names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    TCVAError,
    percent_hint,
)
from tcva_adapters.samples.fields import Fields, parts_of
from tcva_adapters.samples.messages import fields_in

FROZEN = ConfigDict(frozen=True, extra="forbid")


class Checked(BaseModel):
    """A frozen record whose fields are checked; errors are those of this package.

    Attributes:
        refusal: The class of those errors.
    """

    model_config = FROZEN
    refusal: ClassVar[type[Exception]] = InvalidValueError

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise self.refusal(first_fault(error)) from None


_PLAINER = {
    "Input should": "must",
    "String should": "must",
    "Field required": "must have more items",
    "Invalid JSON": "not JSON",
    "a valid tuple": "a list",
    "a valid integer": "a whole number",
    "a valid string": "a string",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "an instance of VerdictStore": "a path or a VerdictStore",
    "an instance of Sequence": "a list of strings",
}
"""Parts of pydantic's messages in plainer words."""

_WITHOUT_VALUE = {
    "missing": "{} is missing",
    "extra_forbidden": "{} is not a known field",
}


def first_fault(error: ValidationError, settings: Fields | None = None) -> str:
    """Describe the first field that does not fit; an error of this package keeps its message.

    Args:
        error: The error that pydantic raised.
        settings: The settings that were checked, by name; one is shown as a whole, not by its
            parts.

    >>> class Point(Checked):
    ...     x: float
    >>> Point(x=[])
    Traceback (most recent call last):
        ...
    tcva_adapters.errors.InvalidValueError: x must be a valid number, got []
    """
    first = error.errors(include_url=False)[0]
    path = [*map(str, first["loc"])]
    name = ".".join(path)
    raised = first.get("ctx", {}).get("error")
    if isinstance(raised, TCVAError):
        if settings is not None or not name:
            return str(raised)  # the message of a setting names it already
        return f"{name}: {raised}"
    why = first["msg"].removeprefix("Value error, ")
    for pydantic, plain in _PLAINER.items():
        why = why.replace(pydantic, plain)
    value = first["input"]
    if settings is not None:
        name = path[0] if path and path[0] in settings else next(iter(settings))
        value = settings[name]
    elif first["type"] in {"value_error", "json_invalid"} and not why.startswith(
        "must "
    ):
        return f"{name}: {why}" if name else why
    elif first["type"] in _WITHOUT_VALUE:
        return _WITHOUT_VALUE[first["type"]].format(name)
    # What was meant as a key is not printed.
    text = type(value).__name__ if name == "api_key" else f"{value!r:.80}"
    hint = (
        percent_hint(value) if why.endswith((" 1", "a number", "valid number")) else ""
    )
    return f"{name or 'document'} {why}, got {text}{hint}"


def whole_characters(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can escape, so that a text can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def is_one(value: Any) -> bool:
    """Whether this is one thing where several are expected, so that iterating it gives its parts.

    That is a text, a mapping, a model such as a sample, a data frame (whose parts are the names of its
    columns), or anything that cannot be iterated.
    """
    is_whole = isinstance(value, str | bytes | Mapping | BaseModel) or hasattr(
        value, "columns"
    )
    return is_whole or not isinstance(value, Iterable)


def _one_text_is_one(value: Any) -> Any:
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return value


def _is_result(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and {"kind", "schema_version", "score"} <= value.keys()
    )


_OF_TURNS = {
    "history": "tcva_history",
    "earlier_contexts": "tcva_earlier_contexts",
}
"""Names of the fields of turns in files that this package writes; other names are a user's."""

Text = Annotated[str, AfterValidator(whole_characters)]
Contexts = Annotated[
    Sequence[Text], BeforeValidator(_one_text_is_one), AfterValidator(tuple)
]


class Sample(Checked):
    """One sample to judge. Fields that a criterion does not need may stay None.

    Attributes:
        input: The question.
        response: The answer.
        contexts: The texts that were retrieved for the answer, in order. None means that the sample
            has no such field; an empty tuple means that nothing was retrieved.
        context_ids: The ids of the contexts, by which an answer may cite them: as many as there are
            contexts, or none. An empty one stands for a context without an id. No judge sees them.
        reference: The reference answer.
        history: What was said before the question in a conversation. It helps a judge to understand
            the question and is no evidence; records never fill it, see `Conversation`.
        earlier_contexts: For a turn without contexts, those of the turns before it. They count
            under ``uncontexted="earlier"``.
        id: A name for the sample, also in its results.
        metadata: All other fields of the record, unchanged.

    >>> Sample.from_record({"question": "Who?", "answer": "Ada.", "domain": "chat"}).metadata
    {'domain': 'chat'}
    """

    refusal = InvalidSampleError

    input: Text | None = None
    response: Text | None = None
    contexts: Contexts | None = None
    context_ids: Contexts = ()
    reference: Text | None = None
    history: Text | None = Field(default=None, serialization_alias=_OF_TURNS["history"])
    earlier_contexts: Contexts | None = Field(
        default=None, serialization_alias=_OF_TURNS["earlier_contexts"]
    )
    id: Text | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ids_fit(self) -> Self:
        ids, contexts = len(self.context_ids), len(self.contexts or ())
        if ids not in {0, contexts}:
            raise InvalidSampleError(
                f"context_ids must name each of the contexts, got {ids} ids for {contexts} contexts"
            )
        return self

    @model_serializer(mode="wrap")
    def _as_in_files(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = dump(self)
        if not self.context_ids:
            fields.pop("context_ids", None)
        return fields

    @classmethod
    def from_record(
        cls, record: Fields, columns: Mapping[str, str] | None = None
    ) -> Sample:
        """Make a sample from a record with the field names of any of the four frameworks.

        Unknown fields become metadata, as do further names of a field that is already filled;
        results of this package are left out. NaN is no value. Contexts may be one string, a list of
        strings, the text of a list (as csv files have it, printed by Python or JSON), or a list of
        documents with ``page_content``, ``text`` or ``content``, whose ids become ``context_ids``. Fields may be inside ``inputs``
        and ``outputs`` (LangSmith), or in a list of ``messages``.

        Args:
            record: The fields by name.
            columns: Your own names, each with the field that it stands for; dots lead into objects.

        Raises:
            InvalidSampleError: A field has a type that cannot be read, or looks like a printed list
                that cannot be read back for certain.
        """
        value: object = record  # whatever a caller without a type checker passes
        if not isinstance(value, Mapping):
            raise InvalidSampleError(
                f"a record must be a mapping of fields, got {type(value).__name__}"
            )
        dialogue, fields, rest = parts_of(record, columns or {})
        if dialogue is not None:
            fields = fields_in(dialogue) | fields
        return cls.of_parts(fields, rest)

    @classmethod
    def of_parts(cls, fields: Fields, rest: Fields) -> Sample:
        """Make a sample from the fields in a record and all else that it has; see `parts_of`.

        Raises:
            InvalidSampleError: A field has another type.
        """
        rest = {name: value for name, value in rest.items() if not _is_result(value)}
        metadata = rest.pop("metadata", None)
        if isinstance(metadata, Mapping):
            rest = {**metadata, **rest}
        elif metadata is not None:
            rest["metadata"] = metadata
        turn_fields = {
            field: rest.pop(name) for field, name in _OF_TURNS.items() if name in rest
        }
        return cls(**{**fields, **turn_fields}, metadata=rest)

    def field(self, name: str) -> str | None:
        """One of the text fields as a single string; contexts are joined by blank lines."""
        value = getattr(self, name)
        if isinstance(value, tuple):
            return "\n\n".join(value)
        return value  # type: ignore[no-any-return]  # every other field is str | None
