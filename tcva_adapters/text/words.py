"""One tokenizer: the words of a text as they are compared, with stems, numbers and names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from tcva_adapters.text.lists import by_language, variants, words

_SCRIPTS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff"
)
UNSPACED: Final = re.compile(f"[{_SCRIPTS}]")
"""Scripts without spaces between words, in which every character stands for a word."""
_PAIRED: Final = re.compile(f"[{_SCRIPTS}\uac00-\ud7af]")  # with Hangul

STOPS: Final = frozenset(".!?。！？")
PAUSES: Final = frozenset(",:")
NEGATIONS: Final = words("negations")
FUNCTION_WORDS_OF: Final = by_language("function_words")
FUNCTION_WORDS: Final = words("function_words")

_SPELLINGS: Final = variants("spellings")
_IRREGULAR: Final = variants("irregular")
_NUMBERS: Final = variants("numbers")
_VAGUE: Final = variants("vague_numbers")
_SCALES: Final = {word: int(factor) for word, factor in variants("scales").items()}
_SIGNS: Final = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
_ORDINAL_ENDS: Final = frozenset({"st", "nd", "rd", "th"})
_NUMERIC: Final = {*_NUMBERS, *_VAGUE, *_SCALES, *_ORDINAL_ENDS, "am", "pm"}
_ENDINGS: Final = ("ingly", "edly", "ing", "ed", "ly", "ment", "ness")
_LAST_LETTERS: Final = frozenset(ending[-1] for ending in _ENDINGS)
_LONGEST_EXACT: Final = 15  # digits that a float holds exactly
_CLOCK: Final = re.compile("([01]?[0-9]|2[0-4])(?:[.:]([0-5][0-9]))?")
_HALF_DAY: Final = 720  # minutes; 19:30 and 7:30 pm are the same time
_SHORT_SCALE: Final = "m"  # "$8m", but "8 m" are metres

_PAUSING: Final = frozenset(";()[]{}|،؛、，；：")
_STOPPING: Final = frozenset("।॥؟۔")
_BRACKET_CODES: Final = re.compile(r"-[lr][rsc]b-", re.IGNORECASE)
_PIECE: Final = re.compile(
    rf"[{_SCRIPTS}]+|[^\s\d.,:!?%$€£¥。！？{_SCRIPTS}-]+"
    r"|(?:(?<!\S)-)?\d+(?:[.,:]\d+)*|[$€£¥%,:]|[.!?。！？](?!\d)"
)
_THOUSANDS: Final = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
# A line that goes on with a small letter is the same sentence, wrapped.
_NEW_LINE: Final = re.compile(r"\n{2,}|\n(?![ \t]{0,8}[a-zß-ÿ])")
_ELIDED: Final = re.compile(
    r"(?i)\b([cdjlmnst]|qu|un|[dn]?ell|all)['’](?=[aeéèêiîoôuhœ])"
)  # "l'eau"
_APART: Final = re.compile(r" ['’]s\b")  # "the club 's captain", as tokenised text writes it
# Putting accents in their order takes the square of their number.
_MANY_MARKS: Final = re.compile(r"[^\w\s]{32,}")
_NUMERALS: Final = re.compile("[〇零一二三四五六七八九十百千万亿億两兩]+")
_DIGITS: Final = dict(zip("〇零一二三四五六七八九两兩", (0, *range(10), 2, 2), strict=True))
_PLACES: Final = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8, "億": 10**8}
_MYRIAD: Final = 10**4


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
        elif char in _PAUSING:
            folded = " , "
        elif char in _STOPPING:
            folded = " . "
        elif category[0] in "LMN" or char in ".,:!?。！？$€£¥%":
            folded = char
        else:
            folded = " "
        self[code] = folded
        return folded


_FOLDING: Final = _Folding()


def split_words(text: str) -> list[str]:
    """The words and marks of a text, without what does not matter but with their case.

    Quotation marks, apostrophes, kinds of dashes and the way accents are encoded do not matter.
    Marks are stops (``.``), pauses (``,``) and currency signs. What is written without spaces is
    one word.

    >>> split_words("It costs $1,500 - it's (NEW).")
    ['It', 'costs', '$', '1500', 'its', ',', 'NEW', ',', '.']
    """
    if not text.isascii():
        text = _MANY_MARKS.sub(lambda run: "".join(filter(_is_no_accent, run[0])), text)
    if "'" in text or "’" in text:
        text = _APART.sub("", text)
        text = _ELIDED.sub(r"\1 ", text)
    if "\n" in text:
        text = _NEW_LINE.sub("\n;", text)
    if "b-" in text or "B-" in text:
        text = _BRACKET_CODES.sub(" ", text)
    found = _PIECE.findall(unicodedata.normalize("NFKC", text).translate(_FOLDING))
    if "," in text:
        found = [p.replace(",", "") if "," in p and _THOUSANDS.fullmatch(p) else p for p in found]
    return ["percent" if piece == "%" else piece for piece in found] if "%" in text else found


def _is_no_accent(char: str) -> bool:
    return not unicodedata.combining(char)


def listed(text: str) -> list[str]:
    """The words of a text in small letters, without marks; characters where there are no spaces.

    >>> listed("It costs 1,500 dollars; it's NEW.")
    ['it', 'costs', '1500', 'dollars', 'its', 'new']
    """
    found: list[str] = []
    for piece in split_words(text):
        if UNSPACED.match(piece):
            found += piece
        elif piece not in STOPS and piece not in PAUSES:
            found.append(piece.casefold())
    return found


class Token(NamedTuple):
    """One normalised word, number or character pair.

    Attributes:
        key: What is compared: the stem, the number's value, or two neighbouring characters.
        text: The word as it is written.
        kind: ``word``, ``function``, ``number``, ``vague`` (a number word that is often none, such
            as *one*), ``negator`` or ``pair`` (two characters of an unspaced script).
        capital: Whether it is written with a capital where a sentence does not demand one.
        clause: Counts the clauses of the text; negation does not reach beyond its clause.
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
    """A word without its English inflection: few rules, made to agree rather than to be right.

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
def plain(word: str) -> str:
    """A word in small letters without accents."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(filter(_is_no_accent, decomposed))


