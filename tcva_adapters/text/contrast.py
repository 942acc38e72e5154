"""Where a claim says something else than its source in much the same words; what a text denies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from tcva_adapters.text.lists import words
from tcva_adapters.text.words import FUNCTION_WORDS, NEGATIONS, Token, stem

_ANTONYMS: Final = [tuple(map(stem, pair.split("/"))) for pair in sorted(words("antonyms"))]
_PREFIXES: Final = ("un", "dis", "non", "im", "in", "il", "ir")
_SHORTEST: Final = 3  # letters of a word whose opposite has a syllable in front
_DENIALS: Final = words("denials")
_EXCUSES: Final = _DENIALS.union(words("taking_away"), map(stem, words("taking_away")))
_OPPOSED: Final = frozenset({"word", "function"})

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
_REACH: Final = 6  # tokens that a negator reaches
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
