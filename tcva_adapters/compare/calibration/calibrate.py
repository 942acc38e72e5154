"""Which settings agree best with human ratings, and whether the gain is significant. No call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from statistics import NormalDist
from typing import Any, Final, Literal, get_args

import numpy as np

from tcva_adapters.compare.calibration.guarantee import guaranteed, limits_of
from tcva_adapters.compare.scores.ratings import Scale, off_scale, passes_from
from tcva_adapters.compare.scores.readers import Human, read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.aggregation import Penalty, SchemeLike
from tcva_adapters.core.temperature import Temperatures
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config, described, plain
from tcva_adapters.results.guarantee import Limits
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import (
    FloatArray,
    IntArray,
    check_level,
    group_codes,
    one_of,
)
from tcva_adapters.stats.describe import TIES, seen
from tcva_adapters.stats.inference import DETECTABLE, LEAST, LEAST_APART, Estimate
from tcva_adapters.stats.resampling import Statistic, draw, interval_shares, spearman_of
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.stats.units import Units
from tcva_adapters.tables import (
    Column,
    Record,
    Report,
    Table,
    cell,
    counted,
    named_columns,
)

_Grid = tuple[Temperatures, Sequence[SchemeLike], Sequence[Penalty]]
Objective = Literal["spearman", "mae", "kappa"]

FOLDS: Final = 5
REPEATS: Final = 50
"""Divisions into so many folds; the agreement of what they choose is averaged."""
FEW: Final = 30
"""Ratings below which a choice means little, and a part of the samples keeps what suits all."""

_CALLED: Final = {"spearman": "Spearman", "mae": "mean absolute error"}
_DEFAULT: Final = ScoringConfig()
_CHOSEN: Final = ("temperature", "scheme", "penalty")
_STEP: Final = 0.05
# What is equal on paper may differ in the last bits.
_SAME: Final = 1e-12
_BLOCK_CELLS: Final = 2**16
# The training parts of two of K folds share (K-2)/(K-1) of their samples, so that a setting that is
# lucky in one is lucky in the other: the variance of a gain is taken so much larger. On simulated
# data on which all settings are equally good, a gain then shows in 5 % of the cases at most.
_WIDER: Final = (1.0 + (FOLDS - 2) / (FOLDS - 1)) ** 0.5


def calibrate(
    source: Any,
    human: Human | None = None,
    *,
    objective: Objective = "spearman",
    temperatures: Temperatures = (),
    schemes: Sequence[SchemeLike] = (),
    penalties: Sequence[Penalty] = (),
    by: str | None = None,
    group: str | None = None,
    scoring: ScoringConfig = _DEFAULT,
    human_scale: Scale | None = None,
    human_threshold: float | None = None,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
    skip_bad: bool = False,
    max_false_pass: float | None = None,
    min_true_pass: float | None = None,
    confidence: float | None = None,
) -> Report:
    """Choose the settings that agree best with human ratings, and test whether they are better.

    A grid always has a best setting on the samples at hand, most often by luck. So the samples are
    divided into 5 folds, 50 times, and for each fold the setting that does best on the others
    scores it. What these choices gain over the settings in use has an interval (bootstrap), and only
    where all of it lies above 0 is a change recommended. A gain in ``spearman`` has one from 50
    ratings on, others from 10. `recommended` makes a configuration of it.

    With a limit it chooses the lowest threshold that keeps it, see `guaranteed` of the same package.

    Args:
        source: Judgements, or level counts, as `read_scores` takes them; or a `ScoreTable`.
        human: Where the ratings are, see `read_scores`.
        objective: ``spearman``, ``mae``, or ``kappa`` of pass and fail.
        temperatures: To choose from; by default 0.1, 0.15 and so on to 1.0.
        schemes: Weight schemes to choose from; by default the one in use.
        penalties: Likewise.
        by: A field of the metadata: a temperature for each of its values that has 30 ratings (50 for
            ``spearman``), where it is significantly better than the setting for all (Bonferroni).
        group: The field of what samples belong to: these share a fold, and are drawn together.
        scoring: The settings in use, which a choice has to beat.
        human_scale: Lowest and highest rating that could be given; by default 0 and 1.
        human_threshold: A rating passes from here on (``kappa``, limits); by default the middle.
        resamples: Behind each interval.
        level: Of the intervals.
        seed: The same seed gives the same figures.
        skip_bad: Leave out unreadable lines.
        max_false_pass: At most this share of the answers that people reject may pass.
        min_true_pass: At least this share of the good answers must pass.
        confidence: With which both limits hold together; by default 0.95.

    Returns:
        The tables ``settings``, ``gain``, ``choices`` (in which share of the folds), ``by FIELD``.

    Raises:
        InvalidValueError: No verdicts, fewer than 10 samples (or groups) with a score and a rating,
            ratings that are all alike or lie outside the scale, or a setting out of range.
        MissingDependencyError: scipy is not installed.

    >>> counts = [[4, 0, 0, 0, 0], [3, 0, 1, 0, 0], [2, 0, 0, 1, 1], [0, 0, 0, 1, 3]] * 5
    >>> calibrate(counts, [1.0, 0.8, 0.3, 0.0] * 5).sentence.partition(" (")[0]
    'Keep T=0.5: choosing another setting gains +0.000 in Spearman on unseen samples'
    """
    one_of("objective", objective, get_args(Objective))
    check_level(level)
    scores = read_scores(
        source,
        human=human,
        human_scale=human_scale,
        group=group,
        scoring=scoring,
        skip_bad=skip_bad,
    )
    table = _of_one_judge(scores)
    asked = {"max_false_pass": max_false_pass, "min_true_pass": min_true_pass}
    if limits := _limits(asked, confidence, objective, human_threshold, human_scale):
        return guaranteed(
            table, _every(scoring, temperatures, schemes, penalties), limits, by
        )
    search = _Search(
        objective, passes_from(human_threshold, human_scale), resamples, level, seed
    )
    return _agreeing(search, table, scoring, (temperatures, schemes, penalties), by)


def _with_verdicts(table: ScoreTable) -> ScoreTable:
    """The judgements that rows of imported scores carry, in cells with results as JSON."""
    columns: dict[str, dict[int, Result]] = {}
    for row, sample in enumerate(table.texts):
        for name, value in sample.metadata.items():
            if isinstance(value, str) and value.startswith('{"kind": "tcva"'):
                columns.setdefault(name, {})[row] = Result.from_json(value)
    if not columns:
        msg = (
            "imported scores have no verdicts to calibrate; give what tcva evaluate --out wrote, or "
            "in RAGAS results_to_pandas(evaluation).to_csv(...), as its own to_pandas() leaves them out"
        )
        raise InvalidValueError(msg)
    _of_one_judge(
        read_scores({name: results.values() for name, results in columns.items()})
    )
    first = next(iter(columns.values()))
    rows = table.select([*first])
    names = ("human", "raters", "groups", "metadata", "notes")
    return replace(
        read_scores(first.values()), **{name: getattr(rows, name) for name in names}
    )


def _limits(
    asked: Mapping[str, float | None],
    confidence: float | None,
    objective: Objective,
    human_threshold: float | None,
    human_scale: Scale | None,
) -> Limits | None:
    """The limits that a gate must keep; None where none is asked for.

    Raises:
        InvalidValueError: A limit is out of range, or comes with another objective.
    """
    values: dict[str, Any] = {**asked, "confidence": confidence}
    if {*asked.values()} != {None}:
        values["human_threshold"] = human_threshold
    limits = limits_of(values, human_scale)
    if limits and objective != "spearman":
        msg = f"objective {objective} is not used with a limit; leave one of them out"
        raise InvalidValueError(msg)
    return limits


def _of_one_judge(table: ScoreTable) -> ScoreTable:
    if table.counts is None:
        table = _with_verdicts(table)
    found = {
        f"{judged.criterion} by {judged.judge}"
        for judged in table.judged_methods.values()
        if judged.judge
    }
    if len(found) > 1:
        msg = f"{len(found)} judgements: {', '.join(sorted(found))}; calibrate a file for each"
        raise InvalidValueError(msg)
    return table


def _agreeing(
    search: _Search,
    table: ScoreTable,
    scoring: ScoringConfig,
    given: _Grid,
    by: str | None,
) -> Report:
    """The setting that agrees best, or the one in use where no gain is significant."""
    rated, objective = _rated(table), search.objective
    found = search.on(rated, _candidates(scoring, *given))
    settings = {
        **asdict(search),
        "folds": FOLDS,
        "repeats": REPEATS,
    }
    settings |= {"criterion": table.judged.criterion or None, "profiles": None}
    settings["recommended"] = plain(found.recommended)
    tables, sentence = found.tables(objective), found.sentence(objective)
    if by is not None:
        parts, own = _by_value(
            search, rated, by, _candidates(found.recommended, given[0])
        )
        tables.append(parts)
        number = len(parts.records)
        sentence += f" Values of {by!r} with a temperature of their own: {len(own)} of {number}."
        settings["profiles"] = {by: own} if own else None
    left = len(table) - len(rated)
    notes = (
        [f"Left out: {counted(left, 'sample')} without a score or a rating."]
        if left
        else []
    )
    return Report(sentence, tables, [*table.notes, *notes, *found.notes()], settings)


def _rated(table: ScoreTable) -> ScoreTable:
    """The samples with verdicts and a rating."""
    assert table.counts is not None  # noqa: S101  # `_of_one_judge` has looked
    rated = table.select(
        np.isfinite(table.rating) & (table.counts[:, 0].sum(axis=1) > 0.0)
    )
    if not len(rated):
        msg = "no sample has both a score and a human rating; name their field or file with --human"
        raise InvalidValueError(msg)
    return rated


def recommended(report: Report) -> Config:
    """The settings that a calibration recommends, for `Config.dump` and ``--config``.

    Only what is significant gets in: of the values of a field, the temperatures that are. What was
    chosen for a limit comes with its guarantee.

    Raises:
        InvalidValueError: No setting keeps the limit.
    """
    if report.settings["recommended"] is None:
        msg = f"there are no settings to recommend: {report.sentence}"
        raise InvalidValueError(msg)
    guarantee = report.settings.get("guarantee")
    return Config(
        criterion=report.settings["criterion"],
        settings=report.settings["recommended"],
        profiles=report.settings["profiles"],
        guarantee=guarantee,
        provenance=None if guarantee else report.to_dict(),
    )


@dataclass(frozen=True)
class _Search:
    """How settings are chosen, and the choice is checked: see `calibrate`."""

    objective: Objective
    human_threshold: float
    resamples: int
    level: float
    seed: int

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return -1 if self.objective == "mae" else 1

    @property
    def least(self) -> int:
        """Ratings that the interval of a gain needs."""
        return LEAST_APART["spearman" if self.objective == "spearman" else "mean"]

    def on(self, table: ScoreTable, settings: Sequence[ScoringConfig]) -> _Found:
        """Choose among settings, the first of which is in use, on samples that are all rated."""
        n = len(table)
        codes = group_codes(table.groups or range(n), np.ones(n, dtype=np.bool_))
        if why := Units(table.groups or None, np.ones(n, dtype=np.bool_)).why_none(
            LEAST["mean"]
        ):
            msg = f"there are too few rated samples to choose by: {why}"
            raise InvalidValueError(msg)
        target = self._target(table.rating)
        views = self._views(
            np.column_stack([table.at(each) for each in settings]), settings
        )
        values = self._values(views, target, np.ones((1, n), dtype=np.int64))
        if not np.isfinite(values[0, 0]):
            msg = (
                f"{self.objective} is not defined at {described(settings[0])}, where all {n} samples "
                "have the same score; judge samples of more varied quality"
            )
            raise InvalidValueError(msg)
        fold = _folds(target, codes, self.seed)
        trained = (
            (fold[:, None] != np.arange(FOLDS)[:, None]).reshape(-1, n).astype(np.int64)
        )
        picks = _first_best(self.sign * self._values(views, target, trained))
        chosen = np.take_along_axis(picks.reshape(REPEATS, FOLDS), fold, axis=1)
        unseen = np.take_along_axis(views, chosen.T, axis=1)
        reached = self._values(unseen, target, np.ones((1, n), dtype=np.int64))
        best = int(_first_best(self.sign * values)[0])
        return _Found(
            settings=settings,
            best=best,
            values=(float(values[0, 0]), float(values[best, 0]), float(reached.mean())),
            gain=self._gain(unseen, views[:, :1], target, codes),
            shares=[
                (settings[j], k / picks.size)
                for j, k in Counter(picks.tolist()).most_common()
            ],
            passes=(views[:, [0, best]], target) if self.objective == "kappa" else None,
        )

    def _target(self, human: FloatArray) -> FloatArray:
        """What scores are held against: the ratings, or 1 and 0 for pass and fail."""
        if (
            self.objective != "spearman"
            and not 0.0 <= human.min() <= human.max() <= 1.0
        ):
            raise InvalidValueError(off_scale(human))
        target, what = human, f"are {human[0]:g}"
        if self.objective == "kappa":
            target = (human >= self.human_threshold - _SAME).astype(np.float64)
            what = f"{'pass' if target[0] else 'fail'} (human_threshold)"
        if target.min() == target.max():
            msg = f"all {len(human)} human ratings {what}; rate samples of more varied quality"
            raise InvalidValueError(msg)
        return target

    def _views(
        self, scores: FloatArray, settings: Sequence[ScoringConfig]
    ) -> FloatArray:
        """Scores (N, C) as the objective sees them, on one scale for all settings.

        Folds are put together, and scores at T=0.1 and T=1 lie on different scales: for rank
        correlation these are ranks among all samples, which use no rating.
        """
        if self.objective == "spearman":
            ranks: FloatArray = scipy_module("stats").rankdata(seen(scores), axis=0)
            return ranks
        if self.objective == "mae":
            return scores
        return (scores >= np.array([each.threshold for each in settings])).astype(
            np.float64
        )

    def _statistic(self, views: FloatArray, target: FloatArray) -> Statistic:
        """From how often each sample counts (B, N) to values (C, B), nan where undefined."""
        if self.objective == "kappa":
            return lambda counts: _kappa(views.T, target, counts.astype(np.float64))
        if self.objective == "spearman":
            return spearman_of(list(views.T), target)
        gaps = np.abs(views.T - target)
        return lambda counts: gaps @ counts.T / counts.sum(axis=1)

    def _values(
        self,
        views: FloatArray,
        target: FloatArray,
        counts: IntArray,
    ) -> FloatArray:
        """The values themselves, shape (C, B), some selections at a time."""
        statistic, step = (
            self._statistic(views, target),
            max(1, _BLOCK_CELLS // len(target)),
        )
        blocks = [counts[start : start + step] for start in range(0, len(counts), step)]
        return np.concatenate([statistic(block) for block in blocks], axis=1)

    def _gain(
        self,
        new: FloatArray,
        old: FloatArray,
        target: FloatArray,
        codes: IntArray,
    ) -> Estimate:
        """What columns ``new`` gain over ``old`` on average, both on the same resamples.

        Choices that were made in folds stay. Resamples where the measure is undefined are left out.
        """
        n = len(target)
        of = Units(codes.tolist(), np.ones(n, dtype=np.bool_))
        ours, theirs = self._statistic(new, target), self._statistic(old, target)

        def gains(counts: IntArray) -> FloatArray:
            found: FloatArray = ours(counts).mean(axis=0) - theirs(counts).mean(axis=0)
            return self.sign * found

        value = float(gains(np.ones((1, n), dtype=np.int64))[0])
        blocks = draw(n, self.resamples, seed=self.seed, codes=of.codes)
        drawn = np.concatenate([gains(block) for block in blocks])
        defined = drawn[np.isfinite(drawn)]
        why = of.why_none(self.least, target)
        if not why and (not len(defined) or np.ptp(defined) <= _SAME):
            why = "both agree equally on all resamples"
        groups = of.groups if of.codes is not None else None
        estimate = Estimate(
            value,
            n=n,
            groups=groups,
            reason=why,
            level=self.level,
        )
        if why:
            return estimate
        low, high = np.quantile(
            defined, interval_shares(self.level, of.clusters)
        ).tolist()
        low, high = (value + _WIDER * (end - value) for end in (low, high))
        return replace(estimate, low=low, high=high)


@dataclass(frozen=True)
class _Found:
    """What a search found.

    Attributes:
        settings: To choose from, the one in use first.
        best: The place of the best one on all samples.
        values: Agreement of the one in use; of the best one, on the samples that it was chosen on
            (too good); and of choices on samples that they did not see.
        gain: Of choosing, on samples that the choice did not see; above 0 is better.
        shares: In which share of the folds each setting was chosen.
        passes: Of decisions: those of both by score, (N, 2), and by rating, (N,).
    """

    settings: Sequence[ScoringConfig]
    best: int
    values: tuple[float, float, float]
    gain: Estimate
    shares: Sequence[tuple[ScoringConfig, float]]
    passes: tuple[FloatArray, FloatArray] | None

    @property
    def chosen(self) -> ScoringConfig:
        """The best setting on all samples."""
        return self.settings[self.best]

    @property
    def is_significant(self) -> bool:
        """Whether choosing beats the setting in use significantly."""
        return self.gain.low > _SAME and self.best != 0

    @property
    def recommended(self) -> ScoringConfig:
        """The chosen setting where its gain is significant, else the one in use."""
        return self.settings[self.best if self.is_significant else 0]

    @property
    def advice(self) -> str:
        """What to do."""
        if self.is_significant:
            return f"use {described(self.chosen)}"
        return f"keep {described(self.settings[0])}"

    @property
    def outcome(self) -> str:
        """What is to be said of the gain."""
        if self.gain.reason:
            return f"no interval: {self.gain.reason}"
        if self.is_significant:
            return "significant"
        is_worse = self.gain.high < -_SAME
        return "significantly worse" if is_worse else "not significant"

    @property
    def smallest(self) -> float:
        """The true gain that is found in 80 % of such cases; nan without an interval.

        It has to reach out of the widened interval, and varies without the widening.
        """
        half, normal = (self.gain.high - self.gain.low) / 2.0, NormalDist()
        error = half / (_WIDER * normal.inv_cdf((1.0 + self.gain.level) / 2.0))
        return half + error * normal.inv_cdf(0.8)

    def sentence(self, objective: str) -> str:
        """What to do, with the gain that it rests on."""
        gain = self.gain
        shown = cell(gain.value, "signed", gain.low, gain.high)
        what = "it" if self.is_significant else "choosing another setting"
        of = _CALLED.get(objective, objective)
        does = f"gains {shown} in {of}"
        if objective == "mae":
            does = f"lowers the {of} by {cell(gain.value, 'interval', gain.low, gain.high)}"
        said = f"{what} {does} on unseen samples (n = {gain.n}; {self.outcome})."
        return f"{self.advice[:1].upper()}{self.advice[1:]}: {said}"

    def tables(self, objective: str) -> list[Table]:
        """The settings with their agreement, the gain, and what was chosen in the folds."""
        best = f"best of {len(self.settings)}, chosen on the same samples (optimistic)"
        names = (described(self.settings[0]), described(self.chosen), "cross-validated")
        measured = ("in use", best, "the choice, on unseen samples")
        rows: list[Record] = [
            {
                "setting": name,
                objective: value,
                "measured": how,
            }
            for name, value, how in zip(names, self.values, measured, strict=True)
        ]
        columns = [
            Column("setting"),
            Column(objective, "score"),
            Column("measured", "prose"),
        ]
        if self.passes is not None:  # a kappa says little without them
            ours, theirs = self.passes
            for row, passes in zip(rows, ours.T, strict=False):
                row |= {
                    "same_decision": (passes == theirs).mean(),
                    "pass_rate": passes.mean(),
                }
            columns += named_columns(same_decision="share", pass_rate="share")
        gain = {
            **self.gain.record("gain"),
            "n": self.gain.n,
            "detectable": self.smallest,
            "significant": self.is_significant,
            "reason": self.gain.reason,
        }
        shown = named_columns(
            gain="signed",
            n="int",
            detectable="score",
        )
        notes = [] if self.gain.reason else [f"detectable: {DETECTABLE}"]
        picks = [
            {
                "setting": described(s),
                "share": k,
                **plain(s),
            }
            for s, k in self.shares
        ]
        return [
            Table(
                "settings",
                columns,
                rows,
                notes=[TIES] if objective == "spearman" else (),
            ),
            Table("gain", shown, [gain], notes=notes),
            Table(
                "choices",
                named_columns(setting="text", share="share"),
                picks,
                detail=True,
            ),
        ]

    def notes(self) -> Iterator[str]:
        """What a reader must know: few ratings, groups, a choice at the edge of the grid."""
        if self.gain.n < FEW:
            yield f"{self.gain.n} ratings are too few to choose by; rate at least {FEW} samples."
        if self.gain.groups is not None:
            yield f"Folds and intervals keep {counted(self.gain.groups, 'group')} together."
        tried = sorted({each.temperature for each in self.settings})
        best, bounds = self.chosen.temperature, self.chosen.bounds
        if len(tried) > 1 and best in (tried[0], tried[-1]):
            side, way = (
                ("lowest", "stricter")
                if best == tried[0]
                else ("highest", "more lenient")
            )
            beyond = "Try temperatures beyond it."
            if best in (bounds.t_min, bounds.t_max):
                beyond = f"If people rate {way} than that, other weights may fit better (schemes)."
            yield f"The best temperature, {best:g}, is the {side} that was tried. {beyond}"


def _by_value(
    search: _Search,
    table: ScoreTable,
    by: str,
    settings: Sequence[ScoringConfig],
) -> tuple[Table, dict[str, float]]:
    """Each value of a field on its own samples, and the temperatures that are significantly better.

    With many values one of them looks better by luck, so their intervals share what they may err.
    """
    members = table.rows_by(by)
    few = max(FEW, search.least)
    large = sum(len(places) >= few for places in members.values())
    search = replace(search, level=1.0 - (1.0 - search.level) / max(large, 1))
    records, own = [], {}
    for value, places in members.items():
        why, found = f"fewer than {few} ratings", None
        if len(places) >= few:
            try:
                found = search.on(table.select(places), settings)
            except InvalidValueError as error:
                why = str(error)
        advice = (
            f"{found.advice}: {found.outcome}"
            if found
            else f"keep {described(settings[0])}: {why}"
        )
        record: Record = {
            "value": value,
            "n": len(places),
            "advice": advice,
        }
        if found:
            record |= {**found.gain.record("gain"), "detectable": found.smallest}
            record["best"] = described(found.chosen)
            if found.is_significant:
                own[value] = found.chosen.temperature
        records.append(record)
    columns = named_columns(
        value="text",
        n="int",
        best="text",
        gain="signed",
        detectable="score",
        advice="prose",
    )
    note = f"intervals at {100 * search.level:.1f} % (Bonferroni, for {counted(large, 'value')})"
    return Table(f"by {by}", columns, records, notes=[note] if large > 1 else ()), own


def _candidates(
    baseline: ScoringConfig,
    temperatures: Temperatures,
    schemes: Sequence[SchemeLike] = (),
    penalties: Sequence[Penalty] = (),
) -> list[ScoringConfig]:
    """Every combination and the baseline, each once, those closest to the baseline first.

    Among settings that agree equally well the first one wins, so they change only for a reason.
    """
    low, high = baseline.bounds.t_min, baseline.bounds.t_max
    grid = temperatures or [*np.round(np.arange(low, high, _STEP), 10).tolist(), high]
    every = _every(baseline, grid, schemes, penalties)

    def distance(each: ScoringConfig) -> tuple[int, float]:
        changed = (each.scheme != baseline.scheme) + (each.penalty != baseline.penalty)
        return changed, round(abs(each.temperature - baseline.temperature), 9)

    return sorted(dict.fromkeys([baseline, *every]), key=distance)


def _every(
    baseline: ScoringConfig,
    temperatures: Temperatures,
    schemes: Sequence[SchemeLike],
    penalties: Sequence[Penalty],
) -> list[ScoringConfig]:
    """Every combination, each once; of what is not given, that of the baseline."""
    others = (schemes or [baseline.scheme], penalties or [baseline.penalty])
    found = (
        baseline.changed(**dict(zip(_CHOSEN, each, strict=True)))
        for each in product(temperatures or [baseline.temperature], *others)
    )
    return list(dict.fromkeys(found))


def _kappa(passes: FloatArray, target: FloatArray, weights: FloatArray) -> FloatArray:
    """Cohen's kappa of decisions (C, N) with the target (N,), by weights (B, N): (C, B)."""
    ours, theirs = passes @ weights.T, weights @ target
    both, total = passes @ (weights * target).T, weights.sum(axis=1)
    by_chance = ours * theirs + (total - ours) * (total - theirs)
    agreed = total * (total + 2.0 * both - ours - theirs)
    kappa, most = np.full(ours.shape, np.nan), total * total - by_chance
    np.divide(agreed - by_chance, most, out=kappa, where=most > 0.0)
    return kappa


def _folds(target: FloatArray, codes: IntArray, seed: int) -> IntArray:
    """The fold of each sample in each division, shape (REPEATS, N), ratings spread evenly."""
    rng = np.random.default_rng(
        [seed, 1]
    )  # a stream of its own, apart from the resamples'
    means = np.bincount(codes, weights=target) / np.bincount(codes)
    divisions = np.empty((REPEATS, len(means)), dtype=np.int64)
    for division in divisions:
        # Neighbours in value are dealt to different folds.
        order = np.lexsort((rng.random(len(means)), means))
        dealt = [rng.permutation(FOLDS) for _ in range(-(-len(means) // FOLDS))]
        division[order] = np.concatenate(dealt)[: len(means)]
    return divisions[:, codes]


def _first_best(values: FloatArray) -> IntArray:
    """The first of the best in each column; 0 where a column has none that is defined."""
    defined = np.where(np.isnan(values), -np.inf, values)
    chosen: IntArray = np.argmax(defined >= defined.max(axis=0) - _SAME, axis=0)
    return chosen
