"""What arguments of the core may be: every other value is named in an error of ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError


def listed(what: str, values: Any) -> list[Any]:
    """The entries of a list, an array or a generator.

    Raises:
        InvalidValueError: It is none: a single text or number, a mapping, None.

    >>> listed("verdicts", "fully")
    Traceback (most recent call last):
    ...
    tcva_adapters.errors.InvalidValueError: verdicts must be a list, got 'fully'
    """
    if type(values) is list or type(values) is tuple:
        return list(values)  # at once, as in `as_number`
    try:
        if isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping):
            return list(values)
    except TypeError:
        pass  # an array without dimensions says that it can be iterated over
    msg = f"{what} must be a list, got {values!r}"
    raise InvalidValueError(msg)


def as_number(value: Any) -> float | None:
    """As a float; None for what is no number. Numbers too large for a float are infinite.

    >>> as_number(2), as_number("2"), as_number(10**400)
    (2.0, None, inf)
    """
    if isinstance(value, float):
        return float(value)  # almost always; looking for methods takes ten times as long
    try:
        if isinstance(value, float | int):  # at once: asking a protocol takes thirty times as long
            return float(value)
        if isinstance(value, np.ndarray) and value.ndim:
            return None  # which older versions of numpy make a number of, where it has one entry
        is_real = isinstance(value, SupportsFloat) and not isinstance(value, np.complexfloating)
        return float(value) if is_real else None
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):  # an array of several numbers; a Decimal that signals
        return None


def as_matrix(what: str, values: Any, columns: int | None = None) -> npt.NDArray[np.float64]:
    """A matrix of floats with at least one column, or so many of them.

    Raises:
        InvalidValueError: Something in it is no number, or it has another shape.
    """
    try:
        array = np.asarray(values)
        matrix: npt.NDArray[np.float64] = array.real.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        msg = f"{what} must be a matrix of numbers: {error}"
        raise InvalidValueError(msg) from None
    if np.iscomplexobj(array):
        msg = f"{what} must be a matrix of numbers, not of complex ones"
        raise InvalidValueError(msg)
    if matrix.ndim != 2 or not matrix.shape[1] or columns not in {None, matrix.shape[1]}:
        msg = f"{what} must have the shape (N, {columns or 'M'}); got {matrix.shape}"
        raise InvalidValueError(msg)
    return matrix


def check_within(what: str, value: Any, low: float, high: float) -> float:
    """A number from a closed range, as a float.

    Raises:
        InvalidValueError: It is no number, or lies outside.
    """
    number = as_number(value)
    if number is None or not low <= number <= high:  # also refuses nan
        msg = f"{what} is {value!r}; it must lie in [{low:g}, {high:g}]"
        raise InvalidValueError(msg)
    return number
