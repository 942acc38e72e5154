"""Find contradictions between a claim and a source in much the same words, and what a text denies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tcva_adapters.text.lists import by_language, word_list
from tcva_adapters.text.words import (
    FUNCTION_WORDS,
    NEGATIONS,
    Token,
    is_content,
    stem,
    tokenise,
    without_accents,
)

_NEARLY = word_list("nearly")
_DENYING = {word: word_list(f"denying_{word}") for word in ("to", "that", "from")}
_HARMLESS_NEXT = word_list("harmless_next")
_HARMLESS_BEFORE = word_list("harmless_before")
_HELPING = FUNCTION_WORDS - word_list("clauses") | word_list("helping")
_FILLING = word_list("filling")
_HELPING_VERBS = word_list("helping_verbs")
_AFTER_NE = word_list("after_ne")
_ONLY_AFTER_A_VERB = word_list("only_after_a_verb")
_REACH = 6  # tokens that a negator reaches
_NEXT = 4  # words behind a stretch that are looked at
_JAPANESE = re.compile(
    r"(?:では|じゃ|とは|に|は|で|し|れ|え|き|り|ら|か|せ)?"
    r"(?!なければな|なくてはな|ないと|ないわけ)(?:な[いかくけ]|ありませ|限らな|限りませ|ませ[んぬ])"
)

_ENDS = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n")
_LONGEST = 60  # words of content of a claim that is held against its quote
_ENOUGH = 0.6  # share of them that a clause must have to say much the same
_NEARLY_ALL = 0.7  # share of the words of a guess that the claim must have
_CONTENT = re.compile(r"([^+-]*+)(?:([+-])(\S+)([^+-]*$)?|$)")
_FIRST = re.compile(r"^([^+-]*)([+-])(\S+)")
_OR = re.compile(r"(deny (?:none )*[+-]\S+(?: none)*) or\b")
_DENYING_PREFIX = re.compile(r"^(?:un|dis|non|im|in|il|ir)(?=\w{3})")
_ENDING = re.compile(r"(?<=\w{4})[aeiounsrlx]{1,3}$")
_SAYS_LITTLE = re.compile(
    f"[\u3040-\u309f可能会會被得要{''.join(word_list('small_characters'))}]"
)
_WIDEST = 24  # letters of a listed beginning
_TURNED = str.maketrans("+-", "-+")
_DEGREES = frozenset({"a_some", "b_most", "c_all"})
_HEDGES = frozenset({"doubt", "hedged"})
_INTENDED = _HEDGES | {"plan", "future"}
_PARTING = frozenset({"clause", "condition"})


def contradicts(claim: str, quote: str) -> bool:
    """Whether a quote in much the same words as a claim says something else.

    The quote denies what the claim asserts or the other way round, says the opposite, says it of some
    where the claim says it of all, or does not assert it: as a guess, a plan, a question, or under a
    condition that the claim does not name. Only the clauses with the most of the claim's words are
    compared with it, or sentences where no clause has enough; all of them must differ.

    >>> contradicts("The plan covers dental care.", "The plan covers all except dental care.")
    True
    >>> contradicts("Sales rose in May.", "Sales rose in May and fell in June.")
    False
    """
    claimed = _words(claim)
    n_content = _n_content(claimed)
    if not 0 < n_content <= _LONGEST:
        return False
    parts = []
    sentences = []
    for text in _ENDS.split(quote):
        sentence = _words(text)
        sentences.append(_Part(sentence, sentence=set()))
        parts += [_Part(clause, sentence) for clause in _clauses(text)]
    new = claimed.difference(*(part.words for part in sentences))
    is_asked = quote.rstrip().endswith(("?", "？")) and "?" not in claim
    for candidates in (parts, sentences):
        most = max(_n_shared(claimed, part.words) for part in candidates)
        if most < _ENOUGH * n_content:
            continue
        return all(
            _differs(part, claimed, new, is_asked=is_asked)
            for part in candidates
            if _n_shared(claimed, part.words) == most
        )
    return False


class _Part(NamedTuple):
    """The words of a clause of a quote and of its sentence, or those of a sentence and none."""

    words: set[str]
    sentence: set[str]


def _differs(
    part: _Part,
    claimed: set[str],
    new: set[str],
    *,
    is_asked: bool,
) -> bool:
    """Whether a part of a quote with most of a claim's words does not say what the claim says.

    Args:
        part: The part.
        claimed: The words and marks of the claim.
        new: The words and marks of the claim that the quote has nowhere.
        is_asked: Whether the quote asks what the claim asserts.
    """
    words = part.words
    degree = max(claimed & _DEGREES, default="")
    stated_degree = max(words & _DEGREES, default=degree)
    if degree > stated_degree or _opposite_words(claimed, words, new):
        return True
    n_shared = _n_shared(claimed, words)
    is_conditional = "condition" in part.sentence - claimed
    if is_conditional and _n_shared(claimed, part.sentence) == n_shared:
        return True
    is_guess = "doubt" in words and claimed.isdisjoint(_HEDGES)
    is_plan = "plan" in words and claimed.isdisjoint(_INTENDED)
    has_most = n_shared > _NEARLY_ALL * _n_content(words)
    return has_most and (is_guess or is_plan or is_asked)


def opposed(claim: str, source: str) -> list[str]:
    """Find the words of a claim that the source denies or opposes, or that only the claim denies.

    None are returned where an even number differ, which may make up for each other, where both deny
    something, or where the first word of the claim comes later in the source ("A is larger than B",
    "B is smaller than A").

    >>> opposed("The shop sells pears.", "The shop does not sell pears.")
    ['sells']
    >>> opposed("It rises.", "It falls."), opposed("It is not cheap.", "It is expensive.")
    (['rises'], [])
    """
    claimed = _words(claim)
    stated = _words(source)
    turned = _opposite_words(claimed, stated, claimed - stated)
    stems = {word[1:] for word in turned}
    return [token.text for token in tokenise(claim) if _own_mark([token])[1:] in stems]


def _opposite_words(
    claimed: set[str],
    part: set[str],
    new: set[str],
) -> set[str]:
    """Find the words of a claim with the other sign in a part of a quote; none if that is no difference.

    Args:
        claimed: The words and marks of the claim.
        part: The words and marks of the part.
        new: The words and marks of the claim that the quote has nowhere.
    """
    opposites = {word.translate(_TURNED) for word in part - claimed}
    turned = opposites & new
    if len(turned) % 2 == 0:
        return set()
    if "deny" in claimed & part or "until" in claimed | part:
        return set()
    firsts = {word[1:] for word in claimed - part if word[0] == "^"}
    comes_later = any(word[1:] in firsts for word in part)
    is_opposite = "#" in "".join(turned)
    if is_opposite and comes_later:
        return set()
    return turned


def _n_content(words: set[str]) -> int:
    """Count the words of content, which have a sign, among words and marks."""
    return sum(word[0] in "+-" for word in words)


def _n_shared(claimed: set[str], part: set[str]) -> int:
    """Count a claim's words of content that a part has, as they are or as their opposites."""
    opposites = {word.translate(_TURNED) for word in part}
    return _n_content(claimed & (part | opposites))


