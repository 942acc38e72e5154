"""Measure how far the judges of a panel agree, and list the claims on which they differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from tcva_adapters.compare.agreement.method_tables import with_interval
from tcva_adapters.compare.scores.score_reader import Source, read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.result import Result
from tcva_adapters.stats.alpha import krippendorff_alpha
from tcva_adapters.stats.checks import IntArray
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.kappa import weighted_kappa
from tcva_adapters.stats.raters import ENOUGH, independence, mean_rating
from tcva_adapters.tables import (
    Column,
    Record,
    Report,
    Table,
    counted,
    named_columns,
)

FEW = 30
"""Claims with two levels; with fewer of them, alpha depends on one or two."""


def panel_report(source: ScoreTable | Source) -> Report:
    """Report how far the judges of a panel agree, and on which claims they differ.

    Args:
        source: Results of a `Panel`, or a table with them; of repeats the first is used. Intervals
            generalise to other samples, or to other groups where the table has groups.

    Returns:
        Tables ``agreement`` (Krippendorff's alpha for ordered levels, and the effective number of
        independent judges), ``judges`` (Cohen's kappa with quadratic weights for every two judges)
        and ``disputed``.

    Raises:
        InvalidValueError: No result comes from a panel.
    """
    table = read_scores(source)
    panels = _panels(table)
    judges = _judges(panels)
    levels_by_sample = [_levels(panel, judges) for panel in panels]
    levels = np.concatenate(levels_by_sample, axis=1)
    rows = np.repeat(range(len(panels)), [part.shape[1] for part in levels_by_sample])
    judged = np.isfinite(levels).any(axis=0)
    levels = levels[:, judged]
    rows = rows[judged]

    units = table.groups or range(len(panels))
    alpha = krippendorff_alpha(levels, groups=[units[row] for row in rows])
    human = table.rating if len(table.rated) else None
    independent = independence(_scores(table, panels, judges), human)
    is_enough = independent.samples >= ENOUGH
    effective = independent.effective if is_enough else math.nan
    disputes = disputed(table)

    pairs = []
    for (first, one), (second, two) in combinations(
        zip(judges, levels, strict=True), 2
    ):
        both = np.isfinite(one) & np.isfinite(two)
        pairs.append(
            {
                "first": first,
                "second": second,
                "claims": both.sum(),
                "kappa": weighted_kappa(one, two, levels=len(LEVELS)),
                "same_level": mean((one == two)[both]),
                "first_fully": mean(one[both] == 0),
                "second_fully": mean(two[both] == 0),
            }
        )
    return Report(
        f"{disputes.sentence} Krippendorff's alpha is "
        f"{with_interval(alpha)} over {counted(alpha.n, 'claim')}.",
        [
            Table(
                "agreement",
                named_columns(
                    judges="int",
                    samples="int",
                    claims="int",
                    alpha="interval",
                    effective_judges="score",
                ),
                [
                    {
                        "judges": len(judges),
                        "samples": len({*rows}),
                        "claims": levels.shape[1],
                        "effective_judges": effective,
                        **alpha.record("alpha"),
                    }
                ],
            ),
            Table(
                "judges",
                named_columns(
                    "first",
                    "second",
                    claims="int",
                    kappa="score",
                    same_level="share",
                    first_fully="share",
                    second_fully="share",
                ),
                pairs,
            ),
            *disputes.tables,
        ],
        [*_notes(alpha, effective, judges, levels, rows)],
    )


def _notes(
    alpha: Estimate,
    effective: float,
    judges: Sequence[str],
    levels: FloatArray,
    rows: IntArray,
) -> Iterator[str]:
    """Note what the figures rest on, and judges without verdicts on a sample that others judged."""
    if alpha.reason:
        yield f"no interval of alpha: {alpha.reason}"
    if alpha.n < FEW:
        yield f"Alpha rests on {counted(alpha.n, 'claim')} only; below {FEW} one or two claims decide it."
    if math.isnan(effective):
        yield f"The effective number of judges needs {ENOUGH} samples with varying scores of all judges."
    for judge, has_level in zip(judges, np.isfinite(levels), strict=True):
        if lacking := {*rows} - {*rows[has_level]}:
            yield f"{judge} gave no verdicts on {counted(len(lacking), 'sample')} that others judged."


def disputed(source: ScoreTable | Source, most: int | None = None) -> Report:
    """List the claims on which the judges of a panel differ, for a person to review.

    Args:
        source: As for `panel_report`.
        most: The number of samples; None lists all on which judges differ.

    Returns:
        A table ``disputed`` of claims, those of the samples with the largest mean spread first. The
        ``spread`` is the mean distance in levels between two judges, in [0, 4].

    Raises:
        InvalidValueError: No result comes from a panel.
    """
    table = read_scores(source)
    panels = _panels(table)
    judges = _judges(panels)
    disputes: list[tuple[float, list[Record]]] = []
    for sample, panel in zip(table.samples, panels, strict=True):
        levels = _levels(panel, judges)
        first, second = np.triu_indices(len(levels), 1)
        # nan where fewer than two judges gave a level
        spreads = mean_rating(np.abs(levels[first] - levels[second]).T)
        records = []
        for place in np.argsort(-spreads, kind="stable"):
            if spreads[place] > 0.0:
                record = {
                    "sample": sample,
                    "spread": spreads[place],
                    "claim": _scored(panel)[0].claims[place].claim,
                }
                for judge, level in zip(judges, levels[:, place], strict=True):
                    is_missing = math.isnan(level)
                    record[judge] = None if is_missing else LEVELS[int(level)].value
                records.append(record)
        if records:
            disputes.append((float(np.nanmean(spreads)), records))
    disputes.sort(key=lambda dispute: -dispute[0])
    return Report(
        f"The judges differ on {counted(len(disputes), 'sample')}.",
        [
            Table(
                "disputed",
                [
                    *named_columns("sample", spread="score", claim="prose"),
                    *map(Column, judges),
                ],
                [record for _, records in disputes[:most] for record in records],
            )
        ],
    )


def results_of_main(table: ScoreTable) -> list[Result | None]:
    """The results of the main method, one per sample; None where it has none."""
    return [
        result if isinstance(result, Result) else None
        for result in table.results.get(table.main, ())
    ]


def _panels(table: ScoreTable) -> list[Sequence[Assessment]]:
    """The judgements of each sample's panel; of repeats the first."""
    return [
        (result.assessment.repeats or [result.assessment])[0].panel if result else ()
        for result in results_of_main(table)
    ]


def _judges(panels: Sequence[Sequence[Assessment]]) -> list[str]:
    judges = [judged.judge for panel in panels for judged in panel]
    if not judges:
        raise InvalidValueError(
            f"none of {len(panels)} results comes from a panel; judge with Panel([...])"
        )
    return list(dict.fromkeys(judges))


def _scored(panel: Sequence[Assessment]) -> list[Assessment]:
    return [judged for judged in panel if not judged.unscored]


def _levels(panel: Sequence[Assessment], judges: Sequence[str]) -> FloatArray:
    """Levels as numbers, 0 for fully; shape (judges, claims), nan where a judge gave none."""
    scored = _scored(panel)
    texts = [claim.claim for claim in scored[0].claims] if scored else []
    levels = np.full((len(judges), len(texts)), np.nan)
    for judged in scored:
        if [claim.claim for claim in judged.claims] == texts:
            levels[judges.index(judged.judge)] = [
                LEVELS.index(claim.verdict) if claim.verdict else math.nan
                for claim in judged.claims
            ]
    return levels


def _scores(
    table: ScoreTable, panels: Sequence[Sequence[Assessment]], judges: Sequence[str]
) -> FloatArray:
    """Each judge's own score, shape (N, judges); nan where it has none."""
    scoring = next(result.scoring for result in results_of_main(table) if result)
    scores = np.full((len(panels), len(judges)), np.nan)
    for row, panel in zip(scores, panels, strict=True):
        for judged in panel:
            alone = judged.model_copy(update={"members": ()})
            place = judges.index(judged.judge)
            row[place] = Result(alone, scoring).score  # None becomes nan
    return scores
