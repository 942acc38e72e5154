"""LlamaIndex LLMs as judges, in any TCVA. The replies are scripted."""

from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    LLMMetadata,
    MessageRole,
    TextBlock,
    ThinkingBlock,
)
from llama_index.core.llms import MockLLM
from pydantic import PrivateAttr

from tcva_adapters import TCVA, Sample
from tcva_adapters.llamaindex import as_judge_model
from tcva_adapters.models.judge_model import JudgeModel, JudgeRequest
from tests.llamaindex.entry import ScriptedLLM
from tests.support.scripted import verdict_json

REQUEST = JudgeRequest(system="Judge.", user="The data.", schema={}, schema_name="x")
SAMPLE = Sample(response="It opens at nine.", contexts=("It opens at nine.",))
FULLY = verdict_json((1, "fully", "opens at nine"))


CUT_OFF: Any = {"choices": [{"finish_reason": "length"}], "model": "m-2031"}
NAMED = {"input_tokens": 7, "output_tokens": 2}
CUT_OFF |= {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}


class ChatLLM(ScriptedLLM):
    """A chat model: keeps the messages, answers with a given response object."""

    _messages: list[ChatMessage] = PrivateAttr(default_factory=list)
    _response: ChatResponse | None = PrivateAttr(default=None)
    role: MessageRole = MessageRole.SYSTEM

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            model_name="chatty", is_chat_model=True, system_role=self.role
        )

    def chat(self, messages: Any, **_: Any) -> ChatResponse:
        self._messages = list(messages)
        return self._response or ChatResponse(
            message=ChatMessage(content=self.reply(""))
        )

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return self.chat(messages, **kwargs)


def model_of(llm: object) -> JudgeModel:
    model = as_judge_model(llm)
    assert model is not None
    return model


def responding(**response: Any) -> JudgeModel:
    message = response.pop("message", ChatMessage(role="assistant", content="text"))
    llm = ChatLLM(reply=str)
    llm._response = ChatResponse(message=message, **response)
    return model_of(llm)


def test_name_and_parameters_say_what_matters_and_no_secret() -> None:
    llm = ScriptedLLM(reply=str, temperature=0.7, system_prompt="You are a pirate.")
    model = model_of(llm)
    assert model.name == "llamaindex:scripted"
    assert model.parameters == {"temperature": 0.7}
    assert "sk-never" not in repr(model) + repr(model.parameters) + repr(
        TCVA(judge=llm)
    )
    assert model_of(MockLLM()).name == "llamaindex:MockLLM"


@pytest.mark.parametrize("role", [MessageRole.SYSTEM, MessageRole.CHATBOT])
def test_instructions_and_data_are_separate_messages(role: MessageRole) -> None:
    llm = ChatLLM(reply=lambda _: "text", role=role)
    assert model_of(llm).complete(REQUEST).text == "text"
    sent = [(message.role, message.content) for message in llm._messages]
    assert sent == [(role, "Judge."), (MessageRole.USER, "The data.")]


def test_an_applications_system_prompt_does_not_reach_the_judge() -> None:
    llm = ScriptedLLM(reply=lambda _: FULLY, system_prompt="You are a pirate.")
    assert TCVA(judge=llm).evaluate(SAMPLE).score == 1.0
    assert "pirate" not in llm.prompts[0]


@pytest.mark.parametrize(("response", "tokens", "is_truncated", "name"), [
    ({"raw": None}, (0, 0), False, ""), ({"raw": {"usage": None}}, (0, 0), False, ""),
    ({"raw": CUT_OFF}, (7, 2), True, "m-2031"),
    ({"raw": {"usage": NAMED, "stop_reason": "end"}}, (7, 2), False, ""),
    ({"raw": object(), "additional_kwargs": {"finish_reason": "length"}}, (0, 0), True, ""),
    ({"raw": {"usage": {"prompt_tokens": None}}}, (0, 0), False, ""),
])  # fmt: skip
def test_the_providers_report_is_kept(
    response: dict[str, Any], tokens: tuple[int, int], is_truncated: bool, name: str
) -> None:
    reply = responding(**response).complete(REQUEST)
    assert (reply.input_tokens, reply.output_tokens) == tokens
    assert reply.truncated is is_truncated
    assert reply.model == name


def test_reasoning_blocks_are_not_the_reply() -> None:
    blocks = [ThinkingBlock(content="1: none"), TextBlock(text="text")]
    message = ChatMessage(role="assistant", blocks=blocks)
    assert responding(message=message).complete(REQUEST).text == "text"
    assert (
        responding(message=ChatMessage(role="assistant", blocks=[]))
        .complete(REQUEST)
        .text
        == ""
    )
