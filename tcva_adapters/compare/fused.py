"""Fused scores as methods of a comparison, and what they gain over the best of their members.

Who tries several combinations finds one that gains by luck, so a gain is claimed by a p that allows
for all combinations that were looked at together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Final, Self, TypedDict, TypeVar

import numpy as np

from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.core.panel import fuse
from tcva_adapters.core.temperature import check_temperature
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import counted, figure
from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.checks import BoolArray
from tcva_adapters.stats.correlation import agreement
from tcva_adapters.stats.holm import holm
from tcva_adapters.stats.planning import smallest_from

FEWEST: Final = 10
"""Samples below which no gain is stated."""

_MARK: Final = "+"
_LEVEL: Final = 0.95
_ALPHA: Final = 0.05

Name = TypeVar("Name")


@dataclass(frozen=True, slots=True)
class FusedMethod:
    """A power mean of other methods' scores.

    Attributes:
        members: Their names, two or more, each once.
        temperature: The dial of that mean; None is the geometric mean.
        weights: One per member; equal where None.

    Raises:
        InvalidValueError: Fewer than two members, one twice, a temperature out of range, or
            another number of weights.
    """

    members: tuple[str, ...]
    temperature: float | None = None
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.members) < 2 or not all(self.members):
            msg = f"a fused method needs two members or more, got {self.members!r}; write A + B"
            raise InvalidValueError(msg)
        if len(set(self.members)) < len(self.members):
            msg = f"a fused method has its members each once, got {self.members!r}"
            raise InvalidValueError(msg)
        if self.temperature is not None:
            check_temperature(self.temperature)
        if self.weights is not None and len(self.weights) != len(self.members):
            msg = f"{len(self.weights)} weights for {len(self.members)} members; give one each"
            raise InvalidValueError(msg)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The geometric mean of ``A + B``.

        Raises:
            InvalidValueError: Fewer than two members, or one twice.

        >>> FusedMethod.parse("tcva T=0.5 + ragas faithfulness").name
        'fused(tcva T=0.5 + ragas faithfulness)'
        """
        return cls(tuple(part.strip() for part in text.split(_MARK)))

    @property
    def name(self) -> str:
        """As tables show it: the members, and the dial and the weights where there are some."""
        parts = [f" {_MARK} ".join(self.members)]
        if self.temperature is not None:
            parts.append(f"T={self.temperature:g}")
        if self.weights is not None:
            parts.append("/".join(f"{weight:g}" for weight in self.weights))
        return f"fused({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class FusedRow:
    """A mean of several methods, and its gain over the best of them.

    Attributes:
        n: Samples that every member has scored, and humans have rated.
        rho: Spearman's rho of the fused score.
        low: Lower end of its 95 % interval; nan where there is none.
        high: Its upper end.
        reason: Why there is none; empty where there is one.
        best: The member with the highest rho on the same samples.
        best_rho: That rho.
        gain: ``rho - best_rho``.
        gain_low: Lower end of the 95 % interval of the gain, from resamples of the same samples.
        gain_high: Its upper end.
        gain_reason: Why that has none; empty where it has one.
        p_two_sided: The paired bootstrap's p against no gain, of this combination alone.
        p_holm: The same, adjusted for all combinations that were looked at (Holm 1979).
        looked_at: How many these are.
        smallest: The true gain that such a test finds in 80 % of the cases, at the level that is left
            for each of them; nan without an interval.
        clusters: Groups that the samples are of, and that are drawn; None where single samples are.
    """

    n: int
    rho: float
    low: float
    high: float
    reason: str
    best: str
    best_rho: float
    gain: float
    gain_low: float
    gain_high: float
    gain_reason: str
    p_two_sided: float
    p_holm: float
    looked_at: int
    smallest: float
    clusters: int | None = None

    @property
    def sentence(self) -> str:
        """Rho, what it gains over the best member, and whether that can be told from chance."""
        can = "can" if self.p_holm < _ALPHA else "cannot"
        looked_at = counted(self.looked_at, "combination")
        samples = counted(self.n, "sample")
        if self.clusters is not None:
            samples += f" of {counted(self.clusters, 'group')}"
        missed = ""
        if can == "cannot" and not math.isnan(self.smallest):
            missed = f"; one of {figure(self.smallest)} mostly would"
        ends = _ends(figure(self.low), figure(self.high), self.reason)
        low, high = (figure(end, signed=True) for end in (self.gain_low, self.gain_high))
        return (
            f"rho {figure(self.rho)} ({ends}) with human ratings on {samples}; gain "
            f"over {self.best} ({figure(self.best_rho)}): {figure(self.gain, signed=True)} "
            f"({_ends(low, high, self.gain_reason)}), which {can} be told from chance (p "
            f"{figure(self.p_holm, 4)}, for {looked_at} looked at{missed})"
        )


def _ends(low: str, high: str, reason: str) -> str:
    return f"no interval: {reason}" if reason else f"{low} to {high}"


