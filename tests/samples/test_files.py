"""Reading samples and assessments, whole or row by row, writing assessments, and bad files."""

import csv
import io
import json
import math
import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]  # no stubs either
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # as above
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import TCVA, Assessment, ClaimVerdict, Config, Sample, Verdict
from tcva_adapters.compare import read_systems
from tcva_adapters.compare.scores.imported.reader import read_imported
from tcva_adapters.errors import (
    InvalidValueError,
    MissingDependencyError,
    UnreadableInputError,
)
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.results.writer import write_results
from tcva_adapters.samples.file_formats import Format, csv_text, harmless, original
from tcva_adapters.samples.reader import SampleFile, SampleStream, read_samples
from tcva_adapters.samples.row_stream import KEPT
from tests.support.results import read_assessments

GOOD = '{"question": "Who?", "answer": "Ada."}\n'
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JUDGED = Assessment.from_verdicts(["fully"])


def read(text: str, **options: Any) -> SampleFile:
    return read_samples(io.StringIO(text, newline=""), **options)


def refusal(text: str, **options: Any) -> UnreadableInputError:
    with pytest.raises(UnreadableInputError) as caught:
        read(text, **options)
    return caught.value


# --- what can be read -----------------------------------------------------------------------


def test_every_format(tmp_path: Path) -> None:
    for name, content in [
        ("s", GOOD),
        ("s.jsonl", "\ufeff" + GOOD.strip()),
        ("s.json", f"\ufeff[{GOOD}]"),
        ("s.json", f'{{"samples": [{GOOD}], "version": 1}}'),
        ("s.json", f'{{"anything": [{GOOD}]}}'),
        ("s.json", '{"question": {"0": "Who?"}, "answer": {"0": "Ada."}}'),
        ("s.csv", "\ufeffquestion, answer \r\nWho?,Ada.\r\n\r\n"),
        ("s.csv", ',"question","answer"\n0,"Who?","Ada."'),
        ("s.csv", '"question";"answer"\r\n"Who?";"Ada."\r\n'),
        ("s.tsv", "question\tanswer\nWho?\tAda.\n"),
        ("s.csv", "\ufeffquestion,answer,\nWho?,Ada.,\n"),
        ("s.csv", "Unnamed: 0,question,answer\n0,Who?,Ada.,,\n"),
    ]:
        path = tmp_path / name
        path.write_bytes(content.encode())
        for source in (path, str(path)):
            assert read_samples(source).samples == [
                Sample(input="Who?", response="Ada.")
            ], content


def test_lines_are_those_of_an_editor() -> None:
    assert read(GOOD + "\n" + GOOD).lines == [1, 3]
    # The second record begins in line 2 and ends in line 3, so the third one is line 4.
    assert read('answer\n"a\nb"\nc\n', format="csv").lines == [2, 4]
    assert read(f"[{GOOD},{GOOD}]", format="json").lines == [1, 2]
    assert (
        read('{"answer": "a\u2028b\u0085c"}\n').samples[0].response == "a\u2028b\u0085c"
    )


def test_what_a_data_frame_has_not_is_no_text(tmp_path: Path) -> None:
    rows = {
        "question": ["a", "NA", "None"],
        "answer": [None, "NA", "None"],
        "context": [None] * 3,
    }
    pd = pytest.importorskip("pandas")  # no part of the base
    frame, path = pd.DataFrame(rows | {"score": [None, 1.0, 2.0]}), tmp_path / "s.csv"
    for nothing in ("NaN", "nan", "<NA>"):
        frame.to_csv(path, na_rep=nothing, index=False)
        assert read_samples(path, mapping={"context": "contexts"}).samples == [
            Sample(input="a"),
            Sample(input="NA", response="NA", metadata={"score": "1.0"}),
            Sample(input="None", response="None", metadata={"score": "2.0"}),
        ]
    assert read('{"answer": "NaN"}\n').samples == [Sample(response="NaN")]


