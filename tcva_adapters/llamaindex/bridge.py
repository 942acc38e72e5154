"""Any judge model as a LlamaIndex LLM, so that LlamaIndex's own evaluators run on it."""

from __future__ import annotations

from typing import Any, Final

from llama_index.core.llms import (
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_completion_callback
from pydantic import PrivateAttr

from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel

CONTEXT_WINDOW: Final = 128_000
"""Tokens. LlamaIndex refines an answer over several calls where the contexts exceed it."""


class BridgedLLM(CustomLLM):
    """Hands LlamaIndex's prompts to a judge model.

    Attributes:
        context_window: How many tokens the model reads at once.
    """

    context_window: int = CONTEXT_WINDOW
    _asked: Prompted = PrivateAttr()

    def __init__(self, asked: Prompted, *, context_window: int = CONTEXT_WINDOW) -> None:
        super().__init__(context_window=context_window)
        self._asked = asked

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know of an LLM."""
        return LLMMetadata(model_name=self._asked.name, context_window=self.context_window)

    @classmethod
    def class_name(cls) -> str:
        """The name in LlamaIndex's events."""
        return "BridgedLLM"

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer one prompt.

        Raises:
            JudgeError: No reply came.
        """
        del formatted, kwargs
        return CompletionResponse(text=self._asked.text(prompt))

    @llm_completion_callback()
    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """The same, awaited.

        Raises:
            JudgeError: No reply came.
        """
        del formatted, kwargs
        return CompletionResponse(text=await self._asked.atext(prompt))

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """The whole answer as one piece.

        Raises:
            JudgeError: No reply came.
        """
        del formatted, kwargs
        text = self._asked.text(prompt)
        return (CompletionResponse(text=piece, delta=piece) for piece in [text])


def from_judge_model(
    model: JudgeModel | Prompted, *, context_window: int = CONTEXT_WINDOW
) -> BridgedLLM:
    """A LlamaIndex LLM out of a judge model."""
    return BridgedLLM(Prompted.of(model), context_window=context_window)
