"""The tokenizer: the words of a text as they are compared, with stems, numbers and names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import filterfalse, pairwise
from typing import NamedTuple

from tcva_adapters.text.lists import (
    by_language,
    variants,
    word_list,
)

_SCRIPTS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff"
)
UNSPACED = re.compile(f"[{_SCRIPTS}]")
"""Scripts without spaces between words, in which every character stands for a word."""
_PAIRED = re.compile(f"[{_SCRIPTS}\uac00-\ud7af]")  # with Hangul

STOPS = frozenset(".!?。！？")
PAUSES = frozenset(",:")
NEGATIONS = word_list("negations")
FUNCTION_WORDS = word_list("function_words")
LANGUAGE_WORDS = by_language("language_words")
"""Common words of languages with Latin letters, which tell them apart."""

_SPELLINGS = variants("spellings")
_IRREGULAR = variants("irregular")
_NUMBERS = variants("numbers")
_VAGUE = variants("vague_numbers")
_SCALES = {word: int(factor) for word, factor in variants("scales").items()}
_SIGNS = {
    "$": "dollar",
    "€": "euro",
    "£": "pound",
    "¥": "yen",
}
_ORDINAL_ENDS = frozenset({"st", "nd", "rd", "th"})
_ENDINGS = ("ingly", "edly", "ing", "ed", "ly", "ment", "ness")
_VOWEL = re.compile("[aeiouy]")
_DOUBLED_END = re.compile(r"..([^aeiouls])\1\Z")
_Y_END = re.compile(r"(?<=[^aeiou])y\Z")
_LONGEST_EXACT = 15  # digits that a float holds exactly
_CLOCK = re.compile("([01]?[0-9]|2[0-4])(?:[.:]([0-5][0-9]))?")
_HALF_DAY = 720  # minutes; 19:30 and 7:30 pm are the same time

_BRACKET_CODES = re.compile(r"-[lr][rsc]b-", re.IGNORECASE)
_PIECE = re.compile(
    rf"""
    [{_SCRIPTS}]+
    |[^\s\d.,:!?$€£¥。！？{_SCRIPTS}-]+
    |(?:(?<!\S)-)?\d+(?:[.,:]\d+)*
    |[$€£¥,:]
    |[.!?。！？](?!\d)
    """,
    re.VERBOSE,
)
_COMMA = re.compile(r"\d,\d")
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PARTED = re.compile(r"[1-9]\d{0,2}(?:,\d{3}|(?:[.,]\d{3}){2,})")
_SEVERAL = re.compile(r"\d+[.,]\d{1,2}[.,]")  # of a date or version, not one number
# A line that goes on with a small letter is the same sentence, wrapped.
_NEW_LINE = re.compile(r"\n{2,}|\n(?![ \t]{0,8}[a-zß-ÿ])")
_ELIDED = re.compile(
    r"(?i)\b([cdjlmnst]|qu|un|[dn]?ell|all)['’](?=[aeéèêiîoôuhœ])"
)  # "l'eau"
_APART = re.compile(r" ['’]s\b")  # "the club 's captain", as tokenised text writes it
# The time to put accents in order grows with the square of their number.
_MANY_MARKS = re.compile(r"[^\w\s]{32,}")
_PART = 20_000
"""The most characters that are split at once, as a pattern holds the interpreter's lock."""
# A place between two words across which no pattern above, and no accent, reaches.
_BETWEEN = re.compile(
    r"(?<=\w\w)(?= \w|[\n\t\"])|(?<=[。！？，、；])(?=[\u3040-\u30ff\u4e00-\u9fff])"
)
_NEGATORS = "不没沒無无未"
_UNSPACED_PARTS = re.compile(
    f"([〇零一二三四五六七八九十百千万亿億两兩]+|[{_NEGATORS}])"
)
_MYRIAD = 10**4


class _Folding(dict[int, str]):
    """The form in which each character is compared; filled as characters come up."""

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        if category == "Nd":
            folded = str(unicodedata.decimal(chr(code)))
        elif category in {"Pd", "Cf"}:
            folded = "-" if category == "Pd" else ""
        else:
            folded = chr(code) if category[0] in "LMN" else " "
        self[code] = folded
        return folded


_FOLDING = _Folding(
    str.maketrans(
        {char: char for char in ".,:!?。！？$€£¥"}
        | dict.fromkeys(";()[]{}|،؛、，；：", " , ")
        | dict.fromkeys("।॥؟۔", " . ")
        | dict.fromkeys("'’‘ʼ`´", "")
        | {"−": "-", "%": " percent "}
    )
)


