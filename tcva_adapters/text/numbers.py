"""Find the numbers of a claim that are different ones in its source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import isnan, nan

from tcva_adapters.text.lists import patterns, variants
from tcva_adapters.text.words import Token, is_content

_NUMBERS = frozenset({"number", "vague"})
_UNITS = frozenset({"percent", "dollar", "euro", "pound", "yen"})
_NEAR = 3  # tokens between a number and what is counted
_PLAIN = re.compile(r"-?\d{1,15}(?:\.\d+)?")  # of what a float holds exactly
_FRACTIONS = variants("fractions")
_SIDES = {
    "parted": nan,
    "least": 1,
    "most": -1,
    "about": nan,
}
"""The side of a number with this bound on which others are allowed; nan for both sides."""

_BOUNDS = "|".join(f"(?P<{bound}>{patterns(bound)})" for bound in _SIDES)
_BOUND = re.compile(rf"(?<!\S)(?:{_BOUNDS})(?!\S)", re.IGNORECASE)
_LARGE = 1000  # numbers from here on are often rounded
_REACH = 6  # tokens that a bound of a number reaches
_LONGEST = 200  # tokens of a claim whose numbers are held against all of the source


def values(tokens: Sequence[Token]) -> set[str]:
    """The values of all numbers of a text, in each of their readings."""
    keys = set[str]()
    for token in tokens:
        if token.kind in _NUMBERS:
            keys |= {token.key, token.other}
    return keys - {""}


def other_numbers(claim: Sequence[Token], source: Sequence[Token]) -> list[str]:
    """Find the numbers of a claim in whose place the source has another number.

    Two numbers are in the same place if they count the same, or follow the same word. Numbers that may
    be true are left out: those in another unit, those rounded or computed from the source's, and those
    that a bound or range of the source allows. A factor that both texts name is not used to compute.

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
    keys = values(claim)
    source_keys = values(source)
    if keys <= source_keys:
        return []
    first_keys = {token.key for token in source if token.kind in _NUMBERS}
    others = {
        place: (value_of(token.key), bound_of(source, place))
        for place, token in enumerate(source)
        if token.kind == "number" and token.key not in keys
    }
    factors = _words(claim) ^ _words(source)
    numbers = []
    for place, token in enumerate(claim[:_LONGEST]):
        if token.kind not in _NUMBERS or token.key in source_keys:
            continue
        if token.other in first_keys:
            continue
        if any(_is_same_year(token.key, key) for key in source_keys):
            continue
        value = value_of(token.key)
        near = {
            others[other]
            for other in others
            if _in_place(
                claim,
                place,
                source,
                other,
            )
        }
        if not near or _is_allowed(value, bound_of(claim, place), near):
            continue
        near_values = {other for other, _ in near}
        if not _is_derived(value or nan, near_values, factors):
            numbers.append(token.text)
    return numbers


def _words(tokens: Sequence[Token]) -> set[str]:
    return {_FRACTIONS.get(token.text.casefold(), token.key) for token in tokens}


def _is_same_year(key: str, other: str) -> bool:
    """Tell whether one number is a year of the last or this century, and the other its last digits."""
    if key[-2:] != other[-2:]:
        return False
    centuries = {key[:-2], other[:-2]}
    return centuries in ({"", "19"}, {"", "20"})


def _is_allowed(
    value: float,
    claimed: str,
    others: set[tuple[float, str]],
) -> bool:
    """Tell whether a claim's number is allowed by all numbers in its place, each with its bound."""
    for other, bound in others:
        side = _SIDES.get(bound, 0) - _SIDES.get(claimed, 0)
        if claimed == bound or (value - other) * side < 0:
            return False
    return True


def _in_place(
    claim: Sequence[Token],
    at: int,
    source: Sequence[Token],
    other: int,
) -> bool:
    """Tell whether two numbers count the same, or stand behind the same word."""
    if isnan(value_of(claim[at].key)) != isnan(value_of(source[other].key)):
        return False  # a time of day, date, ratio or version
    if claim[at].kind == "vague":  # "one week" counts, "one of them" does not
        following = [token.key for token in claim[at + 1 : at + 2]]
        source_following = [token.key for token in source[other + 1 : other + 2]]
        return following == source_following
    counted = _things_counted(claim, at)
    others = _things_counted(source, other)
    if counted and others:
        return counted[0] in others or others[0] in counted
    if "percent" in counted + others:
        return False  # one is a share of something, the other a count
    if at == 0 or other == 0:
        return False
    return claim[at - 1].key == source[other - 1].key


def bound_of(tokens: Sequence[Token], at: int) -> str:
    """The kind of bound that the words around a number make it: ``least``, ``most`` or ``about``.

    The ends of a range are its ``least`` and its ``most``. ``parted`` is a number that may be read in
    two ways ("1.240", "1 240"). The empty string stands for an exact number.
    """
    words = []
    for token in tokens[max(0, at - _REACH) : at + _REACH]:
        if token is tokens[at]:
            words.append(f"<{token.text}>")
        elif token.clause == tokens[at].clause:
            words.append(token.key if token.kind == "number" else token.text)
    bound = _BOUND.search(" ".join(words))
    return (bound and bound.lastgroup) or ""


@lru_cache(maxsize=8192)  # each number of a claim is held against all of its quote
def value_of(key: str) -> float:
    """The value of a plain number's key; nan for any other key."""
    return float(key) if _PLAIN.fullmatch(key) else nan


def _things_counted(tokens: Sequence[Token], at: int) -> list[str]:
    """The thing that a number counts: the sign before it, or words of content behind it."""
    if at and tokens[at - 1].key in _UNITS:
        return [tokens[at - 1].key]
    counted = []
    for token in tokens[at + 1 : at + 1 + _NEAR]:
        if token.clause != tokens[at].clause or token.kind == "number":
            break
        if is_content(token):
            counted.append(token.key)
        if token.key in _UNITS:
            break
    return counted


def _is_derived(
    value: float,
    others: set[float],
    factors: set[str],
) -> bool:
    """Tell whether a number is rounded, or computed from the numbers in its place in the source.

    It is computed if it is the sum or difference of two of them, a multiple, a part or a percentage of
    one, or one of them raised or lowered by a percentage.

    Args:
        value: The number.
        others: Those in its place.
        factors: The words of only one of the two texts, as a factor of both changes nothing.
    """
    known = set(map(value_of, factors)) - {value, nan}
    size = 10.0 ** -len(format(value, ".15g").partition(".")[2])
    while value % (size * 10) == 0:
        size *= 10
    for number in others - {0}:
        ratio = value / number
        percent = 100 * ratio if "percent" in factors else nan
        ratios = {
            round(part, 6) for part in (ratio, 1 / ratio, percent, abs(percent - 100))
        }
        # "Fifteen years later" is a sum of other quantities.
        terms = known if "12" in factors and min(value, number) > _LARGE else others
        apart = abs(value - number)
        may_be_rounded = size >= _LARGE or not number.is_integer()
        if may_be_rounded and 2 * apart <= size:
            return True
        if ratios & known - {number} or apart in terms - {number}:
            return True
    return False
