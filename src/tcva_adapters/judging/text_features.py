"""Words, numbers and names of a text, normalised so that equal content has equal tokens.

Everything here is a pure function of the text: no model, no word vectors, no downloads.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tcva_adapters.judging.word_lists import (
    CONTRACTIONS,
    FUNCTION_WORDS,
    IRREGULAR,
    NEGATORS,
    SCALES,
    SMALL_NUMBERS,
    SPELLINGS,
)

_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e"
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d"
)
_NUMERALS: Final = "〇零一二三四五六七八九十百千万亿億两兩"
_TOKEN: Final = re.compile(
    r"(?P<number>\d+(?:[.,:]\d+)*)"
    rf"|(?P<numeral>[{_NUMERALS}]+)"
    rf"|(?P<unspaced>(?:(?![{_NUMERALS}])[{_UNSPACED}])+)"
    rf"|(?P<word>[^\W\d_](?:[^\W\d_{_UNSPACED}]|[{_MARKS}])*"
    rf"(?:['’](?:[^\W\d_{_UNSPACED}]|[{_MARKS}])+)*)"
    r"|(?P<sign>[%£$€¥]|#(?=\d))"
    r"|(?P<pause>[,;:()\[\]\-–—.!?。！？，；：、])"
)
_SIGNS: Final = {
    "%": "percent",
    "£": "pound",
    "#": "pound",  # tokenised news text writes the pound sign this way
    "$": "dollar",
    "€": "euro",
    "¥": "yen",
}
_BRACKETS: Final = frozenset({"lrb", "rrb", "lsb", "rsb", "lcb", "rcb"})
_ORDINAL_ENDS: Final = frozenset({"st", "nd", "rd", "th"})
_DIGITS: Final = {char: i for i, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_PLACES: Final = {"十": 10, "百": 100, "千": 1000}
_MYRIADS: Final = {"万": 10**4, "亿": 10**8, "億": 10**8}
_LONGEST_EXACT: Final = 15  # digits that a float holds exactly


@dataclass(frozen=True, slots=True)
class Token:
    """One normalised word, number or character pair.

    Attributes:
        key: What is compared: the stem, the number's value, or two neighbouring characters.
        text: The word as a reader knows it.
        kind: ``word``, ``function``, ``number``, ``vague`` (a number word that is often none,
            such as *one*), ``negator`` or ``pair`` (two characters of an unspaced script).
        capital: Whether it is written with a capital where a sentence does not demand one.
        clause: Counts the clauses of the text; negation does not reach beyond its clause.
        other: A second reading of a number (8 for *8 pm*), or the empty string.
    """

    key: str
    text: str
    kind: str
    capital: bool
    clause: int
    other: str = ""


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its English inflection: few rules, made to agree rather than to be right.

    >>> [stem(w) for w in ("studies", "studied", "running", "runs", "closes", "close", "glass")]
    ['studi', 'studi', 'run', 'run', 'clos', 'clos', 'glass']
    """
    word = IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isascii():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("s") and word[-2] not in "sui":
        word = word[:-1]
    for ending in ("ingly", "edly", "ing", "ed", "ly", "ment", "ness"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and any(v in rest for v in "aeiouy"):
            word = rest
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
                word = word[:-1]
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and word[-2] not in "aeiou" else word


@lru_cache(maxsize=65536)
def _word(raw: str) -> tuple[tuple[str, str, str], ...]:
    """The (key, text, kind) triples of one written word; none for clitics and brackets."""
    plain = unicodedata.normalize("NFKD", raw.replace("’", "'")).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = SPELLINGS.get(plain, plain)
    if plain in CONTRACTIONS:
        return tuple(part for word in CONTRACTIONS[plain] for part in _word(word))
    if plain.endswith("n't"):
        return (*_word(plain[:-3] or "not"), *(_word("not") if plain != "n't" else ()))
    plain = plain.partition("'")[0] if raw.isascii() or "'s" in plain else plain.replace("'", "")
    if not plain or plain in _BRACKETS or plain in {"s", "ll", "re", "ve"}:
        return ()
    if plain in NEGATORS:
        return ((NEGATORS[plain], plain, "negator"),)
    if plain in FUNCTION_WORDS:
        return ((plain, plain, "function"),)
    return ((stem(plain), plain, "word"),)


def number_key(digits: str) -> str:
    """The value of a written number, as a string that equal numbers share.

    >>> [number_key(n) for n in ("1,500", "1500", "3,5", "3.50", "1.234.567")]
    ['1500', '1500', '3.5', '3.5', '1234567']
    """
    groups = re.split(r"[.,]", digits)
    thousands = all(len(group) == 3 for group in groups[1:]) and 1 <= len(groups[0]) <= 3
    if len(groups) > 1 and thousands and (len(groups) > 2 or "," in digits) and groups[0] != "0":
        digits = "".join(groups)
    elif len(groups) > 1:
        digits = "".join(groups[:-1]) + "." + groups[-1]
    if len(digits) > _LONGEST_EXACT:
        return digits
    return format(float(digits), ".15g")


def _numeral_value(run: str) -> float:
    """The value of Chinese numerals: 三十八 is 38, 二〇二四 is 2024."""
    if not any(char in _PLACES or char in _MYRIADS for char in run):
        return float(int("".join(str(_DIGITS[char]) for char in run[:_LONGEST_EXACT])))
    total = section = digit = 0
    for char in run[:_LONGEST_EXACT]:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _PLACES:
            section += (digit or 1) * _PLACES[char]
            digit = 0
        else:
            total += (section + digit or 1) * _MYRIADS[char]
            section = digit = 0
    return float(total + section + digit)
