"""Checks of arguments that the evaluators of all frameworks share."""

from __future__ import annotations

from collections.abc import Collection

from tcva_adapters.core.checks import check_names
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer


def require(
    is_usable: bool,
    name: str,
    value: object,
    needed: str,
) -> None:
    """Refuse a value that is not usable.

    Raises:
        InvalidValueError: It is not usable; the message names it and what is needed.
    """
    if not is_usable:
        raise InvalidValueError(f"{name} must be {needed}, got {value!r:.80}")


def check_scorer(owner: object, scorer: object) -> None:
    """Refuse a value that is not a scorer; the message names the class that was called.

    Raises:
        InvalidValueError: It is not a scorer.
    """
    require(
        isinstance(scorer, Scorer),
        f"the scorer of {type(owner).__name__}",
        scorer,
        "a TCVA(...) or a CCRS(...)",
    )


def check_settings(
    owner: object,
    settings: Collection[str],
    known: Collection[str],
    *,
    judge: str = "llm",
) -> None:
    """Refuse unknown settings; the message names the class that was called.

    Args:
        owner: An object of that class.
        settings: The names of the settings.
        known: The names that it takes, besides the one for the judge.
        judge: The name of its argument for the judge.

    Raises:
        InvalidValueError: A name is unknown, or is another class's name for the judge.
    """
    title = type(owner).__name__
    for name in {"judge", "llm", "model"}.intersection(settings) - {judge}:
        raise InvalidValueError(
            f"{title} takes the judge as {judge}=..., not as {name}=..."
        )
    names = [name for name in known if name not in {"judge", judge}]
    check_names(settings, [judge, *names], owner=title)
