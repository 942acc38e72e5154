"""What a judgement leaves behind: claims with verdicts and evidence, cached and re-scored at will."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter, mul
from typing import Annotated, Any, ClassVar, Final, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)

from tcva_adapters.core.checks import listed
from tcva_adapters.core.verdicts import (
    LEVELS,
    FloatArray,
    Verdict,
    WeightScheme,
    level_shares,
)
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.samples.sample import FROZEN, first_fault, whole_characters

SCHEMA_VERSION: Final = 4
"""Version of the JSON layout; others are refused."""


def _sum_to_one(shares: Any) -> Any:
    if not abs(sum(shares) - 1.0) <= 1e-6:  # refuses nan, too
        msg = f"probabilities must be >= 0 and sum to 1, got {shares!r}"
        raise ValueError(msg)
    return shares


_Share = Annotated[float, Field(ge=0.0)]
Shares = Annotated[
    tuple[_Share, _Share, _Share, _Share, _Share], AfterValidator(_sum_to_one)
]
"""How likely each level is, fully first, summing to 1."""

_CERTAIN: Final = dict(
    zip(LEVELS, map(level_shares, WeightScheme.DEFAULT.weights), strict=True)
)

MOST_MARKED: Final = 0.5
"""The largest `Assessment.marked_share` of what a gate passes."""


def _known_layout(layout: object) -> object:
    if layout != SCHEMA_VERSION:
        msg = f"layout {layout!r} is not supported; judge the samples again"
        raise ValueError(msg)
    return layout


Layout = Annotated[Literal[4], BeforeValidator(_known_layout)]
"""The version of what was written; another one is refused with the way out."""

_READ: Final = ConfigDict(
    frozen=True, extra="ignore"
)  # what a result has beyond its assessment


def written_out(value: Any) -> Any:
    r"""A value as JSON holds it; an object, and what is circular or nested too deeply, is text.

    >>> written_out({"a": b"\xff", 1: [None, True, 0.5, {2}]})
    {'a': '\\xff', '1': [None, True, 0.5, '{2}']}
    """
    if not isinstance(value, dict):
        return _as_json(value)
    plain: dict[str, Any] = {}
    for name, each in value.items():  # what one field holds costs no other
        plain[_text(name)] = _as_json(each)
    return plain


Metadata = Annotated[dict[str, Any], PlainSerializer(written_out, when_used="json")]
"""As they are; in JSON what it cannot hold is text, see `written_out`."""


def _text(value: Any) -> str:
    try:
        text = (
            value.decode(errors="backslashreplace")
            if isinstance(value, bytes)
            else str(value)
        )
        return whole_characters(text)
    except Exception:  # noqa: BLE001  # an object of the user's may fail in any way
        return f"<{type(value).__name__}>"


def _without_objects(value: Any) -> Any:
    return (
        value.tolist() if isinstance(value, np.generic | np.ndarray) else _text(value)
    )


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, default=_without_objects)


def _as_json(value: Any) -> Any:
    if type(value) is str:
        return whole_characters(value)
    try:
        return json.loads(whole_characters(_ENCODER.encode(value)))
    except (TypeError, ValueError, RecursionError):
        return _text(value)


class Reason(StrEnum):
    """Why a sample has no score."""

    NO_CLAIMS = "no_claims"
    REFUSAL = "refusal"
    EMPTY_RESPONSE = "empty_response"
    EMPTY_CONTEXT = "empty_context"
    EMPTY_REFERENCE = "empty_reference"
    EMPTY_INPUT = "empty_input"
    MISSING_FIELD = "missing_field"
    INCOMPLETE_VERDICTS = "incomplete_verdicts"
    UNREADABLE_REPLY = "unreadable_reply"
    JUDGE_ERROR = "judge_error"
    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    INVALID_INPUT = "invalid_input"
    TOO_LONG = "too_long"

    @property
    def is_failure(self) -> bool:
        """True where another try or input may give a score; false where the sample has none."""
        return self in FAILURES


FAILURES: Final = frozenset(
    {
        Reason.INCOMPLETE_VERDICTS,
        Reason.UNREADABLE_REPLY,
        Reason.JUDGE_ERROR,
        Reason.RATE_LIMIT,
        Reason.TIMEOUT,
        Reason.INVALID_INPUT,
    }
)

SILENT: Final = frozenset({Reason.NO_CLAIMS, Reason.REFUSAL})
"""Reasons of texts that claim nothing, so that there is nothing to check."""

_COSTS: Final = frozenset({"usage", "from_store", "shared", "judged_by"})


class EvidenceCheck(StrEnum):
    """What the check of a quote found, in a word and as text; all but the last are faults."""

    text: str

    NOT_FOUND = "not_found", "the quote is in no context"
    UNRELATED = "unrelated", "the quote has nothing to do with the claim"
    NEGATED = "negated", "a negation stands next to the quote"
    CONTRADICTS = (
        "contradicts",
        "a number or negation of the quote contradicts the claim",
    )
    TOO_SHORT = (
        "too_short",
        "the quote is a word or two and lacks numbers or names of the claim",
    )
    UNCHECKED = (
        "unchecked",
        "quote and claim share no word, as in a paraphrase or another language",
    )

    def __new__(cls, word: str, text: str = "") -> Self:
        """A word with its text."""
        made = str.__new__(cls, word)
        made._value_, made.text = word, text
        return made

    @property
    def is_fault(self) -> bool:
        """Whether such a quote leaves its verdict unsupported."""
        return self is not EvidenceCheck.UNCHECKED


class Unscored(BaseModel):
    """Why there is no score, in a word and in a sentence.

    Attributes:
        reason: The word.
        detail: The sentence.
        raw_reply: What the judge answered, where it did: it was paid for.
        fatal: True when no further call is made, since it would fail, too (a wrong key), or since so
            many calls failed that the run ended.
    """

    model_config = FROZEN

    reason: Reason
    detail: str = ""
    raw_reply: str | None = None
    fatal: bool = False

    @property
    def text(self) -> str:
        """The sentence behind the word."""
        return (
            f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value
        )


class Usage(BaseModel):
    """What an assessment cost. ``cost`` is None where no prices were given."""

    model_config = FROZEN

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    seconds: float = 0.0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        costs = self.cost, other.cost
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            retries=self.retries + other.retries,
            seconds=self.seconds + other.seconds,
            cost=None if costs == (None, None) else sum(filter(None, costs)),
        )


class ClaimVerdict(BaseModel):
    """One claim with its verdict.

    Attributes:
        claim: The text of the claim.
        verdict: Its level; None for a sentence that claims nothing, which no score counts.
        evidence: The quote that the verdict rests on.
        reason: Why this level, in a sentence; of a sentence that claims nothing its kind:
            ``greeting``, ``question``, ``offer``, ``refusal`` or ``not_a_claim``.
        marked_by_judge: Whether the judge alone says that it claims nothing, and no list of phrases.
        context: Which context holds the evidence, counted from 1.
        original_verdict: The level that the judge gave, where the evidence check lowered it.
        evidence_check: Why the quote does not support a level above ``none``, be it lowered for
            that or not; ``unchecked`` where a high level stands although it is unknown whether
            its quote belongs to the claim; None where the quote is good, or was not looked at.
        probabilities: How likely each level is, fully first, summing to 1; None where the judge
            gives levels only. Where it is present, scores use it.
        original_probabilities: Those that the judge gave, together with an ``original_verdict``.
    """

    model_config = _READ

    claim: str
    verdict: Verdict | None
    evidence: str = ""
    reason: str = ""
    marked_by_judge: bool = False
    context: int | None = None
    original_verdict: Verdict | None = None
    evidence_check: EvidenceCheck | None = None
    probabilities: Shares | None = None
    original_probabilities: Shares | None = None

    @property
    def shares(self) -> Shares | None:
        """Its probabilities; all on its level where it has none; None without a verdict."""
        return (
            None
            if self.verdict is None
            else self.probabilities or _CERTAIN[self.verdict]
        )

    @property
    def is_soft(self) -> bool:
        """Whether its level alone does not say what it counts."""
        return self.verdict is not None and self.shares != _CERTAIN[self.verdict]

    def weight(self, scheme: WeightScheme = WeightScheme.DEFAULT) -> float | None:
        """The weight of its level, by its probabilities the expected one; None without a verdict.

        Scores are made of how many claims each level has (`Assessment.counts`), of which the mean
        weight of the claims is a part alone.

        >>> shares = (0.5, 0.0, 0.0, 0.0, 0.5)
        >>> ClaimVerdict(claim="c", verdict="none", probabilities=shares).weight()
        0.5
        """
        shares = self.shares
        if shares is None:
            return None
        return float(f"{math.fsum(map(mul, shares, scheme.weights)):.12g}")

    def level_text(self, scheme: WeightScheme = WeightScheme.DEFAULT) -> str:
        """Its level for a reader, with its weight where probabilities stand behind it.

        >>> claim = ClaimVerdict(claim="c", verdict="fully", probabilities=(0.9, 0, 0, 0, 0.1))
        >>> greeting = ClaimVerdict(claim="Hello!", verdict=None, reason="greeting")
        >>> claim.level_text(), greeting.level_text()
        ('fully, weight 0.900', 'no claim')
        """
        if self.verdict is None:
            return (
                "no claim, by the judge alone" if self.marked_by_judge else "no claim"
            )
        weight = f", weight {self.weight(scheme):.3f}" if self.is_soft else ""
        return f"{self.verdict.value}{weight}"


class Layouted(BaseModel):
    """What is written as JSON with the version of its layout, and read back.

    Attributes:
        schema_version: The version of the layout.
        called: What it is called where something else is refused.
    """

    model_config = _READ
    called: ClassVar[str]

    schema_version: Layout = SCHEMA_VERSION  # files of assessments are known by it

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """What ``to_json`` wrote.

        Raises:
            UnreadableInputError: Not JSON, another layout version, or fields that do not fit.
        """
        return cls._read(cls.model_validate_json, text)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The same from JSON values; what else there is, such as a score, is left out.

        Raises:
            UnreadableInputError: Another layout version, or fields that do not fit.
        """
        return cls._read(cls.model_validate, plain)

    @classmethod
    def _read(cls, validate: Callable[[Any], Self], written: object) -> Self:
        try:
            return validate(written)
        except ValidationError as error:
            msg = f"not {cls.called} of layout {SCHEMA_VERSION}: {first_fault(error)}"
            raise UnreadableInputError(msg) from None


