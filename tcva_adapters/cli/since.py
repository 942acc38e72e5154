"""What changed since an earlier run: its option, and what it adds to a command's figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.compare.changes import Changes, changed_since, read_baseline
from tcva_adapters.compare.evaluation import Evaluation
from tcva_adapters.compare.graded import Graded
from tcva_adapters.printing import Part, Wrapped
from tcva_adapters.tcva import TCVA

# typer reads it at run time, so what is optional is spelt out.
_Baseline = Annotated[
    Optional[str],
    typer.Option(help="An earlier --out: what changed since then is said, in the comment too."),
]
_OPTIONS = {"baseline": (_Baseline, None)}


@dataclass
class Since:
    """What was asked for, and what came of it.

    Attributes:
        baseline: The earlier run's file; None for none.
    """

    baseline: str | None
    _before: Graded | None = None
    _changes: Changes | None = None

    def begin(self, tcva: TCVA) -> None:
        """Read the baseline.

        Raises:
            InvalidValueError: See `read_baseline`.
            UnreadableInputError: See there.
        """
        if self.baseline is not None:
            self._before = read_baseline(self.baseline, tcva)

    def looked_at(self, found: Evaluation) -> Changes | None:
        """What changed; None without a baseline."""
        self._changes = changed_since(self._before, found.gated.graded)
        return self._changes

    def to_dict(self) -> dict[str, Any]:
        """What changed, as entries of a command's JSON."""
        return {} if self._changes is None else {"since_baseline": self._changes.to_dict()}

    def parts(self) -> Iterator[Part]:
        """What changed, in a sentence."""
        if self._changes is not None:
            yield Wrapped(f"since the baseline: {self._changes.sentence}")


def takes_baseline(command: options.Command) -> options.Command:
    """Gives a command this option, which it gets as ``since``."""

    @wraps(command)
    def run(*arguments: Any, **given: Any) -> None:
        since = Since(**{name: given.pop(name) for name in _OPTIONS})
        command(*arguments, since=since, **given)

    return options.with_options(run, command, options.plain_options(_OPTIONS), without={"since"})
