"""The setting of a gate that lets few rejected answers pass, with a guarantee; or why there is none.

At each setting of the score the path goes over 201 thresholds, from 1 down to 0, in steps that no
rating has had a part in. The temperature is no path: answers in which the judge saw no fault pass
at every temperature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from itertools import chain
from typing import Any, Final, Self

import numpy as np

from tcva_adapters.compare.scores.ratings import Scale, off_scale, passes_from
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import described, plain
from tcva_adapters.results.guarantee import Guarantee, Limits, percent
from tcva_adapters.results.judge_spec import PROFILES
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import BoolArray, FloatArray
from tcva_adapters.stats.guarantee import certify, needed
from tcva_adapters.tables import Column, Record, Report, Table, counted, named_columns

_STEPS: Final = 200
THRESHOLDS: Final = np.arange(_STEPS, -1, -1) / _STEPS
"""The path, the strictest first."""
_SAME: Final = 1e-12
"""A rejected answer passes where only the last digits of its score are below a threshold."""
_SHARES: Final = ("false_pass", "bound", "true_pass", "true_bound")
_WORSE: Final = np.array([[1.0], [1.0], [-1.0], [-1.0]])
_INTS: Final = {"rejected", "good"}


def limits_of(options: dict[str, Any], scale: Scale | None) -> Limits | None:
    """The limits among options, which are taken out; None where there are none.

    Raises:
        InvalidValueError: One is out of range, or what belongs to a limit is given without one.
    """
    names = ("max_false_pass", "min_true_pass", "confidence", "human_threshold")
    asked = {name: options.pop(name, None) for name in names}
    given = {name: value for name, value in asked.items() if value is not None}
    if not {*names[:2]} & {*given}:
        if given:
            msg = (
                f"{next(iter(given))} needs a limit, max_false_pass (--max-false-pass)"
            )
            raise InvalidValueError(msg)
        return None
    low, high = scale or (0.0, 1.0)
    found = Limits(
        **{"human_threshold": (low + high) / 2.0, **given}, human_scale=(low, high)
    )
    passes_from(found.human_threshold, found.human_scale)
    return found


@dataclass(frozen=True)
class Gate:
    """What passes at each of `THRESHOLDS`, and which of them are certified.

    Attributes:
        limits: To keep.
        error: What the test of each limit may err.
        rejected: Rejected answers with a score.
        good: Good answers.
        groups: How many groups the rejected answers are of; None where they stand alone.
        curves: The share of rejected answers that pass and its upper bound, that of good answers and
            its lower bound, shape (4, 201).
        first: The strictest certified threshold's place.
        last: The most lenient one's; before `first` where there is none.
    """

    limits: Limits
    error: float
    rejected: int
    good: int
    groups: int | None
    curves: FloatArray
    first: int
    last: int

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        method: str,
        scores: FloatArray,
        limits: Limits,
        error: float,
    ) -> Self:
        """That of rated samples by some scores of a method.

        Gates let through what claims nothing: it passes at every threshold. Any other rejected answer
        without a score does not pass, which says nothing of one with a score: it is left out. A good
        one counts, as not passing.
        """
        rejects = _rejects(table, limits)
        scores = np.where(
            table.silent(method), 1.0, np.where(table.closed(method), np.nan, scores)
        )
        known, most, least = (
            np.isfinite(scores),
            limits.max_false_pass,
            limits.min_true_pass,
        )
        passes = scores[rejects & known] + _SAME >= THRESHOLDS[:, None]
        fails = ~(scores[~rejects] >= THRESHOLDS[::-1, None])
        groups = [
            table.select(rows).groups or None for rows in (rejects & known, ~rejects)
        ]
        # Shares and bounds do not depend on the limit, where there is none.
        false = certify(passes, most or 0.5, error=error, groups=groups[0])
        true = certify(fails, 1.0 - (least or 0.5), error=error, groups=groups[1])
        first = _STEPS + 1 if true.place is None else _STEPS - true.place
        last = -1 if false.place is None else false.place
        curves = [
            false.shares,
            false.bounds,
            1.0 - true.shares[::-1],
            1.0 - true.bounds[::-1],
        ]
        ends = 0 if least is None else first, _STEPS if most is None else last
        return cls(
            limits, error, false.n, true.n, false.groups, np.stack(curves), *ends
        )

    @property
    def chosen(self) -> int | None:
        """The place of the threshold to use; None where none is certified."""
        if self.first > self.last:
            return None
        return self.first if self.limits.max_false_pass is None else self.last

    @property
    def merit(self) -> tuple[bool, float]:
        """The more the better: whether there is a threshold, and what comes of it."""
        if self.chosen is None:
            return False, -float(self.curves[1, 0])
        false, _, true, _ = self.curves[:, self.chosen].tolist()
        return True, -false if self.limits.max_false_pass is None else true

    def joined(self, other: Self) -> Self:
        """What holds for both: the worse shares, and the thresholds that are certified for both."""
        groups = None if self.groups is None else self.groups + (other.groups or 0)
        counts = (self.rejected + other.rejected, self.good + other.good, groups)
        curves = _WORSE * np.fmax(_WORSE * self.curves, _WORSE * other.curves)
        ends = max(self.first, other.first), min(self.last, other.last)
        return type(self)(self.limits, self.error, *counts, curves, *ends)

    def record(self) -> Record:
        """At the chosen threshold; where there is none, what passes at 1."""
        found: Record = {"rejected": self.rejected, "good": self.good}
        floor = {"at_threshold_1": float(self.curves[0, 0])}
        if self.chosen is None:
            return found | floor
        found["threshold"] = float(THRESHOLDS[self.chosen])
        shares = dict(zip(_SHARES, self.curves[:, self.chosen].tolist(), strict=True))
        return found | shares | floor

    def why(self) -> str:
        """Why no threshold is certified, as a clause."""
        most, least = self.limits.max_false_pass, self.limits.min_true_pass
        if most is not None and self.last < 0:
            return self._why_not_strict(most)
        if self.first > _STEPS:
            share, bound = self.curves[2:, -1].tolist()
            of = counted(self.good, "good answer")
            return f"even at threshold 0, {share:.3f} of {of} pass (lower bound {bound:.3f})"
        strict, lenient = (
            f"{THRESHOLDS[place]:g}" for place in (self.last, self.first)
        )
        return (
            f"at most {percent(most or 0.0)} false passes need a threshold of {strict} or more, "
            f"{percent(least or 0.0)} of the good answers one of {lenient} or less"
        )

    def _why_not_strict(self, most: float) -> str:
        """Too few ratings, or a judge that misses too much."""
        number, what, of = self.rejected, "rated rejections", ""
        if self.groups is not None:
            number, what, of = (
                self.groups,
                "groups with a rated rejection",
                " (mean over groups)",
            )
        if (fewest := needed(most, self.error) or 0) > number:
            short = f"rate {fewest - number} more, or raise the limit"
            return f"the limit takes at least {fewest} {what}, got {number}; {short}"
        floor = float(self.curves[0, 0])
        more = None if of else needed(most, self.error, floor)  # means need other tests
        of_all = percent(round(floor, 3)) if of else f"{floor * self.rejected:.0f}"
        enough = (
            f"about {more} {what} would be enough at this share, or " if more else ""
        )
        return (
            f"{of_all} of {counted(self.rejected, 'rejected answer')}{of} have the score 1 and pass "
            f"at every threshold; {enough}a second judge may catch them (tcva evaluate --fuse JUDGE)"
        )


def guaranteed(
    table: ScoreTable,
    settings: Sequence[ScoringConfig],
    limits: Limits,
    by: str | None = None,
) -> Report:
    """The setting that keeps the limits and, of those, passes the most good answers. No call.

    Args:
        table: With level counts and ratings.
        settings: Fixed before a rating is seen. Several share what the guarantee may err.
        limits: To keep.
        by: A field of the metadata: the limits hold for each of its values, at one threshold.

    Returns:
        The tables ``guarantee`` (a row per setting), ``by FIELD`` (a row per value, with the
        threshold for it alone) and ``thresholds`` (the path of the best setting). Its settings hold
        ``guarantee``, a `Guarantee` as plain values, or None.

    Raises:
        InvalidValueError: No rating, ratings outside the scale, no sample with the field, or
            settings that give unscored answers a score.
        MissingDependencyError: scipy is not installed.
    """
    rated = _rated(table, limits, settings)
    rows_by = {"": [*range(len(rated))]} if by is None else rated.rows_by(by)
    parts = {value: rated.select(rows) for value, rows in rows_by.items()}
    number = 2 - [limits.max_false_pass, limits.min_true_pass].count(None)
    paths = len(settings) * len(parts) * number
    error = (1.0 - limits.confidence) / paths
    method = next(iter(table.methods), "")  # level counts alone have none
    gates = [
        {
            value: Gate.of(part, method, part.at(each), limits, error)
            for value, part in parts.items()
        }
        for each in settings
    ]
    joined = [reduce(Gate.joined, each.values()) for each in gates]
    best = max(range(len(joined)), key=lambda place: joined[place].merit)
    name, gate, found = described(settings[best]), joined[best], None
    record = gate.record()
    if gate.chosen is not None:
        if not gate.rejected:
            msg = "no rejected answer has a score, and a limit needs some; rate more samples"
            raise InvalidValueError(msg)
        found = Guarantee(
            **dict(limits),
            **{name: record[name] for name in (*_INTS, *_SHARES)},
            groups=gate.groups,
            by=by,
            date=datetime.now(tz=UTC).date().isoformat(),
            judged_by=judged_by(table),
            setting=plain(settings[best]) | {"threshold": record["threshold"]},
        ).sealed()
        sentence = f"Use {name}, threshold {record['threshold']:g}: {found.said}"
    else:
        of_all = f", the best of {len(settings)} settings," if len(settings) > 1 else ""
        sentence = _infeasible(f"{name}{of_all}", gates[best], limits, by)
    rows = [
        {"setting": described(s), **g.record()}
        for s, g in zip(settings, joined, strict=True)
    ]
    tables = [
        Table(
            "guarantee", _columns(limits, "setting"), rows, notes=_meant(limits, error)
        )
    ]
    if by is not None:
        rows = [
            {"value": value, **part.record()} for value, part in gates[best].items()
        ]
        note = f"threshold: for the value alone; {name} uses the one of the table above for all"
        columns = _columns(limits, "value")
        tables.append(Table(f"by {by}", columns, rows, notes=[note] if found else ()))
    asked = limits.model_dump(mode="json") | {
        "by": by,
        "criterion": table.judged.criterion or None,
    }
    asked |= {"recommended": found and dict(found.setting), "profiles": None}
    asked |= {"guarantee": found and found.model_dump(mode="json")}
    about = [
        *_notes(rated, method, rated.at(settings[best]), limits, len(settings), paths)
    ]
    notes = [*table.notes, *about[found is None :]]
    if left := len(rated) - sum(map(len, parts.values())):
        notes.append(f"Left out: {counted(left, 'rated sample')} without {by!r}.")
    return Report(sentence, [*tables, _path(gate)], notes, asked)


def guarantee_table(table: ScoreTable, limits: Limits) -> Table:
    """Each method's own scores: the threshold that keeps the limit, and the good answers that pass.

    Args:
        table: With ratings.
        limits: On false passes, to keep by each method alone.

    Raises:
        InvalidValueError: No rating, or ratings outside the scale.
        MissingDependencyError: scipy is not installed.
    """
    rated, rows, notes = _rated(table, limits), [], []
    for method, scores in rated.columns:
        gate = Gate.of(rated, method, scores, limits, 1.0 - limits.confidence)
        row = {"method": method, **gate.record()}
        rows.append(row | {"good_answers_passed": row.get("true_pass")})
        if gate.chosen is None:
            notes.append(f"no threshold for {method}: {gate.why()}")
    sure = f"{percent(limits.confidence)} confidence, for each method alone"
    alone = (
        "; a choice among the methods by this table is not covered"
        if len(rows) > 1
        else ""
    )
    notes.insert(
        0, f"threshold: the lowest at which {limits.text} pass ({sure}){alone}"
    )
    columns = named_columns(
        method="text",
        rejected="int",
        threshold="score",
        false_pass="score",
        good_answers_passed="score",
    )
    notes += _meant(limits, passed="good answers passed")[:1]
    return Table("guarantee", columns, rows, notes=notes)


def judged_by(table: ScoreTable) -> dict[str, Any]:
    """What the judge of a table's verdicts is known by, for a `Guarantee`; empty where that changes."""
    # Verdicts of framework metrics are not those that a run's temperatures score.
    methods = table.views or table.methods
    results = chain.from_iterable(table.results.get(name, ()) for name in methods)
    first, *others = [
        e.assessment.judged_by for e in results if isinstance(e, Result)
    ] or [{}]
    is_same = all(each == first for each in others)
    return {
        name: value for name, value in first.items() if is_same and name != PROFILES
    }


