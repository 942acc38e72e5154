"""Several ways to score the same samples, beside each other: each alone, and against the first.

The first is what is in use. The others are it with parts of the method taken out, or judgements that
were asked for in another form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.judged import Judged
from tcva_adapters.compare.sweep_views import View
from tcva_adapters.compare.views.interval_text import (
    ends_text,
    interval_cell,
    missing_intervals,
)
from tcva_adapters.core.aggregation import make_plan
from tcva_adapters.core.collapse import ablation_plans
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.printing import Part, Table, Wrapped, counted, figure, share
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.bootstrap import PairedDifference, intervals, paired_difference
from tcva_adapters.stats.checks import BoolArray
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.interval import Interval

PARTS: Final = {
    "full": "A full",
    "without_penalty": "B no penalty",
    "arithmetic": "C arithmetic",
    "binary": "D binary",
}
"""What `core.collapse.ablation` takes out of the method, and what tables call it."""

_MEASURE: Final[Measure] = "spearman"


@dataclass(frozen=True, slots=True)
class WayRow:
    """One way to score.

    Attributes:
        name: In tables.
        mean: Of the scores.
        pass_rate: Share of the samples that reach the threshold.
        agreement: Spearman with human ratings; None without any.
        difference: The same less that of the first row, on the same resamples; None for the first.
    """

    name: str
    mean: float
    pass_rate: float
    agreement: Interval | None = None
    difference: PairedDifference | None = None


@dataclass(frozen=True, slots=True)
class SameSamples:
    """Ways to score, on the samples that all of them have scored.

    Attributes:
        title: What differs between them.
        temperature: Of all of them.
        threshold: Likewise.
        samples: How many samples all have scored.
        rows: The one in use first.
    """

    title: str
    temperature: float
    threshold: float
    samples: int
    rows: tuple[WayRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values; what is not defined is None."""
        values: dict[str, Any] = jsonable(self)
        return values

    def parts(self) -> Iterator[Part]:
        """A heading, and a row for each way."""
        first = self.rows[0]
        yield Wrapped(
            f"{self.title}; T={self.temperature:g}, threshold {self.threshold:g}, {self.samples} samples "
            "that all have scored"
        )
        header = ["", "mean", "pass"]
        if first.agreement is not None:
            of = first.agreement
            drawn = "" if of.clusters is None else f", {counted(of.clusters, 'group')}"
            header += [f"Spearman (n={of.n}{drawn})", f"less that of {first.name}"]
        yield Table(header, [_cells(row) for row in self.rows], "lr")
        yield from missing_intervals(
            (row.name, found)
            for row in self.rows
            for found in (row.agreement, row.difference)
            if found is not None
        )


