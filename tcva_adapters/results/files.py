"""Assessments into files, and back."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Final, Protocol, TextIO, TypeVar

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import encodable_json, visible_in_json
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.samples.output import replacing
from tcva_adapters.samples.records import Format, Source, format_of, name_of
from tcva_adapters.samples.rows import KEPT, RowStream

Item = TypeVar("Item")
_SUFFIXES: Final = ("", ".jsonl", ".ndjson", ".json")


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
    stream = stream_assessments(source, skip_bad=skip_bad, kept=None)
    return AssessmentFile(*stream.collected(), stream.bad)


def stream_assessments(
    source: Source, *, skip_bad: bool = False, kept: int | None = KEPT
) -> RowStream[Assessment]:
    """The same one after the other, whatever their number.

    Args:
        source: As for `read_assessments`.
        skip_bad: Go on after a bad row and count it; the first ones are kept in ``bad``.
        kept: How many of them; None keeps all.

    Raises:
        InvalidValueError: The suffix is that of another format. Errors of the rows come when they
            are read, as for `read_assessments`.
    """
    kind = format_of(source)
    if kind not in ("jsonl", "json"):
        msg = f"assessments are read from jsonl or json, not from {kind} ({name_of(source)})"
        raise InvalidValueError(msg)
    return RowStream(source, kind, skip_bad=skip_bad, read=Assessment.from_dict, kept=kept)


class OneLine(Protocol):
    """What can be written as a line: an `Assessment`, or a `CCRSResult`."""

    def to_json(self) -> str:
        """The line, without its end."""


OURS: Final = re.compile(rb'\[?{"(schema_version": ?\d|kind": "(tcva|ccrs)")')
"""How files of assessments and of results begin."""


def write_assessments(
    target: Source, assessments: Iterable[OneLine], *, overwrite: bool = False
) -> int:
    """Write one assessment (or CCRS result) per line, as they come, and return how many there were.

    A file appears under its name once it is complete, so an interrupted run leaves the former
    file as it was. Missing folders are made.

    A path that ends in ``.json`` gets a list of them.

    Args:
        target: A path, ``"-"`` for standard output, or an open text file.
        assessments: May be an iterator.
        overwrite: Take the place of a file that is no such file, too.

    Raises:
        InvalidValueError: The file cannot be written, its suffix is that of another format, or it
            was written by something else.

    >>> import io
    >>> write_assessments(io.StringIO(), [Assessment.from_verdicts(["fully"])])
    1
    """
    is_list = check_suffix(target) == "json"
    if target == "-":
        stdout = sys.stdout
        return _write(
            stdout, assessments, lambda line: encodable_json(visible_in_json(line), stdout)
        )
    if not isinstance(target, str | Path):
        return _write(target, assessments)
    with replacing(target, ours=OURS, overwrite=overwrite) as binary:
        stream = TextIOWrapper(binary, encoding="utf-8", newline="\n")
        number = _write(stream, assessments, is_list=is_list)
        stream.detach()
    return number


def check_suffix(target: Source) -> Format:
    """The format that assessments are written in under a name.

    Raises:
        InvalidValueError: The name is that of a file of another format.
    """
    suffix = Path(target).suffix if isinstance(target, str | Path) and target != "-" else ""
    if suffix.lower() not in _SUFFIXES:
        msg = (
            f"cannot write {target}: a result holds claims and quotes, and is written as jsonl or "
            f"json, not as {suffix}; name a file that ends in .jsonl or .json"
        )
        raise InvalidValueError(msg)
    return format_of(target)


def _write(
    stream: TextIO,
    assessments: Iterable[OneLine],
    form: Callable[[str], str] = str,
    *,
    is_list: bool = False,
) -> int:
    number = 0
    for number, assessment in enumerate(assessments, start=1):
        between = ("[" if number == 1 else ",") if is_list else ""
        stream.write(f"{between}{form(assessment.to_json())}\n")
    if is_list:
        stream.write("]\n" if number else "[]\n")
    stream.flush()
    return number
