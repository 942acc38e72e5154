"""SQLite store of verdicts: what a judge was paid for once is never asked again."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final, Self, TypeVar

from tcva_adapters.errors import InvalidValueError, StoreWarning, TCVAError, UnreadableInputError
from tcva_adapters.loops import is_in_loop
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.samples.output import make_folder, new_file, usable_path

T = TypeVar("T")

STORE_VERSION: Final = 2
"""Version of the table, kept in the file's ``user_version``; others are refused."""

_APPLICATION_ID: Final = 0x54435641  # "TCVA": tells this file from any other SQLite database
_MEMORY: Final = ":memory:"
_WAIT_SECONDS: Final = 10.0
_LOOP_WAIT_SECONDS: Final = 1.0  # nothing else goes on in that event loop meanwhile
_PAUSE_SECONDS: Final = 0.01
_KEYS_PER_QUERY: Final = 500  # SQLite may be built with no more than 999 variables
_TRANSIENT: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})

_CREATE: Final = (
    "CREATE TABLE judgements (kind, key, status NOT NULL, json NOT NULL, PRIMARY KEY (kind, key))",
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {STORE_VERSION}",
)
# One statement sees one state of the file: another process may be making the table.
_WHOSE: Final = (
    "SELECT application_id, user_version, (SELECT COUNT(*) FROM sqlite_master) "
    "FROM pragma_application_id, pragma_user_version"
)
_PUT: Final = (
    "INSERT INTO judgements (kind, key, status, json) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (kind, key) DO UPDATE SET status = excluded.status, json = excluded.json "
    "WHERE excluded.status <> 'failed' OR judgements.status = 'failed'"
)
# The cast hands over text whatever a damaged row holds, so that it is the reader that refuses it.
_SELECT: Final = "SELECT key, CAST(json AS TEXT) FROM judgements WHERE kind = ? AND status"
_COUNTS: Final = "SELECT status, COUNT(*) FROM judgements WHERE kind = 'assessment' GROUP BY status"


