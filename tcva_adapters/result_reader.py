"""Read results of every kind back from a framework, a file or a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.result import Result
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import json_object
from tcva_adapters.samples.row_stream import RowStream
from tcva_adapters.samples.sources import Source

AnyResult: TypeAlias = Result | CCRSResult
"""A result of any kind; a `ConversationResult` is a `Result`, too."""

_CLASSES: dict[str, type[Result | CCRSResult]] = {
    result_class.kind: result_class
    for result_class in (Result, CCRSResult, ConversationResult)
}


def read_result(carried: str | bytes | Fields) -> AnyResult:
    """Read a result of any kind back from its JSON.

    Args:
        carried: The return value of a result's ``to_json`` or ``to_dict``; further fields are
            ignored.

    Raises:
        UnreadableInputError: ``carried`` is not a result.

    >>> result = Result(Assessment.from_verdicts(["fully", "minor"]))
    >>> read_result(result.to_json()) == result
    True
    """
    fields: object = carried
    if isinstance(carried, str | bytes):
        fields = json_object(
            carried, what=f"a result but {carried[:40]!r} (read_results reads files)"
        )
    if not isinstance(fields, Mapping):
        raise UnreadableInputError(f"not a result, got {type(fields).__name__}")
    kind = fields.get("kind")
    result_class = _CLASSES.get(str(kind))
    if result_class is None:
        known = ", ".join(_CLASSES)
        raise UnreadableInputError(
            f"not a result: its kind is {kind!r}; this version reads {known}"
        )
    return result_class.from_dict(fields)


def read_results(source: Source, *, skip_bad: bool = False) -> list[AnyResult]:
    """Read the results that `write_results` or ``tcva evaluate --out`` wrote.

    A line with an assessment alone, without settings of a score, becomes a `Result` under the
    default settings.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file: jsonl, or json with a list.
        skip_bad: Go on after a bad row.

    Raises:
        UnreadableInputError: As for `read_samples`.
        InvalidValueError: The file is HTML, or a pipe with an unknown suffix.

    >>> import io
    >>> line = Result(Assessment.from_verdicts(["fully", "minor"])).to_json()
    >>> [round(result.at("strict").score, 3) for result in read_results(io.StringIO(line))]
    [0.338]
    """
    return [*RowStream(source, None, read=_read_row, skip_bad=skip_bad)]


def _read_row(fields: Fields) -> AnyResult:
    if "kind" in fields:
        return read_result(fields)
    return Result(Assessment.from_dict(fields))
