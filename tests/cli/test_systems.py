"""``tcva systems``: files in, tables, figures and pictures out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tcva_adapters import Assessment
from tcva_adapters.cli.app import run
from tcva_adapters.compare import systems
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.files import write_assessments

pytest.importorskip("scipy", reason="the extra stats")

MIXES = {"careful": [0.8, 0.1, 0.05, 0.03, 0.02], "vague": [0.2, 0.2, 0.3, 0.2, 0.1]}
FILES = ["careful.jsonl", "vague.jsonl"]


@pytest.fixture(autouse=True)
def _in_a_folder_with_judgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name, mix in MIXES.items():
        words = [rng.choice(LEVELS, 4, p=mix).tolist() for _ in range(40)]
        write_assessments(
            f"{name}.jsonl",
            [Assessment.from_verdicts(w, sample_id=f"q{i}") for i, w in enumerate(words)],
        )


def test_it_prints_what_the_function_finds(capsys: pytest.CaptureFixture[str]) -> None:
    hypotheses = [{"name": "h", "pairs": [["careful", "vague"]], "join": "any"}]
    Path("h.json").write_text(json.dumps(hypotheses))
    asked = ["systems", *FILES, "-T", "0.2,0.9", "--hypotheses", "h.json", "--alpha", "0.01"]
    asked += ["--set", "resamples=200", "--set", "seed=3"]
    expected = systems(
        FILES, temperatures=[0.2, 0.9], hypotheses="h.json", alpha=0.01, resamples=200, seed=3
    )
    assert run([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == expected.to_dict()
    assert run([*asked, "--all"]) == 0
    printed = capsys.readouterr().out
    assert "any of 2 comparisons" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    asked = ["-T", "0.2,0.9", "--figures", "pictures", "--set", "resamples=50"]
    assert run(["systems", *FILES, *asked]) == 0
    assert "asl.png" in capsys.readouterr().err
    names = {path.name for path in Path("pictures").iterdir()}
    assert names == {"asl.png", "correlations.png"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["careful.jsonl"], "two systems or more"),
        (["nowhere.csv"], "No such file"),
        ([*FILES, "-T", "7"], "7"),
        ([*FILES, "--metric", "x"], "no metric 'x'"),
        ([*FILES, "--hypotheses", "h.json"], "No such file"),
        (["careful.jsonl", "careful.jsonl"], "two scores of system"),
    ],
)
def test_mistakes_exit_with_two(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["systems", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err
