"""``tcva reproduce``: tables, JSON, pictures, and one sentence per mistake."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.cli.app import run
from tests.compare.dialogue_set import write
from tests.support.paper import FOLDER, ROOT, needs_paper_data

pytest.importorskip("scipy", reason="the extra stats")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert run(["reproduce", *arguments]) == 0
    shown = capsys.readouterr()
    return shown.out, shown.err


def test_json_has_the_tables_of_every_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path)
    write(tmp_path, "other", deepeval_scores=None)
    out, err = printed(capsys, str(tmp_path), "--json", "--bootstrap", "100")
    report: dict[str, Any] = json.loads(out)
    assert report["sentence"].startswith("The paper has none of dialogue, other")
    found: dict[str, dict[str, Any]] = report["sets"]
    assert list(found) == ["dialogue", "other"]
    tables = found["dialogue"]
    assert set(tables) == {"table5", "table7", "table8", "table9", "unrounded", "fused"}
    temperatures = ["T=0.2", "T=0.3", "T=0.5", "T=0.7", "T=0.9"]
    assert list(tables["table5"]) == [*temperatures, "ragas", "deepeval"]
    assert set(tables["table5"]["T=0.2"]) == {"n", "rho", "tau", "mae"}
    assert set(tables["table7"]) == {"default", "linear", "aggressive", "conservative"}
    assert set(tables["table8"]) == {"tcva", "ragas", "deepeval", "paired"}
    assert set(tables["table8"]["tcva"]) == {"rho", "low", "high"}
    assert set(tables["table8"]["paired"]) == {"delta", "p_paper", "p_two_sided", "low", "high"}
    assert list(tables["table9"]) == ["A", "B", "C", "D"]
    assert list(tables["unrounded"]) == temperatures
    assert set(tables["fused"]) == {"tcva+ragas", "tcva+lexical", "tcva+ragas+lexical"}
    assert "deepeval" not in found["other"]["table5"]
    assert "other: there is no other_deepeval_scores.json" in err


@pytest.mark.slow
def test_tables_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    write(tmp_path / "data", "usr")
    pictures = tmp_path / "pictures"
    arguments = [str(tmp_path / "data"), "-B", "100", "--no-lexical", "--figures", str(pictures)]
    arguments.append("--all")
    out, err = printed(capsys, *arguments)
    assert "usr: 16 samples, T=0.9 (the paper's choice)" in out
    assert "TCVA T=0.9  12 (198)" in out
    assert "lexical" not in out.split("1. The paper")[0]
    assert "picks the best T afterwards" in " ".join(out.split())
    assert "RAGAS Faithfulness for every set" in " ".join(out.split())
    assert "figure4.png" in err
    assert len(list(pictures.iterdir())) == 6


def test_flags_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    out, _ = printed(capsys, str(tmp_path), "-B", "50", "--best", "--count-empty")
    assert "picked afterwards" in out
    assert "count with the score stored for them" in out
    _, err = printed(capsys, str(tmp_path), "-B", "50", "--best", "--json")
    assert "picked afterwards" in err


def test_no_figure_is_cut_short_on_a_narrow_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out, _ = printed(capsys, str(write(tmp_path)), "-B", "50")
    assert "…" not in out


def test_mistakes_exit_with_two_and_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reproduce", str(tmp_path / "nowhere")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert run(["reproduce", str(tmp_path)]) == 2
    assert "no scores in" in capsys.readouterr().err
    write(tmp_path, tcva_scores="{")
    assert run(["reproduce", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "dialogue_tcva_scores.json, line 1: not JSON" in said
    assert "Traceback" not in said


@needs_paper_data
def test_the_page_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capsys, str(FOLDER), "--all")
    lines = {line.rstrip() for line in out.splitlines()}
    page = (ROOT / "docs/reproduce.md").read_text(encoding="utf-8")
    shown = [
        line
        for body in re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        for line in body.splitlines()
        if line.strip()
    ]
    assert len(shown) > 40
    assert [line for line in shown if line.rstrip() not in lines] == []