def _words(text: str) -> set[str]:
    """The words of a text with their signs, and its marks; see `_clauses`."""
    return set[str]().union(*_clauses(text))


@lru_cache(maxsize=64)
def _clauses(text: str) -> list[set[str]]:
    """The words of each clause of a text behind ``+``, or ``-`` where denied, and its marks.

    One word stands for all on its side of a group in ``[opposed]``, and its denial for those on the
    other side. A denial belongs to the content word behind it, at the end of a clause to the last one.
    """
    tokens = tokenise(text)
    stems = [stem(without_accents(token.text)) for token in tokens]
    clauses = [""]
    end = 0
    clause = 0
    for at, token in enumerate(tokens):
        if at < end:
            continue
        for size in (4, 3, 2):
            mark = _mark(" ".join(stems[at : at + size]))
            end = at + size
            if mark:
                break
        else:
            mark = _own_mark(tokens[at : at + 3])
            end = at + 1
        if token.clause != clause or mark in _PARTING:
            clauses.append("")
        clause = token.clause
        clauses[-1] += f" {mark}"
    return [_signed_words(clause) for clause in clauses]


def _signed_words(clause: str) -> set[str]:
    """Apply the denials of a clause to the signs of its words; return its words and marks."""
    clause = _OR.sub(r"\1 deny", clause)
    clause = _FIRST.sub(r"\1^\3 \2\3", clause)
    return set(_CONTENT.sub(_with_sign, clause).split())


