"""What the golden files hold, with the values that have changed on purpose since.

They were written once, at commit 14afdd4, by ``python -m tests.golden.write`` (the module is in the
history of this folder), and are never written again. A value that a step changes on purpose gets
an entry in ``changed.toml``:

    [[changed]]
    file = "paper"                 # the golden file
    where = "results.3.score"      # keys and places, from the outside in
    old = "0.8137985496864675"     # as JSON; for `nan` of an array "NaN"
    new = "0.8"
    why = "One line that says why."
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Final

import numpy as np

HERE: Final = Path(__file__).parent
RELATIVE: Final = 1e-11
"""Scores are rounded to 12 significant digits; that moves them by half of this at most."""
TINY: Final = 1e-25
"""Right above exponent 0 a score with a `none` is 0 for every purpose, be it 1e-98 or 1e-302."""


def stored(name: str) -> Any:
    """A golden file with today's values in place of those that have changed on purpose."""
    value = original(name)
    for change in changes():
        if change["file"] == name:
            *path, last = parts(change["where"])
            place = value
            for part in path:
                place = place[part]
            place[last] = json.loads(change["new"])
    return value


def original(name: str) -> Any:
    """A golden file as it was written."""
    if (HERE / f"{name}.npz").exists():
        with np.load(HERE / f"{name}.npz") as arrays:
            return {key: arrays[key] for key in arrays}
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def changes() -> list[dict[str, str]]:
    """The entries of ``changed.toml``."""
    found = tomllib.loads((HERE / "changed.toml").read_text(encoding="utf-8"))
    entries: list[dict[str, str]] = found.get("changed", [])
    return entries


def parts(where: str) -> list[Any]:
    """The keys and places of a path."""
    return [int(part) if part.lstrip("-").isdigit() else part for part in where.split(".")]


def differences(expected: Any, found: Any, where: str = "") -> list[str]:
    """Where two plain values differ: numbers beyond `RELATIVE`, all else at all."""
    pairs: list[tuple[str, Any, Any]]
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        pairs = [(key, expected[key], found[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = [(str(i), *two) for i, two in enumerate(zip(expected, found, strict=True))]
    else:
        same = expected == found and isinstance(expected, bool) == isinstance(found, bool)
        if isinstance(expected, float) and isinstance(found, int | float):
            same = bool(np.isclose(found, expected, rtol=RELATIVE, atol=TINY, equal_nan=True))
        return [] if same else [f"{where}: {expected!r} is {found!r} now"]
    return [
        text
        for key, one, other in pairs
        for text in differences(one, other, f"{where}.{key}".strip("."))
    ]
