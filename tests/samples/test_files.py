"""Reading samples and assessments, writing assessments, and every kind of bad file."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.errors import InvalidValueError, MissingDependencyError, UnreadableInputError
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason, Unscored
from tcva_adapters.results.files import read_assessments, write_assessments
from tcva_adapters.samples.files import SampleFile, read_samples
from tcva_adapters.samples.records import Format
from tcva_adapters.samples.sample import Sample

GOOD = '{"question": "Who?", "answer": "Ada."}\n'
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def read(text: str, **options: Any) -> SampleFile:
    return read_samples(io.StringIO(text, newline=""), **options)


def refusal(text: str, **options: Any) -> UnreadableInputError:
    with pytest.raises(UnreadableInputError) as caught:
        read(text, **options)
    return caught.value


# --- what can be read -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.jsonl", GOOD),
        ("s.NDJSON", "\n" + GOOD + "  \n"),
        ("s", GOOD),
        ("s.jsonl", "\ufeff" + GOOD),
        ("s.jsonl", GOOD.strip()),
        ("s.jsonl", GOOD.replace("\n", "\r\n")),
        ("s.json", f"[{GOOD}]"),
        ("s.json", f'{{"samples": [{GOOD}], "version": 1}}'),
        ("s.json", f'{{"data": [{GOOD}]}}'),
        ("s.json", GOOD),
        ("s.csv", "question,answer\nWho?,Ada.\n"),
        ("s.csv", "\ufeffquestion, answer \r\nWho?,Ada.\r\n\r\n"),
        ("s.csv", ',"question","answer"\n0,"Who?","Ada."'),
    ],
)
def test_every_format(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    for source in (path, str(path)):
        assert read_samples(source).samples == [Sample(input="Who?", response="Ada.")]


def test_lines_are_those_of_an_editor() -> None:
    assert read(GOOD + "\n" + GOOD).lines == [1, 3]
    # The second record begins in line 2 and ends in line 3, so the third one is line 4.
    assert read('answer\n"a\nb"\nc\n', format="csv").lines == [2, 4]
    assert read(f"[{GOOD},{GOOD}]", format="json").lines == [1, 2]


def test_a_line_separator_inside_a_string_is_no_line_break() -> None:
    assert read('{"answer": "a\u2028b\u0085c"}\n').samples[0].response == "a\u2028b\u0085c"


@pytest.mark.parametrize(
    ("cell", "contexts"),
    [
        ("", ()),
        ("One passage, with a comma.", ("One passage, with a comma.",)),
        ('["One.", "Two."]', ("One.", "Two.")),
        ("[sic] One.", ("[sic] One.",)),
    ],
)
def test_contexts_in_csv(cell: str, contexts: tuple[str, ...]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([["answer", "contexts"], ["Ada.", cell]])
    assert read(text.getvalue(), format="csv").samples[0].contexts == contexts


def test_a_csv_cell_may_be_larger_than_the_usual_limit() -> None:
    long = "word " * 100_000  # 500 000 characters; the csv module stops at 131 072 by itself
    assert read(f"answer\n{long}\n", format="csv").samples[0].response == long


def test_ids_that_repeat_are_numbered_and_said() -> None:
    found = read('{"id": 1, "answer": "a"}\n' * 2 + '{"id": "1#2", "answer": "b"}\n{"answer": "c"}')
    # What is read row by row does not know that a later row has the id 1#2: that one is numbered.
    assert [s.id for s in found.samples] == ["1", "1#2", "1#2#2", None]
    assert found.repeated == ("1", "1#2")
    (note,) = found.notes
    assert note == (
        "several rows have the same id: '1', '1#2'; from the second on they were numbered: '1#2'"
    )


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert read_samples("-").samples[0].response == "Ada."
    monkeypatch.setattr(sys, "stdin", io.StringIO(GOOD))
    assert read_samples("-").samples[0].response == "Ada."


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet")
    path = tmp_path / "s.parquet"
    columns = {
        "question": ["Who?", None],
        "answer": ["Ada.", "Bob."],
        "contexts": [["One.", "Two."], []],
        "grade": [math.nan, 0.5],
    }
    pq.write_table(pa.table(columns), path)
    assert read_samples(path) == SampleFile(
        samples=[
            Sample(input="Who?", response="Ada.", contexts=("One.", "Two.")),
            Sample(response="Bob.", contexts=(), metadata={"grade": 0.5}),
        ],
        lines=[1, 2],
        bad=[],
    )


def test_parquet_dates_become_text_that_an_assessment_can_carry(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet")
    path = tmp_path / "s.parquet"
    day = pa.array([0], pa.date32())  # day 0 of the epoch
    pq.write_table(pa.table({"answer": ["Ada."], "day": day}), path)
    assert read_samples(path).samples[0].metadata == {"day": "1970-01-01"}


def test_parquet_texts_as_bytes_and_the_index_of_pandas(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet")
    path = tmp_path / "s.parquet"
    table = pa.table({"answer": pa.array([b"Ada."]), "__index_level_0__": [7]})
    pq.write_table(table, path)
    assert read_samples(path).samples == [Sample(response="Ada.")]


def test_parquet_without_pyarrow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"tcva-adapters\[parquet\]"):
        read_samples("s.parquet")


# --- mapping --------------------------------------------------------------------------------


def test_columns_are_renamed() -> None:
    found = read('{"gold": "Ada", "mine": "Bob"}', mapping={"gold": "reference", "mine": "answer"})
    assert found.samples == [Sample(reference="Ada", response="Bob")]


def test_a_renamed_column_wins_and_nothing_is_lost() -> None:
    found = read('{"response": "old", "mine": "new"}', mapping={"mine": "response"})
    assert found.samples == [Sample(response="new", metadata={"response": "old"})]


def test_two_columns_may_be_swapped() -> None:
    mapping = {"response": "reference", "reference": "response"}
    found = read('{"response": "a", "reference": "b"}', mapping=mapping)
    assert found.samples == [Sample(reference="a", response="b")]


@pytest.mark.parametrize("mapping", [{"a": "colour"}, {"a": "response", "b": "answer"}])
def test_a_mapping_to_no_field_or_twice_to_one_is_refused(mapping: dict[str, str]) -> None:
    with pytest.raises(InvalidValueError, match="mapped to"):
        read(GOOD, mapping=mapping)


def test_a_mapped_column_that_never_occurs_is_an_error() -> None:
    error = refusal(GOOD, mapping={"anwser": "response"})
    assert "no column 'anwser'; columns are 'question', 'answer'" in str(error)


# --- what cannot be read --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ('{"question": "Wh', "half-written"),
        ("{'question': 1}\n", "not JSON: .* at column 2"),
        ('{"a": 1} {"b": 2}\n', "not JSON"),
        ("3\n", "not a number"),
        ("null\n", "not null"),
        ("true\n", "not true or false"),
        ('"text"\n', "not a string"),
        (f"[{GOOD.strip()}]\n", "name the format json"),
        ("[\n", "name the format json"),
        ('{"question": 3}\n', "'question' must be a string, got int"),
        ('{"answer": "a", "contexts": [3]}\n', "'contexts' holds a int"),
        ('{"answer": NaN}\n', "NaN is not a JSON value"),
        ('{"answer": "a", "x": [-Infinity]}\n', "-Infinity is not"),
        ('{"answer": "a", "x": 1e999}\n', "1e999 is too large"),
        ('{"answer": "\\ud83d"}\n', "half a character"),
        ('{"answer": "a", "x": {"\\ud83d": 1}}\n', "half a character"),
        ('{"answer": ' + "[" * 100_000 + "\n", "nested too deeply"),
        ('{"answer": "a", "x": ' + "1" * 5000 + "}\n", "4300 digits"),
        ('{"reply": "a"}\n', r"among the fields 'reply'; known are input \(user_input, question"),
        ("{}\n", r"fields \(none\)"),
        ('{"id": "7", "answer": null}\n', "fields 'id', 'answer'"),
    ],
)
def test_a_bad_line_is_named_or_skipped(bad: str, message: str) -> None:
    with pytest.raises(UnreadableInputError, match=rf"the stream, line 3: .*{message}") as caught:
        read(GOOD + GOOD + bad)
    assert caught.value.line == 3
    after = "" if message == "half-written" else GOOD
    found = read(GOOD + GOOD + bad + after, skip_bad=True)
    assert found.lines == ([1, 2, 4] if after else [1, 2])
    ((line, said),) = found.bad
    assert line == 3
    assert not said.startswith("the stream")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("1,2,3\n", "3 cells where the header has 2"),
        ("1\n", "1 cells where the header has 2"),
        ('"1"2,3\n', "not csv"),
        ('"1,2\n', "not csv"),
    ],
)
def test_a_bad_csv_row_is_named_or_skipped(bad: str, message: str) -> None:
    text = f"question,answer\nWho?,Ada.\n{bad}"
    with pytest.raises(UnreadableInputError, match=f"line 3: {message}") as caught:
        read(text, format="csv")
    assert caught.value.line == 3
    found = read(text, format="csv", skip_bad=True)
    assert (found.lines, [line for line, _ in found.bad]) == ([2], [3])


def test_reading_goes_on_after_a_bad_csv_row() -> None:
    found = read('answer\na\n"b"x\nc\nd,e\nf\n', format="csv", skip_bad=True)
    assert [s.response for s in found.samples] == ["a", "c", "f"]
    assert [line for line, _ in found.bad] == [3, 5]


@pytest.mark.parametrize("skip_bad", [False, True])
@pytest.mark.parametrize("header", ["answer,answer", '"answer'])
def test_a_bad_csv_header_cannot_be_skipped(header: str, skip_bad: bool) -> None:
    assert refusal(f"{header}\na,b\n", format="csv", skip_bad=skip_bad).line == 1


@pytest.mark.parametrize(
    ("name", "before", "offset"),
    [
        # 26 ASCII bytes, the last of them the line feed; then the bad byte after 'caf'.
        ("s.jsonl", b'{"answer": "twenty-four"}\n' + b'{"answer": "caf', 26 + 15),
        # A mark of 3 bytes, 'answer', a line feed, 'caf'.
        ("s.csv", b"\xef\xbb\xbfanswer\ncaf", 3 + 7 + 3),
        ("s.csv", b"\xef\xbb\xbf", 3),
        ("s.json", b'[{"answer":\n"', 13),
    ],
)
def test_bytes_that_are_not_utf8_are_named(
    tmp_path: Path, name: str, before: bytes, offset: int
) -> None:
    path = tmp_path / name
    path.write_bytes(before + b"\xe9\n")
    message = f"not UTF-8: byte 0xe9 at offset {offset} of the file"
    with pytest.raises(UnreadableInputError, match=message):
        read_samples(path)


def test_one_line_that_is_not_utf8_can_be_skipped(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(b"answer\na\n\xe9\nb\n")
    found = read_samples(path, skip_bad=True)
    assert [s.response for s in found.samples] == ["a", "b"]
    assert found.bad[0][0] == 3


def test_utf16_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(UnreadableInputError, match="looks like UTF-16"):
        read_samples(path)


def test_a_text_stream_in_another_encoding_is_an_error_of_ours() -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"\xe9\n"), encoding="ascii")
    with pytest.raises(UnreadableInputError, match="not ascii: byte 0xe9"):
        read_samples(stream)


@pytest.mark.parametrize("format", ["jsonl", "json", "csv"])
def test_an_empty_file_is_an_error(format: Format) -> None:  # noqa: A002  # the reader's own word
    assert "is empty" in str(refusal("", format=format))
    assert "is empty" in str(refusal("\n\n", format=format))


def test_a_header_or_a_list_alone_is_empty_too() -> None:
    assert "is empty" in str(refusal("question,answer\n", format="csv"))
    assert "is empty" in str(refusal("[]", format="json"))


def test_nothing_but_bad_rows_is_an_error_even_when_they_are_skipped() -> None:
    error = refusal("x\ny\n", skip_bad=True)
    assert "no readable record, 2 bad; the first, line 1: not JSON" in str(error)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('"text"', "not a string"),
        (GOOD + GOOD, "line 2: not JSON: Extra data.*jsonl"),
        (f"[{GOOD}", "line 2: not JSON"),
        (f"[{GOOD}, 3]", "item 2: .*not a number"),
        ("[NaN]", "NaN is not"),
    ],
)
def test_bad_json_files(content: str, message: str) -> None:
    with pytest.raises(UnreadableInputError, match=message):
        read(content, format="json")


def test_files_that_are_not_there_or_no_files(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="no such file"):
        read_samples(tmp_path / "none.jsonl")
    with pytest.raises(UnreadableInputError, match="folder"):
        read_samples(tmp_path)
    (tmp_path / "s.parquet").write_text("hello")
    pytest.importorskip("pyarrow", reason="the extra parquet")
    with pytest.raises(UnreadableInputError, match="not a readable parquet file"):
        read_samples(tmp_path / "s.parquet")
    with pytest.raises(UnreadableInputError, match="no such file"):
        read_samples(tmp_path / "none.parquet")


def test_unknown_formats() -> None:
    with pytest.raises(InvalidValueError, match=r"suffix '\.xlsx' is none of \.jsonl"):
        read_samples("s.xlsx")
    with pytest.raises(InvalidValueError, match="unknown format 'xml'"):
        read(GOOD, format="xml")
    pytest.importorskip("pyarrow", reason="the extra parquet")
    with pytest.raises(InvalidValueError, match="parquet is read from a file"):
        read(GOOD, format="parquet")


@given(st.binary(max_size=200), st.sampled_from(["jsonl", "json", "csv"]))
def test_any_bytes_give_samples_or_a_sentence(content: bytes, format: Format) -> None:  # noqa: A002  # the reader's own word
    stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    try:
        found = read_samples(stream, format=format)
    except UnreadableInputError as error:
        assert str(error)  # noqa: PT017  # either outcome is right
    else:
        assert len(found.samples) == len(found.lines) > 0


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=3), TEXT), min_size=1, max_size=5))
def test_samples_come_back_from_jsonl_and_json(rows: list[tuple[str, list[str], str]]) -> None:
    records = [{"response": r, "contexts": c, "other": o} for r, c, o in rows]
    wanted = [Sample(response=r, contexts=tuple(c), metadata={"other": o}) for r, c, o in rows]
    for ascii_only in (True, False):
        lines = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records)
        assert read(lines).samples == wanted
    assert read(json.dumps(records), format="json").samples == wanted


@given(st.lists(TEXT.filter(lambda text: "\0" not in text), min_size=1, max_size=5))
def test_texts_come_back_from_csv(texts: list[str]) -> None:
    written = io.StringIO(newline="")
    writer = csv.writer(written, quoting=csv.QUOTE_ALL)
    writer.writerows([["answer"], *([text] for text in texts)])
    assert [s.response for s in read(written.getvalue(), format="csv").samples] == texts


# --- assessments ----------------------------------------------------------------------------


claims = st.builds(
    ClaimVerdict,
    claim=TEXT,
    verdict=st.sampled_from(["fully", "mostly", "partial", "minor", "none"]),
    evidence=TEXT,
    passage=st.none() | st.integers(1, 9),
    probabilities=st.none() | st.just((0.1, 0.2, 0.3, 0.4, 0.0)),
)
scored = st.builds(
    Assessment,
    criterion=TEXT,
    judge=TEXT,
    prompt_version=TEXT,
    claims=st.lists(claims, min_size=1, max_size=3).map(tuple),
    sample_id=st.none() | TEXT,
    metadata=st.dictionaries(TEXT, st.none() | st.integers() | TEXT | st.lists(st.booleans())),
    from_store=st.booleans(),
)
unscored = st.builds(
    Assessment,
    criterion=TEXT,
    judge=TEXT,
    prompt_version=TEXT,
    unscored=st.builds(Unscored, reason=st.sampled_from(Reason), detail=TEXT, raw_reply=TEXT),
)


@given(st.lists(scored | unscored, min_size=1, max_size=4))
def test_assessments_come_back(made: list[Assessment]) -> None:
    stream = io.StringIO(newline="")
    assert write_assessments(stream, made) == len(made)
    assert read_assessments(io.StringIO(stream.getvalue(), newline="")).assessments == made


def test_assessments_in_files(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.jsonl"
    made = [Assessment.from_verdicts(["fully"]), Assessment.from_verdicts([])]
    assert write_assessments(path, iter(made)) == 2
    found = read_assessments(str(path))
    assert (found.assessments, found.lines, found.bad) == (made, [1, 2], [])
    assert list(path.parent.iterdir()) == [path]


def test_assessments_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    made = Assessment.from_verdicts(["fully"])
    write_assessments("-", [made])
    assert capsys.readouterr().out == made.to_json() + "\n"


def test_bad_assessments_are_named_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = Assessment.from_verdicts(["fully"]).to_json()
    path.write_text(f"{good}\n{GOOD}{good[:20]}")
    with pytest.raises(UnreadableInputError, match=r"a\.jsonl, line 2: not an assessment"):
        read_assessments(path)
    found = read_assessments(path, skip_bad=True)
    assert (found.lines, [line for line, _ in found.bad]) == ([1], [2, 3])
    with pytest.raises(InvalidValueError, match="jsonl or json, not from csv"):
        read_assessments("a.csv")


def test_an_interrupted_write_leaves_the_former_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"schema_version":2, "former": 1}')

    def interrupted() -> Iterator[Assessment]:
        yield Assessment.from_verdicts(["fully"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_assessments(path, interrupted())
    assert path.read_text() == '{"schema_version":2, "former": 1}'
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="links, modes and devices of POSIX")
def test_a_link_stays_a_link_and_a_file_keeps_its_mode(tmp_path: Path) -> None:
    path, link = tmp_path / "a.jsonl", tmp_path / "link.jsonl"
    path.touch(mode=0o640)
    link.symlink_to(path)
    write_assessments(link, [Assessment.from_verdicts(["fully"])])
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(read_assessments(path).assessments) == 1


@pytest.mark.skipif(os.name == "nt", reason="links, modes and devices of POSIX")
def test_a_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    made = Assessment.from_verdicts(["fully"])
    write_assessments(pipe, [made])
    assert os.read(reader, 100_000).decode() == made.to_json() + "\n"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_target_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for target in (tmp_path, tmp_path / "file" / "a.jsonl"):
        with pytest.raises(InvalidValueError, match="cannot write"):
            write_assessments(target, [])


def test_judgements_given_as_samples_are_named(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text('{"criterion": "faithfulness", "claims": []}\n', encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="sweep, calibrate and report read it"):
        read_samples(path)
