"""Two runs in one report: what changed, against the library and scipy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from tcva_adapters.stats.means import mean_interval
from tests.browser.conftest import Opener
from tests.browser.grid import rows
from tests.support.reports import Expected, two_runs

Reports = Callable[[str], Path]
CONTENT = two_runs()


def test_figures_and_samples(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("two runs"), "#view=changes&T=0.6")
    before, after = (Expected.of(CONTENT, run, temperature=0.6) for run in (0, 1))
    both = [name for name in before.scores if name in after.scores]
    one, two = (np.array([each.scores[n] for n in both]) for each in (before, after))
    table = page.page.get_by_role("region", name="Differences")
    values = [
        float(v)
        for v in table.locator("[data-value]").evaluate_all(
            "all => all.map(each => each.dataset.value)"
        )
    ]
    wanted = [one.mean(), two.mean(), (two - one).mean()]
    passing = [(one >= 0.5).mean(), (two >= 0.5).mean()]
    assert values == pytest.approx([*wanted, *passing, passing[1] - passing[0]], abs=1e-12)
    found = mean_interval(two - one, ends=(-1.0, 1.0))
    shown = table.locator("tbody tr").first.inner_text().replace("\u2212", "-")
    for end in (found.low, found.high):
        assert f"{end:.3f}" in shown
    changed = {name for name, a, b in zip(both, one, two, strict=True) if a != b}
    assert {row["Sample"] for row in rows(page)} == changed
    main = page.page.locator("main")
    gained, lost = ((one < 0.5) & (two >= 0.5)).sum(), ((one >= 0.5) & (two < 0.5)).sum()
    expect(main).to_contain_text(f"{gained + lost} of {len(both)} decisions")
    for alone in (
        before.scores.keys() - after.scores.keys(),
        after.scores.keys() - before.scores.keys(),
    ):
        for name in alone:
            expect(main).to_contain_text(name)


def test_swapping_turns_the_difference_round(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("two runs"), "#view=changes")
    difference = page.page.get_by_role("region", name="Differences").locator("[data-value]").nth(2)
    first = float(difference.get_attribute("data-value") or "nan")
    page.page.get_by_role("button", name="Swap").click()
    page.settled()
    assert float(difference.get_attribute("data-value") or "nan") == pytest.approx(-first)
    assert first != 0.0


def test_the_run_is_chosen_in_the_dial(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("two runs"), "#view=samples")
    for number, name in enumerate(("before", "after")):
        page.page.get_by_role("combobox", name="Run", exact=True).select_option(name)
        page.settled()
        expected = Expected.of(CONTENT, number)
        for row in rows(page):
            score = expected.scores.get(row["Sample"])
            assert "unscored" in row["TCVA"] if score is None else row["TCVA"] == f"{score:.3f}"
