"""Check the names of arguments, and suggest the nearest name for a typo."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction, signature
from typing import Any, ParamSpec, TypeVar, cast

from tcva_adapters.core.checks import check_names

P = ParamSpec("P")
R = TypeVar("R")

_MEANT_BY_COMPARE: dict[str | None, str] = {
    "fuse": "mean_of",
    "resamples": "comparison(Run(...).table(), resamples=...)",
}
"""What is meant by arguments of other functions, where methods are compared."""


def with_checked_names(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function refuse unknown arguments, and name the one that was probably meant.

    The signature that editors and type checkers see stays that of the function.

    >>> @with_checked_names
    ... def compare(*, temperatures=(0.5,), seed=0): ...
    >>> compare(tempratures=[0.1])
    Traceback (most recent call last):
    ...
    tcva_adapters.errors.InvalidValueError: unknown setting 'tempratures' of compare; did you mean 'temperatures'? Its settings are temperatures, seed
    """
    owner = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    known = [name for name in signature(function).parameters if name != "self"]
    titles = _MEANT_BY_COMPARE if "mean_of" in known else None

    @wraps(function)
    def checked(*args: P.args, **arguments: P.kwargs) -> R:
        check_names(arguments, known, owner=owner, titles=titles)
        return function(*args, **arguments)

    if not iscoroutinefunction(function):
        return checked

    # A plain function would hide from others that the result is to be awaited.
    @wraps(function)
    async def awaited(*args: P.args, **arguments: P.kwargs) -> Any:
        return await cast("Any", checked(*args, **arguments))

    return cast("Callable[P, R]", awaited)
