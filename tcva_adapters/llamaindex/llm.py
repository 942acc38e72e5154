"""A LlamaIndex LLM as judge model: its own client, retries, callbacks and rate limiter."""

from __future__ import annotations

from operator import itemgetter

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    LogProb,
    MessageRole,
)
from llama_index.core.callbacks.token_counting import get_tokens_from_response
from llama_index.core.llms import (
    LLM,
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_completion_callback
from pydantic import PrivateAttr

from tcva_adapters._adapter.llm import CUT_OFF, LLMObject, takes_logprobs
from tcva_adapters._adapter.llm_settings import SETTINGS
from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.models.framework_prompts import PromptedModel
from tcva_adapters.models.judge_model import (
    JudgeModel,
    JudgeRequest,
    ModelReply,
    TokenLogprob,
)
from tcva_adapters.samples.contexts import value_of

CONTEXT_WINDOW = 128_000
"""Tokens. LlamaIndex refines an answer over several calls where the contexts exceed it."""

_UNNAMED = "unknown"


def as_judge_model(llm: object) -> JudgeModel | None:
    """Wrap a LlamaIndex LLM as a judge model; return None for anything else."""
    return LlamaIndexModel(llm) if isinstance(llm, LLM) else None


class LlamaIndexModel(LLMObject):
    """Asks a LlamaIndex LLM through its chat interface, which completion models have too.

    The system prompt that an application may have set on its LLM is not sent: it is about how to
    answer users, not about how to judge.
    """

    framework = "llamaindex"

    settings = tuple(name for name in SETTINGS if name != "system_prompt")

    def _model_name(self) -> str:
        name = self.llm.metadata.model_name
        return super()._model_name() if name == _UNNAMED else str(name)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request."""
        messages, options = self._prompt_and_options(request)
        return _reply(self.llm.chat(messages, **options))

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through the LLM's asynchronous interface."""
        messages, options = self._prompt_and_options(request)
        return _reply(await self.llm.achat(messages, **options))

    def _prompt_and_options(
        self, request: JudgeRequest
    ) -> tuple[list[ChatMessage], Arguments]:
        messages = [
            # Some providers use another name for the system role.
            ChatMessage(role=self.llm.metadata.system_role, content=request.system),
            ChatMessage(role=MessageRole.USER, content=request.user),
        ]
        wanted = None if request.sampling is None else request.sampling.top_logprobs
        if wanted is None or not takes_logprobs(self.llm):
            return messages, {}
        return messages, {"logprobs": True, "top_logprobs": wanted}


def _reply(response: ChatResponse) -> ModelReply:
    try:
        input_tokens, output_tokens = get_tokens_from_response(response)
    except (TypeError, ValueError, AttributeError):
        # The raw reply is whatever the provider's package returns.
        input_tokens = output_tokens = 0
    raw = response.raw
    choices = value_of(raw, "choices") or ()
    reasons = [
        value_of(holder, name)
        for holder in (response.additional_kwargs, raw, *choices[:1])
        for name in ("finish_reason", "stop_reason")
    ]
    return ModelReply(
        response.message.content or "",
        input_tokens=input_tokens or 0,
        output_tokens=output_tokens or 0,
        truncated=not CUT_OFF.isdisjoint(reasons),
        model=str(value_of(raw, "model") or ""),
        token_logprobs=_tokens(response.logprobs) if response.logprobs else None,
    )


def _tokens(logprobs: list[list[LogProb]]) -> tuple[TokenLogprob, ...]:
    """Return the tokens by their likeliest alternatives: LlamaIndex does not say which was drawn."""
    tokens = []
    for alternatives in logprobs:
        pairs = tuple((token.token, token.logprob) for token in alternatives)
        if pairs:
            tokens.append(TokenLogprob(*max(pairs, key=itemgetter(1)), pairs))
    return tuple(tokens)


class BridgedLLM(CustomLLM):
    """Sends LlamaIndex's prompts to a judge model."""

    _prompted: PromptedModel = PrivateAttr()

    def __init__(self, prompted: PromptedModel) -> None:
        super().__init__()
        self._prompted = prompted

    @property
    def metadata(self) -> LLMMetadata:
        """The metadata that LlamaIndex needs."""
        return LLMMetadata(
            model_name=self._prompted.model.name, context_window=CONTEXT_WINDOW
        )

    @llm_completion_callback()
    def complete(
        self,
        prompt: str,
        *_: object,
        **__: object,
    ) -> CompletionResponse:
        """Answer one prompt.

        Raises:
            JudgeError: No reply came.
        """
        return CompletionResponse(text=self._prompted.ask(prompt))

    @llm_completion_callback()
    async def acomplete(
        self,
        prompt: str,
        *_: object,
        **__: object,
    ) -> CompletionResponse:
        """The same, awaited.

        Raises:
            JudgeError: No reply came.
        """
        return CompletionResponse(text=await self._prompted.aask(prompt))

    def stream_complete(
        self,
        prompt: str,
        *_: object,
        **__: object,
    ) -> CompletionResponseGen:
        """Answer one prompt in a single piece.

        Raises:
            JudgeError: No reply came.
        """
        yield self.complete(prompt)
