"""What is asked of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What a judge model is asked.

    Attributes:
        system: The instructions, the same for every sample of a criterion.
        user: The sample between fences, and what is to be done now.
        schema: JSON schema of the reply, fit for strict modes.
        schema_name: A name for the schema, for services that want one.
    """

    system: str
    user: str
    schema: dict[str, Any]
    schema_name: str


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these properties, all of them, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


NEUTRAL: Final = JudgeRequest(
    system="Reply with JSON alone.",
    user='Reply with this JSON object: {"ok": true}',
    schema=closed_object({"ok": {"type": "boolean"}}),
    schema_name="tcva_probe",
)
"""A question that holds nothing of any sample."""
