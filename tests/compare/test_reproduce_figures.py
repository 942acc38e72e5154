"""Figures 4 to 9 are written as pictures, from whatever a set has."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tcva_adapters.compare.paper.data import PaperSet, read_folder
from tcva_adapters.compare.paper.figures import draw_figures
from tcva_adapters.compare.paper.reproduction import Reproduction, reproduce_set
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tests.compare.dialogue_set import write

pytest.importorskip("scipy", reason="the extra stats")

NAMES = [f"figure{number}.png" for number in range(4, 10)]


def reproduced(folder: Path) -> tuple[list[Reproduction], list[PaperSet]]:
    sets = read_folder(folder)
    return [reproduce_set(one, n_boot=50, lexical=False) for one in sets], sets


def test_six_pictures_and_no_global_state(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    write(tmp_path)
    write(tmp_path, "usr", tcva_scores=None)
    write(tmp_path, "summeval", ragas_scores=None)
    found, sets = reproduced(tmp_path)
    loaded = "matplotlib.pyplot" in sys.modules
    drawn = draw_figures(found, sets, tmp_path / "new" / "pictures")
    assert [path.name for path in drawn] == NAMES
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
    assert ("matplotlib.pyplot" in sys.modules) is loaded
    again = draw_figures(found, sets, tmp_path / "again")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in drawn]


def test_natives_alone_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    found, sets = reproduced(write(tmp_path, tcva_scores=None, deepeval_scores=None))
    assert len(draw_figures(found, sets, tmp_path / "pictures")) == 6


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    found, sets = reproduced(write(tmp_path / "data"))
    with pytest.raises(InvalidValueError, match="in the same order"):
        draw_figures(found, [], tmp_path / "pictures")
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(InvalidValueError, match="give another folder"):
        draw_figures(found, sets, tmp_path / "taken")


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, sets = reproduced(write(tmp_path / "data"))
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingDependencyError, match=r"tcva-adapters\[plots\]"):
        draw_figures(found, sets, tmp_path / "pictures")
