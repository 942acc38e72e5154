"""Counts and labels of the samples that have both, checked for what is asked of them."""

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
class Labelled:
    """Samples with a score and a label, and how many were left out.

    Attributes:
        counts: Shape (N, J, 5); the first judge's rows are not zero.
        human: Shape (N,), finite.
        groups: One per sample, or None.
        unscored: Samples left out because they have no score.
        unlabelled: Samples left out because nobody labelled them.
    """

    counts: FloatArray
    human: FloatArray
    groups: list[Any] | None
    unscored: int
    unlabelled: int

    @classmethod
    def of(
        cls, counts: npt.ArrayLike, human: npt.ArrayLike, groups: Sequence[Any] | None
    ) -> Labelled:
        """Leave out samples that the first judge gave no verdicts, and labels that are nan.

        Args:
            counts: Shape (N, 5), or (N, J, 5) with J judges.
            human: Shape (N,).
            groups: Shape (N,), or None.

        Raises:
            InvalidValueError: Shapes that do not fit, or nothing is left.
        """
        rows = by_judge(counts)
        labels = numbers("human labels", human)
        if labels.shape != (len(rows),):
            msg = f"human labels have the shape {labels.shape} for {len(rows)} samples"
            raise InvalidValueError(msg)
        scored = has_score(rows)
        labelled = np.isfinite(labels)
        kept = scored & labelled
        if not kept.any():
            msg = (
                f"none of the {len(rows)} samples has both a score and a human label "
                f"({int(scored.sum())} have a score, {int(labelled.sum())} a label)"
            )
            raise InvalidValueError(msg)
        return cls(
            rows[kept],
            labels[kept],
            None if groups is None else [groups[i] for i in np.flatnonzero(kept).tolist()],
            int((~scored).sum()),
            int((scored & ~labelled).sum()),
        )

    def check_scale(self, human_scale: tuple[float, float]) -> None:
        """Refuse labels that lie outside the scale that scores are stretched to.

        Raises:
            InvalidValueError: One does, or the scale is none.
        """
        low, high = human_scale
        if not -math.inf < low < high < math.inf:
            msg = f"human_scale={human_scale!r}; it is finite, and its first number is the lowest label"
            raise InvalidValueError(msg)
        least, most = float(self.human.min()), float(self.human.max())
        if least < low or most > high:
            msg = (
                f"human labels lie in [{least:g}, {most:g}], outside the human scale [{low:g}, "
                f"{high:g}]; name yours (1 to 5, say: human_scale=(1, 5), --human-scale 1,5)"
            )
            raise InvalidValueError(msg)

    def target(
        self, objective: Objective, human_scale: tuple[float, float], threshold: float | None
    ) -> FloatArray:
        """What candidates are compared with: labels, or 1 and 0 for pass and fail.

        Raises:
            InvalidValueError: They are all the same.
        """
        if objective.kind != "pass_fail":
            if self.human.min() == self.human.max():
                msg = (
                    f"all {len(self.human)} human labels are {self.human[0]:g}, so no setting can "
                    "agree better than another; label samples that humans rate differently"
                )
                raise InvalidValueError(msg)
            return self.human
        at = sum(human_scale) / 2.0 if threshold is None else threshold
        if not math.isfinite(at):
            msg = f"a label passes from {at!r} on; give a finite human_threshold (or human_scale)"
            raise InvalidValueError(msg)
        passes = (self.human >= at).astype(np.float64)
        if passes.min() == passes.max():
            verdict = "pass" if passes[0] else "fail"
            msg = (
                f"all {len(passes)} human labels {verdict} at human_threshold={at:g}; choose "
                f"another between {self.human.min():g} and {self.human.max():g} "
                "(--human-threshold), or label more samples"
            )
            raise InvalidValueError(msg)
        return passes
