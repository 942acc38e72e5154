"""What pydantic finds wrong with a value, said in our words."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from tcva_adapters.errors import InvalidValueError

FROZEN: Final = ConfigDict(frozen=True, extra="forbid")

_SHOWN: Final = 60


class Checked(BaseModel):
    """A frozen record whose fields are checked, and which refuses with errors of ours.

    Attributes:
        refusal: The class of those errors.
    """

    model_config = FROZEN
    refusal: ClassVar[type[Exception]] = InvalidValueError

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise self.refusal(first_fault(error, type(self))) from None


def first_fault(error: ValidationError, kind: type[BaseModel] | None = None) -> str:
    """Where the first field is that does not fit, and why.

    Args:
        error: What pydantic found.
        kind: Whose fields are named for a name that is none of them.

    >>> class Point(Checked):
    ...     x: float
    >>> Point(x=[])
    Traceback (most recent call last):
        ...
    tcva_adapters.errors.InvalidValueError: x: it should be a valid number, not []
    """
    first = error.errors(include_url=False)[0]
    where, why = ".".join(map(str, first["loc"])), first["msg"]
    if first["type"] in {"value_error", "json_invalid"}:  # our own sentence, or the parser's
        why = why.removeprefix("Value error, ").replace("Invalid JSON", "not JSON")
        return f"{where}: {why}" if where else why
    if first["type"] == "missing":
        why = "it is missing"
    elif first["type"] == "extra_forbidden":
        known = f"; a {kind.__name__} has {', '.join(kind.model_fields)}" if kind else ""
        why = f"there is no such field{known}"
    else:
        text = repr(first["input"])
        why = f"{why.replace('Input', 'it')}, not {text[:_SHOWN]}{'…' * (len(text) > _SHOWN)}"
    return f"{where or 'document'}: {why}"
