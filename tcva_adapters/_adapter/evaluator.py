"""What evaluators in all frameworks have in common: checks that name them, and settings that stay."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.settings import check_names

R = TypeVar("R", bound=Scored)

_SHOWN = 80


class Frozen:
    """Refuses to set what would not be used: a built evaluator does not change.

    Attributes:
        settable: What may be set all the same, because the framework or its users do.
        changes: How else a setting is changed; ``{name}`` stands for it.
        _is_built: Set by a constructor at its end.
    """

    settable: ClassVar[Collection[str]] = ()
    changes: ClassVar[str] = "changed({name}=...) gives a copy"
    _is_built = False

    def __setattr__(self, name: str, value: Any) -> None:
        # Underlined are the framework's own, and what typing sets on a generic class.
        if self._is_built and name not in self.settable and not name.startswith("_"):
            refuse_change(self, name, value, self.changes.format(name=name))
        super().__setattr__(name, value)


def refuse_change(owner: object, name: str, value: Any, instead: str) -> NoReturn:
    """Refuse to set something on a built object, and say how else.

    Raises:
        InvalidValueError: Always.
    """
    msg = f"{name}={shown(value)}; a built {type(owner).__name__} is not changed; {instead}"
    raise InvalidValueError(msg)


def require(is_usable: bool, name: str, value: Any, needed: str) -> None:
    """Refuse a value.

    Raises:
        InvalidValueError: It is not usable; the message has its name and what is needed.
    """
    if not is_usable:
        msg = f"{name}={shown(value)}; {needed}"
        raise InvalidValueError(msg)


def check_scorer(owner: object, scorer: Any) -> None:
    """Refuse what does not score, in the name of the class that was called.

    Raises:
        InvalidValueError: It is no scorer.
    """
    needed = f"{type(owner).__name__} takes what scores, e.g. TCVA() or CCRS('qr')"
    require(isinstance(scorer, Scorer), "scorer", scorer, needed)


def check_settings(
    owner: object, given: Mapping[str, Any], known: Collection[str], *, judge: str
) -> None:
    """Refuse unknown settings in the name of the class that was called.

    Args:
        owner: An object of that class.
        given: The settings.
        known: The names that it takes.
        judge: What it calls the judge.

    Raises:
        InvalidValueError: A name is unknown, or another class's for the judge.
    """
    of = type(owner).__name__
    if "judge" in given:
        msg = f"the judge of {of} is called {judge}; pass it as {judge}=..."
        raise InvalidValueError(msg)
    check_names(given, [name for name in known if name != "judge"], of=of)


def shown(value: Any) -> str:
    """A value in a message, on one line of bearable length."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
