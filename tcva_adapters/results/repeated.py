"""How far the scores of independent judgements of one sample lie apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import stdev
from typing import Protocol, Self


class _Scored(Protocol):
    @property
    def score(self) -> float | None: ...
    @property
    def passed(self) -> bool | None: ...


@dataclass(frozen=True, slots=True)
class Repeated:
    """The repeats of one sample that have a score, two or more.

    Attributes:
        scores: In the order of the repeats.
        passed: How many of them reach the threshold.
    """

    scores: tuple[float, ...]
    passed: int

    @classmethod
    def of(cls, results: Iterable[_Scored]) -> Self | None:
        """Of the repeats' results; None where fewer than two have a score."""
        scored = [(each.score, each.passed) for each in results if each.score is not None]
        if len(scored) < 2:
            return None
        return cls(tuple(s for s, _ in scored if s is not None), sum(bool(p) for _, p in scored))

    @property
    def spread(self) -> float:
        """Standard deviation of the scores (over n - 1): the judge's noise on this sample.

        >>> round(Repeated((0.5, 0.75, 1.0), 2).spread, 12)
        0.25
        """
        return stdev(self.scores)

    @property
    def flips(self) -> bool:
        """Whether repeats lie on both sides of the threshold.

        >>> Repeated((0.5, 0.75, 1.0), 2).flips
        True
        """
        return 0 < self.passed < len(self.scores)

    @property
    def disagreement(self) -> float:
        """Share of the pairs of repeats of which one passes and one does not, in [0, 1].

        >>> round(Repeated((0.5, 0.75, 1.0), 2).disagreement, 3)
        0.667
        """
        number = len(self.scores)
        return 2 * self.passed * (number - self.passed) / (number * (number - 1))

    @property
    def text(self) -> str:
        """The same in a few words."""
        sides = f", {self.passed} of them pass" if self.flips else ""
        return (
            f"{len(self.scores)} repeats from {min(self.scores):.3f} to {max(self.scores):.3f} "
            f"(sd {self.spread:.3f}{sides})"
        )
