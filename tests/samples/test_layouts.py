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
WHOLE = ("Q?", "A.", tuple(CONTEXTS), "R.")


def read(*records: dict[str, Any], **options: Any) -> SampleFile:
    return read_samples(io.StringIO("".join(json.dumps(r) + "\n" for r in records)), **options)


def test_the_same_sample() -> None:
    question, reference = {"question": "Q?"}, {"answer": "R."}
    answer = {"answer": "A.", "contexts": CONTEXTS}
    documents = [{"page_content": each} for each in CONTEXTS]
    plain = {"contexts": CONTEXTS, "reference": "R."}
    asked, said = {"role": "user", "content": "Q?"}, {"role": "assistant", "content": "A."}
    records: list[dict[str, Any]] = [
        {"inputs": question, "outputs": answer, "reference_outputs": reference},
        {
            "inputs": {"inputs": question, "config": {}},
            "outputs": {"output": "A.", "documents": documents},
            "reference_outputs": reference,
        },
        {
            "inputs": json.dumps(question),
            "outputs": str(answer),
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
        {"input": "Q?", "actualOutput": "A.", "retrievalContext": CONTEXTS, "expectedOutput": "R."},
        plain | {"messages": [["user", "Q?"], said], "score": math.nan},
        plain | {"prompt": [asked], "completion": [said]},
        {"prompt": "Q?", "answer": "A.", "contexts": documents, "ground_truths": "['R.']"},
    ]
    for record in records:
        found = Sample.from_record(record)
        assert (found.input, found.response, found.contexts, found.reference) == WHOLE, record


def test_the_outputs_of_an_example_are_the_reference_as_in_langsmith() -> None:
    example = {"dataset_id": "d", "inputs": {"question": "Q?"}, "outputs": {"answer": "A."}}
    assert Sample.from_record(example).reference == "A."
    assert Sample.from_record(example).response is None
    assert Sample.from_record({**example, "run_type": "chain"}).response == "A."
    mapped = read(example, mapping={"outputs.answer": "response"}).samples[0]
    assert (mapped.response, mapped.reference) == ("A.", None)


def test_what_is_no_field() -> None:
    text = io.StringIO("name,uid,answer\n,u,A.\n,,B.\n,,C.\n")
    found = read_samples(text, format="csv")
    assert [sample.id for sample in found.samples] == ["u", None, None]
    assert found.repeated == ()
    several = Sample.from_record({"inputs": {"question": "Q?"}, "outputs": {"a": "A.", "b": "B."}})
    assert several == Sample(input="Q?", metadata={"outputs.a": "A.", "outputs.b": "B."})


TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "First?"},
    {"role": "assistant", "content": "First."},
    {"role": "user", "content": [{"type": "text", "text": "Second?"}, {"type": "image_url"}]},
    {"role": "assistant", "content": "", "tool_calls": []},
    {"role": "tool", "content": "Found.", "tool_call_id": "1"},
    {"role": "assistant", "content": "Second."},
]


def test_conversations() -> None:
    found = Sample.from_record({"messages": TALK})
    assert found == Sample(input="Second?", response="Second.", contexts=["Found."])
    assert found == as_sample({"messages": TALK})
    found = Sample.from_record({"inputs": {"messages": TALK[:4]}, "outputs": {"messages": TALK}})
    assert found == Sample(input="Second?", response="Second.", contexts=["Found."])
    found = Sample.from_record({"messages": TALK[:-1], "answer": "Mine.", "contexts": ["Own."]})
    assert found == Sample(input="Second?", response="Mine.", contexts=["Own."])
    full = {"input": "Q?", "response": "A.", "contexts": ["C."], "messages": [{"x": 1}]}
    assert Sample.from_record(full).metadata == {"messages": [{"x": 1}]}
    with pytest.raises(UnreadableInputError, match=r"line 1: .*message 2: .*is no message with a"):
        read({"messages": [{"role": "user", "content": "Q?"}, {"role": "alien"}]})


def test_tool_results_of_other_interfaces() -> None:
    asked = {"role": "user", "content": "Q?"}
    answered = {"role": "assistant", "content": [{"type": "output_text", "text": "A."}]}
    returned = {"type": "tool_result", "content": [{"text": "C."}]}
    anthropic = [asked, {"role": "user", "content": [returned]}, answered]
    responses = [
        *(asked, {"type": "function_call", "name": "f", "arguments": "{}"}),
        *({"type": "function_call_output", "output": "C."}, {"type": "message", **answered}),
    ]
    llamaindex = [
        {"role": role, "blocks": [{"block_type": "text", "text": text}]}
        for role, text in (("user", "Q?"), ("tool", "C."), ("assistant", "A."))
    ]
    wanted = Sample(input="Q?", response="A.", contexts=["C."])
    for talk in (anthropic, responses, llamaindex):
        assert Sample.from_record({"messages": talk}) == wanted


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
    text = io.StringIO("a.b,a.b.c\nno,yes\n")  # a column with dots in its name is a column
    dotted = read_samples(text, format="csv", mapping={"a.b.c": "response"})
    assert dotted.samples == [Sample(response="yes", metadata={"a.b": "no"})]


def test_a_path_that_leads_nowhere_names_the_fields_there_are() -> None:
    record = {"answer": "A.", "choices": [{"text": "B."}], "outputs": {"a": 1}}
    for path in ["choices.1.text", "choices.x", "choices.0.text.y", "outputs.b"]:
        known = f"no column '{path}'; columns are 'answer', 'choices', 'outputs.a'"
        with pytest.raises(UnreadableInputError, match=known):
            read(record, mapping={path: "response"})
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
    found = read_samples(io.StringIO('answer,"a;b;c"\nA.,x;y\n'), format="csv")
    assert found.samples == [Sample(response="A.", metadata={"a;b;c": "x;y"})]


def test_which_list_of_a_json_object_holds_the_records() -> None:
    cases: list[tuple[Any, int]] = [
        ({"question": "Q?", "answer": "A.", "results": [{"answer": "B."}]}, 1),
        ({"prompt": "Judge!", "results": [{"answer": "B."}, {"answer": "C."}]}, 2),
        ({"inputs": {"0": "Q?"}, "outputs": {"0": "A."}}, 1),
    ]
    for content, number in cases:
        found = read_samples(io.StringIO(json.dumps(content)), format="json")
        assert len(found.samples) == number


# --- samples by hand ---------------------------------------------------------------------------


def test_what_does_not_fit_is_said_in_our_words() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"context": ["C."]}, "context: there is no such field; a Sample has input, response, "),
        ({"response": 3}, "response: it should be a valid string, not 3"),
        ({"response": ["x" * 100]}, "response: it should be a valid string, not ['xxx"),
        ({"contexts": ["a", None]}, "contexts.1: it should be a valid string, not None"),
        ({"contexts": 3}, "contexts: it should be a valid tuple, not 3"),
        ({"metadata": []}, "metadata: it should be a valid dictionary, not []"),
    ]
    for fields, message in cases:
        with pytest.raises(InvalidSampleError) as caught:
            Sample(**fields)
        assert str(caught.value).startswith(message)
        assert "pydantic" not in str(caught.value)
        assert len(str(caught.value)) < 200
    sample = Sample(response="A.")
    with pytest.raises(ValueError, match="frozen"):
        sample.response = "B."