class Judgement(Layouted):
    """What a judge was asked for, and paid for, once.

    Equal judgements are equal, whatever they cost and whether a judge was asked this time.

    Attributes:
        unscored: Why there is no score; None where there is one.
        usage: Calls, tokens, seconds and cost.
        from_store: True when a store served it: no judge was asked this time.
        shared: True when another evaluator of this process had asked, or was asking, for the same
            judgement: no judge was asked for this one, and its usage is nothing.
        stored_as: What a store calls its kind; keys of different kinds do not see each other.
    """

    stored_as: ClassVar[str] = "record"

    unscored: Unscored | None = None
    usage: Usage = Usage()
    from_store: bool = False
    shared: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Judgement):
            return NotImplemented
        return self._judged() == other._judged()

    __hash__ = BaseModel.__hash__

    def _judged(self) -> dict[str, Any]:
        """Everything but what it cost and where it came from."""
        return {name: value for name, value in self if name not in _COSTS}

    @property
    def is_new(self) -> bool:
        """Whether a judge was asked for it this time."""
        return not (self.from_store or self.shared)

    @property
    def failure(self) -> Unscored | None:
        """Why another try may give a score; None where none can."""
        return (
            self.unscored if self.unscored and self.unscored.reason.is_failure else None
        )

    def own_failure(self) -> Self:
        """The same, as a failure that says nothing about further calls."""
        why = self.unscored and self.unscored.model_copy(update={"fatal": False})
        return self.model_copy(update={"unscored": why})


