"""Types of settings with their checks, and what these say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)

from tcva_adapters.core.checks import as_number, nearest
from tcva_adapters.core.temperature import PAPER_BOUNDS, Bounds, check_temperature
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.frameworks import REQUIREMENTS
from tcva_adapters.lazy import check as check_installed
from tcva_adapters.results.judgement import Reason
from tcva_adapters.samples.sample import first_fault


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
        known: Those that there are.
        owner: Whose settings they are.
        titles: By what default names call a setting its name: ``T`` is the temperature.

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


Profiles = Mapping[str, Mapping[str, float]]
"""A metadata field with a temperature for each of its values: ``{"domain": {"medical": 0.2}}``."""

STRICT = ConfigDict(
    frozen=True,
    extra="forbid",
    strict=True,
    arbitrary_types_allowed=True,
    allow_inf_nan=False,
)


def _number(value: object) -> float:
    number = None if isinstance(value, bool) else as_number(value)
    if number is None:
        raise ValueError("must be a number")
    return number


def _share(value: object) -> float:
    number = _number(value)
    if not 0.0 <= number <= 1.0:
        raise ValueError("must be between 0 and 1")
    return number


Number = Annotated[float, BeforeValidator(_number)]
Share = Annotated[float, BeforeValidator(_share)]
Positive = Annotated[Number, Field(gt=0)]
NonNegative = Annotated[Number, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


def check(kind: Any, name: str, value: object) -> Any:
    """Return a value of a type, e.g. `Count`, in its final form.

    Raises:
        InvalidValueError: It does not fit; the message names it.
    """
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        raise InvalidValueError(first_fault(error, {name: value})) from None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=STRICT)


def as_scheme(value: Any) -> WeightScheme:
    """Weights of the five levels from a preset's name, five numbers, or what a file has of a scheme."""
    if isinstance(value, Mapping) and value.keys() == {"name", "weights"}:
        return WeightScheme(**value)
    return WeightScheme.resolve(value)


def as_bounds(value: object) -> Bounds:
    """Bounds from a mapping, as configuration files have them, or from their two numbers."""
    match value:
        case Bounds():
            return value
        case [lowest, highest]:
            return Bounds(_number(lowest), _number(highest))
        case Mapping() if value and {*value} <= {*Bounds.__dataclass_fields__}:
            return Bounds(**value)
    raise ValueError("must be two numbers, e.g. bounds=-4,12")


def by_name(example: str) -> BeforeValidator:
    """Refuse anything but a mapping, and say how one is typed."""

    def check(value: object) -> object:
        if not (value is None or isinstance(value, Mapping)):
            raise ValueError(f"must be a number for each name, e.g. {example}")
        return value

    return BeforeValidator(check)


def as_scores_by_reason(value: object) -> float | dict[str, float] | None:
    """One number, or numbers by reason; failures have none."""
    if value is None:
        return None
    if not (isinstance(value, Mapping) and value):
        return _share(value)
    check_names(
        value, [r.value for r in Reason if not r.is_failure], owner="on_unscored"
    )
    return {reason: _share(score) for reason, score in value.items()}


def as_items(value: object) -> tuple[object, ...]:
    """One or several things as a tuple; None is none."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def as_events(events: object) -> object:
    """Refuse events where OpenTelemetry is not installed."""
    if events:
        check_installed(REQUIREMENTS["otel"])
    return events


def as_profiles(value: object, info: ValidationInfo) -> Profiles | None:
    """Temperatures by the values of one metadata field, within the bounds of the settings."""
    if value is None:
        return None
    bounds = info.data.get("bounds", PAPER_BOUNDS)
    match [*value.items()] if isinstance(value, Mapping) else []:
        case [(str() as field, Mapping() as temperatures)] if field:
            return {
                field: {
                    str(name): _in_profile(f"{field}={name}", temperature, bounds)
                    for name, temperature in temperatures.items()
                }
            }
    raise ValueError(
        "must be temperatures by a field's values, e.g. {'domain': {'medical': 0.2}}"
    )


def _in_profile(place: str, temperature: float | str, bounds: Bounds) -> float:
    try:
        return check_temperature(temperature, bounds)
    except InvalidValueError as error:
        raise InvalidValueError(f"profiles, {place}: {error}") from None