def test_ids_that_repeat_are_numbered_and_said() -> None:
    found = read(
        '{"id": 1, "answer": "a"}\n' * 2
        + '{"id": "1#2", "answer": "b"}\n{"answer": "c"}'
    )
    assert [s.id for s in found.samples] == ["1", "1#2", "1#2#2", None]
    assert found.repeated == ("1", "1#2")
    (note,) = found.notes
    assert note.startswith(
        "several rows have the same id: '1', '1#2'; the second one is now "
    )


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.parquet"
    columns = {
        "question": ["Who?", None],
        "answer": pa.array([b"Ada.", b"Bob."]),
        "contexts": [["One.", "Two."], []],
        "grade": [math.nan, 0.5],
        "day": pa.array([0, None], pa.date32()),  # day 0 of the epoch
        "__index_level_0__": [7, 8],
    }
    pq.write_table(pa.table(columns), path)
    day = {"day": "1970-01-01"}
    first = Sample(
        input="Who?", response="Ada.", contexts=("One.", "Two."), metadata=day
    )
    last = Sample(response="Bob.", contexts=(), metadata={"grade": 0.5})
    assert read_samples(path) == SampleFile([first, last], lines=[1, 2], bad=[])
    with pytest.raises(InvalidValueError, match="parquet can only be read from a path"):
        read(GOOD, format="parquet")
    path.write_text("hello")
    with pytest.raises(UnreadableInputError):
        read_samples(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"\[parquet\]"):
        read_samples("s.parquet")


# --- what cannot be read --------------------------------------------------------------------

BAD = [
    ('{"question": "Wh', "not JSON: EOF while parsing a string"),
    ("{'question': 1}\n", "not JSON: .* at line 1 column 2"),
    ('{"question": 3}\n', "'question' must be a string, got int"),
    ('{"answer": "a", "contexts": [3]}\n', "'contexts' .*got int"),
    ('{"answer": "a", "x": [1e999]}\n', "not JSON"),
    ('{"answer": "a", "x": {"\\ud83d": 1}}\n', "not JSON"),
    ('{"answer": ' + "[" * 100_000 + "\n", "not JSON: recursion limit"),
    ('{"answer": "a", "x": ' + "1" * 5000 + "}\n", "number out of range"),
    ('{"reply": "a"}\n', r"'reply'.*input \(user_input, question"),
    ('{"id": "7", "answer": null}\n', "among 'id', 'answer'"),
]


def test_a_bad_line_is_named_or_skipped() -> None:
    for bad, message in BAD:
        with pytest.raises(UnreadableInputError, match=rf"line 3.*{message}") as caught:
            read(GOOD * 2 + bad)
        assert caught.value.line == 3
        found = read(GOOD + GOOD + bad.strip() + "\n" + GOOD, skip_bad=True)
        assert found.lines == [1, 2, 4]
        assert [(line, why.startswith("the stream")) for line, why in found.bad] == [
            (3, False)
        ]


def test_bad_csv_rows_are_named_or_skipped_and_headers_never() -> None:
    for bad, message in [
        ("1,2,3\n", "3 cells where the header has 2"),
        ("1\n", "1 cells where the header has 2"),
        ('"1"2,3\n', "not csv"),
        ('"1,2\n', "not csv"),
    ]:
        text = f"question,answer\nWho?,Ada.\n{bad}"
        assert f"line 3: {message}" in str(refusal(text, format="csv"))
        found = read(text, format="csv", skip_bad=True)
        assert (found.lines, [line for line, _ in found.bad]) == ([2], [3])
    found = read('answer\na\n"b"x\nc\nd,e\nf\n', format="csv", skip_bad=True)
    assert ([s.response for s in found.samples], found.lines) == (
        ["a", "c", "f"],
        [2, 4, 6],
    )
    for header in ("answer,answer", '"answer'):
        assert refusal(f"{header}\na,b\n", format="csv", skip_bad=True).line == 1


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    for name, before, line in [
        ("s.jsonl", GOOD.encode() + b'{"answer": "caf', 2),
        ("s.csv", b"\xef\xbb\xbfanswer\ncaf", 2),
        ("s.csv", b"\xef\xbb\xbf", 1),
        ("s.json", b'[{"answer":\n"', None),
    ]:
        path = tmp_path / name
        path.write_bytes(before + b"\xe9\n")
        with pytest.raises(UnreadableInputError, match="0xe9") as caught:
            read_samples(path)
        assert caught.value.line == line


