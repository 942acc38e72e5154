"""Is a mean of paired differences 0? The test by sign flips, exact where that is few enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, group_codes, numbers, whole

MOST_EXACT: Final = 17
"""All flips are counted up to so many differences; one sign may be held, which leaves 2**16."""

_TOGETHER: Final = 8
"""Signs that are drawn at once, as a byte, and whose sums are looked up."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """A test of a mean of differences against 0.

    Attributes:
        p_two_sided: For "positive and negative differences of a size are equally likely"; nan
            without a difference.
        is_exact: All flips were counted, so p is exact; otherwise some were drawn.
        n: Differences.
        clusters: Groups that were flipped as one; None where single differences were.
    """

    p_two_sided: float
    is_exact: bool
    n: int
    clusters: int | None = None

    @property
    def test(self) -> str:
        """What was done, in a few words.

        >>> sign_flip([1.0, 2.0]).test
        'sign flips, exact'
        """
        return f"sign flips, {'exact' if self.is_exact else 'drawn'}"


def sign_flip(
    differences: npt.ArrayLike,
    *,
    groups: Sequence[object] | None = None,
    n_flips: int = 10_000,
    seed: int = 0,
) -> SignFlip:
    """Test whether a mean of paired differences is 0, by turning the signs of differences round.

    If two methods do not differ, a sample's difference might as well have the other sign. So p is
    the share of all assignments of signs whose mean is at least as far from 0 as the one at hand.
    For equal methods it is at most any level in at most that share of cases, however few the
    samples are and whatever the differences look like, as long as they lie symmetrically around 0;
    where they do not, it holds for larger n. Source: E. J. G. Pitman, Significance tests which may
    be applied to samples from any populations, Supplement to the JRSS 4 (1937).

    Up to 17 differences other than 0 all assignments are counted. Beyond that ``n_flips`` are
    drawn, and p is (hits + 1) / (n_flips + 1), which keeps the level and is never 0. With n
    differences p is at least 2 / 2**n: fewer than six are never significant at 0.05.

    Args:
        differences: Shape (N,); nan, None or infinite ones are left out.
        groups: One per difference: the signs of a group are turned round together.
        n_flips: How many are drawn where they are too many to count.
        seed: Of these draws: same seed, same p.

    Raises:
        InvalidValueError: Values that are no numbers, groups that do not fit, n_flips below 1 or a
            negative seed.

    Of the 8 sums +-1 +-2 +-3 two are as far from 0 as 6 is; with -1 for 1, four as far as 4:

    >>> sign_flip([1.0, 2.0, 3.0]).p_two_sided, sign_flip([-1.0, 2.0, 3.0]).p_two_sided
    (0.25, 0.5)
    """
    values = numbers("differences", differences)
    n_flips, seed = whole("n_flips", n_flips, least=1), whole("seed", seed, least=0)
    kept = np.isfinite(values)
    units, clusters = values[kept], None
    if groups is not None:
        codes = group_codes(groups, kept)
        units = np.bincount(codes, weights=units).astype(np.float64)
        clusters = len(units)
    n = int(kept.sum())
    if not n:
        return SignFlip(float("nan"), is_exact=True, n=0, clusters=clusters)
    with np.errstate(over="ignore"):
        size = float(np.abs(units).sum())
    if not np.isfinite(size):
        msg = f"differences up to {float(np.abs(units).max())!r} are too large to be summed up"
        raise InvalidValueError(msg)
    # A sum that is equal on paper differs in the last bits.
    reached = abs(float(units.sum())) - 1e-12 * size
    units = units[units != 0.0]
    if len(units) <= MOST_EXACT:
        p = float(np.mean(np.abs(_all_sums(units)) >= reached))
        return SignFlip(p, is_exact=True, n=n, clusters=clusters)
    hits = int(np.count_nonzero(np.abs(_drawn_sums(units, n_flips, seed)) >= reached))
    return SignFlip((hits + 1) / (n_flips + 1), is_exact=False, n=n, clusters=clusters)


def _all_sums(units: FloatArray) -> FloatArray:
    """The sums under all signs of all but the first one; the other half of them mirrors these."""
    sums: FloatArray = units[:1].copy() if len(units) else np.zeros(1)
    for unit in units[1:]:
        sums = np.concatenate([sums + unit, sums - unit])
    return sums


def _drawn_sums(units: FloatArray, n_flips: int, seed: int) -> FloatArray:
    """The sums under so many draws of the signs.

    One random byte has the signs of eight units, and its sum stands in a table.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    padded = np.zeros(-(-len(units) // _TOGETHER) * _TOGETHER)
    padded[: len(units)] = units
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    sums = np.zeros(n_flips)
    for eight in padded.reshape(-1, _TOGETHER):
        sums += (signs * eight).sum(axis=1)[rng.integers(0, 256, n_flips, dtype=np.uint8)]
    return sums
