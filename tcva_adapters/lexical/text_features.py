"""Words, numbers and names of a text, normalised so that equal content has equal tokens.

Everything here is a pure function of the text: no model, no word vectors, no downloads.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from tcva_adapters.lexical.word_lists import (
    CONTRACTIONS,
    FUNCTION_WORDS,
    IRREGULAR,
    NEGATORS,
    SCALES,
    SMALL_NUMBERS,
    SPELLINGS,
    VAGUE_NUMBERS,
)

_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e"
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d"
)
_NUMERALS: Final = "〇零一二三四五六七八九十百千万亿億两兩"


_NUMBER: Final = r"\d+(?:[.,:]\d+)*"
_LETTERS: Final = (
    rf"[^\W\d_](?:[^\W\d_{_UNSPACED}]|[{_MARKS}])*"
    rf"(?:['’](?:[^\W\d_{_UNSPACED}]|[{_MARKS}])+)*"
)


@lru_cache(maxsize=1)
def _token_pattern() -> re.Pattern[str]:
    """What one token is; put together on first use, which takes longer than many an import."""
    return re.compile(
        rf"(?P<number>{_NUMBER})"
        rf"|(?P<numeral>[{_NUMERALS}]+)"
        rf"|(?P<unspaced>(?:(?![{_NUMERALS}])[{_UNSPACED}])+)"
        rf"|(?P<word>{_LETTERS})"
        r"|(?P<sign>[%£$€¥]|#(?=\s?\d))"
        r"|(?P<pause>[,;:()\[\]\-–—.!?。！？，；：、])"
    )


@lru_cache(maxsize=1)
def _piece_pattern() -> re.Pattern[str]:
    """The same without pauses, and with signs and unspaced scripts as single characters."""
    return re.compile(rf"{_NUMBER}|[{_UNSPACED}{_NUMERALS}%£$€¥#]|{_LETTERS}")


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
# Putting accents in their order takes the square of their number.
_MANY_MARKS: Final = re.compile(r"[^\w\s]{32,}")


END: Final = "\n"
"""Stands for both ends of a text where its neighbouring keys are compared; no token has it."""

_ENDINGS: Final = ("ingly", "edly", "ing", "ed", "ly", "ment", "ness")
_LAST_LETTERS: Final = frozenset(ending[-1] for ending in _ENDINGS)
_CONTENT: Final = frozenset({"word", "number", "pair"})


class Token(NamedTuple):
    """One normalised word, number or character pair.

    Attributes:
        key: What is compared: the stem, the number's value, or two neighbouring characters.
        text: The word as it is written; for function words and negators in small letters.
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


def is_content(token: Token) -> bool:
    """Whether the token carries meaning of its own: a word, a number or a character pair."""
    return token.kind in _CONTENT


@lru_cache(maxsize=8192)
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
    for ending in _ENDINGS if word[-1] in _LAST_LETTERS else ():
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and any(v in rest for v in "aeiouy"):
            word = rest
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
                word = word[:-1]
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and word[-2] not in "aeiou" else word


@lru_cache(maxsize=8192)
def _word(raw: str) -> tuple[tuple[str, str, str], ...]:
    """The (key, text, kind) triples of one written word; none for clitics and brackets."""
    if raw.isascii():
        plain = raw.lower()
    else:
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


def tamed(text: str) -> str:
    """The same without accents that are heaped on one letter, which take too long to sort."""
    return _MANY_MARKS.sub(lambda run: "".join(filter(_is_no_accent, run[0])), text)


def _is_no_accent(char: str) -> bool:
    return not unicodedata.combining(char)


def number_key(digits: str) -> str:
    """The value of a written number, as a string that equal numbers share.

    >>> [number_key(n) for n in ("1,500", "1500", "3,5", "3.50", "1.234.567")]
    ['1500', '1500', '3.5', '3.5', '1234567']
    """
    if ":" in digits:
        return digits
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


_CLOCK_MARKS: Final = frozenset({"am", "pm"})
_SHORT_SCALE: Final = 2  # "8m", but never "8 m"
_NUMERIC_WORDS: Final = _CLOCK_MARKS.union(SCALES, SMALL_NUMBERS, VAGUE_NUMBERS)
_HALF_DAY: Final = 720  # minutes; 19:30 and 7:30 pm are the same time


