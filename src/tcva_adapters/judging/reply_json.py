"""From a judge's reply to the JSON values in it: whole, cut off, or broken and repaired."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from json_repair import repair_json

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
_BRACKETS: Final = re.compile(r'"(?:[^"\\]++|\\.)*+(?P<shut>"?)|[{}\[\],]', re.DOTALL)
_BARE_NONE: Final = re.compile(
    r'"(?:[^"\\]++|\\.)*+"?|:\s*+(?P<bare>none)(?=\s*+[,}\]\n])', re.DOTALL
)
MAX_DEPTH: Final = 16
_MAX_STARTS: Final = 1000
_MAX_SCANNED: Final = 1_000_000
_MAX_REPAIRED: Final = 100_000


@dataclass(frozen=True, slots=True)
class Node:
    """One JSON value found in the reply, between two offsets."""

    value: Any
    start: int
    end: int
    is_cut: bool = False


class _Extent(NamedTuple):
    """Where a value ends, or None and the ways to close it after a cut, the best way first.

    A way is an offset and the closing brackets to put there.
    """

    end: int | None
    ways: list[tuple[int, str]]
    is_deep: bool = False


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping in which a key given twice with different values holds no usable value."""
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        same = key not in mapping or mapping[key] == value
        mapping[key] = value if same else f"{mapping[key]} / {value}"
    return mapping


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)


def _decode(text: str, start: int = 0) -> tuple[Any, int] | None:
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def after_reasoning(reply: str) -> tuple[int, bool]:
    """Where the answer begins behind blocks of reasoning, and whether one was left open.

    A mark of reasoning inside the answer's JSON is text of a quote and does not count.
    """
    position = 0
    while mark := _MARK.search(reply, position):
        start = _START.search(reply, position, mark.start())
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


def json_values(reply: str, position: int) -> Iterator[Node]:
    """The JSON values of a reply in order: as they stand, else completed, else repaired."""
    to_scan, to_repair = _MAX_SCANNED, _MAX_REPAIRED
    pattern = _START
    for _ in range(_MAX_STARTS):
        match = pattern.search(reply, position)
        if match is None:
            return
        start = match.start() if pattern is _START else match.end()
        decoded = _decode(reply, start)
        node = None if decoded is None else Node(decoded[0], start, decoded[1])
        if node is None and to_scan > 0:
            extent = _scan(reply, start)
            stop = len(reply) if extent.end is None else extent.end
            node = _complete(reply, start, extent.ways)
            to_scan -= stop - start
            if node is None and not extent.is_deep and stop - start <= to_repair:
                to_repair -= stop - start
                node = _repair(reply, start, extent.end)
        if node is None:
            # What follows may lie inside a quote of this value; only a new line starts afresh.
            pattern, position = _LINE_START, start + 1
        else:
            yield node
            pattern, position = _START, node.end


def _scan(text: str, start: int) -> _Extent:
    """How far the value at ``start`` reaches, by its brackets outside of quoted text."""
    text_end = len(text.rstrip())
    closers: list[str] = []
    comma = close = string = None
    for match in _BRACKETS.finditer(text, start):
        mark = match.group()
        if mark in "{[":
            closers.append("}" if mark == "{" else "]")
            if len(closers) > MAX_DEPTH:
                return _Extent(None, [], is_deep=True)
        elif mark in "}]":
            if closers.pop() != mark:
                return _Extent(None, [])
            if not closers:
                return _Extent(match.end(), [])
            close = (match.end(), "".join(reversed(closers)))
        elif mark == ",":
            comma = (match.start(), "".join(reversed(closers)))
        elif match["shut"] and match.end() == text_end:
            string = (match.end(), "".join(reversed(closers)))
    ways = [way for way in (string, comma, close) if way is not None]
    return _Extent(None, sorted(ways, reverse=True))


def _complete(text: str, start: int, ways: list[tuple[int, str]]) -> Node | None:
    for end, closers in ways:
        decoded = _decode(text[start:end] + closers)
        if decoded is not None and decoded[1] == end - start + len(closers):
            return Node(decoded[0], start, len(text), is_cut=True)
    return None


def _repair(reply: str, start: int, end: int | None) -> Node | None:
    text = reply[start:] + CUT if end is None else reply[start:end]
    text = _BARE_NONE.sub(lambda m: m.group() if m["bare"] is None else ':"none"', text)
    try:
        value = repair_json(text, return_objects=True, skip_json_loads=True)
    except Exception:  # noqa: BLE001  # whatever a repair trips over, a reply is only unreadable
        return None
    if not isinstance(value, dict | list) or not value:
        return None
    return Node(value, start, len(reply) if end is None else end, is_cut=end is None)
