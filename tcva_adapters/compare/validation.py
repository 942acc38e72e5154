"""Validate a judge by human ratings: agreement, errors, decisions, and the mean of all samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from tcva_adapters.compare.agreement.labels import labels_table, next_to_rate
from tcva_adapters.compare.agreement.mean_rating import mean_ratings
from tcva_adapters.compare.agreement.method_tables import with_interval
from tcva_adapters.compare.agreement.raters import stand_in_table
from tcva_adapters.compare.agreement.within_between import (
    parts_text,
    within_and_between,
)
from tcva_adapters.compare.rated_method import ALPHA, RatedMethod
from tcva_adapters.compare.scores.ratings import Scale, passes_from
from tcva_adapters.compare.scores.score_reader import Human, read_scores
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.describe import seen
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.tables import Column, Report, Table, counted


@with_checked_names
def validate(
    source: Any,
    human: Human | None = None,
    *,
    method: str | None = None,
    by: Sequence[str] | str = (),
    group: str | None = None,
    human_scale: Scale | None = None,
    human_threshold: float | None = None,
    scoring: ScoringConfig | None = None,
    width: float | None = None,
    rate_next: int = 0,
    largest: int = 10,
    epsilon: float = 0.2,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    skip_bad: bool = False,
) -> Report:
    """Compare a judge's scores with human ratings, without a call.

    Ratings are mapped to the scale of scores, 0 to 1. An error is the score minus the rating.

    Args:
        source: What `read_scores` takes, or a `ScoreTable` with ratings.
        human: Where the ratings are, see `read_scores`.
        method: The method whose errors are analysed; by default the first of the source.
        by: Fields of the metadata that errors may depend on: numbers or names.
        group: The metadata field of groups (documents, conversations), each of which counts as one.
        human_scale: Lowest and highest rating that could be given; by default 0 and 1.
        human_threshold: The lowest rating that passes; by default the middle of the scale.
        scoring: The settings of judgements; by default those that they were written with.
        width: The width of an interval, to estimate the labels that it needs.
        rate_next: The number of samples to draw for rating next.
        largest: The number of largest errors to list.
        epsilon: What a method may lack to stand in for one of three raters or more; see
            `stats.alternative_annotator`.
        resamples: Permutations of each test.
        level: Level of all intervals.
        seed: Seed of all draws.
        skip_bad: Leave out unreadable lines.

    Returns:
        The tables ``agreement`` (of each method; p corrected by Holm for all of them), ``errors``,
        ``within and between`` (groups, systems), ``alternative annotator``, ``decisions`` (precision, recall, kappa, AUC),
        ``bins`` (ratings by score), ``factors``,
        ``by FIELD``, ``largest errors``, ``claims`` of these, ``mean rating`` of all samples where only
        some are rated, ``labels needed`` (for an interval), and ``next`` (the samples to rate
        next).

    Raises:
        InvalidValueError: No sample has a score and a rating, ratings outside the scale, an unknown
            method or field; see `read_scores` for further ones.
        MissingDependencyError: scipy is not installed.

    >>> import numpy as np
    >>> counts = np.array([[3, 0, 0, 0, 0], [0, 0, 3, 0, 0], [1, 1, 1, 0, 0]] * 10)
    >>> report = validate(counts, [1.0, 0.5, 0.75] * 10)
    >>> round(report.records("errors")[0]["error"], 3)
    0.106
    """
    table = read_scores(
        source,
        human=human,
        group=group,
        human_scale=human_scale,
        scoring=scoring,
        skip_bad=skip_bad,
    )
    name = method or table.methods[0]
    fields = [by] if isinstance(by, str) else by
    passes_at = passes_from(human_threshold, human_scale)
    settings = {
        "method": name,
        "human_scale": human_scale or (0.0, 1.0),
        "human_threshold": passes_at,
        "epsilon": epsilon,
        "level": level,
        "resamples": resamples,
        "seed": seed,
    }
    drawn = [next_to_rate(table, name, rate_next, seed)] if rate_next else []
    if drawn and not len(table.rated):
        samples = counted(len(drawn[0].records), "sample")
        return Report(
            f"Drew {samples} of {len(table)} to rate.", drawn, table.notes, settings
        )

    rated = RatedMethod(
        table=table,
        method=name,
        scores=table.column(name),
        human=table.rating,
        groups=table.known_groups,
        level=level,
        resamples=resamples,
        seed=seed,
    )
    rhos = {m: rated.figure("spearman", seen(scores)) for m, scores in table.columns}
    errors = {m: rated.figure("error", scores) for m, scores in table.columns}
    rho = rhos[name]
    error = errors[name]
    means = mean_ratings(rated.scores, rated.human, rated.groups, passes_at, level)
    factors = rated.factors(fields)
    parts = within_and_between(table, level)
    tables = [
        *rated.methods(rhos, errors),
        parts,
        stand_in_table(table, epsilon),
        rated.decisions(passes_at),
        *means,
        factors,
        *rated.values(fields),
        labels_table({"spearman": rho, "error": error}, width),
        rated.bins(),
        *rated.largest(largest),
        *drawn,
    ]
    sentences = _sentences(name, rho, parts_text(parts, name), error, factors, means)
    notes = [*table.notes, *rated.notes(error)]
    return Report(" ".join(sentences), tables, notes, settings)


def _sentences(
    method: str,
    rho: Estimate,
    parts: str,
    error: Estimate,
    factors: Table,
    means: Sequence[Table],
) -> Iterator[str]:
    """Write the agreement, the mean error and what it depends on, and the mean rating of all samples."""
    if math.isnan(rho.value):
        yield f"{method}: Spearman is not defined ({rho.reason})."
    else:
        apart = f"; {parts}" if parts else ""
        yield f"{method}: Spearman {with_interval(rho)} with the human ratings, n = {rho.n}{apart}."
    why = f" (no interval: {error.reason})" if error.reason else ""
    yield f"Scores differ from the ratings by {with_interval(error, 'signed')} on average{why}."
    causes = [row["factor"] for row in factors.records if row["p_corrected"] <= ALPHA]
    if causes:
        yield f"The error depends on {', '.join(causes)}."
    for table in means:
        row = table.records[0]
        mean = Column("estimate", "interval").cell(row)
        yield f"The estimated mean rating of all {row['samples']} samples is {mean}."
