"""Checks of arguments: an error names every value that cannot be used."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError, percent_hint

_NUMBERS = (float, int, Real, Decimal)
"""The usual types come first: to ask an abstract class takes twenty times as long."""


def as_list(what: str, values: Any) -> list[Any]:
    """Return the entries of a list, an array or a generator as a list.

    Raises:
        InvalidValueError: It is something else: a single text or number, a mapping, None.

    >>> as_list("verdicts", "fully")
    Traceback (most recent call last):
    ...
    tcva_adapters.errors.InvalidValueError: verdicts must be a list, got 'fully'
    """
    is_many = isinstance(values, Iterable) and not isinstance(
        values, str | bytes | Mapping
    )
    # An array without dimensions passes for an iterable.
    if is_many and getattr(values, "ndim", None) != 0:
        return list(values)
    raise InvalidValueError(f"{what} must be a list, got {values!r}")


def nearest(name: object, known: Iterable[str], otherwise: str) -> str:
    """Suggest the known name that was probably meant; where none is similar, say something else.

    >>> nearest("lexcal", ["lexical"], "use 'lexical'"), nearest("x", ["lexical"], "use 'lexical'")
    ("did you mean 'lexical'?", "use 'lexical'")
    """
    close = get_close_matches(str(name), [*known], n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise


def check_names(
    names: Collection[str],
    known: Collection[str],
    *,
    owner: str,
    titles: Mapping[str | None, str] | None = None,
) -> None:
    """Refuse names that are no settings.

    Args:
        names: The names.
        known: The names of all settings.
        owner: The owner of the settings, for the message.
        titles: Names of settings by their titles in default names: ``T`` is the temperature.

    Raises:
        InvalidValueError: One of them is unknown; the message has the nearest known one.

    >>> check_names(["temprature"], ["temperature", "threshold"], owner="TCVA")
    Traceback (most recent call last):
    ...
    tcva_adapters.errors.InvalidValueError: unknown setting 'temprature' of TCVA; did you mean 'temperature'? Its settings are temperature, threshold
    """
    for name in names:
        if name in known:
            continue
        by_title = (titles or {}).get(name)
        hint = f"did you mean {by_title!r}?" if by_title else nearest(name, known, "")
        its = f"{hint} Its" if hint else "its"
        raise InvalidValueError(
            f"unknown setting {name!r} of {owner}; {its} settings are {', '.join(known)}"
        )


def as_number(value: Any) -> float | None:
    """Convert a number to a float; None for anything else. Too large numbers become infinite.

    >>> as_number(2), as_number("2"), as_number(10**400)
    (2.0, None, inf)
    """
    try:
        return float(value) if isinstance(value, _NUMBERS) else None
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:  # a Decimal that signals
        return None


def as_matrix(
    what: str,
    values: Any,
    columns: Sequence[str] | str,
    high: float,
    *,
    wanted: str,
    may_miss: bool = False,
) -> npt.NDArray[np.float64]:
    """Check rows of numbers from 0 to a highest one, and return them as a matrix of floats.

    Args:
        what: The name of the matrix.
        values: Rows of numbers.
        columns: The names of its columns; or the word for each of them, where any number but 0 is
            allowed.
        high: The highest entry.
        wanted: What every entry must be, for the error.
        may_miss: Whether entries may be None or nan.

    Raises:
        InvalidValueError: Something in it is no number or outside the range, or it has another
            shape.
    """
    try:
        array = np.asarray(values)
        matrix: npt.NDArray[np.float64] = array.real.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidValueError(
            f"{what} must be a matrix of numbers, got {reprlib.repr(values)}: {error}"
        ) from None
    width = "M" if isinstance(columns, str) else len(columns)
    has_shape = matrix.ndim == 2 and matrix.shape[1] and width in {"M", matrix.shape[1]}
    if not has_shape or np.iscomplexobj(array):
        raise InvalidValueError(
            f"{what} must have the shape (N, {width}), got {array.shape} of {array.dtype}"
        )
    is_right = (matrix >= 0.0) & (matrix <= high) | (may_miss & np.isnan(matrix))
    if not is_right.all():
        row, column = np.argwhere(~is_right)[0]
        name = f"{columns} {column}" if isinstance(columns, str) else columns[column]
        value = float(matrix[row, column])
        raise InvalidValueError(
            f"{what} must be {wanted}, got {value!r} for {name} in row {row}"
        )
    return matrix


def check_within(
    what: str,
    value: Any,
    low: float,
    high: float,
    wanted: str = "",
) -> float:
    """Check a number against a closed range, and return it as a float.

    Args:
        what: The name of the number.
        value: The given value.
        low: The lowest allowed number.
        high: The highest allowed number.
        wanted: What it must be, for the error; by default within the range.

    Raises:
        InvalidValueError: It is no number, or lies outside.
    """
    number = as_number(value)
    if number is None or not low <= number <= high:  # also refuses nan
        hint = percent_hint(value) if high == 1.0 else ""
        raise InvalidValueError(
            f"{what} must be {wanted or f'between {low:g} and {high:g}'}, got {value!r}{hint}"
        )
    return number
