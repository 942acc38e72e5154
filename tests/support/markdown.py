"""What a Markdown parser makes of an answer before and after claims were cut from it."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations, compress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

from tcva_adapters.text.sentences import with_plain_breaks
from tcva_adapters.text.stretches import kept_spans, stretches

_MARKS = ("**", "__", "~~")
"""A backtick alone stands for itself, and is also written for an opening quotation mark."""


@cache
def parser() -> "MarkdownIt":
    """Make the parser, which newer versions of rich bring along."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  # the lowest rich brings none

    return MarkdownIt("commonmark").enable("table").enable("strikethrough")


class Block(NamedTuple):
    """A block of text: what it stands in, from the outermost, its lines, and its loose marks."""

    path: tuple[str, ...]
    lines: tuple[int, int]
    loose: int


def blocks_of(text: str) -> list[Block]:
    """The blocks of a text that hold text themselves."""
    blocks = []
    path: list[str] = []
    lines = (0, 0)
    for token in parser().parse(with_plain_breaks(text)):
        if token.map:
            lines = token.map[0], token.map[1]
        kind = token.type.removesuffix("_open")
        if token.nesting == 1:
            path.append(kind)
        elif token.nesting == -1:
            path.pop()
        elif token.type != "hr":
            kinds = tuple(k for k in path if k not in {"thead", "tbody", "th", "td"})
            texts = [
                c.content
                for c in token.children or []
                if c.type in {"text", "html_inline"}
            ]
            loose = sum(t.count(mark) for t in texts for mark in _MARKS)
            own = () if kind == "inline" else (kind,)
            blocks.append(Block((*kinds, *own), lines, loose))
    return blocks


def faults(text: str, stays: Sequence[bool]) -> list[str]:
    """What is wrong with the Markdown of a text without some of its claims; empty for nothing."""
    parts = stretches(text)
    spans = kept_spans(text, parts, stays)
    left = "".join(text[a:b] for a, b in spans)
    before, after = blocks_of(text), blocks_of(left)
    claims = [part for part in parts if part.kind == "claim"]
    lines = with_plain_breaks(text).split("\n")
    found = []
    places = []
    for claim in compress(claims, stays):
        begins = claim.end - 1
        moved = sum(min(b, begins) - a for a, b in spans if a < begins)
        was = _block_at(before, text, begins)
        now = _block_at(after, left, moved)
        if was is None or now is None:
            if was is not now:
                found.append(f"block gone: {claim.claim!r}")
            continue
        # By the grammar a line right behind an item's belongs to the item, although it is not indented.
        line = _line_of(text, begins)
        is_lazy = was.lines[0] < line and not lines[line].startswith((" ", ">"))
        is_lazy = is_lazy or ("table" in was.path and "|" not in lines[line])
        if was.path != now.path and not is_lazy:
            found.append(f"{'/'.join(was.path)} -> {'/'.join(now.path)}")
        if not is_lazy:
            places.append((was.lines, now.lines))
    for (was_a, now_a), (was_b, now_b) in combinations(places, 2):
        if was_a != was_b and now_a == now_b:
            found.append("run together")
            break
    if _headers_alone(left) > _headers_alone(text):
        found.append("a table without rows")
    if sum(b.loose for b in after) > sum(b.loose for b in before):
        found.append("a mark without its pair")
    return found


def _headers_alone(text: str) -> int:
    kinds = [token.type for token in parser().parse(with_plain_breaks(text))]
    return kinds.count("table_open") - kinds.count("tbody_open")


def _block_at(blocks: Sequence[Block], text: str, place: int) -> Block | None:
    line = _line_of(text, place)
    inside = [b for b in blocks if b.lines[0] <= line < b.lines[1]]
    return inside[-1] if inside else None


def _line_of(text: str, place: int) -> int:
    return with_plain_breaks(text).count("\n", 0, place)
