"""The embedded judge: compares words, numbers, names and negation. Offline, no model.

It is a baseline that says what it is. Texts that copy their source are judged well; an honest
paraphrase in other words gets a lower level than it deserves, and what follows only by inference,
by arithmetic or from world knowledge is not seen at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tcva_adapters.core.verdicts import LEVELS, WeightScheme
from tcva_adapters.criteria import Criterion
from tcva_adapters.lexical.contrast import contradictions, replaced
from tcva_adapters.lexical.marks import without_marks
from tcva_adapters.lexical.passages import Passages, Sentence, Window, pairs_of, prepare
from tcva_adapters.lexical.text_features import Token, is_content, tokenise
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.text.non_claims import non_claim_kind

LEXICAL_VERSION: Final = "lexical/2"
"""Changes with every change of the algorithm that could change a verdict."""

Distribution = tuple[float, float, float, float, float]

_WEIGHTS: Final = WeightScheme.DEFAULT.weights
_MOST_NAMED: Final = 5  # missing words that a reason lists
_ENOUGH_TEXT: Final = 20  # tokens from which a text shows function words of its language
_SPEAKER: Final = frozenset({"i", "me", "my", "mine", "myself"})
_MOST_SPEAKER: Final = 2
_FUNCTION_WORDS_ALONE: Final = 0.2  # what they count as content words found
_UNLIKE: Final = 0.2  # support below which texts may be in different languages

NOTHING: Final[Distribution] = (0.0, 0.0, 0.0, 0.0, 1.0)
_LIKELY: Final[tuple[tuple[float, Distribution], ...]] = (
    (0.0, NOTHING),
    (0.2, (0.0, 0.0, 0.1, 0.3, 0.6)),
    (0.35, (0.5, 0.0, 0.2, 0.3, 0.0)),
    (0.7, (0.6, 0.1, 0.1, 0.2, 0.0)),
    (1.0, (1.0, 0.0, 0.0, 0.0, 0.0)),
)
"""Support, and how likely each level is there; see `distribution`."""


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """What counts, and how much. One default for all texts; factors of 1 switch a feature off.

    The support of a claim is the weighted mean of three shares in [0, 1]; faults multiply it, and
    `distribution` says what levels such support stands for. The values are round on purpose: they
    were chosen on eight data sets together, and none of them decides much.

    Attributes:
        words: Weight of the share of the claim's words that occur in the passages.
        window: Weight of the share of its content words that occur in the best window.
        order: Weight of the share of its pairs of neighbouring words that occur in the passages.
            The ends of sentences count as words: a claim that breaks off where its source goes on
            loses a little.
        function_weight: What a function word counts in the first share beside a content word's 1.
        thin: With h different content words found, the factor is h / (h + thin): a word or two in
            common are soon a coincidence. A claim that is a whole sentence of a passage is not thin.
        speaker: For a word of the speaker's own (*I*, *my*) that the passages do not have, two at
            most: documents do not support what somebody says of himself.
        missing_name: A name does not occur in the passages; once for each such name.
        misplaced_number: A figure occurs, but not in the best window.
        contradiction: A figure does not occur at all, or stands before another word (*one week*,
            *two weeks*); one side denies what the other asserts; a word stands against its
            opposite; two names have changed places. Once for each of these kinds, raised to the
            support: a claim that agrees with a passage in all but its figure is refuted by it, and
            ends below one that has little to do with it.
        most_absent: The largest share of content words that are in no passage with which a claim
            can still be `fully`.
    """

    words: float = 2.0
    window: float = 1.0
    order: float = 1.0
    function_weight: float = 0.5
    thin: float = 1.0
    speaker: float = 0.5
    missing_name: float = 0.7
    misplaced_number: float = 0.75
    contradiction: float = 0.2
    most_absent: float = 0.4


@dataclass(slots=True)
class _Finding:
    """What was seen about one claim: where, how likely each level is, and why."""

    window: Window | None
    shares: Distribution
    notes: list[str]

    @property
    def worth(self) -> float:
        """The weight to be expected, in [0, 1]."""
        return sum(w * share for w, share in zip(_WEIGHTS, self.shares, strict=True))


@dataclass(slots=True)
class _Support:
    """The support of a claim while its faults are counted, and whether it can be `fully`."""

    value: float
    in_full: bool = True
    notes: list[str] = field(default_factory=list)

    def fault(self, factor: float, note: str, words: Collection[str]) -> None:
        """Count a fault, if there are words that show it."""
        if words:
            self.value *= factor
            self.in_full = False
            self.notes.append(f"{note}: {_listed(words)}")


class LexicalJudge:
    """Judges claims by their words; deterministic bit for bit.

    >>> from tcva_adapters.criteria import FAITHFULNESS
    >>> text = ["Adults take 40 mg once a day. Children take 10 mg."]
    >>> claims = ["Adults take 40 mg once a day.", "Adults never take 40 mg."]
    >>> [v.verdict.value for v in LexicalJudge().judge_claims(claims, text, FAITHFULNESS)]
    ['fully', 'none']
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
            bare = without_marks(claims)
            findings = [
                self._read(words, None if text == claim else tokenise(text), prepared)
                for claim, text, words in zip(claims, bare, tokens, strict=True)
            ]
        return [
            _verdict(claim, finding, prepared)
            if kind is None
            else ClaimVerdict(claim=claim, verdict=None, reason=kind)
            for claim, kind, finding in zip(claims, kinds, findings, strict=True)
        ]

    def _read(
        self, tokens: Sequence[Token], bare: Sequence[Token] | None, passages: Passages
    ) -> _Finding:
        """A claim as it is or, where that is worth more, without marks: passages may have them, too."""
        found = self._supported(tokens, passages)
        if not tokens or bare is None:
            return found
        return max(found, self._supported(bare, passages), key=lambda each: each.worth)

    def _supported(self, tokens: Sequence[Token], passages: Passages) -> _Finding:
        window = passages.best_window(tokens)
        if window is None:
            where = "the passages" if passages.windows else "an empty context"
            return _Finding(None, NOTHING, [f"no word of the claim occurs in {where}"])
        content = [token for token in tokens if is_content(token)]
        overlap = self._overlap(tokens, content or tokens, window.sentence, passages)
        support = _Support(overlap)
        if overlap < 1.0:
            support.value *= self._weight_of_evidence(tokens, content, passages)
            self._find_gaps(tokens, content, window, passages, support)
        contradiction = self.settings.contradiction**overlap
        for note, words in contradictions(tokens, window.tokens, passages.has):
            support.fault(contradiction, note, words)
        if not support.notes:
            support.notes.append(f"its words occur in passage {window.passage + 1}")
        if support.value < _UNLIKE and _other_language(tokens, passages):
            support.notes.insert(
                0,
                "the claim and the passages seem to be in different languages, "
                "which a comparison of words cannot bridge",
            )
        shares = distribution(support.value, in_full=support.in_full)
        return _Finding(window, shares, support.notes)

    def _overlap(
        self,
        tokens: Sequence[Token],
        content: Sequence[Token],
        window: Sentence,
        passages: Passages,
    ) -> float:
        """The mean of the shares of words, words in the window and pairs that occur, in [0, 1]."""
        s = self.settings
        found = sum(map(passages.has, content))
        others = s.function_weight * (sum(map(passages.has, tokens)) - found)
        words = (found + others) / (len(content) + s.function_weight * (len(tokens) - len(content)))
        near = sum(map(window.has, content)) / len(content)
        pairs = pairs_of(token.key for token in tokens)
        order = sum(pair in passages.pairs for pair in pairs) / len(pairs)
        total = s.words + s.window + s.order
        return (s.words * words + s.window * near + s.order * order) / total

    def _weight_of_evidence(
        self, tokens: Sequence[Token], content: Sequence[Token], passages: Passages
    ) -> float:
        """The factor of a thin claim, and of a speaker who speaks of himself."""
        own = sum(token.key in _SPEAKER and not passages.has(token) for token in tokens)
        words = len({t.key for t in content if passages.has(t)}) or _FUNCTION_WORDS_ALONE
        thin = words / (words + self.settings.thin)
        return thin * float(self.settings.speaker ** min(own, _MOST_SPEAKER))

    def _find_gaps(
        self,
        tokens: Sequence[Token],
        content: Sequence[Token],
        window: Window,
        passages: Passages,
        support: _Support,
    ) -> None:
        """Count what the passages lack, and what they have elsewhere; no contradictions yet."""
        s = self.settings
        absent = [t for t in content if t.kind != "number" and not passages.has(t)]
        if absent:
            names = {token.key for token in absent if token.capital}
            support.fault(
                s.missing_name ** len(names), "not in the passages", [t.text for t in absent]
            )
            support.in_full = not names and len(absent) <= s.most_absent * len(content)
        support.fault(1.0, "in another word's place", replaced(tokens, window.tokens))
        numbers = [t for t in content if t.kind == "number" and passages.has(t)]
        moved = [t.text for t in numbers if not window.sentence.has(t)]
        support.fault(s.misplaced_number, "figures found elsewhere only", moved)


