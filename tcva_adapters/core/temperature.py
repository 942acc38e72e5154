"""From a temperature to the exponent of the power mean (paper, eq. 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.checks import as_number
from tcva_adapters.errors import InvalidValueError

Temperatures = Sequence[float | str]
"""Numbers, or names of `PRESETS`."""

Number = TypeVar("Number", float, npt.NDArray[np.float64])

STRICT = 0.2
BALANCED = 0.5
LENIENT = 0.9

PRESETS = {
    "strict": STRICT,
    "balanced": BALANCED,
    "lenient": LENIENT,
}
"""Temperatures by name, one from each of the paper's three ranges (section 3.3)."""

# Users of evaluation frameworks know another temperature, and set that one to 0.
MEANING = "Temperature here is the strictness of the score, not the model's sampling temperature"
_NAMES = ", ".join(PRESETS)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The end points of the linear map from temperature to exponent.

    Attributes:
        p_min: Exponent at ``t_min``.
        p_max: Exponent at ``t_max``, above ``p_min``.
        t_min: Lowest temperature.
        t_max: Highest temperature; at most 1.5, where the penalty's exponent ``1.5 - T`` ends.

    Raises:
        InvalidValueError: An end is not finite or the two are in the wrong order.
    """

    p_min: float = -8.0
    p_max: float = 12.25
    t_min: float = 0.1
    t_max: float = 1.0

    def __post_init__(self) -> None:
        ends = [
            as_number(end) for end in (self.p_min, self.p_max, self.t_min, self.t_max)
        ]
        if not all(
            end is not None and math.isfinite(end) for end in ends
        ) or not math.isfinite(self.p_max - self.p_min):
            raise InvalidValueError(f"bounds must be finite numbers, got {self!r}")
        if not (self.p_min < self.p_max and self.t_min < self.t_max <= 1.5):
            raise InvalidValueError(
                f"bounds must rise, to a t_max of at most 1.5, got {self!r}"
            )

    @property
    def short_name(self) -> str:
        """The exponents, and the temperatures where these are not the paper's."""
        ends = f"{self.p_min:g}..{self.p_max:g}"
        if self == Bounds(self.p_min, self.p_max):
            return ends
        return f"{ends} at {self.t_min:g}..{self.t_max:g}"


PAPER_BOUNDS = Bounds()


def check_bounds(bounds: object) -> Bounds:
    """Refuse anything but `Bounds`, and return them.

    Raises:
        InvalidValueError: They are something else.
    """
    if not isinstance(bounds, Bounds):
        raise InvalidValueError(
            f"bounds must be Bounds(p_min=..., p_max=..., t_min=..., t_max=...), got {bounds!r}"
        )
    return bounds


def check_temperature(temperature: float | str, bounds: Bounds = PAPER_BOUNDS) -> float:
    """Check a temperature against the bounds, and return it as a number; see `as_temperature`.

    Raises:
        InvalidValueError: An unknown name, not a number, or outside ``[t_min, t_max]``.

    >>> check_temperature("strict")
    0.2
    """
    check_bounds(bounds)
    value = as_temperature(temperature)
    if not bounds.t_min <= value <= bounds.t_max:  # also refuses nan
        raise InvalidValueError(
            f"temperature must be between {bounds.t_min:g} and {bounds.t_max:g}, got {value:g}. "
            f"{MEANING}"
        )
    return value


def as_temperature(temperature: float | str) -> float:
    """Convert a temperature or the name of a preset (`PRESETS`) to a number, whatever the bounds.

    Raises:
        InvalidValueError: An unknown name, or not a number.
    """
    number = None
    if isinstance(temperature, str):
        with suppress(ValueError):
            number = PRESETS.get(temperature) or float(temperature)
    elif not isinstance(temperature, bool):
        number = as_number(temperature)
    if number is None:
        raise InvalidValueError(
            f"temperature must be a number or one of {_NAMES}, got {temperature!r}"
        )
    return number


def misplaced(value: object) -> str:
    """Suggest names where a temperature or threshold was passed as another argument; else empty.

    >>> misplaced("strict"), misplaced(0.2), misplaced("lexical")
    ("write temperature='strict'", 'write temperature=0.2 or threshold=0.2', '')
    """
    if isinstance(value, str):
        return f"write temperature={value!r}" if value in PRESETS else ""
    is_number = as_number(value) is not None
    return f"write temperature={value!r} or threshold={value!r}" if is_number else ""


def exponent(temperature: float | str, **ends: float) -> float:
    """The exponent p of the power mean at a temperature (paper, eq. 6).

    ``p = p_min + (T - t_min) / (t_max - t_min) * (p_max - p_min)``. Low temperatures give a
    negative p (close to the minimum of the weights: strict), high ones a large p (lenient).

    Args:
        temperature: As for `aggregate`.
        ends: ``p_min``, ``p_max``, ``t_min`` and ``t_max`` of `Bounds`, by default the paper's.

    Raises:
        InvalidValueError: The temperature lies outside ``[t_min, t_max]``, or the bounds are wrong.

    >>> [exponent(t) for t in (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)]
    [-8.0, -3.5, 1.0, 5.5, 10.0, 12.25]
    """
    bounds = Bounds(**ends)
    return exponent_within(check_temperature(temperature, bounds), bounds)


def exponent_within(temperature: Number, bounds: Bounds) -> Number:
    """The exponent at a temperature, or at each of an array, known to lie within the bounds."""
    share = (temperature - bounds.t_min) / (bounds.t_max - bounds.t_min)
    return bounds.p_min + share * (bounds.p_max - bounds.p_min)
