"""Show the progress of work: a bar on a terminal, a line now and then in a pipe or a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tcva_adapters.console import note, visible

INTERVAL = 10.0
"""The least seconds between two lines."""


@dataclass(slots=True)
class Progress:
    """The progress of some work.

    Attributes:
        work: The name of the work, in a word or two.
        total: The number of steps; None if it is not known.
        show: Is called with the progress after each step; None shows nothing.
        done: The number of steps that are done.
        failed: The number of these that failed.
        began: When it began, by the monotonic clock.
        shown: When it was last printed as a line; at first, when it began.
    """

    work: str
    total: int | None
    show: Callable[[Progress], object] | None = None
    done: int = 0
    failed: int = 0
    began: float = field(default_factory=time.monotonic)
    shown: float = field(default_factory=time.monotonic)

    @property
    def description(self) -> str:
        """The name of the work, and how much of it failed."""
        return f"{self.work} ({self.failed} failed)" if self.failed else self.work

    def tick(self, *, failed: bool = False) -> None:
        """Count one more as done."""
        self.done += 1
        self.failed += failed
        if self.show is not None:
            self.show(self)


def _print_line(progress: Progress) -> None:
    """Print the progress on standard error, unless a line was printed in the last ten seconds."""
    now = time.monotonic()
    if now - progress.shown < INTERVAL:
        return
    progress.shown = now
    seconds = now - progress.began
    done = progress.done
    text = f"{progress.description}: {done}"
    left = ""
    if progress.total:
        text += f" of {progress.total}"
        left = f", about {seconds / done * (progress.total - done):.0f} s left"
    note(f"{text} in {seconds:.0f} s{left}")


@contextmanager
def progress_of(
    work: str, total: int | None, wanted: bool | None
) -> Iterator[Progress]:
    """Show the progress of some work on standard error.

    Args:
        work: The name of the work.
        total: The number of steps; None if it is not known.
        wanted: True shows a bar on a terminal and a line every ten seconds elsewhere; None, the
            default of everything that is called from Python, the bar alone; False nothing.
    """
    is_terminal = sys.stderr.isatty()
    if wanted is False or (wanted is None and not is_terminal) or total == 0:
        yield Progress(work, total)
        return
    if not is_terminal:
        yield Progress(work, total, _print_line)
        return
    # rich takes 30 ms to import, which a library user without a terminal need not pay.
    from rich import progress as rich_progress  # noqa: PLC0415  # see above
    from rich.console import Console  # noqa: PLC0415  # see above

    bar = rich_progress.Progress(
        # The names of metrics come from files, so they are not read as markup.
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(visible(work), total=total)

    def show(progress: Progress) -> None:
        text = visible(progress.description)
        bar.update(task, description=text, completed=progress.done)

    with bar:
        yield Progress(work, total, show)
