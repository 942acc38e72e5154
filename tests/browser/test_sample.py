"""One sample: claims, evidence, what was lowered, other judges, framework metrics, the arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tcva_adapters.results.result import interval_text
from tests.browser.conftest import Opener
from tests.support.browser import Watched
from tests.support.reports import RAGAS, example_content, fused_and_panel

Reports = Callable[[str], Path]
CONTENT = example_content()


def words_of(page: Watched, selector: str) -> set[str]:
    """The words of some texts, without the numbers of the claims that are marked in them."""
    texts: list[str] = page.page.locator(selector).evaluate_all(
        """all => all.map(each => {
          const copy = each.cloneNode(true);
          copy.querySelectorAll("button").forEach(button => button.remove());
          return copy.textContent;
        })"""
    )
    return set(re.findall(r"\w+", " ".join(texts)))


def opened(reports: Reports, open_report: Opener, name: str) -> Watched:
    return open_report(reports("example"), f"#view=sample&sample={name}")


def test_claims_with_levels_and_reasons(reports: Reports, open_report: Opener) -> None:
    judged = CONTENT.runs[0].assessments["medical-003"]
    page = opened(reports, open_report, "medical-003")
    claims = page.page.locator("li.claim")
    expect(claims).to_have_count(len(judged.claims))
    for number, claim in enumerate(judged.claims):
        shown = claims.nth(number)
        expect(shown).to_contain_text(claim.claim)
        expect(shown).to_contain_text(claim.verdict.value if claim.verdict else "not a claim")
        if claim.reason:
            expect(shown).to_contain_text(claim.reason)


@pytest.mark.parametrize("name", ["medical-001", "medical-003", "support-003"])
def test_evidence_is_marked_where_it_stands(
    name: str, reports: Reports, open_report: Opener
) -> None:
    page = opened(reports, open_report, name)
    for number, claim in enumerate(CONTENT.runs[0].assessments[name].claims, start=1):
        if not claim.evidence:
            continue
        button = page.page.get_by_role("button", name=re.compile(f"^Evidence of claim {number} in"))
        button.click()
        # A piece that several claims rest on carries the marks of all of them.
        mark = page.page.locator(".passage mark.chosen").first
        expect(mark).to_be_in_viewport()
        seen = words_of(page, ".passage mark.chosen")
        assert set(re.findall(r"\w+", claim.evidence)) <= seen, claim


def test_a_lowered_verdict_says_from_where_and_why(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("judges"), "#view=sample&sample=two")
    lowered = page.page.locator("li.claim").nth(1)
    expect(lowered).to_contain_text(re.compile(r"Lowered from\s*fully"))
    expect(lowered).to_contain_text("not found")
    expect(lowered).to_contain_text("partial")


def test_how_sure_a_score_is(reports: Reports, open_report: Opener) -> None:
    content = fused_and_panel()
    (run,) = content.runs
    found = run.result(run.assessments["two"]).interval
    assert found is not None
    page = open_report(reports("judges"), "#view=sample&sample=two")
    expect(page.page.get_by_text(interval_text(found))).to_have_count(1)
    expect(page.page.locator("li.claim").first).to_contain_text("weight")
    page = open_report(reports("judges"), "#view=sample&sample=one")
    expect(page.page.get_by_text("95% interval")).to_have_count(0)


def test_framework_metrics_beside_it(reports: Reports, open_report: Opener) -> None:
    page = opened(reports, open_report, "medical-003")
    method = CONTENT.methods[0]
    entry = page.page.locator("ul.methods > li", has_text=RAGAS)
    expect(entry).to_contain_text(f"{method.scores['medical-003']:.3f}")
    expect(entry).to_contain_text("Some of it can be inferred.")
    expect(entry.locator("ul.own > li")).to_have_count(len(method.said["medical-003"].verdicts))
    failed = next(iter(method.unscored))
    page.goto(f"#view=sample&sample={failed}")
    expect(page.page.locator("ul.methods > li", has_text=RAGAS)).to_contain_text("timeout")


def test_the_arithmetic_adds_up(reports: Reports, open_report: Opener) -> None:
    page = opened(reports, open_report, "medical-003")
    for link in ("", "&T=0.2", "&T=0.7&penalty=ramped", "&penalty=absolute", "&penalty=off"):
        page.goto(f"#view=sample&sample=medical-003{link}")
        result = page.page.locator("output.result").inner_text()
        assert page.page.locator(".summary .big").inner_text() == result
        outputs = page.page.locator("dl.working output").all_inner_texts()
        mean = float(outputs[1])
        factor = float(outputs[2]) if len(outputs) == 4 else 1.0
        assert float(outputs[-1]) == pytest.approx(mean * factor, abs=2e-3)


def test_additional_and_panel_judges(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("judges"), "#view=sample&sample=one")
    main = page.page.locator("main")
    for words in (
        "The panel's judges",
        "Additional judges",
        "additional",
        "mostly",
        "partial",
        "Fused",
    ):
        expect(main).to_contain_text(words)
    page.goto("#view=sample&sample=two")
    expect(
        page.page.get_by_role("img", name=re.compile("^Probabilities: fully 0.25"))
    ).to_be_visible()


def test_why_there_is_no_score(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("all unscored"), "#view=sample&sample=one")
    expect(page.page.locator("main")).to_contain_text("There is no score")
    expect(page.page.locator("main")).to_contain_text("60 s")


def test_no_text_is_lost(reports: Reports, open_report: Opener) -> None:
    for sample in CONTENT.samples[:6]:
        page = opened(reports, open_report, sample.id or "")
        shown = re.sub(r"\s+", "", page.page.locator("main").inner_text())
        for text in (sample.input, sample.reference):
            assert re.sub(r"\s+", "", text or "") in shown
        said = words_of(page, ".answer-said .prose")
        assert set(re.findall(r"\w+", sample.response or "")) <= said


def test_printed_with_everything_open(reports: Reports, open_report: Opener) -> None:
    page = opened(reports, open_report, "medical-003")
    page.page.emulate_media(media="print")
    page.settled()
    expect(page.page.locator("dl.metadata")).to_be_visible()
    for claim in CONTENT.runs[0].assessments["medical-003"].claims:
        expect(page.page.locator("li.claim", has_text=claim.claim[:40]).first).to_be_visible()
