"""Find a gate's setting that lets few rejected answers pass, with a guarantee, or say why not.

At each setting of the score, a path runs over all thresholds from 1 down to 0: an order that was fixed
before any rating was seen. The temperature cannot be the path, as answers in which the judge saw no
fault pass at every temperature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, reduce
from itertools import chain

import numpy as np

from tcva_adapters.compare.calibration.threshold_path import (
    ThresholdPath,
    gate_scores,
    passing_record,
    rejects,
)
from tcva_adapters.compare.scores.ratings import (
    Scale,
    check_on_scale,
    check_scale,
    check_unused,
    passes_from,
)
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import setting_text, settings_of
from tcva_adapters.results.guarantee import Guarantee, Limits, Per, percent
from tcva_adapters.results.judge_spec import PROFILES
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json
from tcva_adapters.stats.guarantee import LARGEST_GROUP
from tcva_adapters.stats.threshold_steps import Steps
from tcva_adapters.tables import (
    Column,
    Record,
    Report,
    Table,
    counted,
    named_columns,
    plain,
)

_CONFIDENCE = 0.95
_GAIN = (
    "precision: the share of good answers among those that pass; p: of good answers passing no more "
    "often than rejected ones (one-sided)"
)
_COLUMNS = named_columns(
    threshold="score",
    rejected="int",
    false_pass="score",
    bound="score",
    good="int",
    true_pass="score",
    true_bound="score",
    at_threshold_1="score",
    precision="interval",
    p="p",
)


def limits_of(
    *,
    max_false_pass: float | None = None,
    min_true_pass: float | None = None,
    confidence: float | None = None,
    human_threshold: float | None = None,
    human_scale: Scale | None = None,
    per: Per | None = None,
    largest_group: int | None = None,
) -> Limits | None:
    """Make `Limits` of those that are given, on the scale of the ratings; None without any.

    Raises:
        InvalidValueError: A limit is out of range, ``confidence`` or ``per`` is given without a limit,
            or ``largest_group`` without ``per="answer"``.
    """
    if per != "answer":
        check_unused("needs per='answer' (--per answer)", largest_group=largest_group)
    elif largest_group is None:
        largest_group = LARGEST_GROUP
    if max_false_pass is None and min_true_pass is None:
        check_unused(
            "needs a limit, max_false_pass (--max-false-pass)",
            confidence=confidence,
            per=per,
        )
        return None
    scale = human_scale or (0.0, 1.0)
    check_scale("human_scale (--human-scale)", scale)
    if human_threshold is None:
        human_threshold = sum(scale) / 2.0
    limits = Limits(
        max_false_pass=max_false_pass,
        min_true_pass=min_true_pass,
        confidence=_CONFIDENCE if confidence is None else confidence,
        human_threshold=human_threshold,
        human_scale=scale,
        per=per,
        largest_group=largest_group,
    )
    passes_from(limits.human_threshold, scale)
    return limits


def certify_setting(
    table: ScoreTable,
    settings: Sequence[ScoringConfig],
    limits: Limits,
    by: str | None = None,
) -> Report:
    """Choose the setting that keeps the limits and passes the most good answers, without a call.

    Args:
        table: A table with level counts and ratings.
        settings: Settings to try, fixed before a rating is seen; the error rate is divided among
            them.
        limits: The limits to keep.
        by: A field of the metadata; the limits then hold for each of its values, at one common
            threshold.

    Returns:
        The tables ``guarantee`` (a row per setting), ``by FIELD`` (a row per value, with the
        threshold for it alone) and ``thresholds`` (the path of the best setting). Its settings hold
        ``guarantee``, a `Guarantee` as plain values, or None, and ``recommended``, which is None
        also where the gate passes good and rejected answers alike.

    Raises:
        InvalidValueError: No rating, ratings outside the scale, no sample with the field, or
            settings that give unscored answers a score.
        MissingDependencyError: scipy is not installed.
    """
    if any(setting.on_unscored is not None for setting in settings):
        raise InvalidValueError(
            "on_unscored gives answers without a score one; leave it out where a limit is to hold"
        )
    choice = _choose(table, settings, limits, by)
    guarantee = choice.guarantee
    return Report(
        choice.sentence(),
        [*choice.tables()],
        [*table.notes, *choice.notes()],
        {
            **limits.model_dump(mode="json"),
            "by": by,
            "criterion": table.judged.criterion or None,
            "recommended": dict(guarantee.setting)
            if guarantee and choice.records[choice.best]["recommended"]
            else None,
            "profiles": None,
            "guarantee": guarantee and guarantee.model_dump(mode="json"),
        },
    )


@dataclass(frozen=True)
class _Choice:
    """The choice among settings by their paths of thresholds.

    Attributes:
        rated: The rated samples.
        by: The field for each of whose values the limits hold; None without a field.
        n_paths: The number of paths of thresholds that share the error.
        paths: By setting, the path of each value of the field; of all samples without a field.
        records: By setting, what passes at its threshold, where one is certified.
        best: The setting to use.
        path: What holds at it for all values.
        judge: The identity of the judge.
    """

    rated: ScoreTable
    by: str | None
    n_paths: int
    paths: Mapping[ScoringConfig, Mapping[str, ThresholdPath]]
    records: Mapping[ScoringConfig, Record]
    best: ScoringConfig
    path: ThresholdPath
    judge: Fields

    @cached_property
    def guarantee(self) -> Guarantee | None:
        """The guarantee of the setting to use; None where no threshold is certified.

        Raises:
            InvalidValueError: No rejected answer has a score.
        """
        path = self.path
        if path.chosen is None:
            return None
        if not path.rejected:
            raise InvalidValueError(
                "no rejected answer has a score, and a limit needs some; rate more samples"
            )
        figures = plain(self.records[self.best])
        return Guarantee(
            **dict(path.limits),
            **{name: figures[name] for name in Guarantee.model_fields.keys() & figures},
            groups=path.groups,
            by=self.by,
            date=datetime.now(tz=UTC).date().isoformat(),
            judged_by=self.judge,
            setting=settings_of(self.best) | {"threshold": figures["threshold"]},
        ).with_digest()

    def sentence(self) -> str:
        """State the setting and its guarantee, or why no threshold is certified."""
        name = setting_text(self.best)
        if self.guarantee is not None:
            name += f", threshold {self.guarantee.setting['threshold']:g}"
            if self.records[self.best]["recommended"]:
                return f"Use {name}: {self.guarantee.sentence}"
            return (
                f"{name} is certified but not recommended, since it does not pass good answers "
                f"significantly more often than rejected ones: {self.guarantee.sentence}"
            )
        if len(self.paths) > 1:
            name += f", the best of {len(self.paths)} settings,"
        return (
            f"No threshold at {name} is certified to let {self.path.limits.text} pass: "
            f"{self._why_not_certified()}."
        )

    def _why_not_certified(self) -> str:
        paths = self.paths[self.best]
        failing = [value for value, path in paths.items() if path.chosen is None]
        if not failing:
            return f"the values of {self.by!r} have no certified threshold in common"
        where = f"for {self.by}={failing[0]}, " if self.by else ""
        why = f"{where}{paths[failing[0]].why()}"
        if len(failing) > 1:
            why += f" (and {counted(len(failing) - 1, 'more value')})"
        return why

    def tables(self) -> Iterator[Table]:
        """Tabulate the settings, the values of the field, and the thresholds of the best setting."""
        limits = self.path.limits
        bounds = {"bound": limits.max_false_pass, "true_bound": limits.min_true_pass}
        unlimited = {name for name, limit in bounds.items() if limit is None}
        columns = [column for column in _COLUMNS if column.name not in unlimited]
        names = [column.heading for column in columns if column.name in bounds]
        certain = percent(round(1.0 - self.path.error, 4))
        yield Table(
            "guarantee",
            [Column("setting"), *columns],
            [
                {"setting": setting_text(setting), **record}
                for setting, record in self.records.items()
            ],
            notes=[
                _share_note(limits),
                f"{', '.join(names)}: of the true share (one-sided, {certain} for one threshold alone)",
                "at threshold 1: the false passes that no threshold prevents",
                _GAIN,
            ],
        )
        if self.by is not None:
            note = (
                f"threshold: for the value alone; {setting_text(self.best)} uses the one of the table "
                "above for all"
            )
            yield Table(
                f"by {self.by}",
                [Column("value"), *columns[:-2]],
                [
                    {"value": value, **path.record()}
                    for value, path in self.paths[self.best].items()
                ],
                notes=[note] if self.guarantee else (),
            )
        yield self.path.table()

    def notes(self) -> Iterator[str]:
        """Note what the guarantee is about, and how groups, paths and missing scores count."""
        rated = self.rated
        limits = self.path.limits
        wrong = percent(1.0 - limits.confidence)
        if self.guarantee is not None:
            yield (
                f"A guarantee is about answers that are drawn, judged and rated like these {len(rated)}: at "
                f"most {wrong} of such sets of ratings result in a setting that breaks a limit."
            )
        if rated.groups:
            yield (
                "The limits hold for the share of answers, where no group has more than "
                f"{limits.largest_group} rejected, or good, ones."
                if limits.largest_group
                else "Groups count once each, by the share of their answers that pass; the limits hold "
                "for the mean of this share over groups (per answer: --per answer)."
            )
        if self.n_paths > 1:
            note = f"{self.n_paths} paths of thresholds share the {wrong} (Bonferroni)."
            if len(self.paths) > 1:
                note += f" The true pass of the best of {len(self.paths)} settings is optimistic."
            yield note

        are_rejected = rejects(rated, limits)
        silent = rated.silent(_method(rated))
        unscored = np.isnan(rated.at(self.best)) & ~silent
        if passing := (silent & are_rejected).sum():
            yield (
                f"Counted as passing: {counted(passing, 'rejected answer')} that claim nothing (a refusal, "
                "say), which gates let through."
            )
        if bad := (unscored & are_rejected).sum():
            yield f"Left out: {counted(bad, 'rejected answer')} without a score, which cannot pass."
        if good := (unscored & ~are_rejected).sum():
            yield f"Counted as not passing: {counted(good, 'good answer')} without a score."
        if self.by is None:
            return
        has_value = [metadata.get(self.by) is not None for metadata in rated.metadata]
        if left := has_value.count(False):
            yield f"Left out: {counted(left, 'rated sample')} without {self.by!r}."


def _choose(
    table: ScoreTable,
    settings: Sequence[ScoringConfig],
    limits: Limits,
    by: str | None,
) -> _Choice:
    """Test the thresholds of every setting, and choose the one that passes the most good answers."""
    rated = _rated(table, limits)
    if not rated.groups:
        check_unused("needs groups (--group)", per=limits.per)
    method = _method(table)
    rows_by_value = {"": [*range(len(rated))]} if by is None else rated.rows_by(by)
    rows = [*chain.from_iterable(rows_by_value.values())]
    tested = (limits.max_false_pass, limits.min_true_pass)
    n_paths = sum(
        len(settings) * len(rows_by_value) for limit in tested if limit is not None
    )
    error = (1.0 - limits.confidence) / n_paths
    paths = {}
    joined = {}
    records = {}
    for setting in settings:
        scores = gate_scores(rated, method, rated.at(setting))
        steps = Steps.between(scores[rows])
        paths[setting] = {
            value: ThresholdPath.of(
                rated.select(part), scores[part], steps, limits, error
            )
            for value, part in rows_by_value.items()
        }
        joined[setting] = reduce(ThresholdPath.joined, paths[setting].values())
        record = joined[setting].record()
        if "threshold" in record:
            record |= passing_record(
                rated.select(rows),
                scores[rows],
                record["threshold"],
                limits,
                len(settings),
                by,
            )
        records[setting] = record
    best = max(
        joined,
        key=lambda setting: (
            records[setting].get("recommended", False),
            joined[setting].merit,
        ),
    )
    return _Choice(
        rated=rated,
        by=by,
        n_paths=n_paths,
        paths=paths,
        records=records,
        best=best,
        path=joined[best],
        judge=judge_of_table(table),
    )


def _method(table: ScoreTable) -> str:
    """Name the method whose reasons say why scores are missing; level counts alone have none."""
    return next(iter(table.methods), "")


def guarantee_table(table: ScoreTable, limits: Limits) -> Table:
    """Tabulate for each method the threshold that keeps the limit, and the good answers that pass.

    Args:
        table: A table with ratings.
        limits: The limits on false passes, which each method has to keep alone.

    Raises:
        InvalidValueError: No rating, or ratings outside the scale.
        MissingDependencyError: scipy is not installed.
    """
    rated = _rated(table, limits)
    rows = []
    reasons = []
    for method, column in rated.columns:
        scores = gate_scores(rated, method, column)
        path = ThresholdPath.of(
            rated,
            scores,
            Steps.between(scores),
            limits,
            1.0 - limits.confidence,
        )
        row = {"method": method, **path.record()}
        rows.append(row)
        if path.chosen is None:
            reasons.append(f"no threshold for {method}: {path.why()}")
            continue
        row |= passing_record(rated, scores, row["threshold"], limits)
        if not row["recommended"]:
            reasons.append(
                f"{method}: certified, but good answers do not pass significantly more often "
                "than rejected ones"
            )
    note = (
        f"threshold: there {limits.text} pass "
        f"{'in the mean over groups ' if rated.groups else ''}"
        f"({percent(limits.confidence)} confidence, for each method alone; a choice among methods by "
        "this table is not covered)"
    )
    return Table(
        "guarantee",
        named_columns(
            "method",
            rejected="int",
            threshold="score",
            false_pass="score",
            true_pass="score",
            precision="interval",
            p="p",
        ),
        rows,
        notes=[
            note,
            *reasons,
            _share_note(limits),
            f"{_GAIN}; {1.0 - rejects(rated, limits).mean():.3f} of all answers are good",
        ],
    )


def judge_of_table(table: ScoreTable) -> Json:
    """Return what identifies the judge of a table's verdicts; empty where verdicts differ in it."""
    # In a run, the judge is that of TCVA's views, not of framework metrics.
    methods = table.views or table.methods
    results = chain.from_iterable(table.results.get(name, ()) for name in methods)
    known = [r.assessment.judged_by for r in results if isinstance(r, Result)]
    if not known or any(identity != known[0] for identity in known):
        return {}
    return {name: value for name, value in known[0].items() if name != PROFILES}


