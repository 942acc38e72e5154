"""Arguments of the statistics: turned into arrays, or refused with the value and what to do."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError, percent_hint

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

SAME = 1e-12
"""Figures that differ by no more are the same but for rounding."""

Groups = Sequence[object] | None
"""The group of each sample; None where samples stand alone."""


def numbers(
    name: str,
    values: npt.ArrayLike,
    *,
    ndim: int = 1,
) -> FloatArray:
    """Convert values to an array of floats; None becomes nan.

    Raises:
        InvalidValueError: Values that are no numbers, or another number of dimensions.

    >>> numbers("scores", [1, None])
    array([ 1., nan])
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidValueError(
            f"{name} must be numbers (nan or None where there is none): {error}"
        ) from None
    if array.ndim != ndim:
        raise InvalidValueError(
            f"{name} must have {ndim} dimension(s), not the shape {array.shape}"
        )
    return array


def same_length(arrays: Mapping[str, FloatArray]) -> None:
    """Refuse columns that do not have one entry or row per sample.

    Raises:
        InvalidValueError: Lengths that differ.
    """
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise InvalidValueError(
            f"different lengths: {shown}; give one value per sample, nan where there is none"
        )


def whole(name: str, value: int, *, least: int) -> int:
    """Check that a value is a whole number of at least some size, and return it.

    Raises:
        InvalidValueError: It is anything else.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise InvalidValueError(
            f"{name} must be a whole number of at least {least}, got {value!r}"
        )
    return number


def random_generator(seed: int) -> np.random.Generator:
    """Make a generator whose draws depend on the seed alone, whatever numpy's default becomes.

    Raises:
        InvalidValueError: A seed that is no whole number of at least 0.
    """
    return np.random.Generator(np.random.PCG64(whole("seed", seed, least=0)))


def one_of(kind: str, value: str, known: Sequence[str]) -> None:
    """Refuse a value that is not one of the known ones.

    Raises:
        InvalidValueError: It is none of them.
    """
    if value not in known:
        raise InvalidValueError(f"unknown {kind} {value!r}; use {', '.join(known)}")


def check_level(
    level: float,
    name: str = "level",
    usual: float = 0.95,
) -> None:
    """Refuse a level of an interval, or another share, that does not lie between 0 and 1.

    Raises:
        InvalidValueError: A level outside (0, 1).
    """
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise InvalidValueError(
            f"{name} must be between 0 and 1, e.g. {usual:g}, got {level!r}{percent_hint(level)}"
        )


def in_all(
    columns: Mapping[str, npt.ArrayLike],
) -> tuple[list[FloatArray], BoolArray]:
    """Keep the samples with a finite number in every column, and return which these are.

    Raises:
        InvalidValueError: Values that are no numbers, or lengths that differ.

    >>> (ours, human), used = in_all({"ours": [0.5, None, 1.0], "human": [1, 0, 0]})
    >>> ours.tolist(), human.tolist(), used.tolist()
    ([0.5, 1.0], [1.0, 0.0], [True, False, True])
    """
    arrays = {name: numbers(name, column) for name, column in columns.items()}
    same_length(arrays)
    used = np.asarray(np.isfinite(list(arrays.values())).all(axis=0))
    return [column[used] for column in arrays.values()], used


def group_codes(groups: Sequence[object], used: BoolArray) -> IntArray:
    """Number the groups of the used samples from 0 up, in the order of their first sample.

    Args:
        groups: One per sample; equal objects are one group.
        used: Which samples take part, shape (N,).

    Raises:
        InvalidValueError: Another number of groups than of samples, or a used sample whose group
            is None, nan or cannot be compared.

    >>> group_codes(["b", "a", None, "b"], np.array([True, True, False, True])).tolist()
    [0, 1, 0]
    """
    if len(groups) != len(used):
        raise InvalidValueError(
            f"{len(groups)} groups for {len(used)} samples; give one group per sample"
        )
    names = list(groups)
    codes: dict[object, int] = {}
    numbered = []
    for number in np.flatnonzero(used):
        group = names[number]
        is_nan = isinstance(group, float | np.floating) and np.isnan(group)
        if group is None or is_nan or not isinstance(group, Hashable):
            raise InvalidValueError(
                f"group {number} is {group!r}; give every sample with scores a group (a name)"
            )
        numbered.append(codes.setdefault(group, len(codes)))
    return np.array(numbered, dtype=np.int64)
