"""Judgements with what an estimate needs of them: scores, human ratings, systems, groups, draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.grouping import groups_in
from tcva_adapters.compare.judged import Judged, JudgedSource, in_use
from tcva_adapters.compare.labels import Draw, Labels, source_of
from tcva_adapters.compare.sweep_views import View, blocks
from tcva_adapters.core.aggregation import make_plan
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import counted
from tcva_adapters.results.config import Config
from tcva_adapters.results.evidence import Evidence
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import BoolArray, FloatArray, IntArray, group_codes, numbers
from tcva_adapters.stats.selection import round_weights

Human = str | Labels | npt.ArrayLike
"""Where human ratings are: a key of the metadata, files of labels, or the ratings, shape (N,)."""


@dataclass(frozen=True, eq=False)
class RatedSamples:
    """The samples of one judge, some of them rated by humans.

    Attributes:
        judged: What was judged.
        scoring: The setting of the dial.
        scores: Shape (N,); nan where there is none.
        ratings: Shape (N,), as they were given; nan where there is none.
        human: Where the ratings are from; empty without any.
        system: The metadata field of the systems; empty where all samples are of one.
        systems: Names of the systems.
        of_system: The place of each sample's system among them, shape (N,).
        group: The metadata field of the groups; empty without.
        groups: Groups as numbers from 0 up, shape (N,); None without.
        draws: How the samples of a file of labels were chosen, by id.
        notes: What does not fit together, in sentences.
        unused: What of a configuration does not apply here, in sentences.
    """

    judged: Judged
    scoring: ScoringConfig
    scores: FloatArray
    ratings: FloatArray
    human: str
    system: str
    systems: tuple[str, ...]
    of_system: IntArray
    group: str
    groups: IntArray | None
    draws: Mapping[str, Draw]
    notes: tuple[str, ...]
    unused: tuple[str, ...]

    @classmethod
    def of(
        cls,
        judged: JudgedSource,
        human: Human | None,
        *,
        system: str | Sequence[Any] | None = None,
        group: str | Sequence[Any] | None = None,
        temperature: float | str | None = None,
        evidence: Evidence | None = None,
        config: Config | str | Path | None = None,
        skip_bad: bool = False,
    ) -> RatedSamples:
        """Read or take samples; see `estimate` for the arguments and the errors."""
        asked = {"temperature": temperature, "evidence": evidence}
        dial = in_use(config).changed(**{name: v for name, v in asked.items() if v is not None})
        read = Judged.of(judged, skip_bad=skip_bad).under(dial.evidence)
        view = View(make_plan([dial.temperature], **dial.options))
        scores = np.concatenate([view(block)[:, 0] for block in blocks(read.counts)])
        said: list[str] = []
        ratings = np.full(len(read), np.nan)
        if human is not None:
            ratings = read.ratings(human)
            if len(ratings) != len(read):
                msg = f"{len(ratings)} human ratings for {len(read)} samples; give one for each"
                raise InvalidValueError(msg)
        if isinstance(human, Labels):
            said += human.lost(read.names)
        if unscored := int((np.isfinite(ratings) & np.isnan(scores)).sum()):
            verb = "has no score and is" if unscored == 1 else "have no score and are"
            said.append(f"{counted(unscored, 'rated sample')} {verb} left out")
        names, of_system = _named(read, system)
        groups = None
        if group is not None:
            every = np.ones(len(read), dtype=np.bool_)
            field = group if isinstance(group, str) else "group"
            values = read.values(group, "groups")
            groups = group_codes(groups_in(values, lambda: read.names, field, every), every)
        return cls(
            read,
            dial,
            scores,
            ratings,
            "" if human is None else source_of(human),
            system if isinstance(system, str) else "",
            names,
            of_system,
            group if isinstance(group, str) else "",
            groups,
            human.draws if isinstance(human, Labels) else {},
            tuple(said),
            read.unused(config),
        )

    @cached_property
    def names(self) -> list[str]:
        """An id for each sample; the number of its row, from 1 up, where the counts are bare."""
        return self.judged.names or [f"row-{place}" for place in range(1, len(self.scores) + 1)]

    @property
    def scored(self) -> BoolArray:
        """Which samples have a score, shape (N,): the estimate is of these."""
        return np.isfinite(self.scores)

    @property
    def rated(self) -> BoolArray:
        """Which of these are rated, shape (N,)."""
        return self.scored & np.isfinite(self.ratings)

    def rounds(self) -> tuple[FloatArray, IntArray]:
        """With which chance and in which round each rated sample was chosen, shape (N,).

        Of what nothing is known (round 0), all are taken to have had the same chance. Where some
        samples of a round were left open, the chances of the others are as much smaller.
        """
        inclusion, number = np.full(len(self.scores), np.nan), np.zeros(len(self.scores), np.int64)
        rated = self.rated
        plain = rated.copy()
        if self.draws:
            for place, name in enumerate(self.names):
                if rated[place] and name in self.draws:
                    inclusion[place], number[place] = self.draws[name]
                    plain[place] = False
            for each, (answered, drawn) in self.answered.items():
                inclusion[(number == each) & ~plain] *= answered / drawn
        if plain.any():
            inclusion[plain] = plain.sum() / self.scored.sum()
        return inclusion, number

    @cached_property
    def answered(self) -> dict[int, tuple[int, int]]:
        """By round, how many of those chosen are rated, and how many there are; rounds with a rating."""
        rated = {name for name, has in zip(self.names, self.rated, strict=True) if has}
        drawn = Counter(draw.round for draw in self.draws.values())
        there = Counter(draw.round for name, draw in self.draws.items() if name in rated)
        return {each: (there[each], drawn[each]) for each in sorted(there)}

    def weights(self) -> FloatArray | None:
        """What each rated sample stands for, shape (N,); None where all have had the same chance."""
        if not self.draws:
            return None
        inclusion, number = self.rounds()
        rated, found = self.rated, np.ones(len(self.scores))
        if rated.any():
            found[rated] = round_weights(inclusion[rated], number[rated])
        return found

    def passing(self, threshold: float | None) -> RatedSamples:
        """The same with 1 for ratings from a threshold on, and 0 below; as they are without one."""
        if threshold is None:
            return self
        found = np.where(np.isnan(self.ratings), np.nan, self.ratings >= threshold)
        return replace(self, ratings=numbers("ratings", found))


def _named(judged: Judged, system: str | Sequence[Any] | None) -> tuple[tuple[str, ...], IntArray]:
    """The systems' names in the order of their first sample, and which one each sample is of."""
    if system is None:
        return ("",), np.zeros(len(judged), np.int64)
    values = judged.values(system, "systems")
    codes = group_codes(values, np.ones(len(judged), dtype=np.bool_))
    firsts = np.unique(codes, return_index=True)[1]
    return tuple(str(values[place]) for place in firsts), codes
