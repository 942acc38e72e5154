"""Fused scores as methods of a comparison, and what they gain over the best of their members."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tcva_adapters.compare.table import Row, ScoreTable
from tcva_adapters.core.panel import fuse
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.correlation import agreement

SCALE: Final = (0.0, 1.0)
LEVEL: Final = 0.95
_MARK: Final = "+"
_FEWEST: Final = 3
"""Samples below which no correlation is worth an interval."""


@dataclass(frozen=True, slots=True)
class Blend:
    """A geometric mean of methods.

    Attributes:
        members: Their names.
    """

    members: tuple[str, ...]

    @property
    def name(self) -> str:
        """As tables show it."""
        return f"fused {f' {_MARK} '.join(self.members)}"


@dataclass(frozen=True, slots=True)
class Gain:
    """How much better a fused score agrees with people than the best of its members.

    All figures are of the samples that every member has scored, and people too.

    Attributes:
        method: The fused method.
        n: Those samples.
        rho: Spearman's rho of the fused score.
        low: Lower end of its 95 % interval.
        high: Its upper end.
        best: The member with the highest rho.
        best_rho: That rho.
        gain: ``rho - best_rho``.
        gain_low: Lower end of the 95 % interval of the gain, from resamples of the same samples.
        gain_high: Its upper end.
    """

    method: str
    n: int
    rho: float
    low: float
    high: float
    best: str
    best_rho: float
    gain: float
    gain_low: float
    gain_high: float


def parse_blend(text: str, known: Sequence[str]) -> Blend:
    """The methods of ``A + B``.

    Args:
        text: Names with plus signs between.
        known: The methods that there are.

    Raises:
        InvalidValueError: Fewer than two names, one twice, or one of no method.

    >>> parse_blend("tcva T=0.5 + ragas faithfulness", ["tcva T=0.5", "ragas faithfulness"]).name
    'fused tcva T=0.5 + ragas faithfulness'
    """
    members = tuple(part.strip() for part in text.split(_MARK))
    if len(members) < 2 or len(set(members)) < len(members):
        msg = f"--fuse {text!r} needs two or more different methods with {_MARK} between them"
        raise InvalidValueError(msg)
    for name in members:
        if name not in known:
            msg = f"--fuse {text!r}: no method {name!r}; there are {', '.join(known)}"
            raise InvalidValueError(msg)
    return Blend(members)


def fused_rows(
    blend: Blend, table: ScoreTable, scales: Mapping[str, tuple[float, float]] | None = None
) -> list[Row]:
    """A row per sample; members without a score are left out, and no call is made.

    Args:
        blend: Which methods.
        table: Their scores.
        scales: The ends of a method's scale where they are not 0 and 1.

    Raises:
        InvalidValueError: A score outside its scale.
    """
    scores = fuse(_columns(blend, table, scales)).scores.tolist()
    why = "no member has a score"
    return [
        Row(sample, blend.name, None, f"no_score: {why}", calls=0)
        if math.isnan(score)
        else Row(sample, blend.name, score, calls=0)
        for sample, score in zip(table.samples, scores, strict=True)
    ]


def gain_of(
    blend: Blend,
    table: ScoreTable,
    scales: Mapping[str, tuple[float, float]] | None = None,
    *,
    n_boot: int = 10_000,
    seed: int = 0,
) -> Gain | None:
    """The gain over the best member, with its interval; None without enough human scores.

    Raises:
        MissingDependencyError: scipy is missing.
    """
    if table.human is None:
        return None
    common = table.common(blend.members)
    human = common.human
    if human is None or len(common.samples) < _FEWEST:
        return None
    columns = _columns(blend, common, scales)
    scores = fuse(columns).scores
    whole = interval("spearman", scores, human, n_boot=n_boot, level=LEVEL, seed=seed)
    rhos = [agreement("spearman", column, human).value for column in columns.T]
    best = int(np.argmax([rho if math.isfinite(rho) else -math.inf for rho in rhos]))
    gain = paired_difference(
        "spearman", scores, columns[:, best], human, n_boot=n_boot, level=LEVEL, seed=seed
    )
    return Gain(
        method=blend.name,
        n=len(common.samples),
        rho=whole.value,
        low=whole.low,
        high=whole.high,
        best=blend.members[best],
        best_rho=rhos[best],
        gain=gain.delta,
        gain_low=gain.low,
        gain_high=gain.high,
    )


def _columns(
    blend: Blend, table: ScoreTable, scales: Mapping[str, tuple[float, float]] | None
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Members as columns on a scale from 0 to 1."""
    columns = []
    for name in blend.members:
        low, high = (scales or {}).get(name, SCALE)
        columns.append((table.column(name) - low) / (high - low))
        outside = ~np.isnan(columns[-1]) & ~((columns[-1] >= 0) & (columns[-1] <= 1))
        if outside.any():
            place = int(np.argmax(outside))
            msg = (
                f"{name} gives sample {table.samples[place]!r} {table.column(name)[place]:g}, "
                f"outside its scale from {low:g} to {high:g}; leave it out of --fuse"
            )
            raise InvalidValueError(msg)
    return np.stack(columns, axis=1)