def _clock(digits: str, *, marked: bool) -> tuple[str, str] | None:
    """The key of a time of day, with its bare hour as second reading; None for other numbers."""
    hour, mark, minute = digits.replace(".", ":" if marked else ".").partition(":")
    if len(hour) > 2 or not (mark or marked) or (mark and len(minute) != 2):
        return None
    if not minute.isdigit() and mark:
        return None
    hours, minutes = int(hour), int(minute or 0)
    if hours > 24 or minutes > 59:
        return None
    return f"t{(hours * 60 + minutes) % _HALF_DAY}", "" if minutes else str(hours)


def tokenise(text: str) -> list[Token]:
    """The tokens of a text, in order.

    Numbers get the same key in words and figures (*two*, *2*), with and without thousands marks,
    and with their scale (*8 million*, *8m*); ``n't`` is *not*; brackets and quotes of tokenised
    news text vanish; scripts that write no spaces give pairs of characters.

    >>> [t.key for t in tokenise("It did n't cost 1,500 -lrb- 50 % -rrb-")]
    ['it', 'did', 'not', 'cost', '1500', '50', 'percent']
    >>> [t.key for t in tokenise("Open from 8 am to half past six, twenty-two days.")]
    ['open', 'from', 't480', 'am', 'to', 't390', '22', 'day']
    """
    return _Reader(text).tokens


def plain_keys(text: str) -> list[str] | None:
    """The keys of a text's tokens, in order, several times as fast as `tokenise` finds them.

    None where a word may have to do with its neighbours, as in *two million* or *8 pm*.

    >>> plain_keys("It cost 1,500."), plain_keys("It cost two million.")
    (['it', 'cost', '1500'], None)
    """
    keys: list[str] = []
    for raw in _piece_pattern().findall(tamed(text)):
        found = _plain_keys(raw)
        if found is None:
            return None
        keys += found
    return keys


@lru_cache(maxsize=8192)
def _plain_keys(raw: str) -> tuple[str, ...] | None:
    if raw == "%":
        return ("percent",)
    if raw[0].isdecimal():
        key, other = _clock(raw, marked=False) or (number_key(raw), "")
        return None if other else (key,)
    lower = raw.casefold()
    if lower in VAGUE_NUMBERS:
        return (str(VAGUE_NUMBERS[lower]),)
    if lower in _NUMERIC_WORDS or lower in _ORDINAL_ENDS:
        return None
    if len(raw) == 1 and not (raw.isascii() and raw.isalpha()):
        return None  # a sign, or a character of an unspaced script
    return tuple(key for key, _, _ in _word(raw))


@lru_cache(maxsize=8192)
def _plain_tokens(
    raw: str, capital: bool, clause: int
) -> tuple[Token, ...] | None:  # lru_cache is faster without keywords
    """The tokens of a word that is nothing but a word; None where numbers come into it."""
    if raw.casefold() in _NUMERIC_WORDS:
        return None
    return tuple(
        Token(key, raw if kind == "word" else text, kind, capital, clause)
        for key, text, kind in _word(raw)
    )