def _with_sign(content: re.Match[str]) -> str:
    """Give a word the sign that results from the denials around it; keep the marks around it."""
    before, sign, word, behind = content.groups("")
    if not word:
        return before
    n_denials = content[0].count("deny") + (sign == "-")
    sign = "-" if n_denials % 2 else "+"
    return f"{before}{sign}{word}{behind}"


def _own_mark(tokens: Sequence[Token]) -> str:
    """The mark of a word by itself: a denial, its mark in a list, content with its sign, or none."""
    token = tokens[0]
    key = token.key
    if token.kind == "negator" or token.text in _NEARLY:
        return "deny" if _denies([token.text for token in tokens]) else "none"
    mark = _mark(stem(without_accents(token.text)))
    if mark:
        return mark
    if not is_content(token) or _SAYS_LITTLE.match(key[-1:]):
        return "none"
    if token.kind == "pair":
        return f"+{key[-1]}"
    bare = _DENYING_PREFIX.sub("", key)
    mark = _mark(bare) or f"+{_ENDING.sub('', bare)}"
    if bare == key:
        return mark
    return mark.translate(_TURNED)


@lru_cache(maxsize=8192)
def _mark(phrase: str) -> str:
    """Look up the mark of a phrase, or of a beginning of it, in the lists; empty where it has none."""
    longest = min(len(phrase), _WIDEST)
    last_word = phrase.rfind(" ") + 1
    starts = (f"{phrase[:size]}*" for size in range(longest, last_word, -1))
    for entry in (phrase, *starts):
        if entry in _MARKS:
            return _MARKS[entry]
    return ""


def _listed_marks() -> dict[str, str]:
    """The mark of each listed phrase, as stems; the lists of marks override those of opposites."""
    phrases = {}
    for group in sorted(word_list("opposed")):
        high, low = (side.split(",") for side in group.split("/"))
        phrases[f"+#{high[0]}"] = high
        phrases[f"-#{high[0]}"] = low

    marks = {}
    for mark, entries in (phrases | by_language("marks")).items():
        for entry in entries:
            stems = map(stem, without_accents(entry).split("_"))
            marks[" ".join(stems)] = mark
    return marks


_MARKS = _listed_marks()


def denies(text: str) -> bool:
    """Whether a text denies something.

    >>> denies("It is never safe."), denies("Not only dogs may enter.")
    (True, False)
    """
    return "deny" in _words(text)


def denied_before(before: Sequence[str], head: Sequence[str]) -> bool:
    """Whether a negation just before a stretch of words denies what begins there.

    Only helping words may come between ("not known to be | safe", "a myth that | it is").

    Args:
        before: The words before it, of the same clause.
        head: Its first two words.
    """
    both = ["", *before, *head, ""]
    for at in range(len(before), 0, -1):
        word = both[at]
        preceding = both[at - 1]
        if word in _DENYING.get(both[at + 1], ()):
            return preceding not in NEGATIONS  # "cannot fail to" asserts
        if word in NEGATIONS or word in _NEARLY:
            return _denies(both[at:]) and preceding not in _HARMLESS_BEFORE
        if word not in _HELPING:
            return False
    return False


def denied_behind(last: str, behind: Sequence[str]) -> bool:
    """Whether a negation just behind a stretch of words denies what ends there.

    The negation is the next word, or follows filling words or helping verbs ("the drug | is not safe").

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
            if word in _ONLY_AFTER_A_VERB and not after_verb:
                return False
            return _denies(behind[i:])
        if word not in _FILLING and word not in _HELPING_VERBS:
            return False
        after_verb = after_verb or word in _HELPING_VERBS
    return False


def _denies(listed: Sequence[str]) -> bool:
    """Whether the negation at the beginning of some words denies; "not only" and "no. 1" do not."""
    word, following, third = (*listed[:3], "", "")[:3]
    if word.casefold() == "no" and following[:1].isdigit():
        return False
    return following not in _HARMLESS_NEXT and third != "than"
