"""What changed since an earlier run: its options, and what they do to a command's figures and gates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from tcva_adapters.cli import options
from tcva_adapters.compare.changes import Changes, changed_since, read_baseline
from tcva_adapters.compare.evaluation import Evaluation
from tcva_adapters.compare.graded import Graded
from tcva_adapters.compare.watch import FALSE_ALARMS, OURS, Look, Watch
from tcva_adapters.printing import Part, Wrapped
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.tcva import TCVA

# typer reads them at run time, so what is optional is spelt out.
_Baseline = Annotated[
    Optional[str],
    typer.Option(help="An earlier --out: what changed since then is said, in the comment too."),
]
_Sequential = Annotated[
    Optional[Path],
    typer.Option(
        help="Gate, with --baseline: exit with 1 when the mean score has surely fallen; this file "
        "remembers earlier runs, so that one may look as often as one likes.",
    ),
]
_FalseAlarms = Annotated[
    float,
    typer.Option(help="Of --sequential: the largest chance of a false alarm over all runs."),
]
_MaxDrop = Annotated[
    float, typer.Option(help="Of --sequential: how far the mean score may fall, e.g. 0.02.")
]

_OPTIONS = {
    "baseline": (_Baseline, None),
    "sequential": (_Sequential, None),
    "false_alarms": (_FalseAlarms, FALSE_ALARMS),
    "max_drop": (_MaxDrop, 0.0),
}


@dataclass
class Since:
    """What was asked for, and what came of it.

    Attributes:
        baseline: The earlier run's file; None for none.
        sequential: The file that remembers runs; None for none.
        false_alarms: See `Watch`.
        max_drop: See `Watch`.
    """

    baseline: str | None
    sequential: Path | None
    false_alarms: float
    max_drop: float
    _before: Graded | None = None
    _watch: Watch | None = None
    _changes: Changes | None = None
    _look: Look | None = None

    def check(self, source: str) -> None:
        """Refuse, before anything is paid for, what could not be written.

        Raises:
            InvalidValueError: See above.
        """
        if self.sequential is None or self.baseline is None:
            return
        scipy_module("special", "--sequential needs")
        for file in (source, self.baseline):
            options.check_target(
                self.sequential, file, OURS, overwrite=False, option="--sequential"
            )

    def begin(self, tcva: TCVA) -> None:
        """Read the baseline, and what is remembered of earlier runs.

        Raises:
            InvalidValueError: See `read_baseline` and `Watch`.
            UnreadableInputError: See there.
        """
        if self.baseline is None:
            return
        self._before = read_baseline(self.baseline, tcva)
        if self.sequential is not None:
            settings = {"false_alarms": self.false_alarms, "max_drop": self.max_drop}
            self._watch = Watch.of(self._before, **settings)
            self._watch.went_on(self.sequential)  # what it refuses is known before anything is paid

    def looked_at(self, found: Evaluation) -> tuple[Evaluation, Changes | None]:
        """The evaluation with a gate on the change, which is remembered; and what changed."""
        self._changes = changes = changed_since(self._before, found.gated.graded)
        if changes is None or self._watch is None or self.sequential is None:
            return found, changes
        self._look = look = self._watch.look(self.sequential, changes)
        gates = [*found.gated.gates, look.gate(changes.now.name)]
        fallen = [now for _, now in changes.pairs if changes.differences.get(now.sample, 0.0) < 0.0]
        return replace(found, gated=replace(found.gated, gates=gates, fallen=fallen)), changes

    @property
    def written(self) -> dict[Path, str]:
        """The file that remembers runs, as `say_written` takes it."""
        if self._look is None or self.sequential is None:
            return {}
        return {
            self.sequential: f"run {self._look.watch.runs} since the baseline: for --sequential"
        }

    def to_dict(self) -> dict[str, Any]:
        """What changed, as entries of a command's JSON."""
        if self._changes is None:
            return {}
        look = {} if self._look is None else {"sequential": self._look.to_dict()}
        return {"since_baseline": {**self._changes.to_dict(), **look}}

    def parts(self) -> Iterator[Part]:
        """What changed, in a sentence."""
        if self._changes is not None:
            yield Wrapped(f"since the baseline: {self._changes.sentence}")


def takes_baseline(command: options.Command) -> options.Command:
    """Gives a command these options, which it gets as ``since``."""

    @wraps(command)
    def run(*arguments: Any, **given: Any) -> None:
        since = Since(**{name: given.pop(name) for name in _OPTIONS})
        command(*arguments, since=since, **given)

    return options.with_options(run, command, options.plain_options(_OPTIONS), without={"since"})
