"""What every result is, whoever scored it, and how one is read back from what carries it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, Final, Protocol, Self, runtime_checkable

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.assessment import ClaimVerdict, Unscored, Usage
from tcva_adapters.samples.records import record_once

RESULT_KINDS: Final = {
    "tcva": "tcva_adapters.results.result:Result",
    "ccrs": "tcva_adapters.ccrs.result:CCRSResult",
    "conversation": "tcva_adapters.results.conversation:ConversationResult",
}
"""The classes of results by what their JSON calls them."""


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


def read_result(carried: str | bytes | Mapping[str, Any]) -> Scored:
    """The result that some framework, file or store carries.

    Args:
        carried: What ``to_json`` or ``to_dict`` of a result gave; further fields do no harm.

    Raises:
        UnreadableInputError: It is no result.
    """
    plain: Any = json_object(carried) if isinstance(carried, str | bytes) else carried
    if not isinstance(plain, Mapping):
        msg = f"not a result, got {type(plain).__name__}"
        raise UnreadableInputError(msg)
    kind = plain.get("kind", "ccrs" if "answers" in plain else "tcva")
    if not isinstance(kind, str) or kind not in RESULT_KINDS:
        known = ", ".join(RESULT_KINDS)
        msg = f"not a result: its kind is {kind!r}; this version reads {known}"
        raise UnreadableInputError(msg)
    module, _, name = RESULT_KINDS[kind].partition(":")
    result_class = getattr(import_module(module), name)
    read: Scored = result_class.from_dict(plain)
    return read


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
