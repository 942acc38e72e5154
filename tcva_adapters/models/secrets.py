"""Take secrets out of texts."""

from __future__ import annotations

import base64
import os
import re
from functools import lru_cache
from html import unescape
from itertools import product
from urllib.parse import unquote

from tcva_adapters.samples.sample import whole_characters

HIDDEN = "***"
LONGEST_QUOTE = 300
"""Characters of a server's or package's own words in a message."""

_READ = 10_000
"""Characters of a text that are looked at for a message: a server may send megabytes."""

_IS_SECRET = re.compile(r".{10}|(?=.*\d).{6}", re.DOTALL)
"""Shorter texts are not secrets: placeholders such as ``none`` are words that replies hold."""

# A value needs a digit, another sign that it is no word, or many characters.
_SHAPED = re.compile(
    r"\b(?:sk|pk|rk|gsk|csk|xai|hf|pplx|r8|ghp|glpat|nvapi|key)[-_]"
    r"(?:(?=[\w.-]{0,200}[\d*])[\w*.-]{6,}|[\w.-]{16,})"
    r"|\b(?:sk|gsk)[-_][A-Za-z0-9]{10,}"
    r"|\bAIza[\w-]{16,}"
    r"|(?<=://)[^\s/@]{1,200}@"
    r"|(?<![\w:/])[\w.+-]{1,60}:[^\s:@/]{1,60}@(?=[\w-]{1,60}[.:])"
)
_NAMED = re.compile(
    r"(?P<name>\b(?:bearer|basic)\s{1,9}|key[\"']?\s{0,9}[:=]\s{0,9}[\"']?)"
    r"(?:(?=\S{0,200}[\d=])|(?-i:(?=\S{0,200}[a-z][A-Z]))|(?=[^\s\"',;&}]{16}))[^\s\"',;&}]{6,}",
    re.IGNORECASE,
)
_BETWEEN = (
    r"(?:=?+(?:[\\]++(?:[nrt]\s*+)?+|[\r\n]\s*+)|[\u00ad\u200b-\u200d\u2060\ufeff])*+"
)
"""Characters that may stand between two characters of a secret: a line break, an escaped one, or a backslash of JSON."""

_UNITS = (
    re.compile(r'(?<![^\s"])[^\s"%&\\]*+[%&\\][^\s"]*(?<!\\)'),
    re.compile(r'(?:[^\s"\\]|(?<!\\)\\++\S)+'),
    re.compile(".+", re.DOTALL),
)
"""Parts of a text that may hold an encoded secret, smallest first: words, quoted words, the whole text."""

_HEX = re.compile(
    r"(?:(?<!\\)\\+|%)(?:u\{?|x)((?<!x)[\da-f]{4}|[\da-f]{2})\}?", re.IGNORECASE
)

_LAYERS = 5
"""Encodings inside each other that are undone, such as JSON in HTML in an address."""

SECRET_NAME = re.compile(
    r"(?:^|[_-]|api)key$|secret|passw|credential|auth|cookie|(?:^|access|session|api)[_-]?token$",
    re.IGNORECASE,
)
"""Names of arguments, headers and parts of a query that hold a secret."""


def mask(text: str, *secrets: str) -> str:
    r"""Take secrets, and the API keys of the environment, out of a text, also where they are encoded.

    It knows the encodings of JSON, addresses and HTML, up to five inside each other, base 64
    inside these, and wrapped lines. A secret that JSON merely escapes is replaced alone. Where
    more of it is encoded, the word that holds it is replaced, or the whole text if the secret has
    several words.

    Args:
        text: The text.
        *secrets: Keys and passwords; those of fewer than ten characters count only with a digit, and
            six characters.

    >>> mask(r'it was at=hunter2%2fx, and {"password": "hunter2\/x"}', "hunter2/x")
    'it was *** and {"password": "***"}'
    """
    keys = [value for name, value in os.environ.items() if name.endswith("_API_KEY")]
    pattern = _pattern((*secrets, *keys))

    def masked(unit: re.Match[str]) -> str:
        return HIDDEN if pattern.search(_decoded(unit[0])) else unit[0]

    text = pattern.sub(HIDDEN, text)
    if pattern.search(_decoded(text)):
        for unit in _UNITS:
            text = unit.sub(masked, text)
    return text


@lru_cache(maxsize=32)
def _pattern(secrets: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern of all secrets that are long enough, as they may stand in a decoded text."""
    kept = [*filter(_IS_SECRET.search, secrets)]
    # Without what `_BETWEEN` skips, or it would be looked for twice.
    forms = [re.sub(r"\\[nrt]?", "", _decoded(secret)) for secret in kept]
    for n_before, secret in product(range(3), kept):
        # Base 64 takes three bytes at once, so that what stands before a secret shifts it. Left out
        # are the characters at both ends that depend on what stands beside it.
        raw = bytes(n_before) + secret.encode()
        encoded = base64.b64encode(raw).decode()
        start = n_before + 1 if n_before else 0
        forms.append(encoded[start : len(raw) * 8 // 6])
    forms.sort(reverse=True)  # longer ones before those that they begin with
    return re.compile(
        "|".join(_BETWEEN.join(map(re.escape, f)) for f in forms) or "(?!)"
    )


def _decoded(text: str) -> str:
    """Undo the encodings of JSON, addresses and HTML in a text."""
    for _ in range(_LAYERS):
        text = unescape(unquote(_HEX.sub(r"&#x\1;", text)))
    return text


def quotable(text: str, *secrets: str) -> str:
    """Make a text fit for a message: on one line, not too long, without secrets.

    >>> quotable("Incorrect API key provided: sk-abcdefgh1234")
    'Incorrect API key provided: ***'
    """
    # Twice as much is masked, since a secret that is cut in half would not be
    # recognised.
    text = mask(whole_characters(text[: 2 * _READ]), *secrets)[:_READ]
    text = _NAMED.sub(rf"\g<name>{HIDDEN}", _SHAPED.sub(HIDDEN, text))
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "..."