class _Reader:
    """One pass over a text; numbers are put together as their words come by."""

    def __init__(self, text: str) -> None:
        self.tokens: list[Token] = []
        self.clause = 0
        self._sign = ""
        self._starts_sentence = True
        self._end = -1
        after_number = False
        for match in _token_pattern().finditer(tamed(text)):
            kind, raw = match.lastgroup, match[0]
            if kind == "word" and not after_number and not self._sign:
                capital = not self._starts_sentence and raw[0].isupper()
                plain = _plain_tokens(raw, capital, self.clause)
                if plain is not None:
                    self.tokens += plain
                    self._starts_sentence = False
                    continue
            if kind == "pause":
                self._pause(raw)
            else:
                self._read(str(kind), raw, touching=match.start() == self._end)
                after_number = bool(self.tokens) and self.tokens[-1].kind == "number"
            self._end = match.end()
        self._flush_sign()

    def _read(self, kind: str, raw: str, *, touching: bool) -> None:
        if kind == "word":
            self._read_word(raw, touching=touching)
        elif kind == "number":
            self._add_number(number_key(raw), raw, _clock(raw, marked=False))
        elif kind == "unspaced":
            self._add_pairs(unicodedata.normalize("NFKC", raw))
        elif kind == "numeral":
            self._read_numeral(raw)
        elif raw == "%":
            self._add("percent", raw, "word")
        else:
            self._sign = _SIGNS[raw]  # "£8" is read as "8 pounds"

    def _pause(self, raw: str) -> None:
        if raw not in "-–—":
            self.clause += 1
            self._starts_sentence = raw in ".!?。！？:"

    def _add(self, key: str, text: str, kind: str) -> None:
        self.tokens.append(Token(key, text, kind, False, self.clause))

    def _flush_sign(self) -> None:
        if self._sign:
            sign, self._sign = self._sign, ""
            self._add(sign, sign, "word")

    def _read_word(self, raw: str, *, touching: bool) -> None:
        after_number = bool(self.tokens) and self.tokens[-1].kind == "number"
        if after_number and touching and raw.casefold() in _ORDINAL_ENDS:
            return
        lower = raw.casefold()
        if lower in _NUMERIC_WORDS and self._read_numeric_word(lower, raw, after_number, touching):
            return
        self._flush_sign()
        capital = raw[0].isupper() and not self._starts_sentence
        self._starts_sentence = False
        for key, text, kind in _word(raw):
            shown = raw if kind == "word" else text
            self.tokens.append(Token(key, shown, kind, capital, self.clause))

    def _read_numeric_word(self, lower: str, raw: str, after_number: bool, touching: bool) -> bool:
        """Read a number word, a scale or a clock mark; False where it is a word after all."""
        if lower in SCALES:
            if not after_number or not (touching or len(lower) > _SHORT_SCALE):
                return False
            self._scale(SCALES[lower], raw)
            self._flush_sign()
            return True
        self._flush_sign()
        if lower in _CLOCK_MARKS:
            if after_number:
                self._mark_clock()
                self._add(lower, raw, "word")
            return after_number
        if lower in SMALL_NUMBERS:
            self._read_number_word(SMALL_NUMBERS[lower], raw)
        else:
            self._add(str(VAGUE_NUMBERS[lower]), raw, "vague")
        return True

    def _add_number(self, key: str, text: str, clock: tuple[str, str] | None = None) -> None:
        self._starts_sentence = False
        key, other = clock or (key, "")
        self.tokens.append(Token(key, text, "number", False, self.clause, other))

    def _read_number_word(self, value: int, raw: str) -> None:
        if value == 12 and raw.casefold() == "dozen" and self._extend_number(12, multiply=True):
            return
        if len(self.tokens) >= 2 and [t.key for t in self.tokens[-2:]] == ["half", "past"]:
            del self.tokens[-2:]
            self._add_number("", f"half past {raw}", clock=(f"t{(value % 12) * 60 + 30}", ""))
            return
        if not self._extend_number(value, multiply=False):
            self._add_number(str(value), raw)

    def _extend_number(self, value: int, *, multiply: bool) -> bool:
        """Join *twenty* and *two*, *two hundred and* and *fifty*; False where nothing joins."""
        at = len(self.tokens) - 1
        joined = at > 0 and self.tokens[at].text == "and"
        at -= joined
        last = self.tokens[at] if at >= 0 else None
        if last is None or last.kind != "number" or not last.key.isdigit():
            return False
        if any(char.isdigit() for char in last.text):
            return False
        before = int(last.key)
        fits = (
            multiply
            or (not joined and 20 <= before < 100 and before % 10 == 0 and 0 < value < 10)
            or (before >= 100 and before % 100 == 0 and 0 < value < 100 and joined)
        )
        if not fits:
            return False
        total = before * value if multiply else before + value
        text = f"{last.text} {value}" if multiply else f"{last.text}-{value}"
        self.tokens[at:] = [Token(str(total), text, "number", False, self.clause)]
        return True

    def _scale(self, factor: int, raw: str) -> None:
        last = self.tokens[-1]
        try:
            key = format(float(last.key) * factor, ".15g")
        except ValueError:
            return
        self.tokens[-1] = Token(key, f"{last.text} {raw}", "number", False, self.clause)

    def _mark_clock(self) -> None:
        last = self.tokens[-1]
        clock = _clock(last.text, marked=True) if last.text[0].isdigit() else None
        if clock is None and last.key.isdigit():
            clock = _clock(last.key, marked=True)
        if clock:
            self.tokens[-1] = Token(clock[0], last.text, "number", False, self.clause, clock[1])

    def _read_numeral(self, raw: str) -> None:
        value = _numeral_value(raw)
        key = format(value, ".15g")
        if len(raw) == 1 and value <= 1:  # 一 is also the article, like "one"
            self._add(key, raw, "vague")
        else:
            self._add_number(key, raw)

    def _add_pairs(self, run: str) -> None:
        self._starts_sentence = False
        self._flush_sign()
        for i in range(max(1, len(run) - 1)):
            self._add(run[i : i + 2], run[i : i + 2], "pair")
