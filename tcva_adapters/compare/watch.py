"""Run after run against one baseline: has the mean score surely fallen, however often one looks?

Runs of a suite judge the same samples again and again, so what one run shows the next one shows
too: evidence must not be multiplied over runs, as a betting test of independent samples would.
Here the samples are the units. Each run is a look at them, and every look spends a part of what may
be erred in all. So the chance of a false alarm over any number of runs is bounded, whatever the runs
have in common, up to the first alarm, at which the average begins anew. The baseline's own noise is in
the differences; one that was picked as the best of several runs has luck in it, which nothing here
allows for.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tcva_adapters.compare.changes import Changes
from tcva_adapters.compare.gates import CHANGE, Gate
from tcva_adapters.compare.graded import Graded
from tcva_adapters.compare.paired_change import MeanChange
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.samples.output import replacing
from tcva_adapters.stats.checks import check_level

OURS: Final = re.compile(rb'\{"tcva_watch": ')
"""How these files begin."""

FALSE_ALARMS: Final = 0.05


@dataclass(frozen=True)
class Watch:
    """What is remembered of the runs since a baseline.

    Attributes:
        baseline: A digest of its scores.
        false_alarms: The largest chance of a false alarm over all runs.
        max_drop: How far the mean score may fall.
        runs: So far.
        totals: By sample, the sum of its differences to the baseline and their number, since the
            last alarm.
    """

    baseline: str
    false_alarms: float = FALSE_ALARMS
    max_drop: float = 0.0
    runs: int = 0
    totals: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, before: Graded, *, false_alarms: float = FALSE_ALARMS, max_drop: float = 0.0
    ) -> Watch:
        """The beginning.

        Args:
            before: The baseline.
            false_alarms: In (0, 0.5].
            max_drop: In [0, 1).

        Raises:
            InvalidValueError: One is out of range.
        """
        check_level(false_alarms)
        if false_alarms > 0.5:
            msg = f"false_alarms={false_alarms!r}; it lies between 0 and 0.5, e.g. 0.05"
            raise InvalidValueError(msg)
        if not 0.0 <= max_drop < 1.0:
            msg = (
                f"max_drop={max_drop!r}; the mean score may fall by a number from 0 to 1, e.g. 0.02"
            )
            raise InvalidValueError(msg)
        scores = [(case.sample, case.score) for case in before.cases]
        digest = hashlib.sha256(json.dumps(scores).encode()).hexdigest()[:16]
        return cls(digest, float(false_alarms), float(max_drop))

    def went_on(self, source: str | Path) -> Watch:
        """This beginning, or what a file remembers of the runs since then.

        Args:
            source: The file; where there is none, nothing has been run yet.

        Raises:
            UnreadableInputError: It is no such file.
            InvalidValueError: It belongs to another baseline, or to other settings.
        """
        path = Path(source)
        if not path.exists():
            return self
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            totals = {str(name): (float(s), int(n)) for name, (s, n) in read["samples"].items()}
            found = Watch(
                read["baseline"], read["false_alarms"], read["max_drop"], int(read["runs"]), totals
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            msg = (
                f"{source} is no state of earlier runs, as --sequential writes it ({error!r}); delete "
                "it, or name a new file: what may be erred counts anew then"
            )
            raise UnreadableInputError(msg) from None
        for name, was, now in (
            ("baseline or dial", found.baseline, self.baseline),
            ("--false-alarms", found.false_alarms, self.false_alarms),
            ("--max-drop", found.max_drop, self.max_drop),
        ):
            if was != now:
                msg = (
                    f"{source} was begun with another {name} ({was}, now {now}); go on with that, or "
                    "name a new file: what may be erred counts anew then"
                )
                raise InvalidValueError(msg)
        return found

    def look(self, source: str | Path, changes: Changes) -> Look:
        """One run more than a file remembers, which it remembers from then on.

        The file is read when it is written, by one process at a time: of two runs that end together
        both are counted.

        Args:
            source: The file.
            changes: What the run changed since the baseline.

        Raises:
            InvalidValueError: The file cannot be written, is something else, or another process is
                writing it. As for `went_on`, too.
            UnreadableInputError: As for `went_on`.
            MissingDependencyError: scipy is not installed.
        """
        alone = "one process at a time"
        with replacing(source, ours=OURS, fingerprint=alone) as draft:
            look = self.went_on(source).after(changes)
            draft.truncate(0)  # what a process that was killed left
            draft.write(look.watch.line())
        return look

    def line(self) -> bytes:
        """The file's content."""
        entry = {
            "tcva_watch": 1,
            "baseline": self.baseline,
            "false_alarms": self.false_alarms,
            "max_drop": self.max_drop,
            "runs": self.runs,
            "samples": {name: list(total) for name, total in self.totals.items()},
        }
        return json.dumps(entry).encode() + b"\n"

    def after(self, changes: Changes) -> Look:
        """One run more.

        Args:
            changes: What it changed since the baseline.

        Raises:
            MissingDependencyError: scipy is not installed.
        """
        runs = self.runs + 1
        totals = dict(self.totals)
        for sample, difference in changes.differences.items():
            total, number = totals.get(sample, (0.0, 0))
            totals[sample] = (total + difference, number + 1)
        # 1/2, 1/6, 1/12 and so on: all of them together are 1.
        share = self.false_alarms / (runs * (runs + 1))
        averages = {name: totals[name][0] / totals[name][1] for name in changes.differences}
        has_history = any(totals[name][1] > 1 for name in averages)
        level = 1.0 - (share if has_history else 2.0 * share)
        latest = changes.change_of(changes.differences, level)
        whole = changes.change_of(averages, level) if has_history else latest
        has_fallen = min(latest.high, whole.high) < -self.max_drop
        # What raised an alarm is dealt with; the runs after it are another story.
        state = replace(self, runs=runs, totals={} if has_fallen else totals)
        return Look(state, latest, whole, share, has_fallen)


@dataclass(frozen=True, slots=True)
class Look:
    """What one run showed.

    Attributes:
        watch: What is remembered after it.
        latest: How far the mean score has changed in this run.
        whole: The same of each sample's average over the runs since the baseline or the last alarm.
        share: The chance of a false alarm that this look spent.
        has_fallen: The mean score has surely fallen by more than it may, in one of the two.
    """

    watch: Watch
    latest: MeanChange
    whole: MeanChange
    share: float
    has_fallen: bool

    def gate(self, method: str) -> Gate:
        """The same as a gate of a method."""
        most = min(self.latest.high, self.whole.high)
        watch = self.watch
        which = "this run" if self.latest.high <= self.whole.high else "the average of the runs"
        text = (
            f"{method}: mean score {self.latest.value:+.3f} since the baseline, run {watch.runs}; by "
            f"{which} at most {most:+.3f}, {'<' if self.has_fallen else '>='} "
            f"{0.0 - watch.max_drop:g} (false alarms over all runs: {watch.false_alarms:g})"
        )
        if not self.latest.n:
            text = f"{method}: no sample has a score in this run and in the baseline"
        reached = None if math.isnan(most) else most
        failed = self.has_fallen or not self.latest.n
        return Gate(method, CHANGE, 0.0 - watch.max_drop, reached, failed, text)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "runs": self.watch.runs,
            "false_alarms": self.watch.false_alarms,
            "max_drop": self.watch.max_drop,
            "spent": self.share,
            "has_fallen": self.has_fallen,
            "latest": self.latest.to_dict(),
            "average": self.whole.to_dict(),
        }
