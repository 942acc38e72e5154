"""Lists in JSON item by item: the same values and the same errors as of the whole text."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.samples import records
from tcva_adapters.samples.files import read_samples, stream_samples
from tcva_adapters.samples.json_items import JSONItems

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def parts(text: str, sizes: random.Random) -> Iterator[str]:
    at = 0
    while at < len(text):
        size = sizes.choice([1, 2, 3, 7, 50])
        yield text[at : at + size]
        at += size


def outcome(text: str, sizes: random.Random) -> Any:
    items = JSONItems(parts(text, sizes))
    try:
        return list(items) if items.is_list else json.loads(items.whole())
    except json.JSONDecodeError as error:
        return error.msg, error.lineno, error.colno


@given(st.lists(values, max_size=6), st.sampled_from([None, 0, 2]), st.booleans(), st.randoms())
def test_any_parts_give_the_items_of_the_whole(
    content: list[Any], indent: int | None, escaped: bool, sizes: random.Random
) -> None:
    text = json.dumps(content, indent=indent, ensure_ascii=escaped)
    assert outcome(f" \n{text}\n ", sizes) == content


@given(st.lists(values, min_size=1, max_size=4), st.data(), st.randoms())
def test_what_is_broken_has_the_error_of_the_whole(
    content: list[Any], data: st.DataObject, sizes: random.Random
) -> None:
    text = json.dumps(content, indent=1)
    at = data.draw(st.integers(1, len(text)))
    wrong = data.draw(st.sampled_from(["", "}", "]", "x", ",", '"', "1", "\n", "tru"]))
    rest = text[at:] if data.draw(st.booleans()) else ""
    broken = text[:at] + wrong + rest
    try:
        wanted = json.loads(broken)
    except json.JSONDecodeError as error:
        wanted = error.msg, error.lineno, error.colno
    if "Illegal trailing comma" in str(wanted):  # of Python 3.13, which points at the comma
        wanted = "Expecting value", *outcome(broken, sizes)[1:]
    assert outcome(broken, sizes) == wanted


def test_a_list_is_read_as_far_as_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    rows = [{"answer": f"Room {n}."} for n in range(20_000)]
    path.write_text(json.dumps(rows)[:-1] + ", broken]", encoding="utf-8")
    stream = stream_samples(path)
    found = list(itertools.islice(stream, 19_000))
    assert (found[-1].response, stream.line) == ("Room 18999.", 19_000)
    with pytest.raises(UnreadableInputError, match=r"line 1: not JSON: Expecting value at column"):
        list(stream)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_characters_may_lie_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(records, "_BLOCK", size)
    path = tmp_path / "s.json"
    path.write_text('\ufeff[{"answer": "Grüße 漢字 😀"}]', encoding="utf-8")
    assert read_samples(path).samples[0].response == "Grüße 漢字 😀"
    path.write_bytes(b'[{"answer": "a\xc3"}]')
    with pytest.raises(UnreadableInputError, match="byte 0xc3 at offset 14 of the file"):
        read_samples(path)
    path.write_bytes(b'[{"answer": "a\xe6\xbc')
    with pytest.raises(UnreadableInputError, match="byte 0xe6 at offset 14 of the file"):
        read_samples(path)
