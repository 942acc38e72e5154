"""Compare one method with its ratings: agreement, errors and their factors, decisions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcva_adapters.compare.agreement.method_tables import figure_row, reason_notes
from tcva_adapters.compare.agreement.rated_decisions import AUC_NOTE, rated_decisions
from tcva_adapters.compare.scores.ratings import check_on_scale
from tcva_adapters.compare.scores.table import ScoreTable, groups_note
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.result import Result
from tcva_adapters.stats.checks import FloatArray, Groups, IntArray, numbers
from tcva_adapters.stats.describe import TIES, mean, seen
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.holm import correct_p
from tcva_adapters.stats.inference import Statistic, estimate
from tcva_adapters.tables import (
    Table,
    cell,
    counted,
    named_columns,
    shortened,
)

ALPHA = 0.05
BINS = 10
MIN_IN_BIN = 10
MAX_VALUES = 30
"""The most values of a field that a table shows."""

_MIN_NUMBERS = 6
"""The fewest different numbers that make a field numeric; fewer count as names."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedMethod:
    """A method of a table, to compare with its ratings.

    Attributes:
        table: The whole table.
        method: The method whose errors are analysed.
        scores: The method's scores, shape (N,); nan where there is none.
        human: Ratings in [0, 1], shape (N,); nan where there is none.
        groups: The group of each sample; None where there are no groups.
        level: Level of all intervals.
        resamples: Resamples of each test.
        seed: Seed of the resamples.
    """

    table: ScoreTable
    method: str
    scores: FloatArray
    human: FloatArray
    groups: Groups
    level: float
    resamples: int
    seed: int

    def __post_init__(self) -> None:
        """Refuse a method without ratings, and ratings outside the scale of scores."""
        if not np.isfinite(self.errors).any():
            raise InvalidValueError(
                f"no sample has both a score of {self.method!r} and a human rating; name their field "
                "or file with --human, or draw samples to rate with --next 60"
            )
        check_on_scale(self.human)

    @property
    def errors(self) -> FloatArray:
        """Scores minus ratings; nan where either is missing."""
        return self.scores - self.human

    def figure(
        self, statistic: Statistic, scores: FloatArray, other: FloatArray | None = None
    ) -> Estimate:
        """Estimate and test a figure of scores and another column, by default the ratings."""
        return estimate(
            statistic,
            [scores, self.human if other is None else other],
            self.groups,
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
            test=True,
        )

    def methods(
        self, rhos: Mapping[str, Estimate], errors: Mapping[str, Estimate]
    ) -> list[Table]:
        """Tabulate every method's agreement with the ratings, and its errors."""
        agreement_rows = []
        error_rows = []
        for method, scores in self.table.columns:
            mae = self.figure("mae", scores)
            agreement_rows.append(
                {"method": method, **figure_row(spearman=rhos[method], mae=mae)}
            )
            error_rows.append(
                {"method": method, **figure_row(error=errors[method], mae=mae)}
            )
        correct_p(agreement_rows)
        return [
            Table(
                "agreement",
                named_columns(
                    "method",
                    n="int",
                    spearman="interval",
                    p_corrected="p",
                    mae="interval",
                ),
                agreement_rows,
                notes=[*reason_notes(agreement_rows, "method"), TIES],
            ),
            Table(
                "errors",
                named_columns("method", n="int", error="signed", p="p", mae="interval"),
                error_rows,
                detail=True,
                notes=reason_notes(error_rows, "method"),
            ),
        ]

    def decisions(self, passes_at: float) -> Table:
        """Tabulate how passing by score agrees with passing by rating."""
        figures = rated_decisions(self.table, self.method, passes_at, self.level)
        rows = [
            {"figure": name.replace("_", " "), **figure_row(value=figure)}
            for name, figure in figures.items()
        ]
        threshold = self.table.threshold(self.method)
        return Table(
            "decisions",
            named_columns("figure", value="interval", n="int"),
            rows,
            notes=[
                f"a score passes from {threshold:g}, a rating from {passes_at:g}",
                AUC_NOTE,
                *reason_notes(rows, "figure"),
            ],
        )

    def bins(self) -> Table:
        """Tabulate mean ratings by score, in bins of about equal size; equal scores share a bin."""
        both = np.isfinite(self.errors)
        shown = seen(self.scores)
        scores, sizes = np.unique(shown[both], return_counts=True)
        total = sizes.sum()
        least = max(MIN_IN_BIN, math.ceil(total / BINS))
        rows = []
        first = 0
        done = 0
        for last, reached in enumerate(np.cumsum(sizes)):
            is_full = reached - done >= least and total - reached >= least
            if not is_full and reached < total:
                continue
            low = scores[first]
            high = scores[last]
            first = last + 1
            done = reached
            members = both & (shown >= low) & (shown <= high)
            ratings = np.where(members, self.human, np.nan)
            rating = estimate("mean", ratings, self.groups, level=self.level)
            score = mean(self.scores[members])
            rows.append(
                {
                    "low": low,
                    "high": high,
                    "n": rating.n,
                    "score": score,
                    **rating.record("rating"),
                    "error": score - rating.value,
                }
            )
        return Table(
            "bins",
            named_columns(
                low="score",
                high="score",
                n="int",
                score="score",
                rating="interval",
                error="signed",
            ),
            rows,
            detail=True,
        )

    def factors(self, fields: Sequence[str]) -> Table:
        """Tabulate rank correlations of factors with errors; above 0, both rise together."""
        errors = seen(self.errors)
        rows = [
            {
                "factor": name,
                **figure_row(spearman=self.figure("spearman", values, errors)),
            }
            for name, values in self._factors(fields)
        ]
        correct_p(rows)
        return Table(
            "factors",
            named_columns("factor", n="int", spearman="signed", p_corrected="p"),
            rows,
            detail=not any(row["p_corrected"] <= ALPHA for row in rows),
            notes=[
                "spearman: correlation of the factor with the error (score minus rating)",
                *reason_notes(rows, "factor"),
            ],
        )

    def values(self, fields: Sequence[str]) -> Iterator[Table]:
        """Tabulate the mean errors for each value of the fields that hold names."""
        known = np.isfinite(self.errors)
        for field in fields:
            values = self._field(field)
            if _are_numbers(values):
                continue
            names = np.array(
                [value if value is None else str(value) for value in values],
                dtype=object,
            )
            sizes = Counter(names[known])
            del sizes[None]
            rows = []
            for name, _ in sizes.most_common(MAX_VALUES):
                scores = np.where(names == name, self.scores, np.nan)
                error = self.figure("error", scores)
                figures = figure_row(error=error, mae=self.figure("mae", scores))
                rows.append({"value": name, **figures})
            notes = []
            if len(sizes) > MAX_VALUES:
                notes.append(f"the {MAX_VALUES} largest of {len(sizes)} values")
            yield Table(
                f"by {field}",
                named_columns("value", n="int", error="signed", mae="interval"),
                rows,
                notes=notes,
            )

    def largest(self, most: int) -> Iterator[Table]:
        """List the samples whose scores lie farthest from their ratings, and their claims."""
        rows = []
        claims = []
        for place in self._farthest(most):
            sample = self.table.samples[place]
            rows.append(
                {
                    "sample": sample,
                    "score": self.scores[place],
                    "rating": self.human[place],
                    "error": self.errors[place],
                }
            )
            claims += [
                {
                    "sample": sample,
                    "verdict": claim.verdict.value if claim.verdict else None,
                    "claim": claim.claim,
                    "reason": claim.reason,
                }
                for claim in self._claims(place)
            ]
        yield Table(
            "largest errors",
            named_columns("sample", score="score", rating="score", error="signed"),
            rows,
            detail=True,
        )
        yield Table(
            "claims",
            named_columns("sample", "verdict", claim="prose", reason="prose"),
            claims,
            detail=True,
        )

    def _farthest(self, most: int) -> IntArray:
        """Return the rows of the largest errors, the largest first."""
        sizes = np.abs(self.errors)
        order = np.argsort(-sizes, kind="stable")[: np.isfinite(sizes).sum()]
        return order[:most]

    def notes(self, error: Estimate) -> Iterator[str]:
        """Note rated samples without a score, groups, and the largest errors."""
        unscored = (np.isnan(self.scores) & np.isfinite(self.human)).sum()
        if unscored:
            yield f"Left out: {counted(unscored, 'rated sample')} without a score."
        if error.groups is not None:
            yield groups_note(error.groups)
        largest = [
            f"{shortened(self.table.samples[place], 40)} {cell(self.errors[place], 'signed')}"
            for place in self._farthest(3)
        ]
        yield f"Largest errors: {', '.join(largest)}."

    def _claims(self, place: int) -> Sequence[ClaimVerdict]:
        result = self.table.result(self.method, place)
        return result.seen.claims if isinstance(result, Result) else ()

    def _factors(self, fields: Sequence[str]) -> Iterator[tuple[str, FloatArray]]:
        """Yield factors of errors: length and number of claims, numeric fields."""
        samples = [self._claims(place) for place in range(len(self.table))]
        if any(samples):
            lengths = [sum(len(c.claim) for c in claims) for claims in samples]
            yield "length of claims", _nan_for_0(lengths)
            judged = [sum(c.verdict is not None for c in claims) for claims in samples]
            yield "number of claims", _nan_for_0(judged)
        for field in fields:
            values = self._field(field)
            if _are_numbers(values):
                yield field, numbers(field, values)

    def _field(self, field: str) -> list[Any]:
        values = [metadata.get(field) for metadata in self.table.metadata]
        if all(value is None for value in values):
            known = set().union(*self.table.metadata)
            names = ", ".join(sorted(known)) or "none"
            raise InvalidValueError(
                f"no sample has {field!r} in its metadata; its fields are {names}"
            )
        return values


def _nan_for_0(values: Sequence[int]) -> FloatArray:
    return np.array([value or np.nan for value in values], dtype=np.float64)


def _are_numbers(values: Sequence[Any]) -> bool:
    known = {value for value in values if value is not None}
    are_numeric = all(
        isinstance(value, int | float) and not isinstance(value, bool)
        for value in known
    )
    return are_numeric and len(known) >= _MIN_NUMBERS
