"""How well each CCRS metric agrees with human ratings; the source of the metrics left that open."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import numpy as np

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.ccrs.summary import CCRSSummary
from tcva_adapters.compare.graded import case_name
from tcva_adapters.compare.grouping import NO_P_BY_GROUPS, group_note, group_of
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.labels import Labels, source_of
from tcva_adapters.compare.ratings import human_ratings
from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.compare.views.human_ratings import no_common_scale
from tcva_adapters.compare.views.interval_text import interval_cell, missing_intervals
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Table, Tabular, Wrapped, counted, figure
from tcva_adapters.stats.bootstrap import AgreementInterval, intervals
from tcva_adapters.stats.correlation import MEASURES, Measure
from tcva_adapters.stats.correlation_test import correlation_test
from tcva_adapters.stats.holm import holm

_COMPOSITE: Final = "composite"
_LEADING: Final[Measure] = "spearman"


@dataclass(frozen=True, slots=True, eq=False)
class RatedCCRS(Tabular):
    """Ratings by the metrics, and what they have to do with those by people.

    Attributes:
        summary: The metrics alone.
        table: Their scores, the composite's where there is one, and the human ratings.
        human: Where these are from.
        agreements: By measure, one interval for each metric of the table, on the samples that have
            its score and a human rating.
        p_holm: By metric, Spearman's p against no agreement (`correlation_test`), adjusted for all of
            the metrics (Holm 1979); nan where it is not defined, and with groups.
        left_out: Measures that were left out, with the reason.
        groups: What each sample of the table belongs to; None where they stand alone.
    """

    summary: CCRSSummary
    table: ScoreTable
    human: str
    agreements: dict[Measure, tuple[AgreementInterval, ...]]
    p_holm: tuple[float, ...]
    left_out: tuple[tuple[Measure, str], ...]
    groups: tuple[Hashable, ...] | None = None

    @property
    def sentence(self) -> str:
        """The mean of each metric, and which agrees best with the human ratings."""
        found = self.agreements[_LEADING]
        values = np.array([one.value for one in found])
        if np.isnan(values).all():
            best = f"Spearman with {self.human!r} is defined for none"
        else:
            place = int(np.nanargmax(values))
            best = (
                f"the highest Spearman with {self.human!r} of the {len(found)} is that of "
                f"{self.table.methods[place]}: {_cell(found[place])} on "
                f"{counted(found[place].n, 'sample')}"
            )
        return f"{self.summary.sentence}; {best}"

    @property
    def _of_groups(self) -> str:
        """How many groups the rated samples belong to; empty where they stand alone."""
        if self.groups is None or self.table.human is None:
            return ""
        return group_note(compress(self.groups, np.isfinite(self.table.human).tolist()))

    def records(self) -> list[dict[str, Any]]:
        """A row for each metric and measure, as plain JSON values."""
        return [
            {"metric": name, **jsonable(one)}
            for found in self.agreements.values()
            for name, one in zip(self.table.methods, found, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON: those of the summary, and the agreement under ``human``."""
        agreement = {
            measure: dict(zip(self.table.methods, map(jsonable, found), strict=True))
            for measure, found in self.agreements.items()
        }
        human = {
            "source": self.human,
            "agreement": agreement,
            "p_holm": jsonable(dict(zip(self.table.methods, self.p_holm, strict=True))),
            "left_out": dict(self.left_out),
            "groups": self._of_groups or None,
        }
        return {**self.summary.to_dict(), "sentence": self.sentence, "human": human}

    def parts(self) -> Iterator[Part]:
        """What ``tcva ccrs --human`` prints."""
        yield from self.summary.parts()
        first = self.agreements[_LEADING][0]
        yield ""
        yield Wrapped(
            f"agreement with human ratings ({self.human}), {first.level:.0%} intervals; n: samples "
            f"that have both; p: of Spearman, against no agreement, corrected by Holm"
        )
        if self.groups is not None:
            yield Wrapped(f"{self._of_groups}; {NO_P_BY_GROUPS}", indent=2)
        columns = [list(map(_cell, found)) for found in self.agreements.values()]
        sizes = [str(one.n) for one in self.agreements[_LEADING]]
        ps = [figure(p, 4) for p in self.p_holm]
        rows = list(zip(self.table.methods, sizes, *columns, ps, strict=True))
        # A narrow console does without Kendall's tau, which says nearly what Spearman's rho says.
        spare = [place for place, name in enumerate(self.agreements, start=2) if name == "kendall"]
        yield Table(("metric", "n", *self.agreements, "p"), rows, "lr", spare=spare)
        yield from missing_intervals(
            (f"{name} ({measure})", one)
            for measure, found in self.agreements.items()
            for name, one in zip(self.table.methods, found, strict=True)
        )
        for measure, why in self.left_out:
            yield Wrapped(f"no {measure}: {why}", indent=2)


