"""Several methods on the same samples, in figures: each alone, in pairs, and against human ratings.

Nothing here calls a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.grouping import NO_P_BY_GROUPS, group_note
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.compare.views.decisions import resolve_thresholds
from tcva_adapters.compare.views.describe import (
    Difference,
    MethodSummary,
    PairSummary,
    compare_pairs,
    describe,
    differences,
)
from tcva_adapters.compare.views.human_ratings import HumanRatings, compare_with_ratings
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.printing import counted
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.enough import LEAST_SAMPLES

FEW: Final = 30
"""Human ratings below which intervals are hardly of use."""


@dataclass(frozen=True, slots=True)
class TableSummary:
    """All figures of a table of scores.

    Attributes:
        samples: Samples in the table.
        common: Samples that every method has scored.
        methods: Each method alone, in the table's order.
        pairs: Each pair of methods, on the samples that both have scored.
        differences: The samples on which two methods differ most.
        human_ratings: The methods against human ratings; None without them.
        n_boot: Resamples per interval and test.
        level: Of the intervals.
        seed: Of the resamples.
        notes: What a reader must know beside the figures, in sentences.
    """

    samples: int
    common: int
    methods: tuple[MethodSummary, ...]
    pairs: tuple[PairSummary, ...]
    differences: tuple[Difference, ...]
    human_ratings: HumanRatings | None
    n_boot: int
    level: float
    seed: int
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; figures that are undefined are None."""
        whole: dict[str, Any] = jsonable(self)
        for entry, pair in zip(whole["pairs"], self.pairs, strict=True):
            entry["decisions"] = pair.decisions.to_dict()
        return whole


def summarise_table(
    table: ScoreTable,
    *,
    rows: Iterable[Row] | None = None,
    thresholds: Mapping[str, float] | None = None,
    views: Sequence[str] = (),
    objective: Measure = "spearman",
    reference: str | None = None,
    margin: float | None = None,
    n_boot: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    groups: Sequence[object] | None = None,
    most: int = 10,
) -> TableSummary:
    """Describe the methods of a table, compare them in pairs, and with human ratings if there are any.

    Args:
        table: Scores, and human ratings where there are some.
        rows: The tidy rows that the table was made of, for the reasons of missing scores.
        thresholds: A method's score passes from here on; 0.5 where none is given.
        views: Methods that are views of one judgement (TCVA at several temperatures): the samples
            on which these differ from each other are not listed.
        objective: The primary measure, by which methods are tested: ``spearman``, ``kendall``,
            ``pearson`` or ``mae``. Chosen before looking.
        reference: The method that the others are tested against; by default the best one.
        margin: A difference that would matter: methods that differ less are as good as the reference.
        n_boot: Resamples per interval and test.
        level: Of the intervals.
        seed: Of the resamples.
        groups: One per sample: resample whole groups (one document with several answers) instead.
        most: How many of the samples with the largest differences to list.

    Raises:
        InvalidValueError: An unknown method among the thresholds or views or as reference; a count
            below 0.

    >>> rows = [Row("a", "x", 0.2), Row("a", "y", 1.0), Row("b", "x", 0.8), Row("b", "y", None)]
    >>> comparison = summarise_table(ScoreTable.of(rows), rows=rows)
    >>> [(m.method, m.mean, m.scored, m.samples) for m in comparison.methods]
    [('x', 0.5, 2, 2), ('y', 1.0, 1, 2)]
    """
    if most < 0:
        msg = f"most={most!r}; give 0 or more"
        raise InvalidValueError(msg)
    for name in (*views, *([] if reference is None else [reference])):
        table.column(name)  # refuses a name that is not there
    limits = resolve_thresholds(table.methods, thresholds)
    methods = describe(table, limits, rows)
    ratings, notes = None, _notes(methods)
    if table.human is not None and (rated := np.isfinite(table.human)).any():
        if groups is not None:
            own = group_note(compress(groups, rated.tolist()))
            notes.append(f"{own}; intervals and tests are about other groups; {NO_P_BY_GROUPS}")
        try:
            ratings = compare_with_ratings(
                table,
                objective=objective,
                reference=reference,
                margin=margin,
                n_boot=n_boot,
                level=level,
                seed=seed,
                groups=groups,
            )
            notes += _human_notes(ratings)
        except MissingDependencyError as error:
            notes.append(f"no comparison with human ratings: {error}")
    return TableSummary(
        samples=len(table.samples),
        common=int(np.isfinite(table.scores).all(axis=1).sum()),
        methods=methods,
        pairs=compare_pairs(table, limits),
        differences=differences(table, most, views),
        human_ratings=ratings,
        n_boot=n_boot,
        level=level,
        seed=seed,
        notes=tuple(notes),
    )


def _notes(methods: Sequence[MethodSummary]) -> list[str]:
    notes = [f"{m.method} has no score at all" for m in methods if m.samples and not m.scored]
    if len({m.scored for m in methods}) > 1:
        notes.append(
            "coverage differs, so means are of different samples; "
            f"'common', with --all, is of the {methods[0].common} that every method has scored"
        )
    return notes


def _human_notes(found: HumanRatings) -> list[str]:
    notes = [f"no {measure}: {why}" for measure, why in found.left_out]
    if LEAST_SAMPLES <= found.rated < FEW:
        notes.append(
            f"{counted(found.rated, 'human rating')} in all, which is few: expect wide intervals"
        )
    if found.chosen and found.n_tests:
        notes.append(
            f"{found.reference} was picked as the reference on these samples, as the best by "
            f"{found.objective}; so p allows for {counted(found.n_tests, 'pair')} of methods, and "
            "for fewer where --reference names one beforehand"
        )
    return notes