class VerdictStore(AbstractContextManager["VerdictStore"]):
    """Judgements by key, in one SQLite file that threads and processes may share.

    Every `put` is committed before it returns, so a killed process loses nothing that was
    acknowledged. (A power cut may lose the last few puts on a WAL file, never the file.)
    A row that cannot be read counts as absent. The sample's id and metadata are not stored; the
    texts of claims and evidence are. Where another program holds the file, reading and writing
    wait for it, ten seconds at most and one where an event loop runs in this thread, and after one
    wait that was in vain only try, until it is free again.

    It is pickled as its path, and opened anew by whoever unpickles it.

    Args:
        path: The file, created with its folders where it does not exist, for this user alone;
            ``":memory:"`` keeps everything in memory until `close`.

    Raises:
        InvalidValueError: The path is empty, or none that a file can have.
        UnreadableInputError: The file is no verdict store, was written by another version, or
            cannot be opened. It is left as it was.

    >>> with VerdictStore(":memory:") as store:
    ...     store.put("k", Assessment.from_verdicts(["fully"]))
    ...     store.get("k").from_store, store.get("other"), store.counts()["scored"]
    (True, None, 1)
    """

    def __init__(self, path: str | Path) -> None:
        if not str(path):
            msg = "the path of a verdict store is empty; give a file name or ':memory:'"
            raise InvalidValueError(msg)
        self.path = _MEMORY if str(path) == _MEMORY else str(usable_path(path))
        self._given_up: set[bool] = set()  # reading (False) or writing (True): a wait was in vain
        self._has_warned = False
        self._inherited: list[sqlite3.Connection] = []
        self._connection: sqlite3.Connection | None = None
        self._open()

    @classmethod
    def opened(cls, given: VerdictStore | str | Path | None) -> VerdictStore | None:
        """A store that is given as a setting. Opening it makes the file: call this last.

        Raises:
            InvalidValueError: As for the class.
            UnreadableInputError: As for the class.
        """
        return cls(given) if isinstance(given, str | Path) else given

    def get(self, key: str) -> Assessment | None:
        """The finished assessment under this key, with ``from_store`` set, or None.

        Finished are scores, and samples that have none for a reason of their own. Failures are
        not: they are to be tried again. ``usage`` is what the judgement cost when it was made.

        Raises:
            UnreadableInputError: The file is damaged, or was locked all the while.
            InvalidValueError: The store is closed.
        """
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, Assessment]:
        """Those of the keys that have a finished assessment; see `get`."""
        return dict(_readable(self._finished("assessment", keys)))

    def put(self, key: str, assessment: Assessment) -> None:
        """Keep an assessment; it is on its way to the disk when this returns.

        Failures are cached too, with the raw reply that was paid for, but `get` never serves them.
        A failure never replaces anything but a failure; anything else replaces what was there.

        Raises:
            UnreadableInputError: The file cannot be written, or was locked all the while.
            InvalidValueError: The store is closed.
        """
        self.put_many([(key, assessment)])

    def put_many(self, assessments: Iterable[tuple[str, Assessment]]) -> None:
        """Keep several by their keys, in one transaction: all of them, or none; see `put`."""
        bare: dict[str, object] = {
            "sample_id": None,
            "metadata": {},
            "from_store": False,
            "shared": False,
        }
        self._put(
            ("assessment", key, _status(each), each.model_copy(update=bare).to_json())
            for key, each in assessments
        )

    def get_records(self, keys: Iterable[str]) -> dict[str, str]:
        """Those of the keys that have a finished record; see `put_records` and `get`."""
        return dict(self._finished("record", keys))

    def put_record(self, key: str, record: str, *, failed: bool) -> None:
        """Keep one record; see `put_records`."""
        self.put_records([(key, record, failed)])

    def put_records(self, records: Iterable[tuple[str, str, bool]]) -> None:
        """Keep texts that are no assessments, as `put` does; `counts` and `failures` leave them out.

        Args:
            records: Of each the key, a digest of all that can change it; the text, most often
                JSON, which whoever reads it checks; and whether another try may give a better one.
        """
        self._put(
            ("record", key, "failed" if failed else "scored", text) for key, text, failed in records
        )

    def counts(self) -> dict[str, int]:
        """How many assessments are ``scored``, ``unscored`` for good, and ``failed``."""
        rows = self._run(lambda found: found.execute(_COUNTS).fetchall())
        return {"scored": 0, "unscored": 0, "failed": 0, **dict(rows)}

    def failures(self) -> Iterator[tuple[str, Assessment]]:
        """Key and assessment of every failure that no later success has replaced."""
        return _readable(self._fetch(f"{_SELECT} = 'failed'", "assessment"))

    def __len__(self) -> int:
        """The number of assessments, failures included."""
        return sum(self.counts().values())

    def __bool__(self) -> bool:
        """True: an empty store is a store, and ``if store`` must not skip it."""
        return True

    @contextmanager
    def spared(self) -> Iterator[None]:
        """Around one use of the store: where it fails, a warning says so, once until it works again."""
        try:
            yield
        except TCVAError as error:
            if not self._has_warned:
                self._has_warned = True
                msg = f"the verdict store failed: {error}; judgements are not cached as long as it does"
                warnings.warn(msg, StoreWarning, stacklevel=3)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._pid == os.getpid():
            with self._lock:
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """Its path.

        Raises:
            InvalidValueError: It has none.
        """
        if self.path == _MEMORY:
            msg = (
                "a verdict store in memory (':memory:') cannot be handed to another process; give "
                "it a file, which processes may share"
            )
            raise InvalidValueError(msg)
        return type(self), (str(Path(self.path).absolute()),)

    def _open(self) -> None:
        self._lock, self._pid = threading.Lock(), os.getpid()
        if self.path != _MEMORY:
            try:
                make_folder(Path(self.path).parent)
            except OSError as error:
                msg = (
                    f"the folder of the verdict store {self.path} cannot be made: {error.strerror}; "
                    "give another folder"
                )
                raise UnreadableInputError(msg) from None
            # SQLite would make the file for everybody to read; its log has the mode of the file.
            with suppress(OSError):  # it is there, or SQLite says what is wrong
                os.close(new_file(self.path))
        self._connection = self._patiently(lambda: _opened(self.path), _WAIT_SECONDS)
        # An evaluator that was given a path closes no store: it goes with the last that uses it.
        weakref.finalize(self, _close, self._connection, self._pid)

    def _finished(self, kind: str, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Key and text of the rows under these keys that are no failures."""
        wanted = list(dict.fromkeys(keys))
        for start in range(0, len(wanted), _KEYS_PER_QUERY):
            part = wanted[start : start + _KEYS_PER_QUERY]
            places = ",".join("?" * len(part))
            yield from self._fetch(f"{_SELECT} <> 'failed' AND key IN ({places})", kind, *part)

    def _fetch(self, query: str, *values: str) -> list[tuple[str, str]]:
        return self._run(lambda found: found.execute(query, values).fetchall())

    def _put(self, rows: Iterable[tuple[str, str, str, str]]) -> None:
        rows = list(rows)

        def all_or_none(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                connection.executemany(_PUT, rows)

        if rows:
            self._run(all_or_none, writes=True)
            self._has_warned = False

    def _run(self, action: Callable[[sqlite3.Connection], T], *, writes: bool = False) -> T:
        """Use the connection, which is nobody else's meanwhile."""
        if self._pid != os.getpid() and self._connection is not None and self.path != _MEMORY:
            # An SQLite connection must not cross a fork, and closing the parent's from here
            # would fold up its write-ahead log; so it is kept and never used.
            self._inherited.append(self._connection)
            self._open()
        with self._lock:
            connection = self._connection
            if connection is None:
                msg = f"the verdict store {self.path} is closed; open it again to use it"
                raise InvalidValueError(msg)
            longest = _LOOP_WAIT_SECONDS if is_in_loop() else _WAIT_SECONDS
            patience = 0.0 if writes in self._given_up else longest
            self._given_up.add(writes)
            found = self._patiently(lambda: action(connection), patience)
            self._given_up.remove(writes)
            return found

    def _patiently(self, action: Callable[[], T], patience: float) -> T:
        """Run an action again while another process is in the way.

        SQLite's own waiting leaves out the moment when a file changes to the write-ahead log.
        """
        deadline = time.monotonic() + patience
        while True:
            try:
                return action()
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest only tells the kind
                if code in _TRANSIENT and time.monotonic() < deadline:
                    time.sleep(_PAUSE_SECONDS)
                    continue
                hint = "check the path, its permissions and the free space, or give another path"
                if code in _TRANSIENT:
                    hint = "another process held it, try again when it is done"
                elif code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                    hint = (
                        "it is no verdict store or a damaged one, give another path or move it away"
                    )
                msg = f"the verdict store {self.path} cannot be used: {error}; {hint}"
                raise UnreadableInputError(msg) from error


def _opened(path: str) -> sqlite3.Connection:
    """A connection to a file with the table, on the write-ahead log where the file system allows it."""
    connection = sqlite3.connect(path, timeout=0.0, isolation_level=None, check_same_thread=False)
    connection.text_factory = lambda text: text.decode(errors="replace")
    try:
        # The check comes first: a file of someone else's must not be changed in any way.
        if _is_new(connection, path):
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                if _is_new(connection, path):  # another process may have been faster
                    for statement in _CREATE:
                        connection.execute(statement)
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in _TRANSIENT:
                raise
            mode = ""
        # Without the log, only FULL keeps the file whole through a power cut.
        connection.execute(f"PRAGMA synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}")
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
    if application != _APPLICATION_ID:
        msg = f"{path} is an SQLite file of another program, not a verdict store; give another path"
        raise UnreadableInputError(msg)
    if version != STORE_VERSION:
        msg = (
            f"the verdict store {path} has layout {version}, and this release reads layout "
            f"{STORE_VERSION}; give another path, where the samples are judged again"
        )
        raise UnreadableInputError(msg)
    return False


def _close(connection: sqlite3.Connection, process: int) -> None:
    """Close a connection where it was opened: see `VerdictStore._run` for what a fork inherits."""
    if process == os.getpid():
        connection.close()


def _status(assessment: Assessment) -> str:
    if assessment.unscored is None:
        return "scored"
    return "failed" if assessment.unscored.reason.is_failure else "unscored"


def _readable(rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Assessment]]:
    for key, text in rows:
        with suppress(UnreadableInputError):
            yield key, Assessment.from_json(text).model_copy(update={"from_store": True})
