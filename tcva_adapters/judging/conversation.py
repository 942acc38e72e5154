"""Asking a judge model, as steps of a judgement."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import as_judge_error
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest, Sampling
from tcva_adapters.models.secrets import quotable
from tcva_adapters.results.assessment import Reason, Unscored, Usage

_REASONS: Final = {"timeout": Reason.TIMEOUT, "rate_limit": Reason.RATE_LIMIT}


@dataclass(slots=True)
class Conversation:
    """The calls of one judgement.

    Attributes:
        seed_offset: Added to the seed of every request.
        temperature: Of the model, for requests that ask for none; None leaves the model's own.
        usage: What they cost.
        replies: Every reply, in order, since it was paid for.
    """

    seed_offset: int = 0
    temperature: float | None = None

    usage: Usage = field(default_factory=Usage)
    replies: list[str] = field(default_factory=list)

    def ask(self, request: JudgeRequest) -> Generator[JudgeRequest, ModelReply, ModelReply]:
        """Ask once, as a step of a judgement.

        Raises:
            CannotScoreError: The call failed.
        """
        started = time.perf_counter()
        try:
            reply = yield self._drawn(request)
        except Exception as raised:  # noqa: BLE001  # any failure of a call is a value here
            error = as_judge_error(raised)
            self.usage += Usage(seconds=time.perf_counter() - started)
            reason = _REASONS.get(error.reason, Reason.JUDGE_ERROR)
            raise CannotScoreError(reason, str(error), self.replies, fatal=error.fatal) from error
        self.replies.append(reply.text)
        self.usage += reply.usage(time.perf_counter() - started)
        return reply

    def _drawn(self, request: JudgeRequest) -> JudgeRequest:
        """The request as this judgement draws its replies."""
        if not self.seed_offset and self.temperature is None:
            return request
        drawn = request.sampling or Sampling()
        temperature = self.temperature if drawn.temperature is None else drawn.temperature
        offset = drawn.seed_offset + self.seed_offset
        sampling = replace(drawn, temperature=temperature, seed_offset=offset)
        return replace(request, sampling=sampling)


class CannotScoreError(Exception):
    """Ends a judgement early; the judge that began it catches it.

    Attributes:
        unscored: Why.
    """

    def __init__(
        self, reason: Reason, detail: str, replies: Sequence[str], *, fatal: bool = False
    ) -> None:
        super().__init__(detail)
        raw = "\n---\n".join(replies) if replies else None
        self.unscored = Unscored(reason=reason, detail=detail, raw_reply=raw, fatal=fatal)


def why_unscored(error: Exception, replies: Sequence[str] = ()) -> Unscored:
    """The reason of an unscored result, for whatever ended a judgement.

    What is no failure of a call is a fault, of ours or of somebody's judge: it stays with its
    sample.

    Args:
        error: What was raised.
        replies: What was paid for until then.
    """
    if isinstance(error, CannotScoreError):
        return error.unscored
    if isinstance(error, JudgeError):
        reason = _REASONS.get(error.reason, Reason.JUDGE_ERROR)
        return CannotScoreError(reason, str(error), replies, fatal=error.fatal).unscored
    said = quotable(str(error))
    detail = f"judging ended unexpectedly with {type(error).__name__}: {said}"
    return CannotScoreError(Reason.JUDGE_ERROR, detail, replies).unscored
