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

from tcva_adapters.compare.described import described, plain
from tcva_adapters.compare.ratings import off_scale, passes_from
from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.core.checks import of_percent
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.guarantee import Guarantee, limits_text, percent
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import BoolArray, FloatArray
from tcva_adapters.stats.guarantee import certify, needed
from tcva_adapters.tables import Column, Report, Table, counted

_STEPS: Final = 200
THRESHOLDS: Final[FloatArray] = np.arange(_STEPS, -1, -1) / _STEPS
"""The path, the strictest first."""
_SAME: Final = 1e-12
"""A rejected answer passes where only the last digits of its score are below a threshold."""
Parts = Mapping[str, Sequence[int]]
"""Rows of the values of a field, or all rows under one name."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a gate must keep.

    Attributes:
        max_false_pass: The largest share of rejected answers that may pass; None sets no limit.
        min_true_pass: The smallest share of good answers that must pass, likewise.
        confidence: Of everything together.
        human_threshold: A rating below it rejects, on the scale of ratings.
        human_scale: Of these; None where they lie in [0, 1].

    Raises:
        InvalidValueError: One of them is out of range, or no limit is given.
    """

    max_false_pass: float | None
    min_true_pass: float | None = None
    confidence: float = 0.95
    human_threshold: float | None = None
    human_scale: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("max_false_pass", "min_true_pass", "confidence"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < 1.0:
                msg = f"{name} must be above 0 and below 1, e.g. 0.1, got {value:g}{of_percent(value)}"
                raise InvalidValueError(msg)
        _ = self.rejects_below

    @classmethod
    def taken(cls, options: dict[str, Any], scale: tuple[float, float] | None) -> Self | None:
        """The limit among options, which are taken out; None where there is none.

        Raises:
            InvalidValueError: What belongs to a limit is given without one.
        """
        names = ("confidence", "human_threshold")
        given = {name: options.pop(name) for name in names if options.get(name) is not None}
        most = options.pop("max_false_pass", None)
        if given and most is None:
            msg = f"{next(iter(given))} needs max_false_pass (--max-false-pass)"
            raise InvalidValueError(msg)
        return None if most is None else cls(most, human_scale=scale, **given)

    @property
    def rejects_below(self) -> float:
        """The rating, on the scale of scores."""
        return passes_from(self.human_threshold, self.human_scale)

    @property
    def rejecting(self) -> float:
        """The same on the scale of ratings."""
        low, high = self.human_scale or (0.0, 1.0)
        return (low + high) / 2.0 if self.human_threshold is None else self.human_threshold

    @property
    def text(self) -> str:
        """The limits in words."""
        return limits_text(self.max_false_pass, self.min_true_pass)

    @property
    def given(self) -> list[float]:
        """The limits that there are."""
        return [each for each in (self.max_false_pass, self.min_true_pass) if each is not None]

    def error(self, tests: int) -> float:
        """What each of several paths may err, for all of them to hold together (Bonferroni)."""
        return (1.0 - self.confidence) / (tests * len(self.given))


@dataclass(frozen=True)
class Gate:
    """What passes at each of `THRESHOLDS`, and which of them are certified.

    Attributes:
        rejected: Rejected answers with a score.
        good: Good answers.
        groups: How many groups the rejected answers are of; None where they stand alone.
        false_pass: The share of rejected answers that pass, by threshold.
        bound: Its upper bounds.
        true_pass: The share of good answers that pass.
        true_bound: Its lower bounds.
        first: The strictest certified threshold's place.
        last: The most lenient one's; before `first` where there is none.
        is_lenient: Whether the most lenient one is to be used, or the strictest.
    """

    rejected: int
    good: int
    groups: int | None
    false_pass: FloatArray
    bound: FloatArray
    true_pass: FloatArray
    true_bound: FloatArray
    first: int
    last: int
    is_lenient: bool

    @classmethod
    def of(
        cls,
        scores: FloatArray,
        human: FloatArray,
        limits: Limits,
        error: float,
        groups: Sequence[object] = (),
    ) -> Self:
        """That of some scores.

        A rejected answer without a score does not pass, and says nothing of one with a score: it is
        left out. A good one counts, as not passing.

        Args:
            scores: Of the samples, shape (N,); nan where there is none.
            human: Ratings, likewise.
            limits: To keep.
            error: See `certify`.
            groups: One per sample, or none.
        """
        rejected: BoolArray = (human < limits.rejects_below) & np.isfinite(scores)
        good: BoolArray = human >= limits.rejects_below
        passes = scores[rejected] + _SAME >= THRESHOLDS[:, None]
        fails = ~(scores[good] >= THRESHOLDS[::-1, None])
        of = [
            [groups[place] for place in np.flatnonzero(rows).tolist()] if groups else None
            for rows in (rejected, good)
        ]
        # Shares and bounds do not depend on the limit, where there is none.
        most, least = limits.max_false_pass or 0.5, limits.min_true_pass or 0.5
        false = certify(passes, most, error=error, groups=of[0])
        true = certify(fails, 1.0 - least, error=error, groups=of[1])
        last = -1 if false.place is None else false.place
        first = _STEPS + 1 if true.place is None else _STEPS - true.place
        return cls(
            rejected=false.n,
            good=true.n,
            groups=false.groups,
            false_pass=false.shares,
            bound=false.bounds,
            true_pass=1.0 - true.shares[::-1],
            true_bound=1.0 - true.bounds[::-1],
            first=0 if limits.min_true_pass is None else first,
            last=_STEPS if limits.max_false_pass is None else last,
            is_lenient=limits.max_false_pass is not None,
        )

    @property
    def chosen(self) -> int | None:
        """The place of the threshold to use; None where none is certified."""
        if self.first > self.last:
            return None
        return self.last if self.is_lenient else self.first

    @property
    def merit(self) -> tuple[bool, float]:
        """The more the better: whether there is a threshold, and what comes of it."""
        if (place := self.chosen) is None:
            return False, -float(self.bound[0])
        return True, float(self.true_pass[place] if self.is_lenient else -self.false_pass[place])

    def joined(self, other: Self) -> Self:
        """What holds for both: the worse shares, and the thresholds that are certified for both."""
        return replace(
            self,
            rejected=self.rejected + other.rejected,
            good=self.good + other.good,
            groups=None if self.groups is None else self.groups + (other.groups or 0),
            false_pass=np.fmax(self.false_pass, other.false_pass),
            bound=np.maximum(self.bound, other.bound),
            true_pass=np.fmin(self.true_pass, other.true_pass),
            true_bound=np.minimum(self.true_bound, other.true_bound),
            first=max(self.first, other.first),
            last=min(self.last, other.last),
        )

    def record(self) -> dict[str, Any]:
        """At the chosen threshold; where there is none, what passes at 1."""
        found: dict[str, Any] = {"rejected": self.rejected, "good": self.good}
        if (place := self.chosen) is not None:
            found["threshold"] = float(THRESHOLDS[place])
            for name in _SHARES:
                found[name] = float(getattr(self, name)[place])
        return found | {"at_threshold_1": float(self.false_pass[0])}

    def why(self, limits: Limits, error: float) -> str:
        """Why no threshold is certified, as a clause."""
        most, least = limits.max_false_pass, limits.min_true_pass
        if most is not None and self.last < 0:
            return _why_not_strict(self, most, error)
        if least is not None and self.first > _STEPS:
            share, bound = (f"{each[-1]:.3f}" for each in (self.true_pass, self.true_bound))
            return (
                f"even at threshold 0, {share} of {counted(self.good, 'good answer')} pass (lower "
                f"bound {bound})"
            )
        strict, lenient = (f"{THRESHOLDS[place]:g}" for place in (self.last, self.first))
        return (
            f"at most {percent(most or 0.0)} false passes need a threshold of {strict} or more, "
            f"{percent(least or 0.0)} of the good answers one of {lenient} or less"
        )


_SHARES: Final = ("false_pass", "bound", "true_pass", "true_bound")


def _columns(limits: Limits, first: str) -> list[Column]:
    """Of a table of gates, with the bounds of the limits that there are."""
    bounds = {"bound": limits.max_false_pass, "true_bound": limits.min_true_pass}
    names = ("threshold", "rejected", "false_pass", "bound", "good", "true_pass", "true_bound")
    shown = [name for name in (*names, "at_threshold_1") if bounds.get(name, 1.0) is not None]
    counts = {"rejected", "good"}
    return [Column(first), *(Column(n, "int" if n in counts else "score") for n in shown)]


def _why_not_strict(gate: Gate, most: float, error: float) -> str:
    """Why not even threshold 1 keeps the limit: too few ratings, or a judge that misses too much."""
    alone = gate.groups is None
    what = "rated rejections" if alone else "groups with a rated rejection"
    number = gate.rejected if alone else gate.groups
    if (fewest := needed(most, error) or 0) > (number or 0):
        return f"the limit takes at least {fewest} {what}, got {number}"
    floor = float(gate.false_pass[0])
    of = f"{counted(gate.rejected, 'rejected answer')}{'' if alone else ' (mean over groups)'}"
    seen = f"{floor:.3f} of {of} have the score 1 and pass at every threshold"
    more = needed(most, error, floor)
    enough = f"about {more} {what} would be enough at this share, or " if more else ""
    return f"{seen}; {enough}a second judge may catch them (tcva evaluate --fuse)"


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
    rated = _checked(table, settings)
    parts = _parts(rated, by)
    error = limits.error(len(settings) * len(parts))
    scores = [rated.at(each) for each in settings]
    gates = [_gates(rated, of, parts, limits, error) for of in scores]
    joined = [reduce(Gate.joined, each.values()) for each in gates]
    best = max(range(len(joined)), key=lambda place: joined[place].merit)
    gate, setting = joined[best], settings[best]
    name, found = described(setting), None
    if gate.chosen is not None:
        own = plain(setting) | {"threshold": float(THRESHOLDS[gate.chosen])}
        found = _guarantee(table, gate, limits, by, len(settings), own)
    rows = [
        {"setting": described(one), **of.record()} for one, of in zip(settings, joined, strict=True)
    ]
    tables = [Table("guarantee", _columns(limits, "setting"), rows, notes=_meant(limits))]
    if by is not None:
        rows = [{"value": value, **part.record()} for value, part in gates[best].items()]
        note = f"threshold: for the value alone; {name} uses the one of the table above for all"
        columns = _columns(limits, "value")
        tables.append(Table(f"by {by}", columns, rows, notes=[note] if found else ()))
    tables.append(_path(gate))
    sentence = (
        f"Use {name}, threshold {found.setting['threshold']:g}: {found.said}. {found.rated}"
        if found
        else _infeasible(name, len(settings), gates[best], limits, error, by)
    )
    asked: dict[str, Any] = {"max_false_pass": limits.max_false_pass}
    asked |= {"min_true_pass": limits.min_true_pass, "confidence": limits.confidence, "by": by}
    asked |= {"human_threshold": limits.rejects_below, "criterion": table.about.get("criterion")}
    asked["recommended"] = None if found is None else dict(found.setting)
    asked |= {"profiles": None, "guarantee": found and found.model_dump(mode="json")}
    notes = [*table.notes, *_notes(rated, scores[best], parts, limits, len(settings), by)]
    return Report(sentence, tables, notes, asked)


def guarantee_table(table: ScoreTable, limits: Limits) -> Table:
    """Each method's own scores: the threshold that keeps the limit, and the good answers that pass.

    Args:
        table: With ratings.
        limits: To keep, by each method alone.

    Raises:
        InvalidValueError: Ratings outside the scale.
        MissingDependencyError: scipy is not installed.
    """
    rated = _checked(table)
    error, rows = limits.error(1), []
    for method in table.methods:
        found = Gate.of(rated.column(method), rated.rating, limits, error, rated.groups)
        why = "" if found.chosen is not None else found.why(limits, error)
        rows.append({"method": method, **found.record(), "reason": why})
        rows[-1]["good_answers_passed"] = rows[-1].get("true_pass")
    alone = "; a choice among the methods by this table is not covered" if len(rows) > 1 else ""
    sure = f"with {percent(limits.confidence)} confidence, for each method alone{alone}"
    notes = [
        f"threshold: the lowest at which {limits.text} pass {sure}",
        *_meant(limits)[:1],
        *(f"no threshold for {row['method']}: {row['reason']}" for row in rows if row["reason"]),
    ]
    columns = [Column("method"), Column("rejected", "int"), Column("threshold", "score")]
    columns += [Column("false_pass", "score"), Column("good_answers_passed", "score")]
    return Table("guarantee", columns, rows, notes=notes)


def _checked(table: ScoreTable, settings: Sequence[ScoringConfig] = ()) -> ScoreTable:
    """The rated samples."""
    rated = table.rated
    if not len(rated):
        msg = "no sample has a human rating; name their field or file with --human"
        raise InvalidValueError(msg)
    if not 0.0 <= rated.rating.min() <= rated.rating.max() <= 1.0:
        raise InvalidValueError(off_scale(rated.rating))
    if any(each.on_unscored is not None for each in settings):
        msg = "on_unscored gives answers without a score one; leave it out where a limit is to hold"
        raise InvalidValueError(msg)
    return rated


def _parts(rated: ScoreTable, by: str | None) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in range(len(rated)):
        value = "" if by is None else rated.metadata[row].get(by) if len(rated.metadata) else None
        if value is not None:
            found.setdefault(str(value), []).append(row)
    if not found:
        msg = f"no rated sample has {by!r} in its metadata; name a field that samples have"
        raise InvalidValueError(msg)
    return found


def _gates(
    rated: ScoreTable, scores: FloatArray, parts: Parts, limits: Limits, error: float
) -> dict[str, Gate]:
    """One for each part."""
    return {
        value: Gate.of(
            scores[rows],
            rated.rating[rows],
            limits,
            error,
            [rated.groups[row] for row in rows] if rated.groups else (),
        )
        for value, rows in parts.items()
    }


def _path(gate: Gate) -> Table:
    """What passes along the thresholds."""
    names = ("false_pass", "bound", "true_pass")
    rows = [
        {
            "threshold": at,
            **dict(zip(names, of, strict=True)),
            "certified": gate.first <= k <= gate.last,
        }
        for k, (at, *of) in enumerate(
            zip(THRESHOLDS.tolist(), *(getattr(gate, name).tolist() for name in names), strict=True)
        )
    ]
    columns = [Column("threshold", "score"), *(Column(name, "score") for name in names)]
    return Table("thresholds", [*columns, Column("certified")], rows, detail=True)


def _guarantee(
    table: ScoreTable,
    gate: Gate,
    limits: Limits,
    by: str | None,
    tried: int,
    setting: Mapping[str, Any],
) -> Guarantee:
    """What the settings file carries."""
    shares: dict[str, Any] = {name: float(getattr(gate, name)[gate.chosen]) for name in _SHARES}
    return Guarantee(
        max_false_pass=limits.max_false_pass,
        min_true_pass=limits.min_true_pass,
        confidence=limits.confidence,
        **shares,
        rejected=gate.rejected,
        good=gate.good,
        groups=gate.groups,
        by=by,
        settings_tried=tried,
        human_threshold=limits.rejecting,
        date=datetime.now(tz=UTC).date().isoformat(),
        **judged_by(table),
        setting=setting,
    )


def judged_by(table: ScoreTable) -> dict[str, Any]:
    """Who judged a table's samples, as a `Guarantee` names it."""
    versions: dict[str, None] = {}
    for each in chain.from_iterable(table.results.values()):
        if isinstance(each, Result):
            judged = (each.assessment, *each.assessment.members)
            versions |= dict.fromkeys(one.prompt_version for one in judged)
    return {
        "criterion": table.about.get("criterion"),
        "judge": table.about.get("judge"),
        "prompt_version": "+".join(versions) or None,
        "fused": tuple(table.about.get("fused", ())),
    }


def _meant(limits: Limits) -> list[str]:
    """What the columns mean."""
    notes = [
        f"rejected: answers rated below {limits.rejecting:g}; false pass: the share of these that pass",
        "true pass: the share of the good answers that pass",
        "at threshold 1: the false passes that no threshold prevents",
    ]
    bounds = {"bound": limits.max_false_pass, "true bound": limits.min_true_pass}
    if named := " and ".join(name for name, limit in bounds.items() if limit is not None):
        notes.append(f"{named}: for one threshold alone; it must keep the limit")
    return notes


def _infeasible(
    name: str, tried: int, gates: Mapping[str, Gate], limits: Limits, error: float, by: str | None
) -> str:
    """What was asked for, and why no threshold can be trusted to keep it."""
    of = f" (the best of {tried} settings)" if tried > 1 else ""
    said = f"No threshold at {name}{of} is certified to let {limits.text} pass"
    failing = {value: gate for value, gate in gates.items() if gate.chosen is None}
    if not failing:
        return f"{said}: the values of {by!r} have no certified threshold in common."
    value, gate = next(iter(failing.items()))
    where = f"for {by}={value}, " if by else ""
    more = f" (and {counted(len(failing) - 1, 'more value')})" if len(failing) > 1 else ""
    return f"{said}: {where}{gate.why(limits, error)}{more}."


def _notes(
    rated: ScoreTable, scores: FloatArray, parts: Parts, limits: Limits, tried: int, by: str | None
) -> Iterator[str]:
    """What the guarantee is about, and what was left out."""
    yield (
        f"A guarantee is about answers that are drawn, judged and rated like these {len(rated)}: at "
        f"most {percent(1.0 - limits.confidence)} of such sets of ratings lead to a setting that "
        "breaks a limit."
    )
    if rated.groups:
        yield (
            "Groups count once each, by the share of their answers that pass; the limits hold for "
            "the mean of this share over groups."
        )
    if (paths := tried * len(parts) * len(limits.given)) > 1:
        each = percent(1.0 - limits.error(tried * len(parts)))
        yield f"{paths} paths of thresholds share the error: each is certified at {each} (Bonferroni)."
    if tried > 1:
        yield f"The true pass of the best of {tried} settings is optimistic."
    used = sum(map(len, parts.values()))
    if left := len(rated) - used:
        yield f"Left out: {counted(left, 'rated sample')} without {by!r}."
    unscored, rejects = np.isnan(scores), rated.rating < limits.rejects_below
    if bad := int((unscored & rejects).sum()):
        yield f"Left out: {counted(bad, 'rejected answer')} without a score, which cannot pass."
    if good := int((unscored & ~rejects).sum()):
        yield f"{counted(good, 'good answer')} without a score {'counts' if good == 1 else 'count'} as not passing."
