"""The embedded judge: compares words, numbers, names and negation. Offline, no model.

It is a baseline that says what it is. Texts that copy their source are judged well; an honest
paraphrase in other words gets a lower level than it deserves, and what follows only by inference,
by arithmetic or from world knowledge is not seen at all.

The constants below are round and few. They were chosen on eight data sets together, and none of
them decides much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, ClassVar, Final

from tcva_adapters.core.verdicts import LEVELS, Shares, WeightScheme, level_shares
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.base import computed
from tcva_adapters.judges.non_claims import listed_non_claims
from tcva_adapters.judges.prompts import NOT_A_CLAIM
from tcva_adapters.judges.sentence_index import (
    Sentence,
    SentenceIndex,
    grams_of,
    index_of,
    pairs_of,
)
from tcva_adapters.loops import work_aside
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.claims import ClaimVerdict
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.contrast import opposed
from tcva_adapters.text.lists import word_list
from tcva_adapters.text.numbers import other_numbers
from tcva_adapters.text.words import Token, is_content, tokenise

LEXICAL_VERSION: Final = "lexical/5"
"""Changes with every change of the algorithm that could change a verdict."""

A_CHARACTER: Final = 2e-7
"""About how many seconds a character of the contexts takes."""

_WEIGHTS: Final = WeightScheme.DEFAULT.weights
_FUNCTION_WORD: Final = 0.5  # what it counts where a content word counts 1
_THIN: Final = 1  # content words that count as coincidence
_FUNCTION_WORDS_ALONE: Final = 0.2  # content words that they stand for
_SPEAKER: Final = 0.5  # factor of a speaker's own word, which documents do not support
_SPEAKERS: Final = frozenset({"i", "me", "my", "mine", "myself"})
_MOST_SPEAKERS: Final = 2
_MISSING: Final = 0.7  # factor of a name that no passage has
_CONTRADICTION: Final = 0.1  # factor of a contradiction, raised to the support
_UNSUPPORTED_END: Final = 0.7  # how much more of its beginning than of its end is found
_SHORTEST_END: Final = 2  # content words
_ANSWERS: Final = word_list("answers")
_FEW_CHARACTERS: Final = 40  # of a sentence that may have no word of content
_MOST_LISTED: Final = 5  # words in a reason

_LIKELY: Final[tuple[tuple[float, Shares], ...]] = (
    (0.1, (0.0, 0.0, 0.0, 0.0, 1.0)),
    (0.2, (0.2, 0.3, 0.0, 0.4, 0.1)),
    (0.3, (0.5, 0.1, 0.1, 0.3, 0.0)),
    (0.7, (0.6, 0.1, 0.1, 0.2, 0.0)),
    (1.0, (1.0, 0.0, 0.0, 0.0, 0.0)),
)
"""Support, and how likely each level is there; see `distribution`."""

_HALF: Final = 0.5 - 1e-9
_SOURCE: Final = re.compile(r"\[\^?\d{1,3}(?:[,;–-] ?\d{1,3})*\]")
_ITEM: Final = re.compile(r"(?:\A|(?<=[.!?:;] ))\(?(\d{1,2})[.)] (?=\S)")


@dataclass(frozen=True, slots=True)
class LexicalJudge:
    """Judges claims by their words; deterministic bit for bit.

    >>> from tcva_adapters.criteria import FAITHFULNESS
    >>> text = ["Adults take 40 mg once a day. Children take 10 mg."]
    >>> claims = ["Adults take 40 mg once a day.", "Adults never take 40 mg."]
    >>> [v.verdict.value for v in LexicalJudge().judge_claims(claims, text, FAITHFULNESS)]
    ['fully', 'none']
    """

    name: ClassVar[str] = LEXICAL_VERSION
    prompt_version: ClassVar[str] = LEXICAL_VERSION
    parameters: ClassVar[Mapping[str, Any]] = {}
    is_local: ClassVar[bool] = True

    def check(self, criterion: Criterion) -> None:
        """Refuse lists of criteria texts, which words cannot judge.

        Raises:
            InvalidValueError: The criterion is such a list.
        """
        if criterion.statements:
            msg = f"the statements of {criterion.name!r} need a model judge, not the lexical judge"
            raise InvalidValueError(msg)

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample by its words.

        Raises:
            InvalidValueError: See `check`.
        """
        judged = partial(self.judge_claims, criterion=criterion)
        return computed(self, sample, criterion, judged)

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited: long texts do not hold up the event loop."""
        size = len(sample.field(criterion.against) or "")
        return await work_aside(
            partial(self.assess, sample, criterion), size * A_CHARACTER
        )

    def judge_claims(
        self,
        claims: Sequence[str],
        passages: Sequence[str],
        criterion: Criterion,
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
        held = index_of(tuple(passages))
        non_claims = _non_claims(claims)
        readings = zip(claims, without_marks(claims), strict=True)
        said = [(claim, bare) for claim, bare in readings if claim not in non_claims]
        if criterion.against == "input":
            found = iter(_relevance([claim for claim, _ in said], held))
        else:
            # Citations may stand in the passages, too.
            found = (
                max(
                    (
                        _supported(claim, text, held)
                        for text in dict.fromkeys((claim, bare))
                    ),
                    key=_weight,
                )
                for claim, bare in said
            )
        return [non_claims.get(claim) or next(found) for claim in claims]


def _non_claims(claims: Sequence[str]) -> dict[str, ClaimVerdict]:
    """The sentences that claim nothing.

    A few words without content ("Yes.") claim nothing next to a claim; alone they are the answer.
    """
    listed = listed_non_claims(claims)
    bare = {
        claim: ClaimVerdict(
            claim=claim,
            verdict=None,
            reason=NOT_A_CLAIM,
        )
        for claim in claims
        if _is_bare(claim)
    }
    return listed if {*claims} <= bare.keys() | listed.keys() else bare | listed


def _is_bare(claim: str) -> bool:
    return len(claim) <= _FEW_CHARACTERS and all(
        token.text.casefold() in _ANSWERS
        for token in tokenise(claim)
        if is_content(token)
    )


def without_marks(claims: Sequence[str]) -> list[str]:
    """The claims of a text without citations such as ``[2]``, and without the numbers of its items.

    A number in front of a claim or sentence is an item's where another one has the number before
    it or behind it.

    >>> without_marks(["1. Stir it [3].", "2. Heat it.", "7. Juli: closed."])
    ['Stir it .', 'Heat it.', '7. Juli: closed.']
    """
    numbers = {int(match[1]) for claim in claims for match in _ITEM.finditer(claim)}

    def unnumbered(match: re.Match[str]) -> str:
        return (
            match[0]
            if numbers.isdisjoint((int(match[1]) - 1, int(match[1]) + 1))
            else ""
        )

    return [_SOURCE.sub("", _ITEM.sub(unnumbered, claim)) for claim in claims]


def _supported(claim: str, text: str, passages: SentenceIndex) -> ClaimVerdict:
    """How far the passages support a claim's text, in the words of its nearest sentence."""
    tokens = tokenise(text)
    sentence = passages.best(tokens)
    if sentence is None:
        why = (
            "none of its words were found"
            if passages.sentences
            else "the contexts are empty"
        )
        return _verdict(claim, distribution(0.0), None, why)
    source = sentence.tokens
    content = [token for token in tokens if is_content(token)]
    known = [passages.has(token) for token in content]
    overlap = support = _overlap(tokens, content or tokens, source, passages)
    if overlap < 1.0:
        words = len({t.key for t, there in zip(content, known, strict=True) if there})
        own = sum(t.key in _SPEAKERS and not passages.has(t) for t in tokens)
        support *= (words or _FUNCTION_WORDS_ALONE) / (
            (words or _FUNCTION_WORDS_ALONE) + _THIN
        )
        support *= _SPEAKER ** min(own, _MOST_SPEAKERS)
    absent = [token for token, there in zip(content, known, strict=True) if not there]
    names = {token.key for token in absent if token.capital}
    numbers = [token.text for token in absent if token.kind == "number"]
    contradictions = {
        "number not found": numbers,
        "another number": [] if numbers else other_numbers(tokens, source),
        "the context says the opposite": opposed(text, sentence.source),
    }
    support *= _MISSING ** len(names)
    support *= _CONTRADICTION ** (overlap * sum(map(bool, contradictions.values())))
    highest = 2 if _breaks_off(known) else 1 if names else 0
    others = {"words not found": [t.text for t in absent if t.kind != "number"]}
    reasons = [
        f"{said}: {_listed(w)}" for said, w in (others | contradictions).items() if w
    ]
    reasons = reasons or ["all its words were found"]
    return _verdict(claim, distribution(support, highest), sentence, "; ".join(reasons))


