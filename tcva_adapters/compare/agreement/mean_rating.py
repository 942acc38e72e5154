"""Estimate the mean rating of all samples where only some of them are rated."""

from __future__ import annotations

import math

import numpy as np

from tcva_adapters.compare.scores.ratings import passes_by_rating
from tcva_adapters.stats.checks import FloatArray, Groups
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.inference import estimate
from tcva_adapters.stats.powered_mean import MIN_RATINGS, powered_mean
from tcva_adapters.tables import Table, named_columns

_NO_DRAW = 3.0
"""Distance in standard errors beyond which rated samples are unlikely to be a random draw."""


def mean_ratings(
    scores: FloatArray,
    human: FloatArray,
    groups: Groups,
    at: float,
    level: float,
) -> list[Table]:
    """Estimate the mean rating and the pass rate of all samples where only some are rated.

    From 30 ratings on the estimates are prediction-powered (`stats.powered_mean`): the ratings
    correct the judge's bias, and the judge's scores show how far the rated samples differ from the
    others. With fewer ratings, the estimates use the ratings alone, and the interval of the pass
    rate is exact.

    Args:
        scores: The judge's scores, shape (N,); nan where there is none.
        human: Ratings in [0, 1], shape (N,); nan where there is none.
        groups: The group of each sample, or None.
        at: The lowest rating that passes.
        level: Level of the intervals.

    Returns:
        One table; an empty list where every sample with a score is rated.
    """
    scored = np.isfinite(scores)
    rated = scored & np.isfinite(human)
    number = rated.sum()
    samples = scored.sum()
    if number == samples:
        return []

    few = number < MIN_RATINGS
    notes = [
        f"{number} of {samples} samples are rated. The estimate holds if they are a random draw (--next draws one)."
    ]
    spread = max(scores[scored].std(), 1e-300)
    away = (scores[rated].mean() - scores[scored].mean()) / spread * math.sqrt(number)
    if abs(away) > _NO_DRAW:
        side = "higher" if away > 0.0 else "lower"
        notes.append(
            f"The judge scores the rated samples {side} than it would a random draw "
            f"({abs(away):.1f} standard errors), so they are probably none."
        )
    if few:
        notes.append(f"Below {MIN_RATINGS} ratings the estimate uses the ratings only.")
    notes.append(
        "effective n: how many ratings would give this interval without the judge"
    )

    passes = np.where(
        np.isfinite(human),
        passes_by_rating(human, at),
        np.nan,
    )
    rows = []
    for figure, ratings, judged in (
        ("mean rating", human, scores),
        ("pass rate", passes, scores >= at),
    ):
        powered = powered_mean(ratings, scores, groups=groups, level=level)
        best = powered.estimate
        alone = powered.alone
        if few and figure == "pass rate":  # exact, however few there are
            best = alone = estimate(
                "share",
                np.where(rated, ratings, np.nan),
                groups,
                level=level,
            )
        rows.append(
            {
                "figure": figure,
                "samples": samples,
                "ratings": number,
                "judge": mean(judged[scored]),
                **best.record("estimate"),
                **alone.record("ratings_only"),
                "effective_n": round(powered.effective_n),
            }
        )
    return [
        Table(
            "mean rating",
            named_columns(
                "figure",
                judge="score",
                estimate="interval",
                ratings_only="interval",
                effective_n="int",
            ),
            rows,
            notes=notes,
        )
    ]
