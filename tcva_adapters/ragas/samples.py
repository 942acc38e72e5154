"""From RAGAS' columns to samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.sample import Sample


class Row(NamedTuple):
    """What RAGAS' newer metrics take, by the names of the columns."""

    user_input: Any = None
    response: Any = None
    retrieved_contexts: Any = None
    reference: Any = None


COLUMNS: Final = dict(zip(("input", "response", "contexts", "reference"), Row._fields, strict=True))
"""RAGAS' names of a sample's fields."""


def sample_of(columns: Mapping[str, Any]) -> Sample:
    """The sample in RAGAS' columns; others are left out.

    Raises:
        InvalidSampleError: A column has a type that cannot be read.
    """
    return Sample.from_record({name: columns.get(name) for name in COLUMNS.values()})


def checked_rows(inputs: Iterable[Any]) -> list[dict[str, Any]]:
    """The inputs of a batch, each with all of RAGAS' columns.

    Raises:
        InvalidSampleError: An input is no dict, or has a field that no metric knows.
    """
    rows = []
    for number, given in enumerate(inputs):
        try:
            rows.append(Row(**given)._asdict())
        except TypeError:
            known = ", ".join(COLUMNS.values())
            is_dict = isinstance(given, Mapping)
            what = f"has the fields {[*given]}" if is_dict else f"is a {type(given).__name__}"
            msg = f"input {number} of the batch {what}; it is a dict with {known}"
            raise InvalidSampleError(msg) from None
    return rows
