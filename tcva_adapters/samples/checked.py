"""What pydantic finds wrong with a value, said in our words."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from tcva_adapters.errors import InvalidValueError

FROZEN: Final = ConfigDict(frozen=True, extra="forbid")

_KINDS: Final = (
    # Parts of pydantic's names of errors, and what was meant; the first that fits says it.
    (("string",), "a text"),
    (("bool",), "true or false"),
    (("int",), "a whole number"),
    (("float",), "a number"),
    (("finite",), "a finite number"),
    (("tuple", "list", "iterable"), "a list"),
    (("dict", "mapping", "model"), "an object of names and values"),
)
_SENTENCES: Final = frozenset({"value_error", "json_invalid"})
"""Errors that say it all: our own, and the parser's."""

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
    >>> Point(x="left")
    Traceback (most recent call last):
        ...
    tcva_adapters.errors.InvalidValueError: x: it is a number, not 'left'
    """
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"])) or "document"
    if first["type"] in _SENTENCES and not first["loc"]:
        return _why(first)
    if first["type"] != "extra_forbidden":
        return f"{where}: {_why(first)}"
    known = f"; a {kind.__name__} has {', '.join(kind.model_fields)}" if kind else ""
    return f"{where}: there is no such field{known}"


def _why(fault: ErrorDetails) -> str:
    kind, value = fault["type"], fault["input"]
    if kind == "missing":
        return "it is missing"
    if kind in _SENTENCES:
        return fault["msg"].removeprefix("Value error, ").replace("Invalid JSON", "not JSON")
    if kind in {"literal_error", "enum"}:
        return f"it is {fault['ctx']['expected']}, not {_shown(value)}"
    meant = next((meant for parts, meant in _KINDS if any(p in kind for p in parts)), None)
    if meant is None:
        said = fault["msg"].removeprefix("Input should ")
        return f"it should {said}, not {_shown(value)}"
    return f"it is {meant}, not {_shown(value)}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
