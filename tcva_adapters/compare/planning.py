"""How many labels: planned from a pilot that was judged and rated, or from assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.calibration.candidates import score_matrix
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.judged import Judged, JudgedSource, in_use
from tcva_adapters.compare.labels import Labels
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Table, Tabular, Wrapped, counted, figure
from tcva_adapters.results.config import Config
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.assumed import assumed_correlation, assumed_mean
from tcva_adapters.stats.checks import FloatArray, one_of, whole
from tcva_adapters.stats.planning import (
    PLANNED,
    POWER,
    PlannedName,
    Spread,
    labels_for_difference,
    labels_for_width,
    pilot_spread,
    power,
    smallest_difference,
    width,
)

_SHOWN: Final = (30, 50, 100, 200, 300, 500, 1000, 2000, 5000)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What so many labels give.

    Attributes:
        labels: How many.
        width: Of the interval, from end to end.
        smallest: The difference that they find with the power that is wanted.
        power: To find the difference in question; None where none was named.
        why: What this number is, where it is not just one of a list.
    """

    labels: int
    width: float
    smallest: float
    power: float | None
    why: str = ""


@dataclass(frozen=True)
class Plan(Tabular):
    """How many labels a question takes.

    Attributes:
        about: What is planned, in words.
        source: What the spread is known from, in words.
        spread: Of the estimate, per label.
        is_paired: The plan is about the difference of two methods on the same samples; otherwise
            about one figure, whose difference is that from a fixed value.
        difference: That should be found; None where none was named.
        wanted_width: Of the interval; None likewise.
        needed: Labels that find the difference; None without one, and beyond ten millions.
        needed_for_width: Labels for the width, likewise.
        target: The power that is wanted.
        level: Of the interval; the test has the level ``1 - level``.
        rows: What numbers of labels give, in ascending order.
        notes: What to keep in mind, in sentences.
    """

    about: str
    source: str
    spread: Spread
    is_paired: bool
    difference: float | None
    wanted_width: float | None
    needed: int | None
    needed_for_width: int | None
    target: float
    level: float
    rows: tuple[PlanRow, ...]
    notes: tuple[str, ...] = ()

    def around(self, labels: int) -> tuple[int, int] | None:
        """Between which numbers a needed one lies, as far as the pilot knows; None without a pilot.

        Two standard errors of the spread to either side.
        """
        if self.spread.n is None:
            return None
        low, high = max(0.0, 1 - 2 * self.spread.error) ** 2, (1 + 2 * self.spread.error) ** 2
        return int(np.ceil(labels * low)), int(np.ceil(labels * high))

    @property
    def sentence(self) -> str:
        """The numbers that were asked for; without a question, what the labels at hand give."""
        said = []
        of = "" if self.is_paired else " from a fixed value"
        if self.difference is not None:
            what = f"a difference of {self.difference:g}{of} with a power of {self.target:.0%}"
            said.append(self._needed(what, self.needed))
        if self.wanted_width is not None:
            what = f"an interval {self.wanted_width:g} wide"
            said.append(self._needed(what, self.needed_for_width))
        if not said:
            row = next((row for row in self.rows if row.why), self.rows[0])
            said.append(
                f"{counted(row.labels, 'label')} give an interval {figure(row.width)} wide and find "
                f"a difference of {figure(row.smallest)}{of} with a power of {self.target:.0%}"
            )
        return f"{self.about}: {'; '.join(said)}"

    def _needed(self, what: str, labels: int | None) -> str:
        if labels is None:
            return f"{what} takes more than ten million labels"
        around = self.around(labels)
        between = "" if around is None else f" (the pilot says {around[0]} to {around[1]})"
        return f"{what} takes {counted(labels, 'label')}{between}"

    def records(self) -> list[dict[str, Any]]:
        """The rows as plain JSON values."""
        return [jsonable(row) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        names = (
            *("about", "source", "spread", "is_paired", "difference", "wanted_width", "needed"),
            *("needed_for_width", "target", "level", "notes"),
        )
        around = {
            f"{name}_between": None if needed is None else self.around(needed)
            for name, needed in (
                ("needed", self.needed),
                ("needed_for_width", self.needed_for_width),
            )
        }
        told = {"sentence": self.sentence, **{name: getattr(self, name) for name in names}}
        plain: dict[str, Any] = jsonable({**told, **around, "rows": self.records()})
        return plain

    def parts(self) -> Iterator[Part]:
        """What ``tcva plan`` prints."""
        yield Wrapped(f"known from: {self.source}", indent=2)
        header = [
            "labels",
            f"{self.level:.0%} interval\nwidth",
            f"found with\n{self.target:.0%} power",
        ]
        if self.difference is not None:
            header.append(f"power for\n{self.difference:g}")
        rows = []
        for row in self.rows:
            cells = [str(row.labels), figure(row.width), figure(row.smallest)]
            cells += [] if row.power is None else [figure(row.power, 2)]
            rows.append((*cells, row.why))
        yield Table((*header, ""), rows, "r" * len(header) + "l")
        yield from (Wrapped(f"note: {note}", indent=2) for note in self.notes)


def plan(
    judged: JudgedSource | None = None,
    *,
    objective: PlannedName = "spearman",
    human: str | Labels | npt.ArrayLike | None = None,
    against: JudgedSource | None = None,
    correlation: float | None = None,
    spread: float | None = None,
    between: float | None = None,
    difference: float | None = None,
    width: float | None = None,
    labels: int | None = None,
    power: float = POWER,
    level: float = 0.95,
    group: str | Sequence[Any] | None = None,
    temperature: float | str | None = None,
    config: Config | str | Path | None = None,
    skip_bad: bool = False,
    seed: int = 0,
) -> Plan:
    """How many labels an interval or a difference takes, and what so many labels can show. No call.

    Args:
        judged: A pilot, see `Judged.of`: what was judged, some of it rated. None plans from what
            is assumed.
        objective: ``spearman``, ``kendall``, ``pearson`` or ``mae`` with human ratings, or ``mean``
            of the scores, for which "labels" are judged samples.
        human: A key of the metadata, `Labels`, or the pilot's ratings, shape (N,).
        against: Another method on the same samples (equal ids): plan the difference of the two.
        correlation: Without a pilot: the (better) method's correlation with human ratings.
        spread: Without a pilot, for ``mae`` and ``mean``: the standard deviation of the absolute
            errors, or of the scores.
        between: Without a pilot: the correlation of the two methods' scores (``mae``: errors); the
            plan is then about their difference.
        difference: The true difference that should be found; between two correlations it is also
            what the other one is lower by. Without two methods it is that from a fixed value.
        width: The width that the interval should have, from end to end.
        labels: A number of labels to look at besides.
        power: The chance of finding the difference, above ``1 - level``.
        level: Of the interval; the test is two-sided at ``1 - level``.
        group: A key of the metadata, or values, shape (N,): samples of a group count together.
        temperature: Of the dial; by default that in use.
        config: The settings in use.
        skip_bad: Leave out unreadable lines.
        seed: Of the simulation behind assumed correlations.

    Raises:
        InvalidValueError: Neither a pilot nor assumptions, or both; a pilot without ratings where
            they are needed; further ones as for `pilot_spread` and `assumed_correlation`.
        UnreadableInputError: A file cannot be read.
        MissingDependencyError: scipy is not installed.

    >>> found = plan(objective="mean", spread=0.3, between=0.5, difference=0.05)
    >>> found.needed
    285
    """
    one_of("objective", objective, PLANNED)
    assumed = {"correlation": correlation, "spread": spread, "between": between}
    if judged is None:
        known = _assumed(objective, correlation, spread, between, difference, seed)
        source = _assumptions(objective, assumed, difference)
        about, is_paired = f"The {_name(objective)}", between is not None
    else:
        _check_unassumed(assumed)
        scoring = in_use(config)
        if temperature is not None:
            scoring = scoring.changed(temperature=temperature)
        pilot = _Pilot.of(judged, against, scoring, skip_bad=skip_bad)
        known, source = pilot.spread(objective, human, group)
        about, is_paired = f"The {_name(objective)} of {pilot.judged.title}", against is not None
        source += f" at {scoring.place}"
    return _planned(
        known,
        about=about,
        source=source,
        is_paired=is_paired,
        asked=(difference, width, labels),
        target=power,
        level=level,
    )


def _check_unassumed(assumed: dict[str, float | None]) -> None:
    if given := [name for name, value in assumed.items() if value is not None]:
        names = " and ".join(given)
        msg = f"what is known from the pilot is not assumed; leave {names} out, or the pilot"
        raise InvalidValueError(msg)


def _planned(
    spread: Spread,
    *,
    about: str,
    source: str,
    is_paired: bool,
    asked: tuple[float | None, float | None, int | None],
    target: float,
    level: float,
) -> Plan:
    if is_paired:
        about += " less that of the other method, on the same samples"
    difference, wanted, labels = asked
    alpha = 1.0 - level
    needed = for_width = None
    why: dict[int, list[str]] = {}
    if labels is not None:
        why[whole("labels", labels, least=2)] = ["asked for"]
    notes: tuple[str, ...] = ()
    if spread.n is not None:
        if spread.n != labels:
            why[spread.n] = ["the pilot"]
        knows = (
            f"a pilot of {spread.n} knows the spread to about {2 * spread.error:.0%}, and numbers of "
            f"labels to about {4 * spread.error:.0%}"
        )
        notes = (knows,)
    if difference is not None:
        needed = labels_for_difference(spread, difference, target=target, alpha=alpha)
        if needed is not None:
            why.setdefault(needed, []).append(f"finds {difference:g}")
    if wanted is not None:
        for_width = labels_for_width(spread, wanted, level=level)
        if for_width is not None:
            why.setdefault(for_width, []).append(f"{wanted:g} wide")
    rows = tuple(
        PlanRow(
            labels=n,
            width=width(spread, n, level=level),
            smallest=smallest_difference(spread, n, target=target, alpha=alpha),
            power=None if difference is None else power(spread, difference, n, alpha=alpha),
            why=", ".join(why.get(n, [])),
        )
        for n in sorted({*(n for n in _SHOWN if n >= spread.least), *why})
    )
    return Plan(
        *(about, source, spread, is_paired, difference, wanted, needed, for_width, target, level),
        rows=rows,
        notes=notes,
    )


@dataclass(frozen=True)
class _Pilot:
    """One or two methods on the samples of the first one."""

    judged: Judged
    columns: tuple[FloatArray, ...]

    @classmethod
    def of(
        cls,
        source: JudgedSource,
        against: JudgedSource | None,
        scoring: ScoringConfig,
        *,
        skip_bad: bool,
    ) -> _Pilot:
        judged = Judged.of(source, skip_bad=skip_bad).under(scoring.evidence)
        own = _scores(judged, scoring)
        if against is None:
            return cls(judged, (own,))
        other = Judged.of(against, skip_bad=skip_bad).under(scoring.evidence)
        by_name = dict(zip(other.names, _scores(other, scoring).tolist(), strict=True))
        beside = np.array([by_name.get(name, np.nan) for name in judged.names])
        if np.isnan(beside).all():
            msg = "no sample of the one method has an id of the other's; judge the same samples"
            raise InvalidValueError(msg)
        return cls(judged, (own, beside))

    def spread(
        self,
        objective: PlannedName,
        human: str | Labels | npt.ArrayLike | None,
        group: str | Sequence[Any] | None,
    ) -> tuple[Spread, str]:
        """How much the figure varies, and what that is known from, in words."""
        ratings = None if objective == "mean" else self._ratings(objective, human)
        every = np.zeros(len(self.judged)) if ratings is None else ratings
        groups = self.judged.groups(group, every)
        known = pilot_spread(objective, self.columns, ratings, groups=groups)
        source = f"a pilot of {counted(known.n or 0, 'sample')}"
        if known.clusters is not None:
            source += (
                f" in {counted(known.clusters, 'group')} (labels come in groups of such sizes)"
            )
        return known, source

    def _ratings(
        self, objective: PlannedName, human: str | Labels | npt.ArrayLike | None
    ) -> FloatArray:
        if human is None:
            msg = (
                f"{objective} is measured against human ratings; name their field (human, --human), "
                "or plan for the objective mean"
            )
            raise InvalidValueError(msg)
        found = self.judged.ratings(human)
        known = found[np.isfinite(found)]
        if objective == "mae" and len(known) and not (known.min() >= 0.0 and known.max() <= 1.0):
            msg = (
                f"human ratings lie outside [0, 1] ({known.min():g} to {known.max():g}); rescale "
                "them for an absolute error, or plan for a correlation"
            )
            raise InvalidValueError(msg)
        return found


def _scores(judged: Judged, scoring: ScoringConfig) -> FloatArray:
    return score_matrix(judged.counts, [scoring])[:, 0]


def _assumed(
    objective: PlannedName,
    correlation: float | None,
    spread: float | None,
    between: float | None,
    difference: float | None,
    seed: int,
) -> Spread:
    """The spread of what is assumed."""
    if objective == "mae" or objective == "mean":  # noqa: PLR1714  # mypy tells these alone apart
        if spread is None or correlation is not None:
            msg = f"plan for the {objective} from a pilot, or from its spread (spread, --spread) alone"
            raise InvalidValueError(msg)
        return assumed_mean(spread, between=between, is_error=objective == "mae")
    if correlation is None or spread is not None:
        msg = f"plan for {objective} from a pilot, or from a correlation (correlation, --correlation) alone"
        raise InvalidValueError(msg)
    if between is not None and difference is None:
        msg = "two correlations are assumed to differ; give the difference that should be found"
        raise InvalidValueError(msg)
    other = None if between is None or difference is None else correlation - difference
    return assumed_correlation(objective, correlation, other, between=between, seed=seed)


def _assumptions(
    objective: PlannedName, assumed: dict[str, float | None], difference: float | None
) -> str:
    said = [f"{name} {value:g}" for name, value in assumed.items() if value is not None]
    if assumed["between"] is not None and assumed["correlation"] is not None:
        said.insert(1, f"the other's {assumed['correlation'] - (difference or 0.0):g}")
    how = "" if objective in {"mae", "mean"} else "; normal scores without ties, simulated"
    return f"assumptions ({', '.join(said)}{how})"


def _name(objective: PlannedName) -> str:
    names = {"mean": "mean score", "mae": "mean absolute error"}
    return names.get(objective, f"{objective.capitalize()} correlation with human ratings")
