"""How far work has come: bars on a terminal, and a line now and then in a pipe or a log."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import Final

from tcva_adapters.printing import notes, visible

INTERVAL: Final = 10.0
"""Seconds between two lines."""

_REMEMBERED: Final = 7
"""Lines whose time and count are behind the rate: a minute, so that what a store served in an
instant does not promise too much for long."""


class Progress:
    """What is done of some work; nothing is shown of it.

    Attributes:
        what: What is done, in a word or two.
        total: How much there is; None where nobody knows.
        done: So much of it.
        failed: Of these, what failed.
    """

    def __init__(self, what: str, total: int | None) -> None:
        self.what, self.total = what, total
        self.done = self.failed = 0

    def tick(self, *, failed: bool = False) -> None:
        """One more is done."""
        self.done += 1
        self.failed += failed
        self._moved()

    def reached(self, what: str, done: int, total: int) -> None:
        """So much of something is done."""
        self.what, self.done, self.total = what, done, total
        self._moved()

    def _moved(self) -> None:
        """Show it."""


class Lines(Progress):
    """A line at most every so many seconds.

    Args:
        what: As for `Progress`.
        total: Likewise.
        say: Told the line.
        clock: In seconds.

    >>> now = [0.0]
    >>> lines = Lines("judging", 40, say=print, clock=lambda: now[0])
    >>> now[0] = 10.0
    >>> for _ in range(20):
    ...     lines.tick()
    >>> lines.tell()
    judging: 20 of 40, 2.0 a second, about 10 s left
    """

    def __init__(
        self,
        what: str,
        total: int | None,
        *,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(what, total)
        self._say, self._clock = say, clock
        self._begun = clock()
        self._told = deque([(self._begun, 0)], maxlen=_REMEMBERED)

    def tell(self) -> None:
        """Say how far it is."""
        now = self._clock()
        self._say(self._line(now))
        self._told.append((now, self.done))

    def end(self) -> None:
        """Say how it ended, where anything was said before."""
        if len(self._told) > 1:
            self._say(f"{self._count()} in {_duration(self._clock() - self._begun)}")

    def _line(self, now: float) -> str:
        since, before = self._told[0]
        rate = (self.done - before) / (now - since) if now > since else 0.0
        so_far = f"{_duration(now - self._begun)} so far"
        if not rate:
            return f"{self._count()}, {so_far}"
        speed = f"{rate:.1f} a second" if rate >= 1.0 else f"{60 * rate:.1f} a minute"
        if self.total is None or self.done > self.total:
            return f"{self._count()}, {speed}, {so_far}"
        left = _duration((self.total - self.done) / rate)
        return f"{self._count()}, {speed}, about {left} left"

    def _count(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        # What a file is expected to hold may be less than what comes.
        of = "" if self.total is None or self.done > self.total else f" of {self.total}"
        count = f": {self.done}{of}" if self.done or of else ""
        return f"{self.what}{count}{failed}"


def _duration(seconds: float) -> str:
    """In the unit that a reader thinks in.

    >>> _duration(42.4), _duration(200), _duration(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@contextmanager
def progress_of(what: str, total: int | None, wanted: bool | None) -> Iterator[Progress]:
    """Show on standard error how far some work has come.

    Args:
        what: What is done.
        total: How much there is; None where nobody knows.
        wanted: True shows a bar on a terminal and a line every ten seconds elsewhere; None, the
            default of everything that is called from Python, the bar alone; False nothing.
    """
    is_terminal = sys.stderr.isatty()
    if wanted is False or (wanted is None and not is_terminal) or total == 0:
        yield Progress(what, total)
    elif is_terminal:
        with _bar(what, total) as bar:
            yield bar
    else:
        with _lines(what, total) as lines:
            yield lines


@contextmanager
def _lines(what: str, total: int | None) -> Iterator[Progress]:
    lines = Lines(what, total, say=notes().print)
    over, speaking = Event(), Lock()

    def tell_now_and_then() -> None:
        # A thread: a line is due as well where a single call takes minutes.
        while not over.wait(INTERVAL):
            with speaking:
                if not over.is_set():
                    lines.tell()

    Thread(target=tell_now_and_then, name="tcva-progress", daemon=True).start()
    try:
        yield lines
    finally:
        with speaking:
            over.set()
        lines.end()


@contextmanager
def _bar(what: str, total: int | None) -> Iterator[Progress]:
    # rich takes 30 ms to import, which a library user without a terminal need not pay.
    from rich import progress as rich_progress  # noqa: PLC0415  # see above
    from rich.console import Console  # noqa: PLC0415  # see above

    # The names of metrics come from files: no markup in them.
    named = rich_progress.TextColumn("{task.description}", markup=False)
    counts = (
        (rich_progress.TimeElapsedColumn(),)
        if total is None
        else (rich_progress.MofNCompleteColumn(), rich_progress.TimeRemainingColumn())
    )
    columns = (named, rich_progress.BarColumn(), *counts)
    with rich_progress.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=total)

        class Bar(Progress):
            def _moved(self) -> None:
                failed = f" ({self.failed} failed)" if self.failed else ""
                text = visible(f"{self.what}{failed}")
                shown.update(task, description=text, completed=self.done, total=self.total)

        yield Bar(what, total)
