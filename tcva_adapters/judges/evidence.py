"""The evidence check: a high level without a valid quote is lowered.

A judge that makes up its quote has hardly looked, and one may quote what says something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.judges.quotes import (
    LONGEST,
    Found,
    Passages,
    find_quote,
    quote_words,
)
from tcva_adapters.results.claims import ClaimVerdict, EvidenceCheck
from tcva_adapters.results.evidence import HIGH, lowered
from tcva_adapters.text.contrast import (
    contradicts,
    denies,
    opposed,
)
from tcva_adapters.text.frames import says_otherwise
from tcva_adapters.text.lists import words
from tcva_adapters.text.numbers import other_numbers, values
from tcva_adapters.text.words import (
    LANGUAGE_WORDS,
    UNSPACED,
    Token,
    listed,
    plain,
    tokenise,
)

_SHOWN: Final = 1000  # characters of a text that show its language and script
_AROUND: Final = 50  # words on each side of a quote that do
_SHORT: Final = 2  # words of a quote that counts only by its numbers and names
_LEAD: Final = (
    6  # words of a text for each that is of its language rather than of another one
)
_SAYING: Final = (
    2  # words of content that a claim must have for a quote to be held to sharing one
)
_PREFIX: Final = 4  # letters that related words share
_SMALL: Final = 2  # letters of small words of other alphabets
_EMPTY: Final = words("empty")
_SMALL_CHARACTERS: Final = words("small_characters")
_CLAUSE_END: Final = re.compile(r"[.,;:!?。，；！？।]+(?!\d)\s*(?=\S)")
_PAIR: Final = re.compile(
    r"(?<![\w.-])[\d.-]*+([^\W\d][\w.-]*+)(?!(?<=\d):\d)[\"']?+\s*+[=:|]\s*(\S+(?:\s*[-–]\s*\d\S*)?)"
)
_UNITS: Final = frozenset(
    {24, 60, 100, 1000, 1024, 3600, 60_000, 86_400}
)  # seconds of an hour
_CAPITALS: Final = re.compile(r"\b[^\W\d_]+")
_YEAR: Final = re.compile(r"1\d{3}|20\d\d")


class Side(NamedTuple):
    """A claim or a quote, seen as what it could share with the other.

    Attributes:
        text: What it says.
        tokens: Its words and numbers.
        content: Stems of words, values of numbers and pairs of characters that mean something.
    """

    text: str
    tokens: list[Token]
    content: set[str]


@lru_cache(maxsize=64)  # a claim and its quote are often the same
def side_of(text: str) -> Side:
    """A text with what it could share with another one."""
    tokens, content = tokenise(text), set()
    for token in tokens:
        says_something = token.kind == "number"
        if token.kind == "word":
            least = 1 if token.text.isascii() else _SMALL
            says_something = (
                len(token.text) > least and token.text.casefold() not in _EMPTY
            )
        elif token.kind == "pair":
            says_something = not any(
                c in _SMALL_CHARACTERS or "\u3040" <= c <= "\u309f" for c in token.key
            )
        if says_something:
            content.add(token.key)
        if token.other:
            content.add(token.other)
    return Side(text, tokens, content)


def check_evidence(
    verdicts: Iterable[ClaimVerdict], passages: Passages | Sequence[str]
) -> tuple[ClaimVerdict, ...]:
    """Verdicts whose high levels stand only with a quote that is found and says something.

    ``fully`` and ``mostly`` become ``partial`` where the quote

    - does not occur in the passages (``not_found``),
    - has nothing to do with its claim (``unrelated``),
    - was cut off at a negation that the claim lacks (``negated``),
    - gives what the claim counts another number, outside of what a bound or range of it allows, or
      denies, opposes, restricts or doubts what the claim asserts in much the same words
      (``contradicts``),
    - has one or two words (up to four characters of a script without spaces) that are neither all
      the numbers and names of its claim, nor all that it says, nor a whole sentence of a passage
      (``too_short``).

    ``original_verdict`` keeps the level that the judge gave, ``evidence_check`` and the reason say
    what happened, and probabilities of the two move to ``partial``. Where it is unknown whether
    quote and claim belong together, since they share no word and are not known to be in one
    language, the level stays and ``evidence_check`` is ``unchecked``. ``partial`` and ``minor`` stay;
    ``evidence_check`` says what is wrong with their quotes. Where the quote is found in another
    context than the judge named, the context is corrected, at any level.

    >>> [lowered] = check_evidence(
    ...     [ClaimVerdict(claim="Cats bark.", verdict=Verdict.FULLY, evidence="cats bark")],
    ...     ["Dogs bark."],
    ... )
    >>> lowered.verdict, lowered.original_verdict, lowered.evidence_check
    (<Verdict.PARTIAL: 'partial'>, <Verdict.FULLY: 'fully'>, <EvidenceCheck.NOT_FOUND: 'not_found'>)
    """
    held = passages if isinstance(passages, Passages) else Passages(passages)
    verdicts = list(verdicts)
    for at, verdict in enumerate(verdicts):
        if verdict.verdict is None:
            continue
        found = find_quote(verdict.evidence, held)
        update: dict[str, object] = {}
        if found is not None and verdict.context not in found.passages:
            update["context"] = found.passages[0]
        why = None
        if verdict.verdict is not Verdict.NONE:
            why = _fault(verdict, found, held, verdicts)
        if why is not None and (verdict.verdict in HIGH or why.is_fault):
            update["evidence_check"] = why
            if verdict.verdict in HIGH and found is None:
                update["context"] = None
        if update:
            verdicts[at] = verdict.model_copy(update=update)
        if why is not None:
            verdicts[at] = lowered(verdicts[at])
    return tuple(verdicts)


def _fault(
    verdict: ClaimVerdict,
    found: Found | None,
    passages: Passages,
    all_: Sequence[ClaimVerdict],
) -> EvidenceCheck | None:
    """What is wrong with the quote of a verdict above ``none``."""
    if found is None:
        return EvidenceCheck.NOT_FOUND
    if len(verdict.claim) > LONGEST:
        return EvidenceCheck.UNCHECKED
    quote, claim = side_of(verdict.evidence), side_of(verdict.claim)
    is_shared = share(quote, claim) or contradicts(claim.text, quote.text)
    if not is_shared:
        said = listed(" ".join(each.claim[:_SHOWN] for each in all_))
        if is_unrelated(quote, claim, passages.around(found.at, _AROUND), said):
            return EvidenceCheck.UNRELATED
    is_denied = found.denied_before or found.denied_behind
    why = None if is_shared else EvidenceCheck.UNCHECKED
    if is_denied and _is_negated(quote, claim, found):
        why = EvidenceCheck.NEGATED
    elif is_shared and _contradicts(quote, claim, may_deny=not is_denied):
        why = EvidenceCheck.CONTRADICTS
    elif _is_too_short(quote, claim) and not (
        UNSPACED.search(verdict.evidence)
        and passages.is_sentence(found.at, verdict.evidence)
    ):
        why = EvidenceCheck.TOO_SHORT
    return why


def share(quote: Side, claim: Side) -> bool:
    """Whether a quote and a claim have a word, stem, number or name in common.

    >>> share(side_of("at 9 o'clock"), side_of("It opens at nine."))
    True
    """
    if quote.content & claim.content:
        return True
    if values(quote.tokens) & values(claim.tokens) & (quote.content | claim.content):
        return True
    if _beginnings(quote) & _beginnings(claim):
        return True
    for one, other in ((quote.text, claim.text), (claim.text, quote.text)):
        initials = "".join(
            word[0] for word in _CAPITALS.findall(other) if word[0].isupper()
        )
        names = (
            word for word in _CAPITALS.findall(one) if word.isupper() and len(word) > 1
        )
        if any(name in initials for name in names):
            return True
    return False


def _beginnings(side: Side) -> set[str]:
    """The first letters of long words of content, which related words share."""
    found = (
        plain(t.text) for t in side.tokens if t.kind == "word" and t.key in side.content
    )
    return {word[:_PREFIX] for word in found if len(word) >= _PREFIX}


def is_unrelated(
    quote: Side,
    claim: Side,
    around: Sequence[str],
    said: Sequence[str],
) -> bool:
    """Whether a quote that shares nothing with its claim has nothing to do with it.

    One of small words has not. Another one may put the claim in other words or another language:
    it is held against a claim that says something, in the same script and the same language as far
    as their words tell it. Where they do not, it is unknown.

    Args:
        quote: The quote.
        claim: The claim.
        around: The words of its passage around the quote, which tell the language where its own do
            not.
        said: The words of all claims, likewise.

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
    if len(listed(quote.text)) <= _SHORT:
        return True
    if script in {"LATIN", ""} and not (
        _language(quote.text, around) == _language(claim.text, said) != ""
    ):
        return False
    return len(claim.content) >= _SAYING


