r"""Where claims stand in their text, and the text without some of them.

A text is a row of stretches: claims, and lines in front of them that claim nothing by themselves
(``Prices:``, headings, the header of a table). A stretch has its gap in front of it: spaces
between sentences, line breaks between lines. So a sentence goes with the gap before it, an item or
a row with its line, and what stays first in its paragraph or list takes the gap of what stood there.

>>> text = "Prices:\n- Basic costs 5.\n- Plus costs 9.\n\nAsk us. We answer."
>>> without(text, stretches(text), [False, True, False, True])
'Prices:\n- Plus costs 9.\n\nWe answer.'
>>> without(text, stretches(text), [False, False, True, True])
'Ask us. We answer.'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, cast

from tcva_adapters.text.lists import word_list
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import (
    CJK,
    FRONT,
    LETTER,
    LINE,
    MARK,
    pieces,
    with_plain_breaks,
)

Kind = Literal["claim", "lead_in", "heading", "header"]
_BOLD_HEADING = 7
"""The rank of a bold line that serves as a heading, below ``######``."""
_CODE_INDENT = 4
_BOLD = "**"
_OPENING = re.compile(r"(?<!\w)\*{2,3}(?=\S)")
_CLOSING = re.compile(r"(?<=[^\s*])\*{2,3}(?!\w)")
_FRONTS = ("lead_in", "heading")
_LONGEST_LABEL = 2
_WORD = re.compile(rf"[{CJK}]{{1,2}}|(?:(?![{CJK}])[^\W_])+")
_VERBS = word_list("helping_verbs")
_PRONOUN = re.compile(
    rf"\W*(?:(?:{'|'.join(word_list('pronouns'))})\b|{'|'.join(word_list('pronoun_beginnings'))})",
    re.IGNORECASE,
)
_LISTED = ("item", "number")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text; those of a text, each from its start to the next one's, add up to it.

    Attributes:
        kind: ``claim``; ``heading``; ``header`` for that of a table, with its rule; ``lead_in`` for a
            line that ends in a colon, and for the mark of a quotation or of an item that holds more
            than its claim.
        start: Where it begins, with the gap to the stretch before it.
        body: Where it begins without the gap; the indentation of a line is part of the body.
        end: Where it ends, before white space.
        claim: The text of the claim, see `split_claims`; empty for other kinds.
        rank: The level of a heading, 1 to 7; else the column in which it begins.
        line: The kind of line that it is: ``item``, ``number``, ``row``, ``code``, ``quote``, or
            empty for a sentence.
        breaks: The number of line breaks in its gap.
        width: The columns of a mark, with the indentation; 0 for all else.
        until: The number of the first stretch behind it that it does not introduce.
    """

    kind: Kind
    start: int
    body: int
    end: int
    claim: str
    rank: int
    line: str
    breaks: int
    width: int = 0
    until: int = 0


def stretches(text: str) -> list[Stretch]:
    r"""Split a text into stretches; the claims among them are those of `split_claims`, in order.

    >>> [(part.kind, part.claim) for part in stretches("# Fees\nIt is 5. It was 4.")]
    [('heading', ''), ('claim', '# Fees It is 5.'), ('claim', 'It was 4.')]
    """
    lines = with_plain_breaks(text)
    parts: list[Stretch] = []
    for kind, at, stop, claim in _spans(text, lines):
        start = parts[-1].end if parts else 0
        inside = lines[at:stop].lstrip()
        begins = stop - len(inside)
        line_start = lines.rfind("\n", 0, begins) + 1
        body = begins if line_start < start else line_start
        rank, end, width = begins - line_start, begins + len(inside.rstrip()), 0
        if kind == "heading":
            rank = len(inside) - len(inside.lstrip("#")) or _BOLD_HEADING
        elif kind == "lead_in" and lines[end - 1] not in ":：":
            end, width = stop, stop - line_start
        line = LINE.match(lines, begins)
        part = Stretch(
            kind,
            start,
            body,
            end,
            claim,
            rank,
            (line and line.lastgroup) or "",
            breaks=lines.count("\n", start, body),
            width=width,
        )
        parts.append(part)
    behind, reaches = len(parts), dict[object, int]()
    for place in reversed(range(len(parts))):
        part = parts[place]
        # Lines that are alike in front of the same claim reach as far.
        alike = part.kind, part.rank, part.line
        if part.kind == "claim":
            behind = place + 1
            reaches = {alike: behind}
        elif alike not in reaches:
            reaches[alike] = _until(parts, part, behind)
        parts[place] = replace(part, until=reaches[alike])
    return parts


def _spans(text: str, lines: str) -> Iterator[tuple[Kind, int, int, str]]:
    """Yield the stretches of a text: kind, begin, end with white space, text of the claim."""
    split = pieces(text)
    stop = len(text) - sum(len(piece.source) for piece in split)
    for claim, source in split:
        at, stop = stop, stop + len(source)
        while (front := FRONT.match(lines, at, stop)) and LETTER.search(
            lines, front.end(), stop
        ):
            yield cast("Kind", front.lastgroup), at, front.end(), ""
            at = front.end()
        mark = MARK.match(lines, at, stop)
        if mark and _holds_more(lines, mark, stop):
            yield "lead_in", at, mark.end(), ""
            at = mark.end()
        yield "claim", at, stop, claim


def _holds_more(lines: str, mark: re.Match[str], stop: int) -> bool:
    """Whether the item or quotation of a mark holds more than the claim that ends at a position."""
    line_start = lines.rfind("\n", 0, stop) + 1
    if line_start <= mark.end():
        return ">" in mark[0] and stop < len(lines)
    width = mark.end() - lines.rfind("\n", 0, mark.end()) - 1
    return ">" not in mark[0] and width <= stop - line_start < width + _CODE_INDENT


def _until(parts: Sequence[Stretch], part: Stretch, behind: int) -> int:
    """Find the first stretch that a line in front of claims does not introduce.

    A heading introduces all up to the next one of its rank or above; another line the paragraph,
    table or list behind it. All introduce the next claim.

    Args:
        parts: The stretches.
        part: The line.
        behind: The number behind that of the next claim.
    """
    for number in range(behind, len(parts)):
        other = parts[number]
        is_heading = other.kind == "heading"
        if part.kind == "heading":
            ends = is_heading and other.rank <= part.rank
        elif part.kind == "header":
            ends = other.line != part.line or other.breaks > 1
        elif part.line == "quote":
            ends = other.breaks > 0
        else:
            is_inside = other.line in _LISTED or other.rank > part.rank
            is_apart = other.breaks > 1 or other.kind != "claim"
            is_beside = part.line in _LISTED and other.rank <= part.rank
            ends = is_heading or is_beside or (is_apart and not is_inside)
        if ends:
            return number
    return len(parts)


def begins_with_pronoun(text: str, start: int) -> bool:
    """Whether a sentence, item or row begins with a word that stands for something said before.

    >>> begins_with_pronoun("It opens at 9.", 0), begins_with_pronoun("Items are 5.", 0)
    (True, False)
    """
    return _PRONOUN.match(text, start) is not None


def _is_label(front: str) -> bool:
    """Whether a line in front of claims states nothing by itself: two words at most, no common verb.

    >>> _is_label("Opening hours:"), _is_label("The moon is made of cheese:")
    (True, False)
    """
    words = _WORD.findall(front.lower())
    is_short = len(words) <= _LONGEST_LABEL and _VERBS.isdisjoint(words)
    return is_short or non_claim_kind(front.strip("# \t\n")) is not None


def without(text: str, parts: Sequence[Stretch], stays: Sequence[bool]) -> str:
    """Return a text without some of its claims, and without lines that introduce only these.

    Args:
        text: The text.
        parts: Its stretches.
        stays: Whether each claim stays, in order.
    """
    return "".join(text[a:b] for a, b in kept_spans(text, parts, stays))


def kept_spans(
    text: str, parts: Sequence[Stretch], stays: Sequence[bool]
) -> list[tuple[int, int]]:
    """Find what is left of a text without some of its claims, as spans in order.

    What is left of a text's beginning is the beginning of what is left of the text, if its stretches are.

    Args:
        text: The text.
        parts: Its stretches, or the first of those of a longer text.
        stays: Whether each claim stays, in order. Another stretch stays with any claim that it
            introduces; a heading or lead-in that may state something by itself only with the first
            one, which it was judged with.
    """
    n_claims = [0, *accumulate(part.kind == "claim" for part in parts)]
    n_stay = [0, *accumulate(stays)]
    if stays and not n_stay[-1]:
        return []
    spans: list[tuple[int, int]] = []
    last = -1
    opening: bool | None = None
    for place, part in enumerate(parts):
        first, end = n_claims[place], n_claims[min(part.until, len(parts))]
        stays_here = n_stay[first] < n_stay[end]
        if part.kind in _FRONTS and not part.width:
            # What states something goes with the claim that it was judged with.
            stays_here &= stays[first] or _is_label(text[part.body : part.end])
        own, opening = _with_bold(text, part, opening, stays=stays_here)
        if stays_here and last >= 0 and parts[last].width and place > last + 1:
            # What an item holds moves to its mark, in the column where it stood.
            indent = min(part.rank, parts[last].width) if part.breaks else 0
            own[0] = part.body + indent, own[0][1]
        elif stays_here:
            spans += _gaps(parts, last, place)
        spans += own
        last = place if stays_here else last
    return [*spans, (parts[-1].end if parts else 0, len(text))]


def _with_bold(
    text: str, part: Stretch, opening: bool | None, *, stays: bool
) -> tuple[list[tuple[int, int]], bool | None]:
    """Find what is left of a stretch where bold text may span sentences: both of its marks, or none.

    Args:
        text: The text.
        part: The stretch.
        opening: Whether the mark stays that opened bold text before it; None outside of such text.
        stays: Whether the stretch stays.

    Returns:
        What is left, and the same for what stands behind it.
    """
    own = [(part.body, part.end)] if stays else []
    if part.line or part.breaks > 1:
        opening = None
    if part.line == "code" or text.count(_BOLD, part.body, part.end) % 2 == 0:
        return own, opening
    if opening is None:
        last = text.rfind(_BOLD, part.body, part.end)
        return own, stays if _OPENING.match(text, last) else None
    mark = _CLOSING.match(text, text.find(_BOLD, part.body))
    if mark is None:
        return own, opening
    if opening and not stays:
        own = [mark.span()]
    elif stays and not opening:
        own = [(part.body, mark.start()), (mark.end(), part.end)]
    return own, None


def _gaps(parts: Sequence[Stretch], last: int, place: int) -> list[tuple[int, int]]:
    """Find the gap in front of a stretch that stays: the widest behind the last one that does.

    Two paragraphs that met at what is gone stay apart.
    """
    part, between = parts[place], parts[last + 1 : place + 1]
    if last < 0:
        return [(0, parts[0].body)]
    most = max(each.breaks for each in between)
    gaps = [(each.start, each.body) for each in between if each.breaks == most]
    # Of lists, only one that begins with 1 may follow a paragraph's line without a blank one.
    joins = part.line if part.line != "number" else parts[last].line
    if most == 1 and not joins and any(each.line for each in between[:-1]):
        return [gaps[0], *gaps[1:][-1:]]
    return gaps[:1]
