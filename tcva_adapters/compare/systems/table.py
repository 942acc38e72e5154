"""Scores of several systems on the same queries: from tidy rows to one matrix per metric."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.stats.checks import FloatArray, group_codes, one_of

_AT_TEMPERATURE: Final = re.compile(r"(?P<base>.*\S) T=(?P<temperature>\d+(\.\d+)?)")


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One score.

    Attributes:
        system: What was measured, e.g. a configuration of an assistant.
        query: The id of the question, the same for every system.
        metric: What was measured about it.
        score: None where there is none.
        judge: Who measured it, where that is known.
        group: What the query belongs to, where that was asked for.
    """

    system: str
    query: str
    metric: str
    score: float | None
    judge: str = ""
    group: Hashable = None


@dataclass(frozen=True, eq=False)
class SystemTable:
    """All scores.

    Attributes:
        systems: Names, in the order of their first row.
        queries: Ids, likewise.
        metrics: Names, likewise.
        scores: Shape (metrics, queries, systems); nan where there is no score.
        notes: What has to be known about them, in sentences; without the gaps.
        groups: What each query belongs to (a document); None where they stand alone.

    >>> rows = [SystemRow("a", "q1", "f", 0.5), SystemRow("b", "q1", "f", None)]
    >>> SystemTable.of(rows).scores.tolist()
    [[[0.5, nan]]]
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: FloatArray
    notes: tuple[str, ...] = ()
    groups: tuple[Hashable, ...] | None = None

    @classmethod
    def of(cls, rows: Iterable[SystemRow]) -> SystemTable:
        """From tidy rows, at most one per system, query and metric.

        Raises:
            InvalidValueError: Two rows for one of them, or a query in two groups.
            InvalidSampleError: No row at all.
        """
        cells: dict[tuple[str, str, str], float] = {}
        groups: dict[str, Hashable] = {}
        for row in rows:
            if groups.setdefault(row.query, row.group) != row.group:
                msg = (
                    f"query {row.query!r} belongs to {groups[row.query]!r} and to {row.group!r}; give "
                    "it the same group in all systems and metrics"
                )
                raise InvalidValueError(msg)
            cell = (row.metric, row.query, row.system)
            if cell in cells:
                msg = (
                    f"two scores of system {row.system!r} for query {row.query!r} under "
                    f"{row.metric!r}; leave one out, or give the systems names of their own "
                    "(NAME=FILE)"
                )
                raise InvalidValueError(msg)
            cells[cell] = np.nan if row.score is None else float(row.score)
        if not cells:
            msg = "there are no scores to compare"
            raise InvalidSampleError(msg)
        names = [tuple(dict.fromkeys(cell[axis] for cell in cells)) for axis in range(3)]
        places = [{name: i for i, name in enumerate(axis)} for axis in names]
        scores = np.full([len(axis) for axis in names], np.nan)
        for cell, score in cells.items():
            scores[tuple(place[name] for place, name in zip(places, cell, strict=True))] = score
        metrics, queries, systems = names
        known = tuple(groups[query] for query in queries)
        return cls(systems, queries, metrics, scores, groups=None if known[0] is None else known)

    def only(self, metrics: Sequence[str]) -> SystemTable:
        """The same with some of the metrics; ``faithfulness`` takes it at every temperature.

        Raises:
            InvalidValueError: There is no such metric.
        """
        kept: dict[str, None] = {}
        for wanted in metrics:
            found = [m for m in self.metrics if wanted in (m, at_temperature(m)[0])]
            if not found:
                msg = f"no metric {wanted!r}; there are {', '.join(self.metrics)}"
                raise InvalidValueError(msg)
            kept |= dict.fromkeys(found)
        places = [self.metrics.index(metric) for metric in kept]
        return replace(self, metrics=tuple(kept), scores=self.scores[places])

    def metric(self, name: str) -> FloatArray:
        """One metric's scores, shape (queries, systems), without queries that nobody has.

        Raises:
            InvalidValueError: There is no such metric.
        """
        one_of("metric", name, self.metrics)
        scores = self.scores[self.metrics.index(name)]
        kept: FloatArray = scores[~np.isnan(scores).all(axis=1)]
        return kept

    def by_group(self, name: str) -> tuple[FloatArray, int]:
        """One metric by group: a row for each, whose columns have the means of the queries.

        A row is the sum over the group's queries, scaled. If systems do not differ, they might as
        well have changed places in all queries of a group at once, so a test may shuffle these rows
        as it shuffles those of queries, and its differences are those of the means. Only queries that
        all systems have a score for take part: sums must be of the same ones.

        Returns:
            Shape (groups, systems), perhaps of no group; and how many queries were left out.

        Raises:
            InvalidValueError: There is no such metric.
        """
        one_of("metric", name, self.metrics)
        scores = self.scores[self.metrics.index(name)]
        whole = np.isfinite(scores).all(axis=1)
        left_out = int(np.count_nonzero(np.isfinite(scores).any(axis=1) & ~whole))
        if self.groups is None or not whole.any():
            return scores[whole], left_out
        codes = group_codes(self.groups, whole)
        sums = np.zeros((codes.max() + 1, len(self.systems)))
        np.add.at(sums, codes, scores[whole])
        return sums * (len(sums) / np.count_nonzero(whole)), left_out

    def gaps(self) -> list[str]:
        """What is missing, in sentences: gaps change what a comparison of means compares."""
        gaps: dict[tuple[str, str], list[str]] = {}
        for metric in self.metrics:
            scores = self.metric(metric)
            lacking = zip(self.systems, np.isnan(scores).sum(axis=0).tolist(), strict=True)
            missing = ", ".join(f"{system} {number}" for system, number in lacking if number)
            if missing:
                note = f"of {len(scores)} queries, some have no score: {missing}"
                gaps.setdefault((at_temperature(metric)[0], note), []).append(metric)
        # A judgement without a score has none at any temperature: once is enough.
        return [
            f"{base if len(metrics) > 1 else metrics[0]}: {note}"
            for (base, note), metrics in gaps.items()
        ]


def at_temperature(metric: str) -> tuple[str, float | None]:
    """A metric's name without its temperature, and the temperature.

    >>> at_temperature("faithfulness T=0.5"), at_temperature("qr")
    (('faithfulness', 0.5), ('qr', None))
    """
    found = _AT_TEMPERATURE.fullmatch(metric)
    return (metric, None) if found is None else (found["base"], float(found["temperature"]))
