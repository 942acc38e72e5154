"""From token probabilities to level probabilities."""

from __future__ import annotations

import math
import re
from itertools import accumulate
from typing import Final

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.judging.reply_words import SHOWN
from tcva_adapters.models.protocol import ModelReply, TokenLogprob

_SPELLINGS: Final = (
    *((i, level.value) for i, level in enumerate(LEVELS)),
    (LEVELS.index(Verdict.PARTIAL), "partially"),
)
_WORD_AMONG_MARKS: Final = re.compile(r"[^a-z]*([a-z]+)[^a-z]*")
_WORD: Final = re.compile(rf"[A-Za-z]{{1,{SHOWN}}}")
_ROUNDING: Final = 0.01
"""A log probability so far above 0 is still taken for one; beyond that it is something else."""
_MOST_MASS: Final = 1.05
"""Probabilities of alternatives are 1 together at most, but for what rounding adds."""


def level_probabilities(
    reply: ModelReply, start: int
) -> tuple[float, float, float, float, float] | None:
    """How likely the model held each level at the place where it wrote a verdict.

    The alternatives of the token there are sorted by the level whose word they are or begin;
    probabilities are summed and divided by their total, since what lies outside the listed
    alternatives is unknown. A beginning that several levels share ("m") is split equally.

    Args:
        reply: A reply with the log probabilities of its tokens.
        start: Where the verdict's word begins in the text, in characters.

    Returns:
        Five probabilities, fully first, that sum to 1; None where the reply has none for this
        place, no alternative names a level, or tokens and numbers are none.

    >>> top = ((' "fully', math.log(0.6)), ("none", math.log(0.2)), ("Sure", math.log(0.2)))
    >>> token = TokenLogprob(' "fully', math.log(0.6), top)
    >>> p = level_probabilities(ModelReply(' "fully', token_logprobs=(token,)), 2)
    >>> [round(x, 6) for x in p]
    [0.75, 0.0, 0.0, 0.0, 0.25]
    """
    try:
        token = _token_at(reply, start)
        weighed = [] if token is None or not token.top else alternatives(token)
    except (TypeError, ValueError, AttributeError):
        return None  # tokens of a model that are no tokens
    mass = [0.0] * len(LEVELS)
    for text, probability in weighed:
        levels = _levels_begun_by(text)
        for level in levels:
            mass[level] += probability / len(levels)
    total = math.fsum(mass)
    if not total > 0.0:
        return None
    fully, mostly, partial, minor, none = (share / total for share in mass)
    return fully, mostly, partial, minor, none


def alternatives(token: TokenLogprob) -> list[tuple[str, float]]:
    """What could have stood in a token's place, itself included, with probabilities.

    Raises:
        TypeError: The tokens of a model that are no tokens.
        ValueError: Numbers that cannot be probabilities: together they are more than 1, as where a
            server writes 0 for every log probability that it does not know.
    """
    found: list[tuple[str, float]] = []
    for text, logprob in (*token.top, (token.token, token.logprob)):
        if not (isinstance(text, str) and logprob <= _ROUNDING):  # refuses nan, too
            raise TypeError(text)
        found.append((text, math.exp(min(logprob, 0.0))))
    *listed, sampled = found
    total = math.fsum(p for _, p in listed)
    if total > _MOST_MASS:
        raise ValueError(total)
    # A server may list it in another spelling: then it would count twice.
    is_listed = sampled[0] in dict(listed) or total + sampled[1] > _MOST_MASS
    return listed if is_listed else found


def _levels_begun_by(text: str) -> list[int]:
    match = _WORD_AMONG_MARKS.fullmatch(text.lower())
    if match is None:
        return []
    return sorted({i for i, word in _SPELLINGS if word.startswith(match.group(1))})


def _token_at(reply: ModelReply, start: int) -> TokenLogprob | None:
    tokens = reply.token_logprobs
    if not tokens or not 0 <= start < len(reply.text):
        return None
    joined = "".join(token.token for token in tokens)
    if joined != reply.text:
        # Tokens that hold a part of a character are spelt differently from the text, so that
        # offsets drift; the verdict's word is found again by counting its occurrences.
        shifted = _same_word(reply.text, start, joined)
        if shifted is None:
            return None
        start = shifted
    ends = accumulate(len(token.token) for token in tokens)
    return next((token for token, end in zip(tokens, ends, strict=True) if start < end), None)


def _same_word(text: str, start: int, joined: str) -> int | None:
    match = _WORD.match(text, start)
    if match is None:
        return None
    word = match.group()
    before = text.count(word, 0, start)
    places = [m.start() for m in re.finditer(re.escape(word), joined)]
    return places[before] if len(places) == text.count(word) else None
