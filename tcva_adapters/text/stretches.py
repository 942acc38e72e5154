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
from itertools import accumulate, pairwise
from typing import Literal

from tcva_adapters.text.sentences import (
    ENUMERATOR,
    LETTER,
    Unit,
    pieces_with_units,
    with_plain_breaks,
)

Kind = Literal["claim", "lead_in", "heading", "header"]
_KINDS: dict[str, Kind] = {"heading": "heading", "table": "header"}
_BOLD_HEADING = 7
"""The rank of a bold line that serves as a heading, below ``######``."""
_SPACE = re.compile(r"\s*")
_HASHES = re.compile(r"#*")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text; those of a text, each from its start to the next one's, add up to it.

    Attributes:
        kind: ``claim``; ``lead_in`` for a line that ends in a colon, and for a line without a letter
            or digit; ``heading``; ``header`` for the header of a table with its rule.
        start: Where it begins, with the gap to the stretch before it.
        body: Where it begins without the gap; the indentation of a line is part of the body.
        end: Where it ends, before white space.
        claim: The text of the claim, see `split_claims`; empty for other kinds.
        block: Where its paragraph, item, table or code block begins.
        rank: The level of a heading, 1 to 7; else the indentation of the line.
        until: The number of the first stretch behind it that it does not introduce. A claim
            introduces none.
    """

    kind: Kind
    start: int
    body: int
    end: int
    claim: str
    block: int
    rank: int
    until: int = 0


def stretches(text: str) -> list[Stretch]:
    r"""Split a text into stretches; the claims among them are those of `split_claims`, in order.

    >>> [(part.kind, part.claim) for part in stretches("# Fees\nIt is 5. It was 4.")]
    [('heading', ''), ('claim', '# Fees It is 5.'), ('claim', 'It was 4.')]
    """
    lines = with_plain_breaks(text)
    units = [*_units(text)]
    ends = [*(unit.start for unit, _, _ in units[1:]), len(text)]
    parts: list[Stretch] = []
    start = 0
    for (unit, kind, claim), stop in zip(units, ends, strict=False):  # none of neither
        first = _SPACE.match(lines, unit.start)
        begins = first.end() if first else unit.start
        line = lines.rfind("\n", 0, begins) + 1
        body = begins if line < start else line
        end = begins + len(lines[begins:stop].rstrip())
        rank = begins - body
        if kind == "heading":
            hashes = _HASHES.match(lines, begins)
            rank = len(hashes[0]) if hashes and hashes[0] else _BOLD_HEADING
        parts.append(Stretch(kind, start, body, end, claim, unit.block, rank))
        start = end
    return _with_reach(lines, parts)


def _units(text: str) -> Iterator[tuple[Unit, Kind, str]]:
    """Yield what the split finds, with its kind and, for the claim of a piece, the claim's text."""
    for piece, inside in pieces_with_units(text):
        stop = inside[0].start + len(piece.source)
        ends = [*(unit.start for unit in inside[1:]), stop]
        spans = enumerate(zip(inside, ends, strict=True))
        worded = [n for n, (unit, end) in spans if LETTER.search(text, unit.start, end)]
        main = worded[-1] if worded else 0
        for place, unit in enumerate(inside):
            if place == main:
                yield unit, "claim", piece.text
            elif unit.start == unit.block or (
                place < main and text[unit.start : ends[place]].strip()
            ):
                yield unit, _KINDS.get(unit.kind, "lead_in"), ""


def _with_reach(lines: str, parts: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches, each with what it introduces."""
    done: list[Stretch] = []
    headings = [len(parts)] * (_BOLD_HEADING + 1)
    for place in reversed(range(len(parts))):
        part = parts[place]
        until = place + 1
        if part.kind == "heading":
            until = min(headings[: part.rank + 1])
            headings[part.rank] = place
        elif part.kind == "header":
            until = _block_end(parts, place)
        elif part.kind == "lead_in" and until < len(parts):
            following = parts[until]
            if following.kind != "claim":
                until = done[-1].until
            elif _is_line(lines, following):
                until = _list_end(lines, parts, until)
            else:
                until = _block_end(parts, until)
        done.append(replace(part, until=until))
    return done[::-1]


def _block_end(parts: Sequence[Stretch], place: int) -> int:
    """The number of the first stretch behind one that stands in another block."""
    for after in range(place + 1, len(parts)):
        if parts[after].block != parts[place].block:
            return after
    return len(parts)


def _list_end(lines: str, parts: Sequence[Stretch], place: int) -> int:
    """The number of the first stretch behind an item or row that is no part of its list."""
    first = parts[place]
    mark = lines[first.body + first.rank]
    for after in range(place + 1, len(parts)):
        part = parts[after]
        is_like = (lines[part.body + part.rank] == "|") == (mark == "|")
        least = first.rank if is_like and _is_line(lines, part) else first.rank + 1
        if part.kind == "heading" or part.rank < least:
            return after
    return len(parts)


def _is_line(lines: str, part: Stretch) -> bool:
    """Whether a stretch is an item of a list or a row of a table."""
    return lines.startswith("|", part.body + part.rank) or bool(
        ENUMERATOR.match(lines, part.body)
    )


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

    The spans of a text's beginning are the first ones of the whole text, if its stretches are.

    Args:
        text: The text.
        parts: Its stretches.
        stays: Whether each claim stays, in order. Another stretch stays with any claim that it
            introduces, and where it introduces none.
    """
    if not any(stays) and len(stays):
        return []
    lines = with_plain_breaks(text)
    claims_before = [0, *accumulate(part.kind == "claim" for part in parts)]
    stay_before = [0, *accumulate(stays)]
    spans: list[tuple[int, int]] = []
    last: int | None = None
    for place, part in enumerate(parts):
        begin, end = claims_before[place], claims_before[max(part.until, place + 1)]
        if begin < end and stay_before[begin] == stay_before[end]:
            continue
        spans += _gap(lines, parts, last, place)
        spans.append((part.body, part.end))
        last = place
    tail = (parts[-1].end if parts else 0, len(text))
    return [(a, b) for a, b in [*spans, tail] if a < b]


def _gap(
    lines: str, parts: Sequence[Stretch], last: int | None, place: int
) -> list[tuple[int, int]]:
    """Find the gap in front of a stretch that stays, behind the last one that does."""
    part = parts[place]
    own = part.start, part.body
    if last is None:
        return [(parts[0].start, parts[0].body)]
    before = parts[last]
    if last == place - 1 or before.block == part.block:
        return [own]
    # Of the paragraphs, items and tables behind it, the widest gap stays.
    gaps = [
        (each.start, each.body)
        for previous, each in pairwise(parts[last : place + 1])
        if each.block != previous.block
    ]
    breaks = [lines.count("\n", *gap) for gap in gaps]
    # Of lists, only one that begins with 1 may follow a paragraph's line without a blank one.
    is_line = _is_line(lines, part)
    is_numbered = lines[part.body + part.rank].isdigit()
    is_close = is_line and (_is_line(lines, before) or not is_numbered)
    if max(breaks) > 1 or is_close or len(gaps) == 1:
        return [gaps[breaks.index(max(breaks))]]
    # Two paragraphs that met at what is gone stay apart.
    return [gaps[0], gaps[-1]]
