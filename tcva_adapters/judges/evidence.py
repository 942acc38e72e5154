"""What a verdict's quote is worth; a high level without a good one is lowered.

A judge that makes up its quote has hardly looked. Comparing word for word would punish honest
judges for a curly quotation mark, so texts are compared by their words alone, and a longer quote
may differ in a word or two. What changes the meaning may not differ: numbers, names, negations.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.judges.quotes import Found, Passages, find_quote, prepared
from tcva_adapters.results.assessment import ClaimVerdict, EvidenceCheck
from tcva_adapters.results.evidence import HIGH, lowered
from tcva_adapters.text.contrast import (
    negation_differs,
    negations,
    opposites,
    other_numbers,
    values,
)
from tcva_adapters.text.lists import words
from tcva_adapters.text.words import (
    FUNCTION_WORDS_OF,
    UNSPACED,
    Token,
    listed,
    plain,
    tokenise,
)

_LONGEST: Final = 10_000
"""In characters; with a longer claim quotes are not compared."""

_SHOWN: Final = 1000  # characters of each claim, and of a text, that show its language and script
_SHORT: Final = 2  # words of a quote that is worth something only by its numbers and names
_SHORT_UNSPACED: Final = 6  # the same for characters of scripts without spaces
_SAYING: Final = 2  # words of content that a claim must have for a quote to be held to sharing one
_PREFIX: Final = 4  # letters that related words share; 5 where both are longer than that
_ALIKE: Final = 0.5  # share of a claim's content from which on a negation is about the same
_SMALL: Final = 2  # letters of small words of other alphabets
_EMPTY: Final = words("empty")
_SMALL_CHARACTERS: Final = words("small_characters")
_CLAUSE_END: Final = re.compile(r"[.,;:!?。，；！？।]+(?!\d)\s*(?=\S)")
_PAIR: Final = re.compile(r"[^\W\d]\S*\s*[=:|]\s*\S")
_YEAR: Final = re.compile(r"1\d{3}|20\d\d")
_CAPITALS: Final = re.compile(r"\b[^\W\d_]+")


def check_evidence(
    verdicts: Iterable[ClaimVerdict], passages: Sequence[str]
) -> tuple[ClaimVerdict, ...]:
    """Verdicts whose high levels stand only with a quote that is found and says something.

    ``fully`` and ``mostly`` become ``partial`` where the quote

    - does not occur in the passages (``not_found``),
    - has nothing to do with its claim (``unrelated``),
    - was cut off at a negation that the claim lacks (``negated``),
    - has another number in the place of the claim's, or denies what the claim asserts, or the
      other way round (``contradicts``),
    - has one or two words that are neither all the numbers and names of its claim nor all that it
      says (``too_short``).

    ``original_verdict`` keeps the level that the judge gave, ``evidence_check`` and the reason say
    what happened, and probabilities of the two move to ``partial``. Where it cannot be told whether
    quote and claim belong together, since they share no word and may be in different languages, the
    level stays and ``evidence_check`` is ``unchecked``. ``partial`` and ``minor`` stay;
    ``evidence_check`` says what is wrong with their quotes. Where the quote is found in another
    passage than the judge named, the passage is corrected, at any level.

    >>> [lowered] = check_evidence(
    ...     [ClaimVerdict(claim="Cats bark.", verdict=Verdict.FULLY, evidence="cats bark")],
    ...     ["Dogs bark."],
    ... )
    >>> lowered.verdict, lowered.original_verdict, lowered.evidence_check
    (<Verdict.PARTIAL: 'partial'>, <Verdict.FULLY: 'fully'>, <EvidenceCheck.NOT_FOUND: 'not_found'>)
    """
    verdicts, held = tuple(verdicts), prepared(tuple(passages))
    said = listed(" ".join(v.claim[:_SHOWN] for v in verdicts))
    return tuple(_checked(verdict, held, said) for verdict in verdicts)


def _checked(verdict: ClaimVerdict, passages: Passages, said: Sequence[str]) -> ClaimVerdict:
    level = verdict.verdict
    if level is None:
        return verdict
    found = find_quote(verdict.evidence, passages)
    if found is not None and verdict.passage not in found.passages:
        verdict = verdict.model_copy(update={"passage": found.passages[0]})
    if level is Verdict.NONE:
        why = None
    elif found is None:
        why = EvidenceCheck.NOT_FOUND
    elif len(verdict.claim) > _LONGEST:
        why = EvidenceCheck.UNCHECKED
    else:
        quote = Side(verdict.evidence, passages.around(found.at))
        why = _fault(quote, Side(verdict.claim, said), found)
    if why is None or not (level in HIGH or why.is_fault):
        return verdict
    update: dict[str, object] = {"evidence_check": why}
    if level in HIGH and why is EvidenceCheck.NOT_FOUND:
        update["passage"] = None
    return lowered(verdict.model_copy(update=update))


def _fault(quote: Side, claim: Side, found: Found) -> EvidenceCheck | None:
    shares = share(quote, claim)
    if not shares and is_unrelated(quote, claim):
        return EvidenceCheck.UNRELATED
    is_denied = found.denied_before or found.denied_behind
    if is_denied and _is_negated(quote, claim, found):
        return EvidenceCheck.NEGATED
    if shares and _contradict(quote, claim, may_deny=not is_denied):
        return EvidenceCheck.CONTRADICTS
    if _is_too_short(quote, claim):
        return EvidenceCheck.TOO_SHORT
    return None if shares else EvidenceCheck.UNCHECKED


@dataclass(frozen=True)
class Side:
    """A claim or a quote, seen as what it could share with the other.

    Attributes:
        text: What it says.
        around: The words of the text that it is from, which tell the language where its own do not.
    """

    text: str
    around: Sequence[str] = ()

    @cached_property
    def tokens(self) -> list[Token]:
        """Its words and numbers."""
        return tokenise(self.text)

    @cached_property
    def content(self) -> set[str]:
        """Stems of words, values of numbers and pairs of characters that mean something."""
        return {
            token.key
            for token in self.tokens
            if (token.kind == "word" and _says_something(token.text))
            or token.kind == "number"
            or (token.kind == "pair" and not any(map(_is_small, token.key)))
        } | {token.other for token in self.tokens if token.other}

    @cached_property
    def beginnings(self) -> tuple[set[str], set[str], set[str]]:
        """Of words of content the first letters: of short ones, of all, and five of long ones."""
        found = [plain(t.text) for t in self.tokens if t.kind == "word" and t.key in self.content]
        long = [word for word in found if len(word) >= _PREFIX]
        short = {word[:_PREFIX] for word in long if len(word) <= _PREFIX + 1}
        five = {word[: _PREFIX + 1] for word in long if len(word) > _PREFIX + 1}
        return short, {word[:_PREFIX] for word in long}, five

    @cached_property
    def capitals(self) -> list[str]:
        """Its words with a capital."""
        return [word for word in _CAPITALS.findall(self.text) if word[0].isupper()]

    @cached_property
    def languages(self) -> set[str]:
        """Those of the few known ones that most of its small words are words of."""
        own = _languages(listed(self.text))
        return own if len(own) == 1 else _languages(self.around) or own

    @cached_property
    def script(self) -> str:
        """The script of most of its letters; the empty string without letters."""
        names = [unicodedata.name(c, "?").split()[0] for c in self.text[:_SHOWN] if c.isalpha()]
        kana = {"HIRAGANA", "KATAKANA"}
        if not kana.isdisjoint(names):
            return "JAPANESE"
        return Counter(names).most_common(1)[0][0] if names else ""


def share(quote: Side, claim: Side) -> bool:
    """Whether a quote and a claim have a word, stem, number or name in common.

    >>> share(Side("at 9 o'clock"), Side("It opens at nine."))
    True
    """
    if quote.content & claim.content:
        return True
    if values(quote.tokens) & values(claim.tokens) & (quote.content | claim.content):
        return True
    for one, other in ((quote, claim), (claim, quote)):
        (short, _, five), (_, every, long) = one.beginnings, other.beginnings
        if short & every or five & long:
            return True
        initials = "".join(word[0] for word in other.capitals)
        if any(word.isupper() and len(word) > 1 and word in initials for word in one.capitals):
            return True
    return False


def is_unrelated(quote: Side, claim: Side) -> bool:
    """Whether a quote that shares nothing with its claim has nothing to do with it.

    One of small words has not. Another one may put the claim in other words or another language:
    it is held against a claim that says something, in the same script and language.

    >>> is_unrelated(Side("They met in Paris"), Side("The drug cures cancer."))
    True
    >>> is_unrelated(Side("die Stadt liegt am See"), Side("The town is on a lake."))
    False
    """
    if not quote.content:
        return True
    if quote.script != claim.script:
        return False
    if len(listed(quote.text)) <= _SHORT:
        return True
    same = bool(quote.languages & claim.languages) or claim.script not in {"LATIN", ""}
    return same and len(claim.content) >= _SAYING


def _is_negated(quote: Side, claim: Side, found: Found) -> bool:
    """Whether a claim rests on a clause of a quote that is denied outside, as if it were not.

    It does not if it denies more than the quote, or shares nothing with that clause of several.
    """
    clauses = _CLAUSE_END.split(quote.text)
    denied = clauses[:1] * found.denied_before + clauses[-1:] * found.denied_behind
    if not any(clause == quote.text or share(Side(clause), claim) for clause in denied):
        return False
    more = negations(listed(quote.text)) - negations(listed(claim.text))
    is_contrary = opposites(claim.tokens, quote.tokens) or opposites(quote.tokens, claim.tokens)
    return more >= 0 and more % 2 == 0 and not is_contrary


def _contradict(quote: Side, claim: Side, *, may_deny: bool) -> bool:
    """Whether a quote has another number in the place of its claim's, or denies what it asserts."""
    if other_numbers(claim.tokens, quote.tokens):
        return True
    alike = len(quote.content & claim.content) >= _ALIKE * len(claim.content)
    return may_deny and alike and bool(negation_differs(claim.tokens, quote.tokens))


