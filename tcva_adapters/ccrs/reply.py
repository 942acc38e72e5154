"""What a judge model answered, read as a number from 0 to 100, or as a reason why it is none.

A number is never guessed. What was cut off or broken, a range, a number on another scale, or two
different numbers give none; nor does a number that stands somewhere in a sentence. Asking again
costs one call, a wrong number costs more. The work is linear in the length of the reply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tcva_adapters.ccrs.metrics import METRICS, Metric
from tcva_adapters.models.reply_json import MAX_DEPTH, Node, after_reasoning, json_values, plain_key

HIGHEST: Final = 100.0


@dataclass(frozen=True, slots=True)
class Rating:
    """A number, or why there is none.

    Attributes:
        value: In [0, 100]; None where the reply holds no such number.
        problem: What was wrong, in words for a reader; empty where there is a value.
    """

    value: float | None
    problem: str = ""


_EMPTY: Final = Rating(None, "the reply is empty")
_OPEN: Final = Rating(None, "the block of reasoning was never closed")
_BROKEN: Final = Rating(None, "its JSON is broken or was cut off")
_NO_SCORE: Final = Rating(None, "its JSON holds no score")
_NO_NUMBER: Final = Rating(None, "it holds no number from 0 to 100 that stands for a score")
_SEVERAL: Final = Rating(None, "it holds several different numbers")
_OTHER_SCALE: Final = Rating(
    None, "the number is a fraction up to 1, which seems to be on another scale than 0 to 100"
)

# --- one number, written out -----------------------------------------------------------------

_DIGITS: Final = r"(?<![0-9.,])-?[0-9]{1,3}(?:[.][0-9]{1,6}|,[0-9]{1,2})?(?![0-9])(?![.,][0-9])"
_MARKS: Final = r"[*_`\"'“”\u2018\u2019„#()\[\]|]"
_TITLES: Final = "|".join(m.title.replace(" ", "[ _-]") for m in METRICS.values())
_SAID: Final = rf"score|rating|grade|bewertung|punktzahl|{_TITLES}"
_ALONE: Final = rf"{_SAID}|result|answer|value|points|note|cc|qr|ac|ir"
"""What the rest of a line may be called; within a sentence these words mean too much."""

_TIE: Final = r"(?:is|of|are|ist|=>|->|→|[:=\uff1a|\u2013—]|(?<=\s)-(?=\s))"
_GAP: Final = rf"(?:\s|{_MARKS})*+"
_OUT_OF: Final = r"(?:/|out of|of|von)"
_HUNDRED: Final = r"100(?![0-9.,]*[0-9])"
_UNIT: Final = rf"(?:{_MARKS}*+ ?(?:{_OUT_OF} ?{_MARKS}*+{_HUNDRED}|%|percent|points?|pts\b))"


def _label(nouns: str) -> str:
    return rf"(?<!\w)(?:[^\W\d_]{{1,20}}[ _-]){{0,4}}(?:{nouns})(?!\w){_GAP}{_TIE}?"


_SCALE: Final = re.compile(
    rf"(?:\(|\bon a )?(?:scale (?:of|from) )?(?<![0-9.,/-])0 ?(?:-|\u2013|—|to|bis|\.\.) ?{_HUNDRED}"
    r"(?: scale)?\)?",
    re.IGNORECASE,
)
_LINE: Final = re.compile(
    rf"(?:[-•] )?{_MARKS}*+(?P<label>{_label(_ALONE)})?{_GAP}(?P<number>{_DIGITS}){_UNIT}?"
    rf"{_GAP}[.!]?{_MARKS}*+",
    re.IGNORECASE,
)
_INLINE: Final = re.compile(
    rf"{_label(_SAID)}{_GAP}(?P<number>{_DIGITS}){_UNIT}?(?!\w|{_MARKS}*+ ?(?:[-\u2013—/+±%\u00d7]|\.\.))",
    re.IGNORECASE,
)
_OUT_OF_100: Final = re.compile(
    rf"(?P<number>{_DIGITS}){_MARKS}*+ ?(?:/|out of|von) ?{_MARKS}*+{_HUNDRED}", re.IGNORECASE
)
_DENOMINATOR: Final = re.compile(rf"(?<=[0-9*_` ]){_OUT_OF} ?{_MARKS}*+{_HUNDRED}", re.IGNORECASE)
_ANY_NUMBER: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_BLANKS: Final = re.compile(r"[^\S\r\n]+")
_WRAPPERS: Final = re.compile(
    r"</?(?:score|rating|answer|final_score|result)>|\\boxed\{([^{}]{0,20})\}", re.IGNORECASE
)
_FULL_WIDTH: Final = {0xFF10 + i: str(i) for i in range(10)}
_SHORT: Final = 40


def _number(text: str) -> Rating:
    """A number that stands alone, checked."""
    value = float(text.replace(",", "."))
    return _checked(value, has_point="." in text or "," in text)


def _checked(value: float, *, has_point: bool) -> Rating:
    if not math.isfinite(value):
        return Rating(None, f"the number {value} is not finite")
    if not 0.0 <= value <= HIGHEST:
        return Rating(None, f"the number {value:g} lies outside 0 to 100")
    if has_point and 0.0 < value <= 1.0:
        return _OTHER_SCALE
    return Rating(abs(value))  # no negative zero


def read_rating(reply: str, metric: Metric | None = None) -> Rating:
    """The number that a judge gave for one metric. Never raises.

    Read are JSON with a ``score`` in any of the usual dresses, and in plain text a number that is
    all of the reply or of a line (``87``, ``**87**``, ``87/100``, ``87 %``, ``87,5``), or that is
    called a score (``Score: 87.5``) or given out of 100. Reasoning in tags does not count.

    Args:
        reply: What the judge answered.
        metric: What it was asked for: its names are names of the score, too.

    >>> read_rating('{"score": 87}').value, read_rating("Score: 87,5").value
    (87.0, 87.5)
    >>> read_rating("80-90").problem, read_rating("In 2023 sales rose.").value
    ('it holds several different numbers', None)
    """
    body = _body(reply)
    if isinstance(body, Rating):
        return body
    names = {"score", *(() if metric is None else _names(metric))}
    found: list[Rating] = []
    has_json = False
    for node in json_values(body, 0):
        if not isinstance(node.value, dict) and not _holds_objects(node.value):
            continue
        has_json = True
        if _is_broken(body, node):
            return _BROKEN
        found += _scores(node.value, names)
    if has_json:
        return _agreed(found) if found else _NO_SCORE
    return _BROKEN if re.match(r"\s*(?:```\w*\s*)?\{", body) else _plain_rating(body)


_FLAT: Final = re.compile(
    r"\{(?:\s*+[\"'“]?[\w ]++[\"'”]?\s*+:\s*+[\"']?[\d.]++\s*+%?[\"']?\s*+,?)++\s*+\}"
)
"""A mapping of numbers alone, whatever its quotes: a repair can get nothing wrong in it."""


def _is_broken(body: str, node: Node) -> bool:
    return node.is_cut or (node.is_repaired and not _FLAT.fullmatch(body, node.start, node.end))


def _body(reply: str) -> str | Rating:
    """The answer behind blocks of reasoning; or what is wrong before any number is looked for."""
    if not reply.strip():
        return _EMPTY
    position, is_open = after_reasoning(reply)
    if is_open:
        return _OPEN
    body = reply[position:].translate(_FULL_WIDTH)
    return body if body.strip() else _EMPTY


def _agreed(found: Sequence[Rating]) -> Rating:
    """The one number that all of them are."""
    values = {rating.value for rating in found}
    return found[0] if len(values) == 1 else _SEVERAL


# --- JSON ------------------------------------------------------------------------------------

_JSON_NAMES: Final = re.compile(r"(?:\w+_)?(?:score|rating|grade)|value|result|answer")


def _names(metric: Metric) -> set[str]:
    title = metric.title.replace(" ", "_")
    return {metric.name, title, f"{title}_score", f"{metric.name}_score"}


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _mappings(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """All objects of a JSON value, the outer ones first."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value
    for item in inner:
        if isinstance(item, dict | list):
            yield from _mappings(item, depth + 1)


