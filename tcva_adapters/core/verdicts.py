"""The five verdict levels and the weights that turn them into numbers (paper, Table 1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.checks import as_list, as_matrix, as_number
from tcva_adapters.errors import InvalidValueError

FloatArray = npt.NDArray[np.float64]
Shares = tuple[float, float, float, float, float]


class Verdict(StrEnum):
    """How far one claim is satisfied, best level first.

    >>> Verdict("fully")
    <Verdict.FULLY: 'fully'>
    >>> Verdict.parse("Partially") is Verdict.PARTIAL
    True
    """

    FULLY = "fully"
    MOSTLY = "mostly"
    PARTIAL = "partial"
    MINOR = "minor"
    NONE = "none"

    @staticmethod
    def parse(word: str) -> Verdict:
        """Read the level that a word names, in any case; ``partially`` is the paper's other spelling.

        Raises:
            InvalidValueError: The word names no level.
        """
        level = _BY_WORD.get(word.strip().lower()) if isinstance(word, str) else None
        if level is None:
            raise InvalidValueError(
                f"a verdict must be one of {', '.join(LEVELS)}, got {word!r}"
            )
        return level


LEVELS = tuple(Verdict)
"""All levels, fully first: the column order of every counts matrix."""

_BY_WORD = {
    **{level.value: level for level in LEVELS},
    "partially": Verdict.PARTIAL,
}


@dataclass(frozen=True, slots=True)
class WeightScheme:
    """The weight of each level: five numbers in [0, 1], non-increasing from fully to none.

    Attributes:
        name: The name of the scheme in tables.
        weights: fully, mostly, partial, minor, none.

    Raises:
        InvalidValueError: There are not five numbers, one lies outside [0, 1], or one is above
            that of the level before.

    >>> WeightScheme.DEFAULT.weights
    (1.0, 0.9, 0.7, 0.3, 0.0)
    >>> WeightScheme.resolve([1, 0.8, 0.6, 0.2, 0]).weights
    (1.0, 0.8, 0.6, 0.2, 0.0)
    """

    name: str
    weights: Shares

    DEFAULT: ClassVar[WeightScheme]

    def __post_init__(self) -> None:
        numbers = [as_number(weight) for weight in as_list("weights", self.weights)]
        if None in numbers or len(numbers) != len(LEVELS):
            levels = ", ".join(LEVELS)
            raise InvalidValueError(
                f"a weight scheme must have five numbers ({levels}), got {self.weights!r}"
            )
        weights = as_matrix("weights", [numbers], LEVELS, 1.0, wanted="in [0, 1]")[0]
        if (np.diff(weights) > 0.0).any():
            raise InvalidValueError(f"weights must never rise, got {self.weights!r}")
        object.__setattr__(self, "weights", tuple(weights.tolist()))

    @classmethod
    def resolve(cls, scheme: WeightScheme | str | Sequence[float]) -> WeightScheme:
        """Return a scheme as it is, by its published name, or made of five numbers.

        Raises:
            InvalidValueError: The name is unknown or the numbers make no scheme.
        """
        if isinstance(scheme, WeightScheme):
            return scheme
        if isinstance(scheme, str):
            if scheme not in SCHEMES:
                names = ", ".join(SCHEMES)
                raise InvalidValueError(
                    f"a weight scheme must be five numbers or one of {names}, got {scheme!r}"
                )
            return SCHEMES[scheme]
        return cls("custom", scheme)  # type: ignore[arg-type]  # __post_init__ checks the length

    @property
    def short_name(self) -> str:
        """A published scheme's name, else its weights."""
        published = (name for name, it in SCHEMES.items() if it.weights == self.weights)
        return next(published, "/".join(f"{weight:g}" for weight in self.weights))

    def weight(self, verdict: Verdict) -> float:
        """The weight of one level.

        Raises:
            InvalidValueError: It is no level.
        """
        return self.weights[LEVELS.index(Verdict.parse(verdict))]


SCHEMES = {
    name: WeightScheme(name, weights)
    for name, weights in {
        "default": (1.0, 0.9, 0.7, 0.3, 0.0),
        "linear": (1.0, 0.75, 0.5, 0.25, 0.0),
        "aggressive": (1.0, 0.95, 0.8, 0.1, 0.0),
        "conservative": (1.0, 0.8, 0.5, 0.2, 0.0),
    }.items()
}
"""The schemes of the paper's Table 7, by name."""
WeightScheme.DEFAULT = SCHEMES["default"]


def count_levels(verdicts: Iterable[Verdict | str]) -> list[int]:
    """How often each level occurs, fully first.

    The counts are all that a score depends on.

    Raises:
        InvalidValueError: A word names no level, or ``verdicts`` is not a list.

    >>> count_levels(["fully", "none", "fully"])
    [2, 0, 0, 0, 1]
    """
    levels = [Verdict.parse(verdict) for verdict in as_list("verdicts", verdicts)]
    return [levels.count(level) for level in LEVELS]


def level_shares(p_yes: float) -> Shares:
    """The shares of fully, mostly, partial, minor and none that a probability of a yes stands for.

    Each level stands at its weight in the default scheme. A probability between two of them is
    shared by these two, in proportion to how near it is. So under that scheme the expected weight
    is the probability itself, and under any scheme it never falls when ``p_yes`` rises.

    Args:
        p_yes: 0 to 1.

    Raises:
        InvalidValueError: ``p_yes`` is no probability.

    >>> [round(share, 6) for share in level_shares(0.8)]
    [0.0, 0.5, 0.5, 0.0, 0.0]
    >>> level_shares(0.0)
    (0.0, 0.0, 0.0, 0.0, 1.0)
    """
    if not 0.0 <= p_yes <= 1.0:
        raise InvalidValueError(f"p_yes must be between 0 and 1, got {p_yes!r}")
    weights = WeightScheme.DEFAULT.weights
    upper = max(i for i, weight in enumerate(weights[:-1]) if weight >= p_yes)
    above, below = weights[upper : upper + 2]
    share = (p_yes - below) / (above - below)
    shares = [0.0] * len(weights)
    shares[upper] = share
    shares[upper + 1] = 1.0 - share
    return cast("Shares", tuple(shares))  # one per level


def likeliest(shares: Shares) -> Verdict:
    """The level with the largest share; of equal ones the strictest.

    >>> likeliest((0.0, 0.5, 0.5, 0.0, 0.0)).value
    'partial'
    """
    # Rounding may have made one of two equal shares larger.
    return LEVELS[max(range(len(LEVELS)), key=lambda i: (round(shares[i], 9), i))]
