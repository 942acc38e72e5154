"""What every result is, whoever scored it."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self, TypeGuard, runtime_checkable

from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.judgement import Unscored, Usage
from tcva_adapters.samples.json_values import Json


@runtime_checkable
class Scored(Protocol):
    """A score and what it rests on."""

    kind: ClassVar[str]

    @property
    def score(self) -> float | None:
        """In [0, 1]; None where there is none."""

    @property
    def passed(self) -> bool | None:
        """Whether the score reaches the threshold; None where there is no score.

        False for an answer that no gate passes, see `Result.mostly_marked`.
        """

    @property
    def reason(self) -> str:
        """The score in one sentence, or why there is none."""

    @property
    def summary(self) -> str:
        """The same without any text of the sample, the judge or an error."""

    @property
    def unscored(self) -> Unscored | None:
        """Why there is no score of its own; None where there is one."""

    @property
    def nothing_to_check(self) -> bool:
        """Whether the text claims nothing, so that gates let it through."""

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims with their verdicts; none where whole answers are rated."""

    @property
    def usage(self) -> Usage:
        """What it cost this time: nothing where a store or another evaluator had it."""

    @property
    def breakdown(self) -> dict[str, float]:
        """What the score is made of, by name: claims per level, or parts."""

    @property
    def sample_id(self) -> str | None:
        """The sample's id."""

    def unscored_for(self, why: Unscored) -> Self:
        """The result of another sample that has no score, by the same judge and settings."""

    def to_dict(self) -> Json:
        """As JSON values, without loss; score, passed and reason stand in it for other readers."""

    def to_json(self) -> str:
        """One line of JSON, which `read_result` reads back to an equal result."""


def is_result(value: object) -> TypeGuard[Scored]:
    """Whether a value is a result, known by a method that nothing else has.

    A check of the whole protocol would work out every property.
    """
    return hasattr(value, "unscored_for")
