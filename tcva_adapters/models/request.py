"""What is asked of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn, where that differs from the model's own settings.

    Attributes:
        max_tokens: Limit of the reply's length.
        top_logprobs: Ask for so many alternatives of each token.
        temperature: The model's, 0 to 2; never the dial's.
        seed_offset: Added to the model's seed, where it has one.
    """

    max_tokens: int | None = None
    top_logprobs: int | None = None
    temperature: float | None = None
    seed_offset: int = 0


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What a judge model is asked.

    Attributes:
        system: The instructions, the same for every sample of a criterion.
        user: The sample between delimiters, and what is to be done now.
        schema: JSON schema of the reply, fit for strict modes.
        schema_name: A name for the schema, for services that want one.
        sampling: How the reply is drawn; None leaves everything to the model's settings.
    """

    system: str
    user: str
    schema: dict[str, Any]
    schema_name: str
    sampling: Sampling | None = None


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these properties, all of them, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


ONE_WORD: Final = closed_object({"answer": {"type": "string"}})
"""The schema for who gives objects alone, where a request asks for plain text."""


def one_word_of(answer: dict[str, Any]) -> str:
    """The text in such an object.

    >>> one_word_of({"answer": "yes"})
    'yes'
    """
    return str(answer.get("answer", ""))


NEUTRAL: Final = JudgeRequest(
    system="Reply with JSON alone.",
    user='Reply with this JSON object: {"ok": true}',
    schema=closed_object({"ok": {"type": "boolean"}}),
    schema_name="tcva_probe",
)
"""A question that holds nothing of any sample."""
