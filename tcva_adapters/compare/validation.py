"""A judge against people: agreement, errors, decisions, and what people would say of all samples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.agreement.labels import labels_table, next_to_rate
from tcva_adapters.compare.agreement.mean_rating import mean_ratings
from tcva_adapters.compare.agreement.method_tables import decision_counts
from tcva_adapters.compare.scores.ratings import (
    Scale,
    is_on_scale,
    off_scale,
    passes_from,
)
from tcva_adapters.compare.scores.readers import Human, read_scores
from tcva_adapters.compare.scores.table import ScoreTable, groups_note
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.claims import ClaimVerdict
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.agreement import kappa_of_table
from tcva_adapters.stats.checks import FloatArray, Groups, numbers
from tcva_adapters.stats.describe import TIES, seen
from tcva_adapters.stats.holm import correct_p
from tcva_adapters.stats.inference import Estimate, difference, estimate
from tcva_adapters.tables import (
    Column,
    Record,
    Records,
    Report,
    Table,
    cell,
    counted,
    named_columns,
    shortened,
)

BINS: Final = 10
LEAST_IN_BIN: Final = 10
MOST_VALUES: Final = 30
"""Values of a field beyond which it does not part the samples."""

_FEWEST_NUMBERS: Final = 6
"""Different numbers from which on a field is a number; fewer are names."""
_ALPHA: Final = 0.05


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
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    skip_bad: bool = False,
) -> Report:
    """Hold a judge's scores against human ratings. No call.

    Ratings are laid on the scale of scores, 0 to 1. An error is the score less the rating.

    Args:
        source: What `read_scores` takes, or a `ScoreTable` with ratings.
        human: Where the ratings are, see `read_scores`.
        method: Whose errors are looked at closely; by default the first of the source.
        by: Fields of the metadata that errors may depend on: numbers, or names of parts.
        group: The field of what samples belong to (a document, a conversation): these count as one.
        human_scale: Lowest and highest rating that could be given; by default 0 and 1.
        human_threshold: A rating passes from here on; by default the middle of the scale.
        scoring: The settings of judgements; by default those that they were written with.
        width: An interval's width, to say how many labels it takes.
        rate_next: How many samples are drawn to be rated next.
        largest: How many of the largest errors are listed.
        resamples: Permutations and sign flips of each test.
        level: Of all intervals.
        seed: Of what is drawn.
        skip_bad: Leave out unreadable lines.

    Returns:
        The tables ``agreement`` (of each method; p corrected by Holm for all of them), ``errors``,
        ``decisions`` (precision and recall), ``bins`` (ratings by score), ``factors``, ``by FIELD``,
        ``largest errors``, ``claims`` of these, ``mean rating`` of all samples where only some are
        rated, ``labels`` (how many an interval takes), and ``next``, what to rate next.

    Raises:
        InvalidValueError: No sample has a score and a rating, ratings outside the scale, an unknown
            method or field; see `read_scores` for further ones.
        MissingDependencyError: scipy is not installed.

    >>> counts = np.array([[3, 0, 0, 0, 0], [0, 0, 3, 0, 0], [1, 1, 1, 0, 0]] * 10)
    >>> found = validate(counts, [1.0, 0.5, 0.75] * 10)
    >>> round(found.records("errors")[0]["error"], 3)
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
    name, by = method or table.methods[0], [by] if isinstance(by, str) else by
    at = passes_from(human_threshold, human_scale)
    draws: dict[str, Any] = {
        "level": level,
        "resamples": resamples,
        "seed": seed,
    }
    settings = {
        "method": name,
        "human_scale": human_scale or (0.0, 1.0),
        "human_threshold": at,
    }
    drawn = [next_to_rate(table, name, rate_next, seed)] if rate_next else []
    if drawn and not len(table.rated):
        chosen = (
            f"Drew {counted(len(drawn[0].records), 'sample')} of {len(table)} to rate."
        )
        return Report(chosen, drawn, table.notes, settings | draws)
    view = _View(
        table, name, table.column(name), table.rating, table.groups or None, draws
    )
    view.check()
    means = mean_ratings(view.scores, view.human, view.groups, at, level)
    factors = view.factors(by)
    labels = labels_table({"spearman": view.rho, "error": view.error}, width)
    tables = [view.agreement(), view.errors(), view.decisions(at), *means, factors]
    tables += [*view.values(by), labels, view.bins(), *view.largest(largest), *drawn]
    notes = [*table.notes, *view.notes()]
    return Report(view.sentence(factors, means), tables, notes, settings | draws)


