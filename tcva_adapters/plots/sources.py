"""What figures are drawn of: judgements at any temperature, and tables of scores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.ccrs.summary import CCRSSummary
from tcva_adapters.compare.ccrs_ratings import RatedCCRS
from tcva_adapters.compare.comparison import Comparison
from tcva_adapters.compare.evaluation import Evaluation
from tcva_adapters.compare.judged import Judged, JudgedSource
from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.compare.running.run import tcva_name
from tcva_adapters.compare.sweeping import Sweep
from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.flip import flip_point
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import numbers

DialSource = Comparison | Evaluation | JudgedSource
"""A comparison or an evaluation; or what `Judged.of` takes: files, results, assessments, counts."""

Scores = Comparison | CCRSSummary | RatedCCRS | ScoreTable | Mapping[str, npt.ArrayLike]
"""A comparison, a summary of CCRS, with human ratings or without, a table; or scores by method, each of shape (N,), nan or None
where there is none."""


@dataclass(frozen=True, slots=True)
class Dial:
    """Judgements, and the settings that make scores of them.

    Attributes:
        judged: What was judged.
        scoring: The settings; its temperature is not used.
    """

    judged: Judged
    scoring: ScoringConfig

    @classmethod
    def of(cls, source: DialSource, scoring: ScoringConfig | None = None) -> Dial:
        """Judgements with their own settings, or with those given.

        Args:
            source: See `DialSource`.
            scoring: By default the settings of the comparison, evaluation or results; those of
                `ScoringConfig()` for assessments and counts, which have none.

        Raises:
            InvalidValueError: Results with several settings, and none given; or as for `Judged.of`.
                Further errors as there.
        """
        given: Any = source
        if isinstance(source, Comparison | Evaluation):
            given, scoring = source.results, scoring or source.tcva.scoring
        elif not isinstance(source, Judged | str | np.ndarray) and hasattr(source, "__iter__"):
            given = list(source)
        if scoring is None and isinstance(given, list):
            scoring = _common(given)
        dial = scoring or (
            ScoringConfig(evidence=given.seen) if isinstance(given, Judged) else ScoringConfig()
        )
        return cls(Judged.of(given).under(dial.evidence), dial)

    def scores(self, temperatures: npt.ArrayLike) -> FloatArray:
        """Shape (N, temperatures); nan for samples without a score."""
        return self._scores(self.judged.counts, np.asarray(temperatures, dtype=np.float64))

    def _scores(self, counts: FloatArray, temperatures: FloatArray) -> FloatArray:
        by_judge = [
            sweep(one, temperatures.tolist(), **self.scoring.options)
            for one in counts.swapaxes(0, 1)
        ]
        return self.scoring.joined(by_judge)

    def flips(self) -> FloatArray:
        """From which temperature on each sample passes, shape (N,); inf for never, nan unscored."""
        rows, inverse = np.unique(self.judged.counts, axis=0, return_inverse=True)
        found = np.full(len(rows), np.nan)
        for place, row in enumerate(rows):
            if row[0].any():
                found[place] = self._flip(row)
        flips: FloatArray = found[inverse.ravel()]
        return flips

    def _flip(self, counts: FloatArray) -> float:
        curve = self.scoring.curve(counts)
        flip = flip_point(lambda each: curve(each) - self.scoring.threshold, self.scoring.bounds)
        return np.inf if flip is None else flip

    @property
    def cliff(self) -> float | None:
        """The temperature of exponent 0; None off the scale, or where no verdict is ``none``.

        >>> round(Dial.of([[2, 0, 0, 0, 1]]).cliff, 4), Dial.of([[2, 0, 0, 0, 0]]).cliff
        (0.4556, None)
        """
        return cliff_of(self.scoring.bounds) if self.judged.counts[:, :, -1].any() else None


def groups_of(source: object, dial: Dial) -> Sequence[Hashable] | None:
    """What each judged sample belongs to, where the source was made by group; else None."""
    if isinstance(source, Sweep):
        return source.groups
    if isinstance(source, Comparison) and source.groups is not None:
        known = dict(zip(source.table.samples, source.groups, strict=True))
        return [known[name] for name in dial.judged.names]
    if isinstance(source, Evaluation) and source.group is not None:
        every = np.zeros(len(dial.judged))
        return dial.judged.groups(source.group, every)
    return None


def cliff_of(bounds: Bounds) -> float | None:
    """The temperature of exponent 0; None where it lies off the scale."""
    if not bounds.p_min < 0.0 < bounds.p_max:
        return None
    share = -bounds.p_min / (bounds.p_max - bounds.p_min)
    return bounds.t_min + share * (bounds.t_max - bounds.t_min)


def _common(items: Sequence[Any]) -> ScoringConfig | None:
    """The settings of results, if they have the same but for the temperature; None without any."""
    found = [item.scoring for item in items if isinstance(item, Result)]
    settings = {scoring.changed(temperature=scoring.bounds.t_min) for scoring in found}
    if len(settings) > 1:
        msg = f"results have {len(settings)} different settings; say which: scoring=ScoringConfig(...)"
        raise InvalidValueError(msg)
    return next(iter(settings), None)


def table_of(scores: Scores, human: npt.ArrayLike | None = None) -> ScoreTable:
    """Scores as a table.

    Args:
        scores: See `Scores`.
        human: Ratings, shape (N,), in place of those that come with the scores.

    Raises:
        InvalidValueError: Something else, or lengths that differ.
    """
    if isinstance(scores, Comparison | RatedCCRS):
        table = scores.table
    elif isinstance(scores, ScoreTable):
        table = scores
    elif isinstance(scores, CCRSSummary):
        columns: dict[str, Any] = {
            name: [result.scores[name] for result in scores.results] for name in scores.metrics
        }
        table = _of_columns(columns)
    elif isinstance(scores, Mapping) and scores:
        table = _of_columns(scores)
    else:
        msg = (
            f"no scores in {type(scores).__name__!r}; give a comparison, a score table, or at "
            "least one list of scores by method: {'tcva': [0.5, 1.0]}"
        )
        raise InvalidValueError(msg)
    return table if human is None else replace(table, human=numbers("human ratings", human))


HUMAN: Final = "human ratings"


def with_ratings(table: ScoreTable) -> ScoreTable:
    """With human ratings, where there are any, as the last of the methods."""
    if table.human is None or not np.isfinite(table.human).any() or HUMAN in table.methods:
        return table
    scores = np.column_stack([table.scores, table.human])
    return replace(table, methods=(*table.methods, HUMAN), scores=scores)


def _of_columns(columns: Mapping[str, npt.ArrayLike]) -> ScoreTable:
    arrays = [numbers(f"scores of {name!r}", column) for name, column in columns.items()]
    lengths = {len(array) for array in arrays}
    if len(lengths) > 1:
        shown = ", ".join(f"{len(a)} of {n!r}" for n, a in zip(columns, arrays, strict=True))
        msg = f"different numbers of scores: {shown}; give one per sample, nan where there is none"
        raise InvalidValueError(msg)
    samples = tuple(str(number) for number in range(1, max(lengths) + 1))
    return ScoreTable(samples, tuple(map(str, columns)), np.stack(arrays, axis=1))


def leading(scores: Scores, table: ScoreTable) -> tuple[str, tuple[str, ...]]:
    """Our method that figures show, and the others that are not ours.

    Ours are TCVA's methods of a comparison, of which the middle temperature leads; else the first.
    """
    if isinstance(scores, Comparison):
        others = tuple(found.method for found in scores.decisions.methods)
        return tcva_name(scores.temperatures[len(scores.temperatures) // 2]), others
    return table.methods[0], table.methods[1:]


def limits_of(scores: FloatArray) -> tuple[float, float]:
    """[0, 1], or further where a score lies outside.

    >>> limits_of(np.array([0.5, np.nan, 5.0]))
    (0.0, 5.0)
    """
    return min(0.0, float(np.nanmin(scores))), max(1.0, float(np.nanmax(scores)))


def ratings_of(table: ScoreTable) -> FloatArray:
    """Human ratings, shape (N,).

    Raises:
        InvalidValueError: There are none.
    """
    if table.human is None or not np.isfinite(table.human).any():
        msg = "there are no human ratings; compare with human=..., or pass human=[...]"
        raise InvalidValueError(msg)
    return table.human
