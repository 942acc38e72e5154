"""What a judge is, what every judge begins and ends with, and the key of a judgement."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar, get_args, runtime_checkable

from tcva_adapters.criteria import FIELDS, Criterion
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.judges.prompts import sha256_of
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


_KEY_VERSION: Final = 1


def verdict_key(
    sample: Sample,
    criterion: Criterion,
    *,
    judge: str,
    prompt_version: str,
    parameters: Mapping[str, Any],
) -> str:
    """The key of a judgement: a SHA-256 over everything that can change its verdicts.

    Of the sample, only the fields that the criterion looks at count; its id and metadata do not.
    The temperature, the weight scheme, the penalty and the threshold are views of verdicts
    and have no place among the parameters.

    Args:
        sample: What is judged.
        criterion: Enters with its fingerprint.
        judge: Name of the judge, with its version or model.
        prompt_version: Version of the prompt or of the algorithm.
        parameters: Whatever else changes a verdict: claims mode, ``max_claims``, seed and so on.
            JSON values only.

    Raises:
        InvalidValueError: A parameter is no JSON value.

    >>> from tcva_adapters.criteria import FAITHFULNESS
    >>> how = {"judge": "lexical", "prompt_version": "1", "parameters": {"max_claims": 8}}
    >>> one = Sample(response="It is red.", contexts=("A red car.",), id="a", reference="Red.")
    >>> two = one.model_copy(update={"id": "b", "reference": None})
    >>> verdict_key(one, FAITHFULNESS, **how) == verdict_key(two, FAITHFULNESS, **how)
    True
    """
    parts = {
        "key_version": _KEY_VERSION,
        "sample": seen(sample, {*criterion.required, *criterion.shows}),
        "criterion": criterion.fingerprint,
        "judge": judge,
        "prompt_version": prompt_version,
        "parameters": dict(parameters),
    }
    return digest(parts)


def seen(sample: Sample, fields: Collection[str]) -> dict[str, Any]:
    """What a judge sees of a sample, for its key: these fields, and with a question its history."""
    found: dict[str, Any] = {
        name: getattr(sample, name) for name in FIELDS if name in fields
    }
    if "input" in fields and sample.history:
        found["history"] = sample.history
    return found


def digest(parts: Mapping[str, Any]) -> str:
    """A SHA-256 over the parts of a key.

    Args:
        parts: JSON values; the judge's ``parameters`` come from others and are checked.

    Raises:
        InvalidValueError: A parameter is no JSON value.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    try:
        text = json.dumps(
            parts,
            sort_keys=True,
            allow_nan=False,
            separators=(",", ":"),
        )
    except (TypeError, ValueError, RecursionError) as error:
        given = parts.get("parameters")
        msg = f"parameters of a judgement must be JSON values, got {given!r}: {error}"
        raise InvalidValueError(msg) from None
    return sha256_of(text)
