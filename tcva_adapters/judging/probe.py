"""Which form verdicts are asked for in the end, by what a model turns out to give."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Final

from tcva_adapters.judging.conversation import CannotScoreError, Conversation
from tcva_adapters.judging.forms import VerdictForm
from tcva_adapters.judging.label_prompts import PROBE, YES_NO, Asked
from tcva_adapters.judging.label_reading import read_tokens
from tcva_adapters.models.protocol import JudgeModel, ModelReply, identity_of_model
from tcva_adapters.models.request import JudgeRequest, Sampling
from tcva_adapters.results.assessment import Reason
from tcva_adapters.sharing import SharedJudgements

BY_TOKENS: Final = Sampling(max_tokens=4, top_logprobs=20)
"""A few tokens, since some models begin with a blank or a mark; most servers give at most 20
alternatives for each."""

_KEY: Final = "reads by tokens"
_LEARNT: Final = SharedJudgements()
"""Which models' answers of one word can be read by their probabilities, as long as these live."""

if hasattr(os, "register_at_fork"):  # a lock that another thread held stays locked in a child
    os.register_at_fork(after_in_child=_LEARNT.clear)


@dataclass(frozen=True, slots=True)
class Form:
    """How the verdicts of a sample are asked for in the end.

    Attributes:
        asked: What is asked for each claim; None for verdicts that are written all at once.
        draws: Answers drawn for each claim; 0 where the probabilities of one are read.
    """

    asked: Asked | None = None
    draws: int = 0

    def __str__(self) -> str:
        """As `Assessment.form` tells it; empty for written ones."""
        return f"{self.asked}, {self.draws} draws" if self.draws else self.asked or ""


def settled_form(
    talk: Conversation, model: JudgeModel, verdicts: VerdictForm, samples: int
) -> Generator[JudgeRequest, ModelReply, Form]:
    """The form for a model, as a step of a judgement.

    ``auto`` asks for yes or no where the probabilities of an answer can be read, and for written
    verdicts elsewhere. A model is asked once, a question without any sample; what its answer said
    first holds as long as the model lives.

    Raises:
        CannotScoreError: The call failed; nothing is learnt from that.
    """
    if verdicts == "written":
        return Form()
    same = identity_of_model(model)
    reads = _LEARNT.known(same, _KEY)
    if reads is None:
        by_tokens = replace(PROBE, sampling=BY_TOKENS)
        try:
            reply = yield from talk.ask(by_tokens)
        except CannotScoreError as stop:
            _raise_unless_refused(stop)
            reply = yield from talk.ask(PROBE)
            try:  # the model is there: a failure of the moment does not come twice
                reply = yield from talk.ask(by_tokens)
            except CannotScoreError as again:
                _raise_unless_refused(again)
        reading = read_tokens(reply, YES_NO)
        reads = _LEARNT.known(same, _KEY)  # of several at once the first one counts for all
        if reads is None:
            reads = reading is not None and reading.is_good
            _LEARNT.remember(same, _KEY, reads)
    if verdicts == "auto":
        return Form("yes_no") if reads else Form()
    return Form(verdicts, 0 if reads else samples)


def _raise_unless_refused(stop: CannotScoreError) -> None:
    """Go on after what may be a refusal of the probabilities: not every model tells it apart."""
    if stop.unscored.reason is not Reason.JUDGE_ERROR or stop.unscored.fatal:
        raise stop