def test_files_that_are_bad_as_a_whole(tmp_path: Path) -> None:
    cases: list[tuple[str, Format, str]] = [
        ("", "jsonl", "has no records"),
        ("\n\n", "json", "has no records"),
        ("question,answer\n\n", "csv", "has no records"),
        ("[]", "json", "has no records"),
        ('"text"', "json", 'got "text"'),
        (GOOD + GOOD, "json", "not JSON: trailing characters at line 2"),
        (f"[{GOOD}, 3]", "json", "item 2: .*got 3"),
        ('{"messages": []}', "jsonl", "no message of the user is followed"),
        ('{"messages": "Hi."}', "jsonl", "must be a list of messages, got 'Hi.'"),
        (
            '{"messages": [["user", "Hi."]]}',
            "jsonl",
            "no message of the user is followed",
        ),
        ('{"x": "Hi."}', "jsonl", r"other names.* messages \(turns\)"),
    ]
    for content, kind, message in cases:
        with pytest.raises(UnreadableInputError, match=message):
            read(content, format=kind)
    error = refusal("x\ny\n", skip_bad=True)
    assert "(skipped: 2); line 1: not JSON" in str(error)
    none = ("none.parquet", "none.xlsx", "s.jsonl.gz")
    for source, why in (
        *((tmp_path / name, "not exist") for name in none),
        (tmp_path, "folder"),
    ):
        with pytest.raises(UnreadableInputError, match=why):
            read_samples(source)
    page = tmp_path / "s.html"
    page.write_text("<!doctype html>", encoding="utf-8")
    with pytest.raises(
        InvalidValueError, match=r"s\.html must be one of jsonl, .*got 'HTML'"
    ):
        read_samples(page)
    with pytest.raises(
        InvalidValueError, match=r"the format of the stream .*got 'xml'"
    ):
        read(GOOD, format="xml")


@given(
    st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=3), TEXT), min_size=1, max_size=5)
)
def test_samples_come_back(rows: list[tuple[str, list[str], str]]) -> None:
    records = [{"response": r, "contexts": c, "other": o} for r, c, o in rows]
    wanted = [
        Sample(response=r, contexts=tuple(c), metadata={"other": o}) for r, c, o in rows
    ]
    for ascii_only in (True, False):
        lines = "\n".join(
            json.dumps(record, ensure_ascii=ascii_only) for record in records
        )
        assert read(lines).samples == wanted
    assert read(json.dumps(records), format="json").samples == wanted
    # A table has no value where it says NaN.
    texts = [
        text
        for text, _, _ in rows
        if "\0" not in text and text not in {"NaN", "nan", "<NA>"}
    ] or ["a"]
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(
        [["answer"], *([t] for t in texts)]
    )
    assert [s.response for s in read(written.getvalue(), format="csv").samples] == texts


# --- row by row -----------------------------------------------------------------------------


def sources(path: Path, text: str) -> tuple[Path, io.StringIO]:
    """A file, which can be read again, and a stream, which cannot."""
    path.write_text(text, encoding="utf-8")
    return path, io.StringIO(text, newline="")


def test_the_first_sample_is_there_before_the_second_row_is_read() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as end, os.fdopen(reader) as beginning:
        stream = SampleStream(beginning)
        end.write(GOOD)
        end.flush()
        assert (next(stream).response, stream.line, stream.number) == ("Ada.", 1, 1)
        end.write("\n" + GOOD)
        end.close()
        assert [stream.line for _ in stream] == [3]


