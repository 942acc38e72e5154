"""Conversations: their scores, their turns in order, and what turns and sentences are that claim nothing."""

import re

import pytest
from playwright.sync_api import expect

from tcva_adapters import Result
from tcva_adapters.results.conversation import ConversationResult
from tests.browser.conftest import Opener, Reports
from tests.browser.grid import rows
from tests.browser.test_label import press
from tests.support.browser import Watched
from tests.support.reports import talks

CONTENT = talks()
TEMPERATURES = (0.2, 0.5, 0.9)


def judged(name: str) -> ConversationResult:
    """What the library makes of a conversation."""
    (run,) = CONTENT.runs
    turns = [run.results[place] for place in CONTENT.table.conversations[name]]
    return ConversationResult([turn for turn in turns if isinstance(turn, Result)])


@pytest.fixture
def chat(reports: Reports, open_report: Opener) -> Watched:
    return open_report(
        reports("conversations"), "#view=conversation&conversation=lease"
    )


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_scores_are_those_of_the_library(
    temperature: float, reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("conversations"), f"#view=conversations&T={temperature}")
    listed = {row["Conversation"].split()[0]: row for row in rows(page)}
    assert list(listed) == ["lease", "hours", "outage"]
    for name in ("lease", "hours"):
        result = judged(name).at(temperature)
        decision = "✓ pass" if result.passed else "✗ fail"
        assert listed[name]["TCVA"] == f"{result.score:.3f} {decision}"
        page.goto(f"#view=conversation&conversation={name}&T={temperature}")
        assert page.value(".verdict [data-value]") == result.score
    assert listed["outage"]["TCVA"] == "unscored: timeout"
    page.goto(f"#view=conversation&conversation=outage&T={temperature}")
    expect(page.page.locator(".verdict")).to_contain_text("timeout: turn 2: 60 s")


def test_turns_stand_in_order_with_texts_scores_and_contexts(chat: Watched) -> None:
    turns = chat.page.locator("li.turn")
    samples = CONTENT.samples[:4]
    expect(turns).to_have_count(len(samples))
    for number, sample in enumerate(samples):
        expect(turns.nth(number)).to_contain_text(sample.input or "")
        answer = turns.nth(number).locator(".answered")
        for sentence in re.findall(r"[^.!?]+", sample.response or ""):
            expect(answer).to_contain_text(sentence.strip())
    (run,) = CONTENT.runs
    for number in (1, 2):
        result = run.results[number]
        assert result is not None
        expect(turns.nth(number)).to_contain_text(f"{result.score:.3f}")
        turns.nth(number).get_by_text("1 context").click()
        expect(turns.nth(number).locator(".passage")).to_contain_text(
            "Leases run for 36 months."
        )
    expect(turns.nth(2).locator(".guilty")).to_have_count(2)


def test_nothing_to_check_is_no_fault(chat: Watched) -> None:
    turns = chat.page.locator("li.turn")
    expect(turns.nth(0)).to_contain_text("nothing to check")
    expect(turns.nth(0)).not_to_contain_text("unscored")
    expect(turns.nth(3)).to_contain_text("unscored: empty context")
    names = chat.page.get_by_role("navigation", name="Turns").get_by_role("button")
    assert [names.nth(n).get_attribute("aria-label") for n in range(4)] == [
        "Turn 1: nothing to check: no claims",
        "Turn 2: pass",
        "Turn 3: fail",
        "Turn 4: unscored: empty context",
    ]
    chat.goto("#view=sample&sample=lease/1")
    expect(chat.page.locator(".verdict")).to_have_text("Nothing to check")
    expect(chat.page.locator("main")).not_to_contain_text("There is no score")
    chat.goto("#view=overview")
    unscored = chat.page.locator(".tile:has([data-figure=unscored])")
    expect(unscored).to_contain_text("of 8 samples, 1 with nothing to check")
    whole = chat.page.locator(".tile:has([data-figure=conversations])")
    expect(whole).to_contain_text("1 of 2")
    expect(whole).to_contain_text("1 unscored")


def test_claims_of_turns_are_removed_once_not_again_with_the_conversation(
    chat: Watched,
) -> None:
    (run,) = CONTENT.runs
    sizes = [len(each.seen.verdicts) for each in run.results if each]
    chat.goto("#view=overview")
    expect(chat.page.locator("[data-figure=served]")).to_contain_text(
        f"of {sum(sizes)} ("
    )


def test_sentences_that_claim_nothing_say_their_kind_and_who_marked_them(
    chat: Watched,
) -> None:
    claims = chat.page.locator("li.claim")
    kinds = {
        "lease/1": ["no claim: greeting", "no claim: question"],
        "hours/2": ["fully", "no claim: greeting, by the judge alone"],
    }
    for name, texts in kinds.items():
        chat.goto(f"#view=sample&sample={name}")
        expect(claims.locator(".level")).to_have_text(texts)


def test_by_keys_from_turn_to_turn_and_conversation_to_conversation(
    chat: Watched,
) -> None:
    heading = chat.page.get_by_role("heading", level=2)
    press(chat, "j", "j", "j")
    expect(chat.page.locator("li.turn.chosen")).to_contain_text("And the deposit?")
    expect(chat.page.locator("li.turn.chosen")).to_be_focused()
    press(chat, "Enter")
    expect(heading).to_have_text("lease/3")
    place = chat.page.get_by_role("navigation", name="Turns of the conversation")
    expect(place).to_contain_text(
        f"Turn 3 of 4 of lease, which scores {judged('lease').score:.3f}"
    )
    press(chat, "h")
    expect(heading).to_have_text("lease/2")
    press(chat, "l", "l")
    expect(heading).to_have_text("lease/4")
    press(chat, "l")  # there is no fifth
    expect(heading).to_have_text("lease/4")
    place.get_by_role("link", name="earlier turn").click()
    expect(heading).to_have_text("lease/3")
    chat.page.get_by_text("2 earlier turns").click()
    earlier = chat.page.locator("details.earlier")
    for text in ("Hi!", "Hello! How can I help?", "How long does a lease run?"):
        expect(earlier).to_contain_text(text)
    press(chat, "c")
    expect(heading).to_have_text("lease")
    press(chat, "ArrowRight")
    expect(heading).to_have_text("hours")
    press(chat, "Escape")
    expect(chat.page.get_by_role("grid")).to_be_visible()
    press(chat, "Enter")
    expect(heading).to_have_text("hours")


def test_a_claim_of_a_turn_is_one_click_away(chat: Watched) -> None:
    chat.page.get_by_role("button", name="Claim 2: none").click()
    expect(chat.page.locator(".claim.chosen .claim-text")).to_have_text(
        "The helmet is free."
    )
    chat.page.go_back()
    chat.page.locator("li.turn .guilty a").last.click()
    expect(chat.page.locator(".claim.chosen .claim-text")).to_have_text(
        "The deposit is 500 euros."
    )


def test_no_conversation_of_that_name(chat: Watched) -> None:
    chat.goto("#view=conversation&conversation=x")
    expect(chat.page.locator("main")).to_contain_text(
        "No conversation of this report has the id x"
    )
