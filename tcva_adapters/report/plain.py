"""Values as a browser's JSON reader takes them, and JSON that cannot end the block it stands in."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from tcva_adapters.results.assessment import written_out

_LARGEST_WHOLE: Final = 2**53
_ESCAPED: Final = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def plain(value: Any) -> Any:
    """A value of any kind as JSON values: what is not finite is None, what JSON lacks is text.

    >>> plain({"a": float("nan"), 1: (2, b"x"), "big": 2**60})
    {'a': None, '1': [2, 'x'], 'big': '1152921504606846976'}
    """
    return _exact(written_out(value))


def _exact(value: Any) -> Any:
    """The same with numbers that a browser has, too; whole numbers beyond them are text."""
    if isinstance(value, dict):
        return {name: _exact(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        return str(value)
    return value


def inert_json(value: Any) -> str:
    r"""One line of JSON without a character that HTML or a text file could take for something else.

    >>> print(inert_json("</script>&"))
    "\u003c/script\u003e\u0026"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
