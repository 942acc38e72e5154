"""Answers of one word as shares of what could be answered: from probabilities, or from draws."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Final

from tcva_adapters.judging.logprobs import alternatives
from tcva_adapters.models.protocol import ModelReply, TokenLogprob
from tcva_adapters.models.reply_json import after_reasoning
from tcva_adapters.printing import visible

MOST_OUTSIDE: Final = 0.5
"""With more of the mass outside what was asked for, an answer says nothing."""

_FIRST_WORD: Final = re.compile(r"[^\w]*(\w+)")
_GOES_ON: Final = re.compile(r"[/|&'’-]\w")
"""Behind a word that is a part of another one: ``N/A``, ``no-one``."""
_FURTHER: Final = re.compile(r"\s*(?:[,/|&]|or\b|and\b)\s*(\w+)", re.IGNORECASE)
"""Behind an answer that is one of several: ``B or C``."""
_ARTICLE: Final = re.compile(r"[Aa][ \t]+(?!fully\b)[a-z]")
"""``A claim`` is no letter A; ``A fully`` is one."""
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer says.

    Attributes:
        shares: Of what could be answered, in its order; they sum to 1, or are all 0 where nothing
            could be read.
        outside: The share of the mass that lies elsewhere, 0 to 1, before the others were divided by
            what is left.
        instead: What stands there in place of an answer, where most of the mass is outside.
    """

    shares: tuple[float, ...]
    outside: float
    instead: str = ""

    @property
    def is_good(self) -> bool:
        """Whether at least half of the mass lies on what could be answered."""
        return self.outside <= MOST_OUTSIDE


def read_tokens(reply: ModelReply, answers: Sequence[str]) -> Reading | None:
    """The shares of the answers by the probabilities of a reply's first word; None without any.

    Alternatives that are an answer or begin one count for it, whatever their case, blanks and marks;
    a beginning that several answers share is split equally. A token without letters or digits is
    passed over. The token that was written counts as what it became: an ``A`` that goes on as
    ``Answer`` is none.

    >>> top = (("Yes", math.log(0.5)), (" yes", math.log(0.25)), ("no", math.log(0.125)))
    >>> reply = ModelReply("Yes", token_logprobs=(TokenLogprob("Yes", math.log(0.5), top),))
    >>> found = read_tokens(reply, ("yes", "no"))
    >>> [round(share, 3) for share in found.shares], round(found.outside, 3)
    ([0.857, 0.143], 0.125)
    """
    try:
        tokens = list(dropwhile(lambda each: not _says_something(each), reply.token_logprobs or ()))
        if not tokens or not tokens[0].top:
            return None
        written = tokens[0].token
        meant = _answer_in("".join(token.token for token in tokens), answers)
        became = meant if _begun(written, answers) else written
        weighed = [(became if text == written else text, p) for text, p in alternatives(tokens[0])]
    except (TypeError, ValueError):
        return None  # tokens of a model that are no tokens
    return _reading(weighed, answers, 1.0)


def read_draws(texts: Sequence[str], answers: Sequence[str]) -> Reading:
    """The shares of the answers among drawn texts, by their first word; nothing is added to counts.

    >>> read_draws(["B", "b.", "A: fully", "A claim"], ("A", "B", "C", "D", "E")).shares[:2]
    (0.3333333333333333, 0.6666666666666666)
    """
    behind = [(text, *after_reasoning(text)) for text in texts]
    said = [text if is_open else text[start:] for text, start, is_open in behind]
    return _reading([(_answer_in(text, answers), 1.0) for text in said], answers, len(texts))


def _says_something(token: TokenLogprob) -> bool:
    return any(char.isalnum() for char in token.token)


def _answer_in(text: str, answers: Sequence[str]) -> str:
    """The first word where it stands for itself, else all from there on: that is no answer.

    >>> [_answer_in(text, ("A", "B")) for text in ("**B**, since", "N/A", "A or B", "a claim")]
    ['B', 'N/A', 'A or B', 'a claim']
    """
    match = _FIRST_WORD.match(text)
    if match is None:
        return text
    further = _FURTHER.match(text, match.end())
    others = {answer.casefold() for answer in answers} - {match[1].casefold()}
    is_part = (
        _GOES_ON.match(text, match.end())
        or _ARTICLE.match(text, match.start(1))
        or (further is not None and further[1].casefold() in others)
    )
    return text[match.start(1) :] if is_part else match[1]


def _reading(weighed: Sequence[tuple[str, float]], answers: Sequence[str], total: float) -> Reading:
    mass = [0.0] * len(answers)
    instead: dict[str, float] = {}
    for text, weight in weighed:
        begun = _begun(text, answers)
        for index in begun:
            mass[index] += weight / len(begun)
        if not begun:
            instead[text] = instead.get(text, 0.0) + weight
    inside = math.fsum(mass)
    shares = tuple(each / inside if inside > 0.0 else 0.0 for each in mass)
    outside = min(max(1.0 - inside / total, 0.0), 1.0) if total else 1.0
    most = max(instead, key=lambda text: instead[text], default="")
    return Reading(shares, outside, visible(most)[:_SHOWN] if outside > MOST_OUTSIDE else "")


def _begun(text: str, answers: Sequence[str]) -> list[int]:
    word = text.strip().strip("\"'`*_.,:;!()[]{}").casefold()
    return [i for i, answer in enumerate(answers) if word and answer.casefold().startswith(word)]
