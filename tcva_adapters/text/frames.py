"""Where a claim has something else in a place of its source: a unit, a month, a bound, a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from math import isnan
from typing import Final, NamedTuple

from tcva_adapters.text.lists import Member, by_language, members, words
from tcva_adapters.text.numbers import bound_of, value_of, values
from tcva_adapters.text.words import LANGUAGE_WORDS, UNSPACED, Token, is_content, plain, tokenise

_MEASURES: Final = members("measures")
_MEASURED: Final = frozenset(member.kind for member in _MEASURES.values())
_MEMBERS: Final = members("members")
_DETERMINERS: Final = words("determiners")
_ALIASES: Final = words("aliases")
_EITHER_WAY: Final = words("either_way")
_COMMON: Final = frozenset[str]().union(*LANGUAGE_WORDS.values())
_FUNCTION: Final = by_language("function_words")
_GERMAN: Final = _FUNCTION["German"] - _FUNCTION["English"]
_LONGEST: Final = 300  # tokens of a claim or quote that are compared
_MOST: Final = 20  # clauses of a quote in which a claim may begin
_CLOSE: Final = 0.25  # share of a measure by which one in another unit may differ
_NAMED: Final = 3  # words of a name
_ALIKE: Final = 0.5  # share of a claim's content that a source must have for bounds to be compared
_SHARED: Final = 3  # letters that forms of a name share
_SHORT: Final = 2  # letters of a measure that counts only behind a number
_OPPOSITE: Final = {"least": {"most"}, "most": {"least"}}
_ROMAN: Final = re.compile(r"(?=[IVXLC])(?:X{0,3}|XL|LX{0,3}|XC|C)(?:I{1,3}|I?V|VI{1,3}|I?X)?")
_HALF_DAY: Final = re.compile(r"(?i)(\d)\s?([ap])\.?\s?m\b\.?")
_UNSPACED_FORMS: Final = {
    form: member for form, member in (_MEASURES | _MEMBERS).items() if UNSPACED.match(form)
}
_UNSPACED_MEMBERS: Final = re.compile(
    "|".join(
        "(?<=[0-9〇零一二三四五六七八九十百千万亿两半])" * (form in _MEASURES) + form
        for form in sorted(_UNSPACED_FORMS, key=len, reverse=True)
    )
)


class _Filler(NamedTuple):
    """A member of a closed class, and its place: what stands around it and the number before it."""

    member: Member
    number: str
    before: str
    behind: str
    amount: float


def says_otherwise(claim: str, source: str) -> bool:
    """Whether a source says the same as a claim, but for one place where it has something else.

    There is another unit behind the same number or another amount, another member of a closed class
    (months, sides, ranks), the opposite bound, another name, or two names or roles have changed
    places. What is not known to exclude the other is no difference.

    >>> says_otherwise("The dose is 5 mg.", "The dose is 5 g."), says_otherwise("It ends in May.", "It ends in June.")
    (True, True)
    >>> says_otherwise("The dose is 5000 mg.", "The dose is 5 g.")
    False
    >>> says_otherwise("Over 18s only.", "Under 18s only."), says_otherwise("Spain beat Italy.", "Italy beat Spain.")
    (True, True)
    """
    one, other = _tokens(claim), _tokens(source)
    if max(len(one), len(other)) > _LONGEST or _negators(one) != _negators(other):
        return False
    return (
        _has_other_member(one, other)
        or _has_other_bound(one, other)
        or any(
            _has_other_name(one, other[start:]) or _is_swapped(one, other[start : start + len(one)])
            for start in _beginnings(other)
        )
    )


@lru_cache(maxsize=64)
def _tokens(text: str) -> list[Token]:
    """The tokens of a text, with halves of the day apart and members of unspaced scripts as words."""
    text = _HALF_DAY.sub(r"\1 \2mer ", text)
    return tokenise(_UNSPACED_MEMBERS.sub(lambda form: f" {_UNSPACED_FORMS[form[0]].usual} ", text))


def _negators(tokens: Sequence[Token]) -> int:
    return sum(token.kind == "negator" for token in tokens)


def _beginnings(tokens: Sequence[Token]) -> list[int]:
    """Where the first clauses of a text begin."""
    starts = [i for i, t in enumerate(tokens) if not i or tokens[i - 1].clause != t.clause]
    return starts[:_MOST]


def _has_other_member(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Whether a claim has another member of a closed class in the place of its source's."""
    here, there = _fillers(claim), _fillers(source)
    unsaid = _unsaid(claim, source)
    if not here or any(
        not _member(claim, at) and not (claim[at].kind == "number" and at + 1 in unsaid)
        for at in unsaid
    ):
        return False
    for filler in here:
        rivals = [rival for rival in there if rival.member.kind == filler.member.kind]
        if not any(_agree(filler, rival) for rival in rivals) and any(
            _is_other(filler, rival) for rival in rivals
        ):
            return True
    return False


def _unsaid(claim: Sequence[Token], source: Sequence[Token]) -> list[int]:
    """The places of a claim's words of content that its source has not."""
    said = {token.key for token in source} | values(source)
    return [at for at, t in enumerate(claim) if is_content(t) and not {t.key, t.other} & said]


