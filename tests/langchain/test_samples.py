"""What chains, retrievers and agents pass on, read as samples."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tcva_adapters import Sample
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.samples import CRITIC, as_sample

EXPECTED = Sample(input="When?", response="At nine.", contexts=("It opens at nine.",))
LATER = Sample(
    input="And on Sundays?", response="Never.", contexts=("It opens at nine.",)
)
PLAIN = Sample(input="When?", response="At nine.")
DOC = Document("It opens at nine.", metadata={"source": "leaflet"})
CALL = AIMessage("", tool_calls=[{"name": "find", "args": {}, "id": "1"}])
TOOL = ToolMessage("It opens at nine.", tool_call_id="1")
TALK = [HumanMessage("Hello"), AIMessage("Hi!"), HumanMessage("When?"), CALL, TOOL]
TALK.append(AIMessage("At nine."))
CRITICAL = HumanMessage("No!", name=CRITIC)
ASKED = {"messages": [*TALK, HumanMessage("And on Sundays?")]}
SAID = [
    {"role": "user", "content": "When?"},
    {"role": "assistant", "content": "At nine."},
]


@pytest.mark.parametrize(("value", "expected"), [
    (EXPECTED, EXPECTED),
    # create_retrieval_chain, RetrievalQA, a chain of one's own
    ({"input": "When?", "answer": "At nine.", "context": [DOC]}, EXPECTED),
    ({"query": "When?", "result": "At nine.", "source_documents": [DOC]}, EXPECTED),
    ({"question": HumanMessage("When?"), "output": TALK[5], "docs": DOC}, EXPECTED),
    ({"prompt": "When?", "text": "At nine.", "documents": [(DOC, 0.3)]}, EXPECTED),
    ({"input": TALK[:3], "output": TALK[5:], "contexts": "It opens at nine."}, EXPECTED),
    # agents and chat interfaces
    (TALK, EXPECTED),
    ({"messages": TALK}, EXPECTED),
    ({"messages": [*TALK[:5], AIMessage("Ten."), CRITICAL, TALK[5]]}, EXPECTED),
    ({"messages": [("user", "When?"), ("ai", "At nine.")], "context": [DOC]}, EXPECTED),
    (TALK[:2], Sample(input="Hello", response="Hi!", contexts=())),
    ({"question": SAID[:1], "answer": SAID}, PLAIN),
    ({**ASKED, "answer": "Never."}, LATER),
    # no more than an answer
    ("At nine.", Sample(response="At nine.")),
    (AIMessage("At nine."), Sample(response="At nine.")),
    ({"messages": "Hello", "answer": "At nine."}, Sample(response="At nine.")),
    # what else a chain hands on
    (
        {"answer": "At nine.", "client": object(), "id": 7, "metadata": object()},
        Sample(response="At nine.", id="7"),
    ),
    ({"answer": "Never.", "metadata": {"a": 1}}, Sample(response="Never.", metadata={"a": 1})),
])  # fmt: skip
def test_shapes_of_a_sample(value: Any, expected: Sample) -> None:
    assert as_sample(value) == expected


@pytest.mark.parametrize(("inputs", "outputs", "reference", "expected"), [
    (
        *({"question": "When?"}, {"answer": "At nine."}, {"answer": "At 9."}),
        PLAIN.model_copy(update={"reference": "At 9."}),
    ),
    # An only entry needs no known name.
    (
        *({"q": "When?"}, {"o": "At nine."}, {"gold": "At 9."}),
        PLAIN.model_copy(update={"reference": "At 9."}),
    ),
    ("When?", "At nine.", "At 9.", PLAIN.model_copy(update={"reference": "At 9."})),
    # Contexts may come with the reference.
    ("When?", "At nine.", {"contexts": ["It opens at nine."]}, EXPECTED),
    (
        *("When?", "At nine.", {"reference": "At 9.", "contexts": ["It opens at nine."]}),
        EXPECTED.model_copy(update={"reference": "At 9."}),
    ),
    # Messages among the inputs ask and do not answer.
    (ASKED, {"answer": "Never."}, None, LATER),
    (
        *(ASKED, {"a": "Never.", "b": 1}, None),
        Sample(input="And on Sundays?", contexts=("It opens at nine.",)),
    ),
    (ASKED, {"messages": [AIMessage("Never.")]}, None, LATER),
    (ASKED, {"messages": [*ASKED["messages"], AIMessage("Never.")]}, None, LATER),
    ({"messages": SAID[:1]}, SAID, None, PLAIN),
    # What is named wins over what the messages say.
    (
        {**ASKED, "question": "Sundays?", "context": ["It is closed."]},
        {"answer": "Never."},
        {"contexts": ["Unused."]},
        Sample(input="Sundays?", response="Never.", contexts=("It is closed.",)),
    ),
    (
        *({"messages": TALK[:3]}, "Never.", {"contexts": ["It is closed."]}),
        Sample(input="When?", response="Never.", contexts=("It is closed.",)),
    ),
])  # fmt: skip
def test_runs_and_examples(
    inputs: Any, outputs: Any, reference: Any, expected: Sample
) -> None:
    run = {"inputs": inputs, "outputs": outputs, "reference_outputs": reference}
    assert as_sample(run) == expected


@pytest.mark.parametrize(("value", "named"), [
    (7, "int"), ([], "list"), ({"answer": 7}, "'answer'"), ({"answer": "x", "context": [7]}, "int"),
    ({"answer": "x", "messages": [7]}, "'messages', message 1: .*got 7"),
    ({"answer": "x", "messages": [{"said": "y"}]}, "'messages', message 1: "),
    ({"answer": "x", "context": [("Title", "Text")]}, "'context' .*got list"),
])  # fmt: skip
def test_values_that_cannot_be_read_are_named(value: Any, named: str) -> None:
    with pytest.raises(InvalidSampleError, match=named):
        as_sample(value)
