"""Human labels of samples, read from the metadata of their assessments."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray

_WORDS: Final = {
    "pass": 1.0,
    "passed": 1.0,
    "true": 1.0,
    "yes": 1.0,
    "fail": 0.0,
    "failed": 0.0,
    "false": 0.0,
    "no": 0.0,
}
MISSING: Final = {"", "na", "n/a", "nan", "none", "null"}
"""Words in the place of a number where there is none."""


def parse_rating(value: Any) -> float:
    """A rating as a number; nan where there is none.

    Numbers count as they are, true, pass and yes as 1, false, fail and no as 0.

    Raises:
        InvalidValueError: Anything else.

    >>> [parse_rating(value) for value in (0.7, "4", True, "Fail", None)]
    [0.7, 4.0, 1.0, 0.0, nan]
    """
    if value is None:
        return math.nan
    if isinstance(value, int | float):
        # A whole number of JSON may be larger than any float.
        number = float(value) if abs(value) <= sys.float_info.max or value != value else math.inf  # noqa: PLR0124  # nan
    else:
        word = str(value).strip().lower()
        if word in MISSING:
            return math.nan
        if word in _WORDS:
            return _WORDS[word]
        try:
            number = float(word)
        except ValueError:
            number = math.inf
    if math.isinf(number):
        msg = f"{value!r} is no rating; ratings are numbers, true and false, or pass and fail"
        raise InvalidValueError(msg)
    return number


def human_ratings(metadata: Iterable[Mapping[str, Any]], field: str) -> FloatArray:
    """The ratings under this key of the samples' metadata, nan where there is none. Shape (N,).

    Raises:
        InvalidValueError: No sample has the key, or a value is no rating.
    """

    def rating(number: int, value: Any) -> float:
        try:
            return parse_rating(value)
        except InvalidValueError as error:
            msg = f"assessment {number}, metadata {field!r}: {error}"
            raise InvalidValueError(msg) from None

    values = enumerate(metadata_values(metadata, field), start=1)
    return np.fromiter((rating(number, value) for number, value in values), np.float64)


def metadata_values(metadata: Iterable[Mapping[str, Any]], field: str) -> Iterator[Any]:
    """What the metadata of each sample have under this key; None where they have nothing.

    Raises:
        InvalidValueError: At the end, where no sample has the key.
    """
    has_it = False
    keys: dict[str, None] = {}
    for each in metadata:
        if not has_it:
            has_it = field in each
            keys.update(dict.fromkeys(each))
        yield each.get(field)
    if not has_it:
        known = f"the keys are {', '.join(map(repr, keys))}" if keys else "there is no metadata"
        msg = (
            f"no assessment has {field!r} in its metadata; {known}. Fields of a sample that are "
            "not ours become its metadata when it is judged"
        )
        raise InvalidValueError(msg)