def _word(piece: str) -> tuple[str, str, str]:
    """The key, text and kind of a word that has nothing to do with its neighbours."""
    small = piece.casefold()
    if small in NEGATIONS:
        return "not", piece, "negator"
    if small in FUNCTION_WORDS:
        return small, piece, "function"
    bare = plain(piece)
    return stem(_SPELLINGS.get(bare, bare)), piece, "word"


@lru_cache(maxsize=8192)
def _plainly(piece: str) -> tuple[str, str, str] | None:
    """The same where nothing but a word can be meant; None for marks, numbers and other scripts."""
    other = _PAIRED.match(piece) or piece.casefold() in _NUMERIC
    return _word(piece) if piece.isalpha() and not other else None


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
    return digits if len(digits) > _LONGEST_EXACT else format(float(digits), ".15g")


def _clock(digits: str) -> tuple[str, str] | None:
    """The key of a time of day, with its hour as second reading; None for other numbers."""
    if not (found := _CLOCK.fullmatch(digits)):
        return None
    hours, minutes = int(found[1]), int(found[2] or 0)
    return f"t{(hours * 60 + minutes) % _HALF_DAY}", str(hours)


def tokenise(text: str) -> list[Token]:
    """The tokens of a text, in order.

    Numbers get the same key in words and figures (*two*, *2*), with and without thousands marks,
    and with their scale (*8 million*, *$8m*); ``n't`` is *not*; brackets and quotes of tokenised
    news text vanish; scripts that write no spaces give pairs of characters.

    >>> [t.key for t in tokenise("It did n't cost 1,500 -lrb- 50 % -rrb-")]
    ['it', 'did', 'not', 'cost', '1500', '50', 'percent']
    """
    tokens: list[Token] = []
    clause, begins = 0, True
    for piece in split_words(text):
        if plainly := _plainly(piece):
            capital = piece[0].isupper() and not begins
            tokens.append(Token(*plainly, capital, clause))
            begins = False
        elif piece in STOPS or piece in PAUSES:
            clause, begins = clause + 1, piece in STOPS
        elif piece in _SIGNS:
            tokens.append(Token(_SIGNS[piece], piece, "word", clause=clause))
        elif _PAIRED.match(piece):
            tokens += _unspaced(piece, clause)
        else:
            _read(tokens, piece, clause)
            begins = False
    return tokens


