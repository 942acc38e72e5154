"""The evidence check, which lowers a high level whose quote is made up or does not support the claim.

A judge that makes up its quote has hardly read the passages, and a real quote may say something else.
`text.quotes` finds a quote in the passages. Whether it contradicts its claim is told by
`text.contradiction` (negations, opposites, degrees), `text.numbers` and `text.differing_details`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.results.assessment import ClaimVerdict, EvidenceCheck
from tcva_adapters.results.evidence import HIGH, lower_unsupported
from tcva_adapters.text.contradiction import (
    contradicts,
    denies,
    opposed,
)
from tcva_adapters.text.differing_details import says_otherwise
from tcva_adapters.text.lists import word_list
from tcva_adapters.text.numbers import other_numbers, values
from tcva_adapters.text.quotes import (
    LONGEST,
    Passages,
    QuotePlace,
    find_quote,
    quote_words,
)
from tcva_adapters.text.words import (
    LANGUAGE_WORDS,
    UNSPACED,
    Token,
    tokenise,
    without_accents,
    words_of,
)

_SHOWN = 1000  # characters that are read to tell the language and script of a text
_SHORT = 2  # words of a quote that counts only by its numbers and names
_PREFIX = 4  # letters that related words share
_MIN_LETTERS = 3  # of a word that carries meaning in a script other than ASCII

_LEAD = 6
"""A language must be ahead of the next one by at least one in this many words."""

_SAYING = 2
"""A quote has to share a content word only with a claim that has at least this many."""

_EMPTY = word_list("empty")
_SAYS_LITTLE = re.compile(f"[\u3040-\u309f{''.join(word_list('small_characters'))}]")
_CLAUSE_END = re.compile(r"[.,;:!?。，；！？।]+(?!\d)\s*(?=\S)")
_PAIR = re.compile(
    r"""
    (?<![\w.-])
    [\d.-]*+
    ([^\W\d][\w.-]*+)
    (?!(?<=\d):\d)
    ["']?+
    \s*+[=:|]\s*
    (\S+(?:\s*[-–]\s*\d\S*)?)
    """,
    re.VERBOSE,
)
"""A key with its value, as in ``timeout=300``."""

_UNIT_FACTORS = frozenset({24, 60, 100, 1000, 1024, 3600, 60_000, 86_400})
"""Factors between common units: an hour has 3600 seconds."""

_LETTERS = re.compile(r"\b[^\W\d_]+")
_YEAR = re.compile(r"1\d{3}|20\d\d")


class Side(NamedTuple):
    """A claim or a quote, with everything that it could share with the other.

    Attributes:
        text: The text.
        tokens: Its words and numbers.
        content: Stems of words, values of numbers and pairs of characters that carry meaning.
    """

    text: str
    tokens: list[Token]
    content: set[str]


@lru_cache(maxsize=64)  # a claim and its quote are often the same
def side_of(text: str) -> Side:
    """Collect what a text could share with another one."""
    tokens = tokenise(text)
    content = {token.key for token in tokens if _says_something(token)}
    content.update(token.other for token in tokens if token.other)
    return Side(text, tokens, content)


def _says_something(token: Token) -> bool:
    """Whether a token carries enough meaning to relate a claim and a quote that share it."""
    if token.kind == "word":
        least = 2 if token.text.isascii() else _MIN_LETTERS
        return len(token.text) >= least and token.text.casefold() not in _EMPTY
    if token.kind == "pair":
        return not _SAYS_LITTLE.search(token.key)
    return token.kind == "number"


def check_evidence(
    verdicts: Sequence[ClaimVerdict], passages: Passages
) -> tuple[ClaimVerdict, ...]:
    """Lower the high levels of verdicts whose quote is not found or does not support the claim.

    ``fully`` and ``mostly`` become ``partial`` where the quote

    - does not occur in the passages (``not_found``),
    - has nothing to do with its claim (``unrelated``),
    - was cut off at a negation that the claim lacks (``negated``),
    - has another number for what the claim counts, outside what a bound or range allows, or denies,
      opposes, restricts or doubts in much the same words what the claim asserts
      (``contradicts``),
    - has one or two words (up to four characters of a script without spaces) that are neither all
      the numbers and names of its claim, nor all that it says, nor a whole sentence of a passage
      (``too_short``).

    ``original_verdict`` keeps the level that the judge gave, ``evidence_check`` and the reason say
    what happened, and the probabilities of ``fully`` and ``mostly`` move to ``partial``. Where quote
    and claim share no word and are not known to be in the same language, the level stays and
    ``evidence_check`` is ``unchecked``. ``partial`` and ``minor`` stay; ``evidence_check`` says what
    is wrong with their quotes. Where the quote is found in another context than the judge named, the
    context is corrected, at any level.

    >>> [lowered] = check_evidence(
    ...     [ClaimVerdict(claim="Cats bark.", verdict=Verdict.FULLY, evidence="cats bark")],
    ...     Passages(["Dogs bark."]),
    ... )
    >>> lowered.verdict, lowered.original_verdict, lowered.evidence_check
    (<Verdict.PARTIAL: 'partial'>, <Verdict.FULLY: 'fully'>, <EvidenceCheck.NOT_FOUND: 'not_found'>)
    """
    return tuple(_check(verdict, passages, verdicts) for verdict in verdicts)


def _check(
    verdict: ClaimVerdict,
    passages: Passages,
    verdicts: Sequence[ClaimVerdict],
) -> ClaimVerdict:
    """Check the quote of one verdict; `verdicts` are those on all claims."""
    if verdict.verdict is None:
        return verdict
    place = find_quote(verdict.evidence, passages)
    is_high = verdict.verdict in HIGH
    context = verdict.context
    fault: EvidenceCheck | None = None
    if place is None:
        fault = EvidenceCheck.NOT_FOUND
        context = None if is_high else context
    elif context not in place.passages:
        context = place.passages[0]
    if verdict.verdict is Verdict.NONE:
        fault = None
    elif place is not None:
        fault = _fault(
            verdict,
            place,
            passages,
            verdicts,
        )
    if fault is EvidenceCheck.UNCHECKED and not is_high:
        fault = None
    return lower_unsupported(
        verdict.model_copy(update={"context": context, "evidence_check": fault})
    )


def _fault(
    verdict: ClaimVerdict,
    place: QuotePlace,
    passages: Passages,
    verdicts: Sequence[ClaimVerdict],
) -> EvidenceCheck | None:
    """Find what is wrong with a quote that is in the passages, for a verdict above ``none``."""
    if len(verdict.claim) > LONGEST:
        return EvidenceCheck.UNCHECKED
    quote = side_of(verdict.evidence)
    claim = side_of(verdict.claim)
    is_shared = share(quote, claim) or contradicts(claim.text, quote.text)
    if not is_shared and is_unrelated(
        quote,
        claim,
        passages.around(place.at),
        words_of(" ".join(other.claim[:_SHOWN] for other in verdicts)),
    ):
        return EvidenceCheck.UNRELATED

    if _is_negated(quote, claim, place):
        return EvidenceCheck.NEGATED
    if is_shared and _is_contradicted(quote, claim, place):
        return EvidenceCheck.CONTRADICTS
    if _is_too_short(quote, claim) and not (
        UNSPACED.search(quote.text) and passages.is_sentence(place.at, quote.text)
    ):
        return EvidenceCheck.TOO_SHORT
    return None if is_shared else EvidenceCheck.UNCHECKED


def share(quote: Side, claim: Side) -> bool:
    """Whether a quote and a claim have a word, stem, number or name in common.

    >>> share(side_of("at 9 o'clock"), side_of("It opens at nine."))
    True
    """
    numbers = values(quote.tokens) & values(claim.tokens)
    return bool(
        quote.content & claim.content
        or numbers & (quote.content | claim.content)
        or _beginnings(quote) & _beginnings(claim)
        or _has_initials(quote, claim)
        or _has_initials(claim, quote)
    )


def _beginnings(side: Side) -> set[str]:
    """The first four letters of longer content words, which related words often share."""
    words = (
        without_accents(token.text)
        for token in side.tokens
        if token.kind == "word" and token.key in side.content
    )
    return {word[:_PREFIX] for word in words if len(word) >= _PREFIX}


def _has_initials(side: Side, other: Side) -> bool:
    """Whether a text has the initials of names in the other text."""
    words = _LETTERS.findall(other.text)
    initials = "".join(word[0] for word in words if word[0].isupper())
    return any(
        len(name) > 1 and name.isupper() and name in initials
        for name in _LETTERS.findall(side.text)
    )


def is_unrelated(
    quote: Side,
    claim: Side,
    around: Sequence[str],
    claims: Sequence[str],
) -> bool:
    """Whether a quote that shares nothing with its claim is unrelated to it.

    A quote without content words is unrelated, and so is one of a word or two in the script of the
    claim. A longer quote may put the claim in other words or another language. It is unrelated only
    to a claim of at least two content words that is in the same script and known to be in the same
    language.

    Args:
        quote: The quote.
        claim: The claim.
        around: The words of the passage around the quote, which show the language where the quote's
            own do not.
        claims: The words of all claims, which likewise show the language of the claim.

    >>> is_unrelated(side_of("They met in Paris"), side_of("The drug cures cancer."), [], [])
    True
    >>> is_unrelated(side_of("die Stadt liegt am See"), side_of("The town is on a lake."), [], [])
    False
    """
    if not quote.content:
        return True
    script = _script(quote.text)
    if script != _script(claim.text):
        return False
    if len(words_of(quote.text)) <= _SHORT:
        return True
    if script in {"LATIN", ""}:
        language = _language(quote.text, around)
        if not language or language != _language(claim.text, claims):
            return False
    return len(claim.content) >= _SAYING


def _language(text: str, around: Sequence[str]) -> str:
    """Recognise the language of a text by its words, else by those around it; empty if unknown.

    The language must be ahead of every other one by at least one in six words, so that a foreign word
    or two do not change it. The words around a text count only where no other language has more of the
    text's own words.

    >>> _language("The drug og cures cancer.", ()), _language("Det er mange hunder i byen.", ())
    ('English', 'Danish and Norwegian')
    """
    own_hits: Counter[str] = Counter()
    for words in (words_of(text), around):
        hits = Counter(
            {
                language: sum(word in common for word in words)
                for language, common in LANGUAGE_WORDS.items()
            }
        )
        own_hits = own_hits or hits  # those of the first words
        (best, most), (_, second) = hits.most_common(2)
        is_ahead = _LEAD * (most - second) >= len(words) > 0
        if is_ahead and own_hits[best] == max(own_hits.values()):
            return best
    return ""


def _script(text: str) -> str:
    """The script of most of a text's letters; the empty string without letters."""
    names = [unicodedata.name(c, "?").split()[0] for c in text[:_SHOWN] if c.isalpha()]
    if {"HIRAGANA", "KATAKANA"}.intersection(names):
        return "JAPANESE"
    return Counter(names).most_common(1)[0][0] if names else ""


def _is_negated(
    quote: Side,
    claim: Side,
    place: QuotePlace,
) -> bool:
    """Whether a claim takes as asserted a clause of its quote that is denied just outside the quote.

    It does not if the claim denies what the quote does not, or shares nothing with the denied clause
    of several.
    """
    clauses = _CLAUSE_END.split(quote.text)
    denied = clauses[:1] if place.denied_before else []
    if place.denied_behind:
        denied += clauses[-1:]
    if not any(
        clause == quote.text or share(side_of(clause), claim) for clause in denied
    ):
        return False
    denies_more = denies(claim.text) and not denies(quote.text)
    return not denies_more and not opposed(claim.text, quote.text)


def _is_contradicted(
    quote: Side,
    claim: Side,
    place: QuotePlace,
) -> bool:
    """Whether a quote has another number or detail in place of the claim's, or denies the claim."""
    if (
        other_numbers(claim.tokens, quote.tokens)
        or _has_other_values(quote, claim)
        or says_otherwise(claim.text, quote.text)
    ):
        return True
    # Where the passage denies the quote, its own negations no longer tell what is said.
    is_denied = place.denied_before or place.denied_behind
    if is_denied or not contradicts(claim.text, quote.text):
        return False
    # Not every negation of every language is known, so two languages are not compared.
    languages = {_language(side.text, ()) for side in (quote, claim)}
    return len(languages - {""}) <= 1


def _has_other_values(quote: Side, claim: Side) -> bool:
    """Whether a quote gives keys of a claim numbers ("timeout=300"), none of which is the claim's."""
    claimed = _numbers(claim.tokens)
    stated = set()
    for key, value in _PAIR.findall(quote.text):
        numbers = _numbers(tokenise(value))
        # Several numbers are a range.
        if len(numbers) == 1 and side_of(key).content & claim.content:
            stated |= numbers
    for one, other in product(claimed, stated):
        if one == other or not (one + other).replace(".", "").isdecimal():
            return False
        less, more = sorted((float(one), float(other)))
        if less and more / less in _UNIT_FACTORS:
            return False
    return bool(claimed and stated)


def _numbers(tokens: Iterable[Token]) -> set[str]:
    return {token.key for token in tokens if token.kind == "number"}


def _is_too_short(quote: Side, claim: Side) -> bool:
    """Whether a quote of a word or two lacks content, numbers or names of its claim."""
    words = quote_words(quote.text)
    # Two characters of a script without spaces are about a word.
    size = len(words) - len(UNSPACED.findall(quote.text)) / 2
    if size > _SHORT or _PAIR.search(quote.text):
        return False
    if claim.content and claim.content <= quote.content:
        return False  # the claim is no longer than its quote
    named = _numbers(claim.tokens) | {
        token.key
        for token in claim.tokens
        if token.kind == "word" and token.capital and token.text[1:]
    }
    quoted = {token.key for token in quote.tokens} | values(quote.tokens)
    if not named or not named <= quoted:
        return True
    # A year alone says too little of a claim that says more than that.
    is_year = len(words) == 1 and _YEAR.fullmatch(words[0])
    return bool(is_year) and len(claim.content) > _SHORT
