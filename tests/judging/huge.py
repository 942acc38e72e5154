"""A megabyte of text that is hard to search, and a quote to look for in it."""

from __future__ import annotations

import random
from typing import Final

_MEGABYTE = 1_000_000
_draw = random.Random(0)
_SENTENCES = ". ".join(
    " ".join(
        _draw.choice(["ferry", "not", "12", "the", "a"] + [f"w{i}" for i in range(500)])
        for _ in range(12)
    )
    for _ in range(17_000)
)[:_MEGABYTE]
_LETTERS = "".join(_draw.choice("abcdefgh") for _ in range(_MEGABYTE))

HUGE: Final[list[tuple[str, list[str], str]]] = [
    ("a table of one number", ["0 " * 500_000], "0 " * 4900 + "7"),
    ("the same, found", ["0 " * 500_000], "0 " * 4900),
    ("two words", ["alpha beta " * 90_000], "alpha ... omega"),
    ("fragments everywhere", ["alpha beta " * 90_000], "alpha ... beta ... " * 4 + "omega"),
    (
        "fragments nearly there",
        [_SENTENCES],
        " ... ".join(_SENTENCES[i : i + 150] for i in range(9, 10**5, 10**4)),
    ),
    ("one long word", ["a" * _MEGABYTE], "aaa"),
    ("nearly one long word", ["a" * _MEGABYTE], "a" * 4900 + "b" + "a" * 4900),
    ("words that begin alike", ["aa " * 333_000], "aaa"),
    ("no spaces", [_LETTERS], _LETTERS[1000:1390]),
    ("single letters", [" ".join(_LETTERS[:500_000])], " ".join(_LETTERS[500_000:500_380])),
    ("one character of a script without spaces", ["不" * 333_000], "不" * 9900),
    ("the same three times over", ["湖" * _MEGABYTE], "湖は" * 3000),
    ("ellipses alone", ["... " * 250_000], "a ... " * 1600),
    ("one letter between ellipses", ["a ... b ... " * 83_000], "a ... b ... c"),
    (
        "many passages",
        [_SENTENCES[i : i + 100] for i in range(0, _MEGABYTE, 100)],
        "w1 w2 w3 ... ferry not",
    ),
    (
        "one passage many times",
        ["the ferry runs daily not now " * 3] * 10_000,
        "the ferry runs weekly not now or daily",
    ),
    ("denied everywhere", ["not safe " * 111_000], "safe"),
    ("accents heaped on a letter", ["a" + "\u0301\u0327" * 500_000], "a" + "\u0301\u0327" * 4000),
    ("a quote of a megabyte", [_SENTENCES], _SENTENCES),
    ("full stops", ["." * _MEGABYTE], "." * 9000 + "a"),
    ("commas and figures", ["1," * 500_000], "1," * 4900 + "2"),
    ("empty lines", ["\n" * _MEGABYTE], "a\n" * 4900),
    ("hyphens", ["a-" * 500_000], "a-" * 4900 + "b"),
    ("apostrophes", ["l'x " * 250_000], "l'x " * 2400),
]
