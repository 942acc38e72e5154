"""Find the JSON values in a judge's reply: whole, cut off, or broken and repaired."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tcva_adapters.samples.json_values import Json

_REASONING = "think|thinking|thought|thoughts|reasoning|analysis|scratchpad|reflection"
_CLOSING = re.compile(
    rf"</(?:{_REASONING})>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>",
    re.IGNORECASE,
)
_MARK = re.compile(
    rf"(?P<opening><(?:{_REASONING})>|\[THINK\]|◁think▷"
    rf"|<\|channel\|>(?:analysis|commentary)<\|message\|>)|{_CLOSING.pattern}",
    re.IGNORECASE,
)
_START = re.compile(
    r"\{\s*+(?:[\"'“‘}]|//|/\*|#|[\w#]++\s*+[\"']?\s*+[:=])"
    r"|\[\s*+(?:[\"'“‘{\]]|\w++\s*+[,\]])"
)
_TOKEN = re.compile(
    r"\"(?:[^\"\\]++|\\.)*+\"?|(?<![^\s{}\[\],:\"])'(?:[^'\\]++|\\.)*+'?|[{}\[\]]",
    re.DOTALL,
)
_QUOTED_KEY = re.compile(r"[\"'“‘]([^\"'“”‘’\\{}]{1,60})[\"'”’]\s*+[:=]")
_BARE_KEY = re.compile(r"(?<![\w\\])(\w++)\s*+[:=]")

MAX_DEPTH = 16
_LONGEST_KEY = 40
_LONGEST_INTEGER = 18
_MAX_STARTS = 1000
MAX_REPAIRED = 10_000
"""Characters of one reply that may be repaired: a repair compares and copies lists as it goes. A
broken list of 24 verdicts with long quotes has 8000."""

_MAX_AHEAD = 8_000_000
"""Characters of a value times its quotation marks: at each doubtful one a repair looks ahead."""

_HEAD = re.compile(r".*[\s,:{}\[\]\"]", re.DOTALL)  # up to a number or a word
_ENDS = ("null", '"":null', "", ":null")
"""Text that a value that was cut off may need before its brackets are closed. Where it was cut
inside a text or a number, it is one of the first two."""


@dataclass(frozen=True, slots=True)
class Node:
    """One JSON value found in the reply, between two offsets.

    Attributes:
        value: The value; empty where it is doubtful.
        start: Where it begins.
        end: Where it ends.
        is_cut: Whether the reply ended first, or its brackets differ.
        is_repaired: Whether it was broken and has been repaired.
        is_doubtful: Whether it cannot be read, or its repair has lost or added a key: a quote with
            JSON in it, written without escapes, may swallow or replace real values.
    """

    value: Any
    start: int
    end: int
    is_cut: bool = False
    is_repaired: bool = False
    is_doubtful: bool = False


def _pairs(pairs: list[tuple[str, Any]]) -> Json:
    """Make a mapping of pairs; a key with two different values gets a text that is of no use."""
    mapping: Json = {}
    for key, value in pairs:
        same = key not in mapping or mapping[key] == value
        mapping[key] = value if same else f"{mapping[key]} / {value}"
    return mapping


def read_integer(digits: str) -> float:
    """Read a whole number of JSON; one with more digits than any reply can mean is infinite.

    Python itself refuses to read thousands of digits, and with them the whole reply.

    >>> read_integer("7"), read_integer("9" * 5000)
    (7, inf)
    """
    if len(digits) <= _LONGEST_INTEGER:
        return int(digits)
    return -math.inf if digits.startswith("-") else math.inf


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_int=read_integer,
    strict=False,
)


def _decode(text: str, start: int = 0) -> tuple[Any, int] | None:
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def after_reasoning(reply: str) -> tuple[int, bool]:
    """Find where the answer begins behind blocks of reasoning, and whether one was left open.

    A mark of reasoning inside the answer's JSON is text of a quote and does not count. One that
    closes reasoning whose beginning is not in the reply may follow a first draft.
    """
    position = starts = 0
    while mark := _MARK.search(reply, position):
        if start := _START.search(reply, position, mark.start()):
            before = reply[position : start.start()].strip()
            if mark["opening"] or not before or before.startswith("```"):
                break
            starts += 1
            if starts > _MAX_STARTS:
                return mark.end(), True
            decoded = _decode(reply, start.start())
            if decoded is not None and decoded[1] > mark.end():
                break
        closing = _CLOSING.search(reply, mark.end()) if mark["opening"] else mark
        if closing is None:
            return mark.end(), True
        position = closing.end()
    return position, False


def plain_key(key: object) -> str:
    """Normalise a key to compare it: small letters, underscores for blanks and hyphens."""
    return _plain(str(key)[:_LONGEST_KEY])


@lru_cache(maxsize=256)  # replies have the same keys again and again
def _plain(key: str) -> str:
    return re.sub(r"[\s-]+", "_", key.strip().casefold())


def json_values(
    reply: str,
    position: int,
    to_repair: int = MAX_REPAIRED,
) -> Iterator[Node]:
    """Yield the JSON values of a reply in order: whole, cut off, or repaired."""
    for _ in range(_MAX_STARTS):
        match = _START.search(reply, position)
        if match is None:
            return
        start = match.start()
        decoded = _decode(reply, start)
        node = (
            Node(decoded[0], start, decoded[1])
            if decoded
            else _broken_value(reply, start, to_repair)
        )
        if node.is_repaired:
            to_repair -= node.end - start
        position = node.end
        yield node


def _broken_value(reply: str, start: int, to_repair: int) -> Node:
    """Read a value that is no JSON as it stands: cut off, or broken with all its brackets."""
    closers = ""
    tail = end = len(reply)
    is_mismatched = False
    for match in _TOKEN.finditer(reply, start):
        first = match[0][0]
        last = match[0][-1]
        if first in "{[":
            closers = ("}" if first == "{" else "]") + closers
        elif first in "}]" and first == closers[0]:
            closers = closers[1:]
        elif first in "}]" or first != last or len(match[0]) == 1:
            is_mismatched = first in "}]"
            tail = match.start()  # or a text without its end
            break
        if not closers and match.end() - start <= to_repair:
            return _repaired(reply[start : match.end()], start)
        if not closers or len(closers) > MAX_DEPTH:
            return Node(
                {}, start, match.end() if not closers else end, is_doubtful=True
            )
    head: str = _HEAD.match(reply, start, tail)[0]  # type: ignore[index]  # it begins with a bracket
    ends = () if is_mismatched else _ENDS if len(head) == end - start else _ENDS[:2]
    decoded = (_decode(f"{head}{ending}{closers}") for ending in ends)
    value: Any = next((pair[0] for pair in decoded if pair), {})
    return Node(value, start, end, is_cut=True, is_doubtful=not value)


def _repaired(text: str, start: int) -> Node:
    # Imported here, since most replies need no repair and the lexical judge gets none.
    from json_repair import repair_json  # noqa: PLC0415  # see above

    value: Any = None
    if len(text) * (text.count('"') + text.count("'")) <= _MAX_AHEAD:
        # Whatever a repair trips over, a reply is only unreadable.
        with suppress(Exception):
            value = repair_json(text, return_objects=True, skip_json_loads=True)
    keys = sorted(_QUOTED_KEY.findall(text) or _BARE_KEY.findall(text))
    is_sound = isinstance(value, dict | list) and sorted(_keys(value)) == keys
    if not is_sound:
        value = {}
    return Node(
        value, start, start + len(text), is_repaired=True, is_doubtful=not is_sound
    )


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            yield from _keys(item)
