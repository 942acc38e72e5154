"""Whatever the reader turns, the figures are those of the library."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tcva_adapters.core.verdicts import SCHEMES
from tcva_adapters.results.result import Result
from tests.browser.conftest import Opener
from tests.browser.grid import rows
from tests.browser.test_every_view import NONSENSE
from tests.support.browser import Watched
from tests.support.reports import Expected, example_content

Reports = Callable[[str], Path]

SETTINGS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.1},
    {"temperature": 0.35, "penalty": "off"},
    {"temperature": 0.46, "scheme": "linear"},
    {"temperature": 0.9, "scheme": "aggressive", "penalty": "ramped", "threshold": 0.7},
    {"temperature": 1.0, "scheme": "conservative", "penalty": "absolute", "threshold": 0.95},
]


def turn(page: Watched, changes: dict[str, Any]) -> None:
    """Every setting by its own control, as a reader does it."""
    form = page.page.get_by_role("form", name="The dial")
    for name, value in changes.items():
        if name in {"scheme", "penalty"}:
            form.locator(f"#{name}").select_option(value)
        else:
            label = {"temperature": "Temperature, as a number", "threshold": "Threshold"}[name]
            form.get_by_role("spinbutton", name=label).fill(str(value))
    page.settled()


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_all_scores_follow(changes: dict[str, Any], reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"), "#view=samples")
    turn(page, changes)
    content = example_content()
    settings = {**changes}
    if "scheme" in changes:
        settings["scheme"] = SCHEMES[changes["scheme"]]
    scoring = content.runs[0].scoring
    expected = Expected.of(content, **settings)
    shown = rows(page)
    assert len(shown) == len(content.samples)
    for row in shown:
        name = row["Sample"]
        if name not in expected.scores:
            assert "unscored" in row["TCVA"]
            continue
        score = expected.scores[name]
        assert row["TCVA"] == f"{score:.3f}"
        assert ("pass" in row["Decision"]) is (score >= expected.threshold), name
        flip = Result(
            content.runs[0].assessments[name], scoring.changed(**settings)
        ).flip_temperature
        assert row["Passes from T"] == ("never" if flip is None else f"{flip:.2f}"), name


def test_the_slider_by_keys_and_by_mouse(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"), "#view=samples")
    slider = page.page.get_by_role("slider")
    number = page.page.get_by_role("spinbutton", name="Temperature, as a number")
    slider.focus()
    for key, value in [
        ("ArrowRight", "0.51"),
        ("Home", "0.1"),
        ("End", "1"),
        ("ArrowLeft", "0.99"),
    ]:
        slider.press(key)
        expect(number).to_have_value(value)
    box = slider.bounding_box()
    assert box is not None
    page.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.settled()
    assert float(number.input_value()) == pytest.approx(0.55, abs=0.02)
    assert slider.get_attribute("aria-valuetext") is not None


def test_presets_and_reset(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"))
    number = page.page.get_by_role("spinbutton", name="Temperature, as a number")
    for name, value in [("strict", "0.2"), ("balanced", "0.5"), ("lenient", "0.9")]:
        button = page.page.get_by_role("button", name=name, exact=True)
        button.click()
        expect(number).to_have_value(value)
        expect(button).to_have_attribute("aria-pressed", "true")
    turn(page, {"threshold": 0.8, "penalty": "off", "scheme": "linear"})
    page.page.get_by_role("button", name="Reset").click()
    expect(number).to_have_value("0.5")
    state = page.call("() => tcvaReport.store.state")
    assert {state.get(n) for n in ("temperature", "scheme", "penalty", "threshold")} == {None}


@pytest.mark.parametrize("typed", ["", "abc", "7", "-1", "0.05"])
def test_a_number_that_is_none_changes_nothing(
    typed: str, reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"))
    number = page.page.get_by_role("spinbutton", name="Temperature, as a number")
    number.focus()
    number.press("ControlOrMeta+a")
    number.press("Delete")
    number.type(typed)
    assert page.call("() => tcvaReport.store.state.temperature ?? null") is None
    number.blur()
    expect(number).to_have_value("0.5")


def test_the_address_follows_and_a_link_shows_the_same(
    reports: Reports, open_report: Opener
) -> None:
    file = reports("example")
    page = open_report(file, "#view=samples")
    turn(page, {"temperature": 0.35, "scheme": "linear", "penalty": "off", "threshold": 0.7})
    page.page.wait_for_url(re.compile("threshold=0.7"))
    link = page.page.url.partition("#")[2]
    for part in ("view=samples", "scheme=linear", "penalty=off", "threshold=0.7"):
        assert part in link
    shown = rows(page)  # now: a browser draws a tab that is behind another one once a second
    assert rows(open_report(file, f"#{link}")) == shown


def test_the_back_button_goes_through_views_and_not_through_moves(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), "#view=overview")
    page.page.get_by_role("link", name="Samples", exact=True).click()
    turn(page, {"temperature": 0.2})
    turn(page, {"temperature": 0.3})
    page.page.get_by_role("gridcell").first.click()
    page.page.wait_for_url(re.compile("view=sample&"))
    page.page.go_back()
    page.page.wait_for_url(re.compile("view=samples"))
    expect(page.page.get_by_role("heading", level=2)).to_have_text("Samples")
    assert page.call("() => tcvaReport.store.state.temperature") == 0.3
    page.page.go_back()
    page.page.wait_for_url(re.compile("view=overview"))
    page.page.go_forward()
    expect(page.page.get_by_role("heading", level=2)).to_have_text("Samples")


@pytest.mark.parametrize(
    "link",
    [
        "#view=nothing&sample=nobody&T=abc&scheme=x&penalty=y&threshold=9&run=z&method=w",
        "#view=sample&sample=nobody",
        "#T=99",
        "#T=0.01&threshold=-3",
        "#%%%",
        "#view=samples&scheme=__proto__&penalty=constructor",
    ],
)
def test_a_link_that_fits_nothing_shows_the_report_all_the_same(
    link: str, reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), link)
    expect(page.page.get_by_role("heading", level=2)).to_have_count(1)
    assert NONSENSE.findall(page.page.locator("body").inner_text()) == []
    for name, value in [("Temperature, as a number", "0.5"), ("Threshold", "0.5")]:
        expect(page.page.get_by_role("spinbutton", name=name)).to_have_value(value)
    expect(page.page.get_by_role("combobox", name="Weights")).to_have_value("default")
    expect(page.page.get_by_role("combobox", name="Penalty")).to_have_value("paper")
