"""Which samples to rate next, and the file that carries them to who rates and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np

from tcva_adapters.compare.estimate_samples import Human, RatedSamples
from tcva_adapters.compare.judged import JudgedSource
from tcva_adapters.compare.readers import read_systems
from tcva_adapters.core.aggregation import make_plan, scores_of
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Table, Tabular, counted, figure
from tcva_adapters.samples.output import csv_text, replacing
from tcva_adapters.samples.records import format_of
from tcva_adapters.stats.checks import FloatArray, one_of, whole
from tcva_adapters.stats.selection import chances, disagreement, draw, shares, spreads

__all__ = ["Choice", "ChosenBy", "ChosenSample", "choose_samples"]

ChosenBy = Literal["stratum", "variance", "disagreement"]

OURS: Final = re.compile(rb'{"id": |"?id"?,"?human"?')
"""How files of labels begin."""


@dataclass(frozen=True, slots=True)
class ChosenSample:
    """One line of a file of labels.

    Attributes:
        id: Of the sample.
        human: Its rating; None for those that are to be rated.
        inclusion: The chance with which it was chosen.
        round: In which choice; 0 is what was rated before the first one.
    """

    id: str
    human: float | None
    inclusion: float
    round: int

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "id": self.id,
            "human": self.human,
            "inclusion": self.inclusion,
            "round": self.round,
        }


@dataclass(frozen=True, eq=False)
class Choice(Tabular):
    """Samples that are to be rated, after those that are.

    Attributes:
        rated: What is rated already.
        chosen: What is to be rated, in the order of the samples.
        samples: How many there are to choose from.
        by: How they were chosen.
        systems: How many of each system were chosen; none without systems.
        seed: Of the draw.
    """

    rated: tuple[ChosenSample, ...]
    chosen: tuple[ChosenSample, ...]
    samples: int
    by: ChosenBy
    systems: dict[str, int]
    seed: int

    @property
    def sentence(self) -> str:
        """How many were chosen, and with which chances."""
        found = [each.inclusion for each in self.chosen]
        low, high = figure(min(found), 4), figure(max(found), 4)
        chances = f"a chance of {low} each" if low == high else f"chances from {low} to {high}"
        return (
            f"{len(found)} of {counted(self.samples, 'sample')} without a rating chosen by "
            f"{self.by}, with {chances}"
        )

    def records(self) -> list[dict[str, Any]]:
        """The lines of the file."""
        return [each.to_dict() for each in (*self.rated, *self.chosen)]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "sentence": self.sentence,
            "by": self.by,
            "samples": self.samples,
            "systems": self.systems,
            "seed": self.seed,
            "chosen": [each.to_dict() for each in self.chosen],
        }

    def parts(self) -> Iterator[Part]:
        """What ``tcva estimate --next`` prints of it."""
        if self.systems:
            rows = [(name, str(number)) for name, number in self.systems.items()]
            yield Table(("system", "chosen"), rows, "lr")

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the rated samples and those to be rated: jsonl or csv, as the report's page reads it.

        Args:
            path: The file.
            overwrite: Replace a file of something else, too.

        Raises:
            InvalidValueError: Another suffix, or the file cannot be written.
        """
        kind = format_of(path)
        if kind not in {"csv", "jsonl"}:
            msg = f"labels are written as .jsonl or .csv, not {Path(path).name!r}"
            raise InvalidValueError(msg)
        rows = self.records()
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        if kind == "csv":
            text = csv_text(list(rows[0]), [list(row.values()) for row in rows])
        with replacing(path, ours=OURS, overwrite=overwrite) as stream:
            stream.write(text.encode())


def choose_samples(
    judged: JudgedSource,
    n: int,
    human: Human | None = None,
    *,
    by: ChosenBy | None = None,
    methods: Any | None = None,
    seed: int = 0,
    **settings: Any,
) -> Choice:
    """Samples to rate next, so that `estimate` is unbiased and as narrow as may be.

    Each sample has a known chance above 0, and all systems have the same share. They are drawn
    evenly along the judge's scores.

    Args:
        judged: What was judged, see `Judged.of`.
        n: How many.
        human: Ratings that are there already, as for `estimate`; these samples are not chosen.
        by: ``stratum``: all samples of a system have the same chance. ``variance``: half of the
            chances goes to where ratings are expected to lie far from what the score says of them.
            ``disagreement``: half goes to where methods rank a sample differently. By default
            ``variance`` where there are ratings, else ``stratum``.
        methods: For ``disagreement``: scores of other methods, as `compare_systems` reads them (the
            folder of a comparison, other judges' judgements), joined by id. By default the fused
            judges of ``judged``.
        seed: Of the draw.
        settings: ``system``, ``temperature``, ``evidence``, ``config`` and ``skip_bad``, as for
            `estimate`.

    Raises:
        InvalidValueError: No sample is left to choose, n below 1, an unknown way, or a disagreement
            of one method. Further errors as for `estimate`.

    >>> counts = [[4, 0, 0, 0, 1], [5, 0, 0, 0, 0], [2, 1, 1, 1, 0]] * 40
    >>> choose_samples(counts, 12).sentence
    '12 of 120 samples without a rating chosen by stratum, with a chance of 0.1000 each'
    """
    return chosen(RatedSamples.of(judged, human, **settings), n, by=by, methods=methods, seed=seed)


