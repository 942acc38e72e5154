"""The lexical judge, which compares words, numbers, names and negation, offline and without a model.

It is a baseline. Texts that copy their source are judged well; an honest paraphrase in other words
gets a lower level than it deserves, and support that follows only by inference, by arithmetic or from
world knowledge is not recognised.

The constants below are round and few. They were chosen on eight data sets together, and none of
them has much influence.
"""

from __future__ import annotations

import re
from collections.abc import (
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import ClassVar, cast

from tcva_adapters.core.verdicts import (
    LEVELS,
    Shares,
    WeightScheme,
    level_shares,
)
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.base import assess_locally
from tcva_adapters.judges.non_claims import listed_non_claims
from tcva_adapters.judges.prompts import NOT_A_CLAIM
from tcva_adapters.judges.sentence_index import (
    Sentence,
    SentenceIndex,
    grams_of,
    index_of,
    keys_of,
    pairs_of,
    verdict_with_quote,
)
from tcva_adapters.loops import work_aside
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.citations import without_citations
from tcva_adapters.text.contradiction import opposed
from tcva_adapters.text.lists import word_list
from tcva_adapters.text.numbers import other_numbers
from tcva_adapters.text.words import (
    Token,
    is_content,
    tokenise,
)

LEXICAL_VERSION = "lexical/6"
"""Changes with every change of the algorithm that could change a verdict."""

A_CHARACTER = 2e-6
"""Approximate seconds per character of the contexts."""

_FUNCTION_WORD = 0.5  # what it counts where a content word counts 1
_NEAR_GRAMS = (
    0.5  # what 5-grams of the nearest sentence count where other shares count 1
)
_THIN = 1  # content words that count as coincidence
_FUNCTION_WORDS_ALONE = 0.2  # content words for which they count together
_SPEAKER = 0.5  # factor of a speaker's own word, which documents do not support
_SPEAKERS = frozenset({"i", "me", "my", "mine", "myself"})
_MAX_SPEAKERS = 2
_MISSING = 0.7  # factor of a name that no passage has
_CONTRADICTION = 0.3  # what a contradiction leaves of the levels above `none`
_UNSUPPORTED_END = 0.7  # how much more of its beginning than of its end is found
_SHORTEST_END = 2  # content words
_ANSWERS = word_list("answers")
_FEW_CHARACTERS = 40  # of a sentence that may have no word of content
_MAX_LISTED = 5  # words in a reason

_LIKELY: tuple[tuple[float, Shares], ...] = (
    (0.08, (0.0, 0.0, 0.0, 0.3, 0.7)),
    (0.2, (0.2, 0.3, 0.0, 0.4, 0.1)),
    (0.3, (0.5, 0.1, 0.1, 0.3, 0.0)),
    (0.7, (0.6, 0.1, 0.1, 0.2, 0.0)),
    (1.0, (1.0, 0.0, 0.0, 0.0, 0.0)),
)
"""Rows of support and the probability of each level there; see `distribution`."""

_HALF = 0.5 - 1e-9
_ITEM = re.compile(r"(?:\A|(?<=[.!?:;] ))\(?(\d{1,2})[.)] (?=\S)")


@dataclass(frozen=True, slots=True)
class LexicalJudge:
    """A judge of claims by their words; deterministic bit for bit.

    >>> from tcva_adapters.criteria import FAITHFULNESS
    >>> text = ["Adults take 40 mg once a day. Children take 10 mg."]
    >>> claims = ["Adults take 40 mg once a day.", "Adults never take 40 mg."]
    >>> [v.verdict.value for v in LexicalJudge().judge_claims(claims, text, FAITHFULNESS)]
    ['fully', 'none']
    """

    name: ClassVar[str] = LEXICAL_VERSION
    prompt_version: ClassVar[str] = LEXICAL_VERSION
    parameters: ClassVar[Mapping[str, object]] = {}
    is_local: ClassVar[bool] = True

    def check(self, criterion: Criterion) -> None:
        """Refuse a criterion with statements, which cannot be judged by comparing words.

        Raises:
            InvalidValueError: The criterion has statements.
        """
        if criterion.statements:
            raise InvalidValueError(
                f"the statements of {criterion.name!r} need a model judge, not the lexical judge"
            )

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample by its words.

        Raises:
            InvalidValueError: See `check`.
        """
        return assess_locally(
            self,
            sample,
            criterion,
            partial(self.judge_claims, criterion=criterion),
        )

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited; long texts do not block the event loop."""
        return await work_aside(
            partial(self.assess, sample, criterion),
            len(sample.field(criterion.against) or "") * A_CHARACTER,
        )

    def judge_claims(
        self,
        claims: Sequence[str],
        passages: Sequence[str],
        criterion: Criterion,
    ) -> list[ClaimVerdict]:
        """Judge claims by passages; one verdict per claim, in order.

        Args:
            claims: Sentences, as `split_claims` makes them, in the order of their text.
            passages: The texts that they are judged against; without any, no claim is supported.
            criterion: The criterion. One against ``input`` asks which words of the question the
                claims take up, which is a weak sign of relevance; any other one asks how far the
                passages support a claim.

        Returns:
            Verdicts with probabilities, passage number, quote and reason. A sentence that claims
            nothing has the verdict None and its kind (``greeting``, ``question``, ``offer``,
            ``refusal``) as reason.
        """
        index = index_of(tuple(passages))
        verdicts = _non_claims(claims)
        if criterion.against == "input":
            asked = [claim for claim in claims if claim not in verdicts]
            verdicts |= zip(asked, _relevance(asked, index), strict=True)
        else:
            for claim, unmarked in zip(claims, without_marks(claims), strict=True):
                if claim not in verdicts:
                    verdicts[claim] = _best_supported(claim, unmarked, index)
        return [verdicts[claim] for claim in claims]


def _non_claims(claims: Sequence[str]) -> dict[str, ClaimVerdict]:
    """Find the sentences that claim nothing.

    A few words without content ("Yes.") claim nothing next to a claim; alone they are the answer.
    """
    known = listed_non_claims(claims)
    bare = {
        claim: ClaimVerdict(
            claim=claim,
            verdict=None,
            reason=NOT_A_CLAIM,
        )
        for claim in claims
        if _is_bare(claim)
    }
    both = bare | known
    return known if both.keys() >= {*claims} else both


def _is_bare(claim: str) -> bool:
    return len(claim) <= _FEW_CHARACTERS and all(
        token.text.casefold() in _ANSWERS
        for token in tokenise(claim)
        if is_content(token)
    )


def without_marks(claims: Sequence[str]) -> list[str]:
    """Remove citations such as ``[2]`` and the numbers of items from the claims of a text.

    A number in front of a claim or sentence is an item's where another claim or sentence has the
    previous or the next number.

    >>> without_marks(["1. Stir it [3].", "2. Heat it.", "7. Juli: closed."])
    ['Stir it .', 'Heat it.', '7. Juli: closed.']
    """
    numbers = set[int]().union(*map(_numbers, claims))

    def unnumbered(item: re.Match[str]) -> str:
        neighbours = {int(item[1]) - 1, int(item[1]) + 1}
        return "" if neighbours & numbers else item[0]

    return [without_citations(_ITEM.sub(unnumbered, claim)) for claim in claims]


def n_told(claims: Sequence[str]) -> int:
    """Count the claims up to the first one whose number may become an item's by a claim still to come.

    >>> n_told(["Do this:", "1. Stir it."]), n_told(["Do this:", "1. Stir it.", "2. Heat it."])
    (1, 3)
    """
    numbers = [_numbers(claim) for claim in claims]
    known = set[int]().union(*numbers)
    for place, here in enumerate(numbers):
        if not all(known & {number - 1, number + 1} for number in here):
            return place
    return len(claims)


def _numbers(claim: str) -> set[int]:
    """The numbers in front of a claim and of sentences in it."""
    return {int(item[1]) for item in _ITEM.finditer(claim)}


def judged_beside(claims: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Find the claims around some claims of a text that these have their verdicts from.

    A claim with a neighbouring number tells an item's number (see `without_marks`), and
    a real claim whether a few words without content claim something.

    Returns:
        The numbers of the first claim and behind the last one.

    >>> judged_beside(["Do this:", "1. Stir it.", "It is hot.", "2. Heat it."], 3, 4)
    (1, 4)
    """
    numbers = [_numbers(claim) for claim in claims]
    places = {first, last - 1}
    for number in set[int]().union(*numbers[first:last]):
        near = [n for n, here in enumerate(numbers) if here & {number - 1, number + 1}]
        places.update(near[-1:])
    if any(map(_is_bare, claims[first:last])):
        known = _non_claims(claims)
        near = [n for n, claim in enumerate(claims) if claim not in known]
        places.update(near[-1:])
    return min(places), max(places) + 1


def _best_supported(
    claim: str,
    unmarked: str,
    index: SentenceIndex,
) -> ClaimVerdict:
    """Judge a claim with and without its marks, as passages may have them too; take the better verdict."""
    return max(
        [_supported(claim, text, index) for text in dict.fromkeys((claim, unmarked))],
        key=lambda verdict: verdict.weight() or 0.0,
    )


def _supported(
    claim: str,
    text: str,
    index: SentenceIndex,
) -> ClaimVerdict:
    """Judge how far the passages support a claim's text; the nearest sentence is the quote."""
    tokens = tokenise(text)
    sentence = index.best(tokens)
    if sentence is None:
        return _verdict(
            claim,
            distribution(0.0),
            None,
            "none of its words were found"
            if index.sentences
            else "the contexts are empty",
        )

    content = [token for token in tokens if is_content(token)]
    known = [index.has(token) for token in content]
    absent = [token for token in content if not index.has(token)]
    names = {token.key for token in absent if token.capital}
    numbers = [token.text for token in absent if token.kind == "number"]
    contradictions = {
        "number not found": numbers,
        "another number": [] if numbers else other_numbers(tokens, sentence.tokens),
        "the context says the opposite": opposed(text, sentence.source),
    }
    support = _overlap(
        tokens,
        content or tokens,
        sentence.tokens,
        index,
    )
    if support < 1.0:
        n_words = (
            len({token.key for token in content} - {token.key for token in absent})
            or _FUNCTION_WORDS_ALONE
        )
        speakers = [t for t in tokens if t.key in _SPEAKERS and not index.has(t)]
        support *= n_words / (n_words + _THIN)
        support *= _SPEAKER ** min(len(speakers), _MAX_SPEAKERS)
    support *= _MISSING ** len(names)
    highest = 2 if _breaks_off(known) else 1 if names else 0

    others = {"words not found": [t.text for t in absent if t.kind != "number"]}
    reasons = [
        f"{fault}: {_first_few(words)}"
        for fault, words in (others | contradictions).items()
        if words
    ]
    reason = "; ".join(reasons) or "all its words were found"
    left = _CONTRADICTION ** sum(map(bool, contradictions.values()))
    *upper, none = distribution(support, highest)
    shares = (*(left * share for share in upper), none + (1 - left) * (1 - none))
    return _verdict(
        claim,
        cast("Shares", shares),  # one per level
        sentence,
        reason,
    )


def _overlap(
    tokens: Sequence[Token],
    content: Sequence[Token],
    source: Sequence[Token],
    index: SentenceIndex,
) -> float:
    """The mean of five shares of a claim, in [0, 1].

    They are the shares of its words, of its pairs of neighbouring words and of its 5-grams of
    characters that occur in the passages, and of its content words and of its 5-grams that occur in
    the nearest sentence; the last one counts half.
    """
    n_content = sum(map(index.has, content))
    n_others = sum(map(index.has, tokens)) - n_content
    words = (n_content + _FUNCTION_WORD * n_others) / (
        len(content) + _FUNCTION_WORD * (len(tokens) - len(content))
    )
    keys = keys_of(source)
    n_near = sum(token.key in keys or token.other in keys for token in content)
    pairs = pairs_of(tokens)
    grams = grams_of(tokens)
    source_grams = set(grams_of(source))
    near_grams = sum(gram in source_grams for gram in grams) / len(grams)
    shares = (
        words,
        n_near / len(content),
        sum(pair in index.pairs for pair in pairs) / len(pairs),
        sum(gram in index.grams for gram in grams) / len(grams),
        _NEAR_GRAMS * near_grams,
    )
    return sum(shares) / (len(shares) - 1 + _NEAR_GRAMS)


def _breaks_off(known: Sequence[bool]) -> bool:
    """Whether the passages have the words of a claim's beginning and hardly those of its end.

    >>> _breaks_off([True, True, True, False, False]), _breaks_off([True, False, True, False])
    (True, False)
    """
    size = len(known)
    total = sum(known)
    return any(
        before / at - (total - before) / (size - at) >= _UNSUPPORTED_END
        for at, before in enumerate(accumulate(known), 1)
        if _SHORTEST_END <= at <= size - _SHORTEST_END
    )


def _relevance(claims: Sequence[str], question: SentenceIndex) -> list[ClaimVerdict]:
    """Judge claims by how many of the question's words each takes up; half of them count as all.

    A claim that takes up none is `minor` where others of the same answer do (it may go on with a
    pronoun), and `none` where no claim does.
    """
    asked = {
        token.key: token.text
        for sentence in question.sentences
        for token in sentence.tokens
        if is_content(token)
    }
    read = [tokenise(claim) for claim in claims]
    taken_up = [{token.key for token in tokens} & asked.keys() for tokens in read]
    minor = WeightScheme.DEFAULT.weights[3]
    verdicts = []
    for claim, tokens, keys in zip(
        claims,
        read,
        taken_up,
        strict=True,
    ):
        weight = 0.0
        reason = "no word of the question"
        if keys:
            weight = min(1.0, minor + 2 * (1 - minor) * len(keys) / len(asked))
            words = [asked[key] for key in sorted(keys)]
            reason = f"words of the question: {_first_few(words)}"
        elif tokens and any(taken_up):
            weight = minor
            reason += ", but another claim has some"
        verdicts.append(
            _verdict(
                claim,
                level_shares(weight),
                question.best(tokens),
                reason,
            )
        )
    return verdicts


def distribution(support: float, highest: int = 0) -> Shares:
    """The probability of each level for a claim with this support, which is clipped to [0, 1].

    Probabilities are interpolated linearly between the rows of a small table. Below .08, words in
    common are coincidence, and the level is `none`, but never for certain: a paraphrase may share no
    word. On labelled texts, claims that share a third with their passages are supported, in other
    words, as often as they are not.

    Args:
        support: The support; 0 is no word in common, 1 a sentence of the passages.
        highest: The index of the highest level that is possible, 0 for `fully`; it takes the shares
            of the levels above it.

    >>> distribution(1.0), distribution(0.3, 1)
    ((1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.6, 0.1, 0.3, 0.0))
    """
    support = min(1.0, max(_LIKELY[0][0], support))
    (low, shares_low), (high, shares_high) = next(
        rows for rows in pairwise(_LIKELY) if support <= rows[1][0]
    )
    part = (support - low) / (high - low)
    shares = [
        one + part * (other - one) if part < 1.0 else other
        for one, other in zip(shares_low, shares_high, strict=True)
    ]
    shares[highest] = sum(shares[: highest + 1])
    shares[:highest] = [0.0] * highest
    return cast("Shares", tuple(shares))  # one per level


def _verdict(
    claim: str,
    shares: Shares,
    sentence: Sentence | None,
    reason: str,
) -> ClaimVerdict:
    """Make a verdict with the median level: a higher one is as likely as a lower one."""
    level = LEVELS[sum(share < _HALF for share in accumulate(shares))]
    return verdict_with_quote(
        sentence,
        claim,
        level,
        shares,
        reason,
    )


def _first_few(words: Iterable[str]) -> str:
    unique = list(dict.fromkeys(words))
    text = ", ".join(unique[:_MAX_LISTED])
    more = len(unique) - _MAX_LISTED
    return f"{text} and {more} more" if more > 0 else text
