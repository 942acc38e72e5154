"""The figures of the overview and of two methods side by side, against the library and scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from scipy import stats

from tcva_adapters.core.flip import flip_temperature
from tcva_adapters.stats.means import mean_intervals
from tests.browser.conftest import Opener
from tests.browser.test_dial import turn
from tests.support.browser import Watched
from tests.support.reports import DEEPEVAL, RAGAS, RUN, Expected, example_content

Reports = Callable[[str], Path]
CONTENT = example_content()
CLOSE: dict[str, Any] = {"rel": 1e-12, "abs": 1e-12}
LOOKS: list[dict[str, Any]] = [{}, {"temperature": 0.2}, {"temperature": 0.9, "threshold": 0.75}]


def of_row(page: Watched, method: str, figure: str) -> float:
    return page.value(f'tr[data-method="{method}"] [data-figure="{figure}"]')


def bars(page: Watched, selector: str) -> list[int]:
    counts = page.page.locator(selector).evaluate_all("all => all.map(bar => bar.dataset.count)")
    return list(map(int, counts))


def exact(passed: int, n: int) -> tuple[float, float]:
    found = stats.binomtest(passed, n).proportion_ci(0.95, method="exact")
    return found.low, found.high


def spearman(one: dict[str, float], two: dict[str, float]) -> float:
    both = sorted(one.keys() & two.keys())
    return float(stats.spearmanr([one[n] for n in both], [two[n] for n in both]).statistic)


@pytest.mark.parametrize("changes", LOOKS, ids=str)
def test_mean_pass_rate_and_intervals(
    changes: dict[str, Any], reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"))
    turn(page, changes)
    expected = Expected.of(CONTENT, **changes)
    values, n = np.array(expected.values), len(expected.values)
    low, high = (end.item() for end in mean_intervals(values[:, None])[1:])
    rate = exact(expected.passed, n)
    for figure, wanted in {
        "mean": math.fsum(values) / n,
        "mean-low": low,
        "mean-high": high,
        "pass-rate": expected.passed / n,
        "pass-rate-low": rate[0],
        "pass-rate-high": rate[1],
        "coverage": n / len(CONTENT.samples),
    }.items():
        assert page.value(f'.tiles [data-figure="{figure}"]') == pytest.approx(wanted, **CLOSE)
    sentence = page.page.locator('[data-figure="sentence"]')
    expect(sentence).to_contain_text(f"{expected.passed} of {n} scored samples")
    edges = np.arange(21) / 20
    counts = np.histogram(values + 1e-12, bins=[*edges[:-1], 1.1])[0].tolist()
    assert bars(page, "svg.chart rect[data-count]") == counts


@pytest.mark.parametrize("changes", LOOKS, ids=str)
def test_every_method_in_the_table(
    changes: dict[str, Any], reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"))
    turn(page, changes)
    expected = Expected.of(CONTENT, **changes)
    assert CONTENT.human is not None
    human = dict(CONTENT.human.ratings)
    assert of_row(page, RUN, "mean") == pytest.approx(np.mean(expected.values), **CLOSE)
    assert of_row(page, RUN, "agreement") == pytest.approx(
        spearman(expected.scores, human), **CLOSE
    )
    for method in CONTENT.methods:
        scores = {name: score for name, score in method.scores.items() if score is not None}
        passed = sum(score >= method.threshold for score in scores.values())
        wanted = {
            "mean": np.mean(list(scores.values())),
            "pass-rate": passed / len(scores),
            "agreement": spearman(scores, human),
        }
        for figure, value in wanted.items():
            assert of_row(page, method.name, figure) == pytest.approx(value, **CLOSE)


@pytest.mark.parametrize("method", [RAGAS, DEEPEVAL])
@pytest.mark.parametrize("changes", LOOKS, ids=str)
def test_decisions_side_by_side(
    method: str, changes: dict[str, Any], reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), "#view=methods")
    page.page.get_by_role("combobox", name="Method").select_option(method)
    turn(page, changes)
    expected = Expected.of(CONTENT, **changes)
    other = next(each for each in CONTENT.methods if each.name == method)
    scores = {name: score for name, score in other.scores.items() if score is not None}
    pairs = [
        (score >= expected.threshold, scores[name] >= other.threshold)
        for name, score in expected.scores.items()
        if name in scores
    ]
    wanted = {"both": (True, True), "only-tcva": (True, False), "only-method": (False, True)}
    for figure, combination in {**wanted, "neither": (False, False)}.items():
        assert page.value(f'[data-figure="{figure}"]') == pairs.count(combination), figure
    same = sum(one is two for one, two in pairs) / len(pairs)
    assert page.value('[data-figure="same"]') == pytest.approx(same, **CLOSE)
    rank = spearman(expected.scores, scores)
    assert page.value('[data-figure="spearman"]') == pytest.approx(rank, **CLOSE)


def test_flips_follow_the_threshold(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"), "#view=flips")
    for threshold in (0.5, 0.8):
        turn(page, {"threshold": threshold})
        page.page.locator('[data-figure="always"]').wait_for()
        page.page.wait_for_timeout(300)
        rows = [each.counts for each in CONTENT.runs[0].assessments.values() if not each.unscored]
        flips = [flip_temperature(row, threshold) for row in rows]
        assert page.value('[data-figure="always"]') == flips.count(0.1)
        assert page.value('[data-figure="never"]') == flips.count(None)
        between = [flip for flip in flips if flip is not None and flip > 0.1]
        assert sum(bars(page, "svg.chart rect[data-count]")) == len(between)


def test_a_click_into_the_curve_turns_the_dial(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"))
    box = page.page.locator("svg.movable").bounding_box()
    assert box is not None
    page.page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    page.settled()
    number = page.page.get_by_role("spinbutton", name="Temperature, as a number")
    assert 0.5 < float(number.input_value()) < 0.65


def test_the_mark_of_a_sample_opens_it(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"), "#view=overview")
    link = page.page.locator("main a", has_text="medical-008").first
    link.click()
    expect(page.page.get_by_role("heading", level=2)).to_have_text("medical-008")
    expect(page.page.locator("main")).to_contain_text("There is no score")
