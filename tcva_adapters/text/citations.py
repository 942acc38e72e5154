r"""Marks of a text that cite passages: [1], [2, 3], [2-4], [^1], ¹, 【1†source】, [doc-7], (1), ids.

>>> marks, _ = read_marks("It is 5.[1][3-4] `x[2]` is [doc-7].¹")
>>> [mark.names for mark in marks]
[('1',), ('3', '4'), ('doc-7',), ('1',)]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from tcva_adapters.text.lists import patterns

_NO_MARKS = re.compile(patterns("no_marks"), re.IGNORECASE | re.MULTILINE)
_AT_THE_END = re.compile(patterns("id_at_the_end"), re.IGNORECASE)
_MAY_BEGIN_A_MARK = re.compile(r"[\[(（【［〔<⁰¹²³⁴-⁹]")
_STOP = re.compile(r"[*_]{0,3} ?(?:[.!?…,;:。！？，；]|\n|\Z)")
_LINK = 3  # the group of links among what has no marks
_PARENTHESES = re.compile(r"[(（]\d{1,3}[)）,，]")


class Mark(NamedTuple):
    """A mark as it stands in a text, and the numbers and ids in it; of a range, all of its numbers."""

    text: str
    start: int
    names: tuple[str, ...]


def read_marks(
    text: str, ids: Sequence[str] = (), pattern: str = ""
) -> tuple[list[Mark], str]:
    """Read the marks of a text.

    None is read out of code, maths, laws, years, definitions of footnotes, a list of sources, and links that no
    pattern asks for; (1) is one only where there is no other form, and all such numbers or several stand as
    marks do.

    Args:
        text: The text.
        ids: The ids of the passages, which count as marks in brackets. Where one has no figure, so does any
            other word that stands as marks do.
        pattern: A regular expression that replaces the forms; its first group, or else the whole
            match, has the numbers or ids.

    Returns:
        The marks in order, and the text with spaces where none can be.
    """
    # A link may be what a pattern reads.
    links = _LINK if pattern else 0
    plain = _NO_MARKS.sub(
        lambda hidden: hidden[0] if hidden.lastindex == links else " " * len(hidden[0]),
        text,
    )
    forms, names = _patterns(tuple(filter(None, ids)))
    matches = [match for match in re.finditer(pattern or forms, plain) if match[0]]
    others = [match for match in matches if pattern or match.lastindex != 1]
    if others:
        matches = others
    elif len(matches) < len(_PARENTHESES.findall(text)):
        matches = [match for match in matches if _STOP.match(plain, match.end())]
        matches = matches if len(matches) > 1 else []
    marks = []
    for match in matches:
        groups = match.groups() if pattern else ()
        inner = next(filter(None, groups), match[0].strip())
        cited = _cited(normalize("NFKC", inner).partition("†")[0], names)
        marks.append(
            Mark(match[0].strip(), match.start(), cited or (inner.strip("[]"),))
        )
    return marks, plain


def without_citations(claim: str) -> str:
    """Take the marks out of a claim: its text alone says what is one, not the ids of a sample.

    A number in round brackets is one only beside a stop or at the end, and an id only at the end, with a
    figure and a sign in it or the ending of a file. What denies or measures stays.

    >>> without_citations("It is 5 [Source 2]¹ (24) hours (1) [docs/opening.md].")
    'It is 5  (24) hours (1).'
    """
    if not _MAY_BEGIN_A_MARK.search(claim):
        return claim
    forms, _ = _patterns(())
    left = forms.sub(lambda mark: mark[0] if mark.lastindex else "", claim)
    return _AT_THE_END.sub(r"\1", left)


@lru_cache(maxsize=64)
def _patterns(ids: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The forms of marks, and of what stands in them: ids and others of their shape, doc-7, ranges, numbers."""
    spellings = (*ids, *(normalize("NFKC", name) for name in ids))
    shapes = {
        name if name.isdecimal() else re.sub(r"\d+", r"\\d{1,20}", re.escape(name))
        for name in spellings
    }
    known = "|".join([*sorted(shapes, reverse=True), patterns("numbered_word")])
    # An item is read in one way only, which ends where the item does: shapes of ids overlap.
    item = (
        rf"(?>\^?(?:{known}|\d{{1,3}}(?:\s?[–—-]\s?\d{{1,3}})?)"
        r"(?=\s?[],;、，；］〕】†<\\]))"
    )
    several = rf"{item}(?:\s?[,;、，；]\s?{item}){{0,20}}"
    forms = patterns("marks").replace("LIST", several)
    if any(not any(map(str.isdigit, name)) for name in ids):
        forms += "|" + patterns("word_as_id")
    return (
        re.compile(forms, re.IGNORECASE),
        re.compile(
            rf"{known}|(?<![\w-])(?:(\d{{1,9}})\s?[–—-]\s?(\d{{1,9}})|\d+)(?![\w-])",
            re.IGNORECASE,
        ),
    )


def _cited(inner: str, names: re.Pattern[str]) -> tuple[str, ...]:
    """The numbers and ids in a mark, each once."""
    cited: list[str] = []
    for match in names.finditer(inner):
        first, last = map(int, match.groups("0"))
        is_range = match[1] and first <= last < first + 100
        cited += map(str, range(first, last + 1)) if is_range else [match[0]]
    return tuple(dict.fromkeys(cited))
