"""Settings are written once: name, default, check and meaning, in one model for each purpose.

Constructors, configuration files, default names and the options of commands read these models.
``title`` is what default names call a setting, and ``repr=False`` keeps it out of them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any, Self, TypeVar, cast, get_type_hints

from pydantic import (
    BaseModel,
    ValidationError,
)

from tcva_adapters.core.temperature import (
    misplaced,
)
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.setting_checks import STRICT, check_names
from tcva_adapters.samples.sample import Checked, first_fault

Function = TypeVar("Function", bound=Callable[..., Any])


class SettingsModel(Checked):
    """Settings that are checked when they are given, and never change."""

    model_config = STRICT

    def __init__(self, **settings: Any) -> None:
        owner = type(self).__name__.removesuffix("Settings")
        check_names(settings, type(self).model_fields, owner=owner)
        try:
            BaseModel.__init__(self, **settings)
        except ValidationError as error:
            raise InvalidValueError(first_fault(error, settings)) from None

    @classmethod
    def default(cls, name: str) -> Any:
        """The value of a setting where none is given."""
        return cls.model_fields[name].default

    @classmethod
    def type_of(cls, name: str) -> Any:
        """The type of a setting with its checks, for `check`."""
        return get_type_hints(cls, include_extras=True)[name]

    def changed(self, **changes: Any) -> Self:
        """A copy with other settings, presets and schemes by name.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return type(self)(**{**dict(self), **changes})


def shows_settings(
    *models: type[BaseModel], without: Collection[str] = ()
) -> Callable[[Function], Function]:
    """Decorates a constructor so that its signature shows the settings in place of ``**settings``.

    `inspect`, documentation tools, and frameworks that rebuild objects from signatures see every
    setting with its default. A setting that is passed by position is refused, with the name of the
    class that was called.

    Args:
        models: Where the settings are.
        without: Settings that the function does not take.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        parameters = {
            name: parameter
            for name, parameter in signature.parameters.items()
            if parameter.kind is not parameter.VAR_KEYWORD
        }
        by_position = [
            name
            for name, parameter in parameters.items()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ][1:]
        for model in models:
            types = get_type_hints(model)  # without the checks, which no reader needs
            for name, field in model.model_fields.items():
                if name not in without and name not in parameters:
                    parameters[name] = inspect.Parameter(
                        name,
                        inspect.Parameter.KEYWORD_ONLY,
                        default=field.default,
                        annotation=types[name],
                    )

        @wraps(function)
        def checked(self: object, *values: Any, **settings: Any) -> Any:
            if surplus := values[len(by_position) :]:
                taken = f"only {', '.join(by_position)}" if by_position else "nothing"
                hint = misplaced(surplus[0]) or "write all others by name"
                raise InvalidValueError(
                    f"{type(self).__name__} takes {taken} by position, got {surplus[0]!r:.80}; {hint}"
                )
            return function(self, *values, **settings)

        checked.__signature__ = signature.replace(parameters=[*parameters.values()])  # type: ignore[attr-defined]  # inspect reads it
        return cast("Function", checked)

    return decorate


def unusual(model: type[BaseModel], values: Mapping[str, object]) -> list[str]:
    """What default names say: ``title=value`` for each setting that is not the default.

    What is called the same is the same: a published scheme's weights, given as numbers.

    Args:
        model: Of the settings.
        values: Settings by name; missing ones are left out.
    """
    return [
        f"{field.title or name}={shown(values[name])}"
        for name, field in model.model_fields.items()
        if field.repr and name in values
        if shown(values[name]) != shown(field.default)
    ]


def shown(value: object) -> str:
    """A setting's value in a name: its own short form, or that of a number."""
    match value:
        case bool():
            return str(value)
        case int() | float():
            return f"{value:g}"
        case tuple():
            return "+".join(map(shown, value))
        case Mapping() if any(isinstance(inner, Mapping) for inner in value.values()):
            return f"by {', '.join(value)}"
        case Mapping():
            return "+".join(f"{reason}={score}" for reason, score in value.items())
    return str(getattr(value, "short_name", value))


_NOT_IN_FILES = re.compile(r"[/\\:]")


def column_name(subject: str, details: Sequence[str]) -> str:
    """The name of columns and feedback.

    Frameworks keep one column per name, so two settings must not share one. Some also make file
    names of it, so it has no slashes and no colons.

    >>> column_name("tcva_faithfulness", ["T=0.2", "claims=llm"])
    'tcva_faithfulness(T=0.2,claims=llm)'
    """
    name = f"{subject}({','.join(details)})" if details else subject
    return _NOT_IN_FILES.sub("_", name)


def title_of(subject: str, details: Sequence[str]) -> str:
    """The name for readers.

    >>> title_of("TCVA faithfulness", ["T=0.2"])
    'TCVA faithfulness (T=0.2)'
    """
    return f"{subject} ({', '.join(details)})" if details else subject
