"""Whether a quote really stands in the passages; a high level without one is lowered.

A judge that makes up its quote has hardly looked. Comparing word for word would punish honest
judges for a curly quotation mark, so texts are compared by their words alone, and a longer quote
may differ in a word or two. What changes the meaning may not differ: numbers and negations.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.lexical.word_lists import FUNCTION_WORDS
from tcva_adapters.results.assessment import ClaimVerdict

NEAR_ENOUGH: Final = 0.7
"""Share of a quote's three-word sequences that one stretch of a passage must have. One changed
word takes away three of them, so it is allowed within a quote of twelve words, not of eight."""

_GRAM: Final = 3
_SHORTEST_NEAR: Final = 6
"""Quotes with fewer words must match exactly."""

_MOST_PLACES: Final = 50

_NEGATIONS: Final = frozenset(
    # English, with the contractions as they stand without their apostrophe
    "no not never none nothing nobody neither nor without cannot nt cant dont doesnt didnt isnt "  # noqa: SIM905  # a word list reads better as text
    "arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt neednt aint "
    # German, French, Spanish, Portuguese, Russian, Chinese and Japanese
    "nicht nichts nie niemals kein keine keinen keinem keiner keines ohne "
    "pas jamais rien aucun aucune sans sin nunca nada ningún ninguna não nem sem "
    "не нет никогда ни без 不 没 沒 無 无 非 未".split()
)
_NUMBER_WORDS: Final = frozenset(
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "  # noqa: SIM905  # a word list reads better as text
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion trillion dozen half twice double triple percent".split()
)
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
"""Scripts without spaces between words, in which every character stands for a word."""

_BRACKET_CODES: Final = re.compile(r"-[lr][rsc]b-")
_ELLIPSIS: Final = re.compile(r"[\[(]?\.(?:[ \t]?\.){2,}[\])]?|\[?…\]?")
_TOKEN: Final = re.compile(
    r"(?P<number>(?:(?<!\S)-)?\d+(?:[.,]\d+)*)"
    r"|(?P<word>[^\s\d.,;!?。！？%$€£¥|-]+)|(?P<sign>[%$€£¥])|(?P<stop>[.!?。！？](?!\d))"
)
_THOUSANDS: Final = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


class _Folding(dict[int, str]):
    """How each character is compared; filled as characters come up."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if category == "Nd":
            folded = str(unicodedata.decimal(char))
        elif category == "Pd" or char == "−":
            folded = "-"
        elif category == "Cf" or char in "'’‘ʼ`´":
            folded = ""
        elif _UNSPACED.match(char):
            folded = f" {char} " if category[0] == "L" else char
        elif category[0] in "LMN" or char in ".,!?。！？%$€£¥":
            folded = char
        else:
            folded = " "
        self[code] = folded
        return folded


_FOLDING: Final = _Folding()


@dataclass(frozen=True, slots=True)
class _Words:
    """A text as the words that are compared.

    Attributes:
        words: Words, numbers and signs, folded.
        joined: All of them without spaces, so that "do n't" is "don't"; digits stay apart.
        begins: The word that begins at an offset of ``joined``.
        ends: One more than the word that ends at an offset of ``joined``.
        stops: Indexes of words that begin a sentence.
        grams: Where each three-word sequence begins.
    """

    words: tuple[str, ...]
    joined: str
    begins: dict[int, int]
    ends: dict[int, int]
    stops: frozenset[int]
    grams: dict[tuple[str, ...], list[int]]


@lru_cache(maxsize=64)
def _read(text: str) -> _Words:
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = _BRACKET_CODES.sub(" ", folded).translate(_FOLDING)
    words: list[str] = []
    stops: set[int] = set()
    for match in _TOKEN.finditer(folded):
        piece = match.group()
        if match["stop"]:
            stops.add(len(words))
        elif piece == "%":
            words.append("percent")
        elif match["number"] and _THOUSANDS.fullmatch(piece):
            words.append(piece.replace(",", ""))
        else:
            words.append(piece)
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    pieces: list[str] = []
    length = 0
    for i, word in enumerate(words):
        if i and word[-1].isdigit() and words[i - 1][-1].isdigit():
            pieces.append("|")
            length += 1
        begins[length] = i
        pieces.append(word)
        length += len(word)
        ends[length] = i + 1
    joined = "".join(pieces)
    grams: dict[tuple[str, ...], list[int]] = {}
    for i in range(len(words) - _GRAM + 1):
        grams.setdefault(tuple(words[i : i + _GRAM]), []).append(i)
    return _Words(tuple(words), joined, begins, ends, frozenset(stops), grams)


