"""Any judge model as a DeepEval LLM, so that DeepEval's own metrics run on it."""

from __future__ import annotations

from typing import Any

from deepeval.models import DeepEvalBaseLLM
from pydantic import BaseModel

from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel


class BridgedLLM(DeepEvalBaseLLM):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Hands DeepEval's prompts to a judge model.

    Where a schema is asked for, it goes along, and a reply that cannot be read is an error: it is
    not asked for again.
    """

    def __init__(self, asked: Prompted) -> None:
        self.asked = asked
        super().__init__(asked.name)

    def load_model(self, *_: Any, **__: Any) -> DeepEvalBaseLLM:
        """There is nothing to load."""
        return self

    def get_model_name(self) -> str:
        """The judge model's name."""
        return self.asked.name

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """Answer one prompt.

        Raises:
            JudgeError: No reply came, or none that holds such an object.
        """
        return self.asked.text(prompt) if schema is None else self.asked.object(prompt, schema)

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """The same, awaited.

        Raises:
            JudgeError: As for `generate`.
        """
        if schema is None:
            return await self.asked.atext(prompt)
        return await self.asked.aobject(prompt, schema)


def from_judge_model(model: JudgeModel | Prompted) -> BridgedLLM:
    """A DeepEval LLM out of a judge model."""
    return BridgedLLM(Prompted.of(model))
