"""The embedded judge: compares words, numbers, names and negation. Offline, no model.

It is a baseline that says what it is. Texts that copy their source are judged well; an honest
paraphrase in other words gets a lower level than it deserves, and what follows only by inference
or from world knowledge is not seen at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from tcva_adapters.core.verdicts import LEVELS, WeightScheme
from tcva_adapters.judging.assessment import ClaimVerdict
from tcva_adapters.judging.claims import split_claims
from tcva_adapters.judging.contrast import (
    is_content,
    negation_differs,
    opposites,
    swapped_names,
)
from tcva_adapters.judging.criteria import Criterion
from tcva_adapters.judging.nonclaims import non_claim_kind
from tcva_adapters.judging.text_features import Token, tokenise

LEXICAL_VERSION: Final = "lexical/1"
"""Changes with every change of the algorithm that could change a verdict."""

Distribution = tuple[float, float, float, float, float]
_WEIGHTS: Final = WeightScheme.DEFAULT.weights
_RISING: Final = _WEIGHTS[::-1]
_END: Final = "\n"  # stands for the end of a sentence in n-grams; no token has this key
_MOST_NAMED: Final = 5  # missing words that a reason lists
_LONGEST_WINDOW: Final = 60  # words; a longer passage without full stops is cut
_PAIR_WINDOW: Final = 200  # characters, for scripts without spaces


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """What counts, and how much; one default for all texts.

    Attributes:
        ngram_weights: Weight of the shares of 1-, 2-, 3- and 4-grams.
        coverage: Share of the content words in the support; the n-grams have the rest.
        elsewhere: What a word or n-gram counts that occurs in the passages but not in the window.
        function_weight: What a function word counts beside a content word's 1.
        missing_number: Factor for a figure that the passages do not have.
        misplaced_number: Factor for a figure that occurs, but not in the window.
        missing_name: Factor for a name that the passages do not have.
        negation: Factor where one denies what the other asserts.
        opposite: Factor for a pair of opposite words.
        swap: Factor for two names that have changed places.
        boundaries: Whether n-grams include the ends of sentences. A claim that breaks off where its
            source goes on, or begins in the middle of it, then loses a little.
        knots: The overlap that is worth none, minor, partial, mostly and fully, with straight lines
            between; a reader sees half of a claim supported long before half of its n-grams are.
    """

    ngram_weights: tuple[float, ...] = (1.0, 2.0, 3.0, 2.0)
    coverage: float = 0.4
    elsewhere: float = 0.5
    function_weight: float = 0.25
    missing_number: float = 0.3
    misplaced_number: float = 0.7
    missing_name: float = 0.7
    negation: float = 0.2
    opposite: float = 0.4
    swap: float = 0.3
    boundaries: bool = True
    knots: tuple[float, float, float, float, float] = (0.0, 0.1, 0.2, 0.35, 1.0)


@dataclass(frozen=True, slots=True)
class _Window:
    """One sentence of a passage, the unit of evidence."""

    passage: int
    text: str
    tokens: tuple[Token, ...]
    grams: frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Index:
    """The passages, prepared once for all claims."""

    windows: tuple[_Window, ...]
    grams: frozenset[tuple[str, ...]]
    places: dict[str, tuple[int, ...]]


@dataclass(slots=True)
class _Finding:
    """What was seen about one claim."""

    value: float = 0.0
    window: _Window | None = None
    notes: list[str] = field(default_factory=list)


class LexicalJudge:
    """Judges claims by their words; deterministic bit for bit.

    >>> from tcva_adapters.judging.criteria import FAITHFULNESS
    >>> text = ["Adults take 40 mg once a day. Children take 10 mg."]
    >>> claims = ["Adults take 40 mg once a day.", "Adults take 60 mg once a day."]
    >>> [v.verdict.value for v in LexicalJudge().judge_claims(claims, text, FAITHFULNESS)]
    ['fully', 'minor']
    """

    name: Final = LEXICAL_VERSION

    def __init__(self, settings: LexicalSettings = LexicalSettings()) -> None:
        self.settings = settings

    def judge_claims(
        self, claims: Sequence[str], passages: Sequence[str], criterion: Criterion
    ) -> list[ClaimVerdict]:
        """One verdict per claim, in order.

        Args:
            claims: Sentences, as `split_claims` makes them.
            passages: The texts that they are judged against; none at all supports nothing.
            criterion: Decides what is compared; a criterion against the question is judged by
                the question's words alone, which is weak.

        Returns:
            Verdicts with probabilities, passage number, quote and reason. A sentence that claims
            nothing has the verdict None and its kind (``greeting``, ``question``, ``offer``,
            ``refusal``) as reason.
        """
        index = _index(tuple(passages), len(self.settings.ngram_weights))
        return [self._judge(claim, index, passages) for claim in claims]

    def _judge(self, claim: str, index: _Index, passages: Sequence[str]) -> ClaimVerdict:
        kind = non_claim_kind(claim)
        if kind is not None:
            return ClaimVerdict(claim=claim, verdict=None, reason=kind)
        finding = self._find(tokenise(claim), index)
        shares = distribution(finding.value)
        level = LEVELS[max(range(len(LEVELS)), key=lambda i: (shares[i], -i))]
        window = finding.window
        return ClaimVerdict(
            claim=claim,
            verdict=level,
            evidence=_quote(window.text, passages[window.passage]) if window else "",
            reason="; ".join(finding.notes),
            passage=window.passage + 1 if window else None,
            probabilities=shares,
        )

    def _find(self, tokens: Sequence[Token], index: _Index) -> _Finding:
        finding = _Finding()
        if not tokens:
            finding.notes.append("the claim has no words to compare")
            return finding
        window = _best_window(tokens, index)
        if window is None:
            finding.notes.append("no word of the claim occurs in the passages")
            return finding
        finding.window = window
        finding.value = self._support(tokens, window, index)
        self._faults(tokens, window, index, finding)
        return finding

    def _support(self, tokens: Sequence[Token], window: _Window, index: _Index) -> float:
        s = self.settings
        total = weight_sum = 0.0
        for n, weight in enumerate(s.ngram_weights, start=1):
            grams = _ngrams(tokens, n, ends=s.boundaries)
            if not grams:
                break
            credit = sum(
                1.0 if g in window.grams else s.elsewhere if g in index.grams else 0.0
                for g in grams
            )
            total += weight * credit / len(grams)
            weight_sum += weight
        covered = counted = 0.0
        for token in tokens:
            weight = 1.0 if is_content(token) else s.function_weight
            counted += weight
            if (token.key,) in window.grams:
                covered += weight
            elif token.key in index.places:
                covered += weight * s.elsewhere
        share = (1 - s.coverage) * total / weight_sum + s.coverage * covered / counted
        return float(np.interp(share, s.knots, _RISING))

    def _faults(
        self, tokens: Sequence[Token], window: _Window, index: _Index, finding: _Finding
    ) -> None:
        s = self.settings
        notes = finding.notes
        words = [t for t in tokens if t.kind in {"word", "pair"} and t.key not in index.places]
        if words:
            notes.append("not in the passages: " + _listed(t.text for t in words))
        names = [t for t in words if t.capital]
        finding.value *= s.missing_name ** len(names)
        numbers = [t for t in tokens if t.kind == "number"]
        missing = [t for t in numbers if t.key not in index.places]
        if missing:
            notes.append("figures not in the passages: " + _listed(t.text for t in missing))
            finding.value *= s.missing_number
        moved = [t for t in numbers if t not in missing and (t.key,) not in window.grams]
        if moved:
            notes.append("figures found elsewhere only: " + _listed(t.text for t in moved))
            finding.value *= s.misplaced_number
        denied = negation_differs(tokens, window.tokens)
        if denied:
            notes.append("negation differs at " + _listed(denied))
            finding.value *= s.negation
        contrary = opposites(tokens, window.tokens)
        if contrary:
            notes.append("opposite words: " + _listed(" / ".join(pair) for pair in contrary))
            finding.value *= s.opposite
        swap = swapped_names(tokens, window.tokens)
        if swap:
            notes.append("names in other places: " + _listed(swap))
            finding.value *= s.swap
        if not notes:
            notes.append(f"all words occur in passage {window.passage + 1}")


def distribution(value: float) -> Distribution:
    """Level probabilities whose expected default weight is the value, on two adjacent levels.

    ``none`` has a probability only below the weight of ``minor``.

    >>> distribution(1.0), distribution(0.5)[2:4]
    ((1.0, 0.0, 0.0, 0.0, 0.0), (0.5, 0.5))
    """
    value = min(1.0, max(0.0, value))
    shares = [0.0] * len(LEVELS)
    for upper in range(len(LEVELS) - 1):
        low, high = _WEIGHTS[upper + 1], _WEIGHTS[upper]
        if value >= low:
            share = (value - low) / (high - low)
            shares[upper], shares[upper + 1] = share, 1.0 - share
            break
    return shares[0], shares[1], shares[2], shares[3], shares[4]


def _ngrams(tokens: Sequence[Token], n: int, *, ends: bool = False) -> list[tuple[str, ...]]:
    keys = [token.key for token in tokens]
    if ends and n > 1:
        keys = [_END, *keys, _END]
    return [tuple(keys[i : i + n]) for i in range(len(keys) - n + 1)]


def _sentences(passage: str) -> Iterable[str]:
    for piece in split_claims(passage, max_claims=len(passage) + 1):
        words = piece.split()
        if len(words) > _LONGEST_WINDOW:
            for i in range(0, len(words), _LONGEST_WINDOW):
                yield " ".join(words[i : i + _LONGEST_WINDOW])
        elif len(piece) > len(words) * _PAIR_WINDOW:
            for i in range(0, len(piece), _PAIR_WINDOW):
                yield piece[i : i + _PAIR_WINDOW]
        else:
            yield piece


@lru_cache(maxsize=64)
def _index(passages: tuple[str, ...], longest: int) -> _Index:
    windows: list[_Window] = []
    everything: set[tuple[str, ...]] = set()
    places: dict[str, list[int]] = {}
    for number, passage in enumerate(passages):
        for text in _sentences(passage):
            tokens = tuple(tokenise(text))
            grams = frozenset(g for n in range(1, longest + 1) for g in _ngrams(tokens, n, ends=True))
            for token in tokens:
                for key in (token.key, token.other):
                    found = places.setdefault(key, []) if key else []
                    if not found or found[-1] != len(windows):
                        found.append(len(windows))
            everything |= grams
            windows.append(_Window(number, text, tokens, grams))
    return _Index(
        tuple(windows), frozenset(everything), {key: tuple(at) for key, at in places.items()}
    )


def _best_window(tokens: Sequence[Token], index: _Index) -> _Window | None:
    """The sentence with the most content of the claim, the first of equals."""
    scores: dict[int, float] = {}
    for key, content in {t.key: is_content(t) for t in tokens}.items():
        for at in index.places.get(key, ()):
            scores[at] = scores.get(at, 0.0) + (1.0 if content else 0.1)
    if not scores:
        return None
    pairs = set(_ngrams(tokens, 2))
    for at in scores:
        scores[at] += len(pairs & index.windows[at].grams)
    return index.windows[min(scores, key=lambda at: (-scores[at], at))]


def _quote(text: str, passage: str) -> str:
    """The window as the passage writes it, line breaks and all."""
    if text in passage:
        return text
    match = re.search(r"\s+".join(map(re.escape, text.split())), passage)
    return match[0] if match else text


def _listed(words: Iterable[str]) -> str:
    unique = list(dict.fromkeys(words))
    more = f" and {len(unique) - _MOST_NAMED} more" if len(unique) > _MOST_NAMED else ""
    return ", ".join(unique[:_MOST_NAMED]) + more
