"""What a judge model is asked: one request for all verdicts of a sample, and one for claims.

The layout serves prompt caches: the system part depends on the criterion alone, and the user part
begins with the passages, which samples of one document share, and ends with the claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.fences import FENCES, fence, fenced_fields
from tcva_adapters.judging.forms import PromptForm
from tcva_adapters.judging.judge import passages
from tcva_adapters.judging.sentences import numbered, with_numbers
from tcva_adapters.judging.wording import (
    CLAIMS_SYSTEM,
    NOT_A_CLAIM,
    REFUSAL,
    SENTENCE,
    claim_key,
    quote_key,
    verdict_system,
)
from tcva_adapters.models.request import JudgeRequest, closed_object
from tcva_adapters.samples.sample import Sample

PROMPT_VERSION: Final = "tcva/3"
"""Changes with every change of a prompt, or of what is made of the reply (the evidence check), that
could change a verdict; part of each store key."""

_END: Final = "The data ends here."
_REPLY: Final = "Reply with the JSON object alone."
_MOST_SPELT_OUT: Final = 20
"""Claims up to here have their entries spelt out in the schema. Strict modes allow 100 properties,
four a claim with its own; beyond, entries are referred to, which not every server can follow."""


def verdict_request(
    sample: Sample,
    criterion: Criterion,
    claims: Sequence[str],
    *,
    only: Sequence[int] | None = None,
    allow_non_claims: bool = True,
    form: PromptForm = "full",
    problems: Sequence[str] = (),
) -> JudgeRequest:
    """One request for the verdicts on all claims of a sample (paper, section 4.8).

    Args:
        sample: The sample; the fields that the criterion looks at must not be None.
        criterion: What is judged, and against what.
        claims: The claims, numbered from 1; of a criterion with statements, the statements.
        only: Numbers of the claims that still lack a verdict. The prompt stays the same up to its
            last lines, which then ask for these alone.
        allow_non_claims: Whether a sentence may be marked as claiming nothing or as a refusal.
            Criteria with statements never allow it: each statement is to be judged.
        form: Of the instructions.
        problems: What was wrong with the reply before, in our own words.

    Raises:
        InvalidValueError: There are no claims, or ``only`` names a number that no claim has.
    """
    asked = list(range(1, len(claims) + 1)) if only is None else sorted(set(only))
    if not asked or not 1 <= asked[0] <= asked[-1] <= len(claims):
        msg = f"verdicts can be asked for claims 1 to {len(claims)}, got {asked!r}"
        raise InvalidValueError(msg)
    allow = allow_non_claims and not criterion.statements
    is_numbered = form == "compact"
    shown = None
    if is_numbered:
        held = numbered(passages(sample, criterion))
        shown = {criterion.against: [with_numbers(sentences) for sentences in held]}
    parts = fenced_fields(sample, (criterion.against, *criterion.shows), shown)
    parts += [fence(f"CLAIM {i}", claim) for i, claim in enumerate(claims, start=1)]
    which = "each of these claims" if only is None else "these claims only"
    ask = f"Give one verdict for {which}: {', '.join(map(claim_key, asked))}."
    # Here, and not in the instructions alone: small models copy what they have read last, the claims.
    source = [] if is_numbered else [f"Quote {FENCES[criterion.against]}, not CLAIM."]
    parts.append(" ".join([_END, *problems, ask, *source, _REPLY]))
    evidence: dict[str, Any] = {
        quote_key(criterion): {"type": "string"},
        "reason": {"type": "string"},
    }
    if is_numbered:
        evidence = {SENTENCE: {"type": "integer"}}
    return JudgeRequest(
        system=verdict_system(criterion, form, allow_non_claims=allow),
        user="\n\n".join(parts),
        schema=_verdict_schema(asked, evidence, allow_non_claims=allow),
        schema_name="tcva_verdicts",
    )


def claims_request(sample: Sample, criterion: Criterion, max_claims: int) -> JudgeRequest:
    """A request to break a field of the sample into claims (paper, section 4.8).

    Args:
        sample: The sample; the field that holds the claims must not be None.
        criterion: Its ``claims`` names that field.
        max_claims: The largest number of claims, 1 or more.

    Raises:
        InvalidValueError: ``max_claims`` is below 1.
    """
    if max_claims < 1:
        msg = f"max_claims must be 1 or more, got {max_claims!r}"
        raise InvalidValueError(msg)
    parts = [] if criterion.claims == "input" else fenced_fields(sample, ("input",))
    parts.append(fence("TEXT", sample.field(criterion.claims) or ""))
    parts.append(f"{_END} List the claims of TEXT, {max_claims} at most. {_REPLY}")
    return JudgeRequest(
        system=CLAIMS_SYSTEM,
        user="\n\n".join(parts),
        schema=closed_object({"claims": {"type": "array", "items": {"type": "string"}}}),
        schema_name="tcva_claims",
    )


def _verdict_schema(
    asked: Sequence[int], evidence: Mapping[str, Any], *, allow_non_claims: bool
) -> dict[str, Any]:
    """An object with a key per claim, so that a server that enforces it leaves none out."""
    words = [level.value for level in LEVELS]
    if allow_non_claims:
        words += [NOT_A_CLAIM, REFUSAL]
    entry = closed_object({**evidence, "verdict": {"type": "string", "enum": words}})
    if len(asked) <= _MOST_SPELT_OUT:
        return closed_object({claim_key(number): entry for number in asked})
    referred = {claim_key(number): {"$ref": "#/$defs/entry"} for number in asked}
    return {**closed_object(referred), "$defs": {"entry": entry}}