def _relevance(claims: Sequence[Sequence[Token]], question: Passages) -> list[_Finding]:
    """How many of the question's words each claim takes up; half of them are as good as all.

    A claim that takes up none is `minor` where others of the same answer do (it may go on with a
    pronoun), and `none` where no claim does.
    """
    asked = {t.key: t.text for w in question.windows for t in w.tokens if is_content(t)}
    taken = [{t.key for t in tokens} & asked.keys() for tokens in claims]
    findings = []
    for tokens, words in zip(claims, taken, strict=True):
        value = 0.0
        if words:
            value = min(1.0, _WEIGHTS[3] + 2 * (1 - _WEIGHTS[3]) * len(words) / len(asked))
            note = "takes up words of the question: " + _listed(asked[key] for key in sorted(words))
        elif tokens and any(taken):
            value = _WEIGHTS[3]
            note = "takes up no word of the question, but a neighbouring claim does"
        else:
            note = "takes up no word of the question"
        findings.append(_Finding(question.best_window(tokens), between(value), [note]))
    return findings


def _other_language(tokens: Sequence[Token], passages: Passages) -> bool:
    """Whether claim and passages differ in script, or hardly share a function word."""
    pairs = sum(token.kind == "pair" for token in tokens)
    if tokens and (2 * pairs > len(tokens)) != (2 * passages.unspaced > passages.length):
        return True
    functions = {token.key for token in tokens if token.kind == "function"}
    known = functions & passages.keys
    return (
        passages.length >= _ENOUGH_TEXT and len(functions) > 1 and 4 * len(known) < len(functions)
    )


