"""From a sample to an assessment: what a judge is, and the lexical one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, get_args, runtime_checkable

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.lexical.judge import LexicalJudge
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason, Unscored, Usage
from tcva_adapters.results.settings import JudgeConfig, VerdictForm
from tcva_adapters.samples.sample import Sample
from tcva_adapters.sharing import Identity
from tcva_adapters.text.sentences import split_claims

VERDICT_FORMS: Final[tuple[VerdictForm, ...]] = get_args(VerdictForm)

MAX_CLAIMS: Final[int] = JudgeConfig.default("max_claims")
"""Samples with more claims are not sent to a model."""


class Asked(Protocol):
    """What is asked for verdicts or ratings, as they and their keys name it."""

    @property
    def name(self) -> str:
        """Name with version or model, as what it says carries it."""

    @property
    def prompt_version(self) -> str:
        """Version of the prompt or the algorithm."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Everything else that can change what it says; holds no secrets."""

    @property
    def is_local(self) -> bool:
        """True for one that computes in this process: threads would not make it faster."""


@runtime_checkable
class Judge(Asked, Protocol):
    """Anything that turns a sample into an assessment."""

    def check(self, criterion: Criterion) -> None:
        """Raise InvalidValueError for a criterion that this judge cannot judge by."""

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample. Failures are values: this does not raise for a bad reply."""

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited."""


def blank_field(sample: Sample, criterion: Criterion) -> Unscored | None:
    """Why a sample cannot be judged without asking anybody, or None where it can."""
    # The judged text comes first: an empty answer to an empty context is an empty answer.
    for name in dict.fromkeys((criterion.claims, criterion.against)):
        if name in criterion.required and not (sample.field(name) or "").strip():
            return Unscored(reason=EMPTY_REASONS[name], detail=f"{name} is empty")
    return None


def passages(sample: Sample, criterion: Criterion) -> tuple[str, ...]:
    """The texts that claims are held against, one or several."""
    value = getattr(sample, criterion.against)
    return value if isinstance(value, tuple) else (value,)


def identity_of(judge: Judge) -> Identity | None:
    """Which judges are the same as this one; None for one that only computes."""
    if judge.is_local:
        return None
    found = getattr(judge, "identity", None)
    return found if isinstance(found, Identity) else Identity(judge)


EMPTY_REASONS: Final = {
    "input": Reason.EMPTY_INPUT,
    "response": Reason.EMPTY_RESPONSE,
    "contexts": Reason.EMPTY_CONTEXT,
    "reference": Reason.EMPTY_REFERENCE,
}
"""Why a field with nothing in it cannot be judged."""


@dataclass(frozen=True, slots=True)
class LexicalSampleJudge:
    """The embedded judge: word overlap, numbers, names and negation; no model, no network."""

    lexical: LexicalJudge = field(default_factory=LexicalJudge)

    is_local = True

    @property
    def name(self) -> str:
        """Name and version; it says that the judge is lexical."""
        return self.lexical.name

    @property
    def prompt_version(self) -> str:
        """The version of the algorithm: there is no prompt."""
        return self.lexical.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The settings that can change a verdict."""
        return {"settings": repr(self.lexical.settings)}

    def check(self, criterion: Criterion) -> None:
        """Refuse lists of criteria texts, which words cannot judge.

        Raises:
            InvalidValueError: The criterion is such a list.
        """
        if criterion.statements:
            msg = f"the lexical judge cannot judge criteria texts ({criterion.name!r}); use a model"
            raise InvalidValueError(msg)

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample by its words.

        Raises:
            InvalidValueError: See `check`.
        """
        self.check(criterion)
        started = time.perf_counter()
        unscored = blank_field(sample, criterion)
        claims: list[ClaimVerdict] = []
        if unscored is None:
            texts = split_claims(sample.field(criterion.claims) or "")
            claims = self.lexical.judge_claims(texts, passages(sample, criterion), criterion)
            unscored = nothing_to_score(claims)
        return Assessment(
            criterion=criterion.name,
            judge=self.name,
            prompt_version=self.prompt_version,
            claims=tuple(claims),
            unscored=unscored,
            usage=Usage(seconds=time.perf_counter() - started),
            sample_id=sample.id,
            metadata=sample.metadata,
        )

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same; it takes milliseconds and does not wait for anything."""
        return self.assess(sample, criterion)


def nothing_to_score(claims: Iterable[ClaimVerdict]) -> Unscored | None:
    """Why a judged text has no score: no claims at all, or only a refusal."""
    claims = tuple(claims)
    if any(claim.verdict is not None for claim in claims):
        return None
    if any(claim.reason == "refusal" for claim in claims):
        return Unscored(reason=Reason.REFUSAL, detail="the text declines to answer")
    return Unscored(reason=Reason.NO_CLAIMS, detail="the text claims nothing")