def _exact(quote: _Words, passage: _Words) -> Iterator[tuple[int, int]]:
    """Each run of whole words of the passage that is the quote."""
    offset = passage.joined.find(quote.joined)
    while offset >= 0:
        begin = passage.begins.get(offset)
        end = passage.ends.get(offset + len(quote.joined))
        if begin is not None and end is not None:
            yield begin, end
        offset = passage.joined.find(quote.joined, offset + 1)


def _near(quote: _Words, passage: _Words) -> Iterator[tuple[int, int]]:
    """The stretch of the passage that has most of the quote's sequences, if it has enough."""
    size = len(quote.words)
    if size < _SHORTEST_NEAR:
        return
    n_grams = size - _GRAM + 1
    hits = sorted(
        (at, i) for i in range(n_grams) for at in passage.grams.get(quote.words[i : i + _GRAM], ())
    )
    inside: Counter[int] = Counter()
    left, most, best = 0, 0, (0, 0)
    for right, (at, i) in enumerate(hits):
        inside[i] += 1
        while at - hits[left][0] > n_grams + 1:
            gone = hits[left][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            left += 1
        if len(inside) > most:
            most, best = len(inside), (left, right)
    if most < NEAR_ENOUGH * n_grams:
        return
    shared = hits[best[0] : best[1] + 1]
    (first, head), (last, tail) = shared[0], shared[-1]
    begin, end = max(0, first - head), min(len(passage.words), last + size - tail)
    here = _decisive(quote.words, 0, size)
    there = _decisive(passage.words, begin, end)
    same = list(here.values()) == list(there.values())
    # Each stands in a shared sequence, and so between the same neighbours.
    if same and here.keys() <= {i for _, at in shared for i in range(at, at + _GRAM)}:
        yield begin, end


def _decisive(words: Sequence[str], begin: int, end: int) -> dict[int, str]:
    """The words that a quote may not change, by index: numbers, signs and negations."""
    return {
        i: "not" if word in _NEGATIONS else word
        for i, word in enumerate(words[begin:end], start=begin)
        if word in _NEGATIONS
        or word in _NUMBER_WORDS
        or word[-1].isdigit()
        or not word[0].isalnum()
    }


def _places(quote: _Words, passage: _Words) -> list[tuple[int, int]]:
    """Where a quote stands in a passage; the near match counts only without an exact one."""
    exact = list(islice(_exact(quote, passage), _MOST_PLACES))
    return exact or list(_near(quote, passage))


def _joins(passage: _Words, end: int, begin: int, *, is_single: bool) -> bool:
    """Whether an ellipsis may stand for the words from ``end`` to ``begin``.

    It may not hide a negation in a sentence that it breaks off or takes up again, and a single
    word must belong to the sentence that it is quoted with.
    """
    if begin < end:
        return False
    stops = [i for i in range(end, begin + 1) if i in passage.stops]
    if not stops:
        return _NEGATIONS.isdisjoint(passage.words[end:begin])
    hidden = passage.words[end : stops[0]] + passage.words[stops[-1] : begin]
    return not is_single and _NEGATIONS.isdisjoint(hidden)


def _in_order(fragments: Sequence[_Words], passage: _Words) -> bool:
    ends: list[int] = []
    for i, fragment in enumerate(fragments):
        places = _places(fragment, passage)
        if i:
            is_single = 1 in (len(fragment.words), len(fragments[i - 1].words))
            places = [
                (begin, end)
                for begin, end in places
                if any(_joins(passage, before, begin, is_single=is_single) for before in ends)
            ]
        ends = [end for _, end in places]
        if not ends:
            return False
    return True


def find_quote(quote: str, passages: Sequence[str]) -> int | None:
    """The passage that holds a quote, counted from 1; None where none does.

    Case, white space, punctuation, quotation marks, dashes, invisible characters and the spacing
    of tokenised text do not matter. Fragments joined by "..." must stand in one passage in their
    order, or, from three words on, each in some passage, and no negation may hide in the gap. A
    quote of six words or more may differ a little: one stretch of a passage must have at least 70
    % of its three-word sequences, and exactly its numbers and negations. A passage with the exact
    quote comes before one with a similar one, then the first.

    >>> find_quote("It's NOT safe", ["Other.", "the drug, it's not safe for children"])
    2
    >>> find_quote("it's ... safe", ["the drug, it's not safe for children"]) is None
    True
    """
    whole = _read(quote)
    if not whole.words:
        return None
    held = [_read(passage) for passage in passages]
    for number, passage in enumerate(held, start=1):
        if next(_exact(whole, passage), None):
            return number
    fragments = [words for part in _ELLIPSIS.split(quote) if (words := _read(part)).words]
    for number, passage in enumerate(held, start=1):
        if _in_order(fragments, passage):
            return number
    return _spread(fragments, held) if len(fragments) > 1 else None


def _spread(fragments: Sequence[_Words], held: Sequence[_Words]) -> int | None:
    """The passage of the longest fragment, where several passages together hold all of them."""
    holders = [
        [number for number, passage in enumerate(held, start=1) if _places(fragment, passage)]
        for fragment in fragments
    ]
    if set.intersection(*map(set, holders)) or not all(holders):
        return None
    if min(len(fragment.words) for fragment in fragments) < _GRAM:
        return None
    longest = max(range(len(fragments)), key=lambda i: len(fragments[i].words))
    return holders[longest][0]


def _says_something(quote: str, claim: str) -> bool:
    """Whether a quote could decide about anything: "the" occurs in every passage.

    It needs a word of content, and with fewer than three words one that the claim has as well.
    """
    words = _read(quote).words
    content = set(words) - FUNCTION_WORDS
    return bool(content if len(words) >= _GRAM else content.intersection(_read(claim).words))


def check_evidence(verdict: ClaimVerdict, passages: Sequence[str]) -> ClaimVerdict:
    """A verdict whose high level stands only with a quote that occurs in the passages.

    ``fully`` and ``mostly`` without one become ``partial``: ``original_verdict`` keeps the level that the
    judge gave, the reason says what happened, and probabilities of the two move to ``partial``.
    Other levels stay as they are. Where the quote is found in another passage than the judge
    named, the passage is corrected, at any level.

    >>> lowered = check_evidence(
    ...     ClaimVerdict(claim="Cats bark.", verdict=Verdict.FULLY, evidence="cats bark"),
    ...     ["Dogs bark."],
    ... )
    >>> lowered.verdict, lowered.original_verdict
    (<Verdict.PARTIAL: 'partial'>, <Verdict.FULLY: 'fully'>)
    """
    if verdict.verdict is None:
        return verdict
    found = find_quote(verdict.evidence, passages)
    if found is not None and _says_something(verdict.evidence, verdict.claim):
        named = verdict.passage
        if named is None or not 1 <= named <= len(passages) or found == named:
            is_right = found == named
        else:
            is_right = find_quote(verdict.evidence, [passages[named - 1]]) is not None
        return verdict if is_right else verdict.model_copy(update={"passage": found})
    if verdict.verdict not in (Verdict.FULLY, Verdict.MOSTLY):
        return verdict
    note = f"(quote not found in the passages: lowered from {verdict.verdict.value})"
    update: dict[str, object] = {
        "verdict": Verdict.PARTIAL,
        "original_verdict": verdict.verdict,
        "passage": None,
        "reason": f"{verdict.reason} {note}".strip(),
    }
    if verdict.probabilities is not None:
        fully, mostly, partial, minor, none = verdict.probabilities
        update["probabilities"] = (0.0, 0.0, fully + mostly + partial, minor, none)
    return verdict.model_copy(update=update)
