"""How far work has come: bars on a terminal, and a line now and then in a pipe or a log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final

from tcva_adapters.printing import notes, visible

if TYPE_CHECKING:
    from rich.progress import Task

INTERVAL: Final = 10.0
"""Seconds between two lines."""

RATE_PERIOD: Final = 60.0
"""Seconds behind the rate, so that what a store served in an instant does not promise too much."""


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
        self.failed += failed
        self.reached(self.what, self.done + 1, self.total)

    def reached(self, what: str, done: int, total: int | None) -> None:
        """So much of something is done."""
        self.what, self.done, self.total = what, done, total


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
        return
    # rich takes 30 ms to import, which a library user without a terminal need not pay.
    from rich import progress as rich_progress  # noqa: PLC0415  # see above
    from rich.console import Console  # noqa: PLC0415  # see above

    bar = rich_progress.Progress(
        # The names of metrics come from files: no markup in them.
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
        speed_estimate_period=RATE_PERIOD,
    )
    bar.add_task(visible(what), total=total)
    (task,) = bar.tasks

    class Shown(Progress):
        def reached(self, what: str, done: int, total: int | None) -> None:
            super().reached(what, done, total)
            said = visible(f"{what} ({self.failed} failed)" if self.failed else what)
            bar.update(task.id, description=said, completed=done, total=total)

    with bar if is_terminal else _lines(task):  # rich 13.0 ends a disabled bar with an empty line
        yield Shown(what, total)


@contextmanager
def _lines(task: Task) -> Iterator[None]:
    """Say every ten seconds how far a task is, and at the end where anything was said before."""
    over, speaking, said = Event(), Lock(), notes()

    def tell_now_and_then() -> None:
        # A thread: a line is due as well where a single call takes minutes.
        while not over.wait(INTERVAL):
            with speaking:
                if not over.is_set():
                    said.print(line_of(task))

    begun = task.get_time()
    Thread(target=tell_now_and_then, name="tcva-progress", daemon=True).start()
    try:
        yield
    finally:
        with speaking:
            over.set()
        if task.get_time() - begun >= INTERVAL:
            said.print(f"{_count(task)} in {_duration(task.elapsed or 0.0)}")


def line_of(task: Task) -> str:
    """How far a task is, at what rate, and how long it has gone on or what is left."""
    speed, left = task.speed, task.time_remaining
    so_far = f"{_duration(task.elapsed or 0.0)} so far"
    if not speed:
        return f"{_count(task)}, {so_far}"
    rate = f"{speed:.1f} a second" if speed >= 1.0 else f"{60 * speed:.1f} a minute"
    rest = f"about {_duration(left)} left" if _is_within(task) and left is not None else so_far
    return f"{_count(task)}, {rate}, {rest}"


def _count(task: Task) -> str:
    of = f" of {task.total:.0f}" if _is_within(task) else ""
    return f"{task.description}: {task.completed:.0f}{of}"


def _is_within(task: Task) -> bool:
    """Whether no more came than a file was expected to hold."""
    return task.total is not None and task.completed <= task.total


def _duration(seconds: float) -> str:
    """In the unit that a reader thinks in.

    >>> _duration(42.4), _duration(200), _duration(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
