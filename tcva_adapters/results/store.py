"""SQLite store of judgements, so that none is paid for twice."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Self, TypeVar

from pydantic import ValidationError

from tcva_adapters.errors import (
    InvalidValueError,
    StoreWarning,
    TCVAError,
    UnreadableInputError,
)
from tcva_adapters.loops import is_in_loop
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.judgement import Judgement
from tcva_adapters.samples.file_writing import make_folder, new_file, usable_path

T = TypeVar("T")
J = TypeVar("J", bound=Judgement)

STORE_VERSION = 4
"""Version of the table, in the file's ``user_version``; others are refused."""

_APPLICATION_ID = 0x54435641  # "TCVA": tells this file from any other SQLite database
_MEMORY = ":memory:"
_SAMPLE = {"sample_id", "metadata", "from_store", "shared"}
"""Fields that belong to a sample in a run, and not to the judgement."""
_WAIT_SECONDS = 10.0
_LOOP_WAIT_SECONDS = 1.0  # nothing else goes on in that event loop meanwhile
_PAUSE_SECONDS = 0.01
_TRANSIENT = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
)
_CHECK = "check the path, its permissions and the free space"

_CREATE = (
    "CREATE TABLE judgements (kind, key, json NOT NULL, PRIMARY KEY (kind, key))",
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {STORE_VERSION}",
)
# A single statement sees a single state of the file, even while another process makes
# the table.
_WHOSE = (
    "SELECT application_id, user_version, (SELECT COUNT(*) FROM sqlite_master) "
    "FROM pragma_application_id, pragma_user_version"
)
_PUT = "INSERT OR REPLACE INTO judgements (kind, key, json) VALUES (?, ?, ?)"
# The cast gives text whatever a damaged row holds, so that the reader refuses it.
_GET = (
    "SELECT key, CAST(json AS TEXT) FROM judgements "
    "WHERE kind = ? AND key IN (SELECT value FROM json_each(?))"
)