def _member(tokens: Sequence[Token], at: int) -> Member | None:
    """The member of a closed class that a token names; a short measure only behind a number."""
    text = tokens[at].text
    small = text.casefold()
    is_counted = at > 0 and tokens[at - 1].kind in {"number", "vague"}
    measure = _MEASURES.get(text) or _MEASURES.get(small)
    member = _MEMBERS.get(text) or _MEMBERS.get(small)
    if at and not member and _ROMAN.fullmatch(text):
        member = Member("numeral", text, text)
    return measure if measure and (is_counted or (not member and len(text) > _SHORT)) else member


def _fillers(tokens: Sequence[Token]) -> list[_Filler]:
    """The members of closed classes that a text names."""
    fillers: list[_Filler] = []
    keys = ["", *(token.key for token in tokens), ""]
    for at in range(len(tokens)):
        if member := _member(tokens, at):
            is_counted = member.kind in _MEASURED and value_of(keys[at]) >= 0
            number = keys[at] if is_counted else ""
            amount = value_of(number) * value_of(member.meaning)
            fillers.append(_Filler(member, number, keys[at - is_counted], keys[at + 2], amount))
    return fillers


def _agree(filler: _Filler, rival: _Filler) -> bool:
    """Whether two members are the same, or measures are equal or nearly so."""
    near = _CLOSE * max(filler.amount, rival.amount)
    is_same = filler.member.meaning == rival.member.meaning and filler.number == rival.number
    return is_same or abs(filler.amount - rival.amount) <= near


def _is_other(filler: _Filler, rival: _Filler) -> bool:
    """Whether two members of a class, which do not agree, stand in the same place."""
    if filler.member.meaning == rival.member.meaning:
        return False
    if filler.number != rival.number:
        if isnan(filler.amount - rival.amount):
            return False
    elif filler.number:
        return True
    return "" != filler.before == rival.before or "" != filler.behind == rival.behind


def _has_other_bound(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Whether a number of a claim is the least that may be, and in its source the most, or so."""
    said = sum(map(is_content, claim))
    if len(_unsaid(claim, source)) > (1 - _ALIKE) * said:
        return False
    for at, token in enumerate(claim):
        if token.kind == "number":
            bounds = {bound_of(source, i) for i, t in enumerate(source) if t.key == token.key}
            if bounds and bounds == _OPPOSITE.get(bound_of(claim, at)):
                return True
    return False


def _has_other_name(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Whether a source that begins like a claim and goes on like it has another name between."""
    at = next((i for i, (t, s) in enumerate(zip(claim, source)) if t.key != s.key), None)
    if at is None or not _GERMAN.isdisjoint({token.key for token in claim}):
        return False  # of German, where all nouns have capitals
    if at and (_is_name(claim, at - 1) or claim[at - 1].text.casefold() in _DETERMINERS):
        return False
    name, other = _name(claim, at), _name(source, at)
    rest, following = claim[at + len(name) :], source[at + len(other) :]
    if not rest and following:
        return False
    is_frame = [t.key for t in rest] == [t.key for t in following[: len(rest)]]
    frame = [*claim[:at], *rest]
    return is_frame and any(map(is_content, frame)) and _are_others(name, other, source)


def _name(tokens: Sequence[Token], at: int) -> list[Token]:
    """The words of the name that begins at a place."""
    places = takewhile(lambda place: _is_name(tokens, place), range(at, len(tokens)))
    return [tokens[place] for place in places]


def _is_name(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word is part of a name: by its capital, or at the beginning by being uncommon."""
    token = tokens[at]
    is_common = plain(token.text) in _COMMON or token.text.endswith("s")
    return token.kind == "word" and token.text[0].isupper() and (token.capital or not is_common)


def _are_others(name: Sequence[Token], other: Sequence[Token], source: Sequence[Token]) -> bool:
    """Whether two names are not known to be, or to look like, forms of one."""
    one, two = ([plain(token.text) for token in tokens] for tokens in (name, other))
    if not (0 < len(one) <= _NAMED and 0 < len(two) <= _NAMED):
        return False
    if {word[:_SHARED] for word in one} & {plain(token.text)[:_SHARED] for token in source}:
        return False
    shortened = [any(t.text.isupper() for t in tokens) for tokens in (name, other)]
    return shortened[0] == shortened[1] and not (_ALIASES & {*one} and _ALIASES & {*two})


def _is_swapped(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Whether two names or roles, or numbers, of a claim have changed places in its source.

    Names stand around a word that is not said of both, behind a determiner other nouns.
    """
    places = [i for i, (t, s) in enumerate(zip(claim, source)) if t.key != s.key]
    half = len(places) // 2
    left, right = places[:half], places[half:]
    if len(claim) != len(source) or not 0 < half <= _NAMED:
        return False
    if [claim[i].key for i in places] != [source[i].key for i in right + left]:
        return False
    between = claim[left[-1] + 1 : right[0]]
    if len({token.clause for token in claim[left[0] : right[-1] + 1]}) > 1:
        return False
    linking = {form for t in between for form in (t.key, t.text.casefold())}
    if all(claim[i].kind == "number" for i in places):
        return any(map(is_content, between))
    are_names = all(_is_capital(tokens[i]) for tokens in (claim, source) for i in right)
    are_roles = half == 1 and all(
        i and claim[i - 1].text.casefold() in _DETERMINERS and claim[i].kind == "word"
        for i in places
    )
    return (are_names or are_roles) and bool(between) and linking.isdisjoint(_EITHER_WAY)


def _is_capital(token: Token) -> bool:
    return token.kind == "word" and token.text[0].isupper()
