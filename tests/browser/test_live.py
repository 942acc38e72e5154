"""Whatever the reader turns, scores, decisions and means are those of the library; its records stand as they are."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tcva_adapters.core.verdicts import SCHEMES
from tests.browser.conftest import Opener, Reports
from tests.browser.grid import rows
from tests.support.browser import Watched
from tests.support.reports import DEEPEVAL, RAGAS, Expected, example_content, two_runs

CONTENT = example_content()
SETTINGS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.9, "scheme": "aggressive", "penalty": "ramped", "threshold": 0.7},
    {
        "temperature": 1.0,
        "scheme": "conservative",
        "penalty": "absolute",
        "threshold": 0.95,
    },
]


def turn(page: Watched, changes: dict[str, Any]) -> None:
    """Every setting by its own control, as a reader does it."""
    form = page.page.get_by_role("form", name="Settings")
    if "scheme" in changes:
        form.get_by_role("button", name="More").click()
    for name, value in changes.items():
        if name in {"scheme", "penalty"}:
            form.locator(f"#{name}").select_option(value)
        else:
            label = {
                "temperature": "Temperature, as a number",
                "threshold": "Threshold",
            }[name]
            form.get_by_role("spinbutton", name=label).fill(str(value))
    page.settled()


def library(changes: dict[str, Any]) -> Expected:
    named = {"scheme": SCHEMES[changes["scheme"]]} if "scheme" in changes else {}
    return Expected.of(CONTENT, **{**changes, **named})


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_scores_and_counts(
    changes: dict[str, Any], reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), "#view=samples")
    turn(page, changes)
    expected = library(changes)
    listed = rows(page)
    assert len(listed) == len(CONTENT.samples)
    for row in listed:
        name = row["Sample"]
        if name not in expected.scores:
            assert row["TCVA"].startswith(("unscored: ", "nothing to check: "))
            continue
        score = expected.scores[name]
        shown = "✓ pass" if score >= expected.threshold else "✗ fail"
        assert row["TCVA"] == f"{score:.3f} {shown}", name
    page.page.get_by_role("link", name="Overview").click()
    assert page.value('[data-figure="mean"]') == pytest.approx(expected.mean, rel=1e-12)
    assert page.value('[data-figure="passed"]') == expected.passed
    for method in (RAGAS, DEEPEVAL):
        scores = CONTENT.table.column(method)
        mean = page.value(f'tr[data-method="{method}"] [data-figure="mean"]')
        assert mean == pytest.approx(np.nanmean(scores), rel=1e-12)


@pytest.mark.parametrize("method", [RAGAS, DEEPEVAL])
def test_decisions_side_by_side(
    method: str, reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), "#view=methods")
    page.page.get_by_role("combobox", name="Second").select_option(method)
    turn(page, {"temperature": 0.9, "threshold": 0.75})
    expected = library({"temperature": 0.9, "threshold": 0.75})
    scores = dict(
        zip(CONTENT.table.samples, CONTENT.table.column(method).tolist(), strict=True)
    )
    pairs = [
        (score >= 0.75, scores[name] >= CONTENT.table.threshold(method))
        for name, score in expected.scores.items()
        if not np.isnan(scores[name])
    ]
    table = {"both": (True, True), "first": (True, False), "second": (False, True)}
    for figure, combination in {**table, "neither": (False, False)}.items():
        assert page.value(f'[data-figure="{figure}"]') == pairs.count(combination), (
            figure
        )
    same = sum(one is two for one, two in pairs) / len(pairs)
    assert page.value('[data-figure="same"]') == pytest.approx(same, rel=1e-12)


def test_methods_without_a_common_sample(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("apart"), "#view=methods")
    second = page.page.get_by_role("combobox", name="Second")
    # Of three methods the one that has scores on the samples of the run.
    expect(second).to_have_value("same")
    for method in ("empty", "others"):
        second.select_option(method)
        page.settled()
        main = page.page.locator("main")
        expect(main).to_contain_text("No sample has a score by both")
        expect(main).not_to_contain_text("same score")
        assert main.locator("table").count() == 0


def test_what_changed_between_two_runs(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("two runs"), "#view=changes&T=0.6")
    content = two_runs()
    before, after = (
        Expected.of(content, run, temperature=0.6).scores for run in (0, 1)
    )
    both = [(before[name], after[name]) for name in before if name in after]
    gained = sum(one < 0.5 <= two for one, two in both)
    lost = sum(two < 0.5 <= one for one, two in both)
    main = page.page.locator("main")
    expect(main.locator(".lead")).to_have_text(
        f"{gained + lost} of {len(both)} decisions differ: {gained} newly pass, {lost} newly fail."
    )
    for alone in (before.keys() - after.keys(), after.keys() - before.keys()):
        for name in alone:
            expect(main.locator("ul.alone", has_text=name)).to_have_count(1)
    expect(main).to_contain_text("Claims that changed their verdict")
    expect(main).to_contain_text(
        "3 of 55 decisions change."
    )  # the library's own report
    page.page.get_by_role("combobox", name="Before").select_option("after")
    page.settled()
    expect(main.locator(".lead")).to_contain_text(
        f"{lost} newly pass, {gained} newly fail"
    )
    for run, warned in (
        ("before", 1),
        ("after", 0),
    ):  # only the first was judged by words
        page.goto(f"#view=overview&run={run}")
        expect(main.get_by_text("The lexical judge only compares words")).to_have_count(
            warned
        )


def test_records_by_the_kind_of_their_column(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("report alone"))
    table = page.page.get_by_role("region", name="agreement")
    cells = [
        row.locator("th, td").all_inner_texts() for row in table.locator("tr").all()
    ]
    assert cells == [
        ["Method", "Samples", "Spearman's ρ", "p-value", "Same decision", "Difference"],
        ["faithfulness", "54", "0.812 [0.71, 0.90]", "<0.001", "> 99 %", "+0.250"],
        ["ragas faithfulness", "52", "0.500", "0.250", "50 %", "–"],
    ]
    expect(page.page.locator("main")).to_contain_text("Ratings are of one person.")


def test_intervals_are_the_librarys_alone(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"))
    interval = re.compile(r"\[0\.\d+, 0\.\d+\]")
    assert not interval.search(page.page.locator("main").inner_text())
    page.goto("#view=statistics")
    assert interval.findall(page.page.locator("main").inner_text()) == ["[0.71, 0.90]"]


def test_by_slider_preset_and_curve_and_back(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"))
    number = page.page.get_by_role("spinbutton", name="Temperature, as a number")
    slider = page.page.get_by_role("slider")
    slider.press("ArrowRight")
    expect(number).to_have_value("0.51")
    page.page.get_by_role("button", name="strict", exact=True).click()
    expect(number).to_have_value("0.2")
    page.page.locator("svg.movable").click()
    page.settled()
    assert 0.5 < float(number.input_value()) < 0.65
    page.page.get_by_role("button", name="Reset").click()
    expect(number).to_have_value("0.5")


@pytest.mark.parametrize(
    ("name", "low", "refused"),
    [
        ("Temperature, as a number", 0.1, ("5", "-1", "0.05")),
        ("Threshold", 0, ("5", "-1")),
    ],
)
def test_a_number_out_of_range_is_refused(
    name: str,
    low: float,
    refused: tuple[str, ...],
    reports: Reports,
    open_report: Opener,
) -> None:
    page = open_report(reports("example"), "#view=overview&T=0.4&threshold=0.4")
    mean = page.value('[data-figure="mean"]')
    number = page.page.get_by_role("spinbutton", name=name)
    for typed in refused:
        number.click()
        page.page.keyboard.press("Control+a")
        page.page.keyboard.type(typed)
        page.page.keyboard.press("Enter")
        expect(number).to_have_value("0.4")
        expect(page.page.get_by_role("alert")).to_have_text(
            f"{typed} is outside {low} to 1"
        )
        assert page.value('[data-figure="mean"]') == mean
    number.fill("0.55")
    expect(page.page.get_by_role("alert")).to_have_count(0)
    expect(number).to_have_value("0.55")
    expect(page.page.locator(".printed")).to_contain_text("0.55")


def test_links_and_the_back_button(reports: Reports, open_report: Opener) -> None:
    file = reports("example")
    page = open_report(file)
    page.page.get_by_role("link", name="Samples", exact=True).click()
    turn(
        page,
        {"temperature": 0.35, "scheme": "linear", "penalty": "off", "threshold": 0.7},
    )
    page.page.get_by_role("combobox", name="Decision").select_option("failed")
    page.page.get_by_role("columnheader", name="Human rating").get_by_role(
        "button"
    ).click()
    page.page.get_by_role("button", name="Use dark colours").click()
    page.page.wait_for_url(
        re.compile("view=samples.*threshold=0.7.*failed.*sort=human")
    )
    link, shown = page.page.url.partition("#")[2], rows(page)
    assert 0 < len(shown) < len(CONTENT.samples)
    page.page.reload()
    assert rows(page) == shown
    page.page.get_by_role("gridcell").first.click()
    page.page.wait_for_url(re.compile("view=sample&"))
    page.page.go_back()
    expect(page.page.get_by_role("heading", level=2)).to_have_text("Samples")
    again = open_report(file, f"#{link}")
    assert rows(again) == shown
    assert again.call("() => document.documentElement.dataset.theme") == "dark"


def test_a_gate_is_read_with_keyboard_and_pointer(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("gate"), "#view=statistics")
    kept, broken, useless = page.page.locator("figure").all()
    slider, drawing = kept.get_by_role("slider"), kept.get_by_role("img")
    chosen = "Threshold 0.700: good answers that pass 52 %, false passes 11 %, their upper bound 15 %."
    expect(drawing).to_have_attribute("aria-label", f"Chosen: {chosen}")
    expect(kept).to_contain_text(chosen)
    assert drawing.locator(".passing").count() == 1
    slider.press("ArrowRight")
    stricter = "Threshold 0.800: good answers that pass 42 %, false passes 6 %, their upper bound 10 %."
    expect(slider).to_have_attribute("aria-valuetext", stricter)
    expect(kept).to_contain_text(stricter)
    drawing.hover(position={"x": 50, "y": 100})
    expect(kept).to_contain_text("Threshold 0.000: good answers that pass 100 %")
    expect(broken.get_by_role("img")).to_have_attribute(
        "aria-label", "No threshold is certified."
    )
    expect(broken.locator(".threshold")).to_have_text(["at most 2 %", "at least 50 %"])
    assert broken.locator(".passing").count() == 0
    expect(useless).to_contain_text("Certified, but not recommended: 0.400.")
    expect(useless).not_to_contain_text("Chosen")
    page.goto("#view=overview")
    expect(page.page.get_by_role("img", name=chosen)).to_have_count(1)
