"""docs/reference is what `make reference` writes."""

import re
import runpy
from importlib.metadata import version
from pathlib import Path

import pytest

pytest.importorskip("griffe", reason="the extra docs brings it")
ROOT = Path(__file__).resolve().parents[1]


def test_the_reference_is_up_to_date() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for name in ("griffe", "click", "typer"):
        pinned = re.search(rf"^{name}==(.+)$", pins, re.MULTILINE)
        if pinned is None or pinned[1] != version(name):
            pytest.skip(f"another {name} words it differently")
    made = runpy.run_path(str(ROOT / ".ci/reference.py"))["pages"]()
    there = {
        path.name: path.read_text(encoding="utf-8")
        for path in (ROOT / "docs/reference").glob("*.md")
    }
    stale = {name for name in made.keys() | there if made.get(name) != there.get(name)}
    assert not stale, f"docs/reference: {sorted(stale)}; run make reference"
    text = "".join(made.values())
    assert "#### `TCVA.evaluate_conversation`" in text
    assert "- `temperature`: " in made["judging.md"]
    assert "Usage: tcva evaluate [OPTIONS] {SAMPLES}" in made["commands.md"]
