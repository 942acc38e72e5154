"""Plan human labels: how many are needed, which samples to rate next, and the file for raters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.file_formats import csv_text
from tcva_adapters.samples.file_writing import replacing
from tcva_adapters.stats.checks import check_level, whole
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.labels_needed import labels_needed
from tcva_adapters.tables import Column, Table, cell, counted

LABELS_BEGINNING = re.compile(rb'{"id": |"?id"?,"?human"?')
"""Pattern of the beginning of a file of labels."""

MIN_LABELS = 10
"""The fewest labels that give an interval."""

_WIDTHS = (0.2, 0.1, 0.05)


def labels_table(estimates: Mapping[str, Estimate], width: float | None) -> Table:
    """Estimate how many labels an interval of some width needs, from the labels at hand.

    Args:
        estimates: Estimates by name, each with the interval that the labels at hand give.
        width: The wanted width, from end to end; by default 0.2, 0.1 and 0.05.

    Raises:
        InvalidValueError: A width that does not lie between 0 and 1.
    """
    if width is not None:
        check_level(width, "width (--width)", 0.1)
    pilots = {name: e for name, e in estimates.items() if e.high > e.low}
    rows = [
        {"width": wanted}
        | {
            name: max(MIN_LABELS, labels_needed(pilot, wanted))
            for name, pilot in pilots.items()
        }
        for wanted in (_WIDTHS if width is None else [width])
    ]
    widths_now = ", ".join(
        f"{cell(pilot.high - pilot.low, 'score')} ({name}, n = {pilot.n})"
        for name, pilot in pilots.items()
    )
    return Table(
        "labels needed",
        [Column("width", "score"), *(Column(name, "int") for name in pilots)],
        rows if pilots else [],
        detail=width is None,
        notes=[
            f"ratings needed for an interval of this width; the widths now: {widths_now}"
        ],
    )


def next_to_rate(
    table: ScoreTable,
    method: str,
    number: int,
    seed: int = 0,
) -> Table:
    """Draw samples without a rating at random, spread evenly along a method's scores.

    Every sample has the same chance, so that the mean of their ratings is unbiased.

    Args:
        table: Scores, and the ratings at hand.
        method: The method along whose scores samples are spread.
        number: The number of samples to draw; all that are left where these are fewer.
        seed: Seed of the start, and of the order of equal scores.

    Raises:
        InvalidValueError: A number below 1, or no sample is left.
    """
    scores = table.column(method)
    left = np.flatnonzero(np.isfinite(scores) & np.isnan(table.rating))
    if not len(left):
        raise InvalidValueError(
            "every sample with a score has a rating already; there is none to draw"
        )
    number = min(whole("the number of samples to rate", number, least=1), len(left))
    rng = np.random.default_rng(whole("seed", seed, least=0))
    along = left[np.lexsort((rng.random(len(left)), scores[left]))]
    # Take every (N/n)-th of N samples, from a random start.
    starts = (rng.random() + np.arange(number)) * len(left) / number
    places = np.sort(along[starts.astype(np.int64)])
    return Table(
        "next",
        [Column("sample")],
        [{"sample": table.samples[place], "score": scores[place]} for place in places],
        notes=[f"a random draw from {counted(len(left), 'sample')} without a rating"],
    )


def write_labels(
    path: str | Path,
    table: ScoreTable,
    drawn: Table,
    *,
    overwrite: bool = False,
) -> None:
    """Write the rated samples and those to rate, for raters, the report's page and ``--human``.

    Args:
        path: A jsonl or csv file with ``id`` and ``human``, which is empty where a rating is
            wanted.
        table: A table with the ratings at hand.
        drawn: The samples to rate; see `next_to_rate`.
        overwrite: Replace a file with other content, too.

    Raises:
        InvalidValueError: Another suffix, or the file cannot be written.
    """
    kind = Path(path).suffix.lower()
    if kind not in {".csv", ".jsonl"}:
        raise InvalidValueError(
            f"labels are written as .jsonl or .csv, got {Path(path).name!r}"
        )
    rated = table.rated
    rows = [
        *zip(rated.samples, rated.rating.tolist(), strict=True),
        *((row["sample"], None) for row in drawn.records),
    ]
    if kind == ".csv":
        text = csv_text(["id", "human"], rows)
    else:
        text = "".join(
            f"{json.dumps({'id': sample, 'human': rating})}\n"
            for sample, rating in rows
        )
    with replacing(path, beginning=LABELS_BEGINNING, overwrite=overwrite) as stream:
        stream.write(text.encode())
