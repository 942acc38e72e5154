"""What every report's printed form is made of."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest

from tcva_adapters.printing import Part, Report, Table, Wrapped, show, text_of


class Hostile(Report):
    def parts(self) -> Iterable[Part]:
        yield "<script>alert(1)</script> [bold]x[/bold]"
        yield Table(("method", "mean"), [("a & b", "0.5")])


def test_a_report_is_text_and_inert_html() -> None:
    text = "<script>alert(1)</script> [bold]x[/bold]\nmethod  mean\na & b    0.5\n"
    assert str(Hostile()) == Hostile().text() == text
    page = Hostile()._repr_html_()
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
    assert page.count("<") == 2  # the element around it, and nothing of the report


def test_colours_that_are_forced_stay_out_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in str(Hostile())


def test_columns_of_figures_are_found_and_never_cut() -> None:
    rows = [
        ("a name that is much too long for so narrow a console", "0.123", "-"),
        ("b", "12%", "7"),
    ]
    text = text_of([Table(("name", "x", "y"), rows)], width=30)
    assert text.splitlines()[0] == "name" + " " * 22 + "x  y"
    for cell in ("0.123", "12%"):
        assert cell in text
    assert "…" not in text


def test_letters_say_where_columns_stand_and_the_last_goes_for_the_rest() -> None:
    text = text_of([Table(("a", "b", "c"), [("xxx", "y", "z z"), ("x", "yyy", "zzz z")], "lr")])
    assert text.splitlines() == ["a      b      c", "xxx    y    z z", "x    yyy  zzz z"]


def test_text_wraps_at_the_console_and_lines_do_not() -> None:
    stream = io.StringIO()
    show(["word " * 5 + "end", Wrapped("well-known words " * 2, indent=2)], file=stream, width=12)
    assert stream.getvalue().splitlines() == [
        "word word word word word end",  # older versions of rich cut spaces at the end
        *("well-known", "  words", "  well-known", "  words"),
    ]
