"""What pydantic finds wrong with a value, said in our words."""

from __future__ import annotations

import reprlib
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from tcva_adapters.errors import InvalidValueError

FROZEN: Final = ConfigDict(frozen=True, extra="forbid")


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
            raise self.refusal(first_fault(error)) from None


def first_fault(error: ValidationError) -> str:
    """Where the first field is that does not fit, and why.

    >>> class Point(Checked):
    ...     x: float
    >>> Point(x=[])
    Traceback (most recent call last):
        ...
    tcva_adapters.errors.InvalidValueError: x: it should be a valid number, not []
    """
    first = error.errors(include_url=False)[0]
    where, why = ".".join(map(str, first["loc"])) or "document", first["msg"]
    if first["type"] in {"value_error", "json_invalid"}:  # our own sentence, or the parser's
        why = why.removeprefix("Value error, ").replace("Invalid JSON", "not JSON")
        return f"{where}: {why}" if first["loc"] else why
    if first["type"] != "missing":
        why = f"{why.replace('Input should', 'it should')}, not {reprlib.repr(first['input'])}"
    return f"{where}: {why}"
