r"""Where claims stand in their text, and the text without some of them.

A text is a row of stretches: claims, and lines in front of them that claim nothing by themselves
(``Prices:``, headings, the header of a table). A stretch has its gap in front of it: spaces
between sentences, line breaks between lines. So a sentence goes with the gap before it, an item or
a row with its line, and what stays first in its paragraph or list takes the gap of what stood there.

Each stretch that begins a paragraph, list, item or table has a depth, and holds all behind it that
is deeper: a heading its section, a lead-in its list, an item what is nested in it. A line in front
of claims goes with the last claim that it holds; the mark of an item as well.

>>> text = "Prices:\n- Basic costs 5.\n- Plus costs 9.\n\nAsk us. We answer."
>>> without(text, stretches(text), [False, True, False, True])
'Prices:\n- Plus costs 9.\n\nWe answer.'
>>> without(text, stretches(text), [False, False, True, True])
'Ask us. We answer.'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from typing import Literal, cast

from tcva_adapters.text.lists import patterns, word_list
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import (
    FRONT,
    LINE,
    pieces,
    with_plain_breaks,
)
from tcva_adapters.text.words import words_of

Kind = Literal["claim", "lead_in", "heading", "header"]
_BOLD_HEADING = 7
"""The level of a bold line that serves as a heading, below ``######``."""
_PROSE = "prose"
_BOLD = re.compile(
    r"(?<!\w)(?P<opening>\*{2,3})(?=\S)(?:(?!\*\*).)+?(?<=[^\s*])(?P<closing>(?P=opening))(?!\w)"
)
_STATEMENT = re.compile(
    rf"{patterns('before_a_verb')}(?:\b(?:{'|'.join(word_list('helping_verbs'))})(?:n?['’]?t|not)?\b"
    rf"|{patterns('verbs_without_spaces')})(?P<behind>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ANNOUNCING = word_list("announcing") | word_list("function_words")
_PRONOUN = re.compile(
    rf"[\W\d_]*(?:(?:{'|'.join(word_list('pronouns'))})\b|{'|'.join(word_list('pronoun_beginnings'))})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text; those of a text, each from its start to the next one's, add up to it.

    Attributes:
        kind: ``claim``; ``heading``, also for a rule; ``header`` for that of a table, with its rule;
            ``lead_in`` for a line that ends in a colon.
        start: Where it begins, with the gap to the stretch before it.
        body: Where it begins without the gap; the indentation of a line is part of the body.
        mark: Where the mark of an item or quotation ends; ``body`` for all else.
        end: Where it ends, before white space.
        claim: The text of the claim, see `split_claims`; empty for other kinds.
        line: The kind of line that it begins, see `LINE`; ``prose`` for a sentence or row.
        breaks: The number of line breaks in its gap.
        indent: The indentation of the line that it begins.
        depth: It ends what all stretches before it hold that are as deep or deeper; infinite for
            what goes on with a paragraph or table.
    """

    kind: Kind
    start: int
    body: int
    mark: int
    end: int
    claim: str
    line: str
    breaks: int
    indent: int
    depth: float


def stretches(text: str) -> list[Stretch]:
    r"""Split a text into stretches; the claims among them are those of `split_claims`, in order.

    >>> [(part.kind, part.claim) for part in stretches("# Fees\nIt is 5. It was 4.")]
    [('heading', ''), ('claim', '# Fees It is 5.'), ('claim', 'It was 4.')]
    """
    lines = with_plain_breaks(text)
    parts = []
    start, line_before = 0, _PROSE
    for kind, stop, claim in _ends(text, lines):
        beginning = next(LINE.finditer(lines, start))
        line = beginning.lastgroup or _PROSE
        breaks = beginning["gap"].count("\n")
        indent = len(beginning["indent"])
        depth = inf
        if kind == "heading":
            depth = (len(beginning["level"]) or _BOLD_HEADING) - 8
        elif line != _PROSE or kind == "header":
            depth = indent + 0.5
        elif kind == "lead_in" or breaks > 1 or (breaks and line_before != _PROSE):
            depth = indent
        end = start + len(lines[start:stop].rstrip())
        part = Stretch(
            kind,
            start,
            beginning.end("gap"),
            beginning.end(),
            end,
            claim,
            line,
            breaks,
            indent,
            depth,
        )
        parts.append(part)
        start, line_before = end, line
    return parts


def _ends(text: str, lines: str) -> Iterator[tuple[Kind, int, str]]:
    """Yield the stretches of a text: kind, end with the white space behind it, text of the claim."""
    for claim, start, end in pieces(text):
        front_end = start
        while front := FRONT.match(lines, front_end, end):
            front_end = front.end()
            yield cast("Kind", front.lastgroup), front_end, ""
        yield "claim", end, claim


def begins_with_pronoun(claim: str) -> bool:
    """Whether a claim begins with a word that stands for something said before.

    >>> begins_with_pronoun("**It opens at 9.**"), begins_with_pronoun("Items are 5.")
    (True, False)
    """
    return _PRONOUN.match(claim) is not None


def _states_nothing(text: str, part: Stretch) -> bool:
    r"""Whether a stretch is a line in front of claims that does not plainly state something.

    A statement has a helping verb, and behind it more than words that announce what follows.

    >>> [_states_nothing(text, stretches(text)[0]) for text in ("The fees are:\n- 5.", "It is red:\n- No.")]
    [True, False]
    """
    if part.kind in {"claim", "header"}:
        return part.kind == "header"
    front = text[part.body : part.end]
    statement = _STATEMENT.match(front)
    return (
        statement is None
        or _ANNOUNCING.issuperset(words_of(statement["behind"]))
        or non_claim_kind(front.strip("# \t\n")) is not None
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

    What is left of a text's beginning is the beginning of what is left of the text, if its stretches are.

    Args:
        text: The text.
        parts: Its stretches, or the first of those of a longer text.
        stays: Whether each claim stays, in order. Another stretch stays with any claim that it
            holds; a heading or lead-in that plainly states something only with the first one, which it
            was judged with.
    """
    if parts and not any(stays):
        return []
    spans = [(parts[-1].end if parts else 0, len(text))]
    ends = _ends_left(text, parts, stays)
    last = -1
    for place, (part, end) in enumerate(zip(parts, ends, strict=True)):
        if end == part.body:
            continue
        begin = part.body
        if last < 0:
            spans.append((0, parts[0].body))
        elif ends[last] < parts[last].end:
            # What an item holds moves to its mark, in the column where it stood.
            begin += min(part.indent, ends[last] - parts[last].body)
        else:
            spans += _gaps(parts, last, place)
        spans.append((begin, end))
        last = place

    is_left = bytearray(len(text))
    for begin, end in spans:
        is_left[begin:end] = b"\1" * (end - begin)
    for bold in _BOLD.finditer(text):
        # Bold text may span sentences: its closing mark stays or goes with the opening one.
        is_left[slice(*bold.span("closing"))] = is_left[slice(*bold.span("opening"))]
    return [run.span() for run in re.finditer(b"\1+", is_left)]


def _ends_left(text: str, parts: Sequence[Stretch], stays: Sequence[bool]) -> list[int]:
    """Find where what is left of each stretch ends: its end, that of its mark, or where its body begins."""
    ends = []
    claims_stay = [*stays]
    next_stays = False
    # A stretch holds something that stays if it is less deep than this: here, and behind the next claim.
    reach = reach_behind = -inf
    for part in reversed(parts):
        if part.kind == "claim":
            next_stays, reach_behind = claims_stay.pop(), reach
            reach = inf if next_stays else reach
        holds = part.depth < reach_behind
        if next_stays or (holds and _states_nothing(text, part)):
            ends.append(part.end)
        else:
            ends.append(part.mark if holds else part.body)
        reach = min(reach, part.depth)
    return ends[::-1]


def _gaps(parts: Sequence[Stretch], last: int, place: int) -> list[tuple[int, int]]:
    """Find the gap in front of a stretch that stays: the widest behind the last one that does.

    Two paragraphs that met at what is gone, or a paragraph and a number that it would swallow, stay apart.
    """
    part, between = parts[place], parts[last + 1 : place + 1]
    breaks = attrgetter("breaks")
    gaps = [max(reversed(between), key=breaks)]
    if part.line == "number":
        meets_paragraph = parts[last].line == _PROSE
    else:
        meets_paragraph = part.line == _PROSE != parts[place - 1].line
    if meets_paragraph and gaps[0].breaks == 1:
        gaps.append(max(between, key=breaks))
    return [(gap.start, gap.body) for gap in gaps]
