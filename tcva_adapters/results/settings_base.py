"""The base of the models of settings: checks of values and names, and signatures that show them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import cache, wraps
from typing import Annotated, Any, Self, TypeVar, cast, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)

from tcva_adapters.core.checks import as_number, check_names
from tcva_adapters.core.temperature import (
    PAPER_BOUNDS,
    Bounds,
    check_temperature,
    misplaced,
)
from tcva_adapters.core.verdicts import LEVELS, Verdict, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.frameworks import REQUIREMENTS
from tcva_adapters.lazy import check as check_installed
from tcva_adapters.results.judgement import Reason
from tcva_adapters.samples.sample import Checked, first_fault

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
def _adapter(kind: Any) -> TypeAdapter[object]:
    return TypeAdapter(kind, config=STRICT)


def as_scheme(value: Any) -> WeightScheme:
    """Read a weight scheme from a preset's name, five numbers, or the mapping in a file."""
    if isinstance(value, Mapping) and value.keys() == {"name", "weights"}:
        return WeightScheme(**value)
    return WeightScheme.resolve(value)


def as_claim_threshold(value: object) -> Verdict | float:
    """Read the least level of a claim, or its least weight."""
    if not isinstance(value, str):
        return _share(value)
    try:
        return Verdict.parse(value)
    except InvalidValueError:
        raise ValueError(
            f"must be one of {', '.join(LEVELS)}, or a weight from 0 to 1"
        ) from None


ClaimThreshold = Annotated[Verdict | float, BeforeValidator(as_claim_threshold)]


def as_bounds(value: object) -> Bounds:
    """Read bounds from a mapping, as configuration files hold it, or from the two exponents."""
    match value:
        case Bounds():
            return value
        case [lowest, highest]:
            return Bounds(_number(lowest), _number(highest))
        case Mapping() if value and {*value} <= {*Bounds.__dataclass_fields__}:
            return Bounds(**value)
    raise ValueError("must be two numbers, e.g. bounds=-4,12")


def by_name(example: str) -> BeforeValidator:
    """Make a validator that refuses anything but a mapping, with an example in the message."""

    def check(value: object) -> object:
        if not (value is None or isinstance(value, Mapping)):
            raise ValueError(f"must be a number for each name, e.g. {example}")
        return value

    return BeforeValidator(check)


def as_scores_by_reason(value: object) -> float | dict[str, float] | None:
    """Read one score, or scores by reason; failures cannot have one."""
    if value is None:
        return None
    if not (isinstance(value, Mapping) and value):
        return _share(value)
    check_names(
        value, [r.value for r in Reason if not r.is_failure], owner="on_unscored"
    )
    return {reason: _share(score) for reason, score in value.items()}


def as_items(value: object) -> tuple[object, ...]:
    """Return one or several items as a tuple; None gives an empty one."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def as_events(events: object) -> object:
    """Refuse events where OpenTelemetry is not installed."""
    if events:
        check_installed(REQUIREMENTS["otel"])
    return events


def as_profiles(value: object, info: ValidationInfo) -> Profiles | None:
    """Check temperatures by the values of one metadata field, within the settings' bounds."""
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


Function = TypeVar("Function", bound=Callable[..., object])


class SettingsModel(Checked):
    """Settings that are checked when they are given, and never change."""

    model_config = STRICT

    def __init__(self, **settings: object) -> None:
        check_names(
            settings,
            type(self).model_fields,
            owner=type(self).__name__.removesuffix("Settings"),
        )
        try:
            BaseModel.__init__(self, **settings)
        except ValidationError as error:
            raise InvalidValueError(first_fault(error, settings)) from None

    @classmethod
    def default(cls, name: str) -> Any:
        """The value of a setting where none is given."""
        return cls.model_fields[name].default

    def changed(self, **changes: object) -> Self:
        """A copy with other settings, presets and schemes by name.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return type(self)(**{**dict(self), **changes})


def shows_settings(
    *models: type[BaseModel], without: Collection[str] = ()
) -> Callable[[Function], Function]:
    """Decorate a constructor so that its signature shows the settings in place of ``**settings``.

    `inspect`, documentation tools, and frameworks that rebuild objects from signatures see every
    setting with its default. A setting that is passed by position is refused, with the name of the
    class that was called.

    Args:
        models: The models that define the settings.
        without: Settings that the function does not take.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        *named, _ = signature.parameters.values()  # the last are the settings
        by_position = [
            parameter.name
            for parameter in named[1:]
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        parameters = {parameter.name: parameter for parameter in named}
        for model in models:
            types = get_type_hints(model)  # without the checks, which no reader needs
            for name, field in model.model_fields.items():
                if name not in {*without, *parameters}:
                    parameters[name] = inspect.Parameter(
                        name,
                        inspect.Parameter.KEYWORD_ONLY,
                        default=field.default,
                        annotation=types[name],
                    )

        @wraps(function)
        def checked(self: object, *values: object, **settings: object) -> object:
            if surplus := values[len(by_position) :]:
                taken = f"only {', '.join(by_position)}" if by_position else "nothing"
                hint = misplaced(surplus[0]) or "write all others by name"
                raise InvalidValueError(
                    f"{type(self).__name__} takes {taken} by position, got {surplus[0]!r:.80}; {hint}"
                )
            return function(self, *values, **settings)

        # `inspect` reads this attribute.
        checked.__signature__ = signature.replace(parameters=[*parameters.values()])  # type: ignore[attr-defined]  # functions may have one
        return cast("Function", checked)

    return decorate
