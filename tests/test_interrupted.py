"""A run that is killed half way goes on where it stopped; the server is scripted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kill import interrupted_run


@pytest.mark.slow
def test_killed_and_started_again(tmp_path: Path) -> None:
    figures = interrupted_run(tmp_path, samples=60, times=2)
    assert figures["stored verdicts that were asked again"] == 0
    assert figures["results lost"] == figures["results without a score"] == 0
    assert figures["stored at the last kill"] > 0
    assert figures["under way at one of the kills"] <= figures["most that can be under way"]
