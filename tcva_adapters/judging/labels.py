"""One short question a claim, answered by one word: its probabilities are the verdict's."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final

from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.core.yes_no import Shares, level_shares
from tcva_adapters.criteria import Criterion
from tcva_adapters.judging.conversation import CannotScoreError, Conversation
from tcva_adapters.judging.label_prompts import ANSWERS, Asked, label_request
from tcva_adapters.judging.label_reading import Reading, read_draws, read_tokens
from tcva_adapters.judging.probe import BY_TOKENS
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest, Sampling
from tcva_adapters.results.assessment import ClaimVerdict, Reason
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.non_claims import non_claim_kind

_DRAWN_AT: Final = 1.0
"""The temperature of draws: at this one they come from the model's own probabilities."""

_APART: Final = 1000
"""Between the seeds of draws: repeats of a judgement shift all seeds by one each."""

_WORTH_SAYING: Final = 0.005


@dataclass(frozen=True, slots=True)
class LabelQuestions:
    """What is asked about each claim of one sample.

    There is no quote, and so nothing that the evidence check could look at.

    Attributes:
        talk: The calls.
        sample: The sample.
        criterion: The criterion.
        asked: One of five letters, or yes or no.
        draws: How many answers are drawn for a claim; 0 to read the probabilities of one.
        points: At which probabilities of a yes the levels stand; see `level_shares`.
    """

    talk: Conversation
    sample: Sample
    criterion: Criterion
    asked: Asked
    draws: int
    points: Shares

    def verdicts(
        self, texts: Sequence[str]
    ) -> Generator[JudgeRequest, ModelReply, tuple[ClaimVerdict, ...]]:
        """All verdicts, claim after claim: a server has cached what stands before the next one.

        Args:
            texts: The claims; nobody is asked about sentences that claim nothing.

        Raises:
            CannotScoreError: A call failed, or what was answered twice is no answer.
        """
        found: list[ClaimVerdict] = []
        for number, text in enumerate(texts, start=1):
            kind = None if self.criterion.statements else non_claim_kind(text)
            if kind is not None:
                found.append(ClaimVerdict(claim=text, verdict=None, reason=kind))
                continue
            reading = yield from self._reading(text, again=False)
            if reading is None or not reading.is_good:
                reading = yield from self._reading(text, again=True)
            if reading is None or not reading.is_good:
                why = "no probabilities came" if reading is None else _instead(reading, self.asked)
                detail = f"no verdict for claim {number} of {len(texts)}: {why}"
                has_any = any(claim.verdict for claim in found)
                reason = Reason.INCOMPLETE_VERDICTS if has_any else Reason.UNREADABLE_REPLY
                raise CannotScoreError(reason, detail, self.talk.replies)
            found.append(self._verdict(text, reading))
        return tuple(found)

    def _reading(
        self, text: str, *, again: bool
    ) -> Generator[JudgeRequest, ModelReply, Reading | None]:
        def request(sampling: Sampling) -> JudgeRequest:
            return label_request(
                self.sample, self.criterion, text, self.asked, sampling, again=again
            )

        if not self.draws:
            reply = yield from self.talk.ask(request(BY_TOKENS))
            return read_tokens(reply, ANSWERS[self.asked])
        drawn: list[str] = []
        choices = self.draws  # all at once; servers that give one are asked for the others singly
        while len(drawn) < self.draws:
            how = Sampling(temperature=_DRAWN_AT, seed_offset=_APART * len(drawn), choices=choices)
            reply = yield from self.talk.ask(request(how))
            drawn += reply.choices or (reply.text,)
            choices = 1
        return read_draws(drawn[: self.draws], ANSWERS[self.asked])

    def _verdict(self, text: str, reading: Reading) -> ClaimVerdict:
        shares = reading.shares
        if self.asked == "yes_no":
            fully, mostly, partial, minor, none = level_shares(shares[0], self.points)
        else:
            fully, mostly, partial, minor, none = shares
        probabilities = (fully, mostly, partial, minor, none)
        # Of equal ones the strictest, also where rounding made one of them larger.
        likeliest = max(range(len(LEVELS)), key=lambda i: (round(probabilities[i], 9), i))
        return ClaimVerdict(
            claim=text,
            verdict=LEVELS[likeliest],
            reason=_told(reading, self.asked, self.draws),
            probabilities=probabilities,
        )


def _told(reading: Reading, asked: Asked, draws: int) -> str:
    """The shares in words.

    >>> _told(Reading((0.75, 0.25), 0.031), "yes_no", 0)
    'P(yes) 0.75; 0.03 of the mass on other words'
    >>> _told(Reading((0.6, 0.4, 0.0, 0.0, 0.0), 0.0), "labels", 5)
    'of 5 draws: fully 0.60, mostly 0.40'
    """
    if asked == "yes_no":
        said = f"P(yes) {reading.shares[0]:.2f}"
    else:
        levels = zip(LEVELS, reading.shares, strict=True)
        said = ", ".join(f"{level.value} {p:.2f}" for level, p in levels if p >= _WORTH_SAYING)
    said = f"of {draws} draws: {said}" if draws else said
    if reading.outside >= _WORTH_SAYING:
        said += f"; {reading.outside:.2f} of the mass on other words"
    return said


def _instead(reading: Reading, asked: Asked) -> str:
    return (
        f"the answer is {reading.instead!r} and none of {', '.join(ANSWERS[asked])} "
        f"({reading.outside:.0%} of the mass lies elsewhere); verdicts='written' reads other models"
    )
