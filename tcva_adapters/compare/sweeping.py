"""Judgements seen at many settings of the dial: means, and agreement with human ratings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import compress, product
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.calibration.candidates import scheme_text
from tcva_adapters.compare.grouping import group_note
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.judged import Judged, JudgedSource, has_score, in_use
from tcva_adapters.compare.labels import Labels, source_of
from tcva_adapters.compare.sweep_views import View, blocks, means_of
from tcva_adapters.compare.views.interval_text import interval_cell, missing_intervals
from tcva_adapters.compare.views.same_samples import (
    PARTS,
    SameSamples,
    ways,
)
from tcva_adapters.core.aggregation import Floor, Penalty, SchemeLike, make_plan
from tcva_adapters.core.collapse import ablation_plans
from tcva_adapters.core.temperature import Bounds, check_temperature
from tcva_adapters.core.verdicts import SCHEMES, FloatArray, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Table, Tabular
from tcva_adapters.results.config import Config
from tcva_adapters.results.evidence import Evidence
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.bootstrap import AgreementInterval, intervals

TEMPERATURES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

_Named = tuple[str, str, str, str, View]
"""The first fields of a `SweepRow`, and how it is scored."""


@dataclass(frozen=True, slots=True, eq=False)
class SweepRow:
    """One way to score, at every temperature.

    Attributes:
        name: In tables.
        variant: ``full``, or what is taken out of the method.
        scheme: The weights' name.
        penalty: The penalty's.
        means: Of the samples with a score, one per temperature: the sum is exact and rounded once.
        judged: What is scored.
        view: How.
        agreement: Spearman with human ratings, one per temperature; empty where it was not asked
            for.
    """

    name: str
    variant: str
    scheme: str
    penalty: str
    means: tuple[float, ...]
    judged: Judged
    view: View
    agreement: Sequence[AgreementInterval] = ()

    @property
    def scores(self) -> FloatArray:
        """Shape (N, temperatures); nan where there is no score. Computed whenever it is asked for."""
        return np.concatenate([*map(self.view, blocks(self.judged.counts))])


@dataclass(frozen=True, eq=False)
class Sweep(Tabular):
    """Means and agreement over settings.

    Attributes:
        judged: What was judged.
        temperatures: The columns of all scores.
        ablation: Rows of the method and of what is left when parts are taken out; may be empty.
        rows: One for each scheme and penalty.
        human: Where the human ratings are from; None without them.
        unused: What of a configuration does not apply here, in sentences.
        scoring: The settings in use.
        groups: What each sample belongs to, None for one that takes no part; None where they stand
            alone.
        of_groups: How many groups the samples with a score and a rating belong to, in a few words.
        ways: Other ways to score the same samples, at one of the temperatures: parts of the method
            taken out, other forms of verdicts.
    """

    judged: Judged
    temperatures: tuple[float, ...]
    ablation: tuple[SweepRow, ...]
    rows: tuple[SweepRow, ...]
    human: str | None
    unused: tuple[str, ...]
    scoring: ScoringConfig
    ways: tuple[SameSamples, ...]
    groups: Sequence[Hashable] | None = None
    of_groups: str = ""

    @property
    def sentence(self) -> str:
        """How far the dial moves the mean; with human ratings, where it agrees best with them."""
        row, of = self.rows[0], f"{self.judged.scored} of {len(self.judged)} samples"
        setting = f" with {row.scheme} weights" if len(self.rows) > 1 else ""
        if row.agreement:
            values = [found.value for found in row.agreement]
            if np.isnan(values).all():
                return f"Spearman with {self.human!r} is defined at no temperature{setting}"
            best = int(np.nanargmax(values))
            picked = ", picked on these samples" if len(values) > 1 else ""
            return (
                f"Spearman with {self.human!r} is highest at T={self.temperatures[best]:g}: "
                f"{_shown(row.agreement[best])} on {row.agreement[best].n} samples{setting}{picked}"
            )
        at = [
            f"{mean:.3f} at T={t:g}" for t, mean in zip(self.temperatures, row.means, strict=True)
        ]
        ends = at[0] if len(at) == 1 else f"{at[0]} and {at[-1]}"
        return f"The mean score is {ends}{setting}, over {of}"

    def records(self) -> list[dict[str, Any]]:
        """One for each setting, as plain JSON values; a figure that is not defined is None."""
        records = []
        for row in (*self.ablation, *self.rows):
            for i, temperature in enumerate(self.temperatures):
                record: dict[str, Any] = {"temperature": temperature, "variant": row.variant}
                record |= {"scheme": row.scheme, "penalty": row.penalty}
                record |= {"mean_score": row.means[i], "scored": self.judged.scored}
                if row.agreement:
                    record["spearman"] = jsonable(row.agreement[i])
                records.append(record)
        return records

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "sentence": self.sentence,
            **self.judged.to_dict(),
            "human": self.human,
            "groups": self.of_groups or None,
            "rows": self.records(),
            "evidence_view": self.judged.seen,
            "bounds": asdict(self.scoring.bounds),
            "ways": [each.to_dict() for each in self.ways],
        }

    def parts(self) -> Iterator[Part]:
        """What ``tcva sweep`` prints."""
        judged = self.judged
        penalties = " and ".join(dict.fromkeys(row.penalty for row in self.rows))
        yield (
            f"{judged.title}: mean score over {judged.scored} of {len(judged)} assessments; "
            f"penalty {penalties}{self.scoring.unusual_view}"
        )
        yield from judged.evidence.lines()
        for rows in filter(None, (self.ablation, self.rows)):
            yield self._by_temperature(rows, lambda row, i: f"{row.means[i]:.3f}")
        for each in self.ways:
            yield ""
            yield from each.parts()
        if self.human is None:
            return
        first = self.rows[0].agreement[0]
        yield (
            f"\nSpearman with {self.human!r} over {first.n} assessments that have a score and a "
            f"rating, {first.level:.0%} intervals{self.of_groups and f'; {self.of_groups}'}"
        )
        for rows in filter(None, (self.ablation, self.rows)):
            yield self._by_temperature(rows, lambda row, i: _shown(row.agreement[i]))
            yield from missing_intervals(
                (f"{row.name} at T={temperature:g}", found)
                for row in rows
                for temperature, found in zip(self.temperatures, row.agreement, strict=True)
            )

    def _by_temperature(
        self, rows: Sequence[SweepRow], cell: Callable[[SweepRow, int], str]
    ) -> Table:
        several = rows is self.rows and len({row.penalty for row in rows}) > 1
        names = (f"{row.name}, {row.penalty}" if several else row.name for row in rows)
        cells = [
            (f"{temperature:g}", *(cell(row, i) for row in rows))
            for i, temperature in enumerate(self.temperatures)
        ]
        return Table(("T", *names), cells, "r")


def sweep(
    judged: JudgedSource,
    temperatures: Sequence[float | str] = TEMPERATURES,
    *,
    schemes: Sequence[SchemeLike] | Mapping[str, SchemeLike] | None = None,
    penalties: Sequence[Penalty] | None = None,
    eps: float | None = None,
    floor: Floor | None = None,
    bounds: Bounds | Mapping[str, float] | None = None,
    evidence: Evidence | None = None,
    config: Config | str | Path | None = None,
    ablation: bool = False,
    beside: Sequence[JudgedSource] = (),
    human: str | Labels | npt.ArrayLike | None = None,
    group: str | Sequence[Any] | None = None,
    skip_bad: bool = False,
) -> Sweep:
    """Mean scores over temperatures, schemes and penalties, without a call of a model.

    Args:
        judged: What was judged, see `Judged.of`; scores of fused judges are fused.
        temperatures: Numbers or presets.
        schemes: Weight schemes, perhaps by a name for tables; by default the file's, or the
            default one (with ``ablation`` all four).
        penalties: Penalty dialects; by default the file's, or the paper's.
        eps: Floor under the weights; by default the file's, or 1e-9. One above goes with ``always``.
        floor: ``paper`` (exponents up to 0) or ``always``; by default the file's, or the paper's.
        bounds: The exponents at the ends of the scale; by default the file's, or the paper's.
        evidence: ``lower`` or ``off``; by default the file's, or ``lower``.
        config: Settings from a file.
        ablation: Take parts of the method out (A to D), and show the weight schemes; with human
            ratings also what each part adds to the agreement.
        beside: Judgements of the same samples in other forms, or by other judges, joined by id.
        human: A key of the metadata, `Labels`, or human ratings, shape (N,): Spearman's rho with them.
        group: A key of the metadata, or values, shape (N,): intervals are about other such groups then.
        skip_bad: Leave out unreadable lines of a file.

    Raises:
        InvalidValueError: A wrong setting, penalties beside an ablation; as `Judged.of`, `Config.load`.

    >>> found = sweep([[4, 0, 0, 0, 1], [2, 1, 0, 1, 0]], [0.2, 0.5])
    >>> [round(mean, 3) for mean in found.rows[0].means]
    [0.191, 0.72]
    """
    _check(human, group, ablation=ablation, penalties=penalties)
    given = {"eps": eps, "floor": floor, "bounds": bounds, "evidence": evidence}
    dial = in_use(config).changed(**{name: v for name, v in given.items() if v is not None})
    grid = tuple(check_temperature(temperature, dial.bounds) for temperature in temperatures)
    floors: dict[str, Any] = {"eps": dial.eps, "floor": dial.floor, "bounds": dial.bounds}
    in_turn = SCHEMES if ablation and config is None else {dial.scheme.name: dial.scheme}
    weights = _named(schemes or []) or in_turn
    read = Judged.of(judged, skip_bad=skip_bad).under(dial.evidence)
    chosen: Sequence[Penalty] = ["paper"] if ablation else penalties or [dial.penalty]
    views = _ablation(grid, *next(iter(weights.items())), floors) if ablation else []
    for (name, scheme), penalty in product(weights.items(), chosen):
        view = View(make_plan(grid, scheme=scheme, penalty=penalty, **floors))
        views.append((name, "full", name, penalty, view))
    rows = _rows(read, views)
    ratings, groups, of_groups = None, None, ""
    if human is not None:
        ratings = read.ratings(human)
        groups = read.groups(group, ratings)
        measured = partial(intervals, "spearman", human=ratings, groups=groups)
        rows = [replace(row, agreement=measured(row.scores)) for row in rows]
        of_groups = _of_groups(groups, has_score(read.counts) & np.isfinite(ratings))
    first = len(PARTS) if ablation else 0
    said = None if human is None else source_of(human)
    scoring = dial.changed(scheme=next(iter(weights.values())), penalty=chosen[0])
    at = scoring.temperature if scoring.temperature in grid else sorted(grid)[len(grid) // 2]
    parts = ablation and ratings is not None  # else the means by temperature say it all
    others = [Judged.of(each, skip_bad=skip_bad) for each in beside]
    how: dict[str, Any] = {"ablation": parts, "beside": others, "groups": groups}
    return Sweep(
        *(read, grid, tuple(rows[:first]), tuple(rows[first:]), said, read.unused(config), scoring),
        groups=groups,
        of_groups=of_groups,
        ways=ways(read, scoring.changed(temperature=at), ratings, **how),
    )


def _of_groups(groups: Sequence[Hashable] | None, rated: npt.NDArray[np.bool_]) -> str:
    return "" if groups is None else group_note(compress(groups, rated.tolist()))


def _check(
    human: object, group: object, *, ablation: bool, penalties: Sequence[Penalty] | None
) -> None:
    if ablation and penalties:
        msg = "an ablation has the penalty paper and none of its own; leave --penalty out"
        raise InvalidValueError(msg)
    if group is not None and human is None:
        msg = "groups are what intervals are about: give human ratings, too (--human, --labels)"
        raise InvalidValueError(msg)


def _rows(read: Judged, views: Sequence[_Named]) -> list[SweepRow]:
    means = means_of(read.counts, [view for *_, view in views])
    return [
        SweepRow(name, variant, scheme, penalty, tuple(of), read, view)
        for (name, variant, scheme, penalty, view), of in zip(views, means, strict=True)
    ]


def _named(schemes: Sequence[SchemeLike] | Mapping[str, SchemeLike]) -> dict[str, WeightScheme]:
    if isinstance(schemes, Mapping):
        return {name: WeightScheme.resolve(scheme) for name, scheme in schemes.items()}
    return {scheme_text(scheme): scheme for scheme in map(WeightScheme.resolve, schemes)}


def _ablation(
    grid: Sequence[float], name: str, scheme: WeightScheme, floors: Mapping[str, Any]
) -> list[_Named]:
    plans = ablation_plans(grid, scheme=scheme, **floors)
    rows: list[_Named] = []
    for variant, title in PARTS.items():
        weights = "default" if variant == "binary" else name
        penalty = "off" if variant == "without_penalty" else "paper"
        view = View(plans[variant], is_binary=variant == "binary")
        rows.append((title, variant, weights, penalty, view))
    return rows


def _shown(found: AgreementInterval) -> str:
    return "not defined" if np.isnan(found.value) else interval_cell(found.value, found)
