"""The alternative-annotator test: may a judge stand in for one of several human raters?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import FloatArray, Groups, check_level, numbers
from tcva_adapters.stats.jackknife import means_without, standard_error
from tcva_adapters.stats.raters import ENOUGH, mean_rating
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.scipy_extra import scipy_module

MIN_RATERS = 3
"""With two raters nothing shows which of them is nearer to others."""

ALPHA = 0.05
"""The judge wins against the raters with a p of at most this, and needs half of them."""

_SAME = 12


class RaterTests(NamedTuple):
    """A judge against each of R raters, by how near both come to the other raters.

    Attributes:
        n: Samples with a score, this rater's rating and another one, shape (R,).
        advantage: The share of these on which the judge is as near to the others as the rater, or
            nearer; nan with too few samples, as is p.
        p: One-sided, of "the rater is nearer than the judge more often, by epsilon or more",
            corrected for all raters by Benjamini and Yekutieli.
    """

    n: FloatArray
    advantage: FloatArray
    p: FloatArray


def alternative_annotator(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    groups: Groups = None,
    *,
    epsilon: float = 0.2,
) -> RaterTests:
    """Test a judge against each rater in turn, by the ratings of the others.

    A sample counts 1 if the rater is nearer to the others than the judge, by the root mean square of
    the distances, -1 if the judge is, and 0 if they are equally near. p is that of Student's t for a
    mean of epsilon or more, so epsilon is what the judge may lack because it costs less: .2 where the
    raters are experts, .15 skilled annotators, .1 crowd workers. Source: N. Calderon, R. Reichart and
    R. Dror, The Alternative Annotator Test for LLM-as-a-Judge, ACL 2025 (arXiv 2501.10970).

    Args:
        judge: Ratings by the judge on the raters' scale, shape (N,); nan or None where there is none.
        ratings: Shape (N, R), a column per rater, likewise.
        groups: One per sample, or None; whole groups then count as one in the error of the mean.
        epsilon: In (0, 1).

    Raises:
        InvalidValueError: Columns or groups that do not fit, or epsilon outside (0, 1).
        MissingDependencyError: scipy is not installed.

    The judge gives the truth, and each of three raters errs on another third of 90 samples:

    >>> truth = np.tile([0.0, 1.0], 45)
    >>> wrong = np.arange(90)[:, None] % 3 == np.arange(3)
    >>> tests = alternative_annotator(truth, np.abs(truth[:, None] - wrong))
    >>> tests.advantage, tests.p < ALPHA
    (array([1., 1., 1.]), array([ True,  True,  True]))
    """
    check_level(epsilon, "epsilon", 0.2)
    table = numbers("ratings", ratings, ndim=2)
    scores = numbers("judge", judge)
    tests = RaterTests(*np.full((3, table.shape[1]), np.nan))
    for rater, own in enumerate(table.T):
        others = np.delete(table, rater, axis=1)
        judge_off, rater_off = (
            mean_rating((rating[:, None] - others) ** 2) for rating in (scores, own)
        )
        farther = np.sign((judge_off - rater_off).round(_SAME))
        units = Units(groups, np.isfinite(farther))
        tests.n[rater] = units.n
        if units.why_no_interval(ENOUGH):
            continue
        farther = farther[np.isfinite(farther)]
        error = standard_error(means_without(farther, units.unit_codes))
        t = (farther.mean() - epsilon) / max(error, 1e-12)
        tests.advantage[rater] = np.mean(farther <= 0.0)
        tests.p[rater] = scipy_module("special").stdtr(units.equal - 1.0, t)
    tested = np.isfinite(tests.p)
    tests.p[tested] = scipy_module("stats").false_discovery_control(
        tests.p[tested], method="by"
    )
    return tests
