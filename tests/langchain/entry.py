"""The adapter through LangChain's own entry point. The model is scripted, all else is real."""

import asyncio
import threading
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langsmith.schemas import Run
from pydantic import Field, PrivateAttr

from tcva_adapters import Conversation, Sample
from tests.support.office import PASSAGE, QUERY, RESPONSE
from tests.support.scripted import in_turn

Reply = Callable[[str], str]

WORKERS = 8


class ScriptedChatModel(BaseChatModel):
    """A real LangChain chat model whose text comes from a function of the prompt."""

    reply: Reply = Field(exclude=True)
    model_name: str = "scripted"
    temperature: float = 0.0
    api_key: str = "sk-never-shown-1234567890"
    finish_reason: str = "stop"
    hangs: bool = False

    _prompts: list[str] = PrivateAttr(default_factory=list)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def prompts(self) -> list[str]:
        """Every prompt so far, in order."""
        return self._prompts

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        prompt = "\n\n".join(str(message.text) for message in messages)
        with self._lock:
            self._prompts.append(prompt)
        about = {
            "model_name": "scripted-2026-01-01",
            "finish_reason": self.finish_reason,
        }
        message = AIMessage(
            self.reply(prompt),
            usage_metadata={"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
            response_metadata=about,
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> ChatResult:
        if self.hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        return self._generate(messages)


def scripted(*replies: str | Exception) -> ScriptedChatModel:
    """A model that answers from a list, in order; an exception in it is raised."""
    return ScriptedChatModel(reply=in_turn(*replies))


def records(samples: Iterable[Sample | Conversation]) -> list[Any]:
    def record(s: Sample) -> dict[str, Any]:
        texts = {
            "id": s.id,
            "question": s.input,
            "answer": s.response,
            "context": s.contexts,
        }
        return {**texts, "ground_truth": s.reference, "metadata": s.metadata}

    return [
        messages_of(s) if isinstance(s, Conversation) else record(s) for s in samples
    ]


def messages_of(conversation: Conversation) -> list[BaseMessage]:
    """A conversation in LangChain's messages."""
    said: list[BaseMessage] = []
    for turn in conversation.turns:
        found = [ToolMessage(text, tool_call_id="1") for text in turn.contexts or ()]
        said += [HumanMessage(turn.input or ""), *found, AIMessage(turn.response or "")]
    return said


RECORD: Final[Any] = {
    "question": QUERY,
    "answer": RESPONSE,
    "context": [Document(PASSAGE)],
}


def run_of(inputs: dict[str, Any], outputs: dict[str, Any]) -> Run:
    """A run as LangSmith keeps it."""
    ids: Any = {name: uuid.uuid4() for name in ("id", "trace_id", "session_id")}
    about: Any = {"name": "chain", "run_type": "chain", "start_time": datetime.now(UTC)}
    return Run(inputs=inputs, outputs=outputs, **ids, **about)
