"""Several human raters: how far they agree, and how good that lets a method get."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.agreement import alpha_text
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.printing import Part, Report, Table, Wrapped, counted, figure, short
from tcva_adapters.stats.alpha import FEW_UNITS, Alpha, krippendorff_alpha
from tcva_adapters.stats.ceiling import CORRELATED, Ceiling, Correlated, ceiling
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.interval import Interval


@dataclass(frozen=True, slots=True, repr=False)
class Raters(Report):
    """The raters behind mean human ratings.

    Attributes:
        names: One per rater.
        methods: Those that were held against them.
        alpha: Krippendorff's, on the interval scale: their mean is taken, so ratings are numbers.
        ceiling: Their correlations, and what these let the methods reach.
        notes: What a reader must know beside the figures, in sentences.
    """

    names: tuple[str, ...]
    methods: tuple[str, ...]
    alpha: Alpha
    ceiling: Ceiling
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        raters: Mapping[str, Mapping[str, float]],
        table: ScoreTable,
        *,
        objective: Measure = "spearman",
        level: float = 0.95,
        groups: Sequence[object] | None = None,
    ) -> Raters:
        """The agreement of these raters, and methods' correlations corrected for it.

        Args:
            raters: Ratings by sample id, of each rater by name, two or more.
            table: The methods' scores.
            objective: The primary measure; with ``kendall`` and ``mae``, which cannot be
                corrected, the figures are Spearman's.
            level: Of the intervals.
            groups: One per sample of the table, to leave out whole groups.

        Raises:
            InvalidValueError: Fewer than two raters, or groups that do not fit.
            MissingDependencyError: scipy is not installed.
        """
        rows = [
            [ratings.get(name, math.nan) for name in table.samples] for ratings in raters.values()
        ]
        ratings = np.array(rows)
        measure: Correlated = "pearson" if objective == "pearson" else "spearman"
        notes = []
        if objective not in CORRELATED:
            notes.append(
                f"{objective} cannot be corrected for raters: these are {measure}'s figures"
            )
        spans = {
            name: float(np.ptp(row[np.isfinite(row)])) if np.isfinite(row).any() else 0.0
            for name, row in zip(raters, ratings, strict=True)
        }
        for name, span in spans.items():
            if span == 0.0:
                notes.append(f"{name} gave one rating throughout, which correlates with nothing")
        wide = [span for span in spans.values() if span > 0.0]
        if wide and max(wide) > _SCALES * min(wide):
            notes.append("raters seem to use different scales, and their mean is taken as it is")
        return cls(
            names=tuple(raters),
            methods=table.methods,
            alpha=krippendorff_alpha(ratings, "interval", groups=groups, level=level),
            ceiling=ceiling(measure, ratings.T, table.scores, level=level, groups=groups),
            notes=tuple(notes),
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values; what is not defined is None."""
        values: dict[str, Any] = jsonable(self)
        found = values["ceiling"]
        found["between"] = jsonable(self.ceiling.between)
        found["methods"] = dict(zip(self.methods, found["methods"], strict=True))
        for pair in found["pairs"]:
            pair |= {end: self.names[pair[end]] for end in ("first", "second")}
        return values

    @property
    def sentence(self) -> str:
        """How far the raters agree, and what a method could reach."""
        found = self.ceiling
        correlations = [pair.value for pair in found.pairs if not math.isnan(pair.value)]
        if not correlations:
            return (
                f"how far {len(self.names)} raters agree cannot be told by {_NAMES[found.measure]}"
            )
        ends = f"{figure(min(correlations), 2)} to {figure(max(correlations), 2)}"
        between = figure(correlations[0], 2) if len(correlations) == 1 else ends
        return (
            f"{len(self.names)} raters agree by {_NAMES[found.measure]} {between} in pairs, alpha "
            f"{alpha_text(self.alpha)}; with their mean, one more rater reaches "
            f"{_text(found.one_more)}, a method that gives the truth {_text(found.best)}"
        )

    def brief(self) -> Iterator[Part]:
        """What is odd, and why there are no intervals."""
        if reason := self.ceiling.best.reason:
            yield Wrapped(f"no intervals of these: {reason}", indent=2)
        elif self.alpha.reason:
            yield Wrapped(f"no interval of alpha: {self.alpha.reason}", indent=2)
        for note in self.notes:
            yield Wrapped(note, indent=2)

    def parts(self) -> Iterator[Part]:
        """Every pair of raters, and each method corrected for their errors."""
        found = self.ceiling
        yield from self.brief()
        if self.alpha.is_few:
            yield Wrapped(f"{counted(self.alpha.n, 'sample')} with two ratings: {_FEW}", 2)
        rows = [
            (self.names[p.first], self.names[p.second], str(p.n), figure(p.value))
            for p in found.pairs
        ]
        yield Table(("rater", "and", "n", found.measure), rows, "llr")
        yield ""
        methods = [
            (
                name,
                figure(one.with_mean),
                _text(one.corrected),
                figure(one.as_rater),
                _text(one.ahead, signed=True),
            )
            for name, one in zip(self.methods, found.methods, strict=True)
        ]
        ceilings = [
            ("one more rater", "-", "-", figure(found.one_more.value), "-"),
            ("the truth", figure(found.best.value), "1", "-", "-"),
        ]
        header = ("method", "mean", "corrected", "others", "ahead")
        yield Table(header, [*methods, *ceilings], "lr")
        yield Wrapped(
            f"{_NAMES[found.measure]} with the mean of the raters; corrected: with error-free ratings "
            "(Spearman-Brown); others: with the mean of all raters but one, in turn; ahead: of what "
            "that one reaches",
            indent=2,
        )


_NAMES: Final[dict[Correlated, str]] = {"spearman": "Spearman's rho", "pearson": "Pearson's r"}
_SCALES: Final = 3.0
"""How many times as wide one rater's ratings may spread as another's."""
_FEW: Final = f"below {FEW_UNITS} alpha hangs on one or two of them"


def _text(one: Interval, *, signed: bool = False) -> str:
    if math.isnan(one.value):
        return "not defined"
    value, low, high = (
        (f"{'+' * (signed and each >= 0)}{short(each, digits)}")
        for each, digits in ((one.value, 3), (one.low, 2), (one.high, 2))
    )
    return value if math.isnan(one.low) else f"{value} [{low},{high}]"
