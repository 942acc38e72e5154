"""Where a claim says something else than its best passage in nearly the same words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from tcva_adapters.lexical.text_features import END, Token, is_content
from tcva_adapters.lexical.word_lists import ANTONYMS, DENIALS

_REACH: Final = 6  # tokens that a negator reaches
_LONGEST_GAP: Final = 3  # words of a window in whose place a claim has others
_NEAR: Final = 4  # tokens between a name or figure and what it belongs to


_SOFT_NEGATORS: Final = frozenset({"rather", "instead", "hardly"})
_HARMLESS_NEXT: Final = frozenset(
    {"only", "just", "more", "less", "fewer", "later", "earlier", "least", "doubt", "matter"}
)
_TWO: Final = 2
_COUNTS: Final = frozenset({"number", "vague"})
_FILLERS: Final = frozenset({"longer", "yet", "ever", "really", "necessarily", "currently"})
_UNSPACED_NEGATORS: Final = "不没未无勿"


def contradictions(
    claim: Sequence[Token], window: Sequence[Token], occurs: Callable[[Token], bool]
) -> Iterator[tuple[str, list[str]]]:
    """Each way in which a claim can contradict its best window, with the words that show it.

    Args:
        claim: The tokens of the claim.
        window: The tokens of the sentence that is nearest to it.
        occurs: Whether any passage has a token.

    Yields:
        What is wrong, and the words of the claim; no words where it does not contradict.
    """
    missing = [token.text for token in claim if token.kind == "number" and not occurs(token)]
    yield "figures not in the passages", missing
    yield "counted differently", [] if missing else other_counts(claim, window)
    yield "negation differs", negation_differs(claim, window)
    yield "opposite words", [" / ".join(pair) for pair in opposites(claim, window)]
    yield "names in each other's place", list(swapped_names(claim, window) or ())


def _denied(tokens: Sequence[Token]) -> list[tuple[int, str]]:
    """(position, stem) of each word that a negator denies.

    It denies the first content word after it and those joined to that by *or*; *not only* and
    *no more than* deny nothing.
    """
    found = []
    for at, token in enumerate(tokens):
        if token.kind == "pair" and token.text[0] in _UNSPACED_NEGATORS:
            if at + 1 < len(tokens) and tokens[at + 1].kind == "pair":
                found.append((at + 1, tokens[at + 1].key))
            continue
        if token.kind != "negator" or token.text in _SOFT_NEGATORS:
            continue
        follower = tokens[at + 1] if at + 1 < len(tokens) else token
        if follower.text in _HARMLESS_NEXT or (token.text == "no" and follower.kind == "number"):
            continue
        for ahead in range(at + 1, min(at + 1 + _REACH, len(tokens))):
            here = tokens[ahead]
            if here.clause != token.clause:
                break
            if here.kind == "word" and here.text.casefold() not in _FILLERS:
                found.append((ahead, here.key))
                if ahead + 1 >= len(tokens) or tokens[ahead + 1].text not in {"or", "nor"}:
                    break
    return found


def negation_differs(claim: Sequence[Token], window: Sequence[Token]) -> list[str]:
    """Words that one of the two denies and the other asserts; empty where they agree.

    Words of denial (*forbidden*, *rather than*) excuse a difference but do not make one.
    """
    if not any(map(_may_deny, (*claim, *window))):
        return []
    here, there = _polarity(claim), _polarity(window)
    texts = {t.key: t.text for t in claim}
    excused = any(t.key in DENIALS or t.text in _SOFT_NEGATORS for t in (*claim, *window))
    return [
        texts[key]
        for key, denied in here.items()
        if not excused and (denied, there.get(key)) in (({True}, {False}), ({False}, {True}))
    ]


def _may_deny(token: Token) -> bool:
    return token.kind == "negator" or (token.kind == "pair" and token.text[0] in _UNSPACED_NEGATORS)


def _polarity(tokens: Sequence[Token]) -> dict[str, set[bool | None]]:
    """For each word whether it is denied (True), asserted (False), or may be either (None)."""
    denied = {at for at, _ in _denied(tokens)}
    found: dict[str, set[bool | None]] = {}
    reach, clause = -1, -1
    for at, token in enumerate(tokens):
        if token.kind == "negator":
            reach, clause = at + _REACH, token.clause
        if token.kind in {"word", "pair"}:
            near = at <= reach and token.clause == clause
            state = True if at in denied else None if near else False
            found.setdefault(token.key, set()).add(state)
    return found


def other_counts(claim: Sequence[Token], window: Sequence[Token]) -> list[str]:
    """*One week* where the window has *two weeks*: the words that are counted differently."""
    counts = [two for two in pairwise(claim) if two[0].kind in _COUNTS]
    if not counts:
        return []
    counted: dict[str, set[str]] = {}
    for token, following in pairwise(window):
        if token.kind in _COUNTS and following.kind == "word":
            counted.setdefault(following.key, set()).add(token.key)
    return [
        f"{token.text} {following.text}"
        for token, following in counts
        if token.key not in counted.get(following.key, {token.key})
    ]


def replaced(claim: Sequence[Token], window: Sequence[Token]) -> list[str]:
    """Words of the claim that stand where the window has other ones, between the same neighbours.

    *The steel frame is light* has *steel* where the window has *aluminium*. Every claim that is a
    sentence with one word changed is found, unless the new word stands elsewhere in it. Figures
    are left to those who compare figures.
    """
    keys = [END, *[token.key for token in claim], END]
    there = [END, *[token.key for token in window], END]
    here, known = set(keys), set(there)
    found: list[str] = []
    at = 0
    while at < len(claim):
        end = at
        while end < len(claim) and claim[end].key not in known:
            end += 1
        if end > at and _has_gap(there, here, keys[at], keys[end + 1]):
            found += [t.text for t in claim[at:end] if t.kind not in {"function", "number"}]
        at = end + 1
    return found


def _has_gap(keys: Sequence[str], here: Collection[str], left: str, right: str) -> bool:
    """Whether a few keys that are not ``here`` stand between these two."""
    for at, key in enumerate(keys[:-1]):
        if key == left:
            end = at + 1
            while end <= at + _LONGEST_GAP and keys[end] not in here:
                end += 1
            if end > at + 1 and keys[end] == right:
                return True
    return False


def opposites(claim: Sequence[Token], window: Sequence[Token]) -> list[tuple[str, str]]:
    """Pairs of opposite words, one only in the claim and one only in the window."""
    opposed = [token for token in claim if token.key in ANTONYMS]
    if not opposed:
        return []
    there = {t.key: t.text for t in window}
    here = {t.key for t in claim}
    return [
        (token.text, there[other])
        for token in opposed
        if token.key not in there
        for other in sorted(ANTONYMS[token.key])
        if other in there and other not in here
    ]


def swapped_names(claim: Sequence[Token], window: Sequence[Token]) -> tuple[str, str] | None:
    """Two names that stand on the other sides of a shared word, or None.

    *A sued B* against *B sued A*; but *B was sued by A* says the same as the former.
    """
    shared = {t.key for t in claim} & {t.key for t in window}
    names = {t.key for t in (*claim, *window) if t.capital and t.kind == "word"} & shared
    if len(names) < _TWO:
        return None
    there = _roles(window, names, shared)
    texts = {t.key: t.text for t in claim}
    for role in _roles(claim, names, shared):
        others = [other for other in there if other.word.key == role.word.key]
        if any(role.agrees(other, swapped=False) for other in others):
            continue
        if any(role.agrees(other, swapped=True) for other in others):
            return texts[min(role.before)], texts[min(role.after)]
    return None


class _Role(NamedTuple):
    """A word between two names, each of one or more tokens."""

    word: Token
    before: frozenset[str]
    after: frozenset[str]
    passive: bool

    def agrees(self, other: _Role, *, swapped: bool) -> bool:
        """Whether the other role has the same names on the same sides, or on the other ones."""
        crossed = swapped == (self.passive == other.passive)
        before, after = (other.after, other.before) if crossed else (other.before, other.after)
        return bool(self.before & before and self.after & after)


def _roles(tokens: Sequence[Token], names: set[str], shared: set[str]) -> list[_Role]:
    roles = []
    for at, token in enumerate(tokens):
        if token.key not in shared or token.key in names or not is_content(token):
            continue
        before = _name(tokens, at, -1, names)
        after = _name(tokens, at, 1, names)
        if before and after and not before & after:
            roles.append(_Role(token, before, after, _is_passive(tokens, at, names)))
    return roles


def _name(tokens: Sequence[Token], at: int, step: int, names: set[str]) -> frozenset[str]:
    """The nearest name on one side, as the keys of its neighbouring tokens."""
    found: set[str] = set()
    for _ in range(_NEAR + 1):
        at += step
        if not 0 <= at < len(tokens):
            break
        while 0 <= at < len(tokens) and tokens[at].key in names:
            found.add(tokens[at].key)
            at += step
        if found:
            break
    return frozenset(found)


def _is_passive(tokens: Sequence[Token], at: int, names: set[str]) -> bool:
    """Whether *by* stands between a word and the name after it, as in *was sued by Dr Keller*."""
    by = False
    for token in tokens[at + 1 : at + 2 + _NEAR]:
        if token.key in names:
            return by
        by = token.key == "by" or (by and not is_content(token))
    return False
