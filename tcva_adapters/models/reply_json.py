"""From a judge's reply to the JSON values in it: whole, cut off, or broken and repaired."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, SupportsIndex

CUT: Final = "\ua66e"
"""Stands where a reply was cut off, so that a value closed only by the repair can be told.

A letter, so that a number cut in two becomes a text; and one that hardly any text contains.
"""

_REASONING: Final = "think|thinking|thought|thoughts|reasoning|analysis|scratchpad|reflection"
_CLOSING: Final = re.compile(
    rf"</(?:{_REASONING})>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>", re.IGNORECASE
)
_MARK: Final = re.compile(
    rf"(?P<opening><(?:{_REASONING})>|\[THINK\]|◁think▷"
    rf"|<\|channel\|>(?:analysis|commentary)<\|message\|>)|{_CLOSING.pattern}",
    re.IGNORECASE,
)
_START: Final = re.compile(
    r"\{\s*+(?:[\"'“‘}]|//|/\*|#|[\w#]++\s*+[\"']?\s*+[:=])"
    r"|\[\s*+(?:[\"'“‘{\]]|\w++\s*+[,\]])"
)
_LINE_START: Final = re.compile(rf"^[ \t]*+(?={_START.pattern})", re.MULTILINE)
_TOKEN: Final = re.compile(
    r'"(?:[^"\\]++|\\.)*+(?P<double>"?)'
    r"|'(?:[^'\\]++|\\.)*+(?P<single>'?)"
    r"|(?P<mark>[{}\[\],:])"
    r"|(?P<comment>//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)"
    r"|(?P<word>[^\s\"'“”‘’{}\[\],:/\#]++)"
    r"|(?P<odd>[/“”‘’])",
    re.DOTALL,
)
_UNFINISHED: Final = re.compile(r"[{\[]*+(?:[TW](?::[{\[]*+[TW]?)?)?")
"""What may stand behind the last comma of a value that was cut off."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_LITERALS: Final = {"None": "null", "True": "true", "False": "false"} | {
    word: word for word in ("null", "true", "false")
}
_ESCAPE: Final = re.compile(r"\\(.)|\"", re.DOTALL)
_BARE_WORD: Final = re.compile(
    r'"(?:[^"\\]++|\\.)*+"?|:\s*+(?P<bare>fully|mostly|partial|partially|minor|none)(?=\s*+[,}\]])',
    re.DOTALL | re.IGNORECASE,
)
"""Levels without quotes, all of them: a repair reads a bare ``none`` as null."""

MAX_DEPTH: Final = 16
_MAX_STARTS: Final = 1000
_LONGEST_KEY: Final = 40
_MAX_SCANNED: Final = 1_000_000
_MAX_REPAIRED: Final = 25_000
"""Characters of one reply that may be repaired: a repair compares and copies lists as it goes."""
_MAX_READINGS: Final = 1_000_000
"""How often these repairs may look at a character. They look ahead from each doubtful quote: 10 000
characters of quotes take 20 million, a broken list of 100 verdicts 35 000."""

_LONGEST_INTEGER: Final = 18


@dataclass(frozen=True, slots=True)
class Node:
    """One JSON value found in the reply, between two offsets."""

    value: Any
    start: int
    end: int
    is_cut: bool = False
    is_repaired: bool = False


