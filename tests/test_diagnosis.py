"""What the doctor finds that an import alone does not show."""

from __future__ import annotations

import os
import shutil
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tcva_adapters import diagnosis
from tcva_adapters.frameworks import FRAMEWORKS

LLAMAINDEX = FRAMEWORKS["llamaindex"].requirement


@pytest.mark.slow
def test_data_that_nltk_refuses_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = distribution(LLAMAINDEX.distribution).locate_file(LLAMAINDEX.data)
    copied = Path(shutil.copytree(str(source), tmp_path / "nltk_cache"))
    assert not diagnosis._has_second_names(copied)
    for file in [path for path in copied.rglob("*") if path.is_file()]:
        os.link(file, f"{file}.second")
    assert diagnosis._has_second_names(copied)
    # As if LlamaIndex were installed so: its data are looked for where this says.
    monkeypatch.setenv("NLTK_DATA", str(copied))
    monkeypatch.setattr(diagnosis, "_has_second_names", lambda _: True)
    found = diagnosis.inspect(LLAMAINDEX)
    assert found.is_broken
    assert "refusing multiply-linked file" in found.fault
    assert "UV_LINK_MODE=copy" in found.fix


@pytest.mark.slow
def test_data_that_are_read_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not diagnosis._has_second_names(Path("nowhere"))
    monkeypatch.setattr(diagnosis, "_has_second_names", lambda _: True)
    assert not diagnosis.inspect(LLAMAINDEX).is_broken
