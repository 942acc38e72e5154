"""The interface of judges, the reasons for unscored samples, and assessments without a model."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol, get_args, runtime_checkable

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.secrets import quotable
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.judgement import Reason, Unscored, Usage
from tcva_adapters.results.settings import JudgeConfig, VerdictForm
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims

VERDICT_FORMS: tuple[VerdictForm, ...] = get_args(VerdictForm)

MAX_CLAIMS: int = JudgeConfig.default("max_claims")
"""The default of ``max_claims``: samples with more claims are not sent to a model."""


EMPTY_REASONS = {
    "input": Reason.EMPTY_INPUT,
    "response": Reason.EMPTY_RESPONSE,
    "contexts": Reason.EMPTY_CONTEXT,
    "reference": Reason.EMPTY_REFERENCE,
}
"""The reason that is given for each empty field."""


@runtime_checkable
class Judge(Protocol):
    """Anything that turns a sample into an assessment.

    A subclass must define a name, a prompt version and `assess`, and may override the rest. Any
    object with all of these members is a judge, too.

    >>> from tcva_adapters import TCVA, Assessment, Judge, Sample
    >>> class Verbatim(Judge):
    ...     name = prompt_version = "verbatim/1"
    ...     def assess(self, sample, criterion):
    ...         is_copy = sample.response in sample.contexts
    ...         return Assessment.from_verdicts(["fully" if is_copy else "none"])
    >>> TCVA(judge=Verbatim()).evaluate(Sample(response="Open.", contexts=["Open."])).score
    1.0
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name with version or model, as it appears in assessments."""

    @property
    @abstractmethod
    def prompt_version(self) -> str:
        """The version of the prompt or the algorithm."""

    @property
    def parameters(self) -> Mapping[str, object]:
        """Everything else that can change the verdicts, as JSON values without secrets."""
        return {}

    @property
    def is_local(self) -> bool:
        """Whether the judge computes in this process, where threads do not make it faster."""
        return False

    def check(self, criterion: Criterion) -> None:  # noqa: ARG002  # any will do
        """Raise InvalidValueError for a criterion that this judge cannot judge by."""
        return  # mypy takes an empty body for an abstract one

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample; a failed call or bad reply gives an unscored assessment, not an error."""

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited; by default in another thread."""
        return await asyncio.to_thread(self.assess, sample, criterion)


def texts_against(sample: Sample, criterion: Criterion) -> tuple[str, ...]:
    """The texts that claims are judged against: the contexts, or the one text of another field."""
    value = getattr(sample, criterion.against)
    return value if isinstance(value, tuple) else (value,)


def assess_locally(
    judge: Judge,
    sample: Sample,
    criterion: Criterion,
    verdicts_on: Callable[[list[str], tuple[str, ...]], Sequence[ClaimVerdict]],
    *,
    form: str = "",
) -> Assessment:
    """Judge a sample with a judge that makes no call, and return the assessment.

    Args:
        judge: The judge.
        sample: The sample that is judged.
        criterion: The criterion that it is judged by.
        verdicts_on: Returns the verdicts on the given claims by the given passages. A `JudgeError`
            that it raises becomes the reason of an unscored sample.
        form: The form of the verdicts, see `Assessment`.

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
            claims = verdicts_on(texts, texts_against(sample, criterion))
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


def blank_field(
    sample: Sample, criterion: Criterion, sentences: Sequence[str]
) -> Unscored | None:
    """Find the empty field for which a sample cannot be judged; None where it can be judged.

    Args:
        sample: The sample that is judged.
        criterion: The criterion that it is judged by.
        sentences: The sentences of the judged text. Where all of them claim nothing, no contexts
            or reference are needed to check them.
    """
    # The judged text comes first: an empty answer to an empty context is an empty answer.
    names = [criterion.claims]
    if criterion.statements or not all(map(non_claim_kind, sentences)):
        names.append(criterion.against)

    for name in names:
        if name in criterion.required and not (sample.field(name) or "").strip():
            return Unscored(
                reason=EMPTY_REASONS[name],
                detail="no contexts were retrieved"
                if name == "contexts"
                else f"the {name} is empty",
            )
    return None


def nothing_to_score(claims: Sequence[ClaimVerdict]) -> Unscored | None:
    """Say why a judged text has no score: no claims, or only a refusal; None where it has one."""
    if any(claim.verdict is not None for claim in claims):
        return None
    if any(claim.reason == "refusal" for claim in claims):
        return Unscored(reason=Reason.REFUSAL, detail="the answer declines to answer")
    return Unscored(reason=Reason.NO_CLAIMS, detail="the text contains no claim")


def complete_verdicts(
    verdicts: Mapping[int, ClaimVerdict],
    n_claims: int,
    problems: str,
    *,
    has_any: bool = False,
) -> tuple[ClaimVerdict, ...]:
    """Return the verdicts on all claims in their order.

    Args:
        verdicts: The verdicts by the number of the claim, counted from 1.
        n_claims: The number of claims.
        problems: What was wrong with the replies, for the message of the error.
        has_any: Whether the replies could be read although no verdict is left.

    Raises:
        JudgeError: A claim has no verdict.
    """
    numbers = range(1, n_claims + 1)
    missing = sorted({*numbers} - verdicts.keys())
    if missing:
        detail = f"no verdict for claim {', '.join(map(str, missing))} of {n_claims}"
        raise JudgeError(
            f"{detail}: {problems}" if problems else detail,
            reason=Reason.INCOMPLETE_VERDICTS
            if verdicts or has_any
            else Reason.UNREADABLE_REPLY,
        )
    return tuple(verdicts[number] for number in numbers)


def why_unscored(error: Exception, replies: Sequence[str] = ()) -> Unscored:
    """Turn an error that ended a judgement into the reason of an unscored result.

    An error that is no `JudgeError` is a fault in this package or in a user's judge; it affects
    its own sample only.

    Args:
        error: The error. The reason of a `JudgeError` is used where it is one of `Reason`.
        replies: The replies that were received, and paid for, before the error.
    """
    reason = Reason.JUDGE_ERROR
    fatal = False
    detail = f"unexpected error while judging: {type(error).__name__}: {quotable(str(error))}"
    if isinstance(error, JudgeError):
        with suppress(ValueError):
            reason = Reason(error.reason)
        detail = str(error)
        fatal = error.fatal
    return Unscored(
        reason=reason,
        detail=detail,
        raw_reply="\n---\n".join(replies) if replies else None,
        fatal=fatal,
    )
