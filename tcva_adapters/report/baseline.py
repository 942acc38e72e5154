"""Compare a run with an earlier one of the same method, sample by sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.inference import difference
from tcva_adapters.tables import (
    Column,
    Record,
    Report,
    Table,
    cell,
    counted,
    named_columns,
)

REGRESSIONS = "newly fail"


def changes(before: ScoreTable, now: ScoreTable) -> Report:
    """Compare two runs, sample by sample.

    Args:
        before: The earlier run, read with the settings of the later one.
        now: The later one.

    Returns:
        A report with the tables ``changes`` (a record per method), ``newly fail`` and ``newly pass`` (a
        record per sample, those that lost or gained most first). A sample that passed and has no
        score now, or is not in the later run, newly fails.

    Raises:
        InvalidValueError: The runs have no method or no sample in common.
    """
    methods = [method for method in now.methods if method in before.methods]
    if not methods:
        raise InvalidValueError(
            f"the baseline holds {', '.join(before.methods)}, this run {', '.join(now.methods)}; give "
            "a baseline of the same criterion"
        )
    check_common(before, now.samples)
    before = replace(before, thresholds=now.thresholds)
    samples = before.samples
    aligned = now.for_samples(samples)
    groups = aligned.known_groups
    rows = list[Record]()
    failing = list[Record]()
    passing = list[Record]()
    for method in methods:
        old = before.column(method)
        new = aligned.column(method)
        passed = before.passes(method)
        passes = aligned.passes(method)
        scored = np.isfinite(old) & np.isfinite(new)
        rates = np.where(scored, passes, np.nan)
        change = difference("mean", new, old, groups=groups)
        rate_change = difference("mean", rates, passed, groups=groups)

        rises = np.nan_to_num(new, nan=-1.0) - np.nan_to_num(old, nan=-1.0)
        lost = passed & ~passes
        gained = passes & ~passed
        changed = ((failing, lost, rises), (passing, gained, -rises))
        for records, moved, gains in changed:
            order = np.argsort(gains, kind="stable")
            records += [
                {
                    "sample": samples[place],
                    "method": method,
                    "before": float(old[place]),
                    "now": float(new[place]),
                }
                for place in order[moved[order]].tolist()
            ]
        rows.append(
            {
                "method": method,
                "samples": change.n,
                "p": change.p,
                "reason": change.reason,
                "before": mean(old[scored]),
                "now": mean(new[scored]),
                **change.record("change"),
                **rate_change.record("pass_rate_change"),
                "newly_fail": int(lost.sum()),
                "newly_pass": int(gained.sum()),
                "detectable": change.smallest,
            }
        )
    columns = [*named_columns(sample="text", method="text"), *_COLUMNS[2:4]]
    return Report(
        " ".join(_sentence(row, len(samples)) for row in rows),
        [
            Table("changes", _COLUMNS, rows),
            Table(REGRESSIONS, columns, failing),
            Table("newly pass", columns, passing, detail=True),
        ],
        _notes(before, now),
    )


def check_common(before: ScoreTable, names: Iterable[str]) -> None:
    """Refuse a baseline that has none of these samples.

    Raises:
        InvalidValueError: It has none.
    """
    if {*before.samples}.isdisjoint(names):
        raise InvalidValueError(
            f"the baseline has no sample of this run; its first is {before.samples[0]!r}"
        )


_CHANGE = Column("change", "signed", "of the mean")
_COLUMNS = [
    Column("method"),
    Column("samples", "int", "with a score in both runs; the means are over these"),
    Column("before", "score", "mean of the earlier run"),
    Column("now", "score"),
    _CHANGE,
    Column("p", "p", "of no change"),
    *named_columns(pass_rate_change="signed", newly_fail="int", newly_pass="int"),
]


def change_of_mean(row: Record) -> str:
    """Describe how far a mean moved, with both means, interval and samples; follows its name."""
    return (
        f"changed from {cell(row['before'], 'score')} in the baseline to "
        f"{cell(row['now'], 'score')} ({_CHANGE.cell(row)}, n = {row['samples']})."
    )


def _sentence(row: Record, both: int) -> str:
    text = (
        f"The mean of {row['method']} {change_of_mean(row)} Samples that newly fail: "
        f"{row['newly_fail']} of {both}, that newly pass: {row['newly_pass']}."
    )
    reason = row["reason"]
    return f"{text} The change has no interval: {reason}." if reason else text


def _notes(before: ScoreTable, now: ScoreTable) -> list[str]:
    both = len({*before.samples}.intersection(now.samples))
    notes = []
    for number, what in ((len(now) - both, "not"), (len(before) - both, "only")):
        if number:
            verb = "is" if number == 1 else "are"
            notes.append(f"{counted(number, 'sample')} {verb} {what} in the baseline.")
    first = before.judged.judge
    second = now.judged.judge
    if first and second and first != second:
        notes.append(f"The baseline's judge was {first}, this run's is {second}.")
    return notes
