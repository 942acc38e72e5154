"""Lists as Python, numpy and JSON print them, read back to the list or refused by name."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import Sample
from tcva_adapters.compare.existing.records import passages_of
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.samples import as_sample
from tcva_adapters.ragas.samples import sample_of
from tcva_adapters.samples.passages import read_contexts

PIECES = st.sampled_from([*"'\"\\ ,[](){}\n\t\r", "...", "a", "\u00e9", "\u6f22", "\x07", "\u2028"])
TEXTS = st.lists(PIECES, max_size=8).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"])
)


@given(st.lists(TEXTS, max_size=5))
def test_every_way_of_printing_comes_back(passages: list[str]) -> None:
    array = np.array(passages, dtype=object)
    printed = [
        str(passages),
        str(tuple(passages)),
        str(array),
        repr(array),
        json.dumps(passages),
        json.dumps(passages, ensure_ascii=False, indent=1),
    ]
    if not any("\0" in passage for passage in passages):  # numpy's own texts lose them at the end
        printed += [str([np.str_(passage) for passage in passages]), str(np.array(passages, str))]
    for text in printed:
        assert read_contexts("contexts", text) == tuple(passages), text


@pytest.mark.parametrize(
    "text",
    [
        "[1] The museum opens at nine.",
        "[1] The museum opens at nine [2]",
        "[sic] One.",
        '["Hello" he said] and left',
        "['Twas brillig, and the slithy toves",
        "('Quoted.')",
        "[1, 2]",
        '{"price": 3}',
        '[{"title": "A pen", "price": 3}]',
        "[Smith (2004)] says so [x]",
        "[[wiki link]] and [more]",
        "It's [open].",
    ],
)
def test_what_only_begins_like_a_list_is_one_passage(text: str) -> None:
    assert read_contexts("contexts", text) == (text,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("['a' 'b' ... 'y' 'z']", "shortened with '...'"),
        ("['a', 'b", "its end is cut off"),
        ("['a',", "its end is cut off"),
        ("['It's open']", "its quotes or commas"),
        ("['a', 'b' 'c']", "its quotes or commas"),
        ("['a''b']", "its quotes or commas"),
        ("['a', None]", "its quotes or commas"),
        ("[None, 'a']", "its quotes or commas"),
        ("[nan]", "its quotes or commas"),
        ('["a", 3]', "its quotes or commas"),
        ('[["a"], ["b"]]', "its quotes or commas"),
        ("[Document(page_content='a')]", "its quotes or commas"),
        ("[array(['a'], dtype=object)]", "its quotes or commas"),
        ("[b'a']", "its quotes or commas"),
    ],
)
def test_what_cannot_be_told_is_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(
        InvalidSampleError, match="field 'docs' looks like a printed list"
    ) as caught:
        read_contexts("docs", text)
    assert why in str(caught.value)
    assert "save it as a JSON list of texts" in str(caught.value)
    assert passages_of(text) is None  # an import has other columns to go by


def test_documents_are_read_by_their_text() -> None:
    for text in ("[{'page_content': 'a', 'metadata': {'n': None}}]", '[{"text": "a"}]'):
        assert read_contexts("contexts", text) == ("a",)
    for text in ("{'page_content': 'a', 'metadata': {}}", '{"text": "a"}'):
        assert read_contexts("contexts", text) == ("a",)
    assert read_contexts("contexts", "{'rows': 3}") == ("{'rows': 3}",)
    node = {"node": {"text_resource": {"text": "a"}}, "score": 0.5}
    document = {"lc": 1, "type": "constructor", "kwargs": {"page_content": "b"}}
    assert read_contexts("contexts", [node, document]) == ("a", "b")


@pytest.mark.parametrize("text", ["One passage.", "[1] One passage.", "It's 'one'."])
def test_one_text_is_one_passage_everywhere(text: str) -> None:
    record: dict[str, Any] = {"response": "a", "contexts": text}
    read = [
        Sample(**record).contexts,
        Sample.from_record(record).contexts,
        sample_of({"retrieved_contexts": text}).contexts,
        as_sample(record).contexts,
        passages_of(text),
    ]
    assert read == [(text,)] * 5


N = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "[" * N,
        "['" * (N // 2),
        "['" + "a" * N + "']",
        "['" + "\\" * N + "']",
        "['" + "\\'" * (N // 2) + "']",
        str(["\n"] * (N // 6)),
        str(["\n"] * (N // 6)).replace(",", ""),
        "['a'" + " " * N + "x]",
        "[" + "'a" * (N // 2) + "]",
        "[{'a': " + "-" * N + "1}]",
        "[{'a': " + "{1:" * (N // 3) + "]",
        str([{"page_content": "a"}] * (N // 22)),
        "array(" * (N // 6),
        "[np.str_(" * (N // 9),
        "(" * N,
        "deepeval_source=" * (N // 16),
    ],
    ids=lambda text: text[:12],
)
def test_a_megabyte_is_read_or_refused_at_once(text: str) -> None:
    begin = time.process_time()
    for read in (lambda: read_contexts("contexts", text), lambda: sample_from_outputs(text)):
        with suppress(InvalidSampleError):
            read()
    assert time.process_time() - begin < 2.0


def sample_from_outputs(text: str) -> Sample:
    return Sample.from_record({"response": "a", "messages": text, "outputs": text})
