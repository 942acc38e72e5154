"""``tcva reproduce``: tables, JSON, and one sentence per mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcva_adapters.cli.app import run
from tests.compare.dialogue_set import write

pytest.importorskip("scipy", reason="the extra stats")


def test_json_and_text_have_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    quick = ["reproduce", str(tmp_path), "--set", "resamples=50", "--no-lexical"]
    assert run([*quick, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    tables = [name for name, records in report["tables"].items() if records]
    numbers = ("5", "6", "7", "8", "8, difference", "9")
    assert tables == ["sets", *(f"Table {number}" for number in numbers), "fused scores"]
    assert run([*quick, "--best", "--count-empty", "--all"]) == 0
    out = capsys.readouterr().out
    assert "best here" in out
    assert "D binary" in out


def test_a_mistake_exits_with_two_and_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reproduce", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "no file is called" in said
    assert "Traceback" not in said
