"""What changed since an earlier run, sample by sample."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tcva_adapters.compare.graded import Case, Graded, grade
from tcva_adapters.compare.grouping import group_note
from tcva_adapters.compare.paired_change import LEVEL, MeanChange
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import counted
from tcva_adapters.results.files import read_assessments
from tcva_adapters.tcva import TCVA


@dataclass(frozen=True)
class Changes:
    """Two runs of one method at the same setting of the dial.

    Attributes:
        before: The earlier one.
        now: The later one.
    """

    before: Graded
    now: Graded

    @cached_property
    def pairs(self) -> list[tuple[Case, Case]]:
        """The samples of both runs, before and now, those that lost most first."""
        earlier = {case.sample: case for case in self.before.cases}
        both = [(earlier[c.sample], c) for c in self.now.cases if c.sample in earlier]
        return sorted(both, key=lambda pair: (pair[1].score or 0.0) - (pair[0].score or 0.0))

    @cached_property
    def differences(self) -> dict[str, float]:
        """By sample, how much its score has changed; without those that lack one."""
        return {
            now.sample: now.score - before.score
            for before, now in self.pairs
            if before.score is not None and now.score is not None
        }

    @cached_property
    def score_change(self) -> MeanChange:
        """How much the mean score has changed, on the samples with both scores."""
        return self.change_of(self.differences)

    @cached_property
    def pass_change(self) -> MeanChange:
        """How much the pass rate has changed, on the samples that passed or failed in both."""
        decided = {
            now.sample: float(now.passed) - float(before.passed)
            for before, now in self.pairs
            if before.passed is not None and now.passed is not None
        }
        return self.change_of(decided)

    def change_of(self, differences: Mapping[str, float], level: float = LEVEL) -> MeanChange:
        """The mean of differences by sample, with the groups of the later run."""
        groups = None if self.now.groups is None else [self._groups[name] for name in differences]
        return MeanChange.of(np.array([*differences.values()]), groups, level=level)

    @cached_property
    def _groups(self) -> dict[str, Hashable]:
        return {case.sample: case.group for case in self.now.cases}

    @property
    def broken(self) -> list[tuple[Case, Case]]:
        """The samples that passed and do not any more, without a score among them."""
        return [pair for pair in self.pairs if pair[0].passed and not pair[1].passed]

    @property
    def repaired(self) -> list[tuple[Case, Case]]:
        """The samples that pass and did not before."""
        return [pair for pair in self.pairs if pair[1].passed and not pair[0].passed]

    @property
    def only_before(self) -> list[str]:
        """Samples that are gone."""
        now = {case.sample for case in self.now.cases}
        return [case.sample for case in self.before.cases if case.sample not in now]

    @property
    def only_now(self) -> list[str]:
        """Samples that are new."""
        before = {case.sample for case in self.before.cases}
        return [case.sample for case in self.now.cases if case.sample not in before]

    @property
    def sentence(self) -> str:
        """Both means, what changed on the same samples, and the judge where that changed as well."""
        means = ["-" if m is None else f"{m:.3f}" for m in (self.before.mean, self.now.mean)]
        found, passing = self.score_change, self.pass_change
        text = f"mean score {means[0]} before, {means[1]} now"
        if found.n:
            text += f"; on {counted(found.n, 'sample')} of both {found.text}"
            text += f", pass rate {passing.text}" if passing.n else ""
            text += f", {100 * found.level:g}% intervals"
            if not math.isnan(found.smallest):
                text += f"; a change of {found.smallest:.3f} would mostly show"
        if self.now.groups is not None:
            text += f"; {group_note(self.now.groups)}"
        text += (
            f"; {len(self.broken)} of {len(self.pairs)} samples no longer pass, "
            f"{len(self.repaired)} pass now"
        )
        for names, what in ((self.only_now, "new"), (self.only_before, "gone")):
            text += f"; {len(names)} {what}" if names else ""
        judge = self.before.about.get("judge", "")
        if judge not in {"", self.now.about.get("judge", "")}:
            text += f"; the baseline was judged by {judge}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "mean_before": self.before.mean,
            "mean_now": self.now.mean,
            "score_change": self.score_change.to_dict(),
            "pass_change": self.pass_change.to_dict(),
            "broken": [now.sample for _, now in self.broken],
            "repaired": [now.sample for _, now in self.repaired],
            "only_before": self.only_before,
            "only_now": self.only_now,
        }


def read_baseline(source: str | Path, tcva: TCVA) -> Graded:
    """An earlier run, as ``tcva evaluate --out`` wrote it, at the dial's setting of today.

    Args:
        source: The file.
        tcva: Whose settings apply.

    Raises:
        UnreadableInputError: The file cannot be read.
        InvalidValueError: It is of another criterion.
    """
    judged = read_assessments(source)
    other = next((a.criterion for a in judged if a.criterion != tcva.criterion.name), None)
    if other is not None:
        msg = f"{source} is a baseline of {other}, not of {tcva.criterion.name}; give one of that"
        raise InvalidValueError(msg)
    judges = dict.fromkeys(each.judge for each in judged)
    return grade(
        tcva.criterion.name,
        [tcva.result(each) for each in judged],
        threshold=tcva.scoring.threshold,
        about={"judge": ", ".join(judges)},
    )


def changed_since(before: Graded | None, now: Sequence[Graded]) -> Changes | None:
    """What changed since a baseline; None without one."""
    return None if before is None else Changes(before, now[0])
