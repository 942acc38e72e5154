"""Human labels of samples, read from the metadata of their assessments."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import tee
from typing import Any, Final

import numpy as np

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.ceiling import mean_rating
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


def rater_names(columns: str) -> tuple[str, ...]:
    """The fields of human ratings that a text names with commas between, one per rater.

    Raises:
        InvalidValueError: None at all, or one twice.

    >>> rater_names("anna, ben")
    ('anna', 'ben')
    """
    names = tuple(part.strip() for part in columns.split(",") if part.strip())
    if not names or len(set(names)) < len(names):
        msg = f"human ratings in {columns!r}; name one field, or several once each: anna,ben"
        raise InvalidValueError(msg)
    return names


def mean_of(raters: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean rating of each sample over those who rated it.

    >>> mean_of({"anna": {"s1": 1.0, "s2": 0.0}, "ben": {"s1": 0.5}})
    {'s1': 0.75, 's2': 0.0}
    """
    said: dict[str, list[float]] = {}
    for ratings in raters.values():
        for name, rating in ratings.items():
            said.setdefault(name, []).append(rating)
    return {name: math.fsum(each) / len(each) for name, each in said.items()}


def human_ratings(metadata: Iterable[Mapping[str, Any]], field: str) -> FloatArray:
    """The ratings under this key of the samples' metadata, nan where there is none. Shape (N,).

    Several keys with commas between are several raters, whose mean it is.

    Raises:
        InvalidValueError: No sample has the key, or a value is no rating.
    """

    def rating(number: int, key: str, value: Any) -> float:
        try:
            return parse_rating(value)
        except InvalidValueError as error:
            msg = f"assessment {number}, metadata {key!r}: {error}"
            raise InvalidValueError(msg) from None

    keys = rater_names(field)
    columns = [
        np.fromiter(
            (rating(i, key, value) for i, value in enumerate(metadata_values(each, key), start=1)),
            np.float64,
        )
        for key, each in zip(keys, tee(metadata, len(keys)), strict=True)
    ]
    return columns[0] if len(columns) == 1 else mean_rating(np.stack(columns, axis=1))


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
