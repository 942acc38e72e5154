"""A LangChain LLM as judge model: its own client, retries, cache, callbacks and rate limiter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.language_models.llms import BaseLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import PrivateAttr

from tcva_adapters._adapter.llm import CUT_OFF, LLMObject, one_text, takes_logprobs
from tcva_adapters._adapter.lookup import Arguments, count_in
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.framework_prompts import PromptedModel
from tcva_adapters.models.judge_model import (
    JudgeModel,
    JudgeRequest,
    ModelReply,
    Sampling,
    token_logprobs,
)
from tcva_adapters.results.judge_spec import UNKNOWN

_CONFIG: RunnableConfig = {
    "run_name": "tcva_judge",
    # LangGraph streams the tokens of every model without this tag to the user.
    "tags": ["nostream"],
}

_ENDS = ("finish_reason", "stop_reason", "done_reason")
"""Where providers say why a reply ended."""


def as_judge_model(llm: object) -> JudgeModel | None:
    """Wrap a LangChain LLM as a judge model; return None for anything else.

    An LLM is a chat model or a text completion model, also with ``bind``, ``with_config``,
    ``with_retry`` or ``with_fallbacks``. Any other Runnable is taken to answer messages with text.
    """
    return LangChainModel(llm) if isinstance(llm, Runnable) else None


class LangChainModel(LLMObject):
    """Asks a LangChain LLM; inside a chain the call is traced as the evaluator's child."""

    framework = "langchain"

    def __init__(self, llm: Runnable[Any, Any]) -> None:
        self._layers: list[Any] = [llm]  # and what it wraps, down to the model itself
        while not isinstance(self._core(), BaseLanguageModel):
            # `bind`, `with_config` and `with_retry` keep it under one name, `with_fallbacks` under
            # the other, and their classes have fields of no other kind by these names.
            fields = getattr(type(self._core()), "model_fields", {})
            names = {"bound", "runnable"}.intersection(fields)
            inner = next((getattr(self._core(), name) for name in names), None)
            if not isinstance(inner, Runnable):
                break
            self._layers.append(inner)
        # Given messages, a completion model would read "System:" and "Human:" before them.
        if isinstance(self._core(), BaseLLM):
            self.prompt = "text"
        super().__init__(llm)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: The LLM did not answer with text.
        """
        prompt, options = self._prompt_and_options(request)
        return _reply(self.llm.invoke(prompt, _CONFIG, **options))

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through the LLM's asynchronous interface.

        Raises:
            JudgeError: As for `complete`.
        """
        prompt, options = self._prompt_and_options(request)
        return _reply(await self.llm.ainvoke(prompt, _CONFIG, **options))

    def _core(self) -> Any:
        return self._layers[-1]

    def _holders(self) -> Sequence[object]:
        return (
            *(getattr(layer, "kwargs", {}) for layer in self._layers[:-1]),
            self._core(),
        )

    def _address(self) -> str:
        # Otherwise another LLM may answer, or one with other settings.
        is_known = isinstance(self._core(), BaseLanguageModel) and all(
            type(layer).__module__.startswith("langchain_core.")
            and not hasattr(layer, "fallbacks")
            for layer in self._layers[:-1]
        )
        return super()._address() if is_known else UNKNOWN

    def _model_name(self) -> str:
        # The class of a Runnable that is no model, e.g. a function, says nothing.
        is_model = isinstance(self._core(), BaseLanguageModel)
        return super()._model_name() if is_model else str(self._core().get_name())

    def _prompt_and_options(
        self, request: JudgeRequest
    ) -> tuple[str | list[BaseMessage], Arguments]:
        """Return the prompt, and the settings of sampling that the LLM takes with a call."""
        options = self._options(request.sampling) if request.sampling else {}
        if self.prompt == "text":
            return one_text(request), options
        return [SystemMessage(request.system), HumanMessage(request.user)], options

    def _options(self, sampling: Sampling) -> Arguments:
        """Return the settings of sampling that the LLM's class takes with a call.

        A class that supports token probabilities has fields for them. Only the classes of OpenAI's
        package also take a temperature and a limit under these names.
        """
        # Fallbacks may be of other classes, which get the same arguments.
        if any(hasattr(layer, "fallbacks") for layer in self._layers):
            return {}
        core = self._core()
        options: Arguments = {}
        if takes_logprobs(core) and sampling.top_logprobs is not None:
            options = {"logprobs": True, "top_logprobs": sampling.top_logprobs}
        bases = type(core).__mro__
        if any(base.__module__.startswith("langchain_openai.") for base in bases):
            options["max_tokens"] = sampling.max_tokens
            # A server that already gets a temperature takes another one.
            if getattr(core, "temperature", None) is not None:
                options["temperature"] = sampling.temperature
        return {name: value for name, value in options.items() if value is not None}


def _reply(answer: object) -> ModelReply:
    if isinstance(answer, str):
        return ModelReply(answer)
    if not isinstance(answer, BaseMessage):
        raise JudgeError(
            f"the judge must return text or a message, got a {type(answer).__name__}",
            reason="no_reply",
        )
    usage = getattr(answer, "usage_metadata", None) or {}
    # An answer from LangChain's cache repeats the tokens of the first one, at a cost of 0.
    if usage.get("total_cost") == 0:
        usage = {}
    metadata = answer.response_metadata
    logprobs = metadata.get("logprobs")
    return ModelReply(
        str(answer.text),
        input_tokens=count_in(usage, "input_tokens"),
        output_tokens=count_in(usage, "output_tokens"),
        truncated=not CUT_OFF.isdisjoint(map(metadata.get, _ENDS)),
        model=str(metadata.get("model_name") or metadata.get("model") or ""),
        token_logprobs=token_logprobs(logprobs) if logprobs else None,
    )


class BridgedLLM(BaseChatModel):
    """Sends LangChain's prompts to a judge model: system messages as instructions, then the rest."""

    _prompted: PromptedModel = PrivateAttr()

    def __init__(self, prompted: PromptedModel) -> None:
        super().__init__()
        self._prompted = prompted

    @property
    def model_name(self) -> str:
        """The judge model's name."""
        return self._prompted.model.name

    @property
    def _llm_type(self) -> str:
        return "tcva-bridged"

    def _generate(
        self,
        messages: list[BaseMessage],
        *_: object,
        **__: object,
    ) -> ChatResult:
        system, prompt = _texts(messages)
        return _result(self._prompted.ask(prompt, system=system))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        *_: object,
        **__: object,
    ) -> ChatResult:
        system, prompt = _texts(messages)
        return _result(await self._prompted.aask(prompt, system=system))


def _texts(messages: list[BaseMessage]) -> tuple[str, str]:
    system = (str(m.text) for m in messages if isinstance(m, SystemMessage))
    rest = (str(m.text) for m in messages if not isinstance(m, SystemMessage))
    return "\n\n".join(system), "\n\n".join(rest)


def _result(text: str) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])
