"""What is in a page stays data, whatever it is, and nothing of the machine is in it."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import TCVA, Assessment, ClaimVerdict, Result, Sample, Verdict
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report import write
from tcva_adapters.report.page import PAGE_BEGINNING
from tcva_adapters.report.page_data import inert_json
from tests.hostile.corpus import TEXTS
from tests.report.blocks import blocks_of


def page_with(texts: list[str], folder: Path, **more: Any) -> Path:
    """A page whose every field is hostile."""
    samples = [
        Sample(
            id=f"{i}{text}",
            response=text,
            contexts=(text, text),
            metadata=about,
            **same,
        )
        for i, text in enumerate(texts)
        for same in [{"input": text, "reference": text}]
        for about in [{text or "empty": text, "human": 0.5}]
    ]
    judge = texts[0] or "judge"
    words = ["fully", "none"]
    judged = [
        Assessment.from_verdicts(words, sample_id=s.id, judge=judge) for s in samples
    ]
    path = folder / "page.html"
    write(judged, path, samples=samples, title="".join(texts), **more)
    return path


def test_hostile_texts_come_back_as_they_were(tmp_path: Path) -> None:
    texts = [each.text for each in TEXTS]
    figures, details = blocks_of(page_with(texts, tmp_path))
    known = [Sample(id=f"{i}{text}", input=text).input for i, text in enumerate(texts)]
    assert [line["input"] for line in details] == known
    assert len(figures["samples"]["ids"]) == len(texts)


def test_no_block_and_no_title_can_be_left(tmp_path: Path) -> None:
    asset = (files("tcva_adapters.report") / "page.html").read_text(encoding="utf-8")
    texts = [
        "</script><script>alert(1)</script>", "<!--<script>", "-->",
        "</title><img src=x onerror=alert(1)>", "\u2028\u2029", "]]>", "&lt;/script&gt;",
        "a\ud800b\udc00", "\x00\x1b[2J",
        '<script type="application/jsonl" id="details"></script>',
        "<title>TCVA report</title>",
    ]  # fmt: skip
    page = page_with(texts, tmp_path).read_bytes().decode()
    for tag in ("<script", "</script", "<!--", "<img", "<title>", "</title>"):
        assert page.count(tag) == asset.count(tag), tag
    assert not re.search("[\ud800-\udfff]", page)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_json_reads_back_and_holds_no_mark(value: Any) -> None:
    text = inert_json(value)
    assert not set(text) & set("<>&\u2028\u2029\n\r")
    assert json.loads(text) == value
    text.encode()


def test_numbers_that_a_browser_lacks_are_nothing_or_text(tmp_path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    odd: dict[str, Any] = {"nan": float("nan"), "inf": -float("inf"), "big": -(2**70)}
    odd |= {"huge": 10**5000, "loop": loop}
    samples = [Sample(id="a", response="x", metadata=odd)]
    judged = [Assessment.from_verdicts(["fully"], sample_id="a")]
    path = write(judged, tmp_path / "page.html", samples=samples).path
    found = blocks_of(path)[1][0]["metadata"]
    assert (found["nan"], found["inf"], found["big"]) == (None, None, str(-(2**70)))
    assert (found["huge"], found["loop"]) == ("<int>", "[[...]]")


def test_the_page_names_no_folder_of_the_machine(tmp_path: Path) -> None:
    folder = tmp_path / "very-private"
    folder.mkdir()
    judged = folder / "judged.jsonl"
    assessment = Assessment.from_verdicts(["fully"], sample_id="a")
    judged.write_text(f"{assessment.to_json()}\nnonsense\n", encoding="utf-8")
    write(judged, folder / "page.html", skip_bad=True)
    page = (folder / "page.html").read_bytes().decode()
    assert "very-private" not in page
    figures, _ = blocks_of(folder / "page.html")
    assert figures["title"] == "judged.jsonl"
    note, _ = figures["notes"]
    assert note.startswith("skipped line 2 of judged.jsonl: not")


def test_texts_of_other_samples_are_noted(tmp_path: Path) -> None:
    samples = [
        Sample(response=f"It opens at {n}.", contexts=("It opens.",)) for n in range(9)
    ]
    results = [*TCVA(judge="lexical").iter_evaluate(samples)]
    assert write(results[0], tmp_path / "r.html", samples=samples[:1]).notes == ()
    (note,) = write(results, tmp_path / "r.html", samples=samples[::-1]).notes
    assert note.startswith(
        "in 8 of 9 samples the claims are not those of the text shown (row-1, "
    )


def test_a_report_replaces_a_report_and_nothing_else(tmp_path: Path) -> None:
    judged = [Assessment.from_verdicts(["fully"], sample_id="a")]
    path = tmp_path / "page.html"
    write(judged, path)
    first = path.read_bytes()
    assert b"<title>page</title>" in first
    assert oct(path.stat().st_mode)[-3:] == "600"
    write(judged, path, title="another")
    assert path.read_bytes() != first
    path.write_text("<!doctype html><p>my own page", encoding="utf-8")
    with pytest.raises(InvalidValueError, match="was not written by this"):
        write(judged, path)
    assert "my own page" in path.read_text(encoding="utf-8")
    write(judged, path, overwrite=True)
    assert PAGE_BEGINNING.match(path.read_bytes())


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    judged = [
        Assessment.from_verdicts(["fully", "minor"], sample_id=f"{i}")
        for i in range(40)
    ]
    one, two = (
        write(judged, tmp_path / n, title="t", max_details=10).path for n in "ab"
    )
    assert one.read_bytes() == two.read_bytes()


def test_a_result_shows_its_claims_by_level() -> None:
    claims = Assessment.from_verdicts(["fully", "none"]).claims
    greeting = ClaimVerdict(claim="Hello!", verdict=None)
    judged = Assessment.from_verdicts(["fully"]).model_copy(
        update={"claims": (*claims, greeting)}
    )
    page = Result(judged)._repr_html_()
    for word in ("fully", "none", "claim 1", "Hello!", "at T=0.5"):
        assert word in page


def test_hostile_texts_are_inert_in_it() -> None:
    for each in TEXTS:
        claim = ClaimVerdict(claim=each.text, verdict=Verdict.NONE, reason=each.text)
        judged = Assessment.from_verdicts(["fully"]).model_copy(
            update={"claims": (claim,)}
        )
        page = Result(judged)._repr_html_()
        assert "<script" not in page
        assert "<img" not in page
        assert not set("\x00\x1b\u202e\u2066") & set(page)


def test_what_has_no_score_says_why() -> None:
    page = Result(Assessment.from_verdicts([]))._repr_html_()
    assert "unscored: no_claims" in page
    assert "<table" not in page