def ways(
    ours: Judged,
    scoring: ScoringConfig,
    human: FloatArray | None,
    *,
    ablation: bool,
    beside: Sequence[Judged],
    n_boot: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> tuple[SameSamples, ...]:
    """Other ways to score the same samples: what was asked for, each beside what is in use.

    Args:
        ours: What is in use.
        scoring: How it is scored.
        human: Ratings, shape (N,), nan where there is none; or None.
        ablation: Take parts of the method out.
        beside: Other judgements.
        n_boot: Resamples for the interval of each difference.
        seed: Of these.
        groups: What each sample belongs to; None where they stand alone.

    Raises:
        InvalidSampleError: Judgements under another criterion, or of other samples.
    """
    asked = {}
    if ablation:
        asked["Parts of the method taken out"] = parts_taken_out(ours.counts, scoring)
    if beside:
        asked["Other judgements of the same samples"] = in_other_forms(ours, beside, scoring)
    return tuple(
        same_samples(title, scores, scoring, human, n_boot=n_boot, seed=seed, groups=groups)
        for title, scores in asked.items()
    )


def same_samples(
    title: str,
    scores: Mapping[str, FloatArray],
    scoring: ScoringConfig,
    human: FloatArray | None,
    *,
    n_boot: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> SameSamples:
    """Ways to score, beside each other.

    Args:
        title: What differs between them.
        scores: By name, shape (N,) each; nan where there is none. The one in use comes first.
        scoring: Its temperature and threshold.
        human: Ratings, shape (N,), nan where there is none; or None.
        n_boot: Resamples for the interval of each difference.
        seed: Of these.
        groups: As for `ways`.

    Raises:
        InvalidSampleError: No sample has a score of each.
    """
    table = np.stack(list(scores.values()), axis=1)
    common: BoolArray = np.asarray(np.isfinite(table).all(axis=1))
    if not common.any():
        msg = f"no sample has a score of each of {', '.join(scores)}; they are of other samples"
        raise InvalidSampleError(msg)
    table = table[common]
    agreements: Sequence[Interval | None] = [None] * len(scores)
    differences: list[PairedDifference | None] = [None] * len(scores)
    if human is not None:
        ratings = human[common]
        own = None if groups is None else list(compress(groups, common.tolist()))
        drawn: dict[str, Any] = {"n_boot": n_boot, "seed": seed, "groups": own}
        agreements = intervals(_MEASURE, table, ratings, groups=own)
        for place in range(1, len(scores)):
            sides = table[:, place], table[:, 0]
            differences[place] = paired_difference(_MEASURE, *sides, ratings, **drawn)
    passing = (table >= scoring.threshold).mean(axis=0).tolist()
    means = table.mean(axis=0).tolist()
    rows = map(WayRow, scores, means, passing, agreements, differences)
    return SameSamples(title, scoring.temperature, scoring.threshold, len(table), tuple(rows))


def parts_taken_out(counts: FloatArray, scoring: ScoringConfig) -> dict[str, FloatArray]:
    """Scores with parts of the method taken out (paper, section 4.6), by the names of `PARTS`.

    Args:
        counts: Shape (N, J, 5), of several judges fused.
        scoring: Temperature, weights, floor and bounds; the penalty is the paper's where there is one.
    """
    options = scoring.options
    del options["penalty"]
    plans = ablation_plans([scoring.temperature], **options)
    return {
        name: View(plans[part], is_binary=part == "binary")(counts)[:, 0]
        for part, name in PARTS.items()
    }


def in_other_forms(
    ours: Judged, others: Sequence[Judged], scoring: ScoringConfig
) -> dict[str, FloatArray]:
    """Scores of judgements of the same samples, joined by id, by the forms that verdicts were asked for.

    Args:
        ours: What is in use; its samples are the rows.
        others: What is set beside it; a sample that is not among ours is left out.
        scoring: How all are scored.

    Raises:
        InvalidSampleError: They were judged under another criterion.
    """
    for other in others:
        if other.criterion != ours.criterion:
            msg = f"{other.title} stands beside {ours.title}; give judgements under one criterion"
            raise InvalidSampleError(msg)
    every = [ours, *others]
    view = View(make_plan([scoring.temperature], **scoring.options))
    names, found = ours.names, {}
    for label, judged in zip(_labels(every), every, strict=True):
        scores = view(judged.under(scoring.evidence).counts)[:, 0]
        by_name = dict(zip(judged.names, scores.tolist(), strict=True))
        found[label] = np.array([by_name.get(name, np.nan) for name in names])
    return found


def _labels(every: Sequence[Judged]) -> list[str]:
    """A name for each: its forms, with the judge where these are the same, and a number where both are."""
    forms = [" and ".join(judged.forms) or judged.judge for judged in every]
    alike = Counter(forms)
    names = [
        form if alike[form] == 1 or form == judged.judge else f"{form} by {judged.judge}"
        for form, judged in zip(forms, every, strict=True)
    ]
    repeated = Counter(names)
    return [
        name if repeated[name] == 1 else f"{name} #{names[: place + 1].count(name)}"
        for place, name in enumerate(names)
    ]


def _cells(row: WayRow) -> list[str]:
    cells = [row.name, figure(row.mean), share(row.pass_rate)]
    if row.agreement is not None:
        cells.append(interval_cell(row.agreement.value, row.agreement))
        less = row.difference
        cells.append("-" if less is None else _difference(less))
    return cells


def _difference(found: PairedDifference) -> str:
    value = figure(found.delta, signed=True)
    return value if np.isnan(found.low) else f"{value} {ends_text(found, signed=True, digits=2)}"
