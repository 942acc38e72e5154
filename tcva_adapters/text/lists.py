"""The word lists of this folder, read once from ``words.toml``."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

_LISTS = tomllib.loads(
    files("tcva_adapters.text").joinpath("words.toml").read_text(encoding="utf-8")
)

_PART = re.compile(r"<(\w+)>")


def word_list(name: str) -> frozenset[str]:
    """The words of one list, or of all lists of a table together."""
    words = _LISTS[name]
    if not isinstance(words, str):
        words = " ".join(words.values())
    return frozenset(words.split())


def by_language(name: str) -> dict[str, frozenset[str]]:
    """The lists of a table by their names."""
    return {key: frozenset(text.split()) for key, text in _LISTS[name].items()}


def variants(name: str) -> dict[str, str]:
    """Map each variant in a table to the word that it stands for.

    >>> variants("spellings")["kg"], variants("numbers")["dozen"]
    ('kilogram', '12')
    """
    return {
        form: word for word, forms in _LISTS[name].items() for form in forms.split()
    }


def patterns(name: str) -> str:
    """Join the patterns of a list as alternatives of one; lines that begin with # are comments."""
    lines = _LISTS["patterns"][name].strip().splitlines()
    text = "|".join(f"(?:{line})" for line in lines if not line.startswith("#"))
    return _PART.sub(_part, text)


def _part(name: re.Match[str]) -> str:
    """Expand the name of a part, ``<name>`` in a pattern, to the alternatives that it stands for."""
    lines = _LISTS["parts"][name[1]].split()
    part = " ".join(lines).replace("; ", "|")
    return f"(?:{_PART.sub(_part, part)})"
