"""Labels by keyboard, the agreement that they give, and what the commands read of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from scipy import stats

from tcva_adapters.cli.app import run
from tcva_adapters.compare.labels import Labels
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.stats.kappa import kappa_of_table
from tests.browser.conftest import Opener
from tests.support.browser import Watched
from tests.support.reports import Expected, example_content, example_results, example_samples

Reports = Callable[[str], Path]
CONTENT = example_content()
CLOSE: dict[str, Any] = {"abs": 1e-12}


def start(page: Watched, what: str) -> None:
    """Labelling in the file's order."""
    page.page.get_by_role("combobox", name="Label", exact=True).select_option(what)
    page.page.get_by_role("combobox", name="Order").select_option("file")
    page.settled()
    # Keys belong to a chosen field until the reader leaves it.
    page.page.get_by_role("heading", name="Label", exact=True).click()
    page.page.keyboard.press("Escape")
    page.page.evaluate("document.activeElement.blur()")


def export(page: Watched, name: str, folder: Path) -> Path:
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name=f"Export {name}").click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def figure(page: Watched, measure: str) -> float:
    return page.value(f'.agreement tr:has(th:text-matches("^{measure}( [(]|$)")) [data-value]')


def test_claims_by_keyboard(reports: Reports, open_report: Opener, tmp_path: Path) -> None:
    page = open_report(reports("example"), "#view=label")
    start(page, "claims")
    rng = np.random.default_rng(1)
    pairs, wanted = [], {}
    scored = [r for r in example_results() if r.unscored is None][:12]
    for result in scored:
        claims = {c.claim: c.verdict for c in result.claims if c.verdict is not None}
        levels = []
        for claim, verdict in claims.items():
            level = int(rng.integers(5)) if rng.random() < 0.4 else LEVELS.index(verdict)
            levels.append({"claim": claim, "label": LEVELS[level].value})
            pairs.append((level, LEVELS.index(verdict)))
            page.page.keyboard.press(str(level + 1))
            page.settled()
        wanted[result.sample_id] = levels
    table = np.zeros((5, 5))
    for one, two in pairs:
        table[one, two] += 1
    kappa = kappa_of_table(table)
    assert figure(page, "Weighted kappa of the claims") == pytest.approx(kappa, **CLOSE)
    same = sum(one == two for one, two in pairs) / len(pairs)
    assert figure(page, "Same level") == pytest.approx(same, **CLOSE)
    file = export(page, "jsonl", tmp_path)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {line["id"]: line["claims"] for line in lines} == wanted


def test_nothing_of_the_judge_is_seen_before(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"), "#view=label")
    start(page, "claims")
    item = page.page.get_by_role("region", name="What to label")
    expect(item.get_by_text("judge:")).to_have_count(0)
    assert not page.page.locator(".answer mark").count()
    page.page.keyboard.press("b")
    expect(item.get_by_text("judge:").first).to_be_visible()


def test_answers_and_what_the_commands_read(
    reports: Reports, open_report: Opener, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = open_report(reports("example"), "#view=label")
    start(page, "answers")
    rng = np.random.default_rng(2)
    rated = {}
    for sample in example_samples()[:14]:
        step = int(rng.integers(5))
        rated[sample.id or ""] = step / 4
        page.page.keyboard.press(str(step + 1))
        page.settled()
    expected = Expected.of(CONTENT)
    both = [(expected.scores[n], rating) for n, rating in rated.items() if n in expected.scores]
    scores, ratings = np.array(both).T
    r = stats.spearmanr(scores, ratings).statistic
    row = page.page.locator('.agreement tr:has-text("Spearman")')
    shown = float(row.locator("[data-value]").get_attribute("data-value") or "nan")
    assert shown == pytest.approx(r, **CLOSE)
    half = 1.959963984540054 * np.sqrt((1 + r**2 / 2) / (len(both) - 3))
    for end, sign in [("data-low", -1), ("data-high", 1)]:
        value = float(row.locator(f"[{end}]").get_attribute(end) or "nan")
        assert value == pytest.approx(np.tanh(np.arctanh(r) + sign * half), abs=1e-9)
    samples = tmp_path / "samples.jsonl"
    texts = [sample.model_dump_json() for sample in example_samples()]
    samples.write_text("\n".join(texts), encoding="utf-8")
    judged = tmp_path / "judged.jsonl"
    judged.write_text("\n".join(r.to_json() for r in example_results()), encoding="utf-8")
    for kind in ("csv", "jsonl"):
        file = export(page, kind, tmp_path)
        assert Labels.read(file).ratings == rated
        labels = ["--labels", str(file), "--bootstrap", "100"]
        calibrate = ["calibrate", str(judged), "--human", str(file), "--bootstrap", "100"]
        assert run(calibrate) == 0, capsys.readouterr().err
        out = ["--out", str(tmp_path / kind)]
        compare = ["compare", str(samples), "--judge", "lexical", "--with", "none", *labels, *out]
        assert run(compare) == 0, capsys.readouterr().err
        capsys.readouterr()


def test_an_export_is_read_again_and_undone(
    reports: Reports, open_report: Opener, tmp_path: Path
) -> None:
    page = open_report(reports("example"), "#view=label")
    start(page, "answers")
    for key in "125":
        page.page.keyboard.press(key)
        page.settled()
    file = export(page, "csv", tmp_path)
    before = file.read_text(encoding="utf-8")
    page.page.keyboard.press("u")
    page.settled()
    undone = export(page, "csv", tmp_path / "undone")
    assert undone.read_text(encoding="utf-8") != before
    page.page.get_by_label("Import an earlier export").set_input_files(file)
    expect(page.page.get_by_role("status").last).to_contain_text("3 read.")
    assert export(page, "csv", tmp_path).read_text(encoding="utf-8") == before


def test_a_file_that_is_no_export_is_said(
    reports: Reports, open_report: Opener, tmp_path: Path
) -> None:
    page = open_report(reports("example"), "#view=label")
    file = tmp_path / "labels.csv"
    file.write_text("id,human\nnobody,0.5\nmedical-001,7\nmedical-002,x\n", encoding="utf-8")
    page.page.get_by_label("Import an earlier export").set_input_files(file)
    status = page.page.get_by_role("status").last
    for words in ("nobody", "not within 0 to 1", "no rating"):
        expect(status).to_contain_text(words)


def test_labels_outlive_the_page_where_the_browser_lets_them(
    reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports("example"), "#view=label")
    start(page, "answers")
    page.page.keyboard.press("1")
    page.settled()
    page.goto("#view=label")
    expect(page.page.locator(".label-files")).to_contain_text("1 rated answer")
