"""JSON as this field writes it: strict values, and the items of a list of any length one by one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

EXTRA_DATA: Final = "Extra data"
"""What the parser says of more than one value."""

_NO_COMMA: Final = "Expecting ',' delimiter"
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_LONGEST_WORD: Final = 16
"""Characters: an error so near to the end may be one of a word or an escape that is cut off."""
_NUMBER_GOES_ON: Final = 3
"""Characters after which it is clear that a number does not go on, which 1 does in ``1e-5``."""


def loads(text: str) -> Any:
    """Strict JSON: no NaN, no infinities, no half of a surrogate pair.

    Raises:
        ValueError: With a sentence; a `json.JSONDecodeError` where the text is no JSON at all.
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    _check_characters(value, text)
    return value


class JSONItems:
    """The items of a list in JSON, from texts that it comes in.

    Held is one item, and the block that it ends in.

    Attributes:
        is_list: Whether the document is one; what it is otherwise is read by `whole`.
    """

    def __init__(self, texts: Iterator[str]) -> None:
        """Read until the first character that is no blank.

        Args:
            texts: Parts of a document, none empty, in order.
        """
        self._texts = texts
        self._text = ""
        self._at = 0
        self._line, self._column = 1, 1
        while self._is_blank() and self._read():
            pass
        self.is_list = self._text[self._at : self._at + 1] == "["

    def whole(self) -> str:
        """The document that is no list."""
        return self._text + "".join(self._texts)

    def __iter__(self) -> Iterator[Any]:
        """The items, each parsed when it is asked for.

        Raises:
            json.JSONDecodeError: With line and column of the document.
            ValueError: With a sentence; see `loads`.
        """
        self._at += 1
        if self._next() != "]":
            yield self._item()
            while self._next() == ",":
                self._at += 1
                yield self._item()
            if self._next() != "]":
                raise self._error(_NO_COMMA, self._at)
        self._at += 1
        if self._next():
            raise self._error(EXTRA_DATA, self._at)

    def _item(self) -> Any:
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise ValueError(_TOO_DEEP) from None
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or (
                    error.pos >= len(self._text) - _LONGEST_WORD
                )
                if not (is_cut and self._read()):
                    raise self._error(error.msg, error.pos) from None
                continue
            if end + _NUMBER_GOES_ON <= len(self._text) or not self._read():
                _check_characters(value, self._text[self._at : end])
                self._at = end
                return value

    def _next(self) -> str:
        """The next character that is no blank; empty at the end."""
        while self._is_blank() and self._read():
            pass
        return self._text[self._at : self._at + 1]

    def _is_blank(self) -> bool:
        match = _BLANKS.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at == len(self._text)

    def _read(self) -> bool:
        """Whether there was more; as much again as waits, so that long items need few steps."""
        waiting = self._text[self._at :]
        size, parts = 0, [waiting]
        while size <= len(waiting) and (text := next(self._texts, "")):
            parts.append(text)
            size += len(text)
        if size:
            self._line, self._column = self._place(self._at)
            self._text, self._at = "".join(parts), 0
        return size > 0

    def _place(self, at: int) -> tuple[int, int]:
        """Line and column of a character that is there."""
        lines = self._text.count("\n", 0, at)
        if not lines:
            return self._line, self._column + at
        return self._line + lines, at - self._text.rfind("\n", 0, at)

    def _error(self, msg: str, at: int) -> json.JSONDecodeError:
        error = json.JSONDecodeError(msg, self._text, at)
        error.lineno, error.colno = self._place(at)
        return error


def _check_characters(value: Any, text: str) -> None:
    if "\\u" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        msg = "an escape such as \\ud83d stands alone, which is half a character"
        raise ValueError(msg) from None


def _refuse_constant(word: str) -> NoReturn:
    msg = f"{word} is not a JSON value; write null or leave the field out"
    raise ValueError(msg)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        msg = f"the number {digits} is too large"
        raise ValueError(msg)
    return number


_TOO_DEEP: Final = "nested too deeply to be a record"
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
