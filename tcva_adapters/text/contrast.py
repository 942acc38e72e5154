"""Where a claim says something else than its source in much the same words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, permutations
from typing import Final

from tcva_adapters.text.lists import words
from tcva_adapters.text.negation import DENIALS, denied
from tcva_adapters.text.words import Token, is_content, stem

_ANTONYMS: Final = [tuple(map(stem, pair.split("/"))) for pair in sorted(words("antonyms"))]
_PREFIXES: Final = ("un", "dis", "non", "im", "in", "il", "ir")
_SHORTEST: Final = 3  # letters of a word whose opposite has a syllable in front
_AWAY: Final = words("taking_away")
_EXCUSES: Final = DENIALS.union(_AWAY, map(stem, _AWAY))
_OPPOSED: Final = frozenset({"word", "function"})
_NUMBERS: Final = frozenset({"number", "vague"})
_HEDGES: Final = words("hedges")
_UNITS: Final = frozenset({"percent", "dollar", "euro", "pound", "yen"})
_NEAR: Final = 3  # tokens between a number and what is counted
_FAR: Final = 3  # tokens between two names that have to do with each other
_YEAR, _SHORT_YEAR = 4, 2  # digits
_POINT: Final = re.compile(r"\d[.,]\d")
_LARGE: Final = 1000  # numbers from here on are often rounded


def opposites(claim: Sequence[Token], source: Sequence[Token]) -> list[str]:
    """Words of the claim whose opposite stands in the source, and neither in the other one.

    >>> from tcva_adapters.text.words import tokenise
    >>> opposites(tokenise("It rises, and is unsafe."), tokenise("It falls, and is safe."))
    ['rises', 'unsafe']
    """
    here, there = ({t.key for t in tokens if t.kind in _OPPOSED} for tokens in (claim, source))
    gone, new = there - here, here - there
    opposed = {key for key in new if not gone.isdisjoint(_opposites(key))}
    opposed |= new.intersection(chain.from_iterable(map(_opposites, gone)))
    return [token.text for token in claim if token.key in opposed]


@lru_cache(maxsize=8192)
def _opposites(key: str) -> frozenset[str]:
    """The antonyms of a word, and the word without a syllable in front that denies it."""
    bare = {key[len(prefix) :] for prefix in _PREFIXES if key.startswith(prefix)}
    listed = {word for pair in _ANTONYMS if key in pair for word in pair if word != key}
    return frozenset(listed | {word for word in bare if len(word) >= _SHORTEST})


def negation_differs(claim: Sequence[Token], source: Sequence[Token]) -> list[str]:
    """Words that one of the two denies and the other, which denies nothing, asserts.

    Words of denial (*forbidden*) and a second negation excuse a difference but do not make one.

    >>> from tcva_adapters.text.words import tokenise
    >>> negation_differs(tokenise("It offers X-rays."), tokenise("It does not offer X-rays."))
    ['offer']
    >>> negation_differs(tokenise("Parking is not free."), tokenise("Parking is free for guests."))
    ['free']
    """
    here, there = denied(claim), denied(source)
    if bool(here) == bool(there):
        return []
    one, other, outside = (claim, source, here) if here else (source, claim, there)
    clauses = [token.clause for token in one if token.kind == "negator"]
    twice = len(clauses) > len(set(clauses))
    # What both of them say explains no difference.
    if twice or not _EXCUSES.isdisjoint({t.key for t in claim} ^ {t.key for t in source}):
        return []
    said = {t.key for t in other} - {t.key for at, t in enumerate(one) if at not in outside}
    return [one[at].text for at in sorted(outside) if one[at].key in said]


def swapped_names(claim: Sequence[Token], source: Sequence[Token]) -> list[str]:
    """Two names that stand on the other sides of a word that claim and source share.

    *A sued B* against *B sued A*; but *B was sued by A* says the same as the former.

    >>> from tcva_adapters.text.words import tokenise
    >>> swapped_names(tokenise("So Ann taught Ben."), tokenise("So Ben taught Ann."))
    ['Ann', 'Ben']
    """
    names = {t.key for t in (*claim, *source) if t.capital and t.kind == "word"}
    names &= {token.key for token in claim} & {token.key for token in source}
    there = dict(_between(source, names)) if len(names) > 1 else {}
    for word, (before, after) in _between(claim, names) if there else ():
        first, second = there.get(word, (before, after))
        if before & second and after & first and not (before & first or after & second):
            return [token.text for token in claim if token.key in {min(before), min(after)}]
    return []


def _between(
    tokens: Sequence[Token], names: set[str]
) -> Iterator[tuple[str, tuple[set[str], set[str]]]]:
    """The words between two names, with those who do and those to whom it is done."""
    runs = [(is_name, list(run)) for is_name, run in groupby(tokens, lambda t: t.key in names)]
    for (_, before), (is_name, middle), (_, after) in zip(runs, runs[1:], runs[2:], strict=False):
        if not is_name and len(middle) <= _FAR:
            sides = {token.key for token in before}, {token.key for token in after}
            passive = any(token.key == "by" for token in middle)
            for token in filter(is_content, middle):
                yield token.key, sides[::-1] if passive else sides


def values(tokens: Sequence[Token]) -> set[str]:
    """The values of all numbers of a text, in each of their readings."""
    return {key for t in tokens if t.kind in _NUMBERS for key in (t.key, t.other) if key}


def other_numbers(claim: Sequence[Token], source: Sequence[Token]) -> list[str]:
    """Numbers of the claim in whose place the source has another one.

    They count the same, or stand behind the same word. Nothing is said of other units, of what is
    rounded, of ranges and of sums: whether they differ cannot be told.

    >>> from tcva_adapters.text.words import tokenise
    >>> other_numbers(tokenise("It rose by 50 %."), tokenise("It rose by 5 %."))
    ['50']
    """
    here, there = values(claim), values(source)
    if here <= there:
        return []
    plainly = {token.key for token in source if token.kind in _NUMBERS}
    others = [at for at, t in enumerate(source) if t.kind == "number" and t.key not in here]
    return [
        token.text
        for at, token in enumerate(claim)
        if token.kind in _NUMBERS
        and token.key not in there
        and token.other not in plainly
        and any(_in_place(claim, at, source, other) for other in others)
        and not _is_derived(token, there)
    ]


def _in_place(claim: Sequence[Token], at: int, source: Sequence[Token], other: int) -> bool:
    """Whether two numbers count the same, or stand behind the same word."""
    if bool(claim[at].other) != bool(source[other].other):
        return False  # a time of day
    if _hedges(claim, at) != _hedges(source, other):
        return False
    if claim[at].kind == "vague":  # "one week" counts, "one of them" does not
        return [t.key for t in claim[at + 1 : at + 2]] == [
            t.key for t in source[other + 1 : other + 2]
        ]
    counted, also = list(_counted(claim, at)), list(_counted(source, other))
    if counted and also:
        return counted[0] in also or also[0] in counted
    return at > 0 and other > 0 and claim[at - 1].key == source[other - 1].key


def _counted(tokens: Sequence[Token], at: int) -> Iterator[str]:
    if at and tokens[at - 1].key in _UNITS:
        yield tokens[at - 1].key
        return
    for token in tokens[at + 1 : at + 1 + _NEAR]:
        if token.clause != tokens[at].clause or token.kind == "number":
            return
        if is_content(token):
            yield token.key
        if token.key in _UNITS:
            return


def _hedges(tokens: Sequence[Token], at: int) -> set[str]:
    near = *tokens[max(0, at - _NEAR) : at], *tokens[at + 1 : at + 2]
    return {token.key for token in near} & _HEDGES


def _is_derived(token: Token, others: set[str]) -> bool:
    """Whether a number is a short year, a rounded one, or the sum or difference of two.

    A point may part thousands or decimals: it may also be a thousand times another one.
    """
    for other in others:
        short, long = sorted((token.key, other), key=len)
        if (len(short), len(long)) == (_SHORT_YEAR, _YEAR) and long.endswith(short):
            return True
    if not _is_plain(token.key):
        return False
    value, numbers = float(token.key), {float(other) for other in others if _is_plain(other)}
    if _POINT.search(token.text) and numbers & {value * 1000, value / 1000}:
        return True
    if any(value in (a + b, a - b) for a, b in permutations(numbers, 2)):
        return True
    size = 1.0
    while value and value % (size * 10) == 0:
        size *= 10
    return any(
        abs(number - value) < size and (size >= _LARGE or not number.is_integer())
        for number in numbers
    )


def _is_plain(key: str) -> bool:
    return key.replace(".", "", 1).isdecimal()
