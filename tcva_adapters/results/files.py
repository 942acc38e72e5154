"""Assessments into files, and back."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Final, Protocol, TextIO

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import visible_in_json
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.samples.output import replacing
from tcva_adapters.samples.records import Source, collect_rows, format_of, name_of


@dataclass(frozen=True, slots=True)
class AssessmentFile:
    """What was read from a file of assessments; attributes as those of `SampleFile`."""

    assessments: list[Assessment]
    lines: list[int]
    bad: list[tuple[int, str]]


def read_assessments(source: Source, *, skip_bad: bool = False) -> AssessmentFile:
    """Read what `write_assessments` wrote: jsonl, or json for a file of that suffix.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        skip_bad: Go on after a bad row and collect it in ``bad``.

    Raises:
        UnreadableInputError: As for `read_samples`.
        InvalidValueError: The suffix is that of another format.
    """
    kind = format_of(source)
    if kind not in ("jsonl", "json"):
        msg = f"assessments are read from jsonl or json, not from {kind} ({name_of(source)})"
        raise InvalidValueError(msg)
    return AssessmentFile(
        *collect_rows(
            source,
            kind,
            skip_bad=skip_bad,
            read=lambda record: Assessment.from_json(json.dumps(record)),
        )
    )


class OneLine(Protocol):
    """What can be written as a line: an `Assessment`, or a `CCRSResult`."""

    def to_json(self) -> str:
        """The line, without its end."""


OURS: Final = re.compile(rb'{"(schema_version": ?\d|kind": "(tcva|ccrs)")')
"""How files of assessments and of results begin."""


def write_assessments(
    target: Source, assessments: Iterable[OneLine], *, overwrite: bool = False
) -> int:
    """Write one assessment (or CCRS result) per line, as they come, and return how many there were.

    A file appears under its name once it is complete, so an interrupted run leaves the former
    file as it was. Missing folders are made.

    Args:
        target: A path, ``"-"`` for standard output, or an open text file.
        assessments: May be an iterator.
        overwrite: Take the place of a file that is no such file, too.

    Raises:
        InvalidValueError: The file cannot be written, or was written by something else.

    >>> import io
    >>> write_assessments(io.StringIO(), [Assessment.from_verdicts(["fully"])])
    1
    """
    if target == "-":
        return _write(sys.stdout, assessments, visible_in_json)
    if not isinstance(target, str | Path):
        return _write(target, assessments)
    with replacing(target, ours=OURS, overwrite=overwrite) as binary:
        stream = TextIOWrapper(binary, encoding="utf-8", newline="\n")
        number = _write(stream, assessments)
        stream.detach()
    return number


def _write(stream: TextIO, assessments: Iterable[OneLine], form: Callable[[str], str] = str) -> int:
    number = 0
    for number, assessment in enumerate(assessments, start=1):  # noqa: B007  # the last is the count
        stream.write(form(assessment.to_json()) + "\n")
    stream.flush()
    return number
