"""What is judged: one question, answer, context and reference, under any framework's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.checked import Checked
from tcva_adapters.samples.fields import fields_of


def whole_characters(text: str) -> str:
    """A text that can be encoded: halves of characters, which JSON escapes can name, replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _one_text_is_one_passage(value: Any) -> Any:
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return value


Text = Annotated[str, AfterValidator(whole_characters)]
Passages = Annotated[
    Sequence[Text], BeforeValidator(_one_text_is_one_passage), AfterValidator(tuple)
]


class Sample(Checked):
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

    refusal = InvalidSampleError

    input: Text | None = None
    response: Text | None = None
    contexts: Passages | None = None
    reference: Text | None = None
    id: Text | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def from_record(
        cls, record: Mapping[str, Any], columns: Mapping[str, str] | None = None
    ) -> Sample:
        """A sample from a record with the field names of any of the four frameworks.

        Unknown fields are kept as metadata, as are further names of a field already filled; nan is
        no value. A context may be one string, a list of strings, the text of a list (as csv files
        hold it, printed by Python or JSON), or a list of documents with ``page_content``, ``text``
        or ``content``. Fields may lie in ``inputs`` and ``outputs`` (LangSmith), or in a list of
        ``messages``.

        Args:
            record: By field name.
            columns: Names of your own to the fields that they hold; dots lead into objects.

        Raises:
            InvalidSampleError: A field has a type that cannot be read, or what looks like a printed
                list cannot be read back for certain.
        """
        fields, rest = fields_of(record, columns or {})
        metadata = rest.pop("metadata", None)
        if isinstance(metadata, Mapping):
            rest = {**metadata, **rest}
        elif metadata is not None:
            rest["metadata"] = metadata
        return cls(**fields, metadata=rest)

    def field(self, name: str) -> str | None:
        """One of the text fields as a single string; contexts are joined by blank lines."""
        value = getattr(self, name)
        if isinstance(value, tuple):
            return "\n\n".join(value)
        return value  # type: ignore[no-any-return]  # every other field is str | None
