"""What people would say of all samples, how many labels that takes, and which to rate next."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Final

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError, of_percent
from tcva_adapters.samples.csv_cells import csv_text
from tcva_adapters.samples.whole_files import replacing
from tcva_adapters.stats.checks import FloatArray, Groups, whole
from tcva_adapters.stats.inference import Estimate, estimate, labels_needed
from tcva_adapters.stats.powered import LEAST_RATINGS, powered_mean
from tcva_adapters.tables import Column, Record, Table, cell, counted, named_columns

OURS: Final = re.compile(rb'{"id": |"?id"?,"?human"?')
"""How files of labels begin."""

LEAST_LABELS: Final = 10
"""Below so many there is no interval."""

_NO_DRAW: Final = 3.0
"""Standard errors: rated samples that lie further off by the judge's scores were hardly drawn."""
_WIDTHS: Final = (0.2, 0.1, 0.05)


def mean_ratings(
    scores: FloatArray,
    human: FloatArray,
    groups: Groups,
    at: float,
    level: float,
) -> list[Table]:
    """The mean rating and the pass rate of all samples, where only some of them are rated.

    From 30 ratings on they are prediction-powered: the ratings correct the judge's bias, and the
    judge says how far the rated samples lie from the others (`stats.powered`). Below, they are those
    of the ratings alone, and the interval of the pass rate is the exact one.

    Args:
        scores: Of the judge, shape (N,); nan where there is none.
        human: Ratings in [0, 1], likewise.
        groups: One per sample, or None.
        at: A rating passes from here on.
        level: Of the intervals.

    Returns:
        Nothing where every sample with a score is rated.
    """
    scored = np.isfinite(scores)
    rated = scored & np.isfinite(human)
    number, samples = int(rated.sum()), int(scored.sum())
    if number == samples:
        return []
    away = (scores[rated].mean() - scores[scored].mean()) / max(
        scores[scored].std(), 1e-300
    )
    away *= math.sqrt(number)
    part = f"{number} of {samples} samples are rated"
    notes = [
        f"{part}. The estimate holds if they are a random draw (--next draws one)."
    ]
    if abs(away) > _NO_DRAW:
        side = "higher" if away > 0.0 else "lower"
        notes.append(
            f"The judge scores the rated samples {side} than it would a random draw "
            f"({abs(away):.1f} standard errors), so they are probably none."
        )
    if number < LEAST_RATINGS:
        notes.append(
            f"Below {LEAST_RATINGS} ratings the estimate uses the ratings only."
        )
    rows: list[Record] = []
    passes = np.where(np.isfinite(human), human >= at, np.nan)
    for name, ratings, own in (
        ("mean rating", human, scores),
        ("pass rate", passes, scores >= at),
    ):
        found = powered_mean(ratings, scores, groups=groups, level=level)
        best, alone = found.estimate, found.alone
        if (
            name == "pass rate" and number < LEAST_RATINGS
        ):  # exact, however few there are
            alone = estimate(
                "share", np.where(rated, ratings, np.nan), groups, level=level
            )
            best = alone
        rows.append(
            {
                "figure": name,
                "samples": found.samples,
                "ratings": number,
                "judge": float(own[scored].mean()),
                **best.record("estimate"),
                **alone.record("ratings_only"),
                "effective_n": round(found.effective_n),
            }
        )
    columns = named_columns(
        figure="text",
        judge="score",
        estimate="interval",
        ratings_only="interval",
        effective_n="int",
    )
    notes.append(
        "effective n: how many ratings would give this interval without the judge"
    )
    return [Table("mean rating", columns, rows, notes=notes)]


def labels_table(figures: dict[str, Estimate], width: float | None) -> Table:
    """How many labels intervals of some widths take, going by those at hand.

    Args:
        figures: By name, each with the interval that the labels at hand give.
        width: The width that is wanted, from end to end; by default some usual ones.

    Raises:
        InvalidValueError: A width that is not above 0 and at most 1.
    """
    if width is not None and not 0.0 < width <= 1.0:
        msg = f"width (--width) must be above 0 and at most 1, got {width!r}{of_percent(width)}"
        raise InvalidValueError(msg)
    there = {name: found for name, found in figures.items() if found.high > found.low}
    rows: list[Record] = []
    for each in _WIDTHS if width is None else [width]:
        row: Record = {"width": each}
        for name, found in there.items():
            row[name] = max(LEAST_LABELS, labels_needed(found, width=each))
        rows.append(row)
    columns = [Column("width", "score"), *(Column(name, "int") for name in there)]
    now = [
        f"{cell(of.high - of.low, 'score')} ({name}, n = {of.n})"
        for name, of in there.items()
    ]
    notes = [
        f"ratings needed for an interval of this width; the widths now: {', '.join(now)}"
    ]
    return Table(
        "labels needed",
        columns,
        rows if there else [],
        detail=width is None,
        notes=notes,
    )


def next_to_rate(
    table: ScoreTable,
    method: str,
    number: int,
    seed: int = 0,
) -> Table:
    """A random draw of samples without a rating, spread evenly along a method's scores.

    Every sample has the same chance, so that a mean of their ratings is unbiased.

    Args:
        table: Scores, and ratings as far as there are any.
        method: Along whose scores.
        number: How many are drawn; all that are left where these are fewer.
        seed: Of the start, and of the order of equal scores.

    Raises:
        InvalidValueError: A number below 1, or no sample is left.
    """
    scores = table.column(method)
    left = np.flatnonzero(np.isfinite(scores) & np.isnan(table.rating))
    if not len(left):
        msg = "every sample with a score has a rating already; there is none to draw"
        raise InvalidValueError(msg)
    number = min(whole("the number of samples to rate", number, least=1), len(left))
    rng = np.random.default_rng(whole("seed", seed, least=0))
    along = left[np.lexsort((rng.random(len(left)), scores[left]))]
    # Every N/n-th of N samples, from a random start.
    starts = (rng.random() + np.arange(number)) * len(left) / number
    places = np.sort(along[starts.astype(np.int64)])
    rows = [
        {"sample": table.samples[place], "score": scores[place]}
        for place in places.tolist()
    ]
    note = f"a random draw from {counted(len(left), 'sample')} without a rating"
    return Table("next", [Column("sample")], rows, notes=[note])


def write_labels(
    path: str | Path,
    table: ScoreTable,
    drawn: Table,
    *,
    overwrite: bool = False,
) -> None:
    """Write what is rated and what is to be rated, for raters, the report's page and ``--human``.

    Args:
        path: jsonl or csv with ``id`` and ``human``, which is empty where a rating is wanted.
        table: With the ratings that there are.
        drawn: See `next_to_rate`.
        overwrite: Replace a file of something else, too.

    Raises:
        InvalidValueError: Another suffix, or the file cannot be written.
    """
    kind = Path(path).suffix.lower()
    if kind not in {".csv", ".jsonl"}:
        msg = f"labels are written as .jsonl or .csv, got {Path(path).name!r}"
        raise InvalidValueError(msg)
    known = zip(table.samples, table.rating.tolist(), strict=True)
    rows = [(sample, rating) for sample, rating in known if rating == rating]  # noqa: PLR0124  # nan
    rows += [(row["sample"], None) for row in drawn.records]
    text = "".join(
        json.dumps({"id": sample, "human": rating}) + "\n" for sample, rating in rows
    )
    if kind == ".csv":
        text = csv_text(["id", "human"], [list(row) for row in rows])
    with replacing(path, ours=OURS, overwrite=overwrite) as stream:
        stream.write(text.encode())
