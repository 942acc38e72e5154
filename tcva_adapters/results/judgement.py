"""What a judge was asked for and paid for once, and the JSON layout of what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ValidationError,
)

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.claims import READ
from tcva_adapters.results.reasons import Unscored
from tcva_adapters.results.usage import Usage
from tcva_adapters.samples.sample import first_fault

SCHEMA_VERSION: Final = 4
"""Version of the JSON layout; others are refused."""


def _known_layout(layout: object) -> object:
    if layout != SCHEMA_VERSION:
        raise ValueError(f"layout {layout!r} is not supported; judge the samples again")
    return layout


Layout = Annotated[Literal[4], BeforeValidator(_known_layout)]
"""The version of what was written; another one is refused with the way out."""

_COSTS = frozenset({"usage", "from_store", "shared", "judged_by"})


class Layouted(BaseModel):
    """What is written as JSON with the version of its layout, and read back.

    Attributes:
        schema_version: The version of the layout.
        called: What it is called where something else is refused.
    """

    model_config = READ
    called: ClassVar[str]

    schema_version: Layout = SCHEMA_VERSION  # files of assessments are known by it

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """What ``to_json`` wrote.

        Raises:
            UnreadableInputError: Not JSON, another layout version, or fields that do not fit.
        """
        return cls._read(cls.model_validate_json, text)

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> Self:
        """The same from JSON values; what else there is, such as a score, is left out.

        Raises:
            UnreadableInputError: Another layout version, or fields that do not fit.
        """
        return cls._read(cls.model_validate, plain)

    @classmethod
    def _read(cls, validate: Callable[[Any], Self], written: object) -> Self:
        try:
            return validate(written)
        except ValidationError as error:
            raise UnreadableInputError(
                f"not {cls.called} of layout {SCHEMA_VERSION}: {first_fault(error)}"
            ) from None


class Judgement(Layouted):
    """What a judge was asked for, and paid for, once.

    Equal judgements are equal, whatever they cost and whether a judge was asked this time.

    Attributes:
        unscored: Why there is no score; None where there is one.
        usage: Calls, tokens, seconds and cost.
        from_store: True when a store served it: no judge was asked this time.
        shared: True when another evaluator of this process had asked, or was asking, for the same
            judgement: no judge was asked for this one, and its usage is nothing.
        stored_as: What a store calls its kind; keys of different kinds do not see each other.
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

    def _judged(self) -> dict[str, object]:
        """Everything but what it cost and where it came from."""
        return {name: value for name, value in self if name not in _COSTS}

    @property
    def is_new(self) -> bool:
        """Whether a judge was asked for it this time."""
        return not (self.from_store or self.shared)

    @property
    def failure(self) -> Unscored | None:
        """Why another try may give a score; None where none can."""
        why = self.unscored
        return why if why and why.reason.is_failure else None

    def own_failure(self) -> Self:
        """The same, as a failure that says nothing about further calls."""
        why = self.unscored and self.unscored.model_copy(update={"fatal": False})
        return self.model_copy(update={"unscored": why})
