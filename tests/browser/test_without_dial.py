"""Reports of CCRS ratings and of systems: nothing in them follows a dial, so they have none."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from scipy import stats

from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.summary import summarise_ccrs
from tests.browser.conftest import Opener
from tests.browser.grid import rows
from tests.support.reports import example_ratings

Reports = Callable[[str], Path]

VIEWS = {"ccrs": ["Overview", "Samples", "Label"]}


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_has_no_dial_and_only_the_views_that_fit(
    name: str, reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports(name), "#view=flips&T=0.3&threshold=0.9")
    assert page.page.locator("nav a").all_inner_texts() == VIEWS[name]
    assert page.page.locator("input[type=range]").count() == 0
    expect(page.page.locator("nav a[aria-current=page]")).to_have_text(VIEWS[name][0])
    expect(page.page.locator("footer")).not_to_contain_text("computed in this page")


def test_ccrs_means_pass_rates_and_agreement(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("ccrs"))
    rated = example_ratings()
    expect(page.page.locator("main .lead")).to_have_text(summarise_ccrs(rated).sentence)
    assert page.page.locator("tr[data-method]").count() == len(rated[0].answers)
    for metric in rated[0].answers:
        human = {str(each.sample_id): each.metadata["human"] for each in rated}
        found = {str(each.sample_id): each.scores[metric] for each in rated}
        scores = {name: score for name, score in found.items() if score is not None}
        row = f'tr[data-method="{METRICS[metric].title}"]'
        passed = sum(score >= rated[0].threshold for score in scores.values())
        both = [name for name in scores if human[name] is not None]
        ranks = stats.spearmanr([scores[n] for n in both], [human[n] for n in both])
        for figure, wanted in {
            "mean": math.fsum(scores.values()) / len(scores),
            "pass-rate": passed / len(scores),
            "agreement": ranks.statistic,
        }.items():
            shown = page.value(f'{row} [data-figure="{figure}"]')
            assert shown == pytest.approx(wanted, abs=1e-12), (metric, figure)
        expect(page.page.locator(f"{row} td").first).to_have_text(str(len(scores)))


def test_ccrs_samples_sort_by_a_rating_and_open(reports: Reports, open_report: Opener) -> None:
    metric = METRICS["qr"].title
    page = open_report(reports("ccrs"), f"#view=samples&method={metric.replace(' ', '%20')}")
    scores = {str(each.sample_id): each.scores["qr"] for each in example_ratings()}
    heading = page.page.get_by_role("columnheader").get_by_role("button", name=metric)
    shown = rows(page)
    values = [float(row[metric]) for row in shown]
    assert values == sorted(values)
    heading.click()
    page.settled()
    assert [float(row[metric]) for row in rows(page)] == sorted(values, reverse=True)
    assert all(f"{scores[row['Sample']]:.3f}" == row[metric] for row in shown)
    lacking = next(each for each in example_ratings() if each.scores["ac"] is None)
    page.goto(f"#view=sample&sample={lacking.sample_id}")
    main = page.page.locator("main")
    expect(main).to_contain_text(f"{scores[str(lacking.sample_id)]:.3f}")
    expect(main).to_contain_text("the sample has no reference")


def test_errors_name_samples_that_open(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"), "#view=errors")
    largest = page.page.get_by_role("region", name="the 10 largest errors")
    first = largest.locator("tbody th").first
    name = first.inner_text()
    first.get_by_role("link").click()
    page.settled()
    expect(page.page.locator("main h2").first).to_contain_text(name)
