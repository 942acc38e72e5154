"""What every report's printed form is made of."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable

import pytest
from rich.cells import cell_len

from tcva_adapters.printing import (
    Part,
    Report,
    Table,
    Wrapped,
    encodable_json,
    notes,
    share,
    show,
    text_of,
    visible,
)


class Hostile(Report):
    @property
    def sentence(self) -> str:
        return "<b>2 of 3</b> pass"

    def parts(self) -> Iterable[Part]:
        yield "<script>alert(1)</script> [bold]x[/bold]"
        yield Table(("method", "mean"), [("a & b", "0.5")])


def test_a_report_is_text_and_inert_html() -> None:
    text = (
        "<b>2 of 3</b> pass\n<script>alert(1)</script> [bold]x[/bold]\nmethod  mean\na & b    0.5\n"
    )
    assert str(Hostile()) == Hostile().text() == text
    page = Hostile()._repr_html_()
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
    elements = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(re.findall(r"<(?!/)(\w+)", page)) == elements


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_stream_of_few_characters_gets_all_of_a_report(encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(["▁▄█… 打完 über", Table(("a",), [("█",)])], file=stream, width=40)
    stream.seek(0)
    shown = stream.read()
    assert shown.startswith("148")
    assert "\\u6253\\u5b8c" in shown
    text = '{"a": "打 ü \U0001f600"}'
    escaped = encodable_json(text, stream)
    assert escaped.isascii()
    assert json.loads(escaped) == json.loads(text)


def test_only_all_is_100_percent_and_only_none_is_0() -> None:
    assert [share(1.0), share(0.9999), share(0.0), share(1e-9)] == ["100%", ">99%", "0%", "<1%"]
    assert (share(0.9996, 1), share(0.0004, 1), share(0.5)) == (">99.9%", "<0.1%", "50%")


def test_colours_that_are_forced_stay_out_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in str(Hostile())


def test_columns_of_figures_are_found_and_never_cut() -> None:
    rows = [
        ("a name that is much too long for so narrow a console", "0.123", "-"),
        ("b", "12%", "7"),
    ]
    text = text_of([Table(("name", "x", "y"), rows, "prr")], width=30)
    assert text.splitlines()[0] == "name" + " " * 22 + "x  y"
    for cell in ("0.123", "12%"):
        assert cell in text
    assert "…" not in text


def test_what_does_not_fit_stands_below_and_names_are_not_broken() -> None:
    rows = [("ragas factual_correctness", "0.123", "45%", "0.5"), ("b", "1.000", "7%", "-")]
    table = Table(("method", "mean", "tied", "rho"), rows, "lr")
    assert text_of([table], width=38).splitlines() == [
        "method                      mean  tied",
        "ragas factual_correctness  0.123   45%",
        "b                          1.000    7%",
        "",
        "method                     rho",
        "ragas factual_correctness  0.5",
        "b                            -",
    ]
    spare = Table(table.header, rows, "lr", spare=(2,))
    assert text_of([spare], width=38).splitlines()[0] == "method                      mean  rho"
    keys = text_of([Table(table.header, rows, "lr", keys=2)], width=38).splitlines()
    assert [line.split() for line in keys if "method" in line] == [
        ["method", "mean", "tied"],
        ["method", "mean", "rho"],
    ]


def test_a_name_that_is_wider_than_the_console_is_folded() -> None:
    text = text_of([Table(("id", "n"), [("\u65e5\u672c" * 10, "1")])], width=24)
    assert max(map(cell_len, text.splitlines())) <= 24
    assert text.replace("\n", "").count("\u65e5") == 20 or text.count("\u65e5") == 10


def test_a_long_report_says_what_is_cut() -> None:
    class Long(Hostile):
        def parts(self) -> Iterable[Part]:
            yield from map(str, range(100))

    lines = Long().text().splitlines()
    assert len(lines) == 40
    assert lines[-2:] == ["37", "... 62 more lines: --all, or show(full=True)"]
    assert Long().text(full=True).splitlines()[-1] == "99"


def test_letters_say_where_columns_stand_and_the_last_goes_for_the_rest() -> None:
    text = text_of([Table(("a", "b", "c"), [("xxx", "y", "z z"), ("x", "yyy", "zzz z")], "lr")])
    assert text.splitlines() == ["a      b      c", "xxx    y    z z", "x    yyy  zzz z"]


def test_text_wraps_at_the_console_but_for_longer_words() -> None:
    stream = io.StringIO()
    path = "/a/path/that/somebody/copies"
    show([f"  see {path}", Wrapped("well-known words " * 2, indent=2)], file=stream, width=12)
    assert stream.getvalue().splitlines() == [
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


OBEYED = [
    *("\x1b[2J\x1b[31m", "\x1b]0;title\x07", "\x9b31m", "\r", "\b", "\x7f", "\x00", "\x0b", "\x85"),
    *("\u202e", "\u202d", "\u2066", "\u2069", "\u2028", "\ud800"),
]


@pytest.mark.parametrize("text", OBEYED)
def test_what_a_terminal_would_obey_is_shown(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    hostile = f"a{text}b"
    parts: list[Part] = [hostile, Wrapped(hostile), Table((hostile,), [(hostile,), (hostile,)])]
    show(parts, width=200)
    notes().print(hostile)
    printed = capsys.readouterr()
    assert printed.out == text_of(parts, width=200)
    for shown in (printed.out, printed.err):
        assert visible(hostile) in shown
        assert not any(character in shown for character in text if not character.isprintable())
    assert printed.out.count(visible(hostile)) == 5


def test_markup_and_emoji_of_rich_are_text() -> None:
    said = "[red]x[/red] :smile: [link=file:///etc/passwd]y[/link] \\[b]"
    assert text_of([said, Table((said,), [(said,)], "l")], width=200) == f"{said}\n" * 3


def test_scripts_of_all_directions_stay_as_they_are() -> None:
    for text in (
        "\u0634\u0643\u0631\u0627\u064b \u200f\u05d0",
        "\u65e5\u672c",
        "a\u200db",
        "\u00a0",
    ):
        assert visible(text) == text


@pytest.mark.parametrize(
    ("encoding", "shown"), [("ascii", "caf\\xe9 \\u65e5"), ("cp1252", "caf\u00e9 \\u65e5")]
)
def test_what_an_encoding_lacks_is_written_out(encoding: str, shown: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(["caf\u00e9 \u65e5"], file=stream)
    stream.seek(0)
    assert stream.read().rstrip() == shown
