"""Counts and ratings of the samples that have both, checked for what is asked of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.calibration.objectives import Objective
from tcva_adapters.compare.judged import by_judge, has_score
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, numbers


@dataclass(frozen=True)
class Rated:
    """Samples with a score and a rating, and how many were left out.

    Attributes:
        counts: Shape (N, J, 5); the first judge's rows are not zero.
        human: Shape (N,), finite.
        groups: One per sample, or None.
        unscored: Samples left out because they have no score.
        unrated: Samples left out because nobody rated them.
    """

    counts: FloatArray
    human: FloatArray
    groups: list[Any] | None
    unscored: int
    unrated: int

    @classmethod
    def of(cls, counts: npt.ArrayLike, human: npt.ArrayLike, groups: Sequence[Any] | None) -> Rated:
        """Leave out samples that the first judge gave no verdicts, and ratings that are nan.

        Args:
            counts: Shape (N, 5), or (N, J, 5) with J judges.
            human: Shape (N,).
            groups: Shape (N,), or None.

        Raises:
            InvalidValueError: Shapes that do not fit, or nothing is left.
        """
        rows = by_judge(counts)
        ratings = numbers("human ratings", human)
        if ratings.shape != (len(rows),):
            msg = f"human ratings have the shape {ratings.shape} for {len(rows)} samples"
            raise InvalidValueError(msg)
        scored = has_score(rows)
        rated = np.isfinite(ratings)
        kept = scored & rated
        if not kept.any():
            msg = (
                f"none of the {len(rows)} samples has both a score and a human rating "
                f"({int(scored.sum())} have a score, {int(rated.sum())} a rating)"
            )
            raise InvalidValueError(msg)
        return cls(
            rows[kept],
            ratings[kept],
            None if groups is None else [groups[i] for i in np.flatnonzero(kept).tolist()],
            int((~scored).sum()),
            int((scored & ~rated).sum()),
        )

    def check_scale(self, human_scale: tuple[float, float]) -> None:
        """Refuse ratings that lie outside the scale that scores are stretched to.

        Raises:
            InvalidValueError: One does, or the scale is none.
        """
        low, high = human_scale
        if not -math.inf < low < high < math.inf:
            msg = f"human_scale={human_scale!r}; it is finite, and its first number is the lowest rating"
            raise InvalidValueError(msg)
        least, most = float(self.human.min()), float(self.human.max())
        if least < low or most > high:
            msg = (
                f"human ratings lie in [{least:g}, {most:g}], outside the human scale [{low:g}, "
                f"{high:g}]; name yours (1 to 5, say: human_scale=(1, 5), --human-scale 1,5)"
            )
            raise InvalidValueError(msg)

    def target(
        self, objective: Objective, human_scale: tuple[float, float], threshold: float | None
    ) -> FloatArray:
        """What candidates are compared with: ratings, or 1 and 0 for pass and fail.

        Raises:
            InvalidValueError: They are all the same.
        """
        if objective.kind != "pass_fail":
            if self.human.min() == self.human.max():
                msg = (
                    f"all {len(self.human)} human ratings are {self.human[0]:g}, so no setting can "
                    "agree better than another; rate samples that humans rate differently"
                )
                raise InvalidValueError(msg)
            return self.human
        at = sum(human_scale) / 2.0 if threshold is None else threshold
        if not math.isfinite(at):
            msg = f"a rating passes from {at!r} on; give a finite human_threshold (or human_scale)"
            raise InvalidValueError(msg)
        passes = (self.human >= at).astype(np.float64)
        if passes.min() == passes.max():
            verdict = "pass" if passes[0] else "fail"
            msg = (
                f"all {len(passes)} human ratings {verdict} at human_threshold={at:g}; choose "
                f"another between {self.human.min():g} and {self.human.max():g} "
                "(--human-threshold), or rate more samples"
            )
            raise InvalidValueError(msg)
        return passes
