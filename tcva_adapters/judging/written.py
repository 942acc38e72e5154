"""All verdicts of a sample as a judge model writes them: one call, and one more for what it lacks."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import Final

from tcva_adapters.claims.criteria import Criterion
from tcva_adapters.claims.non_claims import non_claim_kind
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.judging.conversation import CannotScoreError, Conversation
from tcva_adapters.judging.evidence.check import check_evidence
from tcva_adapters.judging.logprobs import level_probabilities
from tcva_adapters.judging.prompts import verdict_request
from tcva_adapters.judging.reply import parse_verdicts
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.results.assessment import ClaimVerdict, Reason
from tcva_adapters.samples.sample import Sample, whole_characters


def passages(sample: Sample, criterion: Criterion) -> tuple[str, ...]:
    """The texts that claims are held against, one or several."""
    value = getattr(sample, criterion.against)
    return value if isinstance(value, tuple) else (value,)


def written_verdicts(
    talk: Conversation, sample: Sample, criterion: Criterion, texts: Sequence[str]
) -> Generator[JudgeRequest, ModelReply, tuple[ClaimVerdict, ...]]:
    """All verdicts in one call, and one more for those that are missing."""
    if not texts:
        return ()
    reply = yield from talk.ask(verdict_request(sample, criterion, texts))
    found, disbelieved, problems = _accepted(reply, texts, criterion)
    missing = [number for number in range(1, len(texts) + 1) if number not in found]
    if missing:
        # Where nothing was disbelieved the prompt keeps its beginning, which is cached.
        request = verdict_request(
            sample, criterion, texts, only=missing, allow_non_claims=not disbelieved
        )
        try:
            reply = yield from talk.ask(request)
        except CannotScoreError as stop:
            problems = [f"the further call failed: {stop.unscored.detail}"]
        else:
            again, _, problems = _accepted(reply, texts, criterion)
            found |= {number: again[number] for number in missing if number in again}
    missing = [number for number in missing if number not in found]
    if missing:
        reason = Reason.INCOMPLETE_VERDICTS if found else Reason.UNREADABLE_REPLY
        numbers = ", ".join(map(str, missing))
        why = f": {'; '.join(problems)}" if problems else ""
        detail = f"no verdict for claim {numbers} of {len(texts)}{why}"
        raise CannotScoreError(reason, detail, talk.replies)
    held = passages(sample, criterion)
    verdicts = (found[number] for number in range(1, len(texts) + 1))
    if criterion.checks_evidence:
        return check_evidence(verdicts, held)
    return tuple(verdicts)


def _accepted(
    reply: ModelReply, texts: Sequence[str], criterion: Criterion
) -> tuple[dict[int, ClaimVerdict], bool, list[str]]:
    """The verdicts by claim number, whether a non-claim was disbelieved, and what was wrong."""
    accepted: dict[int, ClaimVerdict] = {}
    disbelieved = False
    has_tokens = reply.token_logprobs is not None
    parsed = parse_verdicts(reply.text, len(texts), with_starts=has_tokens)
    for number, verdict in parsed.verdicts.items():
        text = texts[number - 1]
        if isinstance(verdict.label, Verdict):
            start = verdict.start
            accepted[number] = ClaimVerdict(
                claim=text,
                verdict=verdict.label,
                evidence=whole_characters(verdict.evidence),
                reason=whole_characters(verdict.reason),
                passage=verdict.passage,
                probabilities=None if start is None else level_probabilities(reply, start),
            )
        elif not criterion.statements and may_be_non_claim(text):
            reason = "refusal" if verdict.label == "refusal" else whole_characters(verdict.reason)
            accepted[number] = ClaimVerdict(claim=text, verdict=None, reason=reason)
        else:
            disbelieved = True
    problems = ["the reply was cut off"] if reply.truncated else []
    return accepted, disbelieved, [*problems, *parsed.problems]


_NUMBER = re.compile(r"\d")
_FEW_WORDS: Final = 4
_FEW_CHARACTERS: Final = 40


def may_be_non_claim(text: str) -> bool:
    """Whether a judge's mark "this claims nothing" is believed.

    Otherwise a judge, or an answer that talks to the judge, could raise a score by waving awkward
    claims through. It is believed where the sentence is plainly a greeting, a question back, an
    offer or a refusal, and for a few words without a number, which no list of phrases covers in
    all languages.

    >>> may_be_non_claim("Happy to help!"), may_be_non_claim("The drug is safe for children.")
    (True, False)
    """
    if non_claim_kind(text) is not None:
        return True
    few = len(text.split()) <= _FEW_WORDS and len(text) <= _FEW_CHARACTERS
    return few and text.isascii() and not _NUMBER.search(text)