def _overlap(
    tokens: Sequence[Token],
    content: Sequence[Token],
    source: Sequence[Token],
    passages: SentenceIndex,
) -> float:
    """The mean of four shares of the claim, in [0, 1].

    Its words and its pairs of neighbouring words that occur in the passages, its words of content
    and its 5-grams of characters that occur in the sentence that is nearest to it.
    """
    found = sum(map(passages.has, content))
    others = _FUNCTION_WORD * (sum(map(passages.has, tokens)) - found)
    words = (found + others) / (
        len(content) + _FUNCTION_WORD * (len(tokens) - len(content))
    )
    keys = {key for token in source for key in (token.key, token.other) if key}
    near = sum(token.key in keys or token.other in keys for token in content) / len(
        content
    )
    pairs, known = pairs_of(token.key for token in tokens), passages.pairs
    grams, there = grams_of(tokens), set(grams_of(source))
    in_order = sum(pair in known for pair in pairs) / len(pairs)
    alike = sum(gram in there for gram in grams) / len(grams)
    return (words + near + in_order + alike) / 4


def _breaks_off(known: Sequence[bool]) -> bool:
    """Whether the passages have the words of a claim's beginning and hardly those of its end.

    >>> _breaks_off([True, True, True, False, False]), _breaks_off([True, False, True, False])
    (True, False)
    """
    size, total = len(known), sum(known)
    return any(
        before / at - (total - before) / (size - at) >= _UNSUPPORTED_END
        for at, before in enumerate(accumulate(known), 1)
        if _SHORTEST_END <= at <= size - _SHORTEST_END
    )


