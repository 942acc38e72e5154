"""RAGAS' LLM objects, of both families, as judge models; and any judge model as a RAGAS LLM."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from instructor import Mode, OpenAISchema
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import ChatPromptValue, PromptValue, StringPromptValue
from langchain_core.runnables.config import var_child_runnable_config
from pydantic import BaseModel
from ragas.llms import BaseRagasLLM
from ragas.llms.base import (
    InstructorBaseRagasLLM,
    LangchainLLMWrapper,
    LlamaIndexLLMWrapper,
)
from ragas.run_config import add_async_retry, add_retry

from tcva_adapters._adapter.llm import CUT_OFF, LLMObject, one_text
from tcva_adapters._adapter.lookup import Arguments, count_in
from tcva_adapters._adapter.reply_objects import AnyObject, object_text, reply_model
from tcva_adapters.loops import wait_for
from tcva_adapters.models.framework_prompts import PromptedModel
from tcva_adapters.models.judge_model import (
    Identity,
    JudgeModel,
    JudgeRequest,
    ModelReply,
)

Reply = TypeVar("Reply", bound=BaseModel)

_TEMPERATURE = 0.01
"""RAGAS' own: some servers refuse a plain 0."""


def as_judge_model(llm: object) -> JudgeModel | None:
    """Wrap a RAGAS LLM of either family as a judge model; return None for anything else."""
    if isinstance(llm, InstructorBaseRagasLLM):
        return InstructorModel(llm)
    return WrappedModel(llm) if isinstance(llm, BaseRagasLLM) else None


def inner_llm(llm: object) -> object:
    """Return the LLM inside RAGAS' own wrappers, which are new for each evaluation."""
    if type(llm) is LangchainLLMWrapper:
        return llm.langchain_llm
    return llm.llm if type(llm) is LlamaIndexLLMWrapper else llm


class WrappedModel(LLMObject):
    """Asks an LLM of the older family (`LangchainLLMWrapper`, `LlamaIndexLLMWrapper`, your own).

    The retries and waits of its ``run_config`` stay in force.
    """

    framework = "ragas"
    prompt = "ragas"
    follows_sampling = (
        True  # RAGAS sets the temperature of each call, whatever the LLM has
    )

    @property
    def identity(self) -> Identity:
        """The identity of the LLM: the same object is the same judge, whatever wraps it."""
        return Identity(self._core())

    def _core(self) -> Any:
        return inner_llm(self.llm)

    def _holders(self) -> Sequence[object]:
        # RAGAS sets both on the object itself for the time of a call.
        keeps = getattr(self.llm, "bypass_temperature", False)
        return {"n": 1} | ({} if keeps else {"temperature": _TEMPERATURE}), self._core()

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request."""
        generate = add_retry(self.llm.generate_text, self.llm.run_config)
        return self._reply(generate(**self._arguments(request)))

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through the LLM's asynchronous interface."""
        generate = add_async_retry(self.llm.agenerate_text, self.llm.run_config)
        return self._reply(await generate(**self._arguments(request)))

    def _arguments(self, request: JudgeRequest) -> Arguments:
        drawn = None if request.sampling is None else request.sampling.temperature
        if isinstance(self._core(), BaseChatModel):
            prompt: PromptValue = ChatPromptValue(
                messages=[SystemMessage(request.system), HumanMessage(request.user)]
            )
        else:
            # RAGAS' own prompts are plain texts, which other classes therefore expect.
            prompt = StringPromptValue(text=one_text(request))
        return {
            "prompt": prompt,
            "temperature": _TEMPERATURE if drawn is None else drawn,
            "callbacks": (var_child_runnable_config.get() or {}).get("callbacks"),
        }

    def _reply(self, answer: LLMResult) -> ModelReply:
        generation = answer.generations[0][0]
        output = answer.llm_output or {}
        usage = getattr(getattr(generation, "message", None), "usage_metadata", None)
        usage = usage or output.get("token_usage")
        return ModelReply(
            generation.text,
            input_tokens=count_in(usage, "input_tokens", "prompt_tokens"),
            output_tokens=count_in(usage, "output_tokens", "completion_tokens"),
            truncated=not self.llm.is_finished(answer),
            model=str(output.get("model_name") or ""),
        )


class InstructorModel(LLMObject):
    """Asks an LLM of the newer family (``llm_factory``, `InstructorLLM`, your own).

    Its client, mode, retries and cache stay in force. The reply schema goes along; any JSON object
    is taken, since repairing is done here. A reply that instructor could not read is not lost: its
    text is used where the error carries it.
    """

    framework = "ragas"
    prompt = "instructor"

    def _holders(self) -> Sequence[object]:
        client = getattr(self.llm, "client", None)
        # In the mode of RAGAS' own factory the prompt goes out as it is.
        mode = getattr(client, "mode", Mode.JSON)
        further = {"mode": None if mode is Mode.JSON else str(mode)}
        further |= getattr(client, "kwargs", None) or {}
        return (getattr(self.llm, "model_args", None), further, self.llm)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request."""
        return wait_for(self.acomplete(request))

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request without blocking the event loop."""
        prompt = one_text(request)
        model = reply_model(request, _AnyObject)
        try:
            if getattr(self.llm, "is_async", True):  # a user's class may not say
                answer = await self.llm.agenerate(prompt, model)
            else:
                answer = await asyncio.to_thread(self.llm.generate, prompt, model)
            text: Any = object_text(answer, request)
            completion: Any = getattr(answer, "_raw_response", None)
        except Exception as error:
            completion = getattr(error, "last_completion", None)
            choices = getattr(completion, "choices", None)
            text = choices and choices[0].message.content
            if not isinstance(text, str):
                raise
        usage = getattr(completion, "usage", None)
        choices = getattr(completion, "choices", None) or ()
        return ModelReply(
            text,
            input_tokens=count_in(usage, "prompt_tokens"),
            output_tokens=count_in(usage, "completion_tokens"),
            truncated=any(choice.finish_reason in CUT_OFF for choice in choices[:1]),
            model=str(getattr(completion, "model", None) or ""),
        )


class _AnyObject(AnyObject, OpenAISchema):
    """Any object, of instructor's own class, because instructor wraps others anew for each call."""


class BridgedLLM(InstructorBaseRagasLLM):
    """Sends RAGAS' prompts to a judge model; metrics of both families take it.

    The schema of the reply is sent too. A reply that cannot be read is an error: the prompt is not
    sent again.
    """

    is_async = True

    def __init__(self, prompted: PromptedModel) -> None:
        self.prompted = prompted
        self.model = prompted.model.name

    def generate(self, prompt: str, response_model: type[Reply]) -> Reply:
        """Answer one prompt.

        Raises:
            JudgeError: No reply came, or none that holds such an object.
        """
        reply: Reply = self.prompted.ask(prompt, response_model)
        return reply

    async def agenerate(self, prompt: str, response_model: type[Reply]) -> Reply:
        """The same, awaited.

        Raises:
            JudgeError: As for `generate`.
        """
        reply: Reply = await self.prompted.aask(prompt, response_model)
        return reply