def _rated(
    table: ScoreTable, limits: Limits, settings: Sequence[ScoringConfig] = ()
) -> ScoreTable:
    """The rated samples."""
    rated, msg = table.rated, ""
    human, rejects = rated.rating, _rejects(rated, limits)
    if any(each.on_unscored is not None for each in settings):
        msg = "on_unscored gives answers without a score one; leave it out where a limit is to hold"
    elif not len(rated):
        msg = "no sample has a human rating; name their field or file with --human"
    elif not 0.0 <= human.min() <= human.max() <= 1.0:
        msg = off_scale(human)
    elif rejects.all() or not rejects.any():
        what = "rejected" if rejects.all() else "good"
        at = f"human_threshold (--human-threshold) is {limits.human_threshold:g}"
        msg = f"all {len(rated)} rated answers are {what}, and a limit needs both; {at}"
    if msg:
        raise InvalidValueError(msg)
    # Another judgement of a sample is no other sample: see `numbered`.
    names = {*table.samples}
    first = [o if (o := n.rpartition("#")[0]) in names else n for n in rated.samples]
    is_new = rated.groups or len({*first}) == len(first)
    return rated if is_new else replace(rated, groups=tuple(first))


def _rejects(table: ScoreTable, limits: Limits) -> BoolArray:
    """Which answers people reject; the mean of equal ratings may be off in its last digits."""
    at = passes_from(limits.human_threshold, limits.human_scale)
    return table.rating < at - _SAME


