"""What chains, retrievers and agents pass on, read as samples."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.prompt_values import StringPromptValue

from tcva_adapters import Sample
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.samples import CRITIC, as_sample, run_record

EXPECTED = Sample(input="When?", response="At nine.", contexts=("It opens at nine.",))
DOCUMENT = Document("It opens at nine.", metadata={"source": "leaflet"})
TALK = [
    HumanMessage("Hello"),
    AIMessage("Hi!"),
    HumanMessage("When?"),
    AIMessage("", tool_calls=[{"name": "find", "args": {}, "id": "1"}]),
    ToolMessage("It opens at nine.", tool_call_id="1"),
    AIMessage("At nine."),
]


@pytest.mark.parametrize(
    "value",
    [
        EXPECTED,
        {"input": "When?", "answer": "At nine.", "context": [DOCUMENT]},  # create_retrieval_chain
        {"query": "When?", "result": "At nine.", "source_documents": [DOCUMENT]},  # RetrievalQA
        {"question": HumanMessage("When?"), "output": AIMessage("At nine."), "docs": [DOCUMENT]},
        {"prompt": StringPromptValue(text="When?"), "text": "At nine.", "documents": [DOCUMENT]},
        {"input": TALK[:3], "output": [AIMessage("At nine.")], "contexts": [(DOCUMENT, 0.3)]},
        {"user_input": "When?", "response": "At nine.", "contexts": "It opens at nine."},
        {"messages": TALK},
        TALK,
        {"messages": [("user", "When?"), ("ai", "At nine.")], "context": ["It opens at nine."]},
        {
            "messages": [
                {"role": "user", "content": "When?"},
                {"role": "assistant", "content": [{"type": "text", "text": "At nine."}]},
            ],
            "context": ["It opens at nine."],
        },
        {"messages": [*TALK[:5], AIMessage("At ten."), HumanMessage("No!", name=CRITIC), TALK[5]]},
    ],
)
def test_shapes_of_a_sample(value: Any) -> None:
    assert as_sample(value) == EXPECTED


def test_a_text_or_message_alone_is_an_answer() -> None:
    assert as_sample("At nine.") == as_sample(AIMessage("At nine.")) == Sample(response="At nine.")


def test_a_conversation_without_tools_has_retrieved_nothing() -> None:
    assert as_sample(TALK[:2]).contexts == ()


def test_other_state_of_a_chain_is_left_behind() -> None:
    sample = as_sample({"answer": "At nine.", "client": object(), "id": 7, "metadata": object()})
    assert (sample.id, sample.metadata) == ("7", {})


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (7, "int"),
        ([], "list"),
        ({"answer": 7}, "'answer'"),
        ({"answer": "x", "context": [7]}, "int"),
        ({"answer": "x", "messages": [7]}, "'messages', message 1: 7 is no message"),
        ({"answer": "x", "messages": [{"said": "y"}]}, "'messages', message 1: .* is no message"),
        ({"answer": "x", "context": [("Title", "Text")]}, "'context' holds a tuple"),
    ],
)
def test_what_cannot_be_read_is_named(value: Any, named: str) -> None:
    with pytest.raises(InvalidSampleError, match=named):
        as_sample(value)


def test_runs_and_examples_make_one_record() -> None:
    record = run_record({"question": "When?"}, {"answer": "At nine."}, {"answer": "At 9."})
    assert as_sample(record) == Sample(input="When?", response="At nine.", reference="At 9.")


def test_a_single_output_needs_no_known_name() -> None:
    record = run_record({"q": "When?"}, {"o": "At nine."}, {"gold": "At 9."})
    assert as_sample(record) == Sample(response="At nine.", reference="At 9.")


def test_contexts_alone_are_no_reference_answer() -> None:
    record = run_record("When?", "At nine.", {"contexts": ["It opens at nine."]})
    assert as_sample(record) == EXPECTED


def test_contexts_may_come_with_the_reference() -> None:
    given = {"reference": "At 9.", "contexts": ["It opens at nine."]}
    assert as_sample(run_record("When?", "At nine.", given)) == EXPECTED.model_copy(
        update={"reference": "At 9."}
    )
    assert as_sample(run_record({}, {"messages": TALK}, given)).contexts == EXPECTED.contexts
    assert as_sample(run_record("When?", "At nine.", "At 9.")).reference == "At 9."


def test_a_document_alone_is_one_passage() -> None:
    given = {"answer": "At nine.", "context": Document("It opens at nine.")}
    assert as_sample(given).contexts == ("It opens at nine.",)


def test_conversations_may_be_written_as_chat_interfaces_take_them() -> None:
    said = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]
    assert as_sample(said) == as_sample({"messages": said})
    assert as_sample({"question": said[:1], "answer": said}) == Sample(
        input="When?", response="At nine."
    )
    assert as_sample({"answer": said}) == Sample(input="When?", response="At nine.")
    run = run_record({"messages": said[:1]}, said, {"messages": said})
    assert as_sample(run) == Sample(input="When?", response="At nine.", reference="At nine.")


def test_a_named_answer_answers_the_last_question() -> None:
    asked = [*TALK, HumanMessage("And on Sundays?")]
    sample = as_sample({"messages": asked, "answer": "Never."})
    assert (sample.input, sample.response) == ("And on Sundays?", "Never.")
    assert sample.contexts == ("It opens at nine.",)


def test_a_text_called_messages_is_no_conversation() -> None:
    assert as_sample({"messages": "Hello", "answer": "At nine."}) == Sample(response="At nine.")


def test_the_messages_of_a_runs_inputs_ask_and_do_not_answer() -> None:
    asked = {"messages": [*TALK, HumanMessage("And on Sundays?")]}
    named = as_sample(run_record(asked, {"answer": "Never."}, None))
    assert named == Sample(
        input="And on Sundays?", response="Never.", contexts=("It opens at nine.",)
    )
    assert as_sample(run_record(asked, {"a": "Never.", "b": 1}, None)).response is None
    new = as_sample(run_record(asked, {"messages": [AIMessage("Never.")]}, None))
    assert new == named
    whole = {"messages": [*asked["messages"], AIMessage("Never.")]}
    assert as_sample(run_record(asked, whole, None)) == named
    # What is named wins over what the messages say.
    given = {**asked, "question": "Sundays?", "context": ["It is closed."]}
    record = run_record(given, {"answer": "Never."}, {"contexts": ["Unused."]})
    assert as_sample(record) == Sample(
        input="Sundays?", response="Never.", contexts=("It is closed.",)
    )
    lone = run_record({"messages": TALK[:3]}, "Never.", {"contexts": ["It is closed."]})
    assert as_sample(lone).contexts == ("It is closed.",)
