"""Human labels of samples, read from the metadata of their assessments."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment
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


def human_ratings(assessments: Sequence[Assessment], field: str) -> FloatArray:
    """The ratings under this key of the metadata, nan where there is none. Shape (N,).

    Raises:
        InvalidValueError: No assessment has the key, or a value is no rating.
    """
    ratings = []
    for number, value in enumerate(metadata_values(assessments, field), start=1):
        try:
            ratings.append(parse_rating(value))
        except InvalidValueError as error:
            msg = f"assessment {number}, metadata {field!r}: {error}"
            raise InvalidValueError(msg) from None
    return np.array(ratings, dtype=np.float64)


def metadata_values(assessments: Sequence[Assessment], field: str) -> list[Any]:
    """What each assessment's metadata has under this key; None where it has nothing.

    Raises:
        InvalidValueError: No assessment has the key.
    """
    if not any(field in assessment.metadata for assessment in assessments):
        keys = dict.fromkeys(key for a in assessments for key in a.metadata)
        known = f"the keys are {', '.join(map(repr, keys))}" if keys else "there is no metadata"
        msg = (
            f"no assessment has {field!r} in its metadata; {known}. Fields of a sample that are "
            "not ours become its metadata when it is judged"
        )
        raise InvalidValueError(msg)
    return [assessment.metadata.get(field) for assessment in assessments]
