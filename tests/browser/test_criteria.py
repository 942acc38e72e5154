"""Several criteria of the same samples: each is shown with the texts that it is about."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener, Reports
from tests.support.browser import Watched
from tests.support.reports import ASKED

LINK = "#view=sample&sample=prices&run="


@pytest.fixture
def judged(reports: Reports, open_report: Opener) -> Watched:
    return open_report(reports("criteria"))


@pytest.mark.parametrize(
    ("criterion", "claimed", "against"),
    [
        ("faithfulness", "answer", "context 2"),
        ("correctness", "answer", "the reference"),
        ("context_recall", "reference", "context 2"),
        ("completeness", "reference", "the answer"),
    ],
)
def test_claims_and_quotes_stand_in_the_texts_of_the_criterion(
    criterion: str, claimed: str, against: str, judged: Watched
) -> None:
    judged.goto(LINK + criterion)
    _, said, reference = ASKED["prices"]
    main = judged.page.locator("main")
    main.get_by_role("button", name=f"Claim 1 in the {claimed}").click()
    marked = judged.page.locator("mark.chosen", has=judged.page.locator("#said-0"))
    whole = said if claimed == "answer" else reference
    text = re.sub(r"\d+$", "", marked.inner_text())
    assert text.strip()
    assert text.strip() in whole
    quote = main.get_by_role("button", name=f"Evidence of claim 1 in {against}")
    quote.click()
    expect(judged.page.locator("#evidence-0")).to_be_attached()
    expect(main).not_to_contain_text("No context contains these words")


def test_criteria_are_no_change_but_stand_side_by_side(judged: Watched) -> None:
    menu = judged.page.get_by_role("navigation", name="Views")
    expect(menu).not_to_contain_text("Changes")
    menu.get_by_text("Side by side").click()
    expect(judged.page.get_by_role("heading", level=2)).to_have_text("Side by side")
    expect(judged.page.locator("main")).to_contain_text(
        "Claims with different verdicts"
    )
    expect(judged.page.locator("main")).not_to_contain_text("newly")
    judged.page.get_by_role("combobox", name="Second").select_option("completeness")
    # Their claims are of other texts.
    expect(judged.page.locator("main")).not_to_contain_text("different verdicts")