def test_a_check_finds_a_bad_row_and_hands_out_nothing(tmp_path: Path) -> None:
    for source in sources(tmp_path / "s.jsonl", GOOD * 3 + "bad\n"):
        stream = SampleStream(source)
        stream.check(3)
        assert (stream.number, stream.total) == (0, None)
        assert [next(stream).response for _ in range(3)] == ["Ada."] * 3
        assert (stream.line, stream.number) == (3, 3)
        with pytest.raises(UnreadableInputError, match="line 4"):
            next(stream)
    path = tmp_path / "s.jsonl"
    path.write_text(GOOD + "bad\n" * 1000 + GOOD * 2 + "worse\n")
    with pytest.raises(UnreadableInputError, match="line 2"):
        SampleStream(path).check(4)
    stream = SampleStream(path, skip_bad=True)
    stream.check(3)
    assert (stream.notes[-1], len([*stream])) == (f"skipped {1000 - KEPT} more", 3)
    assert ([line for line, _ in stream.bad], stream.skipped) == (
        [*range(2, KEPT + 2)],
        1001,
    )
    assert stream.notes[-1] == f"skipped {1001 - KEPT} more"
    again = stream.again()
    again.check()
    assert (again.total, len([*again])) == (3, 3)


def test_what_a_criterion_needs_is_asked_of_each_row() -> None:
    text = GOOD + '{"answer": "Bob."}\n' + GOOD
    require = TCVA("answer_relevancy", judge="lexical").require
    with pytest.raises(UnreadableInputError, match=r"line 2.*input"):
        SampleStream(io.StringIO(text), require=require).check()
    stream = SampleStream(io.StringIO(text), require=require, skip_bad=True)
    assert [stream.line for _ in stream] == [1, 3]


def test_pipes_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for stdin in (
        io.TextIOWrapper(io.BytesIO(GOOD.encode() * 3)),
        io.StringIO(GOOD * 3),
    ):
        monkeypatch.setattr(sys, "stdin", stdin)
        stream = SampleStream("-")
        stream.check(2)
        assert len(list(stream)) == 3
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(GOOD * 2,))
    writer.start()
    stream = SampleStream(path)
    stream.check()
    assert len(list(stream)) == 2
    writer.join()


# --- assessments ----------------------------------------------------------------------------


def test_assessments_in_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'It\'s "odd":\n\u2028 \x07, \\, \U0001f600.'
    shares = (0.1, 0.2, 0.3, 0.4, 0.0)
    claim = ClaimVerdict(claim=text, verdict=Verdict.MOSTLY, probabilities=shares)
    why = Unscored(reason=Reason.REFUSAL, detail=text, raw_reply=text)
    rest: dict[str, Any] = {"criterion": text, "judge": text, "prompt_version": "1"}
    made = [
        Assessment(
            claims=(claim,), sample_id=text, metadata={text: [None, 1, True]}, **rest
        ),
        Assessment(unscored=why, **rest),
    ]
    path = tmp_path / "new" / "folder" / "a.jsonl"
    assert (write_results(path, iter(made)), read_assessments(str(path))) == (
        2,
        made,
    )
    write_results("-", made)
    printed = io.StringIO(capsys.readouterr().out, newline="")
    assert read_assessments(printed) == made


def test_an_interrupted_write_leaves_the_former_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"schema_version":2, "former": 1}')

    def interrupted() -> Iterator[Assessment]:
        yield JUDGED
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_results(path, interrupted())
    assert path.read_text() == '{"schema_version":2, "former": 1}'
    assert list(tmp_path.iterdir()) == [path]


