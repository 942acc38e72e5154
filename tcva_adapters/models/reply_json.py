"""From a judge's reply to the JSON values in it: whole, cut off, or broken and repaired."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

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
_BRACKET: Final = re.compile(
    r"\"(?:[^\"\\]++|\\.)*+\"?|(?<![^\s{}\[\],:\"])'(?:[^'\\]++|\\.)*+'?|([{}\[\]])", re.DOTALL
)
_BARE_WORD: Final = re.compile(
    r'"(?:[^"\\]++|\\.)*+"?|:\s*+(?P<bare>fully|mostly|partial|partially|minor|(?-i:none|NONE))(?=\s*+[,}\]])',
    re.DOTALL | re.IGNORECASE,
)
"""Levels without quotes, all of them: a repair reads a bare ``none`` as null."""

MAX_DEPTH: Final = 16
_MAX_STARTS: Final = 1000
_LONGEST_KEY: Final = 40
_MAX_SCANNED: Final = 1_000_000
_MAX_REPAIRED: Final = 10_000
"""Characters of one reply that may be repaired: a repair compares and copies lists as it goes. A
broken list of 24 verdicts with long quotes has 8000."""

_MAX_AHEAD: Final = 8_000_000
"""Characters of a value times its quotation marks: at each doubtful one a repair looks ahead."""

_LONGEST_INTEGER: Final = 18


@dataclass(frozen=True, slots=True)
class Node:
    """One JSON value found in the reply, between two offsets.

    Attributes:
        value: The value.
        start: Where it begins.
        end: Where it ends.
        is_cut: Whether the reply ended first, or its brackets differ.
        is_repaired: Whether it was no JSON as it stands.
        is_doubtful: Whether the repair may have lost or added something.
    """

    value: Any
    start: int
    end: int
    is_cut: bool = False
    is_repaired: bool = False
    is_doubtful: bool = False


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


def _decode(text: str, start: int) -> tuple[Any, int] | None:
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
    """The JSON values of a reply in order: as they stand, or repaired."""
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
            end = _end(reply, start)
            text = reply[start:] if end is None else reply[start:end]
            to_scan -= len(text)
            ahead = len(text) * (text.count('"') + text.count("'"))
            if end != start and len(text) <= to_repair and ahead <= _MAX_AHEAD:
                to_repair -= len(text)
                node = _repaired(text, start, is_cut=end is None)
        if node is None:
            # What follows may lie inside a quote of this value; only a new line starts afresh.
            pattern, position = _LINE_START, start + 1
        else:
            yield node
            pattern, position = _START, node.end


def _end(text: str, start: int) -> int | None:
    """Where the value at ``start`` ends by its brackets.

    None where the text ends first or the brackets differ, ``start`` where it is nested too deeply.
    """
    closers: list[str] = []
    for match in _BRACKET.finditer(text, start):
        bracket = match[1]
        if bracket in ("{", "["):
            closers.append("}" if bracket == "{" else "]")
            if len(closers) > MAX_DEPTH:
                return start
        elif bracket and closers.pop() != bracket:
            return None
        if not closers:
            return match.end()
    return None


def _repaired(text: str, start: int, *, is_cut: bool) -> Node | None:
    # Here: most replies need no repair, and the lexical judge gets none.
    from json_repair import repair_json  # noqa: PLC0415  # see above

    broken = text + CUT if is_cut else text
    broken = _BARE_WORD.sub(lambda m: f':"{m["bare"]}"' if m["bare"] else m.group(), broken)
    try:
        value = repair_json(broken, return_objects=True, skip_json_loads=True)
    except Exception:  # noqa: BLE001  # whatever a repair trips over, a reply is only unreadable
        return None
    if not isinstance(value, dict | list) or not value:
        return None
    is_sound = _has_all_keys(text, value) and (not is_cut or _is_uniform(value))
    return Node(value, start, start + len(text), is_cut, is_repaired=True, is_doubtful=not is_sound)


def _has_all_keys(text: str, value: Any) -> bool:
    """Whether a repair has lost and added no key.

    A quote with JSON in it, written without escapes, may swallow or replace real values.
    """
    for key, count in Counter(_keys(value)).items():
        mark = re.escape(key)
        quoted = re.findall(rf"[\"'“‘]{mark}[\"'”’]\s*+[:=]", text)
        if count != len(quoted or re.findall(rf"(?<![\w\\]){mark}\s*+[:=]", text)):
            return False
    return True


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (key for key in value if CUT not in key)
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            yield from _keys(item)


def _is_uniform(value: Any) -> bool:
    """Whether objects side by side have the same keys; the last one, which was cut, may lack some."""
    items = list(value.values() if isinstance(value, dict) else value)
    kinds = [set(item) if isinstance(item, dict) else None for item in items]
    is_list = isinstance(value, list) and any(kinds)
    return not (is_list and any(kind != kinds[0] for kind in kinds[:-1])) and all(
        _is_uniform(item) for item in items if isinstance(item, dict | list)
    )
