"""Recognise what a reply repeats of the sample, since verdicts in a sample's text are not the judge's.

A judge may quote such a text as it is, without its escapes, tags and line prefixes, or shortened.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from tcva_adapters.judges.labels import (
    ELLIPSIS,
    Label,
    ParsedVerdict,
    read_label,
)
from tcva_adapters.judges.reply_lines import LABEL_END
from tcva_adapters.judges.reply_values import verdicts_in
from tcva_adapters.models.reply_json import (
    MAX_REPAIRED,
    Node,
    json_values,
)
from tcva_adapters.text.words import words_of

_CODE = re.compile(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_DRESS = re.compile(
    r"""
    \\+[nrt]?
    |</?[a-zA-Z][^<>]{0,100}>
    |^[ \t]*+(?:[>|*•#-]++[ \t]*+)++
    |\|[ \t]*+$
    """,
    re.MULTILINE | re.VERBOSE,
)
_MAY_HOLD_JSON = re.compile(r"[{\[]|\\u|&#")
"""A bracket, or the beginning of an escape that may stand for one."""

_Essence = tuple[int | None, Label | None, str]


def _undressed(text: str) -> str:
    """Remove the escapes, tags and line prefixes of a text."""
    return _DRESS.sub(" ", html.unescape(html.unescape(_CODE.sub(r"&#x\1\2;", text))))


def repeated_words(text: str) -> str:
    r"""The words of a text that stay the same when it is quoted, with blanks between and around them.

    >>> repeated_words('> **1.** \\"Fully&quot;') == repeated_words("<li>1) fully</li>") == " 1 fully "
    True
    """
    return f" {' '.join(words_of(_undressed(text)))} "


def is_quoted_json(
    text: str,
    verdicts: Sequence[ParsedVerdict],
    shown: tuple[str, ...],
) -> bool:
    """Whether the sample contains some JSON in the same words or with the same verdicts.

    Args:
        text: The JSON as the reply has it.
        verdicts: The verdicts in it.
        shown: The texts of the sample.
    """
    words, sample_verdicts = _json_shown(shown)
    return repeated_words(text) in words or sample_verdicts.issuperset(
        map(_essence, verdicts)
    )


def _essence(verdict: ParsedVerdict) -> _Essence:
    """The parts of a verdict that stay the same when it is quoted in other words, or shortened."""
    is_shortened = ELLIPSIS.search(verdict.evidence)
    evidence = "" if is_shortened else repeated_words(verdict.evidence).strip()
    return verdict.number, verdict.label, evidence


@lru_cache(maxsize=16)
def _json_shown(shown: tuple[str, ...]) -> tuple[str, set[_Essence]]:
    """The words of a sample that contains JSON, and the verdicts in that JSON.

    Each verdict is listed with and without its number and its quote. A key that occurs twice counts
    with both of its words.
    """
    essences: set[_Essence] = set()
    nodes = nodes_shown(shown)
    for node in nodes:
        for verdict in verdicts_in(node.value):
            number, label, evidence = _essence(verdict)
            labels = {
                label,
                *map(read_label, re.split(r"[^\w\s-]+", str(verdict.word))),
            }
            essences.update(product((number, None), labels, (evidence, "")))
    return "|".join(map(repeated_words, shown)) if nodes else "", essences


def nodes_shown(shown: Sequence[str]) -> list[Node]:
    """Find the JSON values in the sample's texts, as they are written and without escapes."""
    nodes: list[Node] = []
    for text in shown:
        if _MAY_HOLD_JSON.search(text):
            for form in (text, _undressed(text)):
                nodes += json_values(form, 0, MAX_REPAIRED // len(shown))
    return nodes


def is_quoted_line(
    line: str,
    verdict: ParsedVerdict,
    words_shown: str,
) -> bool:
    """Whether the sample has the label of a line after the same words, or before the same words.

    A line may also repeat a part of a text of the sample that begins with its label. This counts if
    the label has several words, or if the line has another label as well.

    Args:
        line: The line from its number on.
        verdict: The verdict in it.
        words_shown: The words of each text of the sample, with bars between the texts.
    """
    label = repeated_words(str(verdict.word))
    whole = ELLIPSIS.sub("", line)
    before, _, behind = repeated_words(whole).partition(label)
    if before + label in words_shown:
        return True

    is_part = behind or whole != line
    start = label + " ".join(behind.split()[:2]) if is_part else f"|{label}|"
    # A level alone in lower case is the reply that was asked for.
    if start in words_shown and (is_part or not line.islower()):
        return True

    labels = {*map(read_label, LABEL_END.split(verdict.reason))}
    has_others = bool(labels - {None, verdict.label})
    return f"|{label}" in words_shown and (has_others or " " in label.strip())
