"""Deterministic splitting of an answer into claims, the units that receive a verdict.

A claim is a sentence, a list item, a table row or a fenced code block. Everything is
expressed as cut positions in the original text, so no character can be lost on the way:
the pieces between two cuts always add up to the text again.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["split_claims"]

_CLOSERS = r"\"'”’»›)\]}）】」』〉》*_"
_OPENERS = r"\"'“‘«‹(\[{（【「『〈《*_~`¿¡>#\-–—"
_HARD_STOPS = "。！？｡।॥؟۔։።။។"
_STOPS = ".!?…‼⁇⁈⁉" + _HARD_STOPS
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"

# One alternation reads the whole text once: a short quotation, bracket or code span is
# swallowed whole (its inner full stops are then never seen), anything else is a run of
# stops. No branch can fail after a long scan that a later position would repeat.
_MARK = re.compile(
    r"(?P<span>\"(?<![^\s(\[—–*_]\")(?=\S)[^\"\n]{1,240}(?<=\S)\"(?!\w)"
    r"|“[^“”\n]{1,240}”|«[^«»\n]{1,240}»|「[^「」\n]{1,240}」|『[^『』\n]{1,240}』"
    r"|\([^()\n]{1,240}\)|（[^（）\n]{1,240}）|\[[^\[\]\n]{1,240}\]"
    r"|`(?=[^\s`])[^`\n]{1,240}(?<=\S)`)"
    rf"|[{_STOPS}]+"
)
_CLOSING = re.compile(rf"(?:[{_CLOSERS}]|[{_STOPS}]|\[\d{{1,3}}(?:[,–-] ?\d{{1,3}})*\])*")
_CITATIONS = re.compile(r"(?:[ \t]\[\d{1,3}(?:[,–-] ?\d{1,3})*\])+(?=\s|\Z)")
_NEXT_WORD = re.compile(rf"\s*[{_OPENERS}]*\s*([^\W_]+)(\.?)")
_SPEECH_TAG = re.compile(r"と|って|라고|하고|[^\s，。！？、「『]{0,4}[说說道问問答喊]")
_SPACED_CLOSER = re.compile(r"\s+(?:''|”|’|\"|-rrb-|\))(?=\s|\Z)", re.IGNORECASE)
_LETTER = re.compile(r"[^\W_]")
_CJK_CHAR = re.compile(rf"[{_CJK}]")

_BULLET = r"[-*+•‣◦▪●○·–—]"
_BLOCK = re.compile(
    r"\s*(?:(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})"
    r"|(?P<heading>#{1,6}\s+\S|(?P<bold>\*\*|__)(?:(?!(?P=bold)).)+(?P=bold):?\s*\Z)"
    rf"|(?P<item>{_BULLET}\s+\S|\(?(?:\d{{1,3}}|[a-z]|[ivx]{{1,4}})\)\s+\S"
    r"|\d{1,3}\.\s+\S|（\d{1,2}）|[\d一二三四五六七八九十]{1,3}、|[①-⑳])"
    r")"
)
_ENUMERATOR = re.compile(r"\s*\(?\d{1,3}[.)]\s+\S")
_LEADING_BULLETS = re.compile(rf"(?:{_BULLET}\s+)+(?=\S)")
_SENTENCE_END = re.compile(rf"[{_STOPS},;，；、][{_CLOSERS}]*\Z")

_NEVER_FINAL = frozenset(
    "mr mrs ms mx dr prof gen sen rep gov pres lt col capt cmdr sgt maj adm rev hon fr st ste mt "
    "messrs mme mlle sra srta dra hr fra e.g i.e eg ie vs cf viz approx ca incl excl resp namely "
    "z.b d.h bzw p.ex ee د".split()
)
_BEFORE_NUMBER = frozenset(
    "no nos nr núm fig figs eq eqs sec secs ch chap vol vols pt p pp par para art tab ver v ex "
    "ref refs n s § jan feb mar apr jun jul aug sep sept oct nov dec c b d r op".split()
)
_MAY_BE_FINAL = frozenset(
    "inc ltd co corp llc plc bros jr sr esq etc ave blvd rd dept univ assn govt intl est ed eds al "
    "hrs min sec oz lb lbs ft sq tel ext jan feb mar apr jun jul aug sep sept oct nov dec "
    "mon tue tues wed thu thur thurs fri sat sun usw uvm ud uds uu".split()
)
_STARTERS = frozenset(
    "The This That These Those It He She They We You I A An In On At By For From With As But And "
    "Or So If When While After Before Since Because However Although Though Then There Here His "
    "Her Their Its Our My Your What Who Why How Where Which Both Each Every Some Many Most All No "
    "Not Yes Also Additionally Furthermore Moreover Meanwhile Finally Next Another According "
    "During Despite Today Under Between Until Once Such Other Only Even Now Later".split()
)
_GERMAN_MONTHS = frozenset(
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
)
_LONG_WORD = 5  # a longer word before a stop is hardly ever an unlisted abbreviation
_WINDOW = 32  # characters looked at before a stop
_PACKING = 64  # pieces per claim beyond which neighbours are packed before merging


class _Block(NamedTuple):
    start: int
    end: int
    kind: str


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
    piece = piece.strip()
    piece = _LEADING_BULLETS.sub("", piece, count=1) if piece[0] in "-*+•‣◦▪●○·–—" else piece
    return piece if "```" in piece or "~~~" in piece else " ".join(piece.split())


def _claim_starts(text: str) -> list[int]:
    lower_only = text.islower()
    starts: list[int] = []
    glued = False
    for block in _blocks(text, lower_only=lower_only):
        if not glued:
            starts.append(block.start)
        if block.kind == "prose":
            starts.extend(_sentence_cuts(text, block.start, block.end, lower_only=lower_only))
        elif block.kind == "item":
            # "1. Do this. 2. Do that." on one line is a list of its own.
            cuts = _sentence_cuts(text, block.start, block.end, lower_only=lower_only)
            starts.extend(cut for cut in cuts if _ENUMERATOR.match(text, cut))
        glued = block.kind == "heading" or text[block.start : block.end].rstrip()[-1:] in ":："
    starts[0] = 0
    return starts


def _blocks(text: str, *, lower_only: bool) -> Iterator[_Block]:
    """Group the lines into blocks: prose, item, row, code, and heading (joined to the next)."""
    lines = text.splitlines(keepends=True)
    block: _Block | None = None
    fence = ""
    previous = ""
    offset = 0
    for index, line in enumerate(lines):
        start, offset = offset, offset + len(line)
        bare = line.strip()
        if fence:
            assert block is not None
            block = block._replace(end=offset)
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
                yield block
                block = None
            continue
        if not bare:
            if block:
                yield block
            block = None
            continue
        match = _BLOCK.match(line)
        kind = (match and match.lastgroup) or "prose"
        if kind == "prose" and "|" in bare:
            following = lines[index + 1] if index + 1 < len(lines) else ""
            if bare[0] == "|" or _is_table_rule(following) or (block and block.kind == "row"):
                kind = "row"
        if block:
            joined = _joined_kind(block.kind, previous, kind, line, lower_only=lower_only)
            if joined:
                block, previous = _Block(block.start, offset, joined), bare
                continue
            yield block
        if match and kind == "fence":
            fence, kind = match["fence"], "code"
        block, previous = _Block(start, offset, kind), bare
    if block:
        yield block


def _joined_kind(
    block_kind: str, previous: str, kind: str, line: str, *, lower_only: bool
) -> str | None:
    """Return the kind of the block once the line has joined it, or None if it starts another."""
    bare = line.strip()
    if block_kind == "row" and _is_table_rule(bare):
        return "heading"
    if kind != "prose" or block_kind not in {"prose", "item"}:
        return None
    if block_kind == "prose" and not bare.strip("=") and not _SENTENCE_END.search(previous):
        return "heading"
    ended = _SENTENCE_END.search(previous) is not None
    if block_kind == "item" and line[0].isspace():
        return "item"
    if ended and (block_kind == "prose" or previous[-1] in ",;，；、"):
        return block_kind
    word = _NEXT_WORD.match(bare)
    return block_kind if word and word[1].islower() and not lower_only else None


def _is_table_rule(line: str) -> bool:
    return "-" in line and "|" in line and not line.strip("|:-+ \t\r\n")


def _sentence_cuts(text: str, start: int, end: int, *, lower_only: bool) -> Iterator[int]:
    """Yield the position after each sentence of text[start:end] but the last."""
    for mark in _MARK.finditer(text, start, end):
        stop = mark.end()
        if mark.lastgroup == "span":
            inner = stop
            while inner > mark.start() and text[inner - 1] not in _STOPS:
                if text[inner - 1] not in "\"'”’»)]）」』*_":
                    break
                inner -= 1
            if inner <= mark.start() or text[inner - 1] not in _STOPS:
                continue
            first = inner - 1
        else:
            first = mark.start()
        closing = _CLOSING.match(text, stop, end)
        stop = closing.end() if closing else stop
        if stop < end and mark.start() >= start and _ends(text, start, first, stop, end, lower_only):
            cut = _after_closers(text, start, first, stop, end)
            if cut < end:
                yield cut
                start = cut


def _after_closers(text: str, start: int, first: int, stop: int, end: int) -> int:
    """Move a cut behind citations and free-standing closing quotes that belong before it."""
    if text[start:start + 3].lstrip()[:1] != "[":
        match = _CITATIONS.match(text, stop, end)
        if match:
            return match.end()
    if first > start and text[first - 1].isspace():
        while match := _SPACED_CLOSER.match(text, stop, end):
            if match[0].strip() == '"' and text.count('"', start, stop) % 2 == 0:
                break
            stop = match.end()
    return stop


def _ends(text: str, start: int, first: int, stop: int, end: int, lower_only: bool) -> bool:
    """Tell whether the stops at text[first:stop] (closing marks included) end a sentence."""
    while first > start and text[first - 1] in _STOPS:
        first -= 1
    closed = text[stop - 1] not in _STOPS
    stops = text[first:stop]
    if any(char in _HARD_STOPS for char in stops):
        return not (closed and _SPEECH_TAG.match(text, stop, end))
    if not text[stop].isspace():
        return bool(_CJK_CHAR.match(text, stop) and first and _CJK_CHAR.match(text, first - 1))
    before = text[max(start, first - _WINDOW) : first].split()
    word = before[-1].lstrip("([{\"'“‘«*_`¿¡") if before else ""
    following = _NEXT_WORD.match(text, stop, end)
    after = following[1] if following else ""
    if first > start and text[first - 1].isspace() and stops[:2] != "..":
        return not (
            word.lower() in _NEVER_FINAL or (word.lower() in _BEFORE_NUMBER and after.isdigit())
        )
    if stops[0] in "!?‼⁇⁈⁉":
        return not (closed and after.islower())
    if stops[0] == "…" or stops[:2] == "..":
        return not after.islower()
    initial = bool(following and following[2])
    return _full_stop_ends(before, word, after, initial, closed, lower_only)


def _full_stop_ends(
    before: list[str], word: str, after: str, initial: bool, closed: bool, lower_only: bool
) -> bool:
    """Tell whether one full stop after a word ends the sentence."""
    key = word.lower()
    if key in _NEVER_FINAL:
        return False
    if key in _BEFORE_NUMBER and (after[:1].isdigit() or initial):
        return False
    if word.isdigit() and len(word) <= 2:
        if len(before) == 1 or before[-2][-1] in ".:;!?" or after in _GERMAN_MONTHS:
            return False
    parts = key.split(".")
    short = (len(word) == 1 and word.isalpha() and word.upper() != word.lower()) or (
        len(parts) > 1 and all(len(part) <= 2 and part.isalpha() for part in parts)
    )
    if short or key in _MAY_BE_FINAL:
        return after in _STARTERS and not initial if key != "etc" else not after.islower()
    if after.islower():
        return not closed and (lower_only or (len(word) >= _LONG_WORD and word.isalpha()))
    return True


def _attach_bare(text: str, starts: list[int]) -> list[int]:
    """Join each piece without a letter or digit to the piece before it, the first to the next."""
    kept = [0]
    lettered = False
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        if _LETTER.search(text, start, end):
            if lettered:
                kept.append(start)
            lettered = True
    return kept


def _merge(starts: list[int], length: int, max_claims: int) -> list[int]:
    """Merge the shortest pair of neighbours until at most ``max_claims`` pieces are left."""
    if len(starts) <= max_claims:
        return starts
    if len(starts) > _PACKING * max_claims:
        starts = _pack(starts, length // (_PACKING * max_claims))
    count = len(starts)
    bounds = [*starts, length]
    before = list(range(-1, count))
    after = list(range(1, count + 2))
    # One entry per left piece. Pairs only ever grow, so an entry that has become too small
    # is put right when it surfaces, which keeps the order exact without deleting entries.
    heap = [(bounds[left + 2] - bounds[left], left) for left in range(count - 1)]
    heapq.heapify(heap)
    alive = [True] * count
    left_over = count
    while left_over > max_claims:
        size, left = heap[0]
        right = after[left]
        if not alive[left] or right >= count:
            heapq.heappop(heap)
            continue
        true_size = bounds[after[right]] - bounds[left]
        if true_size > size:
            heapq.heapreplace(heap, (true_size, left))
            continue
        alive[right] = False
        after[left] = after[right]
        before[after[right]] = left
        left_over -= 1
    return [start for start, is_alive in zip(starts, alive, strict=True) if is_alive]


def _pack(starts: list[int], limit: int) -> list[int]:
    kept = starts[:1]
    for start, end in zip(starts[1:], starts[2:], strict=False):
        if end - kept[-1] > limit:
            kept.append(start)
    return [*kept, starts[-1]]
