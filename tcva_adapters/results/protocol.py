"""What every result is, whoever scored it."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Protocol, Self, TypeGuard, runtime_checkable

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.assessment import ClaimVerdict, Unscored, Usage
from tcva_adapters.samples.records import record_once


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

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without loss; score, passed and reason stand in it for other readers."""

    def to_json(self) -> str:
        """One line of JSON, which `read_result` reads back to an equal result."""


def is_result(value: object) -> TypeGuard[Scored]:
    """Whether a value is a result, known by a method that nothing else has.

    A check of the whole protocol would work out every property.
    """
    return hasattr(value, "unscored_for")


def json_object(text: str | bytes, *, what: str = "a result") -> dict[str, Any]:
    """A JSON object.

    Args:
        text: The JSON.
        what: What it should be, as the message calls it.

    Raises:
        UnreadableInputError: Not JSON, or something else than an object.
    """
    try:
        plain = json.loads(text, object_pairs_hook=record_once)
    except (ValueError, RecursionError) as error:
        msg = f"not {what}, as it is not JSON: {error}"
        raise UnreadableInputError(msg) from None
    if not isinstance(plain, dict):
        msg = f"not {what}, got {type(plain).__name__}"
        raise UnreadableInputError(msg)
    return plain
