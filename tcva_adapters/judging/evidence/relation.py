"""Whether a quote has anything to do with its claim, as far as words can tell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

from tcva_adapters.judging.evidence.languages import languages, script, small_words
from tcva_adapters.judging.evidence.words import NEGATIONS, UNSPACED, listed
from tcva_adapters.lexical.text_features import Token, tokenise
from tcva_adapters.lexical.word_lists import NEGATORS, VAGUE_NUMBERS

_LONGEST: Final = 10_000
"""In characters; with a longer claim quotes are not compared."""

_FEWEST: Final = 3
"""Words from which on a quote may be a paraphrase; with fewer it must share one with its claim."""

_SAYING: Final = 2
"""Words of content that a claim must have for a quote to be held to sharing one."""

_IDEOGRAPHS: Final = 2
"""Characters that Chinese texts of one matter share at least."""

_EMPTY: Final = frozenset(NEGATIONS | NEGATORS.keys() | VAGUE_NUMBERS.keys()) | frozenset(
    "yes yeah ok okay true correct right sure indeed there am got ja si oui sim да はい 是".split()  # noqa: SIM905  # a word list reads better as text
)
_SMALL_CHARACTERS: Final = small_words(("Chinese",))
_ELIDED: Final = re.compile(r"\b[^\W\d_]{1,4}['’]([^\W\d_]{3,})")  # "l'hôpital"
_ARABIC: Final = re.compile("^[وف]?(?:ال|بال|لل|كال|[بلك])?(?=.{3})")
_CAPITAL: Final = re.compile(r"\b[^\W\d_]+")
_LONGEST_ACRONYM: Final = 8


class Relation(Enum):
    """What a quote has to do with its claim."""

    SHARES = "a word, stem, number or name"
    NOTHING = "nothing"
    UNKNOWN = "not to be told from words"


@dataclass(frozen=True)
class Side:
    """A claim or a quote, seen as what it could share with the other.

    Attributes:
        text: What it says.
        around: The words of the text that it is from, which tell the language where its own do not.
    """

    text: str
    around: Sequence[str] = ()

    @cached_property
    def listed(self) -> list[str]:
        """Its words, folded; what follows an apostrophe once more by itself."""
        elided = _ELIDED.findall(self.text)
        return listed(self.text) + (listed(" ".join(elided)) if elided else [])

    @cached_property
    def languages(self) -> frozenset[str]:
        """Those that it may be in."""
        own = languages(self.listed)
        return own if len(own) == 1 else languages(self.around) or own

    @cached_property
    def script(self) -> str:
        """Its script; empty without letters."""
        return script(self.text)

    @cached_property
    def content(self) -> set[str]:
        """Its words that mean something by themselves, without accents."""
        idle = small_words(self.languages)
        return {_plain(w) for w in self.listed if w not in idle and _may_mean_something(w)}

    @cached_property
    def keys(self) -> set[str]:
        """Its stems, pairs of characters, and values of numbers in figures or in words."""
        idle = small_words(self.languages)
        found = {t.key for t in self.tokens if t.kind == "number" or t.other}
        found |= {t.other for t in self.tokens if t.other}
        found |= {t.key for t in self.tokens if t.kind == "word" and t.text.casefold() not in idle}
        return found | {
            t.key for t in self.tokens if t.kind == "pair" and not any(map(_is_small, t.key))
        }

    @cached_property
    def vague(self) -> set[str]:
        """The values of words such as "one" and "first", which often are no numbers."""
        return {t.key for t in self.tokens if t.kind == "vague"}

    @cached_property
    def tokens(self) -> list[Token]:
        """The same text as the lexical judge reads it."""
        return tokenise(self.text)

    @cached_property
    def beginnings(self) -> tuple[set[str], set[str], set[str]]:
        """Of words of content: the first letters of short ones, and the first 4 and 5 of all."""
        short, four, five = set[str](), set[str](), set[str]()
        for word in self.content:
            if len(word) == 3 and not word.isascii():
                short.add(word)
            if len(word) >= 4:
                four.add(word[:4])
                short |= {word[:4]} if len(word) <= 5 else set()
            if 4 <= len(word) <= 5 and not word.isascii():
                four.add(word[:3])
            if len(word) >= 6:
                five.add(word[:5])
        return short, four, five

    @cached_property
    def capitals(self) -> list[str]:
        """Its words with a capital."""
        return [word for word in _CAPITAL.findall(self.text) if word[0].isupper()]

    @cached_property
    def initials(self) -> str:
        """The first letters of these, in small letters."""
        return "".join(word[0] for word in self.capitals).casefold()

    @cached_property
    def acronyms(self) -> list[str]:
        """What is written in capitals alone, in small letters."""
        short = (w for w in self.capitals if 1 < len(w) <= _LONGEST_ACRONYM)
        return [word.casefold() for word in short if word.isupper()]


def relation(quote: Side, claim: Side) -> Relation:
    """What a quote has to do with its claim.

    They share something if they have a word of content, a stem or beginning of a word, the value
    of a number, or a name with its abbreviation in common. Without that a quote of small words
    has nothing to do with any claim, nor has one of fewer than three words. A longer one may put
    it in other words or another language: it has nothing to do with a claim that may be of the
    same language and script, and otherwise that cannot be told, as with a claim that hardly says
    anything ("Yes, it does.").

    >>> relation(Side("They met in Paris"), Side("The drug cures cancer.")).name
    'NOTHING'
    >>> relation(Side("at 9 o'clock"), Side("It opens at nine.")).name
    'SHARES'
    >>> relation(Side("die Stadt liegt am See"), Side("The town is on a lake.")).name
    'UNKNOWN'
    """
    if len(claim.text) > _LONGEST:
        return Relation.UNKNOWN
    if _share(quote, claim):
        return Relation.SHARES
    if not set(quote.listed) - small_words(()) - _EMPTY:
        return Relation.NOTHING
    comparable = quote.script == claim.script and (
        len(quote.listed) < _FEWEST
        or (len(claim.content) >= _SAYING and bool(quote.languages & claim.languages))
    )
    return Relation.NOTHING if comparable else Relation.UNKNOWN


def _share(quote: Side, claim: Side) -> bool:
    said = claim.content
    words = {_plain(word) for word in quote.listed}
    if any(word in words for word in said if not UNSPACED.match(word)):
        return True
    if sum(word in words for word in said if _is_ideograph(word)) >= _IDEOGRAPHS:
        return True
    if quote.keys & (claim.keys | claim.vague) or quote.vague & claim.keys:
        return True
    for one, other in ((quote, claim), (claim, quote)):
        (short, _, five), (_, any_length, long) = one.beginnings, other.beginnings
        if short & any_length or five & long:
            return True
        if any(acronym in other.initials for acronym in one.acronyms):
            return True
    return False


def _may_mean_something(word: str) -> bool:
    return word not in _EMPTY and word[0].isalnum() and (len(word) > 1 or not word.isascii())


def _is_small(char: str) -> bool:
    """Whether a character of a script without spaces says little by itself."""
    return char in _SMALL_CHARACTERS or "\u3040" <= char <= "\u309f"


def _is_ideograph(word: str) -> bool:
    return word not in _SMALL_CHARACTERS and unicodedata.name(word[0], "").startswith("CJK")


def _plain(word: str) -> str:
    """Without accents and the Arabic article, so that names are the same with and without."""
    if word.isascii():
        return word
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return _ARABIC.sub("", plain) if "\u0600" <= plain[:1] <= "\u06ff" else plain