def _language(text: str, around: Sequence[str]) -> str:
    """The language that the words of a text tell, else those around it; empty where neither do.

    More words are of this language than of any other one, by one in six at least: a foreign word or
    two do not change it. The words around a text count only where its own are not rather of another
    language.

    >>> _language("The drug og cures cancer.", ()), _language("Det er mange hunder i byen.", ())
    ('English', 'Danish and Norwegian')
    """
    within: Counter[str] = Counter()
    for near in (listed(text), around):
        hits = Counter(
            {
                name: sum(map(known.__contains__, near))
                for name, known in LANGUAGE_WORDS.items()
            }
        )
        within = within or hits
        (best, most), (_, second) = hits.most_common(2)
        if _LEAD * (most - second) >= len(near) > 0 and within[best] == max(
            within.values()
        ):
            return best
    return ""


def _script(text: str) -> str:
    """The script of most of a text's letters; the empty string without letters."""
    names = [unicodedata.name(c, "?").split()[0] for c in text[:_SHOWN] if c.isalpha()]
    if {"HIRAGANA", "KATAKANA"}.intersection(names):
        return "JAPANESE"
    return Counter(names).most_common(1)[0][0] if names else ""


def _is_negated(quote: Side, claim: Side, found: Found) -> bool:
    """Whether a claim rests on a clause of a quote that is denied outside, as if it were not.

    It does not if it denies more than the quote, or shares nothing with that clause of several.
    """
    clauses = _CLAUSE_END.split(quote.text)
    denied = clauses[:1] * found.denied_before + clauses[-1:] * found.denied_behind
    if not any(
        clause == quote.text or share(side_of(clause), claim) for clause in denied
    ):
        return False
    denies_more = denies(claim.text) and not denies(quote.text)
    return not denies_more and not opposed(claim.text, quote.text)