class _Copy(NamedTuple):
    """A value written again as strict JSON, and how far it reaches.

    Attributes:
        end: Where it ends in the reply; None where the reply ends first, or the brackets differ.
        texts: Ways to write it, the best first: one, or those that leave out what was cut off.
        is_deep: Whether it is nested too deeply for anything to be done about it.
    """

    end: int | None
    texts: list[str]
    is_deep: bool = False


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping in which a key given twice with different values holds no usable value."""
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        same = key not in mapping or mapping[key] == value
        mapping[key] = value if same else f"{mapping[key]} / {value}"
    return mapping


def read_integer(digits: str) -> float:
    """A whole number of JSON; one that no number in a reply can mean is infinite.

    Python itself refuses to read thousands of digits, and with them the whole reply.

    >>> read_integer("7"), read_integer("9" * 5000)
    (7, inf)
    """
    if len(digits) <= _LONGEST_INTEGER:
        return int(digits)
    return -math.inf if digits.startswith("-") else math.inf


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=read_integer, strict=False)


def _decode(text: str, start: int = 0) -> tuple[Any, int] | None:
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def after_reasoning(reply: str) -> tuple[int, bool]:
    """Where the answer begins behind blocks of reasoning, and whether one was left open.

    A mark of reasoning inside the answer's JSON is text of a quote and does not count.
    """
    position = starts = 0
    while mark := _MARK.search(reply, position):
        start = _START.search(reply, position, mark.start())
        starts += start is not None
        if starts > _MAX_STARTS:
            return mark.end(), True
        if start and _holds(reply, position, start.start(), mark):
            break
        if mark["opening"] is None:
            position = mark.end()
        elif closing := _CLOSING.search(reply, mark.end()):
            position = closing.end()
        else:
            return mark.end(), True
    return position, False


def _holds(reply: str, position: int, start: int, mark: re.Match[str]) -> bool:
    """Whether the JSON value at ``start`` belongs to the answer, and so does the mark behind it.

    A mark that closes reasoning whose beginning is not in the reply may follow a first draft.
    """
    lead = reply[position:start].strip()
    if mark["opening"] is not None or not lead or lead.startswith("```"):
        return True
    decoded = _decode(reply, start)
    return decoded is not None and decoded[1] > mark.end()


def plain_key(key: Any) -> str:
    """A key of a mapping as it is compared: small letters, underscores for blanks and hyphens."""
    return _plain(str(key)[:_LONGEST_KEY])


@lru_cache(maxsize=256)  # replies have the same keys again and again
def _plain(key: str) -> str:
    return re.sub(r"[\s-]+", "_", key.strip().casefold())


def json_values(reply: str, position: int) -> Iterator[Node]:
    """The JSON values of a reply in order: as they stand, else copied, else repaired."""
    to_scan, to_repair, meter = _MAX_SCANNED, _MAX_REPAIRED, _Meter(_MAX_READINGS)
    pattern = _START
    for _ in range(_MAX_STARTS):
        match = pattern.search(reply, position)
        if match is None:
            return
        start = match.start() if pattern is _START else match.end()
        decoded = _decode(reply, start)
        node = None if decoded is None else Node(decoded[0], start, decoded[1])
        if node is None and to_scan > 0:
            copy = _copy(reply, start)
            stop = len(reply) if copy.end is None else copy.end
            to_scan -= stop - start
            node = _from_copy(copy, start, stop)
            if node is None and not copy.is_deep and stop - start <= to_repair:
                to_repair -= stop - start
                node = _repair(reply, start, copy.end, meter)
        if node is None:
            # What follows may lie inside a quote of this value; only a new line starts afresh.
            pattern, position = _LINE_START, start + 1
        else:
            yield node
            pattern, position = _START, node.end


def _copy(text: str, start: int) -> _Copy:
    """The value at ``start`` as strict JSON: other quotes, bare words, comments, spare commas."""
    pieces: list[str] = []
    kinds: list[str] = []
    closers: list[str] = []
    at_comma: tuple[int, str] | None = None
    for kind, piece, end in _pieces(text, start):
        if kind in "}]":
            if kinds[-1] == ",":
                pieces[-1] = ""
            if closers.pop() != kind:
                return _Copy(None, [])
        elif kind in "{[":
            closers.append("}" if kind == "{" else "]")
            if len(closers) > MAX_DEPTH:
                return _Copy(None, [], is_deep=True)
        elif kind == ",":
            at_comma = (len(pieces), "".join(reversed(closers)))
        pieces.append(piece)
        kinds.append(kind)
        if not closers:
            return _Copy(end, [" ".join(pieces)])
    return _Copy(None, _endings(pieces, kinds, "".join(reversed(closers)), at_comma))


def _endings(
    pieces: list[str], kinds: list[str], closing: str, at_comma: tuple[int, str] | None
) -> list[str]:
    """Ways to end a value that was cut off, the best first.

    A whole text may end it, as may a bracket; a bare word or number may be half of one. Else it
    ends before the last comma, if no more than one unfinished item stands behind that.
    """
    texts = [" ".join(pieces) + closing] if kinds[-1] in "T}]" and pieces[-1] else []
    if at_comma is not None:
        end, closing = at_comma
        if _UNFINISHED.fullmatch("".join(kinds[end + 1 :])):
            texts.append(" ".join(pieces[:end]) + closing)
    return texts


def _pieces(text: str, start: int) -> Iterator[tuple[str, str, int]]:
    """Each token as its kind, its strict JSON and its end in the text.

    Kinds are the marks of JSON, T for a text, W for a bare word or number and ? for anything else.
    A text that never ends is an empty piece.
    """
    for match in _TOKEN.finditer(text, start):
        if match["mark"]:
            yield match["mark"], match["mark"], match.end()
        elif match["word"]:
            yield "W", _bare(match["word"]), match.end()
        elif match["double"] is not None:
            yield "T", match[0] if match["double"] else "", match.end()
        elif match["single"] is not None:
            yield "T", _requote(match[0]) if match["single"] else "", match.end()
        elif match["odd"]:
            yield "?", "?", match.end()


def _bare(word: str) -> str:
    if word in _LITERALS:
        return _LITERALS[word]
    return word if _NUMBER.fullmatch(word) else json.dumps(word)


def _requote(text: str) -> str:
    """A text in single quotes as one in double quotes."""

    def escape(match: re.Match[str]) -> str:
        if match[0] == '"':
            return '\\"'
        return "'" if match[1] == "'" else "\\u00" if match[1] == "x" else match[0]

    return '"' + _ESCAPE.sub(escape, text[1:-1]) + '"'


def _from_copy(copy: _Copy, start: int, stop: int) -> Node | None:
    for text in copy.texts:
        decoded = _decode(text)
        if decoded is not None and decoded[1] == len(text):
            return Node(decoded[0], start, stop, is_cut=copy.end is None)
    return None


@dataclass(slots=True)
class _Meter:
    """How many readings are left to the repairs of one reply."""

    left: int


class _Metered(str):
    """A text that counts how often it is read, and ends a repair that reads too often."""

    __slots__ = ("meter",)
    meter: _Meter

    @classmethod
    def of(cls, text: str, meter: _Meter) -> _Metered:
        metered = cls(text)
        metered.meter = meter
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.meter.left -= 1
        if self.meter.left < 0:
            msg = "the repair reads too much"
            raise OverflowError(msg)
        # A repair that writes something into its text begins with the text before that place.
        return self.of(part, self.meter) if isinstance(key, slice) and key.start is None else part

    def __add__(self, more: str) -> _Metered:
        return self.of(super().__add__(more), self.meter)


def _repair(reply: str, start: int, end: int | None, meter: _Meter) -> Node | None:
    # Here: most replies need no repair, and the lexical judge gets none.
    from json_repair import repair_json  # noqa: PLC0415  # see above

    text = reply[start:] + CUT if end is None else reply[start:end]
    text = _BARE_WORD.sub(lambda m: f':"{m["bare"]}"' if m["bare"] else m.group(), text)
    try:
        value = repair_json(_Metered.of(text, meter), return_objects=True, skip_json_loads=True)
    except Exception:  # noqa: BLE001  # whatever a repair trips over, a reply is only unreadable
        return None
    if not isinstance(value, dict | list) or not value:
        return None
    stop = len(reply) if end is None else end
    return Node(value, start, stop, is_cut=end is None, is_repaired=True)
