"""Checks of options, run when an object is built and again whenever one is set later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from langchain_core.runnables import Runnable

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.store import VerdictStore

_SHOWN: Final = 80

Check = Callable[[str, Any], None]
"""Takes an option's name and its value; raises InvalidValueError."""


class Checked:
    """Keeps an object's settings usable: they may be set at any time, and are checked each time."""

    _checks: ClassVar[Mapping[str, Check]] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._checks:
            self._checks[name](name, value)
        super().__setattr__(name, value)


def check_evaluator(name: str, value: Any) -> None:
    """Anything that may stand for a `TCVAEvaluator`, itself or wrapped."""
    _require(isinstance(value, Runnable), name, value, "a TCVAEvaluator is needed")


def check_bare_evaluator(name: str, value: Any) -> None:
    """A `TCVAEvaluator` whose criterion can be seen: many wrappers hide it."""
    found = getattr(value, "required_fields", None)
    is_seen = isinstance(value, Runnable) and isinstance(found, tuple)
    needed = "a TCVAEvaluator is needed, bare or with with_config or configurable_fields"
    _require(is_seen, name, value, needed)


def check_chain(name: str, value: Any) -> None:
    """A Runnable of any kind."""
    needed = "a Runnable is needed; RunnableLambda makes one of a function"
    _require(isinstance(value, Runnable), name, value, needed)


def check_callable(name: str, value: Any) -> None:
    """A function, or None for the default."""
    _require(value is None or callable(value), name, value, "a function is needed, or None")


def check_store(name: str, value: Any) -> None:
    """A store, the path of one, or None."""
    is_store = value is None or isinstance(value, VerdictStore | str | Path)
    _require(is_store, name, value, "a path or a VerdictStore is needed, or None")


def check_name(name: str, value: Any) -> None:
    """A text that is not empty, or None for the default."""
    is_name = value is None or (isinstance(value, str) and bool(value))
    _require(is_name, name, value, "a text is needed, or None")


def check_flag(name: str, value: Any) -> None:
    """True or False: any other value has a truth that was hardly meant."""
    _require(isinstance(value, bool), name, value, "True or False is needed")


def check_count(least: int) -> Check:
    """A whole number from `least` on."""

    def check(name: str, value: Any) -> None:
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= least
        _require(is_count, name, value, f"a whole number from {least} on is needed")

    return check


def default_key(evaluator: Any) -> str:
    """The name of an evaluator's feedback where none is given.

    Raises:
        InvalidValueError: The criterion cannot be seen.
    """
    criterion = getattr(evaluator, "criterion_name", None)
    if not isinstance(criterion, str):
        msg = (
            f"evaluator={_shown(evaluator)} hides its criterion; give the feedback a name yourself"
        )
        raise InvalidValueError(msg)
    return f"tcva_{criterion}"


def _require(is_usable: bool, name: str, value: Any, needed: str) -> None:
    if not is_usable:
        msg = f"{name}={_shown(value)}; {needed}"
        raise InvalidValueError(msg)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
