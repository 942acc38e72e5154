"""Lists as Python and JSON print them, read back to the list; what is not certain, refused by name."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcva_adapters import Sample
from tcva_adapters.compare.existing.records import passages_of
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.samples import as_sample
from tcva_adapters.samples.passages import read_contexts

PIECES = st.sampled_from([*"'\"\\ ,[](){}\n\t\r", "...", "a", "\u00e9", "\u6f22", "\x07", "\u2028"])
TEXTS = st.lists(PIECES, max_size=8).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"])
)


@settings(max_examples=50)
@given(st.lists(TEXTS, max_size=5))
def test_what_json_and_python_print_comes_back_and_arrays_never_wrong(passages: list[str]) -> None:
    printed = [
        str(passages),
        str(tuple(passages)),
        json.dumps(passages),
        json.dumps(passages, ensure_ascii=False, indent=1),
    ]
    for text in printed:
        assert read_contexts("contexts", text) == tuple(passages), text
    array = np.array(passages, dtype=object)
    for text in (str(array), repr(array), str([np.str_(each) for each in passages])):
        with suppress(InvalidSampleError):
            assert read_contexts("contexts", text) == tuple(passages), text


def test_what_only_begins_like_a_list_is_one_passage() -> None:
    for text in [
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
    ]:
        assert read_contexts("contexts", text) == (text,)


def test_what_cannot_be_told_is_refused_by_name() -> None:
    for text in [
        "['a' 'b' ... 'y' 'z']",
        "['a', 'b', ...]",
        "['a', 'b",
        "['a',",
        "['It's open']",
        "['a' 'b']",
        "['a'\n 'b']",
        "array(['a', 'b'], dtype=object)",
        "['a', 'b' 'c']",
        "['a''b']",
        "['a', None]",
        "[None, 'a']",
        "[nan]",
        '["a", 3]',
        '[["a"], ["b"]]',
        "[Document(page_content='a')]",
        "[array(['a'], dtype=object)]",
        "[np.str_('a')]",
        "[b'a']",
    ]:
        with pytest.raises(InvalidSampleError, match="field 'docs' looks like a printed") as caught:
            read_contexts("docs", text)
        assert ("shortened with '...'" in str(caught.value)) == ("..." in text)
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


def test_one_text_is_one_passage_everywhere() -> None:
    for text in ["One passage.", "[1] One passage.", "It's 'one'."]:
        record: dict[str, Any] = {"response": "a", "contexts": text}
        read = [
            Sample(**record).contexts,
            Sample.from_record(record).contexts,
            as_sample(record).contexts,
            passages_of(text),
        ]
        assert read == [(text,)] * 4


@pytest.mark.slow
def test_a_megabyte_is_read_or_refused_at_once() -> None:
    size = 499_990
    for text in [
        "[" * size,
        "['" * (size // 2),
        "['" + "a" * size + "']",
        "['" + "\\'" * (size // 2) + "']",
        str(["\n"] * (size // 6)),
        str(["\n"] * (size // 6)).replace(",", ""),
        "['a'" + " " * size + "x]",
        "[" + "'a" * (size // 2) + "]",
        "[{'a': " + "-" * size + "1}]",
        "[{'a': " + "{1:" * (size // 3) + "]",
        str([{"page_content": "a"}] * (size // 23)),
        "array(" * (size // 6),
        "[np.str_(" * (size // 9),
        "(" * size,
        "deepeval_source=" * (size // 16),
    ]:
        begin = time.process_time()
        with suppress(InvalidSampleError):
            Sample.from_record({"response": "a", "messages": text, "contexts": text})
        with suppress(InvalidSampleError):
            read_contexts("contexts", text + text)  # longer than what Python's parser is given
        assert time.process_time() - begin < 2.0, text[:20]