def rated_ccrs(summary: CCRSSummary, human: str | Labels, group: str | None = None) -> RatedCCRS:
    """Set what the metrics say beside human ratings of the same samples.

    Args:
        summary: With its results.
        human: A key of the samples' metadata, or `Labels`.
        group: The key of what samples belong to: intervals are about other such groups then.

    Raises:
        InvalidSampleError: A sample belongs to no group.
        InvalidValueError: The results were not held, no sample has a rating, or a value is none.
        MissingDependencyError: scipy is not installed.
    """
    if len(summary.results) != summary.samples:
        msg = f"the summary holds {len(summary.results)} of {summary.samples} results; sum up the results"
        raise InvalidValueError(msg)
    names, columns, ratings = _columns(summary, human)
    table = ScoreTable(names, tuple(columns), np.stack([*columns.values()], axis=1), ratings)
    groups = None
    if group is not None:
        about = zip(summary.results, names, strict=True)
        groups = tuple(group_of(result.metadata, group, name) for result, name in about)
    why = no_common_scale(table)
    wanted = [measure for measure in MEASURES if measure != "mae" or not why]
    found: dict[Measure, tuple[AgreementInterval, ...]] = {
        measure: tuple(intervals(measure, table.scores, ratings, groups=groups))
        for measure in wanted
    }
    left_out: tuple[tuple[Measure, str], ...] = (("mae", why),) if why else ()
    ps = (math.nan,) * len(columns) if groups is not None else _adjusted(table, ratings)
    return RatedCCRS(summary, table, source_of(human), found, ps, left_out, groups)


def _adjusted(table: ScoreTable, ratings: FloatArray) -> tuple[float, ...]:
    """A p for each metric; what cannot be tested is no hypothesis that others must allow for."""
    ps = np.array(
        [correlation_test(_LEADING, scores, ratings).p_two_sided for scores in table.scores.T]
    )
    tested = ~np.isnan(ps)
    ps[tested] = holm(ps[tested])
    return tuple(ps.tolist())


def _cell(found: AgreementInterval) -> str:
    return interval_cell(found.value, found)


def _columns(
    summary: CCRSSummary, human: str | Labels
) -> tuple[tuple[str, ...], dict[str, FloatArray], FloatArray]:
    """Names, scores by metric, and human ratings of the samples."""
    results: Sequence[CCRSResult] = summary.results
    scores: dict[str, list[float]] = {name: [] for name in summary.metrics}
    if summary.has_composite:
        scores[_COMPOSITE] = []
    names = []
    for place, result in enumerate(results, start=1):
        found = dict(result.scores)
        if summary.has_composite:
            found[_COMPOSITE] = summary.composite_of(result).score
        names.append(case_name(result, place))
        for name, column in scores.items():
            score = found[name]
            column.append(np.nan if score is None else score)
    if isinstance(human, Labels):
        by_name = human.of(names)
        ratings = np.array([by_name.get(name, np.nan) for name in names])
    else:
        ratings = human_ratings((result.metadata for result in results), human)
    return tuple(names), {name: np.array(column) for name, column in scores.items()}, ratings
