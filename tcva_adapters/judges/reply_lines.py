"""Verdicts in the lines of a reply that is no JSON, such as ``2. partial - reason``."""

from __future__ import annotations

import re

from tcva_adapters.judges.labels import NOUN, ParsedVerdict

LINE = re.compile(
    rf"""
    ^[ \t]*+
    (?:[-*•>|]++[ \t]*+)*+
    (?P<noun>{NOUN}[ \t]*+(?:no\.?|number)?[ \t]*+)?
    (?P<open>[#(\[]?)
    (?P<number>\d{{1,6}})
    (?P<separator>[)\]*.:|=–—\- \t]++)
    (?:(?:verdict|level)[* \t]*+[:=][* \t]*+)?
    (?![^\n]*(?:\n[^\w\n]*+)?\b(?:verdict|level)[* \t]*+[:=])
    (?P<rest>[^\n]*+)
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""A line that begins with the number of a claim."""

LABEL_END = re.compile(r"\s[-–—]|[:;,(|\t–—→]|\.(?!\.)")

_HEADING = re.compile(
    rf"(?:{NOUN}[\s_]*+(?:no\.?|number)?[\s_#(\[*]*+|^[^\w\n]*+(?=\d++[.):\]]))(\d{{1,6}})",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS_OF_A_LABEL = 3


def verdict_in_line(match: re.Match[str] | None) -> ParsedVerdict | None:
    """Read the verdict of a line such as ``2. partial - reason``; None where there is none.

    Args:
        match: A match of `LINE`; None for a line that it does not match.
    """
    if match is None:
        return None
    is_numbered = match["noun"] or match["open"] or match["separator"].strip()
    word, *behind = LABEL_END.split(match["rest"].lstrip(), maxsplit=1)
    reason = "".join(behind)
    if not is_numbered or len(word.split()) > _WORDS_OF_A_LABEL:
        return None
    return ParsedVerdict(int(match["number"]), word, reason=reason.strip(" \t-–—)|*"))


def numbers_in_heading(text: str) -> set[int]:
    """Find the claim numbers in the text in front of a verdict."""
    return {*map(int, _HEADING.findall(text))}