class _Drawn(TypedDict):
    """How resamples are drawn."""

    n_boot: int
    seed: int
    groups: Sequence[Hashable] | None


def fused_rows(method: FusedMethod, table: ScoreTable) -> tuple[list[Row], dict[int, int]]:
    """A row per sample; members without a score are left out of its mean.

    Args:
        method: What is fused.
        table: Scores of its members, in [0, 1].

    Returns:
        The rows, and how many samples have so many members: ``{2: 50, 1: 7}``.

    Raises:
        InvalidValueError: A member is not in the table, or a score lies outside [0, 1].
    """
    columns = np.stack([table.column(name) for name in method.members], axis=1)
    outside = np.argwhere(~np.isnan(columns) & ~((columns >= 0.0) & (columns <= 1.0)))
    if len(outside):
        sample, member = outside[0]
        msg = (
            f"{method.members[member]} gave {columns[sample, member]:g} to "
            f"{table.samples[sample]!r}; only scores in [0, 1] can be fused"
        )
        raise InvalidValueError(msg)
    fused = fuse(columns, weights=method.weights, temperature=method.temperature)
    rows = [
        Row(sample, method.name, None, "no member has a score")
        if math.isnan(score)
        else Row(sample, method.name, score)
        for sample, score in zip(table.samples, fused.scores.tolist(), strict=True)
    ]
    return rows, dict(Counter(fused.members.tolist()))


def gains(
    methods: Sequence[FusedMethod],
    table: ScoreTable,
    *,
    n_boot: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> dict[str, FusedRow]:
    """The gain of each fused method, by name; without human ratings there is none to state.

    Their p allows for all of these methods together.

    Args:
        methods: Fused methods whose rows are in the table.
        table: They, their members, and human ratings.
        n_boot: Resamples per interval.
        seed: Of the resamples.
        groups: What the samples belong to, one per sample; None where they stand alone.

    Raises:
        InvalidValueError: A method or a member is not in the table.
        MissingDependencyError: scipy is missing.
    """
    if table.human is None:
        return {}
    found = {}
    for method in methods:
        members = {name: table.column(name) for name in method.members}
        scores = table.column(method.name)
        row = gain_of(scores, members, table.human, n_boot=n_boot, seed=seed, groups=groups)
        if row is not None:
            found[method.name] = row
    return corrected(found)


def corrected(rows: Mapping[Name, FusedRow]) -> dict[Name, FusedRow]:
    """These rows with ``p_holm``, ``looked_at`` and ``smallest`` for all of them together."""
    adjusted = holm([row.p_two_sided for row in rows.values()]).tolist()
    return {
        name: replace(
            row,
            p_holm=p,
            looked_at=len(rows),
            smallest=_smallest(row.gain_low, row.gain_high, len(rows)),
        )
        for (name, row), p in zip(rows.items(), adjusted, strict=True)
    }


def gain_of(
    scores: FloatArray,
    members: Mapping[str, FloatArray],
    human: FloatArray,
    *,
    n_boot: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> FusedRow | None:
    """What a fused score gains over the best of its members, on the samples that all have scored.

    Args:
        scores: Fused scores, shape (N,), nan where there is none.
        members: Scores of each member, shape (N,), by name.
        human: Human ratings, shape (N,).
        n_boot: Resamples per interval.
        seed: Of the resamples.
        groups: As for `gains`.

    Returns:
        As the only combination that was looked at (see `corrected`); None on fewer than ten such
        samples.

    Raises:
        MissingDependencyError: scipy is missing.
    """
    everything = np.array([scores, human, *members.values()])
    usable: BoolArray = np.isfinite(everything).all(axis=0)
    if usable.sum() < FEWEST:
        return None
    scores, human = scores[usable], human[usable]
    columns = {name: column[usable] for name, column in members.items()}
    known = None if groups is None else list(compress(groups, usable.tolist()))
    drawn: _Drawn = {"n_boot": n_boot, "seed": seed, "groups": known}
    whole = interval("spearman", scores, human, method="percentile", level=_LEVEL, **drawn)
    rhos = {name: agreement("spearman", column, human).value for name, column in columns.items()}
    best = max(rhos, key=lambda name: rhos[name] if math.isfinite(rhos[name]) else -math.inf)
    gain = paired_difference("spearman", scores, columns[best], human, level=_LEVEL, **drawn)
    return FusedRow(
        n=len(human),
        rho=whole.value,
        low=whole.low,
        high=whole.high,
        reason=whole.reason,
        best=best,
        best_rho=rhos[best],
        gain=gain.delta,
        gain_low=gain.low,
        gain_high=gain.high,
        gain_reason=gain.reason,
        p_two_sided=gain.p_two_sided,
        p_holm=gain.p_two_sided,
        looked_at=1,
        smallest=_smallest(gain.low, gain.high, 1),
        clusters=gain.clusters,
    )


def _smallest(low: float, high: float, looked_at: int) -> float:
    if math.isnan(low):
        return math.nan
    return smallest_from(low, high, _LEVEL, comparisons=looked_at)
