"""The embedded judge: compares words, numbers, names and negation. Offline, no model.

It is a baseline that says what it is. Texts that copy their source are judged well; an honest
paraphrase in other words gets a lower level than it deserves, and what follows only by inference,
by arithmetic or from world knowledge is not seen at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tcva_adapters.claims.criteria import Criterion
from tcva_adapters.claims.non_claims import non_claim_kind
from tcva_adapters.core.verdicts import LEVELS, WeightScheme
from tcva_adapters.lexical.contrast import (
    negation_differs,
    opposites,
    other_counts,
    swapped_names,
)
from tcva_adapters.lexical.passages import Passages, Window, prepare
from tcva_adapters.lexical.text_features import Token, is_content, ngrams, tokenise
from tcva_adapters.results.assessment import ClaimVerdict

LEXICAL_VERSION: Final = "lexical/1"
"""Changes with every change of the algorithm that could change a verdict."""

Distribution = tuple[float, float, float, float, float]

_WEIGHTS: Final = WeightScheme.DEFAULT.weights
_MOST_NAMED: Final = 5  # missing words that a reason lists
_ENOUGH_TEXT: Final = 20  # tokens from which a text shows function words of its language


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """What counts, and how much. One default for all texts; factors of 1 switch a feature off.

    The support of a claim is a share in [0, 1] of its words and n-grams; the knots turn it into an
    expected weight, and every fault found multiplies that by its factor. The values are round on
    purpose: they were chosen by looking at two data sets, not fitted to them.

    Attributes:
        ngram_weights: Weights of the shares of 1-, 2-, 3-, ... grams that occur.
        coverage: Share of the words in the support, the rest being the n-grams'.
        function_weight: What a function word counts beside a content word's 1.
        elsewhere: What a word or n-gram counts that the passages have, but not in the best window.
        boundaries: Whether n-grams include the ends of sentences. A claim that breaks off where its
            source goes on, or begins in the middle of it, then loses a little.
        knots: Shares of support from which on a claim is worth the weight of none, minor, partial,
            mostly and fully; linear in between. A reader sees half of a claim supported long
            before half of its n-grams are.
        missing_number: A figure does not occur in the passages.
        misplaced_number: A figure occurs, but not in the best window.
        other_count: The window has another figure before the same word (*one week*, *two weeks*).
        missing_name: A name does not occur in the passages; once for each such name.
        negation: One side denies what the other asserts.
        opposite: A word of the claim stands against its opposite.
        swap: Two names have changed places.
    """

    ngram_weights: tuple[float, ...] = (1.0, 2.0, 3.0, 2.0)
    coverage: float = 0.4
    function_weight: float = 0.25
    elsewhere: float = 0.5
    boundaries: bool = True
    knots: tuple[float, float, float, float, float] = (0.0, 0.1, 0.2, 0.35, 1.0)
    missing_number: float = 0.2
    misplaced_number: float = 0.7
    other_count: float = 0.2
    missing_name: float = 0.8
    negation: float = 0.2
    opposite: float = 0.4
    swap: float = 0.3


@dataclass(slots=True)
class _Finding:
    """What was seen about one claim: its value in [0, 1], where, and why."""

    value: float = 0.0
    window: Window | None = None
    notes: list[str] = field(default_factory=list)

    def fault(self, factor: float, note: str, words: Collection[str]) -> None:
        """Count a fault, if there are words that show it."""
        if words:
            self.value *= factor
            self.notes.append(f"{note}: {_listed(words)}")


class LexicalJudge:
    """Judges claims by their words; deterministic bit for bit.

    >>> from tcva_adapters.claims.criteria import FAITHFULNESS
    >>> text = ["Adults take 40 mg once a day. Children take 10 mg."]
    >>> claims = ["Adults take 40 mg once a day.", "Adults never take 40 mg."]
    >>> [v.verdict.value for v in LexicalJudge().judge_claims(claims, text, FAITHFULNESS)]
    ['fully', 'minor']
    """

    name: Final = LEXICAL_VERSION

    def __init__(self, settings: LexicalSettings | None = None) -> None:
        self.settings = LexicalSettings() if settings is None else settings

    def judge_claims(
        self, claims: Sequence[str], passages: Sequence[str], criterion: Criterion
    ) -> list[ClaimVerdict]:
        """One verdict per claim, in order.

        Args:
            claims: Sentences, as `split_claims` makes them, in the order of their text.
            passages: The texts that they are judged against; none at all supports nothing.
            criterion: Decides how: a criterion against ``input`` asks which words of the question
                the claims take up, which is a weak sign of relevance; every other one asks how far
                the passages support a claim.

        Returns:
            Verdicts with probabilities, passage number, quote and reason. A sentence that claims
            nothing has the verdict None and its kind (``greeting``, ``question``, ``offer``,
            ``refusal``) as reason.
        """
        prepared = prepare(tuple(passages))
        kinds = [non_claim_kind(claim) for claim in claims]
        tokens = [
            tokenise(claim) if kind is None else []
            for claim, kind in zip(claims, kinds, strict=True)
        ]
        if criterion.against == "input":
            findings = _relevance(tokens, prepared)
        else:
            findings = [self._supported(words, prepared) for words in tokens]
        return [
            _verdict(claim, finding, prepared)
            if kind is None
            else ClaimVerdict(claim=claim, verdict=None, reason=kind)
            for claim, kind, finding in zip(claims, kinds, findings, strict=True)
        ]

    def _supported(self, tokens: Sequence[Token], passages: Passages) -> _Finding:
        window = passages.best_window(tokens)
        if window is None:
            where = "the passages" if passages.windows else "an empty context"
            return _Finding(notes=[f"no word of the claim occurs in {where}"])
        share = self._share(tokens, window, passages)
        value = float(np.interp(share, self.settings.knots, _WEIGHTS[::-1]))
        finding = _Finding(value, window)
        self._find_faults(tokens, window, passages, finding)
        if not finding.notes:
            finding.notes.append(f"its words occur in passage {window.passage + 1}")
        if value < _WEIGHTS[3] and _other_language(tokens, passages):
            finding.notes.insert(
                0,
                "the claim and the passages seem to be in different languages, "
                "which a comparison of words cannot bridge",
            )
        return finding

    def _share(self, tokens: Sequence[Token], window: Window, passages: Passages) -> float:
        s = self.settings
        hits = weights = 0.0
        for n, weight in enumerate(s.ngram_weights, start=1):
            grams = ngrams(tokens, n, ends=s.boundaries)
            if weight and grams:
                near, known = window.grams(n), passages.grams(n)
                credit = sum(1.0 if g in near else s.elsewhere * (g in known) for g in grams)
                hits += weight * credit / len(grams)
                weights += weight
        covered = counted = 0.0
        for token in tokens:
            weight = 1.0 if is_content(token) else s.function_weight
            counted += weight
            if token.key in window.keys:
                covered += weight
            elif token.key in passages.places:
                covered += weight * s.elsewhere
        coverage = covered / counted
        return s.coverage * coverage + (1 - s.coverage) * (hits / weights if weights else coverage)

    def _find_faults(
        self, tokens: Sequence[Token], window: Window, passages: Passages, finding: _Finding
    ) -> None:
        s = self.settings
        places = passages.places
        absent = [t for t in tokens if t.key not in places and t.other not in places]
        words = {t.key: t for t in absent if t.kind in {"word", "pair"}}
        if words:
            # Whatever else is there, a claim with a word of its own is not supported word by word.
            finding.value = min(finding.value, _WEIGHTS[1])
            names = sum(t.capital for t in words.values())
            texts = [t.text for t in words.values()]
            finding.fault(s.missing_name**names, "not in the passages", texts)
        numbers = [t for t in tokens if t.kind == "number"]
        unknown = {token.key for token in absent}
        missing = [t.text for t in numbers if t.key in unknown]
        finding.fault(s.missing_number, "figures not in the passages", missing)
        moved = [t.text for t in numbers if t.key not in unknown and not window.has(t)]
        finding.fault(s.misplaced_number, "figures found elsewhere only", moved)
        counted = [] if missing else other_counts(tokens, window.tokens)
        finding.fault(s.other_count, "counted differently", counted)
        finding.fault(s.negation, "negation differs", negation_differs(tokens, window.tokens))
        contrary = [" / ".join(pair) for pair in opposites(tokens, window.tokens)]
        finding.fault(s.opposite, "opposite words", contrary)
        swapped = swapped_names(tokens, window.tokens) or ()
        finding.fault(s.swap, "names in each other's place", swapped)


def _relevance(claims: Sequence[Sequence[Token]], question: Passages) -> list[_Finding]:
    """How many of the question's words each claim takes up; half of them are as good as all.

    A claim that takes up none is `minor` where others of the same answer do (it may go on with a
    pronoun), and `none` where no claim does.
    """
    asked = {t.key: t.text for w in question.windows for t in w.tokens if is_content(t)}
    taken = [{t.key for t in tokens} & asked.keys() for tokens in claims]
    findings = []
    for tokens, words in zip(claims, taken, strict=True):
        finding = _Finding(window=question.best_window(tokens))
        if words:
            finding.value = min(1.0, _WEIGHTS[3] + 2 * (1 - _WEIGHTS[3]) * len(words) / len(asked))
            finding.notes.append(
                "takes up words of the question: " + _listed(asked[key] for key in sorted(words))
            )
        elif tokens and any(taken):
            finding.value = _WEIGHTS[3]
            finding.notes.append("takes up no word of the question, but a neighbouring claim does")
        else:
            finding.notes.append("takes up no word of the question")
        findings.append(finding)
    return findings


def _other_language(tokens: Sequence[Token], passages: Passages) -> bool:
    """Whether claim and passages differ in script, or share no function word at all."""
    pairs = sum(token.kind == "pair" for token in tokens)
    if tokens and (2 * pairs > len(tokens)) != (2 * passages.pairs > passages.length):
        return True
    functions = {token.key for token in tokens if token.kind == "function"}
    known = functions & passages.places.keys()
    return (
        passages.length >= _ENOUGH_TEXT and len(functions) > 1 and 2 * len(known) < len(functions)
    )


def _verdict(claim: str, finding: _Finding, passages: Passages) -> ClaimVerdict:
    shares = distribution(finding.value)
    window = finding.window
    return ClaimVerdict(
        claim=claim,
        verdict=LEVELS[shares.index(max(shares))],
        evidence=passages.quote(window) if window else "",
        reason="; ".join(finding.notes),
        passage=window.passage + 1 if window else None,
        probabilities=shares,
    )


def distribution(value: float) -> Distribution:
    """Level probabilities on two adjacent levels whose expected default weight is the value.

    So ``none``, which costs much at strict temperatures, is possible only below the weight of
    ``minor``.

    >>> distribution(1.0), distribution(0.15)
    ((1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.5, 0.5))
    """
    value = min(1.0, max(0.0, value))
    shares = [0.0] * len(LEVELS)
    lower = next(i for i, weight in enumerate(_WEIGHTS) if i and value >= weight)
    share = (value - _WEIGHTS[lower]) / (_WEIGHTS[lower - 1] - _WEIGHTS[lower])
    shares[lower - 1], shares[lower] = share, 1.0 - share
    return shares[0], shares[1], shares[2], shares[3], shares[4]


def _listed(words: Iterable[str]) -> str:
    unique = list(dict.fromkeys(words))
    more = f" and {len(unique) - _MOST_NAMED} more" if len(unique) > _MOST_NAMED else ""
    return ", ".join(unique[:_MOST_NAMED]) + more
