"""Messages as the objects of every framework, wherever messages are taken."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from deepeval.test_case import ToolCall as DeepEvalCall
from deepeval.test_case import Turn
from langchain_core import messages as langchain
from llama_index.core.base.llms import types as llama_index
from llama_index.core.memory import ChatMemoryBuffer
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import (
    ResponseCodeInterpreterToolCall,
    ResponseFileSearchToolCall,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_file_search_tool_call import Result as SearchResult
from ragas import messages as ragas

from tcva_adapters import TCVA, Conversation, Sample
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain import TCVAConversationEvaluator, TCVAEvaluator
from tcva_adapters.samples.reader import read_item

ASKED, FOUND, ANSWER = "When does it open?", "It opens at nine.", "It opens at nine."
WAIT = "Let me look."


def of_llama_index() -> list[Any]:
    call = llama_index.ToolCallBlock(
        tool_name="find", tool_kwargs={"q": "x"}, tool_call_id="1"
    )
    text = llama_index.TextBlock
    thought = llama_index.ThinkingBlock(content="Nine, then.")
    picture = llama_index.ImageBlock(image=b"\x89PNG\r\n\x1a\n")
    message = llama_index.ChatMessage
    return [
        message(role="system", content="Be kind."),
        message(role="user", blocks=[picture, text(text=ASKED)]),
        message(role="assistant", blocks=[text(text=WAIT), call]),
        message(role="tool", content=FOUND, additional_kwargs={"tool_call_id": "1"}),
        message(
            role="assistant",
            blocks=[thought, text(text="It opens "), text(text="at nine.")],
        ),
    ]


def of_older_llama_index() -> list[Any]:
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "find", "arguments": "{}"},
    }
    message = llama_index.ChatMessage
    asks = message(
        role="assistant", content=None, additional_kwargs={"tool_calls": [call]}
    )
    said = [("user", ASKED), asks, ("tool", FOUND), ("chatbot", ANSWER)]
    return [
        message(role=m[0], content=m[1]) if isinstance(m, tuple) else m for m in said
    ]


def of_llama_index_memory() -> list[Any]:
    memory = ChatMemoryBuffer.from_defaults(
        chat_history=of_llama_index()[1:], token_limit=10_000
    )
    return memory.get()


def of_langchain() -> list[Any]:
    call = langchain.ToolCall(name="find", args={"q": "x"}, id="1")
    return [
        langchain.SystemMessage("Be kind."),
        langchain.HumanMessage(ASKED),
        langchain.AIMessage(WAIT, tool_calls=[call]),
        langchain.ToolMessage(FOUND, tool_call_id="1", artifact=object()),
        langchain.AIMessage([{"type": "thinking", "thinking": "Nine."}, {"type": "text", "text": ANSWER}]),
    ]  # fmt: skip


def of_ragas() -> list[Any]:
    call = ragas.ToolCall(name="find", args={"q": "x"})
    asks = ragas.AIMessage(content=WAIT, tool_calls=[call])
    returned, answer = ragas.ToolMessage(content=FOUND), ragas.AIMessage(content=ANSWER)
    return [ragas.HumanMessage(content=ASKED), asks, returned, answer]


def of_deepeval() -> list[Any]:
    answer = Turn(role="assistant", content=ANSWER, retrieval_context=[FOUND])
    return [Turn(role="user", content=ASKED), answer]


def of_deepeval_tools() -> list[Any]:
    call = DeepEvalCall(name="find", input_parameters=None, output=FOUND)
    return [Turn(role="user", content=ASKED), Turn(role="assistant", content=ANSWER, tools_called=[call])]  # fmt: skip


def of_openai_chat() -> list[Any]:
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "find", "arguments": "{}"},
    }
    asks = ChatCompletionMessage.model_validate(
        {"role": "assistant", "tool_calls": [call]}
    )
    answer = ChatCompletionMessage(role="assistant", content=ANSWER)
    returned = {"role": "tool", "tool_call_id": "1", "content": FOUND}
    return [{"role": "user", "content": ASKED}, asks, returned, answer]


def of_openai_responses() -> list[Any]:
    text = ResponseOutputText(type="output_text", text=ANSWER, annotations=[])
    about: dict[str, Any] = {"id": "1", "status": "completed"}
    call = ResponseFunctionToolCall(
        type="function_call", call_id="1", name="f", arguments="{}"
    )
    code = {
        "type": "code_interpreter_call",
        "code": "1",
        "container_id": "c",
        "outputs": None,
    }
    return [
        {"role": "user", "content": ASKED},
        ResponseReasoningItem(type="reasoning", id="1", summary=[]),
        ResponseFileSearchToolCall(type="file_search_call", queries=["q"], results=[SearchResult(text=FOUND)], **about),
        call,
        ResponseCodeInterpreterToolCall.model_validate(code | about),
        ResponseOutputMessage(type="message", role="assistant", content=[text], **about),
    ]  # fmt: skip


@dataclass
class Message:
    """A class of one's own."""

    role: str
    content: str


def of_ones_own() -> list[Any]:
    return [
        Message("user", ASKED),
        Message("tool", FOUND),
        Message("assistant", ANSWER),
    ]


FORMS = [
    of_llama_index,
    of_older_llama_index,
    of_llama_index_memory,
    of_langchain,
    of_ragas,
    of_deepeval,
    of_deepeval_tools,
    of_openai_chat,
    of_openai_responses,
    of_ones_own,
]


def facts(sample: Any) -> tuple[Any, ...]:
    return sample.input, sample.response, sample.contexts


@pytest.mark.parametrize("form", FORMS)
def test_objects_are_messages(form: Callable[[], list[Any]]) -> None:
    expected = (ASKED, ANSWER, (FOUND,))
    [turn] = Conversation.from_messages(form()).turns
    assert facts(turn) == expected
    for record in (
        {"messages": form()},
        {"input": form()},
        {"outputs": {"messages": form()}},
    ):
        assert facts(Sample.from_record(record)) == expected
    twice = read_item({"turns": form() * 2}, {})
    assert isinstance(twice, Conversation)
    assert [facts(turn) for turn in twice.turns] == [expected] * 2
    result = TCVA(judge="lexical").evaluate_conversation(form())
    assert (result.score, len(result.turns)) == (1.0, 1)


@pytest.mark.parametrize("form", FORMS)
def test_objects_are_messages_in_langchains_evaluators(
    form: Callable[[], list[Any]],
) -> None:
    for given in (form(), {"messages": form()}):
        assert TCVAConversationEvaluator("lexical").invoke(given)["score"] == 1.0
        assert TCVAEvaluator("lexical").invoke(given)["score"] == 1.0


@pytest.mark.parametrize("form", FORMS)
def test_one_object_is_a_text(form: Callable[[], list[Any]]) -> None:
    talk = form()
    found = Sample.from_record({"input": talk[0], "output": talk[-1]})
    assert found.response == ANSWER
    # What stands beside the outputs is not said twice.
    whole = Sample.from_record(
        {"inputs": {"messages": talk[:-1]}, "outputs": {"messages": talk}}
    )
    assert facts(whole) == (ASKED, ANSWER, (FOUND,))


def test_an_object_that_is_no_message_is_named() -> None:
    with pytest.raises(
        InvalidSampleError, match=r"message 1: a message must have a role .*'critic'"
    ):
        Conversation.from_messages([Message("critic", "No.")])