def _columns(limits: Limits, first: str) -> list[Column]:
    """Of a table of gates, with the bounds of the limits that there are."""
    lacking = {"bound"} if limits.max_false_pass is None else set()
    lacking |= {"true_bound"} if limits.min_true_pass is None else set()
    names = (
        "threshold",
        "rejected",
        "false_pass",
        "bound",
        "good",
        *_SHARES[2:],
        "at_threshold_1",
    )
    shown = (name for name in names if name not in lacking)
    return [
        Column(first),
        *(Column(n, "int" if n in _INTS else "score") for n in shown),
    ]


def _meant(limits: Limits, error: float = 0.05, passed: str = "true pass") -> list[str]:
    """What the columns mean; each bound may err so much."""
    rejected = f"answers rated below {limits.human_threshold:g}"
    limited = {"bound": limits.max_false_pass, "true bound": limits.min_true_pass}
    alone = f"one-sided, {percent(round(1.0 - error, 4))} for one threshold alone"
    return [
        f"rejected: {rejected}; false pass, {passed}: shares of rejected and good answers that pass",
        f"{', '.join(name for name, limit in limited.items() if limit)}: of the true share ({alone})",
        "at threshold 1: the false passes that no threshold prevents",
    ]


def _path(gate: Gate) -> Table:
    """What passes along the thresholds."""
    names = ("threshold", *_SHARES[:3])
    values = np.column_stack([THRESHOLDS, *gate.curves[:3]]).tolist()
    rows = [
        {
            **dict(zip(names, row, strict=True)),
            "certified": gate.first <= place <= gate.last,
        }
        for place, row in enumerate(values)
    ]
    columns = [*(Column(name, "score") for name in names), Column("certified")]
    return Table("thresholds", columns, rows, detail=True)


