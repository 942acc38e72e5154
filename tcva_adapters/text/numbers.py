"""Where a claim gives another number than its source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import isnan, nan
from typing import Final

from tcva_adapters.text.lists import patterns, variants
from tcva_adapters.text.words import Token, is_content

_NUMBERS: Final = frozenset({"number", "vague"})
_UNITS: Final = frozenset({"percent", "dollar", "euro", "pound", "yen"})
_NEAR: Final = 3  # tokens between a number and what is counted
_PLAIN: Final = re.compile(r"-?\d{1,15}(?:\.\d+)?")  # of what a float holds exactly
_FRACTIONS: Final = variants("fractions")
_SIDES: Final = {"parted": nan, "least": 1, "most": -1, "about": nan}
_BOUND: Final = re.compile(
    rf"(?<!\S)(?:{'|'.join(f'(?P<{bound}>{patterns(bound)})' for bound in _SIDES)})(?!\S)",
    re.IGNORECASE,
)
_LARGE: Final = 1000  # numbers from here on are often rounded
_REACH: Final = 6  # tokens that a bound of a number reaches


def values(tokens: Sequence[Token]) -> set[str]:
    """The values of all numbers of a text, in each of their readings."""
    found = {""}
    for token in tokens:
        if token.kind in _NUMBERS:
            found |= {token.key, token.other}
    return found - {""}


def other_numbers(claim: Sequence[Token], source: Sequence[Token]) -> list[str]:
    """Numbers of the claim in whose place the source has another one.

    They count the same, or stand behind the same word. Nothing is said of other units, of what is
    rounded or computed, nor of a number that a bound or range of the source allows: whether they
    differ is unknown. A factor that both texts name computes nothing.

    >>> from tcva_adapters.text.words import tokenise
    >>> other_numbers(tokenise("It rose by 50 %."), tokenise("It rose by 5 %."))
    ['50']
    >>> source = tokenise("Groups of ten or more get a discount.")
    >>> other_numbers(tokenise("A group of twelve gets a discount."), source)
    []
    >>> other_numbers(tokenise("A group of eight gets a discount."), source)
    ['eight']
    >>> other_numbers(tokenise("Take 20 mg twice daily."), tokenise("Take 10 mg twice daily."))
    ['20']
    """
    here, there = values(claim), values(source)
    if here <= there:
        return []
    plainly = {token.key for token in source if token.kind in _NUMBERS}
    others = [
        (at, value_of(token.key), bound_of(source, at))
        for at, token in enumerate(source)
        if token.kind == "number" and token.key not in here
    ]
    said, quoted = (
        {_FRACTIONS.get(token.text.casefold(), token.key) for token in tokens}
        for tokens in (claim, source)
    )
    return [
        token.text
        for at, token in enumerate(claim)
        if token.kind in _NUMBERS
        and token.key not in there
        and token.other not in plainly
        and (near := {other[1:] for other in others if _in_place(claim, at, source, other[0])})
        and not _is_allowed(value_of(token.key), bound_of(claim, at), near)
        and not any(
            token.key[-2:] == key[-2:] and {token.key[:-2], key[:-2]} in ({"", "19"}, {"", "20"})
            for key in there
        )
        and not _is_derived(value_of(token.key) or nan, set(dict(near)), said ^ quoted)
    ]


def _is_allowed(value: float, claimed: str, others: set[tuple[float, str]]) -> bool:
    """Whether all numbers in the place of a claim's, each with its bound, allow it."""
    return not any(
        claimed == bound or (value - other) * (_SIDES.get(bound, 0) - _SIDES.get(claimed, 0)) < 0
        for other, bound in others
    )


def _in_place(claim: Sequence[Token], at: int, source: Sequence[Token], other: int) -> bool:
    """Whether two numbers count the same, or stand behind the same word."""
    if isnan(value_of(claim[at].key)) != isnan(value_of(source[other].key)):
        return False  # a time of day, date, ratio or version
    if claim[at].kind == "vague":  # "one week" counts, "one of them" does not
        behind = [t.key for t in claim[at + 1 : at + 2]]
        return behind == [t.key for t in source[other + 1 : other + 2]]
    counted, also = _counted(claim, at), _counted(source, other)
    if counted and also:
        return counted[0] in also or also[0] in counted
    if "percent" in counted + also:
        return False  # a share of something, and so many of it
    return at > 0 and other > 0 and claim[at - 1].key == source[other - 1].key


def bound_of(tokens: Sequence[Token], at: int) -> str:
    """What the words around a number make it: the ``least`` or ``most`` that may be, or ``about``.

    The ends of a range are its least and its most. The value of one that is ``parted`` ("1.240",
    "1 240") is not sure. The empty string is an exact one.
    """
    shown = [
        f"<{token.text}>"
        if token is tokens[at]
        else token.key
        if token.kind == "number"
        else token.text
        for token in tokens[max(0, at - _REACH) : at + _REACH]
        if token.clause == tokens[at].clause
    ]
    bound = _BOUND.search(" ".join(shown))
    return (bound and bound.lastgroup) or ""


@lru_cache(maxsize=8192)  # each number of a claim is held against all of its quote
def value_of(key: str) -> float:
    """The value of the key of a plain number, else nan."""
    return float(key) if _PLAIN.fullmatch(key) else nan


def _counted(tokens: Sequence[Token], at: int) -> list[str]:
    """What a number counts: the sign before it, or words of content behind it."""
    if at and tokens[at - 1].key in _UNITS:
        return [tokens[at - 1].key]
    found: list[str] = []
    for token in tokens[at + 1 : at + 1 + _NEAR]:
        if token.clause != tokens[at].clause or token.kind == "number":
            break
        if is_content(token):
            found.append(token.key)
        if token.key in _UNITS:
            break
    return found


def _is_derived(value: float, others: set[float], factors: set[str]) -> bool:
    """Whether a number is a rounded one, or computed from those in its place in the source.

    As the sum or difference of two of them, or as so many times, a part or so many percent of one,
    or so many percent more or less.

    Args:
        value: The number.
        others: Those in its place.
        factors: What only one of the two texts says: a factor of both changes nothing.
    """
    known = set(map(value_of, factors)) - {value, nan}
    size = 10.0 ** -len(format(value, ".15g").partition(".")[2])
    while value % (size * 10) == 0:
        size *= 10
    for number in others - {0}:
        ratio = value / number
        percent = 100 * ratio if "percent" in factors else nan
        ratios = {round(part, 6) for part in (ratio, 1 / ratio, percent, abs(percent - 100))}
        # "Fifteen years later" is a sum of other quantities.
        terms = known if "12" in factors and min(value, number) > _LARGE else others
        apart = abs(value - number)
        is_rounded = 2 * apart <= size and (size >= _LARGE or not number.is_integer())
        if is_rounded or ratios & known - {number} or apart in terms - {number}:
            return True
    return False
