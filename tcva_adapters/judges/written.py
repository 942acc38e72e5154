"""Verdicts as a judge model writes them: one call, and one more for what it lacks."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import FIELDS, Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.base import passages
from tcva_adapters.judges.evidence import check_evidence
from tcva_adapters.judges.prompts import BLOCKS, claim_key, verdict_request, verdict_system
from tcva_adapters.judges.quotes import find_quote, prepared
from tcva_adapters.judges.reply import parse_verdicts
from tcva_adapters.judges.turns import Calls, Turns
from tcva_adapters.models.protocol import JudgeRequest, ModelReply
from tcva_adapters.results.assessment import ClaimVerdict, Reason
from tcva_adapters.results.evidence import HIGH
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.words import listed

CLAIMS_A_CALL: Final = 24

_RUN: Final = 4
"""Words in a row that are no name which prompt and passage may both have."""

_MOST: Final = 0.7
"""Share of a quote's runs of words from which on it is a copy."""


def written_verdicts(
    calls: Calls, sample: Sample, criterion: Criterion, texts: Sequence[str]
) -> Turns[tuple[ClaimVerdict, ...]]:
    """All verdicts in one turn, and one more for those that are missing or repeat the prompt.

    A call asks for up to 24 claims; further ones of a long text are asked side by side.

    Raises:
        JudgeError: A claim has no verdict after that, or the first call failed.
    """
    size = math.ceil(len(texts) / max(math.ceil(len(texts) / CLAIMS_A_CALL), 1)) or 1
    parts = [
        _Part(sample, criterion, texts[start : start + size], start)
        for start in range(0, len(texts), size)
    ]
    for again in (False, True):
        open_parts = [part for part in parts if part.open]
        if not open_parts:
            break
        try:
            replies = yield from calls.ask([part.request(again=again) for part in open_parts])
        except JudgeError as error:
            if not again:
                raise
            for part in open_parts:
                part.problems = [f"the further call failed: {error}"]
            break
        for part, reply in zip(open_parts, replies, strict=True):
            part.read(reply)
    found = {part.before + n: v for part in parts for n, v in (part.doubtful | part.sound).items()}
    missing = [str(number) for number in range(1, len(texts) + 1) if number not in found]
    if missing:
        problems = [
            (f"of those behind {part.before}: " if part.before else "") + "; ".join(part.problems)
            for part in parts
            if part.open and part.problems
        ]
        detail = f"no verdict for claim {', '.join(missing)} of {len(texts)}"
        reason = Reason.INCOMPLETE_VERDICTS if found else Reason.UNREADABLE_REPLY
        raise JudgeError(
            ": ".join([detail, *["; ".join(problems)] * bool(problems)]), reason=reason
        )
    verdicts = tuple(found[number] for number in range(1, len(texts) + 1))
    if criterion.checks_evidence:
        return check_evidence(verdicts, passages(sample, criterion))
    return verdicts


@dataclass(slots=True)
class _Part:
    """The claims that one call asks about, and what its replies hold.

    Attributes:
        sample: The sample.
        criterion: The criterion.
        texts: The claims, which are numbered from 1 in the call.
        before: How many claims of the sample stand before them.
        sound: The verdicts by number.
        doubtful: Those whose quote is a claim, for want of better ones.
        repeated: Numbers of the claims whose quotes are the instructions.
        disbelieved: Whether a claim was marked as none.
        problems: What was wrong with the last reply, in words for a reader.
    """

    sample: Sample
    criterion: Criterion
    texts: Sequence[str]
    before: int
    sound: dict[int, ClaimVerdict] = field(default_factory=dict)
    doubtful: dict[int, ClaimVerdict] = field(default_factory=dict)
    repeated: list[int] = field(default_factory=list)
    disbelieved: bool = False
    problems: list[str] = field(default_factory=list)

    @property
    def open(self) -> list[int]:
        """The numbers of claims that lack a sound verdict."""
        return [n for n in range(1, len(self.texts) + 1) if n not in self.sound]

    def request(self, *, again: bool) -> JudgeRequest:
        """What to ask; the second time for what is open, and what the judge can do better."""
        faults = []
        if self.repeated:
            keys = ", ".join(map(claim_key, self.repeated))
            faults.append(f"Your reply repeated the instructions for {keys}.")
        if self.doubtful:
            keys = ", ".join(map(claim_key, self.doubtful))
            source = BLOCKS[self.criterion.against]
            faults.append(f"Your quotes for {keys} were the words of a CLAIM: copy from {source}.")
        return verdict_request(
            self.sample,
            self.criterion,
            self.texts,
            only=self.open if again else None,
            # Where nothing was disbelieved the prompt keeps its beginning, which is cached.
            allow_non_claims=not self.disbelieved,
            problems=faults,
        )

    def read(self, reply: ModelReply) -> None:
        """Take the verdicts of a reply, and note what cannot be used of it."""
        self.repeated = []
        # Nothing that the judge has been shown is its verdict.
        fields = (self.sample.field(name) or "" for name in FIELDS)
        shown = (*fields, *self.texts, self.criterion.wording, *self.criterion.levels)
        parsed = parse_verdicts(reply.text, len(self.texts), shown)
        for number in sorted(parsed.verdicts.keys() - self.sound.keys()):
            said, text = parsed.verdicts[number], self.texts[number - 1]
            level = said.label if isinstance(said.label, Verdict) else None
            if level is None and (self.criterion.statements or not may_be_non_claim(text)):
                self.disbelieved = True
                continue
            verdict = ClaimVerdict(
                claim=text,
                verdict=level,
                evidence=whole_characters(said.evidence) if level else "",
                reason="refusal" if said.label == "refusal" else whole_characters(said.reason),
                passage=said.passage if level else None,
            )
            copied_from = self._copied_from(verdict)
            if copied_from == "instructions":
                self.repeated.append(number)
            elif copied_from == "claim":
                self.doubtful.setdefault(number, verdict)
            else:
                self.sound[number] = verdict
        self.problems = ["the reply was cut off"] if reply.truncated else []
        if self.repeated:
            numbers = ", ".join(map(str, self.repeated))
            self.problems.append(f"the reply repeats the instructions for {numbers}")
        self.problems += parsed.problems

    def _copied_from(self, verdict: ClaimVerdict) -> str:
        """Where in the prompt a quote stands that no passage holds; empty for any other quote.

        Small models fill the form of a reply with whatever stands near.
        """
        words, held = listed(verdict.evidence), passages(self.sample, self.criterion)
        runs = [f" {' '.join(words[i : i + _RUN])} " for i in range(len(words) - _RUN + 1)]
        if not runs or find_quote(verdict.evidence, prepared(held)):
            return ""

        def is_copied(text: str) -> bool:
            plain = f" {' '.join(listed(text))} "
            return sum(run in plain for run in runs) >= _MOST * len(runs)

        if is_copied(verdict_system(self.criterion, allow_non_claims=True)):
            return "instructions"
        has_to_prove = self.criterion.checks_evidence and verdict.verdict in HIGH
        return "claim" if has_to_prove and any(map(is_copied, self.texts)) else ""


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
