"""The word lists of this folder, read once from ``words.toml``."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Final

_LISTS: Final = tomllib.loads(
    files("tcva_adapters.text").joinpath("words.toml").read_text(encoding="utf-8")
)

_PART: Final = re.compile(r"<(\w+)>")


def words(name: str) -> frozenset[str]:
    """One list, or all lists of a table together."""
    found = _LISTS[name]
    return frozenset((found if isinstance(found, str) else " ".join(found.values())).split())


def by_language(name: str) -> dict[str, frozenset[str]]:
    """The lists of a table by their names."""
    return {key: frozenset(text.split()) for key, text in _LISTS[name].items()}


def variants(name: str) -> dict[str, str]:
    """Which word each of its variants stands for.

    >>> variants("spellings")["kg"], variants("numbers")["dozen"]
    ('kilogram', '12')
    """
    return {form: word for word, forms in _LISTS[name].items() for form in forms.split()}


def pattern(name: str) -> re.Pattern[str]:
    """One of the patterns, compiled; lines that begin with # are remarks."""
    lines = _LISTS["patterns"][name].strip().splitlines()
    text = "|".join(f"(?:{line})" for line in lines if not line.startswith("#"))
    return re.compile(_PART.sub(_part, text), re.IGNORECASE)


def _part(name: re.Match[str]) -> str:
    """What the name of a part or of a list of phrases stands for in a pattern."""
    part = _LISTS["parts"].get(name[1])
    if part is None:
        phrases = " ".join(_LISTS["phrases"][name[1]].split()).split("; ")
        part = "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))
    return f"(?:{_PART.sub(_part, part)})"
