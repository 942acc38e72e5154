"""Measure how far human raters agree, and how well a method can agree with them."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal

import numpy as np

from tcva_adapters.compare.agreement.method_tables import with_interval
from tcva_adapters.compare.scores.ratings import is_on_scale
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.stats.alpha import krippendorff_alpha
from tcva_adapters.stats.alternative_annotator import (
    ALPHA,
    MIN_RATERS,
    alternative_annotator,
)
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.describe import as_shown, mean
from tcva_adapters.stats.raters import reliability
from tcva_adapters.tables import Column, Report, Table, cell, named_columns


def raters_report(table: ScoreTable, *, objective: Measure = "spearman") -> Report:
    """Report how far several human raters agree, and how well a method can agree with them.

    A rating is the truth plus the rater's error, so even a method that gives the truth correlates
    with the mean of k raters by no more than the square root of that mean's reliability, which
    Spearman and Brown derive from the mean correlation r of two: ``k r / (1 + (k - 1) r)``. A
    method's correlation divided by this square root is the correlation that error-free ratings
    would give (Spearman, 1904). Both assume that raters err independently; for rank correlations
    they are approximate.

    Args:
        table: A table with two raters or more.
        objective: ``pearson`` or ``spearman``; other measures cannot be corrected and are replaced
            by ``spearman``.

    Returns:
        Tables ``raters`` (every two raters) and ``methods and raters``.

    Raises:
        InvalidValueError: Fewer than two raters.
        MissingDependencyError: scipy is not installed.
    """
    names = table.raters or tuple(f"rater {i + 1}" for i in range(table.human.shape[1]))
    measure: Literal["pearson", "spearman"] = (
        "pearson" if objective == "pearson" else "spearman"
    )
    groups = table.known_groups
    reliable = reliability(
        measure, table.human, as_shown(measure, table.scores), groups=groups
    )
    best = reliable.best
    alpha = krippendorff_alpha(table.human.T, "interval", groups=groups)

    sentence = (
        f"{len(names)} raters agree with a mean {measure} of {cell(reliable.between, 'score')}, "
        f"alpha {with_interval(alpha)}."
    )
    if not math.isnan(reliable.value):
        sentence += f" A method without error would correlate {with_interval(best)} with their mean."
    notes = [
        f"no {'' if math.isnan(figure.value) else 'interval of '}{name}: {figure.reason}"
        for name, figure in (("alpha", alpha), ("best correlation", best))
        if figure.reason
    ]
    if objective != measure:
        notes.append(
            f"{objective} cannot be corrected for raters; the figures are {measure}."
        )
    return Report(
        sentence,
        [
            Table(
                "raters",
                [
                    *named_columns("rater", "other_rater", n="int"),
                    Column(measure, "score"),
                ],
                [
                    {
                        "rater": first,
                        "other_rater": second,
                        "n": pair.n,
                        measure: pair.value,
                    }
                    for (first, second), pair in zip(
                        combinations(names, 2), reliable.pairs, strict=True
                    )
                ],
            ),
            Table(
                "methods and raters",
                named_columns(
                    "method", n="int", with_mean="score", without_error="interval"
                ),
                [
                    {
                        "method": method,
                        "n": corrected.n,
                        "with_mean": value,
                        **corrected.record("without_error"),
                    }
                    for method, value, corrected in zip(
                        table.methods,
                        reliable.with_mean,
                        reliable.corrected,
                        strict=True,
                    )
                ],
                notes=["without error: with error-free ratings (Spearman-Brown)"],
            ),
        ],
        notes,
        {
            "measure": measure,
            "reliability": reliable.value,
            **best.record("best"),
            **alpha.record("alpha"),
        },
    )


def stand_in_table(table: ScoreTable, epsilon: float) -> Table:
    """Tabulate which methods may stand in for one of three raters or more.

    Where all ratings are 0 or 1, a method's decisions are compared with them, else its scores.

    Args:
        table: A table with ratings in [0, 1]; others, and fewer than three raters, give no rows.
        epsilon: See `alternative_annotator`.
    """
    records = []
    ratings = table.human[np.isfinite(table.human)]
    is_binary = np.isin(ratings, (0.0, 1.0)).all()
    has_tests = table.human.shape[1] >= MIN_RATERS and is_on_scale(ratings)
    for method in table.methods if has_tests else ():
        known = table.common([method])
        judge = known.passes(method) if is_binary else known.column(method)
        tests = alternative_annotator(
            judge, known.human, known.known_groups, epsilon=epsilon
        )
        tested = np.isfinite(tests.p)
        winning_rate = mean(tests.p[tested] <= ALPHA)
        is_shown = tested.sum() >= MIN_RATERS and winning_rate >= 0.5
        records.append(
            {
                "method": method,
                "raters": tested.sum(),
                "winning_rate": winning_rate,
                "advantage_probability": mean(tests.advantage[tested]),
                "may_stand_in": "yes" if is_shown else "not shown",
                **tests._asdict(),
            }
        )
    return Table(
        "alternative annotator",
        named_columns(
            "method",
            raters="int",
            winning_rate="share",
            advantage_probability="share",
            may_stand_in="text",
        ),
        records,
        notes=[
            f"may stand in for one of the raters: wins against half of them at epsilon {epsilon:g} (alternative-annotator test); raters: with 30 samples or more, of whom it takes three",
            "advantage probability: how often the method is as near to the other raters as the rater left out, or nearer",
        ],
    )
