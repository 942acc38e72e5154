"""Sentences that assert nothing: greetings, questions back, offers and refusals."""

from __future__ import annotations

import re
from functools import lru_cache

from tcva_adapters.text.lists import patterns, variants

_LONGEST = 240  # characters; a longer sentence always counts as a claim
_SHORT_QUESTION = 4
_EDGES = ' \t.!¡…。！,，;:：~～*_"“”‘()（）-–—'
_EMOJI = re.compile("[\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]")
_CJK = re.compile("[\u3400-\u9fff]")
_BETWEEN = re.compile(r" ?[,，、!！;；] ?| [–—-] ")
# Patterns are simplified likewise, so that Japanese ones still match.
_SIMPLIFIED = str.maketrans({"’": "'", **variants("traditional")})


@lru_cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(patterns(name).translate(_SIMPLIFIED), re.IGNORECASE)


@lru_cache(maxsize=4096)
def non_claim_kind(sentence: str) -> str | None:
    """Name the kind of a sentence that asserts nothing; None where it may assert something.

    In doubt a sentence is a claim. One with a figure is a claim unless it is a refusal. A greeting,
    question or refusal that goes on to state something is a claim, too: each part of a refusal
    between commas, other marks and words of reason must claim nothing, and the sentence may take
    nothing for granted ("the drug that cures cancer", "why it is lethal"). Instructions to the judge
    are claims without support.

    Args:
        sentence: One sentence, best in English, German, Spanish, French, Japanese or Chinese;
            common phrases of a few more languages are known, too.

    Returns:
        ``greeting`` (also thanks, wishes, agreement, apologies, farewells, lead-ins), ``question``,
        ``offer``, ``refusal``, ``markup`` (nothing but tags of HTML,
        or a line of a list of sources that names nothing but a file, URL or id) or None.

    >>> [non_claim_kind(s) for s in ("Hello!", "How can I help?", "The dose is 5 mg.")]
    ['greeting', 'question', None]
    >>> non_claim_kind("I cannot find this in the documents.")
    'refusal'
    >>> non_claim_kind("I cannot find this in the documents, but the dose is 5 mg.") is None
    True
    """
    if len(sentence) > _LONGEST:
        return None
    plain = _EMOJI.sub("", sentence).translate(_SIMPLIFIED)
    bare = " ".join(plain.split()).strip(_EDGES)
    has_figure = any(map(str.isnumeric, _CJK.sub("", bare)))
    is_markup = _pattern("markup").fullmatch(bare) or _pattern(
        "heading_of_sources"
    ).fullmatch(sentence)
    if is_markup or (not has_figure and _is_polite(bare)):
        return "markup" if is_markup else "greeting"
    is_question = bare.endswith(("?", "？"))
    presupposes = _pattern("presupposing").search(bare)
    if not is_question and not presupposes and _is_refusal(bare):
        return "refusal"
    if has_figure or presupposes or _pattern("stated").search(bare):
        return None
    if is_question:
        return _question_kind(bare.rstrip("?？!！ ").lstrip("¿ "))
    asserts = _pattern("asserting").search(bare)
    return "offer" if not asserts and _pattern("offers").fullmatch(bare) else None


def _is_polite(bare: str) -> bool:
    """Whether each part of a sentence between commas is a polite phrase, or somebody's name.

    >>> _is_polite("Thanks, Anna"), _is_polite("Thanks, the drug is safe"), _is_polite("Sure, Monday")
    (True, False, False)
    """
    is_polite = _pattern("polite").fullmatch
    if is_polite(bare):
        return True
    may_name = _pattern("before_a_name").match(bare)
    first, *others = (part.strip(_EDGES) for part in _BETWEEN.split(bare))
    return is_polite(first) is not None and all(
        is_polite(part) or (may_name and _pattern("a_name").fullmatch(part))
        for part in others
    )


def _is_refusal(bare: str) -> bool:
    """Whether a part of a sentence refuses, and no other part states anything.

    >>> _is_refusal("Sorry, I don't know"), _is_refusal("I don't know the price, it is free")
    (True, False)
    """
    parts = [
        _pattern("before_a_refusal").sub("", part.strip(_EDGES))
        for part in _pattern("parting").split(bare)
    ]
    others = [part for part in parts if not _pattern("refusals").fullmatch(part)]
    return others != parts and all(
        _pattern("beside_a_refusal").fullmatch(part) or _is_polite(part)
        for part in others
    )


def _question_kind(bare: str) -> str | None:
    if _pattern("loaded").match(bare):
        return None
    if _pattern("offered").match(bare):
        return "offer"
    if _pattern("questions").match(bare):
        return "question"
    is_short = 0 < len(bare.split()) <= _SHORT_QUESTION
    if is_short and not bare.isascii():
        return "question"
    return None
