"""Checks of arguments that the evaluators of all frameworks share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.results.unknown_names import check_names


def require(
    is_usable: bool,
    name: str,
    value: Any,
    needed: str,
) -> None:
    """Refuse a value.

    Raises:
        InvalidValueError: It is not usable; the message names it and what is needed.
    """
    if not is_usable:
        msg = f"{name} must be {needed}, got {value!r:.80}"
        raise InvalidValueError(msg)


def check_scorer(owner: object, scorer: Any) -> None:
    """Refuse what is not a scorer, in the name of the class that was called.

    Raises:
        InvalidValueError: It is not a scorer.
    """
    name = f"the scorer of {type(owner).__name__}"
    require(isinstance(scorer, Scorer), name, scorer, "a TCVA(...) or a CCRS(...)")


def check_settings(
    owner: object,
    given: Mapping[str, Any],
    known: Collection[str],
    *,
    judge: str,
) -> None:
    """Refuse unknown settings in the name of the class that was called.

    Args:
        owner: An object of that class.
        given: The settings.
        known: The names that it takes.
        judge: Its argument for the judge.

    Raises:
        InvalidValueError: A name is unknown, or is another class's name for the judge.
    """
    of = type(owner).__name__
    for name in {"judge", "llm", "model"}.intersection(given) - {judge}:
        msg = f"{of} takes the judge as {judge}=..., not as {name}=..."
        raise InvalidValueError(msg)
    check_names(
        given,
        [judge, *(name for name in known if name not in {"judge", judge})],
        owner=of,
    )
