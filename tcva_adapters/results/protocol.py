"""The protocol of results, whatever method scored them."""

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
        """The score in [0, 1]; None where there is none."""

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
        """`reason` without any text of the sample, the judge or an error."""

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
        """The cost of this run; nothing where a store or another evaluator supplied it."""

    @property
    def breakdown(self) -> dict[str, float]:
        """The components of the score by name: claims per level, or parts."""

    @property
    def sample_id(self) -> str | None:
        """The sample's id."""

    def unscored_for(self, why: Unscored) -> Self:
        """Make a result without a score for another sample, with this judge and settings."""

    def to_dict(self) -> Json:
        """Convert to JSON values without loss; score, passed and reason are for other readers."""

    def to_json(self) -> str:
        """One line of JSON, which `read_result` reads back to an equal result."""


def is_result(value: object) -> TypeGuard[Scored]:
    """Whether a value is a result, recognised by a method that nothing else has.

    A check of the whole protocol would compute every property.
    """
    return hasattr(value, "unscored_for")
