"""The base of all judgements: why there is no score, the cost, and the layout in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
)

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import FROZEN, first_fault


class Reason(StrEnum):
    """Why a sample has no score."""

    NO_CLAIMS = "no_claims"
    REFUSAL = "refusal"
    EMPTY_RESPONSE = "empty_response"
    EMPTY_CONTEXT = "empty_context"
    EMPTY_REFERENCE = "empty_reference"
    EMPTY_INPUT = "empty_input"
    MISSING_FIELD = "missing_field"
    INCOMPLETE_VERDICTS = "incomplete_verdicts"
    UNREADABLE_REPLY = "unreadable_reply"
    JUDGE_ERROR = "judge_error"
    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    INVALID_INPUT = "invalid_input"
    TOO_LONG = "too_long"

    @property
    def is_failure(self) -> bool:
        """Whether another try or input may give a score; false where the sample itself has none."""
        return self in FAILURES


FAILURES = frozenset(
    {
        Reason.INCOMPLETE_VERDICTS,
        Reason.UNREADABLE_REPLY,
        Reason.JUDGE_ERROR,
        Reason.RATE_LIMIT,
        Reason.TIMEOUT,
        Reason.INVALID_INPUT,
    }
)

SILENT = frozenset({Reason.NO_CLAIMS, Reason.REFUSAL})
"""Reasons of texts that claim nothing, so that there is nothing to check."""


class Unscored(BaseModel):
    """Why there is no score, in a word and in a sentence.

    Attributes:
        reason: The word.
        detail: The sentence.
        raw_reply: The judge's reply, where there was one, since it was paid for.
        fatal: True where no further call is made, because it would fail, too (a wrong key), or
            because so many calls failed that the run ended.
    """

    model_config = FROZEN

    reason: Reason
    detail: str = ""
    raw_reply: str | None = None
    fatal: bool = False

    @property
    def text(self) -> str:
        """The word, with the sentence behind it where there is one."""
        return (
            f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value
        )


class Usage(BaseModel):
    """The cost of a judgement. ``cost`` is None where no prices were given."""

    model_config = FROZEN

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    seconds: float = 0.0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        costs = (self.cost, other.cost)
        sums = {
            name: value + getattr(other, name) for name, value in self if name != "cost"
        }
        cost = None if costs == (None, None) else sum(filter(None, costs))
        return Usage(**sums, cost=cost)


# A result has more fields than its assessment.
READ = ConfigDict(frozen=True, extra="ignore")

SCHEMA_VERSION: Final = 4
"""Version of the JSON layout; others are refused."""


def _known_layout(layout: object) -> object:
    if layout != SCHEMA_VERSION:
        raise ValueError(f"layout {layout!r} is not supported; judge the samples again")
    return layout


Layout = Annotated[Literal[4], BeforeValidator(_known_layout)]
"""The version of a written layout; any other is refused with advice."""

_COSTS = frozenset({"usage", "from_store", "shared", "judged_by"})


class Layouted(BaseModel):
    """Base of models that are written as JSON with the version of their layout, and read back.

    Attributes:
        schema_version: The version of the layout.
        called: Its name in messages that refuse something else.
    """

    model_config = READ
    called: ClassVar[str]

    schema_version: Layout = SCHEMA_VERSION  # files of assessments are known by it

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read the JSON that ``to_json`` wrote.

        Raises:
            UnreadableInputError: Not JSON, another layout version, or fields that do not fit.
        """
        with cls._refusal():
            return cls.model_validate_json(text)

    @classmethod
    def from_dict(cls, plain: Fields) -> Self:
        """Read the same from JSON values; further fields, such as a score, are ignored.

        Raises:
            UnreadableInputError: Another layout version, or fields that do not fit.
        """
        with cls._refusal():
            return cls.model_validate(plain)

    @classmethod
    @contextmanager
    def _refusal(cls) -> Iterator[None]:
        try:
            yield
        except ValidationError as error:
            raise UnreadableInputError(
                f"not {cls.called} of layout {SCHEMA_VERSION}: {first_fault(error)}"
            ) from None


class Judgement(Layouted):
    """A judgement of one sample, which is paid for once.

    Two judgements are compared without their cost, and whether or not a judge was asked this time.

    Attributes:
        unscored: Why there is no score; None where there is one.
        usage: Calls, tokens, seconds and cost.
        from_store: True when a store served it: no judge was asked this time.
        shared: True when another evaluator of this process had asked, or was asking, for the same
            judgement: no judge was asked for this one, and it cost nothing.
        stored_as: The name of its kind in a store; equal keys of different kinds do not meet.
    """

    stored_as: ClassVar[str] = "record"

    unscored: Unscored | None = None
    usage: Usage = Usage()
    from_store: bool = False
    shared: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Judgement):
            return NotImplemented
        return self._judged() == other._judged()

    __hash__ = BaseModel.__hash__

    def _judged(self) -> Json:
        """All fields except those about its cost and origin."""
        return {name: value for name, value in self if name not in _COSTS}

    @property
    def is_new(self) -> bool:
        """Whether a judge was asked for it this time."""
        return not (self.from_store or self.shared)

    @property
    def failure(self) -> Unscored | None:
        """The failure after which another try may give a score; None where there is none."""
        why = self.unscored
        return why if why and why.reason.is_failure else None