def split_words(text: str) -> list[str]:
    """Split a text into words and marks, which keep their case.

    Quotation marks, apostrophes, kinds of dashes and the way accents are encoded do not matter.
    Marks are stops (``.``), pauses (``,``) and currency signs. Text in a script without spaces is
    one word.

    >>> split_words("It costs $1,500 - it's (NEW).")
    ['It', 'costs', '$', '1500', 'its', ',', 'NEW', ',', '.']
    """
    if len(text) > _PART:
        between = _BETWEEN.search(text, len(text) // 2)
        if between is not None:
            middle = between.start()
            return split_words(text[:middle]) + split_words(text[middle:])
    if not text.isascii():
        text = _MANY_MARKS.sub(lambda run: _without_marks(run[0]), text)
    if "'" in text or "’" in text:
        text = _ELIDED.sub(r"\1 ", _APART.sub("", text))
    if "\n" in text:
        text = _NEW_LINE.sub("\n;", text)
    text = _BRACKET_CODES.sub(" ", text)
    text = unicodedata.normalize("NFKC", text)
    text = text.translate(_FOLDING)
    pieces = []
    for word in text.split():  # no piece holds a blank, and most words are one
        if word.isascii() and word.isalpha():
            pieces.append(word)
        else:
            pieces += _PIECE.findall(word)
    if _COMMA.search(text):
        pieces = [
            piece.replace(",", "") if _THOUSANDS.fullmatch(piece) else piece
            for piece in pieces
        ]
    return pieces


def _without_marks(text: str) -> str:
    return "".join(filterfalse(unicodedata.combining, text))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without marks; single characters of scripts without spaces.

    >>> words_of("It costs 1,500 dollars; it's NEW.")
    ['it', 'costs', '1500', 'dollars', 'its', 'new']
    """
    words: list[str] = []
    for piece in split_words(text):
        if UNSPACED.match(piece):
            words += piece
        elif piece not in STOPS and piece not in PAUSES:
            words.append(piece.casefold())
    return words


class Token(NamedTuple):
    """One normalised word, number or character pair.

    Attributes:
        key: The form that is compared: the stem, the number's value, or two neighbouring characters.
        text: The word as it is written.
        kind: ``word``, ``function``, ``number``, ``vague`` (a number word that often means no number,
            such as *one*), ``negator`` or ``pair`` (two characters of an unspaced script).
        capital: Whether it is a word with a capital that does not begin a sentence.
        clause: The index of its clause in the text; negation does not reach beyond its clause.
        other: A second reading of a number (8 for *8 pm*), or the empty string.
    """

    key: str
    text: str
    kind: str
    capital: bool = False
    clause: int = 0
    other: str = ""


def is_content(token: Token) -> bool:
    """Whether the token carries meaning of its own: a word, a number or a character pair."""
    return token.kind in {"word", "number", "pair"}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Strip the English inflection of a word; forms of one word agree, though stems may be no words.

    >>> [stem(w) for w in ("studies", "studied", "running", "runs", "closes", "close", "glass")]
    ['studi', 'studi', 'run', 'run', 'clos', 'clos', 'glass']
    """
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isascii():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("s") and word[-2] not in "sui":
        word = word[:-1]
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            word = rest[:-1] if _DOUBLED_END.search(rest) else rest
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return _Y_END.sub("i", word)


def without_accents(word: str) -> str:
    """A word in small letters without accents."""
    if word.isascii():
        return word.lower()
    return _without_marks(unicodedata.normalize("NFKD", word.casefold()))


def number_key(digits: str) -> str:
    """The value of a written number, as a string that equal numbers share.

    >>> [number_key(n) for n in ("1,500", "1500", "3,5", "3.50", "1.234.567", "3.11.2")]
    ['1500', '1500', '3.5', '3.5', '1234567', '3.11.2']
    """
    if ":" in digits or _SEVERAL.match(digits):
        return digits
    *whole, last = re.split("[.,]", digits)
    is_one_number = not whole or _PARTED.fullmatch(digits)
    point = "" if is_one_number else "."
    digits = "".join(whole) + point + last
    if len(digits) > _LONGEST_EXACT:
        return digits
    return format(float(digits), ".15g")


def _clock(digits: str) -> tuple[str, str] | None:
    """The key of a time of day, with its hour as second reading; None for other numbers."""
    match = _CLOCK.fullmatch(digits)
    if match is None:
        return None
    hours = int(match[1])
    minutes = hours * 60 + int(match[2] or 0)
    return f"t{minutes % _HALF_DAY}", str(hours)


def tokenise(text: str) -> list[Token]:
    """Split a text into its tokens, in order.

    Numbers get the same key in words and figures (*two*, *2*), with and without thousands marks,
    and with their scale (*8 million*, *$8m*); ``n't`` is *not*; brackets and quotes of tokenised
    news text are dropped; scripts without spaces give pairs of characters.

    >>> [t.key for t in tokenise("It did n't cost 1,500 -lrb- 50 % -rrb-")]
    ['it', 'did', 'not', 'cost', '1500', '50', 'percent']
    """
    tokens: list[Token] = []
    clause = 0
    begins = True
    for piece in split_words(text):
        if piece in STOPS or piece in PAUSES:
            clause += 1
            begins = piece in STOPS
        elif _PAIRED.match(piece):
            tokens += (Token(*read, clause=clause) for read in _unspaced(piece))
        elif number := _continued(tokens, piece):
            if tokens[-1].text == "and":
                tokens.pop()
            tokens[-1] = number
        else:
            key, kind, other = _read(piece)
            is_name = kind == "word" and piece[0].isupper() and not begins
            tokens.append(Token(key, piece, kind, is_name, clause, other))
            begins = begins and piece in _SIGNS
    return tokens


@lru_cache(maxsize=8192)
def _read(piece: str) -> tuple[str, str, str]:
    """The key, kind and other reading of a word or number by itself."""
    small = piece.casefold()
    if piece[-1].isdecimal():
        clock = _clock(piece) if ":" in piece else None
        key, other = clock or (number_key(piece), "")
        return key, "number", other
    if small in _NUMBERS:
        return _NUMBERS[small], "number", ""
    if small in _VAGUE:
        return _VAGUE[small], "vague", ""
    if small in NEGATIONS:
        return "not", "negator", ""
    if small in FUNCTION_WORDS:
        return small, "function", ""
    bare = _SIGNS.get(piece) or without_accents(piece)
    return stem(_SPELLINGS.get(bare, bare)), "word", ""


def _continued(tokens: Sequence[Token], piece: str) -> Token | None:
    """Continue the last number of some tokens by a piece; None if the piece does not continue it.

    As in *8 million*, *$8m*, *8 pm*, *3rd*, *twenty-two* and *two hundred and fifty*: the number is
    the last token, or the one before an *and*.
    """
    place = len(tokens) - 1
    has_and = place > 0 and tokens[place].text == "and"
    if has_and:
        place -= 1
    if place < 0 or tokens[place].kind != "number":
        return None
    number = tokens[place]
    small = piece.casefold()
    is_money = place > 0 and tokens[place - 1].text in _SIGNS
    is_scale = small in _SCALES and (small != "m" or is_money)  # "8 m" are metres
    key = number.key

    value = int(_NUMBERS.get(small, 0))
    if value:
        is_in_words = key.isdigit() and not number.text[-1].isdigit()
        before = int(key) if is_in_words else 0
        is_unit = before in range(20, 100, 10) and value < 10 and not has_and
        is_below_hundreds = before >= 100 and before % 100 == 0 and value < 100
        if not (is_unit or is_below_hundreds):
            return None
        key = str(before + value)
    elif has_and:
        return None
    elif small in {"am", "pm"} and (clock := _clock(number.text)):
        key, other = clock
        return number._replace(key=key, other=other)
    elif is_scale and ":" not in key and not number.other:
        key = format(float(key) * _SCALES[small], ".15g")
    else:
        return number if small in _ORDINAL_ENDS else None
    return number._replace(key=key, text=f"{number.text} {piece}")


def _unspaced(run: str) -> Iterator[tuple[str, str, str]]:
    """Yield key, text and kind of the numbers, negators and character pairs in a run without spaces."""
    for part in filter(None, _UNSPACED_PARTS.split(run)):
        if part in _NEGATORS:
            yield "not", part, "negator"
        elif _UNSPACED_PARTS.fullmatch(part):  # 一 is also the article, like "one"
            yield _numeral(part), part, "vague" if part == "一" else "number"
        else:
            for pair in map("".join, pairwise(part)) if len(part) > 1 else part:
                yield pair, pair, "pair"


def _numeral(run: str) -> str:
    """The value of Chinese numerals: 三十八 is 38, 二〇二四 is 2024."""
    run = run[:_LONGEST_EXACT].replace("两", "兩")
    figures = [int(unicodedata.numeric(char)) for char in run]
    if max(figures) < 10:
        return str(int("".join(map(str, figures))))
    total = section = digit = 0
    for figure in figures:
        if figure < 10:
            digit = figure
        elif figure < _MYRIAD:
            section += (digit or 1) * figure
            digit = 0
        else:
            total += (section + digit or 1) * figure
            section = 0
            digit = 0
    return str(total + section + digit)
