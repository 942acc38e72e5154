"""LlamaIndex: `BatchEvalRunner`. Its package for OpenAI is not needed: a `CustomLLM` is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import openai
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.evaluation import (
    BatchEvalRunner,
    FaithfulnessEvaluator,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback

from benchmarks.adapter_methods import CLIENT, LOOP, Method, Run
from tcva_adapters import Sample
from tcva_adapters.llamaindex import TCVAEvaluator


class ServerLLM(CustomLLM):
    """A chat model on one client, as LlamaIndex's package for OpenAI has it."""

    client: Any

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know."""
        return LLMMetadata(model_name="m", is_chat_model=True)

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """One request per prompt."""
        del kwargs
        said = [{"role": each.role.value, "content": each.content} for each in messages]
        done = await self.client.chat.completions.create(model="m", messages=said)
        text = done.choices[0].message.content
        message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
        return ChatResponse(message=message, raw=done)

    def complete(self, *_: Any, **__: Any) -> Any:
        """Not used here."""
        raise NotImplementedError

    def stream_complete(self, *_: Any, **__: Any) -> Any:
        """Not used here."""
        raise NotImplementedError


def llm(url: str) -> Any:
    return ServerLLM(client=openai.AsyncOpenAI(base_url=url, api_key="none"))


def batched(evaluator: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
    def make(url: str, limit: int) -> Run:
        built = evaluator(url, limit)

        def run(rows: Sequence[Sample], limit: int) -> list[Any]:
            runner = BatchEvalRunner({"e": built}, workers=limit)
            found = LOOP.run(
                runner.aevaluate_response_strs(
                    queries=[sample.input or "" for sample in rows],
                    response_strs=[sample.response or "" for sample in rows],
                    contexts_list=[[*(sample.contexts or ())] for sample in rows],
                )
            )
            return [each.score for each in found["e"]]

        return run

    return make


def ours(url: str, limit: int) -> Any:
    return TCVAEvaluator(llm(url), max_concurrency=limit)


def our_client(_: str, limit: int) -> Any:
    return TCVAEvaluator(CLIENT, max_concurrency=limit)


METHODS: Final = [
    Method("FaithfulnessEvaluator", batched(lambda u, _: FaithfulnessEvaluator(llm=llm(u)))),
    Method("TCVAEvaluator", batched(ours), is_ours=True),
    Method("TCVAEvaluator", batched(our_client), is_ours=True, with_our_client=True),
]
