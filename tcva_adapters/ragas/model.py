"""RAGAS' LLM objects as judge models: the older wrappers and the newer instructor-based ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Final

from instructor import OpenAISchema
from langchain_core.callbacks import Callbacks
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import ChatPromptValue, PromptValue, StringPromptValue
from langchain_core.runnables.config import var_child_runnable_config
from pydantic import BaseModel, ConfigDict, create_model
from ragas.llms import BaseRagasLLM
from ragas.llms.base import InstructorBaseRagasLLM, LangchainLLMWrapper, LlamaIndexLLMWrapper
from ragas.run_config import add_async_retry, add_retry

from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.resolve import is_lexical
from tcva_adapters.loops import wait_for
from tcva_adapters.models.call_errors import judge_errors
from tcva_adapters.models.openai_reply import token_logprobs
from tcva_adapters.models.protocol import JudgeModel, ModelReply
from tcva_adapters.models.request import ONE_WORD, JudgeRequest, one_word_of
from tcva_adapters.scorer import Scorer
from tcva_adapters.sharing import Identity

_CALLBACKS: ContextVar[Callbacks] = ContextVar("tcva_ragas_callbacks", default=None)

_SETTINGS: Final = ("temperature", "max_tokens", "top_p", "top_k", "seed", "reasoning_effort", "n")
"""What LLM classes call the settings that can change a reply. A list of what is taken, not of what
is left out: a class may keep a key under any name."""

_TEMPERATURE: Final = 0.01
"""RAGAS' own: some servers refuse a plain 0."""

_PLAIN_WRAPPERS: Final = frozenset({LangchainLLMWrapper, LlamaIndexLLMWrapper})
"""RAGAS makes these anew around the user's LLM for each evaluation."""

_CUT_OFF: Final = frozenset({"length", "max_tokens"})


def as_judge_model(llm: object) -> JudgeModel | None:
    """A RAGAS LLM of either family as judge model; None for anything else."""
    if isinstance(llm, InstructorBaseRagasLLM):
        return InstructorModel(llm)
    return WrappedModel(llm) if isinstance(llm, BaseRagasLLM) else None


def lexical_or(llm: Any) -> Any:
    """``"lexical"`` for the lexical judge as LLM, also as RAGAS wraps it; else the LLM itself."""
    return "lexical" if is_lexical(llm) or is_lexical(_inner(llm)) else llm


def llm_of(scorer: Scorer[Any]) -> Any:
    """The LLM that a scorer asks, to which RAGAS gives retries and waits; else its judge."""
    judge = getattr(scorer, "judge", None) or getattr(scorer, "rater", scorer)
    return getattr(getattr(judge, "model", None), "llm", judge)


@contextmanager
def calls_traced_by(callbacks: Callbacks) -> Iterator[None]:
    """Within it, calls of LangChain's LLMs report to these callbacks: traces, token counts, costs."""
    wrapped = _CALLBACKS.set(callbacks)
    # Those that RAGAS does not wrap look here for what they run in.
    around = var_child_runnable_config.get() or {}
    plain = var_child_runnable_config.set({**around, "callbacks": callbacks})
    try:
        yield
    finally:
        var_child_runnable_config.reset(plain)
        _CALLBACKS.reset(wrapped)


