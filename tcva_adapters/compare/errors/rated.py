"""The samples with a score and a human rating, both on the scale of the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.calibration.rated import Rated
from tcva_adapters.compare.judged import Judged, has_score
from tcva_adapters.compare.labels import Labels
from tcva_adapters.core.aggregation import make_plan, scores_of
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import BoolArray, FloatArray, IntArray, group_codes


@dataclass(frozen=True, slots=True, eq=False)
class RatedScores:
    """Samples with a score and a human rating.

    Attributes:
        judged: All samples.
        places: Which of them these are, shape (n,), rising.
        scores: In [0, 1], shape (n,).
        human: Ratings on the same scale, shape (n,).
        counts: Level counts of the main judge, shape (n, 5).
        codes: The group of each, from 0 up; None where samples stand alone.
        unscored: Samples left out because they have no score.
        unrated: Samples left out because nobody rated them.
    """

    judged: Judged
    places: IntArray
    scores: FloatArray
    human: FloatArray
    counts: FloatArray
    codes: IntArray | None
    unscored: int
    unrated: int

    @property
    def errors(self) -> FloatArray:
        """Score less rating, in [-1, 1]."""
        return self.scores - self.human

    @property
    def clusters(self) -> int | None:
        """How many groups there are."""
        return None if self.codes is None else int(self.codes.max()) + 1

    def codes_of(self, members: BoolArray) -> IntArray | None:
        """The groups of some of the samples, numbered from 0 up without gaps."""
        return (
            None if self.codes is None else np.unique(self.codes[members], return_inverse=True)[1]
        )

    @classmethod
    def of(
        cls,
        judged: Judged,
        human: str | Labels | npt.ArrayLike,
        scoring: ScoringConfig,
        human_scale: tuple[float, float],
        group: str | Sequence[Any] | None,
    ) -> RatedScores:
        """Score at the setting, and bring the ratings to the scale of the scores.

        Raises:
            InvalidValueError: No sample has both, a rating lies outside the scale, or groups that
                do not fit.
        """
        read = judged.under(scoring.evidence)
        counts, ratings = read.counts, read.ratings(human)
        rated = Rated.of(counts, ratings, None)
        rated.check_scale(human_scale)
        low, high = human_scale
        kept = has_score(counts) & np.isfinite(ratings)
        plan = make_plan([scoring.temperature], **scoring.options)
        by_judge = [scores_of(each, plan) for each in rated.counts.swapaxes(0, 1)]
        groups = read.groups(group, ratings)
        return cls(
            judged=read,
            places=np.flatnonzero(kept),
            scores=scoring.joined(by_judge)[:, 0],
            human=(rated.human - low) / (high - low),
            counts=rated.counts[:, 0],
            codes=None if groups is None else group_codes(groups, kept),
            unscored=rated.unscored,
            unrated=rated.unrated,
        )
