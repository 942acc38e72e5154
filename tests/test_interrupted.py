"""A run that is killed half way goes on where it stopped; the server is scripted."""

from __future__ import annotations

from pathlib import Path

from benchmarks.kill import CONCURRENCY, interrupted_run


def test_killed_and_started_again(tmp_path: Path) -> None:
    figures = interrupted_run(tmp_path, samples=60)
    assert figures["kept verdicts that were asked again"] == 0
    assert figures["results after the second run"] == 60
    assert figures["of them with a score"] == 60
    assert figures["kept by the store at the kill"] > 0
    assert figures["under way at the kill"] <= CONCURRENCY
