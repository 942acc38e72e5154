"""Records as LangSmith, chat logs, tables and the frameworks lay them out."""

import io
import json
import math
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import Assessment, Result, Sample
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.samples.contexts import read_contexts
from tcva_adapters.samples.reader import SampleFile, read_samples

CONTEXTS = ["One.", "It's two."]
WHOLE = ("Q?", "A.", tuple(CONTEXTS), "R.")
PIECES = st.sampled_from(
    [*"'\"\\ ,[](){}\n\t\r", "...", "a", "\u00e9", "\u6f22", "\x07", "\u2028"]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join) | st.text(
    st.characters(codec="utf-8")
)


def read(*records: dict[str, Any], **options: Any) -> SampleFile:
    return read_samples(
        io.StringIO("".join(json.dumps(r) + "\n" for r in records)), **options
    )


# --- records --------------------------------------------------------------------------------


def test_the_same_sample() -> None:
    question, reference = {"question": "Q?"}, {"answer": "R."}
    answer = {"answer": "A.", "contexts": CONTEXTS}
    documents = [{"page_content": each} for each in CONTEXTS]
    plain = {"contexts": CONTEXTS, "reference": "R."}
    asked, said = (
        {"role": "user", "content": "Q?"},
        {"role": "assistant", "content": "A."},
    )
    traced = {"inputs": {"inputs": question, "config": {}}}
    records: list[dict[str, Any]] = [
        {"inputs": question, "outputs": answer, "reference_outputs": reference},
        traced
        | {"outputs": {"output": "A.", "documents": documents}, "reference": reference},
        {
            "inputs": json.dumps(question),
            "outputs": str(answer),
            "reference_outputs": "R.",
        },
        plain | {"inputs.question": "Q?", "outputs.answer": "A.", "metric": math.nan},
        {
            "input": "Q?",
            "actualOutput": "A.",
            "retrievalContext": CONTEXTS,
            "expectedOutput": "R.",
        },
        plain | {"input": "Q?", "output": {"content": "A.", "type": "ai"}},
        plain | {"messages": [["user", "Q?"], said]},
        plain | {"prompt": [asked], "completion": [said]},
    ]
    for record in records:
        found = Sample.from_record(record)
        assert (
            found.input,
            found.response,
            found.contexts,
            found.reference,
        ) == WHOLE, record


def test_what_is_no_field() -> None:
    text = io.StringIO("name,uid,answer\n,u,A.\n,,B.\n,,C.\n")
    found = read_samples(text, format="csv")
    assert ([sample.id for sample in found.samples], found.repeated) == (
        ["u", None, None],
        (),
    )
    several = Sample.from_record(
        {"inputs": {"question": "Q?"}, "outputs": {"a": "A.", "b": "B."}}
    )
    assert several == Sample(
        input="Q?", metadata={"outputs.a": "A.", "outputs.b": "B."}
    )
    other = {
        "expected": True,
        "tcva": Result(Assessment.from_verdicts(["fully"])).to_dict(),
    }
    assert Sample.from_record({"answer": "A.", **other}).metadata == {"expected": True}


def test_columns_are_renamed_and_nothing_is_lost() -> None:
    deep = {"deep": {"er": {"docs": "['C.']"}}}
    swapped = {"response": "reference", "reference": "response"}
    cases: list[tuple[dict[str, Any], dict[str, str], Sample]] = [
        (
            {"response": "a", "reference": "b"},
            swapped,
            Sample(reference="a", response="b"),
        ),
        ({"outputs": {"a": "A."}}, {"outputs.a": "answer"}, Sample(response="A.")),
        ({"outputs": {"a": "A."}}, {"outputs.a": "reference"}, Sample(reference="A.")),
        (
            {"reference": "a", "expected": "b"},
            {"reference": "answer"},
            Sample(response="a", reference="b"),
        ),
        (deep, {"deep.er.docs": "contexts"}, Sample(contexts=["C."], metadata=deep)),
    ]
    old = {"response": "old"}
    cases.append(
        (
            old | {"a.b": "new"},
            {"a.b": "response"},
            Sample(response="new", metadata=old),
        )
    )
    for record, mapping, wanted in cases:
        assert read(record, mapping=mapping).samples == [wanted]


def test_a_mapping_that_does_not_fit_is_refused() -> None:
    record = {"answer": "A.", "outputs": {"a": 1}, "deep": {"a": 3}}
    for mapping in ({"a": "colour"}, {"a": "response", "b": "answer"}):
        with pytest.raises(InvalidValueError, match="mapped to"):
            read(record, mapping=mapping)
    for path in ["anwser", "outputs.b", "deep.b", "deep.a.b"]:
        known = f"'{path}'; the fields are 'answer', 'outputs.a', 'deep'"
        with pytest.raises(UnreadableInputError, match=known):
            read(record, mapping={path: "response"})
    with pytest.raises(UnreadableInputError, match=r"'deep\.a'"):
        read(record, mapping={"deep.a": "response"})


def test_what_does_not_fit_is_said_in_our_words() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"context": ["C."]}, "context is not a known field"),
        ({"response": ["x" * 100]}, "response must be a string, got ['xxx"),
        ({"contexts": ["a", None]}, "contexts.1 must be a string, got None"),
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


# --- messages -------------------------------------------------------------------------------

TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "First?"},
    {"role": "assistant", "content": "First."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Second?"}, {"type": "image_url"}],
    },
    {"role": "assistant", "content": "", "tool_calls": []},
    {"role": "tool", "content": "Found.", "tool_call_id": "1"},
    {"role": "assistant", "content": "Second."},
]


def test_conversations() -> None:
    found = Sample.from_record({"messages": TALK})
    assert found == Sample(input="Second?", response="Second.", contexts=["Found."])
    found = Sample.from_record(
        {"inputs": {"messages": TALK[:4]}, "outputs": {"messages": TALK}}
    )
    assert found == Sample(input="Second?", response="Second.", contexts=["Found."])
    found = Sample.from_record(
        {"messages": TALK[:-1], "answer": "Mine.", "contexts": ["Own."]}
    )
    assert found == Sample(input="Second?", response="Mine.", contexts=["Own."])
    full = {"input": "Q?", "response": "A.", "contexts": ["C."], "messages": [{"x": 1}]}
    assert Sample.from_record(full).metadata == {"messages": [{"x": 1}]}
    with pytest.raises(UnreadableInputError, match=r"line 1: .*message 2: "):
        read({"messages": [{"role": "user", "content": "Q?"}, {"role": "alien"}]})


def test_tool_results_of_other_interfaces() -> None:
    asked = {"role": "user", "content": "Q?"}
    answered = {"role": "assistant", "content": [{"type": "output_text", "text": "A."}]}
    returned = {"type": "tool_result", "content": [{"text": "C."}]}
    anthropic = [asked, {"role": "user", "content": [returned]}, answered]
    responses = [
        *(asked, {"type": "function_call", "name": "f", "arguments": "{}"}),
        *(
            {"type": "function_call_output", "output": "C."},
            {"type": "message", **answered},
        ),
    ]
    llamaindex = [
        {"role": role, "blocks": [{"block_type": "text", "text": text}]}
        for role, text in (("user", "Q?"), ("tool", "C."), ("assistant", "A."))
    ]
    wanted = Sample(input="Q?", response="A.", contexts=["C."])
    for talk in (anthropic, responses, llamaindex):
        assert Sample.from_record({"messages": talk}) == wanted


# --- contexts -------------------------------------------------------------------------------


@given(st.lists(TEXTS, max_size=5))
def test_what_json_and_python_print_comes_back_and_arrays_never_wrong(
    passages: list[str],
) -> None:
    printed = [str(passages), str(tuple(passages)), json.dumps(passages, indent=1)]
    for text in printed:
        assert read_contexts("contexts", text) == tuple(passages), text
    array = np.array(passages, dtype=object)
    for text in (str(array), repr(array), str([np.str_(each) for each in passages])):
        with suppress(InvalidSampleError):
            assert read_contexts("contexts", text) == tuple(passages), text


ONE_PASSAGE = [
    *(
        "[1] The museum opens at nine [2]",
        '["Hello" he said] and left',
        "('Quoted.')",
        "[1, 2]",
    ),
    *(
        "['Twas brillig, and the slithy toves",
        '[{"title": "A pen", "price": 3}]',
        "{'rows': 3}",
    ),
    *("[Smith (2004)] says so [x]", "[[wiki link]] and [more]"),
    *("['a', 'b'] is a list in Python.", '["a", "b"] is how JSON writes it (RFC 8259)'),
]
REFUSED = [
    *(
        "['a' 'b' ... 'y' 'z']",
        "['a', 'b', ...]",
        "['a', 'b",
        "['a',",
        "['It's open']",
        "['a''b']",
    ),
    *(
        "['a'\n 'b']",
        "array(['a', 'b'], dtype=object)",
        "[None, 'a']",
        "[nan]",
        '["a", 3]',
    ),
    *('[["a"], ["b"]]', "[Document(page_content='a')]", "[np.str_('a')]", "[b'a']"),
]


def test_what_is_no_list_is_one_passage_and_what_cannot_be_told_is_refused() -> None:
    for text in ONE_PASSAGE:
        assert read_contexts("contexts", text) == (text,)
    for text in REFUSED:
        with pytest.raises(InvalidSampleError, match="'docs' "):
            read_contexts("docs", text)


def test_documents_are_read_by_their_text() -> None:
    for text in ("[{'page_content': 'a', 'metadata': {'n': None}}]", '{"text": "a"}'):
        assert read_contexts("contexts", text) == ("a",)
    node = {"node": {"text_resource": {"text": "a"}}, "score": 0.5}
    document = {"lc": 1, "type": "constructor", "kwargs": {"page_content": "b"}}
    assert read_contexts("contexts", [node, document]) == ("a", "b")


@pytest.mark.slow
def test_a_megabyte_is_read_or_refused_at_once() -> None:
    size = 499_990
    for text in [
        "[" * size,
        "['" * (size // 2),
        str(["\n"] * (size // 6)).replace(",", ""),
        "[{'a': " + "-" * size + "1}]",
        "[{'a': " + "{1:" * (size // 3) + "]",
        str([{"page_content": "a"}] * (size // 23)),
        "(" * size,
    ]:
        begin = time.process_time()
        with suppress(InvalidSampleError):
            Sample.from_record({"response": "a", "messages": text, "contexts": text})
        assert time.process_time() - begin < 2.0, text[:20]


@pytest.mark.parametrize("record", [["a"], "answer", None])
def test_a_record_that_is_no_mapping_is_refused(record: Any) -> None:
    with pytest.raises(InvalidSampleError, match=f"got {type(record).__name__}"):
        Sample.from_record(record)
