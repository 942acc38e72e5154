"""``tcva systems``: files in, tables, figures and pictures out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import Assessment
from tcva_adapters.cli.app import run
from tcva_adapters.compare.systems.hypotheses import read_hypotheses
from tcva_adapters.compare.systems.read import read_systems
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.files import write_assessments

ROOT = Path(__file__).resolve().parents[2]
MIXES = {"careful": [0.8, 0.1, 0.05, 0.03, 0.02], "vague": [0.2, 0.2, 0.3, 0.2, 0.1]}


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


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert run(["systems", "careful.jsonl", "vague.jsonl", "-B", "200", *arguments]) == 0
    said = capsys.readouterr()
    return said.out, said.err


def figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    parsed = json.loads(printed(capsys, "--json", *arguments)[0])
    assert isinstance(parsed, dict)
    return parsed


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    hypotheses = [
        {
            "name": "careful is better",
            "pairs": [["careful", "vague"]],
            "direction": "greater",
            "join": "all",
        }
    ]
    Path("h.json").write_text(json.dumps(hypotheses))
    out, err = printed(
        capsys,
        *(
            "-T",
            "strict,0.9",
            "--hypotheses",
            "h.json",
            "--power",
            "0.1",
            "--queries",
            "200",
            "--all",
        ),
    )
    lines = [line.split() for line in out.splitlines()]
    assert "2 systems, 40 queries, 2 metrics; studentised test by 200 sign flips" in out
    assert "faithfulness T=0.2: scores" in out
    assert "Kendall between metrics, averaged over systems by Fisher's z" in out
    assert ["metric", "T=0.2", "T=0.9"] in lines
    assert ["faithfulness", "1.000", "1.000"] in lines
    assert "To find a difference of 0.1 between two systems" in out
    assert "careful is better  all of 2 comparisons" in out
    assert "…" not in out
    assert err == ""


def test_figures_and_flags(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys, "-T", "0.5", "--alpha", "0.01", "--seed", "3")
    (pair,) = found["metrics"]["faithfulness T=0.5"]["pairs"]
    assert (pair["first"], pair["second"]) == ("careful", "vague")
    assert pair["p"] == 1 / 201
    assert (found["alpha"], found["seed"], found["permutations"]) == (0.01, 3, 200)
    counted = figures(capsys, "-T", "0.5", "--count", "--seed", "3")
    assert counted["estimate"] == "count"
    assert counted["metrics"]["faithfulness T=0.5"]["pairs"][0]["p"] == 0.0
    assert figures(capsys, "-T", "0.5", "--seed", "3", "--alpha", "0.01") == found
    chosen = figures(capsys, "-T", "0.1,0.5", "--metric", "faithfulness T=0.1")
    assert list(chosen["metrics"]) == ["faithfulness T=0.1"]


def test_names_and_long_tables(capsys: pytest.CaptureFixture[str]) -> None:
    Path("long.csv").write_text("system,query,metric,score\na,1,m,10\nb,1,m,90\na,2,m,\nb,2,m,50\n")
    assert run(["systems", "long.csv", "-B", "50", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["systems"] == ["a", "b"]
    assert "note: m: of 2 queries, some have no score: a 1" in said.err
    assert "(--bounds)" in said.err
    assert run(["systems", "x=careful.jsonl", "y=vague.jsonl", "-B", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["systems"] == ["x", "y"]


def test_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots")
    _, err = printed(capsys, "-T", "0.5", "--figures", "pictures")
    assert re.search(r"pictures/asl\.png \(\d+ kB\): figure", err)
    assert "pictures/scores-faithfulness-T=0.5.png" in err
    assert {path.stem.partition("-")[0] for path in Path("pictures").iterdir()} == {
        "asl",
        "histograms",
        "scores",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["careful.jsonl"], "one system, 'careful'"),
        (["nowhere.csv"], "no such file"),
        (["careful.jsonl", "vague.jsonl", "--bounds", "1"], "it is two numbers"),
        (["careful.jsonl", "vague.jsonl", "-T", "7"], "7"),
        (["careful.jsonl", "vague.jsonl", "--metric", "x"], "no metric 'x'"),
        (["careful.jsonl", "vague.jsonl", "-B", "0"], "permutations is 0"),
        (["careful.jsonl", "vague.jsonl", "--hypotheses", "h.json"], "no such file"),
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


def test_the_csv_of_the_page_is_read() -> None:
    page = (ROOT / "docs/systems.md").read_text(encoding="utf-8")
    makes_files, rows = (
        re.findall(rf"^```{kind}\n({begins}.*?)^```$", page, re.DOTALL | re.MULTILINE)[0]
        for kind, begins in (("python", ""), ("text", "hypothesis,"))
    )
    exec(compile(makes_files, "systems.md", "exec"), {})
    names = ["careful", "steady", "vague", "bold"]
    table = read_systems([f"{name}.jsonl" for name in names], temperatures=[0.5])
    Path("h.csv").write_text(rows)
    assert len(read_hypotheses("h.csv", table)) == 2


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["systems", "--help"]) == 0
    assert "Example: tcva systems" in capsys.readouterr().out
