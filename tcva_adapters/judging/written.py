"""All verdicts of a sample as a judge model writes them: one call, and one more for what it lacks."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import Criterion
from tcva_adapters.judging.conversation import CannotScoreError, Conversation
from tcva_adapters.judging.echo import Given
from tcva_adapters.judging.evidence.check import check_evidence
from tcva_adapters.judging.fences import FENCES
from tcva_adapters.judging.forms import PromptForm
from tcva_adapters.judging.judge import passages
from tcva_adapters.judging.logprobs import level_probabilities
from tcva_adapters.judging.prompts import verdict_request
from tcva_adapters.judging.reply import parse_verdicts
from tcva_adapters.judging.sentences import quoted
from tcva_adapters.judging.wording import claim_key
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.results.assessment import ClaimVerdict, Reason
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.text.non_claims import non_claim_kind


def written_verdicts(
    talk: Conversation,
    sample: Sample,
    criterion: Criterion,
    texts: Sequence[str],
    form: PromptForm = "full",
) -> Generator[JudgeRequest, ModelReply, tuple[ClaimVerdict, ...]]:
    """All verdicts in one call, and one more for those that are missing or repeat the prompt.

    Raises:
        CannotScoreError: A claim has no verdict after that, or the first call failed.
    """
    if not texts:
        return ()
    request = verdict_request(sample, criterion, texts, form=form)
    held = passages(sample, criterion)
    given = Given(sample, criterion, texts, held, request.system)
    first = _read((yield from talk.ask(request)), given)
    found, problems = first.sound | first.doubtful, first.problems
    again = [number for number in range(1, len(texts) + 1) if number not in first.sound]
    if again:
        # Where nothing was disbelieved the prompt keeps its beginning, which is cached.
        request = verdict_request(
            sample,
            criterion,
            texts,
            only=again,
            allow_non_claims=not first.disbelieved,
            form=form,
            problems=first.told(criterion),
        )
        try:
            second = _read((yield from talk.ask(request)), given)
        except CannotScoreError as stop:
            problems = [f"the further call failed: {stop.unscored.detail}"]
        else:
            better = second.doubtful | first.doubtful | second.sound
            found |= {number: better[number] for number in again if number in better}
            problems = second.problems
    missing = [number for number in again if number not in found]
    if missing:
        reason = Reason.INCOMPLETE_VERDICTS if found else Reason.UNREADABLE_REPLY
        numbers = ", ".join(map(str, missing))
        why = f": {'; '.join(problems)}" if problems else ""
        detail = f"no verdict for claim {numbers} of {len(texts)}{why}"
        raise CannotScoreError(reason, detail, talk.replies)
    verdicts = (found[number] for number in range(1, len(texts) + 1))
    if criterion.checks_evidence:
        return check_evidence(verdicts, held)
    return tuple(verdicts)


@dataclass(slots=True)
class _Read:
    """What one reply holds.

    Attributes:
        sound: The verdicts by claim number.
        doubtful: Those whose quote is the claim itself, for want of better ones.
        repeated: Numbers of the claims for which the reply repeats the instructions.
        disbelieved: Whether it marked a claim as none that is one.
        problems: What was wrong, in words for a reader.
    """

    sound: dict[int, ClaimVerdict] = field(default_factory=dict)
    doubtful: dict[int, ClaimVerdict] = field(default_factory=dict)
    repeated: list[int] = field(default_factory=list)
    disbelieved: bool = False
    problems: list[str] = field(default_factory=list)

    def told(self, criterion: Criterion) -> list[str]:
        """The same for the judge that is asked again: only what it can do better."""
        lines = []
        if self.repeated:
            keys = ", ".join(map(claim_key, self.repeated))
            lines.append(f"Your reply repeated the instructions for {keys}.")
        if self.doubtful:
            keys = ", ".join(map(claim_key, self.doubtful))
            block = FENCES[criterion.against]
            lines.append(f"Your quotes for {keys} were the words of a CLAIM: copy from {block}.")
        return lines


def _read(reply: ModelReply, given: Given) -> _Read:
    """The verdicts of a reply, and what cannot be used of it."""
    read = _Read(problems=["the reply was cut off"] if reply.truncated else [])
    has_tokens = reply.token_logprobs is not None
    parsed = parse_verdicts(reply.text, len(given.claims), with_starts=has_tokens)
    for number, verdict in parsed.verdicts.items():
        text = given.claims[number - 1]
        if isinstance(verdict.label, Verdict):
            start = verdict.start
            judged = ClaimVerdict(
                claim=text,
                verdict=verdict.label,
                evidence=whole_characters(verdict.evidence),
                reason=whole_characters(verdict.reason),
                passage=verdict.passage,
                probabilities=None if start is None else level_probabilities(reply, start),
            )
            if verdict.sentences:
                judged = quoted(judged, verdict.sentences, given.passages)
            echo = given.echo(judged)
            if echo == "prompt":
                read.repeated.append(number)
            else:
                (read.sound if echo is None else read.doubtful)[number] = judged
        elif not given.criterion.statements and may_be_non_claim(text):
            reason = "refusal" if verdict.label == "refusal" else whole_characters(verdict.reason)
            read.sound[number] = ClaimVerdict(claim=text, verdict=None, reason=reason)
        else:
            read.disbelieved = True
    if read.repeated:
        numbers = ", ".join(map(str, read.repeated))
        read.problems.append(f"the reply repeats the instructions for {numbers}")
    read.problems += parsed.problems
    return read


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
