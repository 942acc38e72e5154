"""What a judge is, and what every judge begins and ends with."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar, get_args, runtime_checkable

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.protocol import JudgeRequest, ModelReply
from tcva_adapters.models.secrets import quotable
from tcva_adapters.results.assessment import (
    Assessment,
    ClaimVerdict,
    Reason,
    Unscored,
    Usage,
)
from tcva_adapters.results.settings import JudgeConfig, VerdictForm
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims

VERDICT_FORMS: Final[tuple[VerdictForm, ...]] = get_args(VerdictForm)

MAX_CLAIMS: Final[int] = JudgeConfig.default("max_claims")
"""Samples with more claims are not sent to a model."""


@runtime_checkable
class Judge(Protocol):
    """Anything that turns a sample into an assessment."""

    @property
    def name(self) -> str:
        """Name with version or model, as assessments carry it."""

    @property
    def prompt_version(self) -> str:
        """Version of the prompt or the algorithm."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Everything else that can change its verdicts; holds no secrets."""

    @property
    def is_local(self) -> bool:
        """True for one that computes in this process: threads would not make it faster."""

    def check(self, criterion: Criterion) -> None:
        """Raise InvalidValueError for a criterion that this judge cannot judge by."""

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample. Failures are values: this does not raise for a bad reply."""

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited."""


Outcome = TypeVar("Outcome")

Replies = Sequence[ModelReply | JudgeError]
"""One for each request of a turn; behind a `JudgeError` further ones may be missing."""

Turns = Generator[list[JudgeRequest], Replies, Outcome]
"""A judgement without its calls."""


EMPTY_REASONS: Final = {
    "input": Reason.EMPTY_INPUT,
    "response": Reason.EMPTY_RESPONSE,
    "contexts": Reason.EMPTY_CONTEXT,
    "reference": Reason.EMPTY_REFERENCE,
}
"""Why a field with nothing in it cannot be judged."""


def blank_field(
    sample: Sample, criterion: Criterion, sentences: Sequence[str]
) -> Unscored | None:
    """Why a sample cannot be judged without asking anybody, or None where it can.

    Args:
        sample: What is judged.
        criterion: By what.
        sentences: Those of the judged text. Where all of them claim nothing, no contexts or
            reference are needed to check them.
    """
    # The judged text comes first: an empty answer to an empty context is an empty answer.
    names = [criterion.claims]
    if criterion.statements or not all(map(non_claim_kind, sentences)):
        names.append(criterion.against)
    for name in dict.fromkeys(names):
        if name in criterion.required and not (sample.field(name) or "").strip():
            empty = (
                "no contexts were retrieved"
                if name == "contexts"
                else f"the {name} is empty"
            )
            return Unscored(reason=EMPTY_REASONS[name], detail=empty)
    return None


def passages(sample: Sample, criterion: Criterion) -> tuple[str, ...]:
    """The texts that claims are held against, one or several."""
    value = getattr(sample, criterion.against)
    return value if isinstance(value, tuple) else (value,)


def computed(
    judge: Judge,
    sample: Sample,
    criterion: Criterion,
    judged: Callable[[list[str], tuple[str, ...]], Sequence[ClaimVerdict]],
    *,
    form: str = "",
) -> Assessment:
    """The assessment of a judge that asks nobody.

    Args:
        judge: Who judges.
        sample: What is judged.
        criterion: By what.
        judged: The verdicts on these claims by these passages. Its `JudgeError` is the reason of
            an unscored sample.
        form: Of the verdicts, see `Assessment`.

    Raises:
        InvalidValueError: The judge cannot judge by the criterion.
    """
    judge.check(criterion)
    started = time.perf_counter()
    claims: Sequence[ClaimVerdict] = ()
    texts = split_claims(sample.field(criterion.claims) or "")
    unscored = blank_field(sample, criterion, texts)
    if unscored is None:
        try:
            claims = judged(texts, passages(sample, criterion))
            unscored = nothing_to_score(claims)
        except JudgeError as error:
            unscored = why_unscored(error)
    return Assessment(
        criterion=criterion.name,
        judge=judge.name,
        prompt_version=judge.prompt_version,
        claims=tuple(claims),
        unscored=unscored,
        form=form,
        usage=Usage(seconds=time.perf_counter() - started),
        sample_id=sample.id,
        metadata=sample.metadata,
    )


def listed_non_claims(sentences: Iterable[str]) -> dict[str, ClaimVerdict]:
    """The sentences that claim nothing by the lists of phrases.

    >>> listed_non_claims(["Hello!", "It opens at nine."])["Hello!"].reason
    'greeting'
    """
    return {
        sentence: ClaimVerdict(
            claim=sentence,
            verdict=None,
            reason=kind,
        )
        for sentence in sentences
        if (kind := non_claim_kind(sentence))
    }


def nothing_to_score(claims: Iterable[ClaimVerdict]) -> Unscored | None:
    """Why a judged text has no score: no claims at all, or only a refusal."""
    is_refusal = False
    for claim in claims:
        if claim.verdict is not None:
            return None
        is_refusal = is_refusal or claim.reason == "refusal"
    if is_refusal:
        return Unscored(reason=Reason.REFUSAL, detail="the answer declines to answer")
    return Unscored(reason=Reason.NO_CLAIMS, detail="the text contains no claim")


def incomplete(
    missing: Sequence[str],
    n_claims: int,
    why: str,
    *,
    has_any: bool,
) -> JudgeError:
    """The failure of a sample some of whose claims have no verdict."""
    detail = f"no verdict for claim {', '.join(missing)} of {n_claims}"
    reason = Reason.INCOMPLETE_VERDICTS if has_any else Reason.UNREADABLE_REPLY
    return JudgeError(f"{detail}: {why}" if why else detail, reason=reason)


def why_unscored(error: Exception, replies: Sequence[str] = ()) -> Unscored:
    """The reason of an unscored result, for whatever ended a judgement.

    What is no failure of a call is a fault, of ours or of somebody's judge: it stays with its
    sample.

    Args:
        error: What was raised. The reason of a `JudgeError` counts where it is one of `Reason`.
        replies: What was paid for until then.
    """
    reason, fatal = Reason.JUDGE_ERROR, False
    detail = f"unexpected error while judging: {type(error).__name__}: {quotable(str(error))}"
    if isinstance(error, JudgeError):
        with suppress(ValueError):
            reason = Reason(error.reason)
        detail, fatal = str(error), error.fatal
    raw = "\n---\n".join(replies) if replies else None
    return Unscored(
        reason=reason,
        detail=detail,
        raw_reply=raw,
        fatal=fatal,
    )
