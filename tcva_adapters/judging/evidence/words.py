"""A text as the words by which quotes and passages are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, compress, repeat
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.lexical.text_features import tamed

Indexes = npt.NDArray[np.int64]

NEGATIONS: Final = frozenset(
    # English, with the contractions as they stand without their apostrophe
    "no not never none nothing nobody neither nor without cannot nt cant dont doesnt didnt isnt "  # noqa: SIM905  # a word list reads better as text
    "arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt neednt aint "
    # German, French, Spanish, Portuguese, Italian, Dutch
    "nicht nichts nie niemals kein keine keinen keinem keiner keines ohne "
    "pas jamais rien aucun aucune sans sin nunca nada ningún ninguna não nem sem "
    "non nessun nessuno nessuna senza niet geen nooit zonder "
    # Swedish, Danish and Norwegian, Czech, Turkish, Indonesian, Vietnamese, Greek, Hebrew, Persian
    "inte ikke ikkje aldrig aldri ingen ingenting není nejsou nikdy değil değildir tidak bukan tanpa "
    "không chưa δεν μην χωρίς לא אין בלי نیست نیستند "
    # Russian, Arabic, Hindi, Chinese and Japanese
    "не нет никогда ни без لا ليس ليست لم لن غير بدون بلا नहीं मत ना बिना "
    "不 没 沒 無 无 非 未".split()
)
NUMBER_WORDS: Final = frozenset(
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "  # noqa: SIM905  # a word list reads better as text
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion trillion dozen half twice double triple percent".split()
)
UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
"""Scripts without spaces between words, in which every character stands for a word."""

END: Final = "\n"
"""Stands behind each text where several are joined; no word is like it."""

_STOP, _PAUSE, _END = 1, 2, 3
_MARKS: Final = {**dict.fromkeys(".!?。！？", _STOP), ",": _PAUSE, END: _END}
_PAUSING: Final = frozenset(";:()[]{}|،؛、")
_STOPPING: Final = frozenset("।॥؟۔")
_BRACKET_CODES: Final = re.compile(r"-[lr][rsc]b-")
_TOKEN: Final = re.compile(
    r"[^\s\d.,;!?%$€£¥|。！？-]+|\d+(?:[.,]\d+)*|(?<!\S)-\d+(?:[.,]\d+)*|[$€£¥,]|[.!?。！？](?!\d)"
)
_THOUSANDS: Final = re.compile(r" -?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?= )")
_DIGITS_MEET: Final = re.compile(r"(?<=\d) (?=-?\d)")
# A line that goes on with a small letter is the same sentence, wrapped.
_NEW_LINE: Final = re.compile(r"\n{2,}|\n(?![ \t]{0,8}[a-zß-ÿ])")


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
        elif char == "%":
            folded = " percent "
        elif UNSPACED.match(char):
            folded = f" {char} " if category[0] == "L" else char
        elif category[0] in "LMN" or char in ".,!?。！？$€£¥":
            folded = char
        else:
            folded = " "
        self[code] = folded
        return folded


_FOLDING: Final = _Folding()


def fold(text: str) -> str:
    """A text without what does not matter: case, quotation marks, kinds of dashes, accents' code."""
    if not text.isascii():
        text = tamed(text)
    if "\n" in text:
        text = _NEW_LINE.sub("\n;", text)
    text = unicodedata.normalize("NFKC", text).casefold()
    if "b-" in text:
        text = _BRACKET_CODES.sub(" ", text)
    return text.translate(_FOLDING)


def listed(text: str) -> list[str]:
    """The words of a text, without the marks between them.

    >>> listed("It costs 1,500 dollars; it's NEW.")
    ['it', 'costs', '1500', 'dollars', 'its', 'new']
    """
    return split(spaced(text))


@lru_cache(maxsize=64)  # a quote is looked up, and then compared with its claim
def spaced(text: str) -> str:
    """The same in one text: a space before each word, and one at the end."""
    return _spaced([token for token in _TOKEN.findall(fold(text)) if token not in _MARKS])


def split(spaced: str) -> list[str]:
    """The words of what `spaced` returns."""
    return spaced[1:-1].split(" ") if len(spaced) > 1 else []


def joined(spaced: str) -> str:
    """The words of what `spaced` returns without spaces, but with a bar between figures.

    So "do n't" is "don't", and "1 5" is not "15".
    """
    return _DIGITS_MEET.sub("|", spaced).replace(" ", "")


def _spaced(words: Iterable[str]) -> str:
    text = " ".join(chain(("",), words, ("",)))
    return _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text) if "," in text else text


@dataclass(frozen=True, slots=True)
class Words:
    """Several texts as words.

    Attributes:
        spaced: The words, each with a space before it, and one at the end.
        begins: Where each word begins in ``spaced``, and the length of that.
        stops: Indexes of words before which a sentence ends, rising.
        pauses: Those before which there is a comma, a bracket, a new line and the like.
        ends: Indexes of the `END` of each text.
    """

    spaced: str
    begins: Indexes
    stops: Indexes
    pauses: Indexes
    ends: Indexes

    @classmethod
    def of(cls, texts: Iterable[str]) -> Words:
        """The words of several texts, one behind the other."""
        each = (chain(_TOKEN.findall(fold(text)), (END,)) for text in texts)
        tokens = list(chain.from_iterable(each))
        kinds = np.fromiter(map(_MARKS.get, tokens, repeat(0)), np.int8, len(tokens))
        is_word = (kinds == 0) | (kinds == _END)
        index = np.cumsum(is_word)  # of the next word, at each mark
        spaced = _spaced(compress(tokens, is_word))
        return cls(
            spaced=spaced,
            begins=np.flatnonzero(_codes(spaced) == ord(" ")) + 1,
            stops=np.unique(index[kinds == _STOP]),
            pauses=np.unique(index[kinds == _PAUSE]),
            ends=index[kinds == _END] - 1,
        )

    def __len__(self) -> int:
        return len(self.begins) - 1

    def between(self, begin: int, end: int) -> list[str]:
        """The words from one index up to another."""
        if begin >= end:
            return []
        return split(self.spaced[self.begins[begin] - 1 : self.begins[end]])

    def listed(self) -> list[str]:
        """All of them."""
        return self.between(0, len(self))

    def joined(self) -> tuple[str, Indexes, Indexes]:
        """The words without spaces, see `joined`; where each begins and ends."""
        barred = _DIGITS_MEET.sub("|", self.spaced)
        spaces = np.cumsum(_codes(barred) == ord(" "), dtype=np.int64)
        begins = self.begins[:-1] - spaces[self.begins[:-1] - 1]
        return barred.replace(" ", ""), begins, begins + np.diff(self.begins) - 1


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
