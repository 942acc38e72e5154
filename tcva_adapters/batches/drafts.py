"""Files of requests as large as a provider takes them, one model to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from tcva_adapters.batches.ledger import Entry, Ledger
from tcva_adapters.batches.lines import request_line
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.output import new_file

_AROUND: Final = 200
"""Bytes of a line around its body, and more."""

_BYTES_PER_TOKEN: Final = 3.5
"""English prose has four or more; what is counted too high waits, what is too low is refused."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a provider takes; by default OpenAI's.

    Attributes:
        requests: In one file.
        bytes: Of one file.
        tokens: Of the prompts of all batches of a model that are under way, about; None where the
            account's limit is not known. What is over it is turned away, and sent again later.

    Raises:
        InvalidValueError: One of them is below 1.
    """

    requests: int = 50_000
    bytes: int = 200_000_000
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("requests", "bytes", "tokens"):
            value = getattr(self, name)
            is_number = isinstance(value, int) and not isinstance(value, bool)
            if not (is_number and value >= 1) and not (name == "tokens" and value is None):
                msg = f"{name}={value!r}; a limit of a batch is a whole number from 1 up"
                raise InvalidValueError(msg)


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a question.

    Attributes:
        model: Who is asked.
        question: Whose turn.
        turn: Which one, from 0.
        tries: How often it was asked, this time included.
        body: What is asked.
    """

    model: str
    question: str
    turn: int
    tries: int
    body: Mapping[str, Any]

    def line(self) -> bytes:
        """The request as a line of a file."""
        return request_line(self.question, self.turn, self.tries, self.body)


@dataclass
class _Draft:
    """A file that is being written."""

    number: int
    stream: BinaryIO
    requests: int = 0
    size: int = 0
    tokens: int = 0


@dataclass
class Drafts:
    """The files of one round, written inside one transaction of the ledger.

    Attributes:
        ledger: Where requests and files are noted.
        folder: Where the files are written.
        round: The round's number.
        limits: Of a file.
        number: The last file's.
        count: Requests written.
    """

    ledger: Ledger
    folder: Path
    round: int
    limits: Limits
    number: int
    count: int = 0
    _open: dict[str, _Draft] = field(default_factory=dict)

    def fits(self, body: Mapping[str, Any]) -> bool:
        """Whether any file can hold this request."""
        return _AROUND + len(json.dumps(body)) <= self.limits.bytes

    def ask(self, request: Request, dropped: Mapping[str, str]) -> None:
        """Write a request into the file of its model, and note it.

        Args:
            request: What is asked.
            dropped: What its server was known to refuse when its question was first asked.
        """
        model, line = request.model, request.line()
        size, tokens = len(line), int(len(line) / _BYTES_PER_TOKEN)
        draft = self._open.get(model)
        if draft is not None and self._is_full(draft, size, tokens):
            self._close(model)
            draft = None
        if draft is None:
            draft = self._open[model] = self._new()
        self.ledger.ask(request.question, request.turn, request.tries, dropped, draft.number)
        draft.stream.write(line)
        draft.requests += 1
        draft.size += size
        draft.tokens += tokens
        self.count += 1

    def close(self) -> None:
        """End all files; they are on the disk when this returns."""
        for model in list(self._open):
            self._close(model)

    def discard(self) -> None:
        """Close what was begun; a later round writes over it."""
        for draft in self._open.values():
            draft.stream.close()

    def _is_full(self, draft: _Draft, size: int, tokens: int) -> bool:
        most = self.limits.tokens
        return (
            draft.requests >= self.limits.requests
            or draft.size + size > self.limits.bytes
            or (most is not None and draft.tokens + tokens > most)
        )

    def _new(self) -> _Draft:
        self.number += 1
        path = path_of(self.folder, self.number)
        path.unlink(missing_ok=True)  # of a round that was interrupted
        return _Draft(self.number, os.fdopen(new_file(path), "wb"))

    def _close(self, model: str) -> None:
        draft = self._open.pop(model)
        with draft.stream as stream:
            stream.flush()
            os.fsync(stream.fileno())
        self.ledger.add(
            Entry(draft.number, self.round, model, draft.requests, draft.tokens, "ready")
        )


def path_of(folder: Path, number: int) -> Path:
    """Where the requests of a batch are, until they are answered."""
    return folder / f"batch-{number:04d}.jsonl"