def _infeasible(
    name: str,
    gates: Mapping[str, Gate],
    limits: Limits,
    by: str | None,
) -> str:
    """What was asked for, and why no threshold can be trusted to keep it."""
    said = f"No threshold at {name} is certified to let {limits.text} pass"
    failing = {value: gate for value, gate in gates.items() if gate.chosen is None}
    if not failing:
        return f"{said}: the values of {by!r} have no certified threshold in common."
    value, gate = next(iter(failing.items()))
    more = (
        f" (and {counted(len(failing) - 1, 'more value')})" if len(failing) > 1 else ""
    )
    return f"{said}: {f'for {by}={value}, ' if by else ''}{gate.why()}{more}."


def _notes(
    rated: ScoreTable,
    method: str,
    scores: FloatArray,
    limits: Limits,
    tried: int,
    paths: int,
) -> Iterator[str]:
    """What a guarantee is about, first of all, and what was left out."""
    wrong = percent(1.0 - limits.confidence)
    yield (
        f"A guarantee is about answers that are drawn, judged and rated like these {len(rated)}: at "
        f"most {wrong} of such sets of ratings result in a setting that breaks a limit."
    )
    if rated.groups:
        yield (
            "Groups count once each, by the share of their answers that pass; the limits hold for "
            "the mean of this share over groups."
        )
    if paths > 1:
        best = (
            f" The true pass of the best of {tried} settings is optimistic."
            if tried > 1
            else ""
        )
        yield f"{paths} paths of thresholds share the {wrong} (Bonferroni).{best}"
    rejects, silent = _rejects(rated, limits), rated.silent(method)
    unscored = np.isnan(scores) & ~silent
    if passing := int((silent & rejects).sum()):
        yield (
            f"Counted as passing: {counted(passing, 'rejected answer')} that claim nothing (a refusal, "
            "say), which gates let through."
        )
    if bad := int((unscored & rejects).sum()):
        yield f"Left out: {counted(bad, 'rejected answer')} without a score, which cannot pass."
    if good := int((unscored & ~rejects).sum()):
        yield f"Counted as not passing: {counted(good, 'good answer')} without a score."
