"""Records as LangSmith, chat logs and tables lay them out."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import Sample
from tcva_adapters.errors import InvalidSampleError, UnreadableInputError
from tcva_adapters.langchain.samples import as_sample
from tcva_adapters.samples.files import SampleFile, read_samples

CONTEXTS = ["One.", "It's two."]
WHOLE = Sample(input="Q?", response="A.", contexts=CONTEXTS, reference="R.")


def read(*records: dict[str, Any], **options: Any) -> SampleFile:
    return read_samples(io.StringIO("".join(json.dumps(r) + "\n" for r in records)), **options)


@pytest.mark.parametrize(
    "record",
    [
        {
            "inputs": {"question": "Q?"},
            "outputs": {"answer": "A.", "contexts": CONTEXTS},
            "reference_outputs": {"answer": "R."},
        },
        {
            "inputs": {"inputs": {"question": "Q?"}, "config": {}},
            "outputs": {"output": "A.", "documents": [{"page_content": c} for c in CONTEXTS]},
            "reference_outputs": {"answer": "R."},
        },
        {
            "inputs": '{"question": "Q?"}',
            "outputs": str({"answer": "A.", "contexts": CONTEXTS}),
            "reference_outputs": '{"reference": "R."}',
        },
        {
            "inputs.question": "Q?",
            "outputs.answer": "A.",
            "outputs.contexts": str(CONTEXTS),
            "reference.answer": "R.",
        },
        {
            "inputs": {"anything": "Q?"},
            "contexts": CONTEXTS,
            "output": {"content": "A.", "type": "ai"},
            "reference_outputs": "R.",
        },
        {"inputs": "Q?", "outputs": "A.", "reference_outputs": "R.", "context": CONTEXTS},
        {
            "input": "Q?",
            "actualOutput": "A.",
            "retrievalContext": CONTEXTS,
            "expectedOutput": "R.",
        },
        {
            "messages": [["user", "Q?"], {"role": "assistant", "content": "A."}],
            "contexts": CONTEXTS,
            "reference": "R.",
            "score": math.nan,
        },
        {
            "prompt": [{"role": "user", "content": "Q?"}],
            "completion": [{"role": "assistant", "content": "A."}],
            "contexts": CONTEXTS,
            "ground_truths": "['R.']",
        },
    ],
)
def test_the_same_sample(record: dict[str, Any]) -> None:
    found = Sample.from_record(record)
    fields = {"input", "response", "contexts", "reference"}
    assert found.model_dump(include=fields) == WHOLE.model_dump(include=fields)


def test_the_outputs_of_an_example_are_the_reference_as_in_langsmith() -> None:
    example = {"dataset_id": "d", "inputs": {"question": "Q?"}, "outputs": {"answer": "A."}}
    assert Sample.from_record(example).reference == "A."
    assert Sample.from_record(example).response is None
    run = {**example, "run_type": "chain"}
    assert Sample.from_record(run).response == "A."
    mapped = read(example, mapping={"outputs.answer": "response"}).samples[0]
    assert (mapped.response, mapped.reference) == ("A.", None)


def test_an_empty_cell_is_no_id() -> None:
    text = io.StringIO("name,uid,answer\n,u,A.\n,,B.\n,,C.\n")
    found = read_samples(text, format="csv")
    assert [sample.id for sample in found.samples] == ["u", None, None]
    assert found.repeated == ()


def test_what_cannot_be_told_apart_is_no_field() -> None:
    found = Sample.from_record({"inputs": {"question": "Q?"}, "outputs": {"a": "A.", "b": "B."}})
    assert (found.response, found.metadata) == (None, {"outputs.a": "A.", "outputs.b": "B."})


TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "First?"},
    {"role": "assistant", "content": "First."},
    {"role": "user", "content": [{"type": "text", "text": "Second?"}, {"type": "image_url"}]},
    {"role": "assistant", "content": "", "tool_calls": []},
    {"role": "tool", "content": "Found.", "tool_call_id": "1"},
    {"role": "assistant", "content": "Second."},
]


def test_a_conversation_is_read_as_the_langchain_adapter_reads_it() -> None:
    found = Sample.from_record({"messages": TALK})
    assert found == Sample(input="Second?", response="Second.", contexts=["Found."])
    assert found == as_sample({"messages": TALK})


def test_what_is_named_wins_over_messages() -> None:
    found = Sample.from_record({"messages": TALK[:-1], "answer": "Mine.", "contexts": ["Own."]})
    assert found == Sample(input="Second?", response="Mine.", contexts=["Own."])
    full = {"input": "Q?", "response": "A.", "contexts": ["C."], "messages": [{"x": 1}]}
    assert Sample.from_record(full).metadata == {"messages": [{"x": 1}]}


def test_tool_results_of_other_interfaces() -> None:
    anthropic = [
        {"role": "user", "content": "Q?"},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"text": "C."}]}]},
        {"role": "assistant", "content": [{"type": "text", "text": "A."}]},
    ]
    responses = [
        {"role": "user", "content": "Q?"},
        {"type": "function_call", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "output": "C."},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "A."}],
        },
    ]
    llamaindex = [
        {"role": "user", "blocks": [{"block_type": "text", "text": "Q?"}]},
        {"role": "tool", "blocks": [{"block_type": "text", "text": "C."}]},
        {"role": "assistant", "blocks": [{"block_type": "text", "text": "A."}]},
    ]
    for talk in (anthropic, responses, llamaindex):
        assert Sample.from_record({"messages": talk}) == Sample(
            input="Q?", response="A.", contexts=["C."]
        )


def test_what_is_no_message_is_named() -> None:
    with pytest.raises(UnreadableInputError, match=r"line 1: .*message 2: .*is no message with a"):
        read({"messages": [{"role": "user", "content": "Q?"}, {"role": "alien"}]})


# --- --map -----------------------------------------------------------------------------------


def test_a_path_leads_into_objects_lists_and_texts_of_them() -> None:
    records: list[dict[str, Any]] = [
        {"choices": [{"text": "A."}], "deep": {"er": {"docs": "['C.']"}}},
        {"choices": '[{"text": "B."}]', "deep": "{'er': {'docs': ['C.']}}"},
    ]
    mapping = {"choices.0.text": "response", "deep.er.docs": "contexts"}
    found = read(*records, mapping=mapping).samples
    assert [(s.response, s.contexts) for s in found] == [("A.", ("C.",)), ("B.", ("C.",))]
    assert found[0].metadata == records[0]  # nothing is lost


def test_a_column_with_dots_in_its_name_is_a_column() -> None:
    text = "a.b,a.b.c\nno,yes\n"
    found = read_samples(io.StringIO(text), format="csv", mapping={"a.b.c": "response"})
    assert found.samples == [Sample(response="yes", metadata={"a.b": "no"})]


def test_a_path_that_leads_nowhere_names_the_fields_there_are() -> None:
    record = {"answer": "A.", "choices": [{"text": "B."}], "outputs": {"a": 1}}
    for path in ["choices.1.text", "choices.x", "choices.0.text.y", "outputs.b"]:
        with pytest.raises(UnreadableInputError) as caught:
            read(record, mapping={path: "response"})
        assert f"no column '{path}'; columns are 'answer', 'choices', 'outputs.a'" in str(
            caught.value
        )


def test_a_mapped_value_that_is_no_text_is_named_by_its_own_column() -> None:
    with pytest.raises(UnreadableInputError, match=r"column 'a\.b': field 'response' must be"):
        read({"a": {"b": 3}}, mapping={"a.b": "response"})


# --- odd files -------------------------------------------------------------------------------


def test_csv_of_spreadsheets_and_of_pandas(tmp_path: Path) -> None:
    for text in [
        "question;answer\nQ?;A.\n",
        '"question";"answer"\r\n"Q?";"A."\r\n',
        "sep=;\r\nquestion;answer\r\nQ?;A.\r\n",
        "question\tanswer\nQ?\tA.\n",
        "\ufeffquestion,answer,\nQ?,A.,\n",
        "question,answer\nQ?,A.,,\n",
        "Unnamed: 0,question,answer\n0,Q?,A.\n",
        '\n"question","answer"\n"Q?","A."\n',
    ]:
        path = tmp_path / ("a.tsv" if "\t" in text else "a.csv")
        path.write_bytes(text.encode())
        assert read_samples(path).samples == [Sample(input="Q?", response="A.")], text


def test_a_separator_inside_quotes_parts_nothing() -> None:
    found = read_samples(io.StringIO('answer,"a;b;c"\nA.,x;y\n'), format="csv")
    assert found.samples == [Sample(response="A.", metadata={"a;b;c": "x;y"})]


def test_which_list_of_a_json_object_holds_the_records() -> None:
    cases: list[tuple[Any, int]] = [
        ({"question": "Q?", "answer": "A.", "results": [{"answer": "B."}]}, 1),
        ({"prompt": "Judge!", "results": [{"answer": "B."}, {"answer": "C."}]}, 2),
        ({"faithfulness": [{"query": "Q?", "response": "A."}]}, 1),
        ({"inputs": {"0": "Q?"}, "outputs": {"0": "A."}}, 1),
        ({"columns": ["question", "answer"], "index": [0], "data": [["Q?", "A."]]}, 1),
    ]
    for content, number in cases:
        found = read_samples(io.StringIO(json.dumps(content)), format="json")
        assert len(found.samples) == number


# --- samples by hand ---------------------------------------------------------------------------


def test_what_does_not_fit_is_said_in_our_words() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"context": ["C."]}, "context: there is no such field; a Sample has input, response, "),
        ({"response": 3}, "response: it is a text, not 3"),
        ({"response": ["x" * 100]}, "response: it is a text, not ['xxx"),
        ({"contexts": ["a", None]}, "contexts.1: it is a text, not None"),
        ({"contexts": 3}, "contexts: it is a list, not 3"),
        ({"metadata": []}, "metadata: it is an object of names and values, not []"),
    ]
    for fields, message in cases:
        with pytest.raises(InvalidSampleError) as caught:
            Sample(**fields)
        assert str(caught.value).startswith(message)
        assert "pydantic" not in str(caught.value)
        assert len(str(caught.value)) < 200


def test_a_sample_is_never_changed() -> None:
    sample = Sample(response="A.")
    with pytest.raises(ValueError, match="frozen"):
        sample.response = "B."
    with pytest.raises(ValueError, match="frozen"):
        del sample.response
    assert sample == Sample(response="A.")
