"""Where a claim says something else than its source in much the same words; what a text denies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import nan
from typing import Final

from tcva_adapters.text.lists import patterns, variants, words
from tcva_adapters.text.words import FUNCTION_WORDS, NEGATIONS, Token, is_content, stem

_ANTONYMS: Final = [tuple(map(stem, pair.split("/"))) for pair in sorted(words("antonyms"))]
_PREFIXES: Final = ("un", "dis", "non", "im", "in", "il", "ir")
_SHORTEST: Final = 3  # letters of a word whose opposite has a syllable in front
_DENIALS: Final = words("denials")
_EXCUSES: Final = _DENIALS.union(words("taking_away"), map(stem, words("taking_away")))
_OPPOSED: Final = frozenset({"word", "function"})

_NUMBERS: Final = frozenset({"number", "vague"})
_UNITS: Final = frozenset({"percent", "dollar", "euro", "pound", "yen"})
_NEAR: Final = 3  # tokens between a number and what is counted
_PLAIN: Final = re.compile(r"\d{1,15}(?:\.\d+)?")  # of what a float holds exactly
_FRACTIONS: Final = variants("fractions")
_SIDES: Final = {"parted": nan, "least": 1, "most": -1, "about": nan}
_BOUND: Final = re.compile(
    rf"(?<!\S)(?:{'|'.join(f'(?P<{bound}>{patterns(bound)})' for bound in _SIDES)})(?!\S)",
    re.IGNORECASE,
)
_LARGE: Final = 1000  # numbers from here on are often rounded

_NEARLY: Final = words("nearly")
_DENYING: Final = {word: words(f"denying_{word}") for word in ("to", "that", "from")}
_HARMLESS_NEXT: Final = words("harmless_next")
_HARMLESS_BEFORE: Final = words("harmless_before")
_CLAUSES: Final = words("clauses") - {"or"}
_HELPING: Final = FUNCTION_WORDS - words("clauses") | words("helping")
_FILLERS: Final = words("fillers")
_FILLING: Final = words("filling")
_HELPING_VERBS: Final = words("helping_verbs")
_AFTER_NE: Final = words("after_ne")
_ONLY_AFTER_A_VERB: Final = words("only_after_a_verb")
_REACH: Final = 6  # tokens that a negator, or a bound of a number, reaches
_NEXT: Final = 4  # words behind a stretch that are looked at
_JAPANESE: Final = re.compile(
    r"(?:では|じゃ|とは|に|は|で|し|れ|え|き|り|ら|か|せ)?"
    r"(?!なければな|なくてはな|ないと|ないわけ)(?:な[いかくけ]|ありませ|限らな|限りませ|ませ[んぬ])"
)


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


def denied(tokens: Sequence[Token]) -> set[int]:
    """Which tokens a negator of their clause denies.

    It denies the first word of content after it and those joined to that by *or*; *not only* and
    *no more than* deny nothing.
    """
    found: set[int] = set()
    for at, token in enumerate(tokens):
        if token.kind != "negator" and token.text not in _NEARLY:
            continue
        rest = tokens[at + 1 : at + 1 + _REACH]
        if not _denies([token.text, *(follower.text.casefold() for follower in rest)]):
            continue
        for ahead, here in enumerate(rest, at + 1):
            if here.clause != token.clause or here.text in _CLAUSES:
                break
            if here.kind in {"word", "pair"} and here.text not in _FILLERS:
                found.add(ahead)
                if ahead + 1 >= len(tokens) or tokens[ahead + 1].text not in {"or", "nor"}:
                    break
    return found


def negations(listed: Sequence[str]) -> int:
    """How many words of a text deny something."""
    japanese = len(_JAPANESE.findall("".join(word for word in listed if not word.isascii())))
    denying = NEGATIONS | _NEARLY
    return japanese + sum(word in denying or stem(word) in _DENIALS for word in listed)


def denied_before(before: Sequence[str], head: Sequence[str]) -> bool:
    """Whether a negation just before a stretch of words denies what begins there.

    Nothing but helping words may stand between ("not known to be | safe", "a myth that | it is").

    Args:
        before: The words before it, of the same clause.
        head: Its first two words.
    """
    both = [*before, *head, ""]
    for at in range(len(before) - 1, -1, -1):
        word, preceding = both[at], both[at - 1] if at else ""
        if word in _DENYING.get(both[at + 1], ()):
            return preceding not in NEGATIONS  # "cannot fail to" asserts
        if word in NEGATIONS or word in _NEARLY:
            return _denies(both[at:]) and preceding not in _HARMLESS_BEFORE
        if word not in _HELPING:
            return False
    return False


def denied_behind(last: str, behind: Sequence[str]) -> bool:
    """Whether a negation just behind a stretch of words denies what ends there.

    It is the next word, or follows a helping verb ("the drug | is not safe").

    Args:
        last: Its last word.
        behind: The words behind it, of the same clause.
    """
    if _JAPANESE.match("".join(behind)):
        return True
    if "ne" in (last, *behind[:1]) and not _AFTER_NE.isdisjoint(behind[:3]):
        return True
    after_verb = last in _HELPING_VERBS
    for i, word in enumerate(behind[:_NEXT]):
        if word in NEGATIONS:
            return (after_verb or word not in _ONLY_AFTER_A_VERB) and _denies(behind[i:])
        if word not in _FILLING and word not in _HELPING_VERBS:
            return False
        after_verb = after_verb or word in _HELPING_VERBS
    return False


def _denies(listed: Sequence[str]) -> bool:
    """Whether the negation that they begin with denies: "not only" and "no. 1" do not."""
    word, following, third = (*listed[:3], "", "")[:3]
    is_number = word.casefold() == "no" and following[:1].isdigit()
    return following not in _HARMLESS_NEXT and third != "than" and not is_number


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
        (at, _value(token.key), _bound(source, at))
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
        and not _is_allowed(_value(token.key), _bound(claim, at), near)
        and not any(
            token.key[-2:] == key[-2:] and {token.key[:-2], key[:-2]} in ({"", "19"}, {"", "20"})
            for key in there
        )
        and not _is_derived(_value(token.key) or nan, set(dict(near)), said ^ quoted)
    ]


def _is_allowed(value: float, claimed: str, others: set[tuple[float, str]]) -> bool:
    """Whether all numbers in the place of a claim's, each with its bound, allow it."""
    return not any(
        claimed == bound or (value - other) * (_SIDES.get(bound, 0) - _SIDES.get(claimed, 0)) < 0
        for other, bound in others
    )


def _in_place(claim: Sequence[Token], at: int, source: Sequence[Token], other: int) -> bool:
    """Whether two numbers count the same, or stand behind the same word."""
    if bool(claim[at].other) != bool(source[other].other):
        return False  # a time of day
    if claim[at].kind == "vague":  # "one week" counts, "one of them" does not
        behind = [t.key for t in claim[at + 1 : at + 2]]
        return behind == [t.key for t in source[other + 1 : other + 2]]
    counted, also = _counted(claim, at), _counted(source, other)
    if counted and also:
        return counted[0] in also or also[0] in counted
    if "percent" in counted + also:
        return False  # a share of something, and so many of it
    return at > 0 and other > 0 and claim[at - 1].key == source[other - 1].key


def _bound(tokens: Sequence[Token], at: int) -> str:
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


def _value(key: str) -> float:
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
    known, size = set(map(_value, factors)) - {value, nan}, 1.0
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
        if is_rounded or ratios & known or apart in terms - {number}:
            return True
    return False
