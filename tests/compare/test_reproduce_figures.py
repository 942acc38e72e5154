"""Figures 4 to 9 are written as pictures, from whatever a set has."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tcva_adapters.compare import reproduce
from tcva_adapters.compare.paper.report import PaperReport
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tests.compare.dialogue_set import write

pytest.importorskip("scipy", reason="the extra stats")

NAMES = [f"figure{number}.png" for number in range(4, 10)]


def reproduced(folder: Path) -> PaperReport:
    return reproduce(folder, n_boot=50, lexical=False)


def test_six_pictures_and_no_global_state(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    write(tmp_path)
    write(tmp_path, "usr", tcva_scores=None)
    write(tmp_path, "summeval", ragas_scores=None)
    found = reproduced(tmp_path)
    loaded = "matplotlib.pyplot" in sys.modules
    drawn = found.save(tmp_path / "new" / "pictures")
    assert [path.name for path in drawn] == NAMES
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
    assert ("matplotlib.pyplot" in sys.modules) is loaded
    again = found.save(tmp_path / "again")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in drawn]


def test_framework_scores_alone_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    found = reproduced(write(tmp_path, tcva_scores=None, deepeval_scores=None))
    assert len(found.save(tmp_path / "pictures")) == 6


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    found = reproduced(write(tmp_path / "data"))
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(InvalidValueError, match="give another folder"):
        found.save(tmp_path / "taken")


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = reproduced(write(tmp_path / "data"))
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingDependencyError, match=r"tcva-adapters\[plots\]"):
        found.save(tmp_path / "pictures")
