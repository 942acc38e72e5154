"""Lists and objects as csv files hold them: as JSON, or as Python prints them.

One that looks printed and cannot be read back for certain is refused: as one passage it would change
what is judged, and nobody would see.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any, Final

from tcva_adapters.errors import InvalidSampleError

_PRINTED: Final = re.compile(
    r"""array\(\[|\[[\s\[]*(?:[bu]?['"]|(?:None|nan|null)\s*[,\]]|\w+\((?:\w+=|\[)|np\.str_\()"""
)
_WITH_ITEMS: Final = re.compile(r"""[\])]\Z|['"],\s*(?:['"]|\Z)""")
"""Such a text goes on like a list: it is closed, or cut off behind an item."""
_TOUCHING: Final = re.compile(r"""['"]\s*['"]""")
_SHORTENED: Final = re.compile(r"""['"],?\s*(?:\.\.\.|…)""")
_SHOWN: Final = 40
_LONGEST_LITERAL: Final = 500_000  # characters; Python's parser takes up to a second for them


def printed_items(name: str, text: str) -> list[Any] | None:
    """The items of a printed list.

    Args:
        name: The field, for messages.
        text: What stands in it.

    Returns:
        Texts or mappings; None for a text that is no printed list of them.

    Raises:
        InvalidSampleError: It looks like a printed list, and is shortened, cut off or of numpy.

    >>> printed_items("contexts", "['a', 'b']")
    ['a', 'b']
    >>> printed_items("contexts", "[1] The museum [opens at nine]")
    """
    text = text.strip()
    found = parsed(text)
    if isinstance(found, dict):
        return [found]
    if isinstance(found, list | tuple) and any(
        all(isinstance(item, kind) for item in found) for kind in (str, dict)
    ):
        return list(found)
    if not (_PRINTED.match(text) and _WITH_ITEMS.search(text)):
        return None
    why = (
        "it is shortened with '...'" if _SHORTENED.search(text) else "is neither JSON nor Python's"
    )
    msg = (
        f"field {name!r} looks like a printed list, {text[:_SHOWN]!r}, but {why}; save it as a "
        'JSON list of texts ["...", "..."], or as jsonl or parquet'
    )
    raise InvalidSampleError(msg)


def parsed(text: str) -> Any:
    """A list or object of JSON, or as Python prints it; None for any other text.

    >>> parsed("{'a': None}"), parsed('["b"]'), parsed("Ada")
    ({'a': None}, ['b'], None)
    """
    if not text.startswith(("[", "{", "(")):
        return None
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    if len(text) > _LONGEST_LITERAL:
        return None
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    # Python makes one text of two that stand side by side, which numpy prints as two.
    return None if _TOUCHING.search(text) and repr(found) != text else found