def _is_too_short(quote: Side, claim: Side) -> bool:
    """Whether a quote of a word or two does not hold the numbers and names of its claim."""
    said = listed(quote.text)
    if any(map(UNSPACED.match, said)):
        return len("".join(said)) < _SHORT_UNSPACED
    if len(said) > _SHORT or _PAIR.search(quote.text):
        return False
    if claim.content and claim.content <= quote.content:
        return False  # the claim is no longer than its quote
    names = {t.key for t in claim.tokens if t.capital and t.kind == "word" and len(t.text) > 1}
    numbers = {t.key for t in claim.tokens if t.kind == "number"}
    held = {token.key for token in quote.tokens} | values(quote.tokens)
    # A year alone says too little of a claim that says more than that.
    is_year = bool(_YEAR.fullmatch(said[0])) and len(said) == 1 and len(claim.content) > _SHORT
    return not names | numbers or not names | numbers <= held or is_year


def _says_something(word: str) -> bool:
    return word.casefold() not in _EMPTY and len(word) > (1 if word.isascii() else _SMALL)


def _languages(said: Sequence[str]) -> set[str]:
    hits = Counter(
        language
        for word in said
        for language, small in FUNCTION_WORDS_OF.items()
        if word in small and language != "other"
    )
    return {language for language, number in hits.items() if number == max(hits.values())}


def _is_small(char: str) -> bool:
    """Whether a character of a script without spaces says little by itself."""
    return char in _SMALL_CHARACTERS or "\u3040" <= char <= "\u309f"