def _scores(value: Any, names: set[str]) -> list[Rating]:
    """What the objects of a value call a score; a name that was asked for wins over others."""
    pairs = [(plain_key(key), item) for each in _mappings(value) for key, item in each.items()]
    pairs = [(key, item) for key, item in pairs if not isinstance(item, dict | list)]
    exact = [_of_value(item) for key, item in pairs if key in names]
    return exact or [_of_value(item) for key, item in pairs if _JSON_NAMES.fullmatch(key)]


def _of_value(value: Any) -> Rating:
    if isinstance(value, bool) or value is None:
        return Rating(None, f"the score is {value}")
    if isinstance(value, int | float):
        # Far beyond what a float can hold is outside the range as well.
        bounded = value if isinstance(value, float) else max(min(value, 10**9), -(10**9))
        return _checked(float(bounded), has_point=isinstance(value, float))
    if isinstance(value, str) and len(value) <= _SHORT and " / " not in value:
        # With blanks around it, a stroke stands between the two values of a key given twice.
        return _plain_rating(value.translate(_FULL_WIDTH))
    return Rating(None, "the score in its JSON is no number")


# --- plain text ------------------------------------------------------------------------------


def _plain_rating(text: str) -> Rating:
    text = _BLANKS.sub(" ", _WRAPPERS.sub(lambda m: f" {m[1] or ''} ", text))
    text = _SCALE.sub(" ", text)
    numbers = set(_ANY_NUMBER.findall(_DENOMINATOR.sub(" ", text)))
    lines = [match for line in text.splitlines() if (match := _LINE.fullmatch(line.strip()))]
    is_only = len(numbers) == 1
    if lines and (is_only or any(match["label"] for match in lines)):
        return _agreed([_number(match["number"]) for match in lines])
    if is_only:
        match = _INLINE.search(text) or _OUT_OF_100.search(text)
        if match is not None:
            return _number(match["number"])
        beyond = re.fullmatch(rf"{_MARKS}*-?[0-9]{{4,}}{_MARKS}*", text.strip())
        return Rating(None, "the number lies outside 0 to 100") if beyond else _NO_NUMBER
    return _SEVERAL if numbers else _NO_NUMBER