def _relevance(claims: Sequence[str], question: SentenceIndex) -> list[ClaimVerdict]:
    """How many of the question's words each claim takes up; half of them are as good as all.

    A claim that takes up none is `minor` where others of the same answer do (it may go on with a
    pronoun), and `none` where no claim does.
    """
    asked = {
        t.key: t.text
        for each in question.sentences
        for t in each.tokens
        if is_content(t)
    }
    read = [tokenise(claim) for claim in claims]
    taken = [{token.key for token in tokens} & asked.keys() for tokens in read]
    verdicts = []
    for claim, tokens, common in zip(claims, read, taken, strict=True):
        value, note = 0.0, "no word of the question"
        if common:
            value = min(
                1.0, _WEIGHTS[3] + 2 * (1 - _WEIGHTS[3]) * len(common) / len(asked)
            )
            note = "words of the question: " + _listed(
                asked[key] for key in sorted(common)
            )
        elif tokens and any(taken):
            value = _WEIGHTS[3]
            note += ", but another claim has some"
        verdicts.append(
            _verdict(claim, level_shares(value), question.best(tokens), note)
        )
    return verdicts


def distribution(support: float, highest: int = 0) -> Shares:
    """How likely each level is for a claim of this support, which is cut off at 0 and 1.

    Straight lines between the rows of a small table. Below a tenth, words in common are
    coincidence: `none` and nothing else. On labelled texts, claims that share a third with their
    passages are as often supported as not, in other words.

    Args:
        support: 0 is no word in common, 1 a sentence of the passages.
        highest: The highest level that is possible, 0 for `fully`; it takes the shares of those
            above it.

    >>> distribution(1.0), distribution(0.3, 1)
    ((1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.6, 0.1, 0.3, 0.0))
    """
    support = min(1.0, max(_LIKELY[0][0], support))
    above = next(i for i, (at, _) in enumerate(_LIKELY) if i and support <= at)
    (low, here), (high, there) = _LIKELY[above - 1], _LIKELY[above]
    part = (support - low) / (high - low)
    shares = [
        a + part * (b - a) if part < 1.0 else b
        for a, b in zip(here, there, strict=True)
    ]
    shares[: highest + 1] = [0.0] * highest + [sum(shares[: highest + 1])]
    return shares[0], shares[1], shares[2], shares[3], shares[4]


def _weight(verdict: ClaimVerdict) -> float:
    """The weight to be expected, in [0, 1]."""
    return sum(
        w * share for w, share in zip(_WEIGHTS, verdict.shares or (), strict=True)
    )


def _verdict(
    claim: str,
    shares: Shares,
    sentence: Sentence | None,
    reason: str,
) -> ClaimVerdict:
    """The verdict with the level in the middle: as likely a higher one as a lower one."""
    return ClaimVerdict(
        claim=claim,
        verdict=LEVELS[sum(share < _HALF for share in accumulate(shares))],
        evidence=sentence.source if sentence else "",
        reason=reason,
        context=sentence.passage + 1 if sentence else None,
        probabilities=shares,
    )


def _listed(words: Iterable[str]) -> str:
    unique = list(dict.fromkeys(words))
    more = (
        f" and {len(unique) - _MOST_LISTED} more" if len(unique) > _MOST_LISTED else ""
    )
    return ", ".join(unique[:_MOST_LISTED]) + more
