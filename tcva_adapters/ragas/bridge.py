"""Any judge model as a RAGAS LLM, so that RAGAS' own metrics run on it."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel
from ragas.llms.base import InstructorBaseRagasLLM

from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel

Reply = TypeVar("Reply", bound=BaseModel)


class BridgedLLM(InstructorBaseRagasLLM):
    """Hands RAGAS' prompts to a judge model; metrics of both families take it.

    The schema of the reply goes along. A reply that cannot be read is an error: it is not asked
    for again.
    """

    is_async = True

    def __init__(self, asked: Prompted) -> None:
        self.asked = asked
        self.model = asked.name

    def generate(self, prompt: str, response_model: type[Reply]) -> Reply:
        """Answer one prompt.

        Raises:
            JudgeError: No reply came, or none that holds such an object.
        """
        return self.asked.object(prompt, response_model)

    async def agenerate(self, prompt: str, response_model: type[Reply]) -> Reply:
        """The same, awaited.

        Raises:
            JudgeError: As for `generate`.
        """
        return await self.asked.aobject(prompt, response_model)


def from_judge_model(model: JudgeModel | Prompted) -> BridgedLLM:
    """A RAGAS LLM of the newer family out of a judge model."""
    return BridgedLLM(Prompted.of(model))
