"""Recognises what a reply repeats of the sample: verdicts in a text are no verdicts on it.

A judge may quote such a text as it stands, without its escapes, tags and marks of lines, or shortened.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import TypeAlias

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
_Essence: TypeAlias = tuple[int | None, Label | None, str]


def _undressed(text: str) -> str:
    """A text without escapes, tags and prefixes of lines."""
    coded = _CODE.sub(r"&#x\1\2;", text)
    return _DRESS.sub(" ", html.unescape(html.unescape(coded)))


def repeated_words(text: str) -> str:
    r"""The words of a text as they stay when it is quoted, between blanks.

    >>> repeated_words('> **1.** \\"Fully&quot;') == repeated_words("<li>1) fully</li>") == " 1 fully "
    True
    """
    return f" {' '.join(words_of(_undressed(text)))} "


def is_quoted_json(
    text: str,
    verdicts: Sequence[ParsedVerdict],
    shown: tuple[str, ...],
) -> bool:
    """Whether the sample has this JSON, in the same words or with the same verdicts.

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
    """The parts of a verdict that stay when it is quoted in other words, or shortened."""
    is_shortened = ELLIPSIS.search(verdict.evidence)
    evidence = "" if is_shortened else repeated_words(verdict.evidence).strip()
    return verdict.number, verdict.label, evidence


@lru_cache(maxsize=16)
def _json_shown(shown: tuple[str, ...]) -> tuple[str, set[_Essence]]:
    """The JSON of the sample, as words and as verdicts: without number or quote as well.

    A key that is there twice has both of its words.
    """
    essences: set[_Essence] = set()
    nodes = nodes_shown(shown)
    for node in nodes:
        for verdict in verdicts_in(node.value):
            number, label, evidence = _essence(verdict)
            words = re.split(r"[^\w\s-]+", str(verdict.word))
            labels = {label, *map(read_label, words)}
            essences.update(product((number, None), labels, (evidence, "")))
    return "|".join(map(repeated_words, shown)) if nodes else "", essences


def nodes_shown(shown: Sequence[str]) -> list[Node]:
    """The JSON values in the sample's texts, as they stand and without escapes."""
    nodes: list[Node] = []
    for text in shown:
        if re.search(r"[{\[]|\\u|&#", text):
            for form in (text, _undressed(text)):
                nodes += json_values(form, 0, MAX_REPAIRED // len(shown))
    return nodes


def is_quoted_line(
    line: str,
    verdict: ParsedVerdict,
    words_shown: str,
) -> bool:
    """Whether the sample has the label of a line behind the same words, or before the same ones.

    A text that begins with several words which are a label, or with one where the line has another
    label, too, may be repeated in part.

    Args:
        line: The line from its number on.
        verdict: The verdict in it.
        words_shown: The words of each text of the sample between bars.
    """
    label = repeated_words(str(verdict.word))
    whole = ELLIPSIS.sub("", line)
    before, _, behind = repeated_words(whole).partition(label)
    is_part = behind or whole != line
    start = label + " ".join(behind.split()[:2]) if is_part else f"|{label}|"
    other_labels = {*map(read_label, LABEL_END.split(verdict.reason))} - {
        None,
        verdict.label,
    }
    is_start = f"|{label}" in words_shown and (other_labels or " " in label.strip())
    # A level alone in small letters is what was asked for.
    is_shown = start in words_shown and (is_part or not line.islower())
    return bool(before + label in words_shown or is_shown or is_start)
