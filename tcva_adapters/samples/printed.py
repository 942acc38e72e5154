"""Lists as csv files hold them: what Python, numpy or JSON prints of a list, read back to the list.

A text that only begins with a bracket is a text. One that looks like a printed list and cannot be
read back for certain is refused: as one passage it would change what is judged, and nobody would see.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any, Final, NamedTuple

from tcva_adapters.errors import InvalidSampleError

# What `repr` writes between quotes. The quantifiers are possessive: one pass, whatever the text.
_ESCAPE: Final = r"""\\(?:[\\'"abfnrtv]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"""
_QUOTED: Final = rf"""(?:'(?:[^'\\\n]++|{_ESCAPE})*+'|"(?:[^"\\\n]++|{_ESCAPE})*+")"""
_ITEM: Final = re.compile(rf"(?P<scalar>np\.str_\()?(?P<quoted>{_QUOTED})(?(scalar)\))")
_GAP: Final = re.compile(r"\s*+(?P<comma>,)?\s*+")
_ARRAY: Final = re.compile(r"array\((?P<items>\[.*\])(?:,\s*dtype=[^()]*)?\)", re.DOTALL)
_OBJECTS: Final = re.compile(r"\[\s*\{\s*['\"]")
_LOOKS_PRINTED: Final = re.compile(
    r"\[[\s\[(]*(?:[bBrRuU]?['\"]|np\.str_\(|\w+\((?:\w+=|[\[(])|(?:None|nan|null)\s*[,\]]|\{\s*['\"](?:page_content|text|content)['\"])"
)
_SHORTENED: Final = re.compile(r"['\"]\s*(?:\.\.\.|…)\s*['\"]")
_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}
_SHOWN: Final = 40
_LONGEST_LITERAL: Final = 500_000  # characters; Python's parser takes up to a second for them


class _Scan(NamedTuple):
    """Quoted texts from a bracket on.

    Attributes:
        items: The texts.
        commas: Whether a comma stands between two of them; both, where there are both kinds.
        closed: Whether nothing but the closing bracket follows.
        trailing: Whether a comma stands in front of that.
        rest: What was not read.
    """

    items: list[str]
    commas: set[bool]
    closed: bool
    trailing: bool
    rest: str


def printed_items(name: str, text: str) -> list[Any] | None:
    """The items of a printed list.

    Args:
        name: The field, for messages.
        text: What stands in it.

    Returns:
        Texts or mappings; None for a text that is no printed list of them.

    Raises:
        InvalidSampleError: It looks like a printed list, and is shortened, cut off or ambiguous.

    >>> printed_items("contexts", "['a', 'b']"), printed_items("contexts", "['a' 'b']")
    (['a', 'b'], ['a', 'b'])
    >>> printed_items("contexts", "[1] The museum [opens at nine]")
    """
    text = text.strip()
    if (array := _ARRAY.fullmatch(text)) is not None:
        text = array["items"]
    if text.startswith(("(", "{")):
        return _in_other_brackets(text)
    if not text.startswith("["):
        return None
    values = parsed(text) if text.endswith("]") else None
    if isinstance(values, list) and (
        all(isinstance(value, str) for value in values)
        or all(isinstance(value, dict) for value in values)
    ):
        return values
    if not _LOOKS_PRINTED.match(text):
        return None
    scan = _scan(text)
    if scan.closed and len(scan.commas) < 2:  # not both
        return scan.items
    is_cut = bool(scan.items) and scan.rest[:1] in ("", "'", '"')
    if not (text.endswith("]") or is_cut):
        return None
    why = "its quotes or commas are not those of Python, numpy or JSON"
    if is_cut and not text.endswith("]"):
        why = "its end is cut off"
    if _SHORTENED.search(text):
        why = "it is shortened with '...'"
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    msg = (
        f"field {name!r} looks like a printed list, {shown!r}, but {why}; save it as a JSON list "
        'of texts ["...", "..."], or as jsonl or parquet'
    )
    raise InvalidSampleError(msg)


def parsed(text: str) -> Any:
    """A text as JSON, or as Python prints a list of mappings or a mapping; None where it is neither.

    >>> parsed("{'a': None}"), parsed('["b"]'), parsed("Ada")
    ({'a': None}, ['b'], None)
    """
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    is_literal = text.startswith("{") or _OBJECTS.match(text)
    if not is_literal or len(text) > _LONGEST_LITERAL:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _scan(text: str) -> _Scan:
    closing = _CLOSING[text[0]]
    items: list[str] = []
    commas: set[bool] = set()
    trailing = False
    place = len(text) - len(text[1:].lstrip())
    last = len(text) - 1
    while (item := _ITEM.match(text, place)) is not None:
        items.append(_unquoted(item["quoted"]))
        gap = _GAP.match(text, place := item.end())
        if gap is None or (gap.end() == place < last):
            break  # two texts without even a blank between them
        place = gap.end()
        if place >= last:
            trailing = gap["comma"] is not None
            break
        commas.add(gap["comma"] is not None)
    rest = text[place:]
    return _Scan(items, commas, rest == closing, trailing, rest)


def _in_other_brackets(text: str) -> list[Any] | None:
    """The items of a tuple or a set; a mapping as the only item."""
    if text == "()":
        return []
    if text.startswith("{") and isinstance(mapping := parsed(text), dict):
        return [mapping]
    scan = _scan(text)
    # Without a comma, brackets around a quote are those of a sentence.
    is_one = len(scan.items) == 1 and (scan.trailing or text.startswith("{"))
    return scan.items if scan.closed and (is_one or scan.commas == {True}) else None


def _unquoted(quoted: str) -> str:
    inner = quoted[1:-1]
    if "\\" not in inner:
        return inner
    return inner.encode("latin-1", "backslashreplace").decode("unicode_escape")
