"""Why a sample has no score."""

from __future__ import annotations

from enum import StrEnum

from pydantic import (
    BaseModel,
)

from tcva_adapters.samples.sample import FROZEN


class Reason(StrEnum):
    """Why a sample has no score."""

    NO_CLAIMS = "no_claims"
    REFUSAL = "refusal"
    EMPTY_RESPONSE = "empty_response"
    EMPTY_CONTEXT = "empty_context"
    EMPTY_REFERENCE = "empty_reference"
    EMPTY_INPUT = "empty_input"
    MISSING_FIELD = "missing_field"
    INCOMPLETE_VERDICTS = "incomplete_verdicts"
    UNREADABLE_REPLY = "unreadable_reply"
    JUDGE_ERROR = "judge_error"
    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    INVALID_INPUT = "invalid_input"
    TOO_LONG = "too_long"

    @property
    def is_failure(self) -> bool:
        """True where another try or input may give a score; false where the sample has none."""
        return self in FAILURES


FAILURES = frozenset(
    {
        Reason.INCOMPLETE_VERDICTS,
        Reason.UNREADABLE_REPLY,
        Reason.JUDGE_ERROR,
        Reason.RATE_LIMIT,
        Reason.TIMEOUT,
        Reason.INVALID_INPUT,
    }
)

SILENT = frozenset({Reason.NO_CLAIMS, Reason.REFUSAL})
"""Reasons of texts that claim nothing, so that there is nothing to check."""


class Unscored(BaseModel):
    """Why there is no score, in a word and in a sentence.

    Attributes:
        reason: The word.
        detail: The sentence.
        raw_reply: What the judge answered, where it did: it was paid for.
        fatal: True when no further call is made, since it would fail, too (a wrong key), or since so
            many calls failed that the run ended.
    """

    model_config = FROZEN

    reason: Reason
    detail: str = ""
    raw_reply: str | None = None
    fatal: bool = False

    @property
    def text(self) -> str:
        """The sentence behind the word."""
        return (
            f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value
        )
