"""Judgements that were made several times: panels, repeats, and several human raters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final, Literal

import numpy as np

from tcva_adapters.compare.agreement.method_tables import mean
from tcva_adapters.compare.scores.readers import read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.result import Result
from tcva_adapters.stats.agreement import krippendorff_alpha, weighted_kappa
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.describe import as_shown
from tcva_adapters.stats.raters import (
    ENOUGH,
    independence,
    mean_rating,
    reliability,
    variance_components,
)
from tcva_adapters.tables import (
    Column,
    Record,
    Report,
    Table,
    cell,
    counted,
    named_columns,
)

FEW: Final = 30
"""Claims with two levels below which alpha hangs on one or two of them."""


def panel_report(source: Any) -> Report:
    """How far the judges of a panel agree, claim by claim, and where a person should look.

    Args:
        source: Results of a `Panel`, or a table with them; of repeats the first. Intervals are about
            other samples, or other groups where the table has groups.

    Returns:
        Tables ``agreement`` (Krippendorff's alpha for ordered levels; to how many independent judges
        the panel amounts), ``judges`` (Cohen's kappa with quadratic weights of every two) and
        ``disputed``.

    Raises:
        InvalidValueError: No result comes from a panel.
    """
    table = read_scores(source)
    panels = _panels(table)
    judges = _judges(panels)
    blocks = [_levels(panel, judges) for panel in panels]
    levels = np.concatenate([*blocks, np.empty((len(judges), 0))], axis=1)
    rows = np.repeat(np.arange(len(panels)), [block.shape[1] for block in blocks])
    judged = np.isfinite(levels).any(axis=0)
    levels, rows = levels[:, judged], rows[judged]
    drawn = [table.groups[row] if table.groups else row for row in rows.tolist()]
    alpha = krippendorff_alpha(levels, groups=drawn)
    human = table.rating if len(table.rated) else None
    apart = independence(_scores(table, panels, judges), human)
    number = apart.effective if apart.samples >= ENOUGH else math.nan
    samples = set(rows.tolist())
    record = {
        "judges": len(judges),
        "samples": len(samples),
        "claims": levels.shape[1],
        "effective_judges": number,
        "correlation": apart.correlation,
        **alpha.record("alpha"),
    }
    columns = named_columns(
        judges="int",
        samples="int",
        claims="int",
        alpha="interval",
        effective_judges="score",
    )
    disputes = disputed(table)
    notes = [f"no interval of alpha: {alpha.reason}"] if alpha.reason else []
    if alpha.n < FEW:
        few = counted(alpha.n, "claim")
        notes.append(
            f"Alpha rests on {few} only; below {FEW} one or two claims decide it."
        )
    if math.isnan(number):
        notes.append(
            f"The effective number of judges needs {ENOUGH} samples with varying scores of all judges."
        )
    for judge, own in zip(judges, levels, strict=True):
        if failed := samples - {*rows[np.isfinite(own)].tolist()}:
            lost = counted(len(failed), "sample")
            notes.append(f"{judge} gave no verdicts on {lost} that others judged.")
    sides = combinations(range(len(judges)), 2)
    pairs = [_pair(judges[i], judges[j], levels[i], levels[j]) for i, j in sides]
    of_two = named_columns(
        first="text",
        second="text",
        claims="int",
        kappa="score",
        same_level="share",
        first_fully="share",
        second_fully="share",
    )
    return Report(
        f"{disputes.sentence} Krippendorff's alpha is "
        f"{Column('alpha', 'interval').cell(record)} over {counted(alpha.n, 'claim')}.",
        [
            Table("agreement", columns, [record]),
            Table("judges", of_two, pairs),
            disputes.tables[0],
        ],
        notes,
    )


def disputed(source: Any, most: int | None = None) -> Report:
    """The claims on which the judges of a panel differ: a person's time is best spent on these.

    Args:
        source: As for `panel_report`.
        most: How many samples; all with any difference where None.

    Returns:
        A table ``disputed``, the samples that differ most first, and of each the claims. The
        ``spread`` is the mean distance in levels between two judges, in [0, 4].

    Raises:
        InvalidValueError: No result comes from a panel.
    """
    table = read_scores(source)
    panels = _panels(table)
    judges = _judges(panels)
    found: list[tuple[float, list[Record]]] = []
    for sample, panel in zip(table.samples, panels, strict=True):
        levels = _levels(panel, judges)
        spreads = _spreads(levels)
        if not np.nansum(spreads) > 0.0:
            continue
        texts = [claim.claim for claim in _scored(panel)[0].claims]
        records: list[Record] = []
        for n in np.argsort(-np.nan_to_num(spreads), kind="stable").tolist():
            if spreads[n] > 0.0:
                record = {
                    "sample": sample,
                    "spread": float(spreads[n]),
                    "claim": texts[n],
                }
                for judge, level in zip(judges, levels[:, n].tolist(), strict=True):
                    record[judge] = (
                        None if math.isnan(level) else LEVELS[int(level)].value
                    )
                records.append(record)
        found.append((float(np.nanmean(spreads)), records))
    found.sort(key=lambda each: -each[0])
    rows = [record for _, records in found[:most] for record in records]
    columns = named_columns(
        sample="text",
        spread="score",
        claim="prose",
    )
    columns += [Column(judge) for judge in judges]
    return Report(
        f"The judges differ on {counted(len(found), 'sample')}.",
        [Table("disputed", columns, rows)],
    )


def repeat_report(source: Any) -> Report:
    """What repeats of a judgement show: the variance by judge and by sample, and flips.

    Args:
        source: Results of a `TCVA` with ``repeats``, or a table with them.

    Returns:
        One table ``repeats`` with one record: over the samples with two scored repeats or more, how
        many ``flip`` at the threshold, on what share two repeats ``disagree``, how many are the
        ``same`` word for word, the standard deviations ``judge_sd`` (within a sample) and
        ``sample_sd`` (between samples), the ``standard_error`` of the mean, and what it would be with
        ``one_repeat_more`` or as many judgements of ``more_samples``.

    Raises:
        InvalidValueError: None was judged several times.
    """
    table = read_scores(source)
    repeats = [
        each.repeats if each is not None else () for each in results_of_main(table)
    ]
    most = max(map(len, repeats), default=0)
    if not most:
        msg = (
            "no sample was judged several times; judge with repeats=3 (--set repeats=3)"
        )
        raise InvalidValueError(msg)
    scores = np.full((len(repeats), most), np.nan)
    disagreements, flipped, same = [], 0, 0
    for row, made in zip(scores, repeats, strict=True):
        scored = [each for each in made if each.score is not None]
        number, passed = len(scored), sum(bool(each.passed) for each in scored)
        if number < 2:
            continue
        row[:number] = [each.score or 0.0 for each in scored]
        flipped += 0 < passed < number
        disagreements.append(2 * passed * (number - passed) / (number * (number - 1)))
        same += len({each.claims for each in made}) == 1
    n, found = len(disagreements), variance_components(scores)
    one_more = found.repeats + 1
    record = {
        "samples": n,
        "repeats": most,
        "flip": flipped,
        "flip_rate": flipped / n if n else math.nan,
        "disagree": math.fsum(disagreements) / n if n else math.nan,
        "same": same,
        "mean": found.mean,
        "judge_sd": math.sqrt(found.judge),
        "sample_sd": math.sqrt(found.sample),
        "standard_error": found.standard_error,
        "one_repeat_more": found.error_with(found.samples, one_more),
        "more_samples": found.error_with(
            found.samples * one_more / found.repeats, found.repeats
        ),
    }
    columns = named_columns(
        samples="int",
        repeats="int",
        flip="int",
        disagree="share",
        same="int",
        judge_sd="score",
        sample_sd="score",
        standard_error="score",
        one_repeat_more="score",
        more_samples="score",
    )
    notes = []
    if n and same == n:
        notes.append(
            "All repeats are identical: the model ignores temperature and seed, or a cache answers. "
            "They say nothing about the judge's noise."
        )
    sentence = (
        f"In {most} repeats, the decision flips on {flipped} of {counted(n, 'sample')}. The "
        f"judge's standard deviation of a score is {cell(record['judge_sd'], 'score')}."
    )
    if not n:
        sentence = "No sample has two repeats with a score."
    return Report(sentence, [Table("repeats", columns, [record])], notes)


def raters_report(table: ScoreTable, *, objective: Measure = "spearman") -> Report:
    """How far several human raters agree, and how good that lets a method get.

    A rating is the truth plus the rater's error, so even a method that gives the truth correlates
    with the mean of k raters by no more than the square root of that mean's reliability, which
    Spearman and Brown derive from the mean correlation r of two: ``k r / (1 + (k - 1) r)``. A method's
    correlation divided by it is what it would be with error-free ratings (Spearman, 1904). It
    supposes that raters err independently; for rank correlations it is approximate.

    Args:
        table: With two raters or more.
        objective: ``pearson``; everything else, which cannot be corrected, is replaced by Spearman.

    Returns:
        Tables ``raters`` (every two) and ``methods and raters``.

    Raises:
        InvalidValueError: Fewer than two raters.
        MissingDependencyError: scipy is not installed.
    """
    names = table.raters or tuple(f"rater {i + 1}" for i in range(table.human.shape[1]))
    measure: Literal["pearson", "spearman"] = (
        "pearson" if objective == "pearson" else "spearman"
    )
    groups = table.groups or None
    found = reliability(
        measure, table.human, as_shown(measure, table.scores), groups=groups
    )
    alpha = krippendorff_alpha(table.human.T, "interval", groups=groups)
    pairs = [
        {
            "rater": first,
            "other_rater": second,
            "n": pair.n,
            measure: pair.value,
        }
        for (first, second), pair in zip(
            combinations(names, 2), found.pairs, strict=True
        )
    ]
    both = zip(table.methods, found.with_mean, found.corrected, strict=True)
    methods = [
        {
            "method": method,
            "n": own.n,
            "with_mean": value,
            **own.record("without_error"),
        }
        for method, value, own in both
    ]
    notes = [f"no interval of alpha: {alpha.reason}"] if alpha.reason else []
    if found.best.reason:
        notes.append(f"no interval of the best correlation: {found.best.reason}")
    if objective != measure:
        notes.append(
            f"{objective} cannot be corrected for raters; the figures are {measure}."
        )
    figures = {
        "measure": measure,
        "reliability": found.value,
        **found.best.record("best"),
        **alpha.record("alpha"),
    }
    alpha_text, best = (
        Column(name, "interval").cell(figures) for name in ("alpha", "best")
    )
    reach = f" A method without error would correlate {best} with their mean."
    of_raters = named_columns(
        rater="text",
        other_rater="text",
        n="int",
    )
    columns = named_columns(
        method="text",
        n="int",
        with_mean="score",
        without_error="interval",
    )
    meant = "without error: with error-free ratings (Spearman-Brown)"
    return Report(
        f"{len(names)} raters agree with a mean {measure} of {cell(found.between, 'score')}, alpha "
        f"{alpha_text}.{'' if math.isnan(found.value) else reach}",
        [
            Table("raters", [*of_raters, Column(measure, "score")], pairs),
            Table("methods and raters", columns, methods, notes=[meant]),
        ],
        notes,
        figures,
    )


def results_of_main(table: ScoreTable) -> list[Result | None]:
    """The results of the main method, one per sample; None where it has none."""
    found = table.results.get(table.main, ())
    return [each if isinstance(each, Result) else None for each in found]


def _panels(table: ScoreTable) -> list[Assessment | None]:
    """The judgements of each sample, of repeats the first."""
    judged = [
        None if each is None else each.assessment for each in results_of_main(table)
    ]
    return [each.repeats[0] if each and each.repeats else each for each in judged]


def _judges(panels: Sequence[Assessment | None]) -> list[str]:
    judges = list(dict.fromkeys(each.judge for p in panels if p for each in p.panel))
    if not judges:
        msg = (
            f"none of {len(panels)} results comes from a panel; judge with Panel([...])"
        )
        raise InvalidValueError(msg)
    return judges


def _scored(panel: Assessment | None) -> list[Assessment]:
    return [each for each in panel.panel if each.unscored is None] if panel else []


def _levels(panel: Assessment | None, judges: Sequence[str]) -> FloatArray:
    """Levels as numbers, 0 for fully; shape (judges, claims), nan where a judge gave none."""
    scored = _scored(panel)
    texts = [claim.claim for claim in scored[0].claims] if scored else []
    levels = np.full((len(judges), len(texts)), np.nan)
    for judge, judged in {each.judge: each for each in scored}.items():
        if [claim.claim for claim in judged.claims] == texts:
            levels[judges.index(judge)] = [
                math.nan if c.verdict is None else LEVELS.index(c.verdict)
                for c in judged.claims
            ]
    return levels


def _spreads(levels: FloatArray) -> FloatArray:
    """Mean distance between two judges for each claim; nan where fewer than two gave a level."""
    pairs = [np.abs(a - b) for a, b in combinations(levels, 2)]
    distances = np.array(pairs).reshape(
        len(pairs), levels.shape[1]
    )  # there may be no claims
    return mean_rating(distances.T)


def _pair(
    first: str,
    second: str,
    one: FloatArray,
    two: FloatArray,
) -> Record:
    both = np.isfinite(one) & np.isfinite(two)
    shares = {
        "same_level": one == two,
        "first_fully": one == 0,
        "second_fully": two == 0,
    }
    return {
        "first": first,
        "second": second,
        "claims": int(both.sum()),
        "kappa": weighted_kappa(one, two, levels=len(LEVELS)),
        **{name: mean(found[both]) for name, found in shares.items()},
    }


def _scores(
    table: ScoreTable, panels: Sequence[Assessment | None], judges: Sequence[str]
) -> FloatArray:
    """Each judge's own score, shape (N, judges); nan where it has none."""
    scoring = next(each.scoring for each in results_of_main(table) if each is not None)
    scores = np.full((len(panels), len(judges)), np.nan)
    for row, panel in zip(scores, panels, strict=True):
        for each in () if panel is None else panel.panel:
            score = Result(each.model_copy(update={"members": ()}), scoring).score
            row[judges.index(each.judge)] = math.nan if score is None else score
    return scores
