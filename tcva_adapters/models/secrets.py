"""Secrets taken out of texts: those that are known, and what looks like one."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote

from tcva_adapters.samples.sample import whole_characters

HIDDEN: Final = "***"
LONGEST_QUOTE: Final = 300
"""Characters of a server's or package's own words in a message."""

_READ: Final = 10_000
"""Characters of a text that are looked at for a message: a server may send megabytes."""

_ENOUGH: Final = 6
_LONG: Final = 10
"""Characters that a secret has at least, with a digit among them and without one: placeholders
such as ``none`` or ``ollama`` are words that replies hold."""

# A value wants a digit, another sign that it is no word, or many characters.
_SHAPED: Final = re.compile(
    r"\b(?:sk|pk|rk|gsk|csk|xai|hf|pplx|r8|ghp|glpat|nvapi|key)[-_]"
    r"(?:(?=[\w.-]{0,200}[\d*])[\w*.-]{6,}|[\w.-]{16,})"
    r"|\b(?:sk|gsk)[-_][A-Za-z0-9]{10,}"
    r"|\bAIza[\w-]{16,}"
    r"|(?<=://)[^\s/@]{1,200}@"
    r"|(?<![\w:/])[\w.+-]{1,60}:[^\s:@/]{1,60}@(?=[\w-]{1,60}[.:])"
)
_NAMED: Final = re.compile(
    r"(?P<name>\b(?:bearer|basic)\s{1,9}|key[\"']?\s{0,9}[:=]\s{0,9}[\"']?)"
    r"(?:(?=\S{0,200}[\d=])|(?-i:(?=\S{0,200}[a-z][A-Z]))|(?=[^\s\"',;&}]{16}))[^\s\"',;&}]{6,}",
    re.IGNORECASE,
)


class Mask:
    """Takes known secrets out of texts, also as addresses, JSON and headers write them.

    Args:
        *secrets: Keys and passwords. Short words are none.

    >>> Mask("hunter2/x")("it was hunter2%2Fx, and hunter2/x")
    'it was ***, and ***'
    """

    def __init__(self, *secrets: str) -> None:
        plain = {form for secret in secrets for form in (secret, unquote(secret))}
        forms = {
            form
            for form in plain | {quote(each, safe="") for each in plain}
            if len(form) >= _LONG or (len(form) >= _ENOUGH and re.search(r"\d", form))
        }
        longest_first = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def __call__(self, text: str) -> str:
        """The text without them."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def mask_of_environment() -> Mask:
    """Takes out the keys that the environment holds, whoever uses them."""
    return _mask(tuple(os.environ[name] for name in os.environ if name.endswith("_API_KEY")))


@lru_cache(maxsize=32)
def _mask(secrets: tuple[str, ...]) -> Mask:
    return Mask(*secrets)


def quotable(text: str, mask: Mask | None = None) -> str:
    """A text fit for a message: on one line, not too long, without secrets.

    >>> quotable("Incorrect API key provided: sk-abcdefgh1234")
    'Incorrect API key provided: ***'
    """
    text = whole_characters(text[:_READ])
    for known in (mask, mask_of_environment()):
        text = text if known is None else known(text)
    text = _NAMED.sub(rf"\g<name>{HIDDEN}", _SHAPED.sub(HIDDEN, text))
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "..."
