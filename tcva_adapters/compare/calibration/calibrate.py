"""Choose the settings that agree best with human ratings, and test the gain, without a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import get_args

import numpy as np

from tcva_adapters.compare.calibration.certify_setting import certify_setting, limits_of
from tcva_adapters.compare.calibration.choice_by_agreement import (
    FOLDS,
    REPEATS,
    Objective,
    Search,
)
from tcva_adapters.compare.calibration.claim_threshold import certify_claim_threshold
from tcva_adapters.compare.calibration.recommendation import FEW
from tcva_adapters.compare.calibration.settings_grid import (
    candidates,
    every_setting,
)
from tcva_adapters.compare.scores.ratings import (
    NEEDS_HUMAN,
    Scale,
    check_unused,
    passes_from,
)
from tcva_adapters.compare.scores.score_reader import Human, Source, read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.aggregation import Penalty, SchemeLike
from tcva_adapters.core.checks import as_list
from tcva_adapters.core.temperature import Temperatures
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.results.config import setting_text, settings_of
from tcva_adapters.results.guarantee import ClaimLimit, Of, Per
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.settings_base import Positive, check
from tcva_adapters.stats.checks import check_level, one_of
from tcva_adapters.tables import Record, Report, Table, counted, named_columns

_DEFAULT = ScoringConfig()


@with_checked_names
def calibrate(
    source: ScoreTable | Source,
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
    cost_false_pass: float | None = None,
    max_false_pass: float | None = None,
    min_true_pass: float | None = None,
    confidence: float | None = None,
    per: Per | None = None,
    largest_group: int | None = None,
    max_unsupported: float | None = None,
    rejected_below: str | float | None = None,
    of: Of | None = None,
) -> Report:
    """Choose the settings that agree best with human ratings, and test whether they are better.

    A grid always has a best setting on the samples at hand, most often by luck. The samples are
    therefore divided into 5 folds, 50 times, and each fold is scored by the setting that does best
    on the other folds. The gain of these choices over the settings in use has a bootstrap interval,
    and a change is recommended only where all of the interval lies above 0. A gain in ``spearman``
    has an interval from 50 ratings on, other gains from 10.

    Decisions (``kappa``, ``cost``) depend on the threshold as well: another threshold alone, another
    setting alone, and both are compared on the same folds and resamples, and the simplest of these
    that is not significantly worse than the best is recommended. `recommendation.recommended` makes
    a configuration of the report.

    With a limit (``max_false_pass``, ``min_true_pass``), a setting and threshold are chosen that are
    certified to keep it. With ``max_unsupported`` it is the threshold below which claims are cut, and
    ``human`` names labels of claims (see `claim_labels`).

    Args:
        source: Judgements, or level counts, as `read_scores` takes them; or a `ScoreTable`.
        human: Where the ratings are, see `read_scores`.
        objective: ``spearman``, ``mae``, ``kappa`` of pass and fail, or ``cost``: what wrong
            decisions cost per answer.
        temperatures: Temperatures to choose from; by default 0.1, 0.15 and so on to 1.0, and
            with a limit the one in use.
        schemes: Weight schemes to choose from; by default the one in use.
        penalties: Penalties to choose from; by default the one in use.
        by: A field of the metadata; each of its values with 30 ratings (50 for ``spearman``) gets a
            temperature of its own where that is significantly better than the setting for all
            (Bonferroni).
        group: The metadata field of groups; samples of a group share a fold and are drawn together.
        scoring: The settings in use, which a choice has to beat.
        human_scale: Lowest and highest rating that could be given; by default 0 and 1.
        human_threshold: The lowest rating that passes (decisions, limits); by default the middle.
        resamples: Resamples behind each interval.
        level: Level of the intervals.
        seed: The same seed gives the same figures.
        skip_bad: Leave out unreadable lines.
        cost_false_pass: What a rejected answer that passes costs where a good one that fails costs 1
            (by default as much); it also sets the objective ``cost``.
        max_false_pass: At most this share of the answers that people reject may pass.
        min_true_pass: At least this share of the good answers must pass.
        confidence: The confidence with which both limits hold together; by default 0.95.
        per: With groups, whether a limit holds for the mean over groups of the share of their
            answers (``group``, the default), or for the share of answers (``answer``).
        largest_group: With ``answer``, the most rejected, or good, answers that any group has, fixed
            before looking at them; by default 50. The smaller it is, the fewer ratings it takes.
        max_unsupported: At most this share of all questions may get an answer that holds a claim people
            reject.
        rejected_below: A label below this level, or weight, rejects a claim; by default ``partial``.
        of: ``served`` limits the share of the answers that are served instead of ``all`` questions.

    Returns:
        The tables ``settings`` (each choice with its agreement and gain), ``flips`` (the answers whose
        decision the recommendation changes) and ``by FIELD``. With a limit ``guarantee`` (a row per
        setting), ``by FIELD`` and ``thresholds`` (what passes at each threshold of the best setting);
        the settings then hold ``guarantee``.

    Raises:
        InvalidValueError: No verdicts, fewer than 10 samples (or groups) with a score and a rating,
            ratings that are all alike or lie outside the scale, or a setting out of range.
        MissingDependencyError: scipy is not installed.

    >>> counts = [[4, 0, 0, 0, 0], [3, 0, 1, 0, 0], [2, 0, 0, 1, 1], [0, 0, 0, 1, 3]] * 5
    >>> calibrate(counts, [1.0, 0.8, 0.3, 0.0] * 5).sentence.partition(" on")[0]
    'Keep T=0.5: choosing another setting does not raise Spearman (gain 0.000)'
    """
    one_of("objective", objective, get_args(Objective))
    temperatures = as_list("temperatures", temperatures)
    of_claims: Record = {"rejected_below": rejected_below, "of": of}
    if max_unsupported is not None:
        check_unused(
            "is not used with max_unsupported (--max-unsupported); leave it out",
            objective=None if objective == "spearman" else objective,
            temperatures=temperatures or None,
            schemes=schemes or None,
            penalties=penalties or None,
            by=by,
            human_scale=human_scale,
            human_threshold=human_threshold,
            cost_false_pass=cost_false_pass,
            max_false_pass=max_false_pass,
            min_true_pass=min_true_pass,
            per=per,
            largest_group=largest_group,
        )
        if human is None:
            check_unused(NEEDS_HUMAN, max_unsupported=max_unsupported)
        of_claims |= {"max_unsupported": max_unsupported, "confidence": confidence}
        limit = ClaimLimit(**{k: v for k, v in of_claims.items() if v is not None})
        judged = read_scores(source, group=group, scoring=scoring, skip_bad=skip_bad)
        return certify_claim_threshold(_of_one_judge(judged), human, limit, scoring)
    check_unused("needs max_unsupported (--max-unsupported)", **of_claims)
    if cost_false_pass is not None:
        if objective not in {"spearman", "cost"}:
            raise InvalidValueError(
                f"cost_false_pass is itself an objective; leave objective {objective} out"
            )
        check(Positive, "cost_false_pass", cost_false_pass)
        objective = "cost"
    check_level(level)
    table = _of_one_judge(
        read_scores(
            source,
            human=human,
            human_scale=human_scale,
            group=group,
            scoring=scoring,
            skip_bad=skip_bad,
        )
    )
    limits = limits_of(
        max_false_pass=max_false_pass,
        min_true_pass=min_true_pass,
        confidence=confidence,
        human_threshold=human_threshold,
        human_scale=human_scale,
        per=per,
        largest_group=largest_group,
    )
    if limits is not None:
        if objective != "spearman":
            raise InvalidValueError(
                f"objective {objective} is not used with a limit; leave one of them out"
            )
        return certify_setting(
            table,
            every_setting(scoring, temperatures, schemes, penalties),
            limits,
            by,
        )

    passing = passes_from(human_threshold, human_scale)
    search = Search(
        objective,
        passing,
        cost_false_pass or 1.0,
        resamples,
        level,
        seed,
    )
    if not search.is_of_decisions:
        check_unused(
            "needs the objective kappa or cost, or a limit (max_false_pass, min_true_pass)",
            human_threshold=human_threshold,
        )
    return _recommendation(
        search,
        table,
        candidates(scoring, temperatures, schemes, penalties),
        temperatures,
        by,
    )


def _of_one_judge(table: ScoreTable) -> ScoreTable:
    """Return the table with level counts, and refuse several judges or criteria.

    Raises:
        InvalidValueError: There are no verdicts, or those of several judges or criteria.
    """
    if table.counts is None:
        table = _with_verdicts(table)
    judgements = {
        f"{judged.criterion} by {judged.judge}"
        for judged in table.judged_methods.values()
        if judged.judge
    }
    if len(judgements) > 1:
        raise InvalidValueError(
            f"{len(judgements)} judgements: {', '.join(sorted(judgements))}; calibrate a file for each"
        )
    return table


def _with_verdicts(table: ScoreTable) -> ScoreTable:
    """Read the judgements that rows of imported scores carry as JSON in their cells."""
    columns: dict[str, dict[int, Result]] = {}
    for row, sample in enumerate(table.judged_samples):
        for name, value in sample.metadata.items():
            if isinstance(value, str) and value.startswith('{"kind": "tcva"'):
                columns.setdefault(name, {})[row] = Result.from_json(value)
    if not columns:
        raise InvalidValueError(
            "imported scores have no verdicts to calibrate; give what tcva evaluate --out wrote, or "
            "in RAGAS results_to_pandas(evaluation).to_csv(...), as its own to_pandas() leaves them out"
        )
    _of_one_judge(
        read_scores({name: results.values() for name, results in columns.items()})
    )
    first = next(iter(columns.values()))
    rows = table.select([*first])
    return replace(
        read_scores(first.values()),
        human=rows.human,
        raters=rows.raters,
        groups=rows.groups,
        metadata=rows.metadata,
        notes=rows.notes,
    )


def _recommendation(
    search: Search,
    table: ScoreTable,
    settings: Sequence[ScoringConfig],
    temperatures: Temperatures,
    by: str | None,
) -> Report:
    """Report the setting that agrees best, or the one in use where the gain is not significant."""
    rated = _rated(table)
    recommendation = search.choose(rated, settings, thresholds=search.is_of_decisions)
    chosen = recommendation.chosen.setting
    tables = [*recommendation.tables()]
    sentence = recommendation.sentence()
    profiles = None
    if by is not None:
        around = candidates(chosen, temperatures)
        by_value, significant = _by_value(search, rated, by, around)
        tables.append(by_value)
        sentence += (
            f" Values of {by!r} with a temperature of their own: {len(significant)} of "
            f"{len(by_value.records)}."
        )
        profiles = {by: significant} if significant else None

    notes = list(table.notes)
    if left := len(table) - len(rated):
        notes.append(
            f"Left out: {counted(left, 'sample')} without a score or a rating."
        )
    return Report(
        sentence,
        tables,
        [*notes, *recommendation.notes()],
        {
            **asdict(search),
            "folds": FOLDS,
            "repeats": REPEATS,
            "criterion": table.judged.criterion or None,
            "profiles": profiles,
            "recommended": settings_of(chosen),
        },
    )


def _rated(table: ScoreTable) -> ScoreTable:
    """Select the samples with verdicts and a rating."""
    has_verdicts = table.level_counts[:, 0].any(axis=1)
    rated = table.select(np.isfinite(table.rating) & has_verdicts)
    if not len(rated):
        raise InvalidValueError(
            "no sample has both a score and a human rating; name their field or file with --human"
        )
    return rated


def _by_value(
    search: Search,
    table: ScoreTable,
    by: str,
    settings: Sequence[ScoringConfig],
) -> tuple[Table, dict[str, float]]:
    """Calibrate each value of a field on its own, and return the significantly better temperatures.

    With many values one of them looks better by luck, so the error rate is divided among their
    intervals.
    """
    rows_by_value = table.rows_by(by)
    few = max(FEW, search.least)
    large = sum(len(rows) >= few for rows in rows_by_value.values())
    search = replace(search, level=1.0 - (1.0 - search.level) / max(large, 1))
    keep = f"keep {setting_text(settings[0])}"
    records = []
    significant = {}
    for value, rows in rows_by_value.items():
        record = {"value": value, "n": len(rows)}
        records.append(record)
        if len(rows) < few:
            record["advice"] = f"{keep}: fewer than {few} ratings"
            continue
        try:
            found = search.choose(table.select(rows), settings, thresholds=False)
        except InvalidValueError as error:
            record["advice"] = f"{keep}: {error}"
            continue
        best = found.best
        record |= {
            "advice": f"{found.advice}: {best.outcome}",
            **best.gain.record("gain"),
            "detectable": best.detectable,
            "best": setting_text(best.setting),
        }
        if found.is_change:
            significant[value] = best.setting.temperature
    note = f"intervals at {100 * search.level:.1f} % (Bonferroni, for {counted(large, 'value')})"
    table_by_value = Table(
        f"by {by}",
        named_columns(
            "value",
            n="int",
            best="text",
            gain="signed",
            detectable="score",
            advice="prose",
        ),
        records,
        notes=[note] if large > 1 else (),
    )
    return table_by_value, significant
