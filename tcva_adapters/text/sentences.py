"""Deterministic splitting of a text into claims, the units that receive a verdict.

A claim is a sentence, a list item, a table row or a fenced code block. Everything is expressed as
cut positions in the original text, so that no character can be lost on the way: the pieces between
the cuts always add up to the text again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, zip_longest
from typing import NamedTuple

from tcva_adapters.text.lists import patterns, word_list
from tcva_adapters.text.non_claims import non_claim_kind

SPLIT_VERSION = 2
"""Changes with every change of the split that could change a claim."""

_CLOSERS = r"\"'”’»›)\]}）】」』〉》*_"
_OPENERS = r"\"'“‘«‹(\[{（【「『〈《*_~`¿¡>§\-–—"
_HARD_STOPS = "。！？｡।॥؟۔։።။"  # end a sentence even with no space behind them
_STOPS = ".!?…‼⁇⁈⁉" + _HARD_STOPS
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_LOWER = "a-zß-öø-ÿα-ωа-яё"
_GAP = r"[^\S\n]"

# Each pattern below reads a stretch of text at most once (bounded or disjoint repeats), which
# keeps the whole split linear whatever the text is made of.
_BULLET = r"[-*+•‣◦▪●○·–—]"
_ITEM = (
    rf"(?:{_BULLET}{_GAP}+\S|\(?(?:\d{{1,3}}|[a-z]|[ivx]{{2,4}})\){_GAP}+\S|\d{{1,3}}\.{_GAP}+\S"
    r"|（\d{1,2}）|[\d一二三四五六七八九十]{1,3}、|[①-⑳])"
)
_BLOCK_START = rf"{_GAP}*(?:\n|`{{3}}|~{{3}}|\#{{1,6}}{_GAP}|\||{_ITEM}|\Z)"
_HEADING = rf"\#{{1,6}}{_GAP}.+|\*\*[^*\n]*[^*\n{_STOPS}]\*\*:?{_GAP}*$"
_HEADER = r"[^|\n]*\|.*\n(?=.*-)(?=.*\|)[ \t|:+-]+$"
_BLOCK = re.compile(
    rf"""
    (?=\S)
    (?:
        (?P<code>
            (?P<ticks>`{{3,}}|~{{3,}})[^`\n]*
            (?:\n(?s:.*?)(?:^{_GAP}*(?P=ticks)[`~]*{_GAP}*$|\Z)|\Z)
        )
        |(?P<heading>{_HEADING})
        |(?P<table>{_HEADER}(?:\n.*\|.*)*)
        |(?P<row>\|.*)
        |(?P<item>
            {_ITEM}.*
            (?:\n(?!{_BLOCK_START})(?:{_GAP}|[{_LOWER}]).*)*
        )
        |(?P<prose>
            .+
            (?:\n(?!{_BLOCK_START}).+)*
        )
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
FRONT = re.compile(
    rf"""
    \s*+(?!`{{3}}|~{{3}})
    (?>
        (?P<heading>{_HEADING}|(?:-{{3,}}|\*{{3,}}|_{{3,}}){_GAP}*$)
        |(?P<header>{_HEADER})
        |(?P<lead_in>(?:.+\n(?!{_BLOCK_START}))*?.*[:：]{_GAP}*$(?=\n{_BLOCK_START}))
    )
    (?=[\W_]{{0,240}}[^\W_])
    """,
    re.MULTILINE | re.VERBOSE,
)
"""A line in front of a claim: a heading or rule, the header of a table, or a line that ends in a colon."""
_CLOSING = rf"(?:{patterns('closing_marks')}|[{_CLOSERS}{_STOPS}])*"
# A short quotation, bracket or code span is swallowed whole: the stops inside are not seen.
# A plain set in front lets the search skip from one candidate to the next.
_MARK = re.compile(
    rf"""
    [{_STOPS}\"“«「『【(（\[`\n]
    (?:
        (?:
            (?<=[{_STOPS}])[{_STOPS}]*
            |(?<=\")(?<![^\s(\[—–*_]\")(?=\S)[^\"\n]{{1,240}}(?<=\S)\"(?!\w)
            |(?<=“)[^“”\n]{{1,240}}”
            |(?<=«)[^«»\n]{{1,240}}»
            |(?<=「)[^「」\n]{{1,240}}」
            |(?<=『)[^『』\n]{{1,240}}』
            |(?<=\()[^()\n]{{1,240}}\)
            |(?<=（)[^（）\n]{{1,240}}）
            |(?<=\[)[^\[\]\n]{{1,240}}\]
            |(?<=【)[^【】\n]{{1,240}}】
            |(?<=`)(?!\s)[^`\n]{{1,240}}(?<=\S)`
        ){_CLOSING}
        |(?<=\n)
    )
    """,
    re.VERBOSE,
)
_LONGEST_QUOTED = 242
_OPENED = re.compile(
    r"""(?:(?<![^\s(\[—–*_])"(?=\S)[^"\n]*|“[^“”\n]*|«[^«»\n]*|「[^「」\n]*|『[^『』\n]*"""
    r"""|【[^【】\n]*|\([^()\n]*|（[^（）\n]*|\[[^\[\]\n]*|`(?!\s)[^`\n]*)\Z"""
)
_ENDING = re.compile(rf"[{_STOPS}]+{_CLOSING}\Z")
_SPACED_CITATIONS = re.compile(
    rf"(?:{_GAP}(?:{patterns('spaced_marks')})++)++(?=\s|\Z)", re.IGNORECASE
)
_MARKS_ALONE = re.compile(
    rf"(?:\s|{patterns('spaced_marks')}|[(（]\d{{1,3}}[)）])++", re.IGNORECASE
)
_NEXT_WORD = re.compile(rf"(\s*)[{_OPENERS}]*\s?([^\W_]+)(\.?)")
_SPEECH_TAG = re.compile(r"と|って|라고|하고|[^\s，。！？、「『]{0,4}[说說道问問答喊]")
_CJK_TURN = re.compile(rf"(?<=[{_CJK}][.!?])[{_CJK}]")
_ENUMERATOR = re.compile(rf"\s*{_ITEM}")
LINE = re.compile(
    rf"""
    (?P<gap>\s*\n|(?!\A)\s*|)
    (?=(?P<indent>{_GAP}*)(?P<level>\#*))
    (?:
        \s*(?P<quote>>{_GAP}*)
        |\s*(?P<number>\d{{1,3}}[.)]{_GAP}+)
        |\s*(?P<item>{_BULLET}{_GAP}+)
        |(?=\s*{_ITEM})(?P<other_item>)
        |(?=\s*(?:`{{3}}|~{{3}}))(?P<code>)
        |(?=\s*\#{{1,6}}{_GAP})(?P<heading>)
        |(?P<prose>)
    )
    """,
    re.VERBOSE,
)
"""White space and the beginning of a line or sentence, with the mark of a quotation or an item."""
_BULLETS = re.compile(rf"\A(?:{_BULLET}\s+)+(?=\S)")
_LETTER = re.compile(r"[^\W_]")
_CELL_END = re.compile(r"(?<!\\)\|")
_HARD = frozenset(_HARD_STOPS)
_OPEN_ENDS = frozenset(_STOPS + ",;:，；：、")
_NEVER_FINAL = word_list("never_final")
_BEFORE_NUMBER = word_list("before_number")
_SELDOM_FINAL = word_list("seldom_final")
_STARTERS = word_list("starters")
_AFTER_ORDINAL = word_list("after_ordinal")
_INITIALS = re.compile(  # "J", "U.S", "Ph.D"; "Hauptstr"
    r"[^\W\d_](?:[^\W\d_]?\.[^\W\d_]{1,2})*|\w+str"
)
_LONG_WORD = 5
"""A longer word before a full stop is hardly ever an abbreviation that is not listed."""

_WINDOW = 32  # characters looked at in front of a stop


class Piece(NamedTuple):
    """A claim, and the stretch of the text that it stands in.

    Attributes:
        text: The claim, on one line unless it holds code; a table row with the names of its columns.
        start: Where the stretch begins.
        end: Where it ends, which is where the next one begins.
    """

    text: str
    start: int
    end: int


def split_claims(text: str) -> list[str]:
    r"""Split a text into claims: sentences, list items, table rows and code blocks.

    The split depends on nothing but the text and drops nothing: the claims in order are the text
    again, apart from white space, the bullet mark in front of a list item, and tables. White space
    inside a claim becomes a single space, except in a claim that holds fenced code. Headings and
    introductory lines that end in a colon stay with what follows, unless they only announce it
    ("Here are the fees at a glance:"). The claim of a Markdown table row has its columns' names.

    Args:
        text: The text, plain or Markdown, in any language.

    Returns:
        The claims in the order of the text, none empty; an empty list for a blank text.

    Example:
        >>> split_claims("Dr. Smith paid $3.50. He left at 5 p.m. on Monday.")
        ['Dr. Smith paid $3.50.', 'He left at 5 p.m. on Monday.']
        >>> split_claims("| Plan | Price |\n|---|---|\n| Basic | 5 |\n| Plus | 9 |")
        ['Plan: Basic; Price: 5', 'Plan: Plus; Price: 9']
    """
    return [piece.text for piece in pieces(text)]


def open_end(text: str) -> int:
    """Find where a quotation, bracket or code span begins that may be closed by what is still to come.

    Without one, it is the length of the text.

    >>> open_end("It is red. (It is old. It"), open_end("It is (red).")
    (11, 12)
    """
    opened = _OPENED.search(text, max(0, len(text) - _LONGEST_QUOTED))
    return opened.start() if opened else len(text)


def with_plain_breaks(text: str) -> str:
    """Write all line breaks as line feeds; every position stays valid for the text."""
    return text.replace("\r\n", " \n").replace("\r", "\n").replace("\u2028", "\n")


def pieces(text: str) -> list[Piece]:
    """Split a text into claims with the stretches that they stand in; see `split_claims`."""
    lines = with_plain_breaks(text)
    lower_only = lines.islower()
    starts: list[int] = []
    # For each claim that holds a row, by its start: the start and the text of the row.
    rows: dict[int, tuple[int, str]] = {}
    glued = False
    for block in _BLOCK.finditer(lines):
        start, end = block.span()
        kind = block.lastgroup
        if not glued:
            starts.append(start)
        if kind in {"prose", "item"}:
            cuts = _sentence_cuts(
                lines,
                start,
                end,
                lower_only=lower_only,
            )
            if kind == "item":
                # "1. Do this. 2. Do that." on one line is a list of its own.
                cuts = (cut for cut in cuts if _ENUMERATOR.match(lines, cut))
            starts += cuts
        elif kind == "table":
            for at, row in _rows(block):
                if at != start:
                    starts.append(at)
                rows[starts[-1]] = at, row
        # "Here are the fees at a glance:" claims nothing: what follows is judged without it.
        glued = kind == "heading" or (
            block[0].rstrip()[-1] in ":："
            and (glued or not non_claim_kind(lines[starts[-1] : end]))
        )
    # A piece of marks, or without a letter or digit, joins the piece before it, the first one the next.
    worded = [
        start
        for start, end in pairwise([*starts, len(text)])
        if _LETTER.search(text, start, end)
        and not _MARKS_ALONE.fullmatch(text, start, end)
    ]
    starts = [*starts[:1], *worded[1:]]
    claims = []
    for (start, end), at in zip(
        pairwise([*starts, len(text)]), worded or starts, strict=True
    ):
        begin, row = rows.get(at, (end, ""))
        claim = _claim(text[start:begin], row)
        claims.append(Piece(claim, start, end))
    return claims


def _claim(stretch: str, row: str) -> str:
    """The claim in a stretch of text, without its bullet, and in a table row behind it."""
    # A stretch that opens with white space begins inside a line: its dash is no bullet.
    if not stretch[:1].isspace():
        stretch = _BULLETS.sub("", stretch)
    stretch = stretch.strip()
    if "```" not in stretch and "~~~" not in stretch:
        stretch = " ".join(stretch.split())
    return f"{stretch} {row}".strip()


def _rows(table: re.Match[str]) -> Iterator[tuple[int, str]]:
    """Yield the rows with letters or digits, each with its start; the first starts at the header."""
    header, rule, *lines = table[0].split("\n")
    names = _cells(header)
    at = table.start()
    following = at + len(header) + len(rule) + 2
    for line in lines:
        cells = _cells(line)
        pairs = zip_longest(names, cells, fillvalue="")
        named = [f"{name}: {cell}" if name else cell for name, cell in pairs if cell]
        if _LETTER.search(line):
            yield at, "; ".join(named)
        at = following = following + len(line) + 1


def _cells(line: str) -> list[str]:
    inner = line.strip().strip("|")
    return [" ".join(cell.split()) for cell in _CELL_END.split(inner)]


def _sentence_cuts(
    text: str,
    start: int,
    end: int,
    *,
    lower_only: bool,
) -> Iterator[int]:
    """Yield the positions inside text[start:end] at which a new sentence begins."""
    position = start
    while mark := _MARK.search(text, position, end):
        position = cut = mark.end()
        window = max(start, cut - _WINDOW)
        if mark[0][-1] == "\n":
            word = _NEXT_WORD.match(text, position, end)
            wrapped = word is not None and word[2].islower() and not lower_only
            before = text[window:cut].rstrip()
            if wrapped or before[-1:] in _OPEN_ENDS:
                continue
        else:
            stops: re.Match[str] | None = mark
            if mark[0][0] not in _STOPS:
                stops = _ENDING.search(text, window, cut)
            if not stops or not _ends(
                text,
                start,
                stops,
                end,
                lower_only=lower_only,
            ):
                continue
            citations = _SPACED_CITATIONS.match(text, cut, end)
            if citations and text[start : start + 2].lstrip()[:1] not in {*"[【［"}:
                cut = citations.end()
        if cut < end:
            yield cut
            start = position = cut


def _ends(
    text: str,
    start: int,
    ending: re.Match[str],
    end: int,
    *,
    lower_only: bool,
) -> bool:
    """Whether a run of stops, with its closing marks, ends the sentence."""
    first, last = ending.span()
    stops = ending[0]
    closed = stops[-1] not in _STOPS
    if last == end or not _HARD.isdisjoint(stops):
        return last < end and not (closed and _SPEECH_TAG.match(text, last, end))
    if not text[last].isspace():
        return _CJK_TURN.match(text, last, end) is not None
    following = _NEXT_WORD.match(text, last, end)
    gap, after, next_stop = following.groups() if following else ("", "", "")
    if after.islower() and _SPACED_CITATIONS.match(text, last, end):
        after = ""  # the letters of a mark such as [doc-7]
    # After a doubtful abbreviation only a new line or a plain opening word shows a new sentence.
    is_plain_opening = after in _STARTERS and not next_stop
    opens = is_plain_opening or ("\n" in gap and not after.islower())
    trailing_off = stops.startswith(("…", ".."))
    if stops[0] == "." and not trailing_off:
        before = text[max(start, first - _WINDOW) : first]
        last_words = [
            word.strip("()[{}\"'“”‘’«»*_`¿¡") for word in before.split()[-2:]
        ] or [""]
        if _is_abbreviation(last_words, after, opens=opens):
            return False
        if before[-1:].isspace():
            return True  # tokenised text, whose full stops stand alone
        if after.islower() and not closed:
            word = last_words[-1]
            is_long = len(word) >= _LONG_WORD and word.isalpha()
            return is_long or (lower_only and word != "etc")
    return not (after.islower() and (closed or trailing_off))


def _is_abbreviation(
    last_words: list[str],
    after: str,
    *,
    opens: bool,
) -> bool:
    """Whether the last word before a full stop is an abbreviation or number within a sentence."""
    word = last_words[-1]
    forms = {word, word.lower(), "_".join(last_words).lower()}
    if word.isdigit() and len(word) <= 2:
        # It numbers what follows: "1. Stir it; 2. Heat it." or "Steps: 1. Stir it."
        first = last_words[0]
        numbers = (
            len(last_words) == 1
            or first.endswith(";")
            or (first.endswith(":") and word == "1")
        )
        return numbers or after in _AFTER_ORDINAL
    if forms & _NEVER_FINAL:
        return True
    if forms & _BEFORE_NUMBER:
        if after[:1].isdigit():
            return True
        is_roman = after not in {"", "I"} and not after.strip("IVXLC")
        if is_roman and len(word) > 1:
            return True
    if opens:
        return False
    return bool(_INITIALS.fullmatch(word) or forms & _SELDOM_FINAL)