def _verdict(claim: str, finding: _Finding, passages: Passages) -> ClaimVerdict:
    window = finding.window
    return ClaimVerdict(
        claim=claim,
        verdict=LEVELS[finding.shares.index(max(finding.shares))],
        evidence=passages.quote(window) if window else "",
        reason="; ".join(finding.notes),
        passage=window.passage + 1 if window else None,
        probabilities=finding.shares,
    )


def distribution(support: float, *, in_full: bool = True) -> Distribution:
    """How likely each level is for a claim of this support, which is cut off at 0 and 1.

    Straight lines between the rows of a small table: on labelled texts, claims that share little
    with their passages are mostly unsupported, and claims that share half are as often supported
    as not, in other words. Support of 1 is `fully` and nothing else, and from 0.35 on there is no
    `none`, which costs much at strict temperatures.

    Args:
        support: 0 is no word in common, 1 a sentence of the passages.
        in_full: False gives the share of `fully` to `mostly`: something is known to be missing.

    >>> distribution(1.0), distribution(0.35, in_full=False)
    ((1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.5, 0.2, 0.3, 0.0))
    """
    support = min(1.0, max(0.0, support))
    above = next(i for i, (at, _) in enumerate(_LIKELY) if i and support <= at)
    (low, here), (high, there) = _LIKELY[above - 1], _LIKELY[above]
    share = (support - low) / (high - low)
    fully, mostly, partial, minor, none = (
        a + share * (b - a) if share < 1.0 else b for a, b in zip(here, there, strict=True)
    )
    return (fully if in_full else 0.0, mostly + (0.0 if in_full else fully), partial, minor, none)


def between(value: float) -> Distribution:
    """Shares of two adjacent levels whose expected default weight is the value, in [0, 1].

    >>> between(1.0), between(0.15)
    ((1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.5, 0.5))
    """
    shares = [0.0] * len(LEVELS)
    lower = next(i for i, weight in enumerate(_WEIGHTS) if i and value >= weight)
    share = (value - _WEIGHTS[lower]) / (_WEIGHTS[lower - 1] - _WEIGHTS[lower])
    shares[lower - 1], shares[lower] = share, 1.0 - share
    return shares[0], shares[1], shares[2], shares[3], shares[4]


def _listed(words: Iterable[str]) -> str:
    unique = list(dict.fromkeys(words))
    more = f" and {len(unique) - _MOST_NAMED} more" if len(unique) > _MOST_NAMED else ""
    return ", ".join(unique[:_MOST_NAMED]) + more
