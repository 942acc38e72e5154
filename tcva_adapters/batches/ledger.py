"""What was asked in batches and what came of it, in one SQLite file that a kill leaves whole.

A question is what one judge is asked about one sample, under the key that the store has for it. Its
turns are the requests of its conversation, from 0. A turn has no row before it is asked, a batch
while it is under way, and an outcome once it needs no further asking.

The file is locked for as long as it is open: two commands at once would ask twice.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tcva_adapters.batches.lines import Line
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.models.openai_exchange import Answer
from tcva_adapters.samples.output import make_folder, new_file

NAME: Final = "ledger.sqlite"
VERSION: Final = 2
UNDER_WAY: Final = "sent"
LOST: Final = "not found"
ENDED: Final = frozenset({"collected", "stopped", "split"})
"""States of batches, and the status of one under way that its server does not have; see `Entry`."""

_APPLICATION_ID: Final = 0x54434241  # "TCBA"

_CREATE: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE batches (
    number INTEGER PRIMARY KEY, round INTEGER NOT NULL, model TEXT NOT NULL,
    requests INTEGER NOT NULL, tokens INTEGER NOT NULL, state TEXT NOT NULL,
    file TEXT NOT NULL, id TEXT NOT NULL, tries INTEGER NOT NULL, status TEXT NOT NULL,
    said TEXT NOT NULL, completed INTEGER NOT NULL, failed INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL
);
CREATE TABLE turns (
    question TEXT NOT NULL, turn INTEGER NOT NULL, dropped TEXT NOT NULL, batch INTEGER,
    tries INTEGER NOT NULL, status INTEGER, body TEXT, PRIMARY KEY (question, turn)
) WITHOUT ROWID;
CREATE INDEX turns_of_batch ON turns (batch)
"""
_BATCH: Final = (
    "number, round, model, requests, tokens, state, file, id, tries, status, said, completed, "
    "failed, input_tokens, output_tokens"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One request of a question, as it was asked the last time.

    Attributes:
        dropped: What the server was known to refuse when the question was first asked, with its
            reasons.
        is_open: Whether it is to be asked again.
        tries: How often it was asked.
        answer: What came of it; None where that is not known yet.
    """

    dropped: Mapping[str, str]
    is_open: bool
    tries: int
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A batch, as the ledger has it.

    Attributes:
        number: From 1.
        round: From 1: how far the conversations have come that are in it.
        model: Who is asked.
        requests: How many.
        tokens: About how many tokens their prompts have.
        state: ``ready`` (its file is written), ``uploading``, ``uploaded``, ``creating``, ``sent``,
            ``collected``, ``stopped`` (it failed or was cancelled as a whole), ``split`` (its
            requests went into smaller ones).
        file: The server's name for the file of requests.
        id: The server's name for the batch.
        tries: How often it was created.
        status: The server's word for how far it is, or ``not found``.
        said: Why it stopped, waits or was not found, in a sentence.
        completed: Requests answered, as far as the server told.
        failed: Requests refused, likewise.
        input_tokens: What the answers cost, by their own account.
        output_tokens: Likewise.
    """

    number: int
    round: int
    model: str
    requests: int
    tokens: int
    state: str
    file: str = ""
    id: str = ""
    tries: int = 0
    status: str = ""
    said: str = ""
    completed: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def is_lost(self) -> bool:
        """Whether it was sent, and its server does not have it or its results."""
        return self.state == UNDER_WAY and self.status == LOST


class BusyError(InvalidValueError):
    """Another command has the ledger open."""


class Ledger:
    """The ledger of a submission; use it in a with statement.

    Args:
        folder: Where it lies; made where it is missing.
        is_new: Make it where it is missing.

    Raises:
        BusyError: Another command has it open.
        InvalidValueError: There is none, it was not finished, or it cannot be made.
        UnreadableInputError: It is no ledger, or one of a newer version.
    """

    def __init__(self, folder: Path, *, is_new: bool = False) -> None:
        self._path = path = folder / NAME
        if not is_new and not path.is_file():
            msg = f"{folder} holds no submission; 'tcva submit' makes one"
            raise InvalidValueError(msg)
        try:
            make_folder(folder)
            with suppress(FileExistsError):
                os.close(new_file(path))  # SQLite would make it for everybody to read
        except OSError as error:
            msg = f"{path} cannot be made: {error.strerror or error}; give another folder"
            raise InvalidValueError(msg) from error
        self._db = sqlite3.connect(path, isolation_level=None, timeout=1.0)
        try:
            self._open(path, is_new=is_new)
        except sqlite3.Error as error:
            self._db.close()
            raise _refused(path, error) from error
        except BaseException:
            self._db.close()
            raise

    def _open(self, path: Path, *, is_new: bool) -> None:
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("BEGIN EXCLUSIVE")  # from here on nobody else has it
        (whose,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if not tables and not whose:
            for statement in _CREATE.split(";\n"):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            self._db.execute(f"PRAGMA user_version = {VERSION}")
        elif whose != _APPLICATION_ID or version != VERSION:
            msg = f"{path} is no submission of this version; give another folder"
            raise UnreadableInputError(msg)
        self._db.execute("COMMIT")
        if not is_new and self.get("samples") is None:
            msg = f"'tcva submit' was stopped before {path.parent} was whole; give it once more"
            raise InvalidValueError(msg)

    def __enter__(self) -> Self:
        """The ledger."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it; what was not committed is as if it had not been.

        Raises:
            UnreadableInputError: The block failed on the file, as where the disk is full.
        """
        self._db.close()
        if isinstance(error, sqlite3.Error):
            raise _refused(self._path, error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written in the block, or nothing of it."""
        self._db.execute("BEGIN")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # SQLite has ended it by itself where the disk is full
                self._db.execute("ROLLBACK")
            raise

    def get(self, name: str, default: Any = None) -> Any:
        """A value of the submission as a whole."""
        row = self._db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return default if row is None else json.loads(row[0])

    def put(self, **values: Any) -> None:
        """Note values of the submission as a whole; JSON values."""
        self._db.executemany(
            "INSERT OR REPLACE INTO about VALUES (?, ?)",
            [(name, json.dumps(value)) for name, value in values.items()],
        )

    def batches(self) -> list[Entry]:
        """All batches, in the order in which they were made."""
        rows = self._db.execute(f"SELECT {_BATCH} FROM batches ORDER BY number")  # noqa: S608  # names of ours
        return [Entry(*row) for row in rows]

    def add(self, batch: Entry) -> None:
        """Note a batch whose file is written."""
        values = [getattr(batch, name.strip()) for name in _BATCH.split(",")]
        marks = ", ".join("?" * len(values))
        self._db.execute(f"INSERT INTO batches ({_BATCH}) VALUES ({marks})", values)  # noqa: S608  # as above

    def update(self, number: int, **values: Any) -> None:
        """Note what changed of a batch."""
        names = ", ".join(f"{name} = ?" for name in values)
        self._db.execute(
            f"UPDATE batches SET {names} WHERE number = ?",  # noqa: S608  # as above
            (*values.values(), number),
        )

    def turns(self, question: str) -> dict[int, Turn]:
        """The turns of a question that were asked, by their numbers, which rise."""
        rows = self._db.execute(
            "SELECT turn, dropped, batch, tries, status, body FROM turns WHERE question = ? ORDER BY turn",
            (question,),
        )
        return {number: _turn(*row) for number, *row in rows}

    def ask(
        self, question: str, turn: int, tries: int, dropped: Mapping[str, str], batch: int
    ) -> None:
        """Note that a turn is in a batch, and how often it was asked with this one."""
        self._db.execute(
            "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, NULL, NULL)",
            (question, turn, json.dumps(dropped), batch, tries),
        )

    def forget(self, question: str) -> None:
        """Ask a question anew, from its first turn."""
        self._db.execute("DELETE FROM turns WHERE question = ?", (question,))

    def answer(self, batch: int, lines: Iterable[Line], most: int) -> tuple[int, int]:
        """Note what came of requests of a batch; those that have an outcome keep it.

        Lines of other requests, and second ones of a request, are passed over.

        Args:
            batch: Its number.
            lines: What came.
            most: How often a request is asked at most; until then one that may be answered another
                day is to be asked again.

        Returns:
            The input and output tokens that the lines cost.
        """
        input_tokens = output_tokens = 0
        for each in lines:
            noted = self._db.execute(
                "UPDATE turns SET status = ?1, body = ?2, "
                "batch = CASE WHEN ?3 AND tries < ?4 THEN NULL ELSE batch END "
                "WHERE question = ?5 AND turn = ?6 AND batch = ?7 AND status IS NULL",
                (each.status, each.body, each.is_passing, most, each.question, each.turn, batch),
            )
            if noted.rowcount:
                input_tokens += each.input_tokens
                output_tokens += each.output_tokens
        return input_tokens, output_tokens

    def left(self, batch: int) -> int:
        """How many turns of a batch have no outcome."""
        query = "SELECT COUNT(*) FROM turns WHERE batch = ? AND status IS NULL"
        (number,) = self._db.execute(query, (batch,)).fetchone()
        return int(number)

    def give_up(self, batch: int, status: int, body: str, most: int) -> None:
        """What a batch left without an outcome is asked again, or has this one at its last try."""
        for last in (False, True):
            self._db.execute(
                f"UPDATE turns SET status = ?, body = ?{'' if last else ', batch = NULL'} "  # noqa: S608  # as above
                f"WHERE batch = ? AND status IS NULL AND tries {'>=' if last else '<'} ?",
                (status, body, batch, most),
            )

    def take_back(self, batch: int) -> None:
        """What is in a batch that was never sent is to be asked in another one."""
        self._db.execute(
            "UPDATE turns SET batch = NULL, tries = tries - 1 WHERE batch = ?", (batch,)
        )

    def reopen(self, batch: int) -> None:
        """What a batch left without an outcome is asked again, whatever it was tried."""
        self._db.execute(
            "UPDATE turns SET batch = NULL, tries = 0 WHERE batch = ? AND status IS NULL", (batch,)
        )


def _turn(
    dropped: str, batch: int | None, tries: int, status: int | None, body: str | None
) -> Turn:
    is_open = batch is None
    answer = None
    if status is not None and not is_open:
        answer = Answer(status, (body or "null").encode(), sent=max(1, tries))
    return Turn(json.loads(dropped), is_open, tries, answer)


def _refused(path: Path, error: sqlite3.Error) -> InvalidValueError | UnreadableInputError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        msg = f"another command is at work on {path.parent}; try again when it is done"
        return BusyError(msg)
    if code == sqlite3.SQLITE_FULL:
        msg = f"{path} cannot grow: {error}; free some space, and give the same command again"
        return UnreadableInputError(msg)
    msg = f"{path} cannot be used: {error}; give another folder"
    return UnreadableInputError(msg)