def _read(tokens: list[Token], piece: str, clause: int) -> None:
    """Add a word or number; one that continues a number changes the last token in place."""
    small = piece.casefold()
    last = tokens[-1] if tokens and tokens[-1].kind == "number" else None
    is_money = len(tokens) > 1 and tokens[-2].text in _SIGNS
    if piece[-1].isdecimal():
        key, other = (_clock(piece) if ":" in piece else None) or (number_key(piece), "")
        tokens.append(Token(key, piece, "number", clause=clause, other=other))
    elif last and small in _ORDINAL_ENDS:
        pass
    elif last and small in {"am", "pm"} and (clock := _clock(last.text)):
        tokens[-1] = last._replace(key=clock[0], other=clock[1])
    elif last and small in _SCALES and (small != _SHORT_SCALE or is_money) and not last.other:
        key = last.key if ":" in last.key else format(float(last.key) * _SCALES[small], ".15g")
        tokens[-1] = last._replace(key=key, text=f"{last.text} {piece}")
    elif small in _NUMBERS:
        _read_number_word(tokens, int(_NUMBERS[small]), piece, clause)
    elif small in _VAGUE:
        tokens.append(Token(_VAGUE[small], piece, "vague", clause=clause))
    else:
        tokens.append(Token(*_word(piece), clause=clause))


def _read_number_word(tokens: list[Token], value: int, piece: str, clause: int) -> None:
    """Join *twenty* and *two*, and *two hundred and* and *fifty*."""
    at = len(tokens) - 1
    joined = at > 0 and tokens[at].text == "and"
    last = tokens[at - joined] if at >= joined else None
    if last and last.kind == "number" and last.key.isdigit() and not last.text[-1].isdigit():
        before = int(last.key)
        tens = not joined and 20 <= before < 100 and before % 10 == 0 and 0 < value < 10
        if tens or (before >= 100 and before % 100 == 0 and 0 < value < 100):
            del tokens[at - joined :]
            value, piece = before + value, f"{last.text} {piece}"
    tokens.append(Token(str(value), piece, "number", clause=clause))


def _unspaced(run: str, clause: int) -> Iterator[Token]:
    """Numbers, negators and pairs of characters of a run without spaces."""
    begin = 0
    for match in re.finditer(f"{_NUMERALS.pattern}|[不没沒無无未]", run):
        yield from _pairs(run[begin : match.start()], clause)
        begin = match.end()
        if not _NUMERALS.match(match[0]):
            yield Token("not", match[0], "negator", clause=clause)
        else:  # 一 is also the article, like "one"
            kind = "vague" if match[0] == "一" else "number"
            yield Token(_numeral(match[0]), match[0], kind, clause=clause)
    yield from _pairs(run[begin:], clause)


def _pairs(run: str, clause: int) -> Iterator[Token]:
    for pair in map("".join, pairwise(run)) if len(run) > 1 else run:
        yield Token(pair, pair, "pair", clause=clause)


def _numeral(run: str) -> str:
    """The value of Chinese numerals: 三十八 is 38, 二〇二四 is 2024."""
    if not any(char in _PLACES for char in run):
        return str(int("".join(str(_DIGITS[char]) for char in run[:_LONGEST_EXACT])))
    total = section = digit = 0
    for char in run[:_LONGEST_EXACT]:
        place = _PLACES.get(char, 0)
        if not place:
            digit = _DIGITS[char]
        elif place < _MYRIAD:
            section, digit = section + (digit or 1) * place, 0
        else:
            total, section, digit = total + (section + digit or 1) * place, 0, 0
    return str(total + section + digit)
