"""From RAGAS' columns to samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import R, Scorer
from tcva_adapters.results.assessment import Reason
from tcva_adapters.samples.sample import Sample

COLUMNS: Final = {
    "input": "user_input",
    "response": "response",
    "contexts": "retrieved_contexts",
    "reference": "reference",
}


def sample_of(columns: Mapping[str, Any]) -> Sample:
    """The sample in RAGAS' columns; others are left out.

    Raises:
        InvalidSampleError: A column has a type that cannot be read.
    """
    return Sample.from_record({name: columns.get(name) for name in COLUMNS.values()})


def sample_or_unscored(scorer: Scorer[R], columns: Mapping[str, Any]) -> Sample | R:
    """The sample in RAGAS' columns, or the result of columns that cannot be read."""
    try:
        return sample_of(columns)
    except InvalidSampleError as error:
        return scorer.unscored(Reason.INVALID_INPUT, str(error))


def checked_rows(inputs: Iterable[Any]) -> list[dict[str, Any]]:
    """The inputs of a batch, each with all of RAGAS' columns.

    Raises:
        InvalidSampleError: An input is no dict, or has a field that no metric knows.
    """
    known = ", ".join(COLUMNS.values())
    rows = []
    for number, given in enumerate(inputs):
        if not isinstance(given, Mapping):
            kind = type(given).__name__
            msg = f"input {number} of the batch is a {kind}; it is a dict with {known}"
            raise InvalidSampleError(msg)
        for key in given:
            if key not in COLUMNS.values():
                msg = f"input {number} of the batch has a field {key!r}; the fields are {known}"
                raise InvalidSampleError(msg)
        rows.append({name: given.get(name) for name in COLUMNS.values()})
    return rows
