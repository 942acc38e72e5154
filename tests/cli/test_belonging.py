"""Options that belong to another one are refused without it, not ignored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcva_adapters.cli.app import run


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of one sample, in the working directory."""
    monkeypatch.chdir(tmp_path)
    sample = {"id": "a", "input": "When?", "response": "At nine.", "contexts": ["At nine."]}
    Path("samples.jsonl").write_text(json.dumps(sample), encoding="utf-8")
    assert run(["evaluate", "samples.jsonl", "--out", "judged.jsonl"]) == 0
    return "samples.jsonl"


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("evaluate samples.jsonl --latency 3", "--latency says nothing without --estimate"),
        ("evaluate samples.jsonl --combine median", "--combine says nothing without --panel"),
        ("ccrs samples.jsonl --latency 0", "--estimate"),
        ("ccrs samples.jsonl --figure-format pdf", "--figures"),
        ("compare samples.jsonl --with none -o c --missing -1", "--results"),
        ("compare samples.jsonl --with none -o c --scale 0,1", "--results"),
        ("compare samples.jsonl --with none -o c --stratify-seed 1", "--stratify"),
        ("estimate judged.jsonl --human h --seed 1", "--next"),
        ("systems a=judged.jsonl b=judged.jsonl --queries 9", "--power"),
        ("plan --correlation 0.5 --width 0.2 --group d", "a pilot's file"),
        ("plan --correlation 0.5 --width 0.2 --against judged.jsonl", "a pilot's file"),
        ("plan --correlation 0.5 --width 0.2 -T 0.5", "a pilot's file"),
    ],
)
def test_what_would_be_ignored_is_refused(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    before = sorted(path.name for path in Path().iterdir())
    assert run(command.split()) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert sorted(path.name for path in Path().iterdir()) == before


def test_what_has_its_option_runs(samples: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", samples, "--estimate", "--latency", "0"]) == 0
    assert "calls" in capsys.readouterr().out
