"""Two runs in one report: what changed, against the library and scipy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tcva_adapters.compare.paired_change import MeanChange
from tcva_adapters.stats.least_mean import mean_between
from tests.browser.conftest import Opener
from tests.browser.grid import rows
from tests.support.browser import Watched
from tests.support.reports import Expected, two_runs

Reports = Callable[[str], Path]
Scores = np.ndarray[Any, Any]
CONTENT = two_runs()


def intervals(after: Scores, before: Scores, groups: list[int] | None) -> list[float]:
    """Of the mean's change and of the pass rate's, as ``tcva evaluate --baseline`` has them."""
    changes = (after - before, (after >= 0.5).astype(float) - (before >= 0.5))
    found = [MeanChange.of(change, groups) for change in changes]
    return [end for each in found for end in (each.low, each.high)]


def ends(page: Watched) -> list[float]:
    """The ends of the intervals that are shown."""
    table = page.page.get_by_role("region", name="Differences")
    shown = table.locator("tbody td:last-child").all_inner_texts()
    cells = [end.replace("\u2212", "-") for text in shown for end in text.split(" to ")]
    return [float(end[:-1]) / 100 if end.endswith("%") else float(end) for end in cells]


def test_intervals_are_by_group(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("two runs by group"), "#view=changes&T=0.6")
    before, after = (Expected.of(CONTENT, run, temperature=0.6).scores for run in (0, 1))
    group = {sample.id or "": place // 3 for place, sample in enumerate(CONTENT.samples)}
    both = [name for name in before if name in after]
    one, two = (np.array([each[n] for n in both]) for each in (before, after))
    of = [group[name] for name in both]
    assert ends(page) == pytest.approx(intervals(two, one, of), abs=6e-4)
    main = page.page.locator("main")
    expect(main).to_contain_text(f"over {len(set(of))} groups")
    page = open_report(reports("two runs by group"), "#view=overview&T=0.6")
    scores = np.array(list(before.values()))
    of = [group[name] for name in before]
    for values, figure in ((scores, "mean"), ((scores >= 0.5) * 1.0, "pass-rate")):
        low, high = mean_between(values, groups=of)
        assert page.value(f'.tile [data-figure="{figure}-low"]') == pytest.approx(low, abs=1e-7)
        assert page.value(f'.tile [data-figure="{figure}-high"]') == pytest.approx(high, abs=1e-7)
    # The cells of correlations have no interval: that of the page is of single samples.
    assert page.page.locator('td:has([data-figure="agreement"]) .range').count() == 0


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
    assert ends(page) == pytest.approx(intervals(two, one, None), abs=6e-4)
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
