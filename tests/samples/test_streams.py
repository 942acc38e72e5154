"""Samples read one after the other: the same as a list, checked ahead, nothing held."""

from __future__ import annotations

import io
import itertools
import os
import sys
import threading
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcva_adapters.errors import InvalidSampleError, UnreadableInputError
from tcva_adapters.samples.files import read_samples, stream_samples
from tcva_adapters.samples.ids import DistinctIds
from tcva_adapters.samples.rows import KEPT
from tcva_adapters.samples.sample import Sample

GOOD = '{"question": "Who?", "answer": "Ada."}\n'


def sources(path: Path, text: str) -> tuple[Path, io.StringIO]:
    """A file, which can be read again, and a stream, which cannot."""
    path.write_text(text, encoding="utf-8")
    return path, io.StringIO(text, newline="")


def test_the_first_sample_is_there_before_the_second_row_is_read() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as end, os.fdopen(reader) as beginning:
        stream = stream_samples(beginning)
        end.write(GOOD)
        end.flush()
        assert next(stream).response == "Ada."
        assert (stream.line, stream.number) == (1, 1)
        end.write("\n" + GOOD)
        end.close()
        assert [stream.line for _ in stream] == [3]


def test_a_list_is_what_the_stream_gives(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    rows = [GOOD, "no json\n", '{"id": "a", "answer": "1"}\n', '{"id": "a", "answer": "2"}\n']
    path.write_text("".join(rows), encoding="utf-8")
    read, stream = read_samples(path, skip_bad=True), stream_samples(path, skip_bad=True)
    assert [(stream.line, sample) for sample in stream] == list(
        zip(read.lines, read.samples, strict=True)
    )
    assert (stream.bad, stream.skipped, stream.notes) == (read.bad, 1, read.notes)


def test_bad_rows_are_counted_and_the_first_ones_kept() -> None:
    stream = stream_samples(io.StringIO(GOOD + "bad\n" * 1000), skip_bad=True)
    assert len(list(stream)) == 1
    assert ([line for line, _ in stream.bad], stream.skipped) == ([*range(2, KEPT + 2)], 1000)
    assert stream.notes[-1] == f"skipped {1000 - KEPT} more"


def test_a_check_finds_a_bad_row_and_hands_out_nothing(tmp_path: Path) -> None:
    for source in sources(tmp_path / "s.jsonl", GOOD * 3 + "bad\n"):
        stream = stream_samples(source)
        stream.check(3)
        assert stream.number == 0
        assert [next(stream).response for _ in range(3)] == ["Ada."] * 3
        assert (stream.line, stream.number) == (3, 3)
        with pytest.raises(UnreadableInputError, match="line 4: not JSON"):
            next(stream)
    for source in sources(tmp_path / "s.jsonl", GOOD * 3 + "bad\n"):
        with pytest.raises(UnreadableInputError, match="line 4: not JSON"):
            stream_samples(source).check(4)


def test_what_was_checked_is_numbered_once(tmp_path: Path) -> None:
    for source in sources(tmp_path / "s.jsonl", '{"id": "a", "answer": "1"}\n' * 2):
        stream = stream_samples(source)
        stream.check()
        assert [sample.id for sample in stream] == ["a", "a#2"]


def test_how_much_is_left_of_a_long_file_is_known_about(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": f"a{n}", "answer": "Ada."} for n in range(1000, 2234))
    frame.to_json(tmp_path / "s.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "s.json", orient="records")
    frame.to_csv(tmp_path / "s.csv", index=False)
    frame.to_parquet(tmp_path / "s.parquet")
    about = {"jsonl": 1230, "csv": 1220, "json": None, "parquet": None}
    for suffix, number in about.items():
        stream = stream_samples(tmp_path / f"s.{suffix}")
        stream.check(100)
        assert stream.total == number
        stream.check(2000)
        assert stream.total == 1234


def test_what_is_skipped_of_the_first_rows_is_known_before(tmp_path: Path) -> None:
    for source in sources(tmp_path / "s.jsonl", GOOD + "bad\n" + GOOD * 2 + "worse\n"):
        stream = stream_samples(source, skip_bad=True)
        stream.check(3)
        assert stream.checked == ["skipped line 2: not JSON: Expecting value at column 1"]
        assert len([*stream]) == 3
        assert [stream.notes[0]] == stream.checked
        assert len(stream.notes) == 2


def test_a_mapped_column_must_be_among_the_checked_rows(tmp_path: Path) -> None:
    for source in sources(tmp_path / "s.jsonl", GOOD * 3):
        stream = stream_samples(source, mapping={"mine": "reference"})
        with pytest.raises(UnreadableInputError, match="no column 'mine' in its first 2 rows; col"):
            stream.check(2)


def test_what_a_criterion_needs_is_asked_of_each_row() -> None:
    def require(sample: Sample) -> None:
        if sample.input is None:
            msg = "no input"
            raise InvalidSampleError(msg)

    text = GOOD + '{"answer": "Bob."}\n' + GOOD
    with pytest.raises(UnreadableInputError, match="line 2: no input"):
        stream_samples(io.StringIO(text), require=require).check()
    stream = stream_samples(io.StringIO(text), require=require, skip_bad=True)
    assert [stream.line for _ in stream] == [1, 3]
    assert stream.bad == [(2, "no input")]


def test_pipes_and_standard_input_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stdin in (io.TextIOWrapper(io.BytesIO(GOOD.encode() * 3)), io.StringIO(GOOD * 3)):
        monkeypatch.setattr(sys, "stdin", stdin)
        stream = stream_samples("-")
        stream.check(2)
        assert len(list(stream)) == 3
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(GOOD * 2,))
    writer.start()
    stream = stream_samples(path)
    stream.check()
    assert len(list(stream)) == 2
    writer.join()


def test_closing_ends_the_stream(tmp_path: Path) -> None:
    stream = stream_samples(sources(tmp_path / "s.jsonl", GOOD * 3)[0])
    next(stream)
    stream.close()
    assert list(stream) == []


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["a", "b", "a#2", "a#3", "a#2#2", "", "b#2"]), max_size=60))
def test_ids_always_differ_and_keep_their_beginning(names: list[str]) -> None:
    ids = DistinctIds()
    found = [ids.unlike(name) for name in names]
    assert len(set(found)) == len(found)
    assert all(mine.startswith(name) for mine, name in zip(found, names, strict=True))
    # The first of its name keeps it, unless an earlier one was given that number.
    for at, name in enumerate(names):
        if name not in found[:at]:
            assert found[at] == name


def test_many_ids_are_told_apart() -> None:
    ids = DistinctIds(kept=2)
    names = [f"s{n}" for n in range(4_000)]
    assert [ids.unlike(name) for name in names] == names
    assert [ids.unlike(name) for name in names] == [f"{name}#2" for name in names]
    assert (ids.repeated, ids.number) == (names[:2], 4_000)
    found = map(DistinctIds().unlike, itertools.repeat("a", 500))
    assert list(found) == ["a", *(f"a#{n}" for n in range(2, 501))]
