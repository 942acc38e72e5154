"""A LangChain LLM as judge model: its own client, retries, cache, callbacks and rate limiter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.language_models.llms import BaseLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import PrivateAttr

from tcva_adapters._adapter.llm import CUT_OFF, LLMObject, one_text, takes_logprobs
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import judge_errors
from tcva_adapters.models.openai_reply import token_logprobs
from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel, ModelReply
from tcva_adapters.models.request import JudgeRequest

_CONFIG: Final[RunnableConfig] = {
    "run_name": "tcva_judge",
    # LangGraph streams the tokens of every model to the user, except of those with this tag.
    "tags": ["nostream"],
}


def as_judge_model(llm: object) -> JudgeModel | None:
    """A LangChain LLM as judge model; None for anything else.

    Chat models, text completion models, and these with ``bind``, ``with_config``, ``with_retry``
    or ``with_fallbacks``. Any other Runnable is taken to answer messages with text.
    """
    return LangChainModel(llm) if isinstance(llm, Runnable) else None


class LangChainModel(LLMObject):
    """Asks a LangChain LLM; inside a chain the call is traced as the evaluator's child."""

    framework = "langchain"

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: The LLM raised, or answered with something else than text.
        """
        with judge_errors():
            drawn = self._sampling(request)
            return _reply(self.llm.invoke(self._prompt(request), _CONFIG, **drawn))

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through the LLM's asynchronous interface.

        Raises:
            JudgeError: As for `complete`.
        """
        with judge_errors():
            drawn = self._sampling(request)
            return _reply(await self.llm.ainvoke(self._prompt(request), _CONFIG, **drawn))

    def _layers(self) -> list[Any]:
        """The LLM and what it wraps, down to the model itself."""
        layers = [self.llm]
        while not isinstance(layers[-1], BaseLanguageModel):
            # `bind`, `with_config` and `with_retry` keep it under one name, `with_fallbacks` under
            # the other, and their classes have fields of no other kind by these names.
            names = {"bound", "runnable"} & getattr(type(layers[-1]), "model_fields", {}).keys()
            inner = next((getattr(layers[-1], name) for name in names), None)
            if not isinstance(inner, Runnable):
                break
            layers.append(inner)
        return layers

    def _core(self) -> Any:
        return self._layers()[-1]

    def _holders(self) -> tuple[Any, ...]:
        *wrappers, core = self._layers()
        return (*(getattr(wrapper, "kwargs", {}) for wrapper in wrappers), core)

    def _model_name(self) -> str:
        core = self._core()
        # Of other Runnables, e.g. functions, the class says nothing.
        is_model = isinstance(core, BaseLanguageModel)
        return super()._model_name() if is_model else str(core.get_name())

    def _sampling(self, request: JudgeRequest) -> dict[str, Any]:
        """How the reply is drawn, as far as the LLM's class takes it with a call.

        A class that knows token probabilities has fields for them. Only those of OpenAI's package
        take a temperature and a limit under their own names, too.
        """
        sampling, layers = request.sampling, self._layers()
        # Fallbacks may be of other classes, which get the same arguments.
        if sampling is None or any(hasattr(layer, "fallbacks") for layer in layers):
            return {}
        kind = type(layers[-1])
        given: dict[str, Any] = {}
        if takes_logprobs(kind) and sampling.top_logprobs is not None:
            given = {"logprobs": True, "top_logprobs": sampling.top_logprobs}
        if any(base.__module__.startswith("langchain_openai.") for base in kind.__mro__):
            given["max_tokens"] = sampling.max_tokens
            # A server that was sent a temperature before takes another one.
            if getattr(layers[-1], "temperature", None) is not None:
                given["temperature"] = sampling.temperature
        return {name: value for name, value in given.items() if value is not None}

    def _prompt(self, request: JudgeRequest) -> str | list[BaseMessage]:
        if isinstance(self._core(), BaseLLM):
            # Given messages, a completion model would read "System:" and "Human:" before them.
            return one_text(request)
        return [SystemMessage(request.system), HumanMessage(request.user)]


def _reply(answer: Any) -> ModelReply:
    if isinstance(answer, str):
        return ModelReply(answer)
    if not isinstance(answer, BaseMessage):
        msg = f"the judge returned a {type(answer).__name__}; a judge answers with text"
        raise JudgeError(msg, reason="no_reply")
    usage: Mapping[str, Any] = (isinstance(answer, AIMessage) and answer.usage_metadata) or {}
    said = answer.response_metadata
    # An answer from LangChain's cache repeats the tokens of the first one and says it was free.
    is_cached = usage.get("total_cost") == 0
    return ModelReply(
        str(answer.text),
        input_tokens=0 if is_cached else usage.get("input_tokens", 0),
        output_tokens=0 if is_cached else usage.get("output_tokens", 0),
        truncated=any(
            said.get(key) in CUT_OFF for key in ("finish_reason", "stop_reason", "done_reason")
        ),
        model=str(said.get("model_name") or said.get("model") or ""),
        token_logprobs=token_logprobs(said.get("logprobs")),
    )


class BridgedLLM(BaseChatModel):
    """Hands LangChain's prompts to a judge model: system messages as instructions, then the rest."""

    _asked: Prompted = PrivateAttr()

    def __init__(self, asked: Prompted) -> None:
        super().__init__()
        self._asked = asked

    @property
    def model_name(self) -> str:
        """The judge model's name."""
        return self._asked.model.name

    @property
    def _llm_type(self) -> str:
        return "tcva-bridged"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, *_: Any, **__: Any
    ) -> ChatResult:
        system, prompt = _texts(messages)
        return _result(self._asked.text(prompt, system=system), stop)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, *_: Any, **__: Any
    ) -> ChatResult:
        system, prompt = _texts(messages)
        return _result(await self._asked.atext(prompt, system=system), stop)


def from_judge_model(model: JudgeModel | Prompted) -> BridgedLLM:
    """A LangChain chat model out of a judge model."""
    return BridgedLLM(Prompted.of(model))


def _texts(messages: list[BaseMessage]) -> tuple[str, str]:
    system = (str(m.text) for m in messages if isinstance(m, SystemMessage))
    rest = (str(m.text) for m in messages if not isinstance(m, SystemMessage))
    return "\n\n".join(system), "\n\n".join(rest)


def _result(text: str, stop: list[str] | None) -> ChatResult:
    for mark in stop or ():  # the request knows no stop words, so what follows them goes here
        text = text.partition(mark)[0]
    return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])
