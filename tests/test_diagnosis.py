"""What the doctor finds that an import alone does not show."""

from __future__ import annotations

import os
import shutil
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tcva_adapters.diagnosis import inspect
from tcva_adapters.frameworks import LLAMAINDEX

CACHE = "llama_index/core/_static/nltk_cache"


@pytest.mark.slow
def test_data_that_nltk_refuses_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = distribution(LLAMAINDEX.distribution).locate_file(CACHE)
    copied = Path(shutil.copytree(str(source), tmp_path / "nltk_cache"))
    # As if LlamaIndex were installed so: its data are looked for where this says.
    monkeypatch.setenv("NLTK_DATA", str(copied))
    assert not inspect(LLAMAINDEX).is_broken
    for file in [path for path in copied.rglob("*") if path.is_file()]:
        os.link(file, f"{file}.second")
    found = inspect(LLAMAINDEX)
    assert found.is_broken
    assert "refusing multiply-linked file" in found.fault
    assert "UV_LINK_MODE=copy" in found.fix