MADE = Assessment.from_verdicts(["fully"])
FORMULAS = ["=1+1", "+1", "-2", "@SUM(1)", "\tx", "\rx", "'=1", "''-1", "\uff1d1"]
posix = pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- for whom -------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_files_and_folders_are_their_owners_alone(tmp_path: Path, mask: int) -> None:
    folder = tmp_path / "one" / "two"
    before = os.umask(mask)
    try:
        write_results(folder / "a.jsonl", [MADE])
        Config(settings={"temperature": 0.2}).dump(folder / "c.json")
        with VerdictStore(folder / "three" / "v.sqlite") as store:
            store.put("k", MADE)  # with its log beside it
            found = {path: mode(path) for path in tmp_path.rglob("*")}
    finally:
        os.umask(before)
    assert len(found) == 8
    assert all(
        bits == (0o700 if path.is_dir() else 0o600) for path, bits in found.items()
    )


# --- over what ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["\n", '{"schema_versions": 2}'])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, text: str) -> None:
    lines, settings = tmp_path / "precious.jsonl", tmp_path / "precious.json"
    for path, write in (
        (lines, lambda **how: write_results(lines, [MADE], **how)),
        (settings, lambda **how: Config().dump(settings, **how)),
    ):
        path.write_text(text)
        with pytest.raises(InvalidValueError, match=r"precious\.json.*--overwrite"):
            write()
        assert path.read_text() == text
        write(overwrite=True)
        write()  # over a file of ours, and over an empty one
        path.write_text("")
        write()
    assert set(tmp_path.iterdir()) == {lines, settings}
    assert read_assessments(lines) == [MADE]
    assert Config.load(settings) == Config()


@posix
def test_links_modes_and_pipes_stay_what_they_are(tmp_path: Path) -> None:
    path, link, pipe = tmp_path / "a.jsonl", tmp_path / "link.jsonl", tmp_path / "pipe"
    path.write_text("x")
    path.chmod(0o640)
    link.symlink_to(path)
    with pytest.raises(InvalidValueError, match="was not written by this"):
        write_results(link, [MADE])
    assert path.read_text() == "x"
    write_results(link, [MADE], overwrite=True)
    assert link.is_symlink()
    assert (stat.S_IMODE(path.stat().st_mode), len(read_assessments(path))) == (
        0o640,
        1,
    )
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_results(pipe, [MADE])
    assert os.read(reader, 100_000).decode() == MADE.to_json() + "\n"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_path_that_none_can_be(tmp_path: Path) -> None:
    loop, other = tmp_path / "loop.json", tmp_path / "loop.jsonl"
    loop.symlink_to(other)
    other.symlink_to(loop)
    paths = ["a\0b.json", "\ud800.json", "~nobody-of-this-name/a.json"]
    if sys.version_info < (3, 13):  # later ones replace such a link
        paths.append(str(loop))
    for path in paths:
        for use in (
            lambda path: write_results(f"{path}l", [MADE]),
            lambda path: Config().dump(path),
            Config.load,
            read_samples,
            lambda path: SampleStream(path).check(),
            VerdictStore,
        ):
            with pytest.raises(InvalidValueError) as caught:
                use(path)
            assert repr(path)[1:-2] in str(caught.value)


# --- as what a spreadsheet takes it ---------------------------------------------------------


@given(st.text(alphabet="'=+-@\t\r a1") | st.text() | st.sampled_from(FORMULAS))
def test_no_cell_begins_like_a_formula_and_every_text_comes_back(text: str) -> None:
    assert original(harmless(text)) == text
    assert not harmless(text).startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))
    cells = list(
        csv.reader(io.StringIO(csv_text(["id"], [[f"={text}", -1.5]]), newline=""))
    )[1]
    assert cells == [f"'={text}", "-1.5"]


def test_ids_that_look_like_formulas_still_join(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = [(name, "=method", 0.5) for name in FORMULAS]
    path.write_text(csv_text(["sample", "method", "score"], rows), encoding="utf-8")
    assert [row.sample.id for row in read_imported(path).rows] == FORMULAS
    assert read_imported(path).methods == ["=method"]
    (table,) = read_systems(path).values()
    assert set(table.samples) == set(FORMULAS)
    path.write_text("id,score\n'=1,0.5\n")  # a table of others: cells are as they are
    assert [row.sample.id for row in read_imported(path).rows] == ["'=1"]
