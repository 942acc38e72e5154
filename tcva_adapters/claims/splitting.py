"""Deterministic splitting of an answer into claims, the units that receive a verdict.

A claim is a sentence, a list item, a table row or a fenced code block. Everything is
expressed as cut positions in the original text, so that no character can be lost on the way:
the pieces between the cuts always add up to the text again.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

_CLOSERS = r"\"'”’»›)\]}）】」』〉》*_"
_OPENERS = r"\"'“‘«‹(\[{（【「『〈《*_~`¿¡>\-–—"
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
_BLOCK_START = rf"{_GAP}*(?:\n|`{{3}}|~{{3}}|#{{1,6}}{_GAP}|\||{_ITEM}|\Z)"
_BLOCK = re.compile(
    r"(?=\S)(?:"
    rf"(?P<code>(?P<fence>`{{3,}}|~{{3,}})[^`\n]*"
    rf"(?:\n(?s:.*?)(?:^{_GAP}*(?P=fence)[`~]*{_GAP}*$|\Z)|\Z))"
    rf"|(?P<heading>#{{1,6}}{_GAP}.+|\*\*[^*\n]*[^*\n{_STOPS}]\*\*:?{_GAP}*$)"
    r"|(?P<table>[^|\n]*\|.*\n(?=.*-)(?=.*\|)[ \t|:+-]+$(?:\n.*\|.*)*)"
    r"|(?P<row>\|.*)"
    rf"|(?P<item>{_ITEM}.*(?:\n(?!{_BLOCK_START})(?:{_GAP}|[{_LOWER}]).*)*)"
    rf"|(?P<prose>.+(?:\n(?!{_BLOCK_START}).+)*))",
    re.MULTILINE,
)
_CITATION = r"\[\d{1,3}(?:[,–-] ?\d{1,3})*\]"
_CLOSING = rf"(?:{_CITATION}|[{_CLOSERS}{_STOPS}])*"
# A short quotation, bracket or code span is swallowed whole: the stops inside are not seen.
# A plain set in front lets the search skip from one candidate to the next.
_MARK = re.compile(
    rf"[{_STOPS}\"“«「『(（\[`\n](?:(?:(?<=[{_STOPS}])[{_STOPS}]*"
    r"|(?<=\")(?<![^\s(\[—–*_]\")(?=\S)[^\"\n]{1,240}(?<=\S)\"(?!\w)"
    r"|(?<=“)[^“”\n]{1,240}”|(?<=«)[^«»\n]{1,240}»|(?<=「)[^「」\n]{1,240}」"
    r"|(?<=『)[^『』\n]{1,240}』|(?<=\()[^()\n]{1,240}\)|(?<=（)[^（）\n]{1,240}）"
    r"|(?<=\[)[^\[\]\n]{1,240}\]|(?<=`)(?!\s)[^`\n]{1,240}(?<=\S)`"
    rf"){_CLOSING}|(?<=\n))"
)
_ENDING = re.compile(rf"[{_STOPS}]+{_CLOSING}\Z")
_SPACED_CITATIONS = re.compile(rf"(?:{_GAP}{_CITATION})+(?=\s|\Z)")
_SPACED_CLOSER = re.compile(r"\s(?:''|”|’|\"|-rrb-|\))(?=\s|\Z)", re.IGNORECASE)
_NEXT_WORD = re.compile(rf"(\s*)[{_OPENERS}]*\s?([^\W_]+)(\.?)")
_SPEECH_TAG = re.compile(r"と|って|라고|하고|[^\s，。！？、「『]{0,4}[说說道问問答喊]")
_CJK_TURN = re.compile(rf"(?<=[{_CJK}][.!?])[{_CJK}]")
_ENUMERATOR = re.compile(rf"\s*{_ITEM}")
_BULLETS = re.compile(rf"\A(?:{_BULLET}\s+)+(?=\S)")
_LETTER = re.compile(r"[^\W_]")
_HARD = frozenset(_HARD_STOPS)
_OPEN_ENDS = frozenset(_STOPS + ",;:，；：、")

# Capitalised here are those whose lower-case form is a word of its own ("sat", "sun", "mar").
_MONTHS = "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
_NEVER_FINAL = frozenset(
    "mr mrs Ms mx dr prof gen sen rep gov pres lt col capt cmdr sgt maj adm rev hon fr st ste mt "  # noqa: SIM905  # a word list reads better as text
    "messrs mme mlle sra srta dra e.g i.e eg ie vs cf viz approx ca incl excl z.b d.h ee د".split()
)
_BEFORE_NUMBER = frozenset(
    "no nos nr núm fig figs eq eqs sec secs ch chap vol vols pt p pp par para art tab ver v ex "
    f"ref refs n s § c b d r op {_MONTHS}".split()
)
_SELDOM_FINAL = frozenset(
    "inc ltd co corp llc plc bros jr sr esq ave blvd rd dept univ assn govt intl est ed eds al "
    "hrs min oz lb lbs ft sq tel ext usw uvm ud uds uu Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun "
    f"{_MONTHS}".split()
)
_STARTERS = frozenset(
    "The This That These Those It He She They We You I A An In On At By For From With As But And "  # noqa: SIM905  # a word list reads better as text
    "Or So If When While After Before Since Because However Although Though Then There Here His "
    "Her Their Its Our My Your What Who Why How Where Which Both Each Some Many Most All No Not "
    "Yes Also Moreover Meanwhile Finally Another During Despite Today Until Other Only Now".split()
)
_GERMAN_MONTHS = (
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
)
_INITIALS = re.compile(r"[^\W\d_](?:[^\W\d_]?\.[^\W\d_]{1,2})*")  # "J", "U.S", "Ph.D"
_LONG_WORD = 5  # a longer word before a full stop is hardly ever an unlisted abbreviation
_WINDOW = 32  # characters looked at in front of a stop
_REMEMBERED = 4096  # ends of sentences: rows of a table, or of a log, repeat them
_MANY = 4096  # merges to do above which the equally short ones are done together,
_PASSES = 8  # in at most so many passes


def split_claims(text: str, *, max_claims: int = 8) -> list[str]:
    """Split a text into claims: sentences, list items, table rows and code blocks.

    The split depends on nothing but the text and drops nothing: the claims in order are the
    text again, apart from white space and the bullet mark in front of a list item. White
    space inside a claim becomes a single space, except in a claim that holds fenced code.
    Headings, lead-in lines that end in a colon and table headers stay with what follows.

    Args:
        text: The text, plain or Markdown, in any language.
        max_claims: The largest number of claims to return. A longer list is shortened by
            merging the shortest pair of neighbours, the left one of equals, until it fits.

    Returns:
        The claims in the order of the text, none empty; an empty list for a blank text.

    Raises:
        ValueError: If ``max_claims`` is below 1.

    Example:
        >>> split_claims("Dr. Smith paid $3.50. He left at 5 p.m. on Monday.")
        ['Dr. Smith paid $3.50.', 'He left at 5 p.m. on Monday.']
        >>> split_claims("One. Two. Three is a longer one.", max_claims=2)
        ['One. Two.', 'Three is a longer one.']
    """
    if max_claims < 1:
        msg = f"max_claims must be at least 1, not {max_claims}"
        raise ValueError(msg)
    if not text or text.isspace():
        return []
    starts = _merge(_attach_bare(text, _claim_starts(text)), len(text), max_claims)
    ends = [*starts[1:], len(text)]
    return [_tidy(text[start:end]) for start, end in zip(starts, ends, strict=True)]


def _tidy(piece: str) -> str:
    # A piece that opens with white space begins inside a line: its dash is no bullet.
    piece = (piece if piece[0].isspace() else _BULLETS.sub("", piece)).strip()
    return piece if "```" in piece or "~~~" in piece else " ".join(piece.split())


def _claim_starts(text: str) -> list[int]:
    # Replacing one character by one keeps every position valid for the original text.
    text = text.replace("\r\n", " \n").replace("\r", "\n").replace("\u2028", "\n")
    lower_only = text.islower()
    starts: list[int] = []
    glued = False
    for block in _BLOCK.finditer(text):
        start, end = block.span()
        if not glued:
            starts.append(start)
        kind = block.lastgroup
        if kind == "prose":
            starts.extend(_sentence_cuts(text, start, end, lower_only=lower_only))
        elif kind == "item":  # "1. Do this. 2. Do that." on one line is a list of its own
            cuts = _sentence_cuts(text, start, end, lower_only=lower_only)
            starts.extend(cut for cut in cuts if _ENUMERATOR.match(text, cut))
        elif kind == "table":  # the header and the rule below it stay with the first row
            starts.extend([start + row.end() for row in re.finditer("\n", block[0])][2:])
        glued = kind == "heading" or block[0].rstrip()[-1] in ":："
    return starts


def _sentence_cuts(text: str, start: int, end: int, *, lower_only: bool) -> Iterator[int]:
    """Yield the positions inside text[start:end] at which a new sentence begins."""
    position = start
    while mark := _MARK.search(text, position, end):
        position = cut = mark.end()
        window = max(start, cut - _WINDOW)
        if mark[0][-1] == "\n":
            word = _NEXT_WORD.match(text, position, end)
            wrapped = word is not None and word[2].islower() and not lower_only
            if wrapped or text[window:cut].rstrip()[-1:] in _OPEN_ENDS:
                continue
        else:
            stops = mark if mark[0][0] in _STOPS else _ENDING.search(text, window, cut)
            if not stops or not _ends(text, start, stops, end, lower_only=lower_only):
                continue
            cut = _behind_closers(text, start, stops, end)
        if cut < end:
            yield cut
            start = position = cut


def _behind_closers(text: str, start: int, ending: re.Match[str], end: int) -> int:
    """Return the end of the sentence with its free-standing citations and closing quotes."""
    cut = ending.end()
    citations = _SPACED_CITATIONS.match(text, cut, end)
    if citations and text[start : start + 2].lstrip()[:1] != "[":
        cut = citations.end()
    if text[start : ending.start()][-1:].isspace():
        while closer := _SPACED_CLOSER.match(text, cut, end):
            # A straight quote closes only what the sentence has opened.
            if closer[0][-1] == '"' and text.count('"', start, cut) % 2 == 0:
                break
            cut = closer.end()
    return cut


def _ends(text: str, start: int, ending: re.Match[str], end: int, *, lower_only: bool) -> bool:
    """Tell whether a run of stops, with its closing marks, ends the sentence."""
    first, last = ending.span()
    closed = ending[0][-1] not in _STOPS
    if last == end or not _HARD.isdisjoint(ending[0]):
        return last < end and not (closed and _SPEECH_TAG.match(text, last, end))
    if not text[last].isspace():
        return _CJK_TURN.match(text, last, end) is not None
    before = text[max(start, first - _WINDOW) : first]
    following = _NEXT_WORD.match(text, last, end)
    gap, after, next_stop = following.groups() if following else ("", "", "")
    # After a doubtful abbreviation only a new line or a plain opening word shows a new sentence.
    opens = ("\n" in gap and not after.islower()) or (after in _STARTERS and not next_stop)
    trailing_off = ending[0][0] == "…" or ending[0][:2] == ".."
    if ending[0][0] == "." and not trailing_off:
        words = _last_words(before)
        if _is_abbreviation(words, after, opens=opens):
            return False
        if before[-1:].isspace():
            return True  # tokenised text, whose full stops stand alone
        if after.islower() and not closed:
            known = len(words[-1]) >= _LONG_WORD and words[-1].isalpha()
            return known or (lower_only and words[-1] != "etc")
    return not (after.islower() and (closed or trailing_off))


@lru_cache(maxsize=_REMEMBERED)
def _last_words(before: str) -> tuple[str, ...]:
    """The last two words without their marks, or one empty word."""
    return tuple(word.strip("()[]{}\"'“”‘’«»*_`¿¡") for word in before.split()[-2:]) or ("",)


@lru_cache(maxsize=_REMEMBERED)
def _is_abbreviation(words: tuple[str, ...], after: str, *, opens: bool) -> bool:
    """Tell whether the last word before a full stop is short for something that goes on."""
    word = words[-1]
    forms = (word, word.lower())
    if word.isdigit() and len(word) <= len("31"):
        # It numbers what follows: "1. Stir it; 2. Heat it." or "Steps: 1. Stir it."
        numbers = len(words) == 1 or words[0][-1:] == ";" or (words[0][-1:], word) == (":", "1")
        return numbers or after in _GERMAN_MONTHS.split()
    if not _NEVER_FINAL.isdisjoint(forms):
        return True
    roman = len(word) > 1 and after not in {"", "I"} and not after.strip("IVXLC")
    if (roman or after[:1].isdigit()) and not _BEFORE_NUMBER.isdisjoint(forms):
        return True
    return not opens and bool(_INITIALS.fullmatch(word) or not _SELDOM_FINAL.isdisjoint(forms))


def _attach_bare(text: str, starts: list[int]) -> list[int]:
    """Join each piece without a letter or digit to the piece before it, the first to the next."""
    ends = [*starts[1:], len(text)]
    worded = [a for a, b in zip(starts, ends, strict=True) if _LETTER.search(text, a, b)]
    return [starts[0], *worded[1:]]


def _merge(starts: list[int], length: int, max_claims: int) -> list[int]:
    """Merge the shortest pair of neighbours until at most ``max_claims`` pieces are left."""
    for _ in range(_PASSES):
        if len(starts) - max_claims > _MANY:
            starts = _join_shortest(starts, length, len(starts) - max_claims)
    bounds = [*starts, length]
    after = list(range(1, len(bounds)))  # the piece that follows, 0 for one that has been merged
    # One entry per left piece. Pairs only ever grow, so an entry that has become too small is
    # put right when it surfaces, which keeps the order exact without deleting entries.
    heap = [(bounds[left + 2] - bounds[left], left) for left in range(len(starts) - 1)]
    heapq.heapify(heap)
    spare = len(starts) - max_claims
    while spare > 0:
        size, left = heap[0]
        right = after[left]
        if right in {0, len(starts)}:
            heapq.heappop(heap)
        elif bounds[after[right]] - bounds[left] > size:
            heapq.heapreplace(heap, (bounds[after[right]] - bounds[left], left))
        else:
            after[left], after[right] = after[right], 0
            spare -= 1
    return [start for start, following in zip(starts, after, strict=True) if following]


def _join_shortest(starts: list[int], length: int, spare: int) -> list[int]:
    """Merge every pair as short as the shortest, from the left: many merges in one pass."""
    bounds = [*starts, length]
    shortest = min(end - start for start, end in zip(bounds, bounds[2:], strict=False))
    kept = starts[:1]
    for start, end in pairwise(bounds[1:]):
        if spare and end - kept[-1] == shortest:
            spare -= 1
        else:
            kept.append(start)
    return kept
