"""Settings are written once: name, default, check and meaning, in one table per scorer.

A table is a ``TypedDict`` whose annotations carry a `Setting`. Signatures, configuration files,
default names and the options of commands come from it, and type checkers and editors read it as
the keyword arguments of everything that takes ``**settings: Unpack[Table]``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

from tcva_adapters.errors import InvalidValueError

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        default: Its value where none is given.
        meaning: What it does, in a sentence.
        check: Takes the setting's name and a value, returns the value in its final form, and
            raises InvalidValueError for one that cannot be used.
        label: What default names call it.
        is_named: Whether default names tell a value that is not the default.
        in_files: Whether a configuration file may hold it.
        annotation: Its type.
    """

    default: Any
    meaning: str
    check: Callable[[str, Any], Any]
    label: str = ""
    is_named: bool = True
    in_files: bool = False
    annotation: Any = None


@cache
def settings_of(table: type) -> Mapping[str, Setting]:
    """The settings of a table by name, those of the tables that it extends first.

    Args:
        table: A ``TypedDict`` whose annotations are ``Annotated[type, Setting(...)]``.
    """
    found = {}
    for name, hint in get_type_hints(table, include_extras=True).items():
        if get_origin(hint) is not Annotated:
            msg = f"{table.__name__}.{name} has no Setting in its annotation"
            raise TypeError(msg)
        annotation, setting = get_args(hint)
        found[name] = replace(setting, label=setting.label or name, annotation=annotation)
    return found


def resolved(table: type, given: Mapping[str, Any], *, of: str) -> dict[str, Any]:
    """Every setting of a table: what is given, checked and in its final form, else the default.

    Args:
        table: The table.
        given: Values by name.
        of: What the settings are for, as messages call it.

    Raises:
        InvalidValueError: A setting is unknown, or its value cannot be used.
    """
    known = settings_of(table)
    check_names(given, known, of=of)
    return {
        name: setting.check(name, given.get(name, setting.default))
        for name, setting in known.items()
    }


def check_names(given: Collection[str], known: Collection[str], *, of: str) -> None:
    """Refuse names that are no settings.

    Raises:
        InvalidValueError: One of them is unknown; the message lists those that there are.
    """
    for name in given:
        if name not in known:
            msg = f"unknown setting {name!r} of {of}; its settings are {', '.join(known)}"
            raise InvalidValueError(msg)


def shows_settings(table: type, *, without: Collection[str] = ()) -> Callable[[Function], Function]:
    """Decorates a function so that its signature shows the settings in place of ``**settings``.

    `inspect`, documentation tools, and frameworks that rebuild objects from signatures see every
    setting with its default.

    Args:
        table: The table.
        without: Settings that the function does not take.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        shown = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=setting.default,
                annotation=setting.annotation,
            )
            for name, setting in settings_of(table).items()
            if name not in without and name not in signature.parameters
        ]
        function.__signature__ = signature.replace(parameters=[*own, *shown])  # type: ignore[attr-defined]  # inspect reads it
        return function

    return decorate


def unusual(table: type, values: Mapping[str, Any], *, without: Collection[str] = ()) -> list[str]:
    """What default names tell: ``label=value`` for each setting that is not the default.

    Args:
        table: The table.
        values: Settings in their final form, by name; those that are missing are the default.
        without: Settings that are not told.
    """
    told = []
    for name, setting in settings_of(table).items():
        if not setting.is_named or name in without or name not in values:
            continue
        usual, value = setting.check(name, setting.default), values[name]
        # What is called the same is the same: a published scheme's weights, given as numbers.
        if value != usual and _short(value) != _short(usual):
            told.append(f"{setting.label}={shown(value)}")
    return told


def shown(value: Any) -> str:
    """A setting's value in a name: its own short form, or that of a number."""
    if isinstance(value, tuple):
        return "+".join(map(shown, value))
    short = _short(value)
    if isinstance(short, str):
        return short
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}" if is_number else str(value)


def _short(value: Any) -> Any:
    return getattr(value, "short_name", value)


def check_kind(*kinds: type) -> Callable[[str, Any], Any]:
    """A check: the value is None or of one of these kinds."""

    def check(name: str, value: Any) -> Any:
        if value is not None and not isinstance(value, kinds):
            msg = f"{name}={value!r}; it is None or a {' or '.join(k.__name__ for k in kinds)}"
            raise InvalidValueError(msg)
        return value

    return check


def whole_number(what: str, least: float) -> Callable[[str, Any], int]:
    """A check: a whole number from ``least`` up; ``what`` says so in its message."""

    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            msg = f"{name}={value!r}; it is {what}"
            raise InvalidValueError(msg)
        return value

    return check


check_count: Final = whole_number("a whole number from 1 up", 1)


def check_flag(name: str, value: Any) -> bool:
    """A check: True or False; any other value has a truth that was hardly meant."""
    if not isinstance(value, bool):
        msg = f"{name}={value!r}; it is True or False"
        raise InvalidValueError(msg)
    return value


def check_share(name: str, value: Any) -> float:
    """A check: a number in [0, 1]."""
    # What numpy calls numbers is none of Python's own kinds.
    try:
        is_share = not isinstance(value, bool | str) and 0.0 <= float(value) <= 1.0
    except (TypeError, ValueError, OverflowError):
        is_share = False
    if not is_share:
        msg = f"{name}={value!r}; it lies in [0, 1]"
        raise InvalidValueError(msg)
    return float(value)


def check_one_of(*known: str) -> Callable[[str, Any], Any]:
    """A check: one of these words."""

    def check(name: str, value: Any) -> Any:
        if value not in known:
            msg = f"{name}={value!r}; it is {' or '.join(map(repr, known))}"
            raise InvalidValueError(msg)
        return value

    return check
