"""What every report's printed form is made of."""

import io
import json
import math
import re

import numpy as np
import pytest

from tcva_adapters.console import ascii_json, folded, note, write
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.tables import ROWS, Column, Report, Table, cell, plain

HOSTILE = "<script>alert(1)</script> [bold]x[/bold] a|b @you\x1b[2J"
METHODS = Table(
    "methods",
    [
        Column("method"),
        Column("mean", "score"),
        Column("rho", "interval"),
        Column("why", "prose"),
    ],
    [
        {
            "method": HOSTILE,
            "mean": math.nan,
            "rho": 0.5,
            "rho_low": 0.25,
            "rho_high": 0.75,
        },
        {"method": "b", "mean": np.float64(0.125), "why": "one two three " * 9},
    ],
)


def test_one_report_is_text_markdown_html_json_and_a_data_frame() -> None:
    report = Report("<b>2 of 3</b> pass", [METHODS], ["a note"], {"at": (0.1, 0.5)})
    text = report.text()
    assert text.startswith("<b>2 of 3</b> pass\n\nmethods\n")
    assert "\x1b" not in text
    assert "0.500 [0.25, 0.75]" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert report.text() == str(report) == repr(report)
    page = report._repr_html_()
    elements = {"div", "p", "strong", "table", "tr", "th", "td"}
    assert set(re.findall(r"<(?!/)(\w+)", page)) == elements
    assert "<script" not in page
    marked = report.markdown()
    assert "\\<b\\>2 of 3\\</b\\> pass" in marked
    assert r"`<script>alert(1)</script> [bold]x[/bold] a\|b @you\x1b[2J`" in marked
    figures = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert figures["tables"]["methods"][0]["mean"] is None
    assert figures["settings"] == {"at": [0.1, 0.5]}
    frame = report.to_pandas()
    assert (frame["mean"][1], frame["rho_low"][0]) == (0.125, 0.25)


def test_long_tables_and_details_are_shown_in_full_alone() -> None:
    rows = [{"n": number} for number in range(ROWS + 5)]
    table = Table("counts", [Column("n", "int")], rows)
    report = Report(
        "s", [table, Table("pairs", [Column("n", "int")], rows[:2], detail=True)]
    )
    assert "... 5 more rows" in report.text()
    assert "full=True also shows pairs (2 rows)" in report.text()
    assert "... " not in report.text(full=True)
    assert "also shows" not in report.markdown(full=True)
    assert len(report.records("pairs")) == 2
    with pytest.raises(InvalidValueError, match=r"'pair'.*counts, pairs"):
        report.records("pair")


def test_columns_without_room_stand_below_after_the_first() -> None:
    names = [f"column_{letter}" for letter in "abcdefghijkl"]
    row = dict.fromkeys(names, 0.5) | {"method": "ragas faithfulness"}
    columns = [Column("method"), *(Column(name, "score") for name in names)]
    lines = Report("s", [Table("t", columns, [row])]).text(width=60).splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert sum(line.startswith("ragas faithfulness") for line in lines) > 1
    assert sum(line.count("0.500") for line in lines) == len(names)


def test_letters_that_take_two_columns_are_counted_so() -> None:
    records = [{"name": "打打", "n": 1}, {"name": "abcd", "n": 22}]
    table = Table("t", [Column("name"), Column("n", "int")], records)
    wide, narrow = Report("s", [table]).text().splitlines()[-2:]
    assert (wide, narrow) == ("打打   1", "abcd  22")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_what_is_written_is_encodable_and_no_command(encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    write("ü 打\n::error::x\n##[error]y", stream)
    stream.seek(0)
    lines = stream.read().splitlines()
    assert len(lines) == 3
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in lines)
    escaped = ascii_json('{"a": "打 ü \U0001f600 ##[error] \x9b"}')
    assert escaped.isascii()
    assert "##[" not in escaped
    assert json.loads(escaped) == {"a": "打 ü \U0001f600 ##[error] \x9b"}


def test_notes_wrap(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "a sentence that goes on " * 10
    monkeypatch.delenv("COLUMNS", raising=False)
    note(long)
    assert len(capsys.readouterr().err.splitlines()) == 1
    monkeypatch.setenv("COLUMNS", "40")
    note(long)
    assert all(len(line) <= 40 for line in capsys.readouterr().err.splitlines())
    assert folded("a/path/" + "x" * 90, 20) == ["a/path/" + "x" * 90]


def test_what_is_not_finite_is_none_in_plain_values() -> None:
    given = {
        "a": [np.inf, np.int64(3)],
        "b": {"c": np.array([[1.0, np.nan]])},
        1: frozenset({2}),
    }
    assert plain(given) == {"a": [None, 3], "b": {"c": [[1.0, None]]}, "1": [2]}


def test_scripts_without_blanks_are_folded_by_columns() -> None:
    assert folded("打开门" * 4, 8, indent=2) == [
        "打开门打",
        "  开门打",
        "  开门打",
        "  开门",
    ]


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((0.0031, 0.032), "[0.003, 0.032]"),
        ((-0.032, -0.0004), "[-0.032, -0.000]"),
        ((-0.003, 0.032), "[0.00, 0.03]"),
        ((0.0, 0.032), "[0.00, 0.03]"),
        ((0.006, 0.032), "[0.01, 0.03]"),
    ],
)
def test_an_end_beside_0_keeps_its_sign(ends: tuple[float, float], shown: str) -> None:
    assert cell(0.02, "interval", *ends) == f"0.020 {shown}"
