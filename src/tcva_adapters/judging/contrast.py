"""Where a claim says something else than its best passage in nearly the same words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tcva_adapters.judging.text_features import Token
from tcva_adapters.judging.word_lists import ANTONYMS, DENIALS

_REACH: Final = 3  # content words that a negator or a number reaches
_NEAR: Final = 4  # tokens between a name and what it is the subject or object of


def is_content(token: Token) -> bool:
    """Whether the token carries meaning of its own: a word, a number or a character pair."""
    return token.kind in {"word", "number", "pair"}


def negated_words(tokens: Sequence[Token]) -> dict[str, str]:
    """The stems that a negator denies, each with the first word its negator reaches.

    A negator reaches the next few content words of its clause; a word of denial (*forbidden*)
    those on both sides. Two negators on the same word cancel each other.
    """
    found: dict[str, str] = {}
    for at, token in enumerate(tokens):
        if token.kind == "negator":
            reached = _reach(tokens, at, 1)
        elif token.key in DENIALS:
            reached = [*_reach(tokens, at, 1), *_reach(tokens, at, -1)]
        else:
            continue
        for word in reached:
            if word.key in found:
                del found[word.key]
            else:
                found[word.key] = reached[0].key
    return found


def _reach(tokens: Sequence[Token], at: int, step: int) -> list[Token]:
    reached: list[Token] = []
    clause = tokens[at].clause
    at += step
    while 0 <= at < len(tokens) and tokens[at].clause == clause and len(reached) < _REACH:
        if tokens[at].kind == "word" and tokens[at].key not in DENIALS:
            reached.append(tokens[at])
        at += step
    return reached


def negation_differs(claim: Sequence[Token], window: Sequence[Token]) -> list[str]:
    """Words that one of the two denies and the other asserts; empty where they agree."""
    denied, denied_there = negated_words(claim), negated_words(window)
    here = {t.key: t.text for t in claim if t.kind == "word"}
    there = {t.key for t in window if t.kind == "word"}
    differing = _first_shared(denied, there, denied_there)
    differing += _first_shared(denied_there, here, denied)
    return [here[key] for key in dict.fromkeys(differing) if key in here]


def _first_shared(
    denied: dict[str, str], others: Iterable[str], denied_by_others: dict[str, str]
) -> list[str]:
    """The first shared word that each negator reaches, where the other text does not deny it."""
    seen: set[str] = set()
    differing = []
    for key, head in denied.items():
        if key in others and head not in seen:
            seen.add(head)
            if key not in denied_by_others:
                differing.append(key)
    return differing


def opposites(claim: Sequence[Token], window: Sequence[Token]) -> list[tuple[str, str]]:
    """Pairs of opposite words, one only in the claim and one only in the window."""
    there = {t.key: t.text for t in window}
    here = {t.key for t in claim}
    return [
        (token.text, there[other])
        for token in claim
        if token.key in ANTONYMS and token.key not in there
        for other in sorted(ANTONYMS[token.key])
        if other in there and other not in here
    ]


def swapped_names(claim: Sequence[Token], window: Sequence[Token]) -> tuple[str, str] | None:
    """Two names that stand on the other sides of a shared word, or None.

    *A sued B* against *B sued A*; but *B was sued by A* says the same as the former.
    """
    names = {t.key for t in claim if t.capital} | {t.key for t in window if t.capital}
    names &= {t.key for t in claim} & {t.key for t in window}
    if len(names) < 2:
        return None
    there = _roles(window, names)
    for pivot, before, after, passive in _roles(claim, names):
        for other_pivot, other_before, other_after, other_passive in there:
            if pivot.key != other_pivot.key or passive != other_passive:
                continue
            if before.key == other_after.key and after.key == other_before.key:
                return before.text, after.text
    return None


def _roles(tokens: Sequence[Token], names: set[str]) -> list[tuple[Token, Token, Token, bool]]:
    """(word, name before it, name after it, joined by *by*) for each content word."""
    roles = []
    before: Token | None = None
    for at, token in enumerate(tokens):
        if token.key in names:
            before = token
            continue
        if before is None or not is_content(token):
            continue
        for ahead in range(at + 1, min(len(tokens), at + 2 + _NEAR)):
            if tokens[ahead].key in names and tokens[ahead].key != before.key:
                passive = any(t.key == "by" for t in tokens[at + 1 : ahead])
                roles.append((token, before, tokens[ahead], passive))
                break
    return roles
