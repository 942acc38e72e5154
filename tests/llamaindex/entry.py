"""The adapter through LlamaIndex's own entry point. The model is scripted, all else is real."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Final

from llama_index.core.base.llms.types import ChatResponse
from llama_index.core.llms import (
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from pydantic import Field, PrivateAttr

from tcva_adapters import Result
from tcva_adapters.llamaindex import ScorerEvaluationResult, TCVAEvaluator
from tcva_adapters.results.judgement import Reason
from tests.support.office import PASSAGE, QUERY, RESPONSE
from tests.support.scripted import in_turn

Reply = Callable[[str], str]

WORKERS = 8


class ScriptedLLM(CustomLLM):
    """A real LlamaIndex LLM whose text comes from a function of the prompt."""

    reply: Reply = Field(exclude=True)
    temperature: float = 0.0
    api_key: str = "sk-never-shown-1234567890"
    hangs: bool = False

    _prompts: list[str] = PrivateAttr(default_factory=list)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def prompts(self) -> list[str]:
        """Every prompt so far, in order."""
        return self._prompts

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted")

    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        del formatted, kwargs
        with self._lock:
            self._prompts.append(prompt)
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        return CompletionResponse(text=self.reply(prompt), raw={"usage": usage})

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        if self.hangs:
            await asyncio.Event().wait()
        return self.chat(messages, **kwargs)  # type: ignore[no-any-return]  # wrapped without types

    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponseGen:
        def stream() -> CompletionResponseGen:
            yield self.complete(prompt)

        return stream()


def scripted(*replies: str | Exception) -> ScriptedLLM:
    """An LLM that answers from a list, in order; an exception in it is raised."""
    return ScriptedLLM(reply=in_turn(*replies))


CONTEXTS: Final = [PASSAGE]


def evaluated(
    evaluator: TCVAEvaluator, **kwargs: Any
) -> ScorerEvaluationResult[Result]:
    """The evaluator's own result."""
    result = evaluator.evaluate(
        query=QUERY, response=RESPONSE, contexts=CONTEXTS, **kwargs
    )
    assert isinstance(result, ScorerEvaluationResult)
    return result


def reason_of(evaluation: ScorerEvaluationResult[Result]) -> Reason | None:
    """Why there is no score."""
    unscored = evaluation.result.unscored
    return None if unscored is None else unscored.reason
