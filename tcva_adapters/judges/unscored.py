"""The reasons of samples without a score: something is empty, nothing is claimed, judging failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.secrets import quotable
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.non_claims import non_claim_kind

EMPTY_REASONS = {
    "input": Reason.EMPTY_INPUT,
    "response": Reason.EMPTY_RESPONSE,
    "contexts": Reason.EMPTY_CONTEXT,
    "reference": Reason.EMPTY_REFERENCE,
}
"""The reason for each field with nothing in it."""


def blank_field(
    sample: Sample, criterion: Criterion, sentences: Sequence[str]
) -> Unscored | None:
    """The reason that a sample cannot be judged at all, found without a call; None where it can.

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

    for name in names:
        if name in criterion.required and not (sample.field(name) or "").strip():
            detail = f"the {name} is empty"
            if name == "contexts":
                detail = "no contexts were retrieved"
            return Unscored(reason=EMPTY_REASONS[name], detail=detail)
    return None


def nothing_to_score(claims: Iterable[ClaimVerdict]) -> Unscored | None:
    """The reason that a judged text has no score, no claims at all or only a refusal; else None."""
    claims = [*claims]
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
    """The verdicts on all claims in their order.

    Args:
        verdicts: By the number of the claim, counted from 1.
        n_claims: How many claims there are.
        problems: What was wrong with the replies.
        has_any: Whether replies could be read all the same, where no verdict is left.

    Raises:
        JudgeError: A claim has none.
    """
    numbers = range(1, n_claims + 1)
    missing = [str(number) for number in numbers if number not in verdicts]
    if missing:
        detail = f"no verdict for claim {', '.join(missing)} of {n_claims}"
        is_read = bool(verdicts) or has_any
        raise JudgeError(
            f"{detail}: {problems}" if problems else detail,
            reason=Reason.INCOMPLETE_VERDICTS if is_read else Reason.UNREADABLE_REPLY,
        )
    return tuple(verdicts[number] for number in numbers)


def why_unscored(error: Exception, replies: Sequence[str] = ()) -> Unscored:
    """The reason of an unscored result, for whatever ended a judgement.

    An error other than of a call is a fault, of ours or of somebody's judge: it stays with its sample.

    Args:
        error: What was raised. The reason of a `JudgeError` counts where it is one of `Reason`.
        replies: What was paid for until then.
    """
    reason = Reason.JUDGE_ERROR
    fatal = False
    detail = f"unexpected error while judging: {type(error).__name__}: {quotable(str(error))}"
    if isinstance(error, JudgeError):
        with suppress(ValueError):
            reason = Reason(error.reason)
        detail, fatal = str(error), error.fatal
    return Unscored(
        reason=reason,
        detail=detail,
        raw_reply="\n---\n".join(replies) if replies else None,
        fatal=fatal,
    )
