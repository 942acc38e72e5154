"""Several criteria of the same samples: their texts, citations, contexts, and why answers are wrong."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.report import write
from tests.browser.conftest import Opener, Reports
from tests.browser.test_label import export, press
from tests.support.browser import Watched
from tests.support.reports import ASKED, criteria_judged, several_criteria

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


def test_a_diagnosis_says_what_is_wrong_and_leads_to_the_claim(judged: Watched) -> None:
    content = several_criteria()
    (shown,) = (report for view, report in content.reports if view == "diagnosis")
    main = judged.page.locator("main")
    expect(main).to_contain_text(shown.sentence)
    main.get_by_role("link", name="Causes and their claims").click()
    expect(main.get_by_role("status")).to_have_text(shown.sentence)
    expect(main).to_contain_text("at least 0.7, that of partial")
    for of, cause, text, context in (
        ("response", "irrelevant passage", "The shop in Lund closed in 2019 [3].", 3),
        ("response", "hallucination", "Insurance is free [9].", 0),
        ("reference", "not retrieved", "A deposit of 50 euros is due.", 0),
        ("reference", "not used", "A helmet costs 3 euros a day.", 4),
    ):
        judged.goto("#view=diagnosis")
        number = sum(
            (claim["of"], claim["cause"]) == (of, cause)
            for claim in shown.table("claims").records
        )
        button = main.locator(
            "button.cause", has=judged.page.locator(f"[data-figure='{of} {cause}']")
        )
        assert judged.value(f"[data-figure='{of} {cause}']") == number
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        judged.page.wait_for_url(re.compile("cause="))
        fault = main.locator(".fault").filter(has_text=text)
        agreeing = "correctness" if of == "response" else "completeness"
        level = re.escape(f"{agreeing} none (0.")
        expect(fault).to_have_text(re.compile(level))
        if context:
            expect(fault).to_contain_text(f"passage {context}")
        else:
            expect(fault).not_to_contain_text("passage")
        fault.get_by_role("link").click()
        chosen = judged.page.locator("li.claim.chosen")
        expect(chosen.locator(".claim-text")).to_have_text(text)
        expect(chosen.locator(".cause-text")).to_have_count(1)
        judged.page.go_back()
        expect(button).to_have_attribute("aria-pressed", "true")


def test_a_turn_says_what_is_wrong_with_it_and_the_diagnosis_leads_to_it(
    judged: Watched,
) -> None:
    judged.goto("#view=diagnosis&cause=response+hallucination")
    judged.page.get_by_role("link", name="turn 3 of chat").click()
    expect(judged.page.get_by_role("heading", level=2)).to_have_text("chat")
    turn = judged.page.locator("li.turn").nth(2)
    expect(turn.locator(".guilty .cause-text")).to_have_text(
        "wrong: it stands in no passage"
    )


def test_contexts_say_which_claims_rest_on_them(judged: Watched) -> None:
    judged.goto(LINK + "faithfulness")
    contexts = judged.page.locator(".answer-contexts")
    result = next(
        each for each in criteria_judged()["faithfulness"] if each.sample_id == "prices"
    )
    uses = result.passages()
    expect(contexts).to_contain_text(
        f"{sum(use.is_used for use in uses)} of {len(uses)} contexts used."
    )
    for use, shown in zip(uses, contexts.locator(".passage").all(), strict=True):
        expect(shown.locator(".rests")).to_contain_text(use.id or "")
        numbers = shown.locator(".rests").get_by_role("button").all_inner_texts()
        assert numbers == [str(place + 1) for place in use.claims]
        expect(shown.locator(".rests")).to_contain_text(
            f"weight {use.weight:.2f}" if use.claims else "no claim rests on it"
        )
    contexts.get_by_role("button", name="Claim 2 rests on this context").click()
    expect(judged.page.locator("li.claim.chosen .claim-number")).to_have_text("2")
    judged.goto(LINK + "correctness")
    expect(judged.page.locator(".rests")).to_have_count(0)


def test_citations_are_marked_in_the_answer_with_what_came_of_them(
    judged: Watched,
) -> None:
    results = {each.sample_id: each for each in criteria_judged()["faithfulness"]}
    outcomes = set()
    for name in ("hours", "prices", "chat/2", "chat/3"):
        judged.goto(f"#view=sample&sample={name}&run=faithfulness")
        parts = results[name].citations().parts
        marks = judged.page.locator(".answer-said mark .cite")
        assert marks.all_inner_texts() == [
            mark for part in parts for mark in part.marks
        ]
        for part in parts:
            outcomes.add(part.outcome)
            claim = judged.page.locator("li.claim").nth(part.place)
            expect(claim.locator(".citation")).to_contain_text(
                f"Citation {part.outcome}"
            )
            expect(claim.locator(f".cite-{part.outcome}")).to_have_count(
                len(part.marks)
            )
    assert outcomes >= {"confirmed", "elsewhere", "broken"}
    judged.goto("#view=conversation&conversation=chat")
    expect(judged.page.locator("li.turn mark .cite")).to_have_text(["[1]", "[4]"])


def test_a_citation_to_check_leads_to_its_claim(judged: Watched) -> None:
    judged.goto("#view=diagnosis")
    table = judged.page.get_by_role("region", name="citations to check")
    row = table.get_by_role("row").filter(has_text="Insurance is free [9].")
    expect(row).to_contain_text("broken")
    row.get_by_role("link", name="prices").click()
    chosen = judged.page.locator("li.claim.chosen")
    expect(chosen.locator(".cite-broken")).to_have_text("[9]")


def test_criteria_that_cannot_be_joined_are_shown_without_a_diagnosis(
    open_report: Opener, tmp_path: Path
) -> None:
    judged = criteria_judged()
    twice = {name: judged[name] for name in ("faithfulness", "correctness")}
    twice["again"] = [
        Result(result.assessment.model_copy()) for result in judged["correctness"]
    ]
    write(twice, tmp_path / "page.html")
    page = open_report(tmp_path / "page.html")
    menu = page.page.get_by_role("navigation", name="Views")
    expect(menu).to_contain_text("Changes")
    expect(menu).not_to_contain_text("Diagnosis")
    expect(page.page.locator("main")).to_contain_text("no diagnosis: ")


def test_a_claim_that_empty_contexts_cannot_support_is_shown_with_its_text(
    open_report: Opener, tmp_path: Path
) -> None:
    sample = Sample(
        id="a", response="Dogs ride free.", reference="Cats do.", contexts=[]
    )
    names = ("faithfulness", "correctness")
    results = {n: [TCVA(n, judge="lexical").evaluate(sample)] for n in names}
    write(results, tmp_path / "page.html", samples=[sample])
    page = open_report(tmp_path / "page.html")
    page.goto("#view=diagnosis")
    fault = page.page.locator(".fault")
    expect(fault).to_contain_text("Dogs ride free.")
    fault.get_by_role("link").click()
    chosen = page.page.locator("li.claim.chosen")
    expect(chosen.locator(".claim-text")).to_have_text("Dogs ride free.")


def test_without_correctness_no_answer_is_said_to_be_right(
    open_report: Opener, tmp_path: Path
) -> None:
    judged = criteria_judged()
    names = ("faithfulness", "completeness")
    write({name: judged[name] for name in names}, tmp_path / "page.html")
    page = open_report(tmp_path / "page.html")
    page.goto("#view=diagnosis")
    main = page.page.locator("main")
    expect(main).to_contain_text("Not judged by correctness.")
    expect(main).not_to_contain_text("No claim of an answer is wrong.")


def test_each_criterion_has_labels_of_its_own(judged: Watched, tmp_path: Path) -> None:
    def item(run: str) -> Locator:
        judged.page.get_by_role("combobox", name="Run").select_option(run)
        judged.settled()
        judged.page.evaluate("document.activeElement.blur()")
        return judged.page.locator(".item")

    judged.goto("#view=label")
    judged.page.get_by_role("combobox", name="Order").select_option("file")
    shown = item("faithfulness")
    expect(shown).not_to_contain_text("Reference")
    press(judged, "1", "1")
    expect(shown.locator(".labelled")).to_contain_text("Labelled.")
    shown = item("correctness")
    expect(shown).to_contain_text("Label them by the reference")
    expect(shown).to_contain_text(ASKED["hours"][2])
    expect(shown.get_by_text("not labelled")).to_have_count(2)
    press(judged, "5", "5")
    shown = item("completeness")
    expect(shown).to_contain_text("Claims of the reference")
    expect(shown.get_by_text("not labelled")).to_have_count(2)
    for run, level in (("correctness", "fully"), ("faithfulness", "none")):
        item(run)
        file = export(judged, tmp_path)
        assert file.name == f"labels.{run}.jsonl"
        (line,) = file.read_text(encoding="utf-8").splitlines()
        verdicts = [claim["verdict"] for claim in json.loads(line)["claims"]]
        assert verdicts == [level, level]
