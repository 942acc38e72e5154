"""Labels by keyboard, what is counted of them, and what the library reads of the export."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from tcva_adapters import WeightScheme, aggregate
from tcva_adapters.compare import read_scores
from tcva_adapters.compare.scores.claim_labels import claim_labels
from tcva_adapters.compare.scores.ratings import Ratings
from tcva_adapters.core.verdicts import LEVELS
from tests.browser.conftest import Opener, Reports
from tests.support.browser import Watched
from tests.support.reports import example_results, example_samples


def start(page: Watched, what: str) -> None:
    """Labelling in the file's order."""
    page.page.get_by_role("combobox", name="Label", exact=True).select_option(what)
    page.page.get_by_role("combobox", name="Order").select_option("file")
    page.settled()
    # Keys belong to a chosen field until the reader leaves it.
    page.page.evaluate("document.activeElement.blur()")


def press(page: Watched, *keys: str) -> None:
    for key in keys:
        page.page.keyboard.press(key)
        page.settled()


def export(page: Watched, folder: Path) -> Path:
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name="Export", exact=True).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def test_claims_become_ratings(
    reports: Reports, open_report: Opener, tmp_path: Path
) -> None:
    page = open_report(reports("example"), "#view=label&T=0.3")
    start(page, "claims")
    rng = np.random.default_rng(1)
    listed = [result for result in example_results() if result.claims][:12]
    by_name = {result.sample_id: result for result in listed}
    given = {}
    for result in listed:
        claims = {c.claim: c.verdict for c in result.claims}
        levels = [
            LEVELS[rng.integers(5)] if v and rng.random() < 0.4 else v
            for v in claims.values()
        ]
        # Key 1 is the worst, as among ratings; 0 is for sentences that claim nothing.
        press(page, *(str(5 - LEVELS.index(v)) if v else "0" for v in levels), "n")
        given[result.sample_id or ""] = levels
    assert any(None in levels for levels in given.values())
    press(page, "3")  # an answer of which a part is labelled is no rating
    expect(page.page.locator(".label-files")).to_contain_text(f"{len(given)} answers")
    file = export(page, tmp_path)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {
        line["id"]: [each["verdict"] for each in line["claims"]] for line in lines
    } == given
    assert {line["temperature"] for line in lines} == {0.3}
    table = read_scores([*example_results()], human=file).rated
    # A certificate for what is served counts every sentence, and nobody rejects what claims nothing.
    ratings = Ratings.find(file)
    for name, levels in given.items():
        texts = [claim.claim for claim in by_name[name].claims]
        weights = [WeightScheme.DEFAULT.weight(v) if v else 1.0 for v in levels]
        assert claim_labels(ratings, name, {}, texts) == weights
    wanted = {
        name: aggregate([v for v in levels if v], 0.3)
        for name, levels in given.items()
        if any(levels)
    }
    assert dict(
        zip(table.samples, table.rating.tolist(), strict=True)
    ) == pytest.approx(wanted)


def test_answers_are_ratings(
    reports: Reports, open_report: Opener, tmp_path: Path
) -> None:
    page = open_report(reports("example"), "#view=label")
    start(page, "answers")
    keys = np.random.default_rng(2).integers(1, 6, 14).tolist()
    press(page, *(press for key in keys for press in (str(key), "n")))
    names = [sample.id or "" for sample in example_samples()[:14]]
    rated = {name: (key - 1) / 4 for name, key in zip(names, keys, strict=True)}
    table = read_scores([*example_results()], human=export(page, tmp_path)).rated
    assert dict(zip(table.samples, table.rating.tolist(), strict=True)) == rated


def test_nothing_of_the_judge_is_seen_before(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), "#view=label")
    start(page, "claims")
    item = page.page.get_by_role("region", name="What to label")
    expect(item.get_by_text("judge:")).to_have_count(0)
    assert not page.page.locator(".answer mark").count()
    press(page, "b")
    expect(item.get_by_text("judge:").first).to_be_visible()


def test_every_answer_is_labelled_by_the_keys_of_the_hint(
    reports: Reports, open_report: Opener, tmp_path: Path
) -> None:
    page = open_report(reports("example"), "#view=label")  # in random order, blind
    item = page.page.get_by_role("region", name="What to label")
    expect(item.locator(".label-keys")).to_contain_text("n next unlabelled answer")
    # Greetings and refusals are labelled, too: readers get their sentences as well.
    answers = sum(bool(result.claims) for result in example_results())
    assert answers > sum(result.unscored is None for result in example_results())
    for number in range(answers):
        expect(item).to_contain_text(f"{number + 1} of {answers} answers")
        claims = item.locator("li.claim")
        for left in range(claims.count(), 0, -1):
            expect(item.get_by_text("judge:")).to_have_count(0)
            expect(claims.get_by_text("not labelled")).to_have_count(left)
            press(page, "3")
        # What was hidden until now stands beside the labels, until the reader goes on.
        expect(item.get_by_text("judge:")).to_have_count(claims.count())
        expect(item.get_by_role("status")).to_contain_text(
            "Labelled. The judge's verdict is shown."
        )
        press(page, "n")
    expect(item.get_by_role("status")).to_contain_text(
        "No answer is left without a label."
    )
    lines = export(page, tmp_path).read_text(encoding="utf-8").splitlines()
    assert len(lines) == answers


def test_next_comes_back_to_what_was_passed_over(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("conversations"), "#view=label")
    start(page, "answers")
    steps = page.page.get_by_role("region", name="What to label").locator(".steps")
    size = len(page.call("() => tcvaReport.figures.samples.ids"))
    press(page, "n")
    for number in range(2, size + 1):
        expect(steps).to_contain_text(f"{number} of {size} answers")
        press(page, "5", "n")
    expect(steps).to_contain_text(f"1 of {size} answers")


def test_undo_shows_what_it_takes_back(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"), "#view=label")
    start(page, "claims")
    item = page.page.get_by_role("region", name="What to label")
    name = item.locator(".steps a").inner_text()
    count = item.locator("li.claim").count()
    press(page, *["5"] * count, "n")
    expect(item.locator(".steps a")).not_to_have_text(name)
    press(page, "u")
    expect(item.locator(".steps a")).to_have_text(name)
    last = item.locator("li.claim").last
    expect(last).to_have_class(re.compile("chosen"))
    expect(last).to_contain_text("not labelled")
    press(page, "1", "ArrowUp", "u")  # the last claim again, wherever the reader is
    expect(last).to_have_class(re.compile("chosen"))
    expect(last).to_contain_text("not labelled")
    press(page, *"u" * (count + 1))
    expect(item.get_by_text("not labelled")).to_have_count(count)


def test_labels_are_undone_and_kept(
    reports: Reports, open_report: Opener, tmp_path: Path
) -> None:
    page = open_report(reports("example"), "#view=label")
    start(page, "answers")
    press(page, "1", "n", "2", "n", "5")
    file = export(page, tmp_path)
    before = file.read_text(encoding="utf-8")
    press(page, "u")
    assert export(page, tmp_path / "undone").read_text(encoding="utf-8") != before
    page.page.get_by_label("Import an earlier export").set_input_files(file)
    expect(page.page.get_by_role("status").last).to_contain_text("3 read.")
    page.goto("#view=label")
    start(page, "answers")
    expect(page.page.locator(".label-files")).to_contain_text("3 answers")
