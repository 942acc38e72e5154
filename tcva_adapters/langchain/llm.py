"""A LangChain LLM as judge model: its own client, retries, cache, callbacks and rate limiter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.language_models.llms import BaseLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import PrivateAttr

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import judge_errors
from tcva_adapters.models.openai_reply import token_logprobs
from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel, ModelReply
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.sharing import Identity

_PARAMETERS: Final = (
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "num_predict",
    "num_ctx",
    "top_p",
    "top_k",
    "seed",
    "stop",
    "frequency_penalty",
    "presence_penalty",
    "reasoning_effort",
)
"""What LLM classes call the settings that can change a reply. A list of what is taken, not of what
is left out: a class may keep a key under any name."""

_CUT_OFF: Final = frozenset({"length", "max_tokens", "MAX_TOKENS"})

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


@dataclass(frozen=True, slots=True)
class LangChainModel:
    """Asks a LangChain LLM; inside a chain the call is traced as the evaluator's child.

    Attributes:
        llm: The LLM; its own retries, cache, callbacks and rate limiter stay in force.
    """

    llm: Runnable[Any, Any] = field(repr=False)

    @property
    def name(self) -> str:
        """``langchain:`` and the model's name, or the name of its class where it has none."""
        core = list(_unwrapped(self.llm))[-1]
        found = (getattr(core, key, None) for key in ("model_name", "model", "model_id"))
        named = (name for name in found if isinstance(name, str) and name)
        return f"langchain:{next(named, None) or core.get_name()}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The LLM's class and the settings that can change a reply; no secrets."""
        layers = list(_unwrapped(self.llm))
        settings: dict[str, Any] = {}
        for layer in reversed(layers):  # what is bound outside wins
            bound = getattr(layer, "kwargs", None)
            found = {name: getattr(layer, name, None) for name in _PARAMETERS}
            found |= {k: v for k, v in (bound or {}).items() if k in _PARAMETERS}
            settings |= {k: v for k, v in found.items() if _is_plain(v)}
        return {"class": type(layers[-1]).__name__, **settings}

    @property
    def identity(self) -> Identity:
        """The same LLM object is the same judge."""
        return Identity(self.llm)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: The LLM raised or answered with something else than text.
        """
        with judge_errors():
            drawn = self._drawn(request)
            return _reply(self.llm.invoke(self._prompt(request), _CONFIG, **drawn))

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through the LLM's asynchronous interface.

        Raises:
            JudgeError: The LLM raised or answered with something else than text.
        """
        with judge_errors():
            drawn = self._drawn(request)
            return _reply(await self.llm.ainvoke(self._prompt(request), _CONFIG, **drawn))

    def _drawn(self, request: JudgeRequest) -> dict[str, Any]:
        """How the reply is drawn, as far as the LLM's class takes it with a call.

        A class that knows token probabilities has fields for them. Only those of OpenAI's package
        take a temperature and a limit under their own names, too.
        """
        layers = list(_unwrapped(self.llm))
        core, sampling = layers[-1], request.sampling
        # Fallbacks may be of other classes, which get the same arguments.
        if sampling is None or any(hasattr(layer, "fallbacks") for layer in layers):
            return {}
        drawn: dict[str, Any] = {}
        known = getattr(type(core), "model_fields", {})
        if sampling.top_logprobs is not None and known.keys() >= {"logprobs", "top_logprobs"}:
            drawn |= {"logprobs": True, "top_logprobs": sampling.top_logprobs}
        if any(each.__module__.startswith("langchain_openai.") for each in type(core).__mro__):
            # A server that was sent a temperature before takes another one.
            has_own = getattr(core, "temperature", None) is not None
            temperature = sampling.temperature if has_own else None
            further = {"max_tokens": sampling.max_tokens, "temperature": temperature}
            drawn |= {name: value for name, value in further.items() if value is not None}
        return drawn

    def _prompt(self, request: JudgeRequest) -> str | list[BaseMessage]:
        if isinstance(list(_unwrapped(self.llm))[-1], BaseLLM):
            # Given messages, a completion model would read "System:" and "Human:" before them.
            return f"{request.system}\n\n{request.user}"
        return [SystemMessage(request.system), HumanMessage(request.user)]


def _unwrapped(llm: Any) -> Iterator[Any]:
    """A Runnable and what it wraps, down to the model itself."""
    while True:
        yield llm
        if isinstance(llm, BaseLanguageModel):
            return
        # `bind`, `with_config` and `with_retry` keep it under one name, `with_fallbacks` under
        # the other, and their classes have fields of no other kind by these names.
        fields = getattr(type(llm), "model_fields", {})
        inner = next((getattr(llm, key) for key in ("bound", "runnable") if key in fields), None)
        if not isinstance(inner, Runnable):
            return
        llm = inner


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, bool | int | float | str)


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
            said.get(key) in _CUT_OFF for key in ("finish_reason", "stop_reason", "done_reason")
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
        return self._asked.name

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
