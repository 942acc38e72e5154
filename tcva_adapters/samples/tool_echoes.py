"""Statements among the arguments of a tool's call, and tool results without them.

A statement that a tool repeats from its arguments is no context, since the model wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_ARGUMENTS = frozenset(
    [
        "arguments",
        "args",
        "input",
        "tool_kwargs",
        "inputParameters",
        "input_parameters",
        "queries",
        "action",
        "operation",
    ]
)
"""Names of the arguments of a tool's call in all interfaces."""

_SENTENCE_END = re.compile(
    "[.!;](?=[\\s\"'`]|$)|[\u3002\uff01\uff1b\n\"`\u201c\u201d]|['\u2019](?!\\w)|(?<!\\w)['\u2018]"
)
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\W{_UNSPACED}]+")
"""A word, or one or two characters of a script without spaces."""
_PIECE = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_BEFORE = "(?P<before>(?:^|[\"'\u201c\u2018\u00ab\u300c\u300e(\\[{:\uff1a\n.!?\u3002\uff01\uff1f\uff1b;>\u2013\u2014\u2713\u2714\u2705-]|\\bthat\\b)[^\\S\n]*[*_`]*)?"
"""The text that may stand before a statement that is repeated as a whole."""
_BEHIND = "(?=[*_`]*\\s*(?:$|\"(?!\\s*:)|['\u201d\u2019\u00bb\u300d\u300f)\\]},.!;<\u3002\uff0c\uff01\uff1b\u2713\u2714\u2705\n\\\\]))"
"""The text that must stand behind it: no rest of a sentence, and no answer to a question."""
_CODE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt])")
_MANY = 100
"""A text that repeats more statements is a copy of them."""
FEW_WORDS = 3
"""The fewest words that state something."""
_ENOUGH_WORDS = 60
"""Words of a statement that are compared: a text with so many in a row repeats the rest."""
_REST = "[^.!?\n\u3002\uff01\uff1f]*"
"""The rest of a sentence."""


Words = tuple[str, ...]
"""A statement, or its beginning."""


def statements_in(message: Any, is_argument: bool = False) -> Iterator[Words]:
    """Yield the statements in the arguments of a message's tool calls, without names and ids.

    Args:
        message: A message, or a part of one.
        is_argument: Whether it is a part of an argument.

    >>> call = {"function": {"name": "remember", "arguments": '{"text": "Ada is the captain."}'}}
    >>> [*statements_in({"role": "assistant", "tool_calls": [call]})]
    [('ada', 'is', 'the', 'captain')]
    """
    if isinstance(message, Mapping | list | tuple):
        parts = message.items() if isinstance(message, Mapping) else enumerate(message)
        for name, part in parts:
            if is_argument or name != "output":
                yield from statements_in(part, is_argument or name in _ARGUMENTS)
    elif isinstance(message, str) and is_argument:
        for text in _SENTENCE_END.split(_decode(message)):
            words = _WORD.findall(text)
            if sum(map(str.isalpha, words)) >= FEW_WORDS and not text.istitle():
                yield tuple(_PIECE.findall(text.lower())[:_ENOUGH_WORDS])


def without_statements(statements: Mapping[Words, set[int]], text: str) -> str:
    """Take repeated statements out of a tool's output; the result is empty if little else is left.

    Case, punctuation and the spaces between words do not matter. The words of a search query that
    stand inside the sentences of a found text are not taken out.

    Args:
        statements: All statements, and the first words of each with the lengths, in words, of the
            statements that begin so: a text is searched once, however many there are.
        text: The output of the tool.

    >>> said = {("ada", "is", "the"): {4}, ("ada", "is", "the", "captain"): set()}
    >>> without_statements(said, 'Hits for "ada is the captain". The log names Ada.')
    'Hits for "…". The log names Ada.'
    >>> without_statements(said, "Saved: Ada is the captain."), without_statements(said, "Ada is the captain of Vega.")
    ('', 'Ada is the captain of Vega.')
    """
    left = kept = plain = _decode(text)
    words = _PIECE.findall(plain.lower()) if statements else []
    repeated = {
        tuple(words[place : place + size])
        for place in range(len(words))
        for size in statements.get(tuple(words[place : place + FEW_WORDS]), ())
    }
    repeated &= statements.keys()
    if len(repeated) > _MANY:
        return ""
    for statement in sorted(repeated):
        behind = _BEHIND if len(statement) < _ENOUGH_WORDS else _REST
        pattern = re.compile(
            _BEFORE + r"[\W_]*".join(statement) + behind, re.IGNORECASE
        )
        left = pattern.sub(" ", left)
        kept = pattern.sub(_with_mark, kept)
    if left == plain:
        return text
    n_words = len(_WORD.findall(left))
    if n_words < FEW_WORDS and not any(map(str.isdigit, left)):
        return ""
    return kept


def _with_mark(repeated: re.Match[str]) -> str:
    """Replace a statement that is repeated as a whole by a mark; leave any other text."""
    before = repeated["before"]
    return repeated[0] if before is None else f"{before}…"


def _decode(text: str) -> str:
    """Decode the characters and line breaks that JSON has escaped in a text."""
    return _CODE.sub(lambda code: chr(int(code[1] or "a", 16)), text)