@dataclass(frozen=True, slots=True)
class WrappedModel:
    """Asks a LLM of the older family (`LangchainLLMWrapper`, `LlamaIndexLLMWrapper`, your own).

    Attributes:
        llm: The LLM; the retries and waits of its ``run_config`` stay in force.
    """

    llm: BaseRagasLLM = field(repr=False)

    follows_sampling = True  # RAGAS sets the temperature of each call, whatever the LLM has

    @property
    def name(self) -> str:
        """``ragas:`` and the model's name, or the name of its class where it has none."""
        return f"ragas:{_model_name(_inner(self.llm))}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The LLM's class and the settings that can change a reply; no secrets."""
        inner = _inner(self.llm)
        settings = {name: getattr(inner, name, None) for name in _SETTINGS}
        # RAGAS sets both of these for the time of a call, on the object itself.
        settings |= {"temperature": _TEMPERATURE, "n": None}
        return {"class": type(inner).__name__, **_plain(settings)}

    @property
    def identity(self) -> Identity:
        """The same LLM object is the same judge; RAGAS wraps it anew for each evaluation."""
        config = self.llm.run_config
        patience = (config.timeout, config.max_retries, config.max_wait)
        is_plain = type(self.llm) in _PLAIN_WRAPPERS  # others may ask in a way of their own
        return Identity(_inner(self.llm) if is_plain else self.llm, patience=patience)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through ``generate_text``.

        Raises:
            JudgeError: The LLM raised; the reason says what it was.
        """
        generate = add_retry(self.llm.generate_text, self.llm.run_config)
        with judge_errors():
            result = generate(**self._arguments(request))
        return self._reply(result)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through ``agenerate_text``.

        Raises:
            JudgeError: The LLM raised; the reason says what it was.
        """
        generate = add_async_retry(self.llm.agenerate_text, self.llm.run_config)
        with judge_errors():
            result = await generate(**self._arguments(request))
        return self._reply(result)

    def _arguments(self, request: JudgeRequest) -> dict[str, Any]:
        drawn = None if request.sampling is None else request.sampling.temperature
        return {
            "prompt": self._prompt(request),
            "n": 1,
            "temperature": _TEMPERATURE if drawn is None else drawn,
            "stop": None,
            "callbacks": _CALLBACKS.get(),
        }

    def _prompt(self, request: JudgeRequest) -> PromptValue:
        if isinstance(_inner(self.llm), BaseChatModel):
            system, user = SystemMessage(request.system), HumanMessage(request.user)
            return ChatPromptValue(messages=[system, user])
        # RAGAS' own prompts are plain texts, so that is what other classes are written for.
        return StringPromptValue(text=_one_text(request))

    def _reply(self, result: LLMResult) -> ModelReply:
        if not result.generations or not result.generations[0]:
            msg = f"{type(self.llm).__name__} returned no generation"
            raise JudgeError(msg)
        generation = result.generations[0][0]
        message = getattr(generation, "message", None)
        usage = getattr(message, "usage_metadata", None) or {}
        output = result.llm_output or {}
        counts = usage or output.get("token_usage") or {}
        return ModelReply(
            generation.text,
            input_tokens=counts.get("input_tokens") or counts.get("prompt_tokens") or 0,
            output_tokens=counts.get("output_tokens") or counts.get("completion_tokens") or 0,
            truncated=not self.llm.is_finished(result),
            model=str(output.get("model_name") or ""),
            # They come where the user's LLM asks for them: RAGAS takes no such argument.
            token_logprobs=token_logprobs(
                getattr(message, "response_metadata", {}).get("logprobs")
            ),
        )