class Assessment(Judgement):
    """A judgement of one sample under one criterion. Scores are views of it and cost no call.

    Attributes:
        criterion: Name of the criterion.
        judge: Name of the judge, with its version or model.
        claims: Claims in the order of the text, non-claims included.
        sample_id: The sample's id.
        metadata: The sample's metadata.
        prompt_version: Version of the prompt, or of the algorithm of a judge without prompts.
        members: What additional judges said of the same sample, for a fused score.
        panel: The single assessments that this one was made of: those of a panel's judges, or the
            repeats of one judge.
        form: In which form verdicts were asked for in the end, e.g. ``written`` or ``yes_no, 5
            draws``; empty for judges that are not asked.
        marked_of_one: Of several answers, the largest `marked_share`; not written, as their own
            assessments are.
        earlier_contexts: Whether the claims were checked against contexts of earlier turns, as
            ``uncontexted="earlier"`` allows.
        judged_by: What criterion and judges are known by, see `TCVA.judged_by`; empty where nobody
            says it.

    >>> a = Assessment.from_verdicts(["fully", "none"])
    >>> a.counts.tolist()
    [1.0, 0.0, 0.0, 0.0, 1.0]
    >>> Assessment.from_json(a.to_json()) == a
    True
    """

    stored_as = "assessment"
    called = "an assessment"

    criterion: str
    judge: str
    prompt_version: str
    claims: tuple[ClaimVerdict, ...] = ()
    sample_id: str | None = None
    metadata: Metadata = Field(default_factory=dict)
    members: tuple[Assessment, ...] = ()
    panel: tuple[Assessment, ...] = ()
    form: str = ""
    marked_of_one: float = Field(default=0.0, exclude=True)
    earlier_contexts: bool = False
    judged_by: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _scored_or_not(self) -> Self:
        if self.unscored is None and not self.verdicts:
            msg = "an assessment without a verdict must say why it is unscored"
            raise ValueError(msg)
        return self

    def __hash__(self) -> int:
        return hash((self.criterion, self.judge, self.claims, self.sample_id))

    @property
    def is_lexical(self) -> bool:
        """Whether its judge compares words."""
        return self.judge.startswith("lexical/")

    @property
    def repeats(self) -> tuple[Assessment, ...]:
        """The independent judgements of one judge that this one was made of; none for a panel."""
        are_of_one = (
            len(self.panel) > 1 and len({each.judge for each in self.panel}) == 1
        )
        return self.panel if are_of_one else ()  # a panel has no two judges of one name

    @classmethod
    def from_verdicts(
        cls,
        verdicts: Sequence[Verdict | str],
        *,
        criterion: str = "faithfulness",
        judge: str = "given",
        sample_id: str | None = None,
    ) -> Assessment:
        """An assessment from given verdicts; none at all is ``no_claims``.

        Raises:
            InvalidValueError: A word names no level, or there is no list of them.
        """
        claims = tuple(
            ClaimVerdict(claim=f"claim {i}", verdict=Verdict.parse(v))
            for i, v in enumerate(listed("verdicts", verdicts), start=1)
        )
        unscored = (
            None
            if claims
            else Unscored(reason=Reason.NO_CLAIMS, detail="no verdicts given")
        )
        about: dict[str, Any] = {
            "criterion": criterion,
            "judge": judge,
            "sample_id": sample_id,
        }
        return cls(
            **about,
            prompt_version="given",
            claims=claims,
            unscored=unscored,
        )

    @property
    def failed_judges(self) -> list[str]:
        """The names of those of several judges that failed; repeats are numbered."""
        names = []
        for number, part in enumerate((*self.panel, *self.members), start=1):
            name = f"{part.judge} #{number}" if part in self.repeats else part.judge
            names += [name] if part.failure else part.failed_judges
        return names

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The levels of the scored claims, in order."""
        return tuple(filter(None, map(attrgetter("verdict"), self.claims)))

    @property
    def non_claims(self) -> Counter[bool]:
        """How many sentences claim nothing, by whether the judge alone says so."""
        return Counter(
            claim.marked_by_judge for claim in self.claims if claim.verdict is None
        )

    @property
    def marked_share(self) -> float:
        """The share of an answer's characters in sentences that only its judge marks as no claim.

        In [0, 1]. Of several answers, or with additional judges, it is the largest one. No gate
        passes an answer most of which is no claim by the judge's word alone. Greetings, offers and
        questions that the lists know count only in an answer that refuses; otherwise an answer could
        lower its share by courtesies.

        >>> marked = ClaimVerdict(claim="Servus!", verdict=None, marked_by_judge=True)
        >>> Assessment.from_verdicts(["fully"]).model_copy(update={"claims": (marked,)}).marked_share
        1.0
        """
        sizes = Counter[str]()
        for claim in self.claims:
            kind = "claim" if claim.verdict else claim.reason
            sizes["marked" if claim.marked_by_judge else kind] += len(claim.claim)
        counted = (
            sizes.total() if sizes["refusal"] else sizes["marked"] + sizes["claim"]
        )
        share = sizes["marked"] / max(counted, 1)
        return max(
            share, self.marked_of_one, *(member.marked_share for member in self.members)
        )

    @property
    def counts(self) -> FloatArray:
        """Claims per level, shape (5,), fully first; all zeros where the sample is unscored.

        Where claims carry probabilities these are expected counts.
        """
        return np.array(self.level_counts, dtype=np.float64)

    @property
    def level_counts(self) -> tuple[float, ...]:
        """The same as five numbers."""
        if self.unscored is not None:
            return (0.0,) * len(LEVELS)
        rows = filter(None, map(attrgetter("shares"), self.claims))
        return tuple(map(math.fsum, zip(*rows, strict=True)))

    @property
    def is_soft(self) -> bool:
        """Whether probabilities stand behind its verdicts, so that these alone make no score."""
        return any(map(attrgetter("is_soft"), self.claims))

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back to an equal assessment.

        Metadata that JSON cannot hold is written as text.
        """
        return self.model_dump_json()
