"""Any judge model as a LangChain chat model, so that LangChain's own evaluators run on it."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel


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