def _contradicts(quote: Side, claim: Side, *, may_deny: bool) -> bool:
    """Whether a quote has another number in the place of its claim's, or denies what it asserts."""
    pairs = _PAIR.findall(quote.text)
    if other_numbers(claim.tokens, quote.tokens) or (
        pairs and _are_others(pairs, claim)
    ):
        return True
    if says_otherwise(claim.text, quote.text):
        return True
    if not (may_deny and contradicts(claim.text, quote.text)):
        return False
    # Not all negations of all languages are known: those of two languages are not compared.
    return len({_language(side.text, ()) for side in (quote, claim)} - {""}) <= 1


def _are_others(pairs: Sequence[tuple[str, str]], claim: Side) -> bool:
    """Whether keys that a claim names have numbers in a quote ("timeout=300"), and none is its."""
    here = {token.key for token in claim.tokens if token.kind == "number"}
    there: set[str] = set()
    for key, value in pairs:
        numbers = {token.key for token in tokenise(value) if token.kind == "number"}
        if (
            len(numbers) == 1 and side_of(key).content & claim.content
        ):  # two are a range
            there |= numbers
    for one, other in product(here, there):
        if one == other or not (one + other).replace(".", "").isdecimal():
            return False
        less, more = sorted((float(one), float(other)))
        if less and more / less in _UNITS:
            return False
    return bool(here and there)


def _is_too_short(quote: Side, claim: Side) -> bool:
    """Whether a quote of a word or two does not hold the numbers and names of its claim."""
    said = quote_words(quote.text)
    # Two characters of a script without spaces are about a word.
    if len(said) - len(UNSPACED.findall(quote.text)) / 2 > _SHORT or _PAIR.search(
        quote.text
    ):
        return False
    if claim.content and claim.content <= quote.content:
        return False  # the claim is no longer than its quote
    named = {
        token.key
        for token in claim.tokens
        if token.kind == "number"
        or (token.kind == "word" and token.capital and token.text[1:])
    }
    held = {token.key for token in quote.tokens} | values(quote.tokens)
    # A year alone says too little of a claim that says more than that.
    is_year = (
        bool(_YEAR.fullmatch(said[0]))
        and len(said) == 1
        and len(claim.content) > _SHORT
    )
    return not named or not named <= held or is_year
