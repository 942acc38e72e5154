"""The list of samples: sorting, filters, search, keys, and what is not drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.grid import headings, ids, rows
from tests.support.browser import Watched
from tests.support.reports import DEEPEVAL, RAGAS, Expected, example_content

Reports = Callable[[str], Path]


@pytest.fixture
def listed(reports: Reports, open_report: Opener) -> Watched:
    return open_report(reports("example"), "#view=samples")


def choose(page: Watched, label: str, option: str) -> None:
    page.page.get_by_role("combobox", name=label, exact=True).select_option(option)
    page.settled()


def test_sorts_by_every_column_in_both_directions(listed: Watched) -> None:
    for name in headings(listed):
        button = listed.page.get_by_role("columnheader", name=name).get_by_role("button")
        orders = []
        for _ in range(2):
            button.click()
            listed.settled()
            orders.append([row[name] for row in rows(listed)])
            heading = listed.page.get_by_role("columnheader", name=name)
            expect(heading).to_have_attribute("aria-sort", re.compile("ascending|descending"))
        for shown in orders:
            numbers = [float(each) for each in shown if re.fullmatch(r"[\d.]+", each)]
            assert numbers in (sorted(numbers), sorted(numbers, reverse=True)), name
        assert sorted(orders[0]) == sorted(orders[1])
        if len(set(orders[0])) > 1:
            assert orders[0] != orders[1], name


def test_failures_passes_and_unscored_part_the_samples(listed: Watched) -> None:
    expected = Expected.of(example_content())
    failing = {name for name, score in expected.scores.items() if score < expected.threshold}
    choose(listed, "Decision", "failed")
    assert set(ids(listed)) == failing
    choose(listed, "Decision", "passed")
    assert set(ids(listed)) == expected.scores.keys() - failing
    choose(listed, "Decision", "unscored")
    everything = {sample.id for sample in example_content().samples}
    assert set(ids(listed)) == everything - expected.scores.keys()


def test_only_those_that_a_method_decides_otherwise(listed: Watched) -> None:
    content = example_content()
    expected = Expected.of(content)
    different: dict[str, set[str]] = {}
    for method in content.methods:
        different[method.name] = {
            name
            for name, score in expected.scores.items()
            if (other := method.scores[name]) is not None
            and (other >= method.threshold) is not (score >= expected.threshold)
        }
        choose(listed, "Difference", method.name)
        assert set(ids(listed)) == different[method.name]
    choose(listed, "Difference", "*")
    assert set(ids(listed)) == different[RAGAS] | different[DEEPEVAL]


def test_by_level_and_by_group_together(listed: Watched) -> None:
    content = example_content()
    choose(listed, "Has a claim", "none")
    choose(listed, "domain", "medical")
    wanted = set()
    for sample in content.samples:
        judged = content.runs[0].assessments[sample.id or ""]
        if (
            judged.unscored is None
            and judged.counts[4] > 0
            and sample.metadata["domain"] == "medical"
        ):
            wanted.add(sample.id)
    assert set(ids(listed)) == wanted
    assert f"{len(wanted)} of 57 samples" in listed.page.get_by_role("status").first.inner_text()


@pytest.mark.parametrize("text", ["medical-00", "carton below 25", "VELORAZINE", "straße", "zzz"])
def test_searches_ids_questions_and_texts(text: str, listed: Watched) -> None:
    listed.page.keyboard.press("/")
    listed.page.keyboard.type(text)
    expect(listed.page.get_by_role("status").first).not_to_contain_text("searching")
    listed.page.wait_for_timeout(300)
    found = set(ids(listed))
    wanted = {
        sample.id
        for sample in example_content().samples
        if any(
            text.casefold() in (part or "").casefold()
            for part in (sample.id, sample.input, sample.response, *(sample.contexts or ()))
        )
    }
    assert wanted <= found
    if text == "zzz":
        assert found == set()
        listed.page.get_by_role("button", name="Show all samples").click()
        listed.settled()
        assert len(ids(listed)) == 57


def test_by_keys_from_the_list_into_a_sample_and_back(listed: Watched) -> None:
    order = ids(listed)
    grid = listed.page.get_by_role("grid")
    grid.focus()
    for key, at in [
        ("j", 1),
        ("ArrowDown", 2),
        ("k", 1),
        ("End", 56),
        ("Home", 0),
        ("ArrowDown", 1),
    ]:
        grid.press(key)
        selected = listed.page.locator("[role=row][aria-selected=true]")
        expect(selected).to_contain_text(order[at])
        expect(selected).to_be_in_viewport()
    grid.press("Enter")
    expect(listed.page.get_by_role("heading", level=2)).to_have_text(order[1])
    listed.page.keyboard.press("ArrowRight")
    expect(listed.page.get_by_role("heading", level=2)).to_have_text(order[2])
    listed.page.keyboard.press("Escape")
    expect(listed.page.get_by_role("grid")).to_be_visible()


def test_a_draw_is_said_and_all_figures_are_there(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("drawn"), "#view=samples")
    shown = rows(page)
    assert len(shown) == 400
    assert "draw" in page.page.locator("main").inner_text()
    lines = page.call("() => tcvaReport.figures.samples.line")
    without = next(i for i, line in enumerate(lines) if line < 0)
    page.goto(f"#view=sample&sample=sample-{without:05d}")
    expect(page.page.locator("main")).to_contain_text("texts of this sample are not in this page")
    expect(page.page.get_by_role("heading", name="The score")).to_be_visible()


def test_without_a_run_there_is_no_dial_and_a_list(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("fixed only"), "#view=samples")
    assert page.page.get_by_role("slider").count() == 0
    scores = example_content().methods[0].scores
    for row in rows(page):
        score = scores[row["Sample"]]
        found = row[headings(page)[1]]
        assert "unscored" in found if score is None else found == f"{score:.3f}"