def chosen(
    samples: RatedSamples,
    n: int,
    *,
    by: ChosenBy | None = None,
    methods: Any | None = None,
    seed: int = 0,
) -> Choice:
    """`choose_samples` of samples that were read."""
    whole("the number of samples to choose", n, least=1)
    way: ChosenBy = by or ("variance" if samples.rated.any() else "stratum")
    one_of("way to choose samples", way, get_args(ChosenBy))
    if methods is not None and way != "disagreement":
        msg = f"scores of other methods are for a choice by disagreement, not by {way}"
        raise InvalidValueError(msg)
    open_ = np.flatnonzero(samples.scored & ~samples.rated)
    if not len(open_):
        msg = "every sample with a score is rated; there is none left to choose"
        raise InvalidValueError(msg)
    sizes = _sizes(samples, way, methods)[open_]
    systems = samples.of_system[open_]
    # Each system gets the same share, so that small ones are estimated as well as large ones.
    for place in np.unique(systems):
        own = systems == place
        sizes[own] = shares(sizes[own]) / own.sum()
    probability = chances(sizes, n)
    taken = draw(probability, np.column_stack([systems, samples.scores[open_]]), seed=seed)
    names = samples.names
    inclusion, rounds = samples.rounds()
    turn = 1 + max([0, *(each.round for each in samples.draws.values())])
    rated = tuple(
        ChosenSample(names[i], float(samples.ratings[i]), float(inclusion[i]), int(rounds[i]))
        for i in np.flatnonzero(samples.rated)
    )
    found = tuple(
        ChosenSample(names[open_[i]], None, float(probability[i]), turn) for i in taken.tolist()
    )
    of_each = np.bincount(systems[taken], minlength=len(samples.systems)).tolist()
    shown = dict(zip(samples.systems, of_each, strict=True)) if samples.system else {}
    return Choice(rated, found, len(open_), way, shown, seed)


def _sizes(samples: RatedSamples, by: ChosenBy, methods: Any | None) -> FloatArray:
    """How much a rating of each sample is expected to tell, shape (N,); nan where nothing is known."""
    found = np.ones(len(samples.scores))
    if by == "variance":
        known, weights = np.flatnonzero(samples.scored), samples.weights()
        found[known] = spreads(
            samples.scores[known],
            samples.ratings[known],
            weights=None if weights is None else weights[known],
        )
    if by == "disagreement":
        found = disagreement(_scores_of(samples, methods))
        if np.isnan(found).all():
            msg = (
                "there is one method alone, so nothing disagrees; give scores of others (--scores, "
                "the folder of tcva compare or another judge's file), or choose by variance"
            )
            raise InvalidValueError(msg)
    return found


def _scores_of(samples: RatedSamples, methods: Any | None) -> FloatArray:
    """The scores of all methods, shape (N, M): those of other files, or of the fused judges."""
    if methods is None:
        dial = samples.scoring
        plan = make_plan([dial.temperature], **dial.options)
        by_judge = samples.judged.counts.swapaxes(0, 1)
        return np.column_stack([scores_of(counts, plan) for counts in by_judge])
    tables = read_systems(methods, temperatures=[samples.scoring.temperature])
    others = []
    for table in tables.values():
        places = {name: place for place, name in enumerate(table.samples)}
        rows = np.array([places.get(name, -1) for name in samples.names])
        others.append(np.where((rows >= 0)[:, None], table.scores[rows], np.nan))
    if np.isnan(np.column_stack(others)).all():
        msg = "the scores of other methods are of none of these samples; they are joined by id"
        raise InvalidValueError(msg)
    return np.column_stack([samples.scores, *others])