def _rated(table: ScoreTable, limits: Limits) -> ScoreTable:
    """Select the rated samples; without groups, several judgements of one sample form a group.

    Raises:
        InvalidValueError: No rating, ratings outside the scale, or answers that are all rejected,
            or all good.
    """
    rated = table.rated
    if not len(rated):
        raise InvalidValueError(
            "no sample has a human rating; name their field or file with --human"
        )
    check_on_scale(rated.rating)
    are_rejected = rejects(rated, limits)
    if are_rejected.min() == are_rejected.max():
        quality = "rejected" if are_rejected[0] else "good"
        raise InvalidValueError(
            f"all {len(rated)} rated answers are {quality}, and a limit needs both; human_threshold "
            f"(--human-threshold) is {limits.human_threshold:g}"
        )
    return grouped_by_sample(rated)


def grouped_by_sample(table: ScoreTable) -> ScoreTable:
    """Group several judgements of one sample, where the table has no groups."""
    if table.groups:
        return table
    # ``a#2`` is a further judgement of sample ``a``: see `samples.reader.distinct_names`.
    names = set(table.samples)
    originals = []
    for name in table.samples:
        original = name.rpartition("#")[0]
        originals.append(original if original in names else name)
    if len(set(originals)) == len(originals):
        return table
    return replace(table, groups=tuple(originals))


def _share_note(limits: Limits) -> str:
    return (
        f"rejected: answers rated below {limits.human_threshold:g}; false pass, true pass: shares of "
        "rejected and good answers that pass"
    )
