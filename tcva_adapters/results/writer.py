"""Write results and assessments into files, line by line as they arrive."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, Generic, TextIO, TypeAlias, TypeVar, cast

from tcva_adapters.console import ascii_json
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.protocol import Scored
from tcva_adapters.samples.file_writing import check_replaceable, replacing
from tcva_adapters.samples.sources import Source, is_path

STDOUT = "-"

RESULTS_BEGINNING = re.compile(
    rb'\[?{("source": "([^"\\]|\\.)*", )?"(schema_version": ?\d|kind": "(tcva|ccrs|conversation)")'
)
"""How files of assessments and of results begin."""

_SUFFIXES = ("", ".jsonl", ".ndjson")


OneLine: TypeAlias = Assessment | Scored
"""What is written as one line."""

R = TypeVar("R", bound=OneLine)


def write_results(
    target: Source, results: Iterable[OneLine], *, overwrite: bool = False
) -> int:
    """Write one result (or assessment) per line, as they come, and return how many there were.

    A file appears under its name once it is complete, so an interrupted run leaves the former
    file as it was. Missing folders are made.

    Args:
        target: A path, ``"-"`` for standard output, or an open text file.
        results: May be an iterator.
        overwrite: Also replace a file that was written by something else.

    Raises:
        InvalidValueError: The file cannot be written, its suffix is that of another format, it was
            written by something else, or an argument has another type.

    >>> import io
    >>> write_results(io.StringIO(), [Assessment.from_verdicts(["fully"])])
    1
    """
    if not isinstance(results, Iterable):
        raise InvalidValueError(
            f"results must be a list or an iterator, got {results!r:.80}; "
            f"write one result as [result]"
        )
    with Writing[OneLine](target, Assessment.from_json, overwrite=overwrite) as writing:
        for result in results:
            if not hasattr(result, "to_json"):
                raise InvalidValueError(
                    f"results must be results or assessments, got {result!r:.80}; "
                    "the file comes first, the results second"
                )
            writing.add(result)
    return writing.number


def _check_suffix(path: str | Path) -> None:
    suffix = Path(path).suffix
    if suffix.lower() not in _SUFFIXES:
        raise InvalidValueError(
            f"cannot write {path}: results are jsonl, not {suffix}; name a .jsonl file"
        )


def beginning(target: str, samples: str, *, overwrite: bool = False) -> str:
    r"""Build the beginning of each line of results: the samples' path, relative to the results.

    Args:
        target: The file of results, or ``"-"``.
        samples: The file of samples, or ``"-"``.
        overwrite: Also replace results of other samples.

    Raises:
        InvalidValueError: The target has the suffix of another format, or holds results of other
            samples.

    >>> beginning("runs/july.jsonl", "samples.jsonl")
    '{"source": "../samples.jsonl", '
    """
    _check_suffix(target)
    text = f'{{"source": {json.dumps(os.path.relpath(Path(samples), Path(target).parent))}, '
    pattern = re.compile(re.escape(text).encode())
    what = f"holds results of other samples than {samples}"
    check_replaceable(target, pattern, overwrite=overwrite, what=what)
    return text


class Writing(ExitStack, Generic[R]):
    """A file of results, written as they arrive; it appears under its name once all are written.

    Args:
        target: A path, ``"-"`` for standard output, or an open text file; None writes nothing.
        read: Makes a result of its JSON.
        fingerprint: See `replacing`.
        overwrite: See `replacing`.
        begins: How each line begins, see `beginning`.

    Attributes:
        number: The number of results so far, those of an interrupted run included.

    Raises:
        InvalidValueError: As for `replacing`, or the suffix is that of another format.
    """

    def __init__(
        self,
        target: Source | None,
        read: Callable[[bytes], R],
        *,
        fingerprint: str | None = None,
        overwrite: bool = False,
        begins: str = "{",
    ) -> None:
        super().__init__()
        self.number = 0
        self._target = target
        self._read = read
        self._begins = begins
        self._file: BinaryIO | None = None
        if is_path(target):
            _check_suffix(target)
            self._file = self.enter_context(
                replacing(
                    target,
                    beginning=RESULTS_BEGINNING,
                    overwrite=overwrite,
                    fingerprint=fingerprint,
                )
            )

    def earlier(self, *, is_stored: bool = False) -> Iterator[R]:
        """Yield the results that an interrupted run has written, and cut off the file behind them.

        Reading stops at a half-written line. Failures at the end are cut off, too, so that they
        are tried again.

        Args:
            is_stored: Whether a store has all judgements. Reading then stops at the first failure:
                it is tried again, and the results behind it come from the store.
        """
        if self._file is None or not self._file.readable():
            return
        failed = []
        read = size = 0
        for line in takewhile(lambda line: line.endswith(b"\n"), self._file):
            try:
                result = self._read(line)
            except UnreadableInputError:
                break
            judged = getattr(result, "assessment", result)
            is_failed = (
                result.unscored.reason.is_failure
                if result.unscored
                else getattr(judged, "failed_judges", ())
            )
            if is_failed and is_stored:
                break
            failed.append(result)
            read += len(line)
            if not is_failed:
                size = read
                self.number += len(failed)
                yield from failed
                failed.clear()
        self._file.truncate(size)
        self._file.seek(size)

    def add(self, result: R) -> None:
        """Write one result and flush it, so that a kill of this process does not lose it."""
        self.number += 1
        if self._target is None:
            return
        text = self._begins + result.to_json()[1:]
        if self._file is not None:
            self._file.write(f"{text}\n".encode())
            self._file.flush()
        elif self._target == STDOUT:
            sys.stdout.write(f"{ascii_json(text)}\n")
            sys.stdout.flush()
        else:
            cast("TextIO", self._target).write(f"{text}\n")
