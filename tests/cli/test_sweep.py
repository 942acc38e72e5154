"""``tcva sweep``: what the function finds, printed and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import Assessment, Config
from tcva_adapters.cli.app import run
from tcva_adapters.compare import sweep
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.settings import ScoringConfig


@pytest.fixture(autouse=True)
def _in_a_folder_with_judgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    stored = []
    for i in range(30):
        one = Assessment.from_verdicts(rng.choice(LEVELS, 4).tolist(), sample_id=f"s{i}")
        stored.append(one.model_copy(update={"metadata": {"human": float(rng.random())}}))
    write_assessments("judged.jsonl", stored)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["sweep", "judged.jsonl", "--json", *arguments]) == 0
    parsed = json.loads(capsys.readouterr().out)
    assert isinstance(parsed, dict)
    return parsed


def test_it_prints_what_the_function_finds(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--ablation", "--human", "human", "-T", "strict,0.9", "--set", "resamples=50"]
    expected = sweep("judged.jsonl", ["strict", 0.9], ablation=True, human="human", resamples=50)
    assert said(capsys, *asked) == expected.to_dict()
    assert run(["sweep", "judged.jsonl", *asked, "--all"]) == 0
    printed = capsys.readouterr().out
    assert "conservative" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_settings_come_from_a_file_and_from_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    Config(settings={"scheme": "linear", "penalty": "off"}).dump("tcva.json")
    found = said(capsys, "--config", "tcva.json", "--set", "penalty=ramped", "-T", "0.2")
    scoring = ScoringConfig(scheme="linear", penalty="ramped")
    assert found["tables"] == sweep("judged.jsonl", [0.2], scoring=scoring).to_dict()["tables"]


def test_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    said(capsys, "-T", "0.2,0.5", "--figures", "pictures")
    assert [path.name for path in Path("pictures").iterdir()] == ["sweep.png"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--human", "nobody"], "nobody"), (["-T", "2"], "temperature 2.0 is outside")],
)
def test_wrong_use_is_one_sentence(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sweep", "judged.jsonl", *arguments]) == 2
    assert says in capsys.readouterr().err
