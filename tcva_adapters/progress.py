"""How far work has come: bars on a terminal, and a line now and then in a pipe or a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tcva_adapters.console import note, visible

INTERVAL: Final = 10.0
"""Seconds between two lines."""


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

    @property
    def shown(self) -> str:
        """What is done, and how much of it failed."""
        return f"{self.what} ({self.failed} failed)" if self.failed else self.what

    def tick(self, *, failed: bool = False) -> None:
        """One more is done."""
        self.failed += failed
        self.reached(self.what, self.done + 1, self.total)

    def reached(
        self,
        what: str,
        done: int,
        total: int | None,
    ) -> None:
        """So much of something is done."""
        self.what, self.done, self.total = what, done, total


class _Lines(Progress):
    """Says on standard error how far it is, at most every ten seconds."""

    def __init__(self, what: str, total: int | None) -> None:
        super().__init__(what, total)
        self._begun = self._said = time.monotonic()

    def reached(
        self,
        what: str,
        done: int,
        total: int | None,
    ) -> None:
        super().reached(what, done, total)
        now = time.monotonic()
        if now - self._said < INTERVAL:
            return
        self._said, seconds = now, now - self._begun
        of = f" of {total}" if total else ""
        left = (
            f", about {seconds / done * (total - done):.0f} s left"
            if total and done
            else ""
        )
        note(f"{self.shown}: {done}{of} in {seconds:.0f} s{left}")


@contextmanager
def progress_of(
    what: str, total: int | None, wanted: bool | None
) -> Iterator[Progress]:
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
    if not is_terminal:
        yield _Lines(what, total)
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
    )
    task = bar.add_task(visible(what), total=total)

    class Bar(Progress):
        def reached(
            self,
            what: str,
            done: int,
            total: int | None,
        ) -> None:
            super().reached(what, done, total)
            bar.update(
                task,
                description=visible(self.shown),
                completed=done,
                total=total,
            )

    with bar:
        yield Bar(what, total)
