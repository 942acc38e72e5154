"""Negation: what a text denies, and what is denied just outside of a stretch of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tcva_adapters.text.lists import words
from tcva_adapters.text.words import FUNCTION_WORDS, NEGATIONS, Token, stem

DENIALS: Final = words("denials")
"""Stems of words that deny what stands on either side of them."""

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


def negations(listed: Sequence[str]) -> int:
    """How many words of a text deny something."""
    japanese = len(_JAPANESE.findall("".join(word for word in listed if not word.isascii())))
    return japanese + sum(
        word in NEGATIONS or word in _NEARLY or stem(word) in DENIALS for word in listed
    )


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
