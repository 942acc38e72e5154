"""The list of samples (sorting, filters, search, keys), and one sample (claims, evidence, judges, score)."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from tcva_adapters import TCVA, Sample
from tcva_adapters.report import write
from tests.browser.conftest import Opener, Reports
from tests.browser.grid import headings, ids, rows
from tests.support.browser import Watched
from tests.support.reports import RAGAS, Expected, example_content
from tests.support.scripted import ScriptedModel

CONTENT = example_content()
JUDGED = {each.sample_id: each for each in CONTENT.runs[0].results if each}


@pytest.fixture
def listed(reports: Reports, open_report: Opener) -> Watched:
    return open_report(reports("example"), "#view=samples")


def choose(page: Watched, label: str, option: str) -> set[str]:
    """The samples that are left."""
    page.page.get_by_role("combobox", name=label, exact=True).select_option(option)
    page.settled()
    return set(ids(page))


def test_sorts_by_every_column_in_both_directions(listed: Watched) -> None:
    for name in headings(listed):
        heading = listed.page.get_by_role("columnheader", name=name)
        orders = []
        for _ in range(2):
            heading.get_by_role("button").click()
            listed.settled()
            orders.append([row[name] for row in rows(listed)])
            expect(heading).to_have_attribute(
                "aria-sort", re.compile("ascending|descending")
            )
            numbers = [
                float(n)
                for n in re.findall(r"(?m)^(?:≠)?([\d.]+)", "\n".join(orders[-1]))
            ]
            assert numbers in (sorted(numbers), sorted(numbers, reverse=True)), name
        assert sorted(orders[0]) == sorted(orders[1])
        assert orders[0] != orders[1] or len(set(orders[0])) == 1, name


def test_filters_alone_and_together(listed: Watched) -> None:
    expected = Expected.of(CONTENT)
    failing = {
        name for name, score in expected.scores.items() if score < expected.threshold
    }
    assert choose(listed, "Decision", "failed") == failing
    assert choose(listed, "Decision", "passed") == expected.scores.keys() - failing
    assert (
        choose(listed, "Decision", "unscored") == JUDGED.keys() - expected.scores.keys()
    )
    choose(listed, "Decision", "all")
    scores = dict(zip(CONTENT.table.samples, CONTENT.table.column(RAGAS), strict=True))
    different = {
        name
        for name in expected.scores
        if not np.isnan(scores[name]) and bool(scores[name] >= 0.5) is (name in failing)
    }
    assert choose(listed, "Difference", RAGAS) == different
    assert choose(listed, "Difference", "*") > different
    choose(listed, "Difference", "")
    choose(listed, "Has a claim", "none")
    medical = {
        sample.id
        for sample in CONTENT.samples
        if sample.metadata["domain"] == "medical"
    }
    wanted = {name for name in medical if "none" in JUDGED[name].assessment.verdicts}
    assert choose(listed, "domain", "medical") == wanted
    assert (
        f"{len(wanted)} of 57 samples"
        in listed.page.get_by_role("status").first.inner_text()
    )


@pytest.mark.parametrize("text", ["carton below 25", "VELORAZINE", "zzz"])
def test_searches_ids_questions_and_texts(text: str, listed: Watched) -> None:
    listed.page.keyboard.press("/")
    listed.page.keyboard.type(text)
    expect(listed.page.get_by_role("status").first).not_to_contain_text("searching")
    listed.page.wait_for_timeout(300)
    wanted = {
        s.id for s in CONTENT.samples if text.casefold() in str(dict(s)).casefold()
    }
    assert wanted <= set(ids(listed))
    assert bool(wanted) is bool(ids(listed))


def test_from_the_search_into_the_hits_and_out(listed: Watched) -> None:
    selected = listed.page.locator("[role=row][aria-selected=true]")
    search = listed.page.get_by_role("searchbox")
    for key in ("Enter", "ArrowDown"):
        listed.page.keyboard.press("/")
        expect(search).to_be_focused()
        listed.page.keyboard.press("Control+a")
        listed.page.keyboard.type("medical-00")
        listed.settled()
        hits = ids(listed)
        assert len(hits) > 2
        listed.page.keyboard.press(key)
        expect(selected).to_contain_text(hits[0])
        listed.page.keyboard.press("ArrowDown")
        expect(selected).to_contain_text(hits[1])
    listed.page.keyboard.press("Enter")
    expect(listed.page.get_by_role("heading", level=2)).to_have_text(hits[1])
    listed.page.go_back()
    expect(
        search
    ).to_be_visible()  # a key that comes before the list goes to the sample
    listed.page.keyboard.press("/")
    listed.page.keyboard.press("Escape")
    expect(search).to_have_value("")
    everything = ids(listed)
    assert len(everything) == len(CONTENT.samples)
    listed.page.keyboard.press("End")
    expect(selected).to_contain_text(everything[-1])


def test_by_keys_from_the_list_into_a_sample_and_back(listed: Watched) -> None:
    order = ids(listed)
    selected = listed.page.locator("[role=row][aria-selected=true]")
    for key, at in [("End", 56), ("Home", 0), ("j", 1)]:
        listed.page.keyboard.press(key)
        expect(selected).to_contain_text(order[at])
        expect(selected).to_be_in_viewport()
    listed.page.keyboard.press("Enter")
    expect(listed.page.get_by_role("heading", level=2)).to_have_text(order[1])
    listed.page.keyboard.press("ArrowRight")
    expect(listed.page.get_by_role("heading", level=2)).to_have_text(order[2])
    listed.page.keyboard.press("Escape")
    expect(listed.page.get_by_role("grid")).to_be_visible()


def test_one_click_from_the_worst_answers_to_a_claim(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"))
    scores = Expected.of(CONTENT).scores
    shown = [
        float(each) for each in page.page.locator(".worst-score b").all_inner_texts()
    ]
    assert shown == [round(score, 3) for score in sorted(scores.values())[:5]]
    link = page.page.locator(".guilty a").first
    expect(link).to_be_in_viewport()
    claim = link.inner_text()
    link.click()
    expect(page.page.locator(".claim.chosen .claim-text")).to_have_text(claim)


def test_a_draw_is_said_and_all_figures_are_there(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("drawn"), "#view=samples")
    assert len(rows(page)) == 400
    expect(page.page.locator("main")).to_contain_text("the texts of a draw")
    lines = page.call("() => tcvaReport.figures.samples.line")
    page.goto(f"#view=sample&sample=sample-{lines.index(-1):05d}")
    expect(page.page.locator("main")).to_contain_text(
        "texts of this sample are not in this page"
    )
    expect(
        page.page.get_by_role("heading", name="How the score is made")
    ).to_be_visible()


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


@pytest.mark.parametrize("name", ["medical-001", "medical-003", "support-003"])
def test_where_claims_and_evidence_stand(
    name: str, reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), f"#view=sample&sample={name}")
    sample = next(each for each in CONTENT.samples if each.id == name)
    assert set(re.findall(r"\w+", sample.response or "")) <= words_of(
        page, ".answer-said .prose"
    )
    for text in (sample.input, sample.reference):
        expect(page.page.locator("main")).to_contain_text(text or "")
    claims = page.page.locator("li.claim")
    expect(claims).to_have_count(len(JUDGED[name].claims))
    for number, claim in enumerate(JUDGED[name].claims):
        level = claim.verdict.value if claim.verdict else "no claim"
        for text in (claim.claim, level, claim.reason or ""):
            expect(claims.nth(number)).to_contain_text(text)
        if not claim.evidence:
            continue
        page.page.get_by_role(
            "button", name=f"Evidence of claim {number + 1} in"
        ).click()
        # A piece that several claims rest on carries the marks of all of them.
        expect(page.page.locator(".passage mark.chosen").first).to_be_in_viewport()
        seen = words_of(page, ".passage mark.chosen")
        assert set(re.findall(r"\w+", claim.evidence)) <= seen, claim


def test_judges_and_what_was_lowered(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("judges"), "#view=sample&sample=two")
    lowered = page.page.locator("li.claim").nth(1)
    expect(lowered).to_contain_text(re.compile(r"Lowered from\s*fully.*in no context"))
    expect(lowered).to_contain_text("partial")
    main = page.page.locator("main")
    expect(main).to_contain_text("Probabilities: fully 0.25")
    expect(main).to_contain_text(re.compile(r"95 ?% interval.*\[0\.\d\d, 0\.\d\d\]"))
    page.goto("#view=sample&sample=one")
    for words in (
        "The panel's judges",
        "Additional judges",
        "mostly",
        "partial",
        "Fused",
    ):
        expect(main).to_contain_text(words)


def test_framework_metrics_and_failures(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"), "#view=sample&sample=medical-003")
    entry = page.page.locator(f'tr[data-metric="{RAGAS}"]')
    expect(entry.locator("ul.own > li")).to_have_count(
        sum(claim.verdict is not None for claim in JUDGED["medical-003"].claims)
    )
    page.goto(f"#view=sample&sample={CONTENT.table.samples[0]}")
    expect(entry).to_contain_text("timeout: no answer within 60 s")
    page = open_report(reports("all unscored"), "#view=sample&sample=one")
    expect(page.page.locator(".notice")).to_contain_text("60 s")


def test_an_answer_is_shown_as_it_is_served(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), "#view=sample&sample=medical-018")
    answer = page.page.locator(".answer-said")
    supported = JUDGED["medical-018"].supported()
    switch = answer.get_by_role("button", name="As served")
    removed = answer.locator("del")
    assert removed.all_inner_texts()
    expect(answer.locator(".served")).to_contain_text(
        f"{len(supported.removed)} of 5 claims removed at the claim threshold partial."
    )
    expect(answer.locator("li.claim").get_by_text("removed", exact=True)).to_have_count(
        len(supported.removed)
    )
    page.goto("#view=sample&sample=medical-018&scheme=linear")
    expect(answer.locator(".served")).to_contain_text(
        "removed at the claim threshold partial and the weights of the run."
    )
    page.goto("#view=sample&sample=medical-018")
    switch.click()
    page.settled()
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(removed).to_have_count(0)
    page.page.wait_for_url(re.compile("answer=served"))
    # The same switch holds for every sample that is opened from here.
    for sample in CONTENT.samples:
        page.goto(f"#view=sample&sample={sample.id}&answer=served")
        shown = page.call(
            """() => {
              const prose = document.querySelector(".served ~ .prose, .served ~ div .prose")?.cloneNode(true);
              prose?.querySelectorAll("button").forEach((each) => each.remove());
              return prose ? prose.textContent : null;
            }"""
        )
        assert shown == JUDGED[sample.id or ""].supported().text


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"claim_threshold": 0.5825798667725},
            "removed at the claim threshold 0.58258.",
        ),
        (
            {"claim_threshold": "none"},
            "Nothing is removed at the claim threshold none.",
        ),
        (
            {"max_removed": 0.0},
            "Nothing is served at the claim threshold partial, where more than 0 %",
        ),
        ({"claim_threshold": 1}, "5 of 5 claims removed at the claim threshold 1."),
    ],
)
def test_what_is_removed_is_said(
    settings: dict[str, object], sentence: str, open_report: Opener, tmp_path: Path
) -> None:
    (sample,) = (s for s in CONTENT.samples if s.id == "medical-018")
    result = JUDGED["medical-018"].changed(**settings)
    write([result], tmp_path / "one.html", samples=[sample])
    page = open_report(tmp_path / "one.html", "#view=sample")
    expect(page.page.locator(".served")).to_contain_text(sentence)


def test_an_answer_that_was_not_judged_loses_what_may_claim_something(
    open_report: Opener, tmp_path: Path
) -> None:
    sample = Sample(id="a", response="Hello! We open at 9.", contexts=["We open at 9."])
    judge = ScriptedModel(lambda _: "nonsense")  # it gives no verdicts
    result = TCVA(judge=judge).evaluate(sample)
    assert result.unscored is not None
    write([result], tmp_path / "one.html", samples=[sample])
    page = open_report(tmp_path / "one.html", "#view=sample")
    said = page.page.locator(".served")
    expect(said).to_contain_text(
        "It was not judged: what may claim something is removed."
    )
    assert page.page.locator("del").all_inner_texts() == [" We open at 9."]


def test_the_overview_says_what_the_threshold_removes(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), "#view=overview")
    answers = [r.supported() for r in JUDGED.values() if r.unscored is None]
    removed = sum(len(answer.removed) for answer in answers)
    empty = sum(answer.is_empty for answer in answers)
    said = page.page.locator("[data-figure=served]")
    expect(said).to_contain_text(f"the threshold partial, {removed} of ")
    expect(said).to_contain_text(f"leaves {empty} of {len(answers)} answers empty.")