class VerdictStore(AbstractContextManager["VerdictStore"]):
    """A store of judgements in one SQLite file, which threads and processes may share.

    Every `put` is committed before it returns, so a killed process loses nothing that was
    acknowledged. (A power cut may lose the last few puts on a WAL file, never the file.)
    A row that cannot be read counts as absent. The sample's id and metadata are not stored; the
    texts of claims and evidence are. Where another program holds the file, the store waits for at
    most ten seconds, or one second where an event loop runs in this thread. After a wait in vain
    it no longer waits, until a write has succeeded.

    A store is pickled as its path, and opens the file again when it is unpickled.

    Args:
        path: The file, created with its folders where it does not exist, for this user alone;
            ``":memory:"`` keeps everything in memory until `close`.

    Raises:
        InvalidValueError: The path is empty, or no file can have it.
        UnreadableInputError: The file is no verdict store, was written by another version, or
            cannot be opened. It is left as it was.

    >>> with VerdictStore(":memory:") as store:
    ...     store.put("k", Assessment.from_verdicts(["fully"]))
    ...     store.get("k").from_store, store.get("other")
    (True, None)
    """

    def __init__(self, path: str | Path) -> None:
        if not str(path):
            raise InvalidValueError(
                "store must be a file name or ':memory:', got an empty text"
            )
        self.path = _MEMORY if str(path) == _MEMORY else str(usable_path(path))
        self._is_held = self._has_warned = False
        self._inherited: list[sqlite3.Connection] = []
        self._open()

    @classmethod
    def opened(cls, setting: VerdictStore | str | Path | None) -> VerdictStore | None:
        """Open the store that a setting names. This creates the file, so other checks come first.

        Raises:
            InvalidValueError: As for the class.
            UnreadableInputError: As for the class.
        """
        return cls(setting) if isinstance(setting, str | Path) else setting

    def get(self, key: str) -> Assessment | None:
        """Read the assessment under this key, with ``from_store`` set, or None.

        ``usage`` is the cost of the judgement when it was made.

        Raises:
            UnreadableInputError: The file is damaged, or stayed locked.
            InvalidValueError: The store is closed.
        """
        return self.get_many([key], Assessment).get(key)

    def get_many(self, keys: Iterable[str], kind: type[J]) -> dict[str, J]:
        """Read the judgements of one class by their keys, as far as they are stored; see `get`."""
        query = kind.stored_as, json.dumps([*keys])
        rows = self._run(lambda connection: connection.execute(_GET, query).fetchall())
        judgements = {}
        for key, text in rows:
            with suppress(ValidationError):
                judgement = kind.model_validate_json(text)
                judgements[key] = judgement.model_copy(update={"from_store": True})
        return judgements

    def put(self, key: str, assessment: Assessment) -> None:
        """Write an assessment to the store; it is committed when this returns.

        Failures are not stored, so that they are tried again. Samples that are unscored for
        another reason are stored.

        Raises:
            UnreadableInputError: The file cannot be written, or stayed locked.
            InvalidValueError: The store is closed.
        """
        self.put_many([(key, assessment)])

    def put_many(self, judgements: Iterable[tuple[str, Judgement]]) -> None:
        """Write several by their keys, in one transaction: all of them, or none; see `put`."""
        rows = [
            (judgement.stored_as, key, judgement.model_dump_json(exclude=_SAMPLE))
            for key, judgement in judgements
            if judgement.failure is None
        ]

        def all_or_none(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                connection.executemany(_PUT, rows)

        if rows:
            self._run(all_or_none)
            self._is_held = self._has_warned = False

    @contextmanager
    def spared(self) -> Iterator[None]:
        """Turn a failure of the store in the block into a warning, given once until it works again."""
        try:
            yield
        except TCVAError as error:
            if not self._has_warned:
                self._has_warned = True
                msg = f"{error}. Judgements are not cached until it works again"
                warnings.warn(msg, StoreWarning, stacklevel=3)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._lock:
            self._closes()

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """Pickle the store as its path.

        Raises:
            InvalidValueError: The store is in memory.
        """
        if self.path == _MEMORY:
            raise InvalidValueError(
                "a store in memory cannot be sent to another process; use a file"
            )
        return type(self), (str(Path(self.path).absolute()),)

    def _open(self) -> None:
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._connection = self._patiently(lambda: _connected(self.path), _WAIT_SECONDS)
        # Evaluators that were given a path do not close their store; the file is closed
        # when the last of them is gone.
        self._closes = weakref.finalize(self, _close, self._connection, self._pid)

    def _run(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Run an action on the connection, which no other thread uses meanwhile."""
        if self._pid != os.getpid():
            # An SQLite connection must not cross a fork, and closing the parent's from
            # here would end its write-ahead log, so it stays open and unused.
            self._inherited.append(self._connection)
            self._open()
        longest = _LOOP_WAIT_SECONDS if is_in_loop() else _WAIT_SECONDS
        with self._lock:
            patience = 0.0 if self._is_held else longest
            return self._patiently(lambda: action(self._connection), patience)

    def _patiently(self, action: Callable[[], T], patience: float) -> T:
        """Run an action again while another process is in the way.

        SQLite's own timeout does not cover the moment when a file changes to the write-ahead log.
        """
        deadline = time.monotonic() + patience
        while True:
            try:
                return action()
            except (sqlite3.Error, OSError) as error:
                # The low byte is the primary code; the rest only gives the kind.
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _TRANSIENT and time.monotonic() < deadline:
                    time.sleep(_PAUSE_SECONDS)
                    continue
                self._is_held = code in _TRANSIENT
                why = "another process is using it" if self._is_held else _CHECK
                raise UnreadableInputError(
                    f"the store {self.path} cannot be used: {str(error).rstrip('.')}; {why}"
                ) from error


def _connected(path: str) -> sqlite3.Connection:
    """Open a connection to a file, and make its table and, where possible, its write-ahead log."""
    if path != _MEMORY:
        make_folder(Path(path).parent)
        # SQLite would create a file that everybody can read; its log has the mode of
        # the file.
        with suppress(OSError):  # it is there, or SQLite says what is wrong
            os.close(new_file(path))
    connection = sqlite3.connect(
        path,
        timeout=0.0,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = lambda text: text.decode(errors="replace")
    try:
        # The check comes first, since a file of another program must not be changed at
        # all.
        if _is_new(connection, path):
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                if _is_new(connection, path):  # another process may have been faster
                    for statement in _CREATE:
                        connection.execute(statement)
        with suppress(sqlite3.OperationalError):  # not on every file system
            if connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",):
                # Without the log, only FULL keeps the file whole through a power cut.
                connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_new(connection: sqlite3.Connection, path: str) -> bool:
    """Whether the file is still empty.

    Raises:
        UnreadableInputError: It belongs to something else, or to another version.
    """
    application, version, tables = connection.execute(_WHOSE).fetchone()
    if application == version == tables == 0:
        return True
    if (application, version) != (_APPLICATION_ID, STORE_VERSION):
        raise UnreadableInputError(
            f"{path} is not a store of layout {STORE_VERSION} (it has {version}); use another path"
        )
    return False


def _close(connection: sqlite3.Connection, process: int) -> None:
    """Close a connection where it was opened: see `VerdictStore._run` for what a fork inherits."""
    if process == os.getpid():
        connection.close()