@dataclass(frozen=True)
class _View:
    """A method of a table against its ratings.

    Attributes:
        table: All of it.
        method: Whose errors are looked at.
        scores: Of the method, shape (N,); nan where there is none.
        human: Ratings in [0, 1], likewise.
        groups: What samples belong to; None where they stand alone.
        draws: Level, resamples and seed.
    """

    table: ScoreTable
    method: str
    scores: FloatArray
    human: FloatArray
    groups: Groups
    draws: Mapping[str, Any]

    def check(self) -> None:
        """Refuse a method without ratings, and ratings outside the scale of scores."""
        if not np.isfinite(self.off).any():
            msg = (
                f"no sample has both a score of {self.method!r} and a human rating; name their field "
                "or file with --human, or draw samples to rate with --next 60"
            )
            raise InvalidValueError(msg)
        if not is_on_scale(self.human):
            raise InvalidValueError(off_scale(self.human))

    @property
    def off(self) -> FloatArray:
        """Scores less ratings, nan where either lacks."""
        return self.scores - self.human

    @cached_property
    def rho(self) -> Estimate:
        """Spearman's correlation of scores and ratings."""
        return self._rho(seen(self.scores), self.human)

    @cached_property
    def error(self) -> Estimate:
        """The mean error."""
        return self._error(self.scores)

    def agreement(self) -> Table:
        """Every method's agreement with the ratings."""
        rows: list[Record] = []
        for method, scores in self.table.columns:
            rho = (
                self.rho
                if method == self.method
                else self._rho(seen(scores), self.human)
            )
            mae = self._mean(np.abs(scores - self.human))
            rows.append(_row("method", method, spearman=rho, mae=mae))
        correct_p(rows)
        columns = named_columns(
            method="text",
            n="int",
            spearman="interval",
            p_corrected="p",
            mae="interval",
        )
        return Table(
            "agreement", columns, rows, notes=[*_reasons(rows, "method"), TIES]
        )

    def errors(self) -> Table:
        """The mean error of every method and its size; the sentence has that of a single one."""
        rows: list[Record] = []
        for method, scores in self.table.columns:
            error = self.error if method == self.method else self._error(scores)
            mae = self._mean(np.abs(scores - self.human))
            rows.append(_row("method", method, error=error, mae=mae))
        columns = named_columns(
            method="text",
            n="int",
            error="signed",
            p="p",
            mae="interval",
        )
        notes = _reasons(rows, "method")
        return Table("errors", columns, rows, detail=len(rows) == 1, notes=notes)

    def decisions(self, at: float) -> Table:
        """Precision and recall of passing by score, against passing by rating."""
        threshold = self.table.threshold(self.method)
        both = np.isfinite(self.off)
        ours, theirs = self.scores >= threshold, self.human >= at
        shares = {
            "precision": (theirs, ours),
            "recall": (ours, theirs),
            "same decision": (ours == theirs, both),
            "rating passes": (theirs, both),
        }
        rows: list[Record] = []
        for name, (hits, of) in shares.items():
            values = np.where(both & of, hits, np.nan)
            found = estimate("share", values, self.groups, level=self.draws["level"])
            rows.append(
                {
                    "figure": name,
                    **found.record("value"),
                    "n": found.n,
                }
            )
        kappa = kappa_of_table(decision_counts(ours[both], theirs[both]), "none")
        rows.append(
            {
                "figure": "kappa",
                "value": kappa,
                "n": int(both.sum()),
            }
        )
        columns = named_columns(
            figure="text",
            value="interval",
            n="int",
        )
        note = f"a score passes from {threshold:g}, a rating from {at:g}"
        return Table("decisions", columns, rows, notes=[note])

    def bins(self) -> Table:
        """Ratings by score, in bins of about as many samples; equal scores share one."""
        both, shown = np.isfinite(self.off), seen(self.scores)
        scores, sizes = np.unique(shown[both], return_counts=True)
        least = max(LEAST_IN_BIN, math.ceil(both.sum() / BINS))
        edges, held, left = [0], 0, int(sizes.sum())
        for place, size in enumerate(sizes.tolist(), start=1):
            held, left = held + size, left - size
            if (held >= least and left >= least) or not left:
                edges.append(place)
                held = 0
        rows: list[Record] = []
        for start, stop in pairwise(edges):
            low, high = float(scores[start]), float(scores[stop - 1])
            members = both & (shown >= low) & (shown <= high)
            rating = self._mean(np.where(members, self.human, np.nan))
            score = float(self.scores[members].mean())
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
        columns = named_columns(
            low="score",
            high="score",
            n="int",
            score="score",
            rating="interval",
            error="signed",
        )
        return Table("bins", columns, rows, detail=True)

    def factors(self, by: Sequence[str]) -> Table:
        """What errors go along with, by rank correlation: it is above 0 where scores get too high."""
        rows = [
            _row("factor", name, spearman=self._rho(values, seen(self.off)))
            for name, values in self._numbers(by)
        ]
        correct_p(rows)
        columns = named_columns(
            factor="text",
            n="int",
            spearman="signed",
            p_corrected="p",
        )
        is_found = any(row["p_corrected"] <= _ALPHA for row in rows)
        meaning = (
            "spearman: correlation of the factor with the error (score minus rating)"
        )
        notes = [meaning, *_reasons(rows, "factor")]
        return Table("factors", columns, rows, detail=not is_found, notes=notes)

    def values(self, by: Sequence[str]) -> Iterator[Table]:
        """Mean errors for each value of the fields that hold names."""
        known = np.flatnonzero(np.isfinite(self.off)).tolist()
        for field in by:
            values = self._field(field)
            if _are_numbers(values):
                continue
            names = Counter(str(values[i]) for i in known if values[i] is not None)
            rows: list[Record] = []
            for name, _ in names.most_common(MOST_VALUES):
                members = np.array([v is not None and str(v) == name for v in values])
                own = np.where(members, self.off, np.nan)
                error, mae = self._mean(own), self._mean(np.abs(own))
                row: Record = {
                    "value": name,
                    "n": error.n,
                    "reason": error.reason,
                }
                rows.append(row | error.record("error") | mae.record("mae"))
            columns = named_columns(
                value="text",
                n="int",
                error="signed",
                mae="interval",
            )
            notes = [f"the {MOST_VALUES} largest of {len(names)} values"]
            is_cut = len(names) > MOST_VALUES
            yield Table(f"by {field}", columns, rows, notes=notes if is_cut else ())

    def largest(self, most: int) -> Iterator[Table]:
        """The samples whose scores lie farthest from their ratings, and their claims."""
        places = self._worst(most)
        rows = [
            {
                "sample": self.table.samples[i],
                "score": self.scores[i],
                "rating": self.human[i],
                "error": self.off[i],
            }
            for i in places
        ]
        columns = named_columns(
            sample="text",
            score="score",
            rating="score",
            error="signed",
        )
        yield Table("largest errors", columns, rows, detail=True)
        claims = [
            {
                "sample": self.table.samples[i],
                "verdict": claim.verdict.value if claim.verdict else None,
                "claim": claim.claim,
                "reason": claim.reason,
            }
            for i in places
            for claim in self._claims(i)
        ]
        columns = named_columns(
            sample="text",
            verdict="text",
            claim="prose",
            reason="prose",
        )
        yield Table("claims", columns, claims, detail=True)

    def _worst(self, most: int) -> list[int]:
        """The places of the largest errors."""
        known = np.flatnonzero(np.isfinite(self.off))
        order = np.argsort(-np.abs(self.off[known]), kind="stable")
        places: list[int] = known[order[:most]].tolist()
        return places

    def sentence(self, factors: Table, means: Sequence[Table]) -> str:
        """Agreement, errors and what these depend on, and what people would say of all samples."""
        rho, error = self.rho, self.error
        found = cell(rho.value, "interval", rho.low, rho.high)
        said = f"{self.method}: Spearman {found} with the human ratings, n = {rho.n}."
        if math.isnan(rho.value):
            said = f"{self.method}: Spearman is not defined ({rho.reason})."
        side, ends = "higher", (error.low, error.high)
        if error.value < 0.0:
            side, ends = "lower", (-error.high, -error.low)
        off = cell(abs(error.value), "interval", *ends)
        said += (
            f" Scores are {off} {side} than the ratings on average."
            if abs(error.value) >= 0.0005
            else " Scores equal the ratings on average."
        )
        on = [row["factor"] for row in factors.records if row["p_corrected"] <= _ALPHA]
        said += f" The error depends on {', '.join(dict.fromkeys(on))}." if on else ""
        if means:
            row = means[0].records[0]
            mean = Column("estimate", "interval").cell(row)
            said += (
                f" The estimated mean rating of all {row['samples']} samples is {mean}."
            )
        return said

    def notes(self) -> Iterator[str]:
        """How many samples were left out, and what belongs together."""
        unscored = int((np.isnan(self.scores) & np.isfinite(self.human)).sum())
        if unscored:
            yield f"Left out: {counted(unscored, 'rated sample')} without a score."
        if self.error.groups is not None:
            yield groups_note(self.error.groups)
        largest = [
            f"{shortened(self.table.samples[i], 40)} {cell(self.off[i], 'signed')}"
            for i in self._worst(3)
        ]
        yield f"Largest errors: {', '.join(largest)}."

    def _rho(self, first: FloatArray, second: FloatArray) -> Estimate:
        return estimate(
            "spearman", [first, second], self.groups, test=True, **self.draws
        )

    def _error(self, scores: FloatArray) -> Estimate:
        return difference("mean", scores, self.human, groups=self.groups, **self.draws)

    def _mean(self, values: FloatArray) -> Estimate:
        return estimate("mean", values, self.groups, level=self.draws["level"])

    def _claims(self, place: int) -> Sequence[ClaimVerdict]:
        result = self.table.result(self.method, place)
        return result.seen.claims if isinstance(result, Result) else ()

    def _numbers(self, by: Sequence[str]) -> Iterator[tuple[str, FloatArray]]:
        """What errors may go along with: length and number of claims, the place, fields of numbers."""
        claims = [self._claims(place) for place in range(len(self.table))]
        if any(claims):
            lengths = [sum(len(each.claim) for each in of) or np.nan for of in claims]
            yield "length of claims", np.array(lengths, dtype=np.float64)
            known = [
                sum(each.verdict is not None for each in of) or np.nan for of in claims
            ]
            yield "number of claims", np.array(known, dtype=np.float64)
        yield "line in file", np.arange(len(self.table), dtype=np.float64)
        for field in by:
            values = self._field(field)
            if _are_numbers(values):
                yield field, numbers(field, values)

    def _field(self, field: str) -> list[Any]:
        values = [each.get(field) for each in self.table.metadata]
        if all(value is None for value in values):
            known = ", ".join(
                sorted({key for each in self.table.metadata for key in each})
            )
            msg = f"no sample has {field!r} in its metadata; its fields are {known or 'none'}"
            raise InvalidValueError(msg)
        return values


def _are_numbers(values: Sequence[Any]) -> bool:
    given = {value for value in values if value is not None}
    plain = all(isinstance(v, int | float) and not isinstance(v, bool) for v in given)
    return plain and len(given) >= _FEWEST_NUMBERS


def _row(kind: str, name: str, **figures: Estimate) -> Record:
    """A figure of one thing with its p, and further figures, each with its interval."""
    first = next(iter(figures.values()))
    row: Record = {
        kind: name,
        "n": first.n,
        "p": first.p,
        "reason": first.reason,
    }
    for figure, found in figures.items():
        row |= found.record(figure)
    return row


def _reasons(rows: Records, name: str) -> list[str]:
    """Why there are no intervals, each reason once."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["reason"]:
            found.setdefault(row["reason"], []).append(str(row[name]))
    return [f"{', '.join(dict.fromkeys(of))}: {why}" for why, of in found.items()]
