"""Read a judge model's reply as a number from 0 to 100, or say why it has none.

A number is never guessed: a reply that is cut off or broken, a range, another scale, two different
numbers or a number within a sentence give none. Asking again costs one call; a wrong number costs
more. The work is linear in the length of the reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tcva_adapters.judges.reply import MAX_LINES
from tcva_adapters.judges.reply_echoes import repeated_words
from tcva_adapters.models.reply_json import (
    MAX_DEPTH,
    after_reasoning,
    json_values,
    plain_key,
)

HIGHEST = 100.0


@dataclass(frozen=True, slots=True)
class Rating:
    """A number from 0 to 100, or the reason why there is none.

    Attributes:
        value: In [0, 100]; None where the reply holds no such number.
        problem: The problem in words for a reader; empty where there is a value.
    """

    value: float | None
    problem: str = ""


_NAMES = frozenset({"score", "rating"})
_FLAT = re.compile(r"\{\s*[\"'“]?\w+[\"'”]?\s*:\s*[\"']?[0-9.]{1,10}%?[\"']?\s*,?\s*\}")
"""A JSON object of one name and its number, which a repair of the JSON cannot change."""

_MARKS = re.compile(r"[*_`\"'“”#|()\[\]]+")
_LINE = re.compile(
    r"(?P<label>(?:[a-z-]{1,20} ){0,4}(?:score|rating|grade)(?: 0 ?(?:-|\u2013|to) ?100)?"
    r"(?: ?[:=] ?| is | [-\u2013] | ))?"
    r"(?P<number>[0-9]{1,3}(?:\.[0-9]{1,6}|,[0-9]{1,2})?)"
    r"(?: ?(?:/|out of|of) ?100| ?%| percent| points)?[.!]?",
    re.IGNORECASE,
)


def read_rating(reply: str, shown: str = "") -> Rating:
    """Read the number that a judge gave, or say why there is none; never raise.

    It reads JSON with a ``score``, and in plain text a line with nothing but a number (``87``,
    ``**87**/100``, ``87 %``, ``87,5``, ``Score: 87.5``), if no other line has a number or the line
    calls it a score. Reasoning in tags is ignored.

    Args:
        reply: The judge's reply.
        shown: The text that the judge was shown; a score that occurs in it counts as a quote.

    >>> read_rating('{"score": 87}').value, read_rating("Score: 87,5").value
    (87.0, 87.5)
    >>> read_rating("80-90").problem, read_rating("Sales rose by 87 %.").value
    ('it contains no single number from 0 to 100', None)
    """
    position, is_open = after_reasoning(reply)
    if is_open:
        return Rating(None, "its reasoning does not end")
    body = reply[position:].strip()
    shown_words = repeated_words(shown)
    nodes = [
        node for node in json_values(body, 0) if "{" in body[node.start : node.end]
    ]
    if not nodes:
        return _rating_of_text(body, shown_words)

    scores = []
    for node in nodes:
        text = body[node.start : node.end]
        is_broken = node.is_repaired and not _FLAT.fullmatch(text)
        if node.is_cut or node.is_doubtful or is_broken:
            return Rating(None, "its JSON is broken or was cut off")
        if repeated_words(text) not in shown_words:
            scores += _scores(node.value)
    texts = [
        str(score) if isinstance(score, str | int | float) else "" for score in scores
    ]
    # An object inside another one may be a quote.
    is_nested = re.search(r"[{\[][^{\[]*+[{\[]", body) is not None
    if is_nested and f" score {' '.join(texts[:1])} " in shown_words:
        return _only_rating([])
    # A slash with blanks around it separates the two values of a key given twice.
    return _only_rating(
        [_rating_of_text(text.replace(" / ", " or ")) for text in texts]
    )


def _only_rating(ratings: Sequence[Rating]) -> Rating:
    """Return the number on which all ratings agree, or why there is none."""
    if not ratings:
        return Rating(None, "it contains no single number from 0 to 100")
    if len({rating.value for rating in ratings}) > 1:
        return Rating(None, "it contains several different numbers")
    return ratings[0]


def _scores(value: object, depth: int = 0) -> list[object]:
    """Collect the scores in the objects of a JSON value; outer scores hide inner ones."""
    if depth > MAX_DEPTH or not isinstance(value, dict | list):
        return []
    entries: Iterable[object] = value
    if isinstance(value, dict):
        scores = [item for key, item in value.items() if plain_key(key) in _NAMES]
        if scores:
            return scores
        entries = value.values()
    return [score for entry in entries for score in _scores(entry, depth + 1)]


def _rating_of_text(text: str, shown_words: str = "") -> Rating:
    """Read the number of lines that are labelled as scores, or of lines that hold nothing else."""
    lines = [
        " ".join(_MARKS.sub(" ", line).split())
        for line in text.splitlines()[:MAX_LINES]
    ]
    # A number alone is no quote, even where the sample has it too.
    is_alone = len(lines) == 1 and lines[0][:1].isdigit()
    with_digits = [line for line in lines if re.search(r"\d", line)]
    ratings = [
        match
        for match in map(_LINE.fullmatch, with_digits)
        if match
        and (
            is_alone
            or repeated_words(match[0][: match.end("number")]) not in shown_words
        )
    ]
    labelled = [match for match in ratings if match["label"]]
    if not labelled and len(ratings) < len(with_digits):
        return _only_rating([])
    return _only_rating(
        [_rating_of_number(match["number"]) for match in labelled or ratings]
    )


def _rating_of_number(written: str) -> Rating:
    value = float(written.replace(",", "."))
    if value > HIGHEST:
        return Rating(None, f"the number {value:g} is outside 0 to 100")
    if 0.0 < value <= 1.0 and written != "1":
        return Rating(None, "the number is at most 1, so its scale is not 0 to 100")
    return Rating(value)
