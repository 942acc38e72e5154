"""What every report's printed form is made of."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable

import pytest

from tcva_adapters.printing import (
    Part,
    Report,
    Table,
    Wrapped,
    ascii_json,
    notes,
    show,
    text_of,
    visible,
)


class Hostile(Report):
    @property
    def sentence(self) -> str:
        return "<b>2 of 3</b> pass"

    def parts(self) -> Iterable[Part]:
        yield "<script>alert(1)</script> [bold]x[/bold] :smile:"
        yield Table(("method", "mean"), [("a & b", "0.5")])


def test_a_report_is_text_and_inert_html(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = "<b>2 of 3</b> pass\n<script>alert(1)</script> [bold]x[/bold] :smile:\nmethod  mean\na & b    0.5\n"
    assert str(Hostile()) == Hostile().text() == text
    page = Hostile()._repr_html_()
    assert "a &amp; b" in page
    elements = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(re.findall(r"<(?!/)(\w+)", page)) == elements


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", "148~ \\u6253 \\xfc"), ("cp1252", "148~ \\u6253 ü"), ("utf-8", "▁▄█… 打 ü")],
)
def test_what_an_encoding_lacks_is_written_out(encoding: str, shown: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(["▁▄█… 打 ü", Table(("a",), [("█",)])], file=stream)
    stream.seek(0)
    assert stream.readline().rstrip() == shown
    text = '{"a": "打 ü \U0001f600 ##[error] \x9b"}'
    escaped = ascii_json(text)
    assert escaped.isascii()
    assert "##[" not in escaped
    assert json.loads(escaped) == json.loads(text)


ROWS = [("ragas factual_correctness", "0.123", "45%", "0.5"), ("b", "1.000", "7%", "-")]


@pytest.mark.parametrize(
    ("options", "heads"),
    [
        ({}, [["method", "mean", "tied"], ["method", "rho"]]),
        ({"spare": (2,)}, [["method", "mean", "rho"]]),
        ({"keys": 2}, [["method", "mean", "tied"], ["method", "mean", "rho"]]),
    ],
)
def test_what_does_not_fit_stands_below_and_nothing_is_broken(
    options: dict[str, object], heads: list[list[str]]
) -> None:
    table = Table(("method", "mean", "tied", "rho"), ROWS, "lr", **options)  # type: ignore[arg-type]  # of the case
    lines = [line.split() for line in text_of([table], width=38).splitlines()]
    assert [line for line in lines if "method" in line] == heads
    assert next(line[2] for line in lines if "ragas" in line) == "0.123"
    folded = text_of([Table(("name", "x"), [("a name much too long", "0.1")], "pr")], width=18)
    assert "0.1" in folded
    assert max(map(len, folded.splitlines())) <= 25


def test_a_long_report_says_what_is_cut() -> None:
    class Long(Hostile):
        def parts(self) -> Iterable[Part]:
            yield from map(str, range(100))

    lines = Long().text().splitlines()
    assert len(lines) == 40
    assert lines[-2:] == ["37", "... 62 more lines: --all, or show(full=True)"]
    assert Long().text(full=True).splitlines()[-1] == "99"


def test_text_wraps_at_the_console_but_for_longer_words() -> None:
    path = "/a/path/that/somebody/copies"
    parts: list[Part] = [f"  see {path}", Wrapped("well-known words " * 2, indent=2)]
    assert text_of(parts, width=12).splitlines() == [
        *("  see", f"  {path}"),
        *("well-known", "  words", "  well-known", "  words"),
    ]
    assert text_of(["\u65e5" * 10], width=12).splitlines() == ["\u65e5" * 6, "\u65e5" * 4]


def test_notes_are_wrapped_for_readers_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "word " * 40 + "end"
    monkeypatch.delenv("COLUMNS", raising=False)
    notes().print(said)
    assert capsys.readouterr().err == f"{said}\n"
    monkeypatch.setenv("COLUMNS", "40")
    notes().print(said)
    assert max(map(len, capsys.readouterr().err.splitlines())) <= 40


@pytest.mark.parametrize(
    "text", ["\x1b[2J\x1b[31m", "\x9b31m\r\b\x7f\x00\x0b\x85", "\u202e\u2066\u2028\ud800"]
)
def test_what_a_terminal_would_obey_is_shown(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = f"a{text}b"
    parts: list[Part] = [hostile, Wrapped(hostile), Table((hostile,), [(hostile,)])]
    show(parts, width=200)
    notes().print(hostile)
    printed = capsys.readouterr()
    assert printed.out == text_of(parts, width=200)
    for shown in (printed.out, printed.err):
        assert visible(hostile) in shown
        assert not any(character in shown for character in text if not character.isprintable())
    assert (
        visible("\u0634\u0643 \u200f\u05d0 a\u200db\u00a0")
        == "\u0634\u0643 \u200f\u05d0 a\u200db\u00a0"
    )
