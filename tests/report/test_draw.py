"""More samples than a page has texts of: all figures, and a stated draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcva_adapters import Assessment
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report import write
from tests.report.blocks import blocks_of


def judged(n: int) -> list[Assessment]:
    """The first ten are the worst, the eleventh has no score."""
    words = [["none"] if i < 10 else [] if i == 10 else ["fully"] for i in range(n)]
    return [Assessment.from_verdicts(w, sample_id=f"q{i}") for i, w in enumerate(words)]


def test_the_worst_are_in_and_others_at_random(tmp_path: Path) -> None:
    written = write(judged(200), tmp_path / "page.html", max_details=30)
    assert (written.samples, written.details) == (200, 30)
    assert written.contents == "report on 200 samples, the texts of 30 of them"
    assert written.size == written.path.stat().st_size
    figures, details = blocks_of(tmp_path / "page.html")
    samples = figures["samples"]
    assert samples["drawn"] == {"of": 200, "seed": 0}
    assert len(samples["ids"]) == samples["total"] == len(figures["runs"][0]["row"]) == 200
    shown = [place for place, line in enumerate(samples["line"]) if line >= 0]
    assert shown[:11] == list(range(11))
    assert [details[samples["line"][place]]["id"] for place in shown] == [f"q{p}" for p in shown]
    write(judged(200), tmp_path / "again.html", max_details=30)
    assert blocks_of(tmp_path / "again.html")[0]["samples"]["line"] == samples["line"]
    assert any("30 of 200" in note for note in figures["notes"])


def test_all_are_in_where_there_is_room(tmp_path: Path) -> None:
    write(judged(20), tmp_path / "page.html", max_details=20)
    figures, details = blocks_of(tmp_path / "page.html")
    assert figures["samples"]["drawn"] is None
    assert figures["samples"]["line"] == list(range(20))
    assert len(details) == 20


def test_no_texts_at_all_may_be_asked_for(tmp_path: Path) -> None:
    write(judged(20), tmp_path / "page.html", max_details=0)
    figures, details = blocks_of(tmp_path / "page.html")
    assert (details, set(figures["samples"]["line"])) == ([], {-1})
    assert "the texts of the samples are not in this page" in figures["notes"]


def test_fewer_than_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="max_details or --max-details is -1"):
        write(judged(20), tmp_path / "page.html", max_details=-1)
