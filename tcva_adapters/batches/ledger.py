"""The ledger of a submission: requests and their outcomes, in one SQLite file that a kill leaves whole.

A question is what one judge is asked about one sample, under its key in the store. Its requests are
numbered from 0 through all rounds; the tables call them turns. A request gets a row when it is asked. A
row without a batch goes into the next one; status and body are set with the outcome.

The file is locked as long as it is open: two commands at once would ask twice.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcva_adapters.batches.request_lines import Line
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.file_writing import make_folder, new_file

WAITING, SENT, LOST, STOPPED, ENDED = "waiting", "sent", "not found", "stopped", "ended"
"""States of a batch: still to be sent; at its server; not (or no longer) known there; ended, with
requests that have no outcome (failed, cancelled); ended, with all outcomes in the ledger."""

MAX_BYTES = 200_000_000
"""The most bytes of the requests of one batch that OpenAI takes."""

_VERSION = 0x54434203  # also distinguishes a ledger from other files

_CREATE = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE samples (line BLOB NOT NULL);
CREATE TABLE batches ( -- file, id and status are the server's words
    number INTEGER PRIMARY KEY, model TEXT NOT NULL, requests INTEGER DEFAULT 0,
    state TEXT DEFAULT 'waiting', file TEXT DEFAULT '', id TEXT DEFAULT '',
    status TEXT DEFAULT '', detail TEXT DEFAULT '', completed INTEGER DEFAULT 0,
    failed INTEGER DEFAULT 0
);
CREATE TABLE turns (
    number INTEGER PRIMARY KEY, question TEXT, turn INTEGER, model TEXT, request BLOB,
    batch INTEGER, tries INTEGER DEFAULT 1, status INTEGER, body TEXT, UNIQUE (question, turn)
);
CREATE INDEX turns_of_batch ON turns (batch)
"""


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A row of the table of batches, in the order of its columns."""

    number: int
    model: str
    requests: int
    state: str
    file: str
    id: str
    status: str
    detail: str
    completed: int
    failed: int


@contextmanager
def open_ledger(folder: Path, *, is_new: bool = False) -> Iterator[Ledger]:
    """Open the ledger of a submission, for this command alone.

    Args:
        folder: The folder of the submission.
        is_new: Create the ledger if it is missing.

    Raises:
        InvalidValueError: There is no ledger, another command has it open, it is not of this
            version, or it cannot be written.
    """
    path = folder / "ledger.sqlite"
    if not is_new and not path.is_file():
        raise InvalidValueError(
            f"no batch was submitted in folder {folder}; use 'tcva batch submit' first"
        )
    make_folder(folder)
    with suppress(FileExistsError):
        os.close(new_file(path))  # SQLite would make it readable for everybody
    db = sqlite3.connect(path, isolation_level=None, timeout=1.0)
    try:
        yield Ledger(db, path)
    except sqlite3.Error as error:
        why = "another command may be using it, the disk may be full, or it is not a submission"
        raise InvalidValueError(f"{path} cannot be used: {error}; {why}") from error
    finally:
        db.close()


class Ledger:
    """An open ledger."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")  # locks out other commands from here on
        (version,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if version == tables == 0:
            for statement in _CREATE.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {_VERSION}")
        elif version != _VERSION:
            raise InvalidValueError(
                f"{path} is not a submission of this version; use another folder"
            )
        db.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything in the block, or nothing of it."""
        self._db.execute("BEGIN")
        with self._db:
            yield

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value of the submission as a whole."""
        row = self._db.execute(
            "SELECT value FROM about WHERE name = ?", (name,)
        ).fetchone()
        return default if row is None else json.loads(row[0])

    def put(self, **values: object) -> None:
        """Store JSON values of the submission as a whole."""
        self._db.executemany(
            "INSERT OR REPLACE INTO about VALUES (?, ?)",
            [(name, json.dumps(value)) for name, value in values.items()],
        )

    def put_samples(self, samples: Iterable[bytes]) -> int:
        """Store the samples, and return how many there are."""
        written = self._db.executemany(
            "INSERT INTO samples VALUES (?)", ((line,) for line in samples)
        )
        return max(0, written.rowcount)

    def samples(self) -> Iterator[list[bytes]]:
        """Yield the samples as they were submitted, in pages."""
        return self._paged("SELECT rowid, line FROM samples WHERE rowid > ?")

    def requests(self, batch: int) -> Iterator[list[bytes]]:
        """Yield the requests of a batch, in pages."""
        return self._paged(
            "SELECT number, request FROM turns WHERE number > ? AND batch = ?", batch
        )

    def _paged(self, query: str, *values: int) -> Iterator[list[bytes]]:
        """Yield pages of the second column by rising first; an open query would hold the file's lock."""
        last = 0
        query = f"{query} ORDER BY 1 LIMIT 500"
        while rows := self._db.execute(query, (last, *values)).fetchall():
            yield [line for _, line in rows]
            last = rows[-1][0]

    def batches(self, *states: str) -> list[BatchRow]:
        """Return the batches in these states, or all, in the order in which they were made."""
        rows = self._db.execute("SELECT * FROM batches ORDER BY number")
        batches = (BatchRow(*row) for row in rows)
        return [batch for batch in batches if not states or batch.state in states]

    def update(self, number: int, **values: str | int) -> None:
        """Store changed values of a batch."""
        names = ", ".join(f"{name} = ?" for name in values)
        query = f"UPDATE batches SET {names} WHERE number = ?"  # noqa: S608  # names of ours
        self._db.execute(query, (*values.values(), number))

    def requests_of(self, question: str) -> dict[int, tuple[int, int | None, str]]:
        """Return the requests of a question that were asked, by number.

        Of each there is how often it was sent, and the status and body of its outcome, if it has one.
        """
        return {
            number: (tries, status, body)
            for number, tries, status, body in self._db.execute(
                "SELECT turn, tries, status, body FROM turns WHERE question = ?",
                (question,),
            )
        }

    def ask(self, model: str, question: str, number: int, line: bytes) -> None:
        """Store a request for the next batch."""
        self._db.execute(
            "INSERT INTO turns (model, question, turn, request) VALUES (?, ?, ?, ?)",
            (model, question, number, line),
        )

    def forget(self, question: str) -> None:
        """Delete the requests of a question, so that it is asked anew."""
        self._db.execute("DELETE FROM turns WHERE question = ?", (question,))

    def cut(self, most: int) -> None:
        """Put all requests without a batch into new batches of at most ``most``, one model to each."""
        last_model = None
        batch = requests = size = 0
        for number, model, length in self._db.execute(
            "SELECT number, model, LENGTH(request) FROM turns WHERE batch IS NULL"
            " ORDER BY model, number"
        ).fetchall():
            if model != last_model or requests >= most or size + length > MAX_BYTES:
                made = self._db.execute(
                    "INSERT INTO batches (model) VALUES (?)", (model,)
                )
                batch = made.lastrowid or 0
                last_model = model
                requests = size = 0
            requests += 1
            size += length
            self._db.execute(
                "UPDATE turns SET batch = ? WHERE number = ?", (batch, number)
            )
            self.update(batch, requests=requests)

    def answer(self, batch: int, line: Line) -> None:
        """Store the outcome of a request of a batch; the first answer to it stays."""
        self._db.execute(
            "UPDATE turns SET status = ?, body = ?"
            " WHERE (question, turn, batch) = (?, ?, ?) AND status IS NOT 200",
            (line.status, line.body, line.question, line.request, batch),
        )

    def settle(self, batch: int, *, unanswered: str | None, tries: int) -> bool:
        """Take requests that may succeed later out of a batch, if they were sent less than ``tries`` times.

        They have a status after which the openai package, too, asks again. The texts of the other
        requests that have an outcome are dropped.

        Args:
            batch: The number of a batch that ended.
            unanswered: Why requests without a line have none; None leaves them as they are.
            tries: How often a request is sent at most.

        Returns:
            Whether requests are left without an outcome.
        """
        values: dict[str, str | int] = {"batch": batch, "tries": tries}
        free = "status = NULL, batch = NULL, tries = tries + 1"
        again = "tries < :tries AND (status IN (408, 409, 429) OR status >= 500)"
        changes = [(free, again), ("request = NULL", "status IS NOT NULL")]
        if unanswered is not None:
            values["body"] = json.dumps({"error": {"message": unanswered}})
            changes.insert(0, ("status = 408, body = :body", "status IS NULL"))
        for change, which in changes:
            query = f"UPDATE turns SET {change} WHERE batch = :batch AND {which}"  # noqa: S608  # as above
            self._db.execute(query, values)
        query = "SELECT COUNT(*) FROM turns WHERE batch = :batch AND status IS NULL"
        return bool(self._db.execute(query, values).fetchone()[0])

    def take_back(self, batch: int) -> None:
        """Move the requests that a batch left without an outcome to the next batch."""
        self._db.execute(
            "UPDATE turns SET batch = NULL WHERE batch = ? AND status IS NULL", (batch,)
        )
        self.update(batch, state=ENDED, detail="")