@dataclass(frozen=True, slots=True)
class InstructorModel:
    """Asks a LLM of the newer family (``llm_factory``, `InstructorLLM`, your own).

    The reply schema goes along; any JSON object is taken, since repairing is done here. A reply
    that instructor could not read is not lost: its text is used where the error carries it.

    Attributes:
        llm: The LLM; its client, mode, retries and cache stay in force.
    """

    llm: InstructorBaseRagasLLM = field(repr=False)

    @property
    def name(self) -> str:
        """``ragas:`` and the model's name, or the name of its class where it has none."""
        return f"ragas:{_model_name(self.llm)}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The LLM's class and the settings that can change a reply; no secrets."""
        arguments = getattr(self.llm, "model_args", None)
        taken = arguments if isinstance(arguments, Mapping) else {}
        settings = {name: taken.get(name) for name in _SETTINGS}
        settings["system_prompt"] = getattr(self.llm, "system_prompt", None)
        return {"class": type(self.llm).__name__, **_plain(settings)}

    @property
    def identity(self) -> Identity:
        """The same LLM object is the same judge."""
        return Identity(self.llm)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request; an asynchronous client is served by one loop of our own.

        Raises:
            JudgeError: The LLM raised; the reason says what it was.
        """
        prompt, model = _one_text(request), _reply_model(request)
        try:
            if self._is_async:
                reply = wait_for(self.llm.agenerate(prompt, model))
            else:
                reply = self.llm.generate(prompt, model)
        except Exception as error:  # noqa: BLE001  # what it means is found out there
            return _reply_of_error(error)
        return _instructor_reply(reply, request)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request; a synchronous client is asked in a thread.

        Raises:
            JudgeError: The LLM raised; the reason says what it was.
        """
        prompt, model = _one_text(request), _reply_model(request)
        try:
            if self._is_async:
                reply = await self.llm.agenerate(prompt, model)
            else:
                reply = await asyncio.to_thread(self.llm.generate, prompt, model)
        except Exception as error:  # noqa: BLE001  # what it means is found out there
            return _reply_of_error(error)
        return _instructor_reply(reply, request)

    @property
    def _is_async(self) -> bool:
        # Classes of users may lack the attribute, which the base class does not declare.
        return bool(getattr(self.llm, "is_async", True))


def _one_text(request: JudgeRequest) -> str:
    return f"{request.system}\n\n{request.user}"


def _inner(llm: Any) -> Any:
    """What a wrapper of RAGAS wraps; a class of its own is itself."""
    return getattr(llm, "langchain_llm", None) or getattr(llm, "llm", None) or llm


def _model_name(llm: Any) -> str:
    found = (getattr(llm, name, None) for name in ("model_name", "model", "model_id"))
    return next((name for name in found if isinstance(name, str) and name), type(llm).__name__)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in settings.items() if isinstance(v, bool | int | float | str)}


class _AnyObject(OpenAISchema):
    """Any JSON object; what the LLM is told to write is the request's schema.

    Of instructor's own kind, since instructor makes such a class of any other one, for each call.
    """

    model_config = ConfigDict(extra="allow")
    reply_schema: ClassVar[str] = "{}"

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The schema that the reply is to follow."""
        del args, kwargs
        return dict(json.loads(cls.reply_schema))


def _reply_model(request: JudgeRequest) -> type[_AnyObject]:
    return _model_of(request.schema_name, json.dumps(request.schema or ONE_WORD))


@lru_cache(maxsize=64)
def _model_of(name: str, schema: str) -> type[_AnyObject]:
    model = create_model(name, __base__=_AnyObject)
    model.reply_schema = schema
    return model


def _instructor_reply(reply: BaseModel, request: JudgeRequest) -> ModelReply:
    completion = getattr(reply, "_raw_response", None)
    text = reply.model_dump_json() if request.schema else one_word_of(reply.model_dump())
    return _completion_reply(text, completion)


def _reply_of_error(error: Exception) -> ModelReply:
    completion = getattr(error, "last_completion", None)
    text = getattr(getattr(_first_choice(completion), "message", None), "content", None)
    if isinstance(text, str):
        retries = max(int(getattr(error, "n_attempts", 1) or 1) - 1, 0)
        return _completion_reply(text, completion, retries)
    with judge_errors():
        raise error


def _completion_reply(text: str, completion: Any, retries: int = 0) -> ModelReply:
    usage = getattr(completion, "usage", None)
    reason = getattr(_first_choice(completion), "finish_reason", None)
    return ModelReply(
        text,
        input_tokens=getattr(usage, "prompt_tokens", None) or 0,
        output_tokens=getattr(usage, "completion_tokens", None) or 0,
        retries=retries,
        truncated=reason in _CUT_OFF,
        model=str(getattr(completion, "model", None) or ""),
    )


def _first_choice(completion: Any) -> Any:
    choices = getattr(completion, "choices", None)
    return choices[0] if choices else None
