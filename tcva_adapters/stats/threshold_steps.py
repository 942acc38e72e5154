"""All thresholds of a score, in steps within which the same passes."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from tcva_adapters.stats.checks import SAME, FloatArray


class Steps(NamedTuple):
    """All thresholds from 1 down to 0, in steps within which the same answers pass.

    A step reaches from an observed score, which belongs to it, down to the next lower one, which
    does not.

    Attributes:
        ends: The highest threshold of each step, shape (K,), the strictest first.
        middles: The middle of each step, shape (K,); of the lowest step 0, at which all pass.
    """

    ends: FloatArray
    middles: FloatArray

    @classmethod
    def between(cls, scores: FloatArray) -> Self:
        """Cut the thresholds at these scores, of which nan is left out.

        >>> Steps.between(np.array([0.2, 0.5, 0.2, np.nan]))
        Steps(ends=array([1. , 0.5, 0.2]), middles=array([0.75, 0.35, 0.  ]))
        """
        observed = np.union1d(scores[(scores >= 0.0) & (scores <= 1.0)], [1.0])
        starts = np.flatnonzero(np.diff(observed, prepend=-1.0) > SAME)
        ends = observed[starts]
        middles = (ends[1:] + observed[starts[1:] - 1]) / 2.0
        return cls(ends[::-1], np.append(middles[::-1], 0.0))
