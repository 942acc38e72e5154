"""What evaluators in all frameworks have in common: checks that name them, and settings that stay."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.results.settings import check_names


def require(is_usable: bool, name: str, value: Any, needed: str) -> None:
    """Refuse a value.

    Raises:
        InvalidValueError: It is not usable; the message has its name and what is needed.
    """
    if not is_usable:
        msg = f"{name}={value!r:.80}; {needed}"
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
