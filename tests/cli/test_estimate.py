"""The command line of estimates: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tcva_adapters import Assessment
from tcva_adapters.cli.app import run
from tcva_adapters.compare import estimate
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.config import Config
from tcva_adapters.results.files import write_assessments


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> str:
    rng = np.random.default_rng(1)
    samples = []
    for i in range(120):
        made = Assessment.from_verdicts(rng.choice(LEVELS, 3).tolist(), sample_id=f"s{i}")
        metadata = {"human": int(rng.integers(1, 6))} if i < 30 else {}
        samples.append(
            made.model_copy(update={"metadata": {"system": f"system {i % 2}", **metadata}})
        )
    path = tmp_path / "judged.jsonl"
    write_assessments(path, samples)
    return str(path)


def test_the_command_and_the_function_say_the_same(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "tcva.json"
    Config(settings={"temperature": 0.2}).dump(config)
    with Path(file).open("a", encoding="utf-8") as judged:
        judged.write("no assessment\n")
    words = ["--human", "human", "--human-scale", "1,5", "--level", "0.9", "--evidence", "off"]
    assert run(["estimate", file, *words, "--config", str(config), "--skip-bad", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    same = estimate(
        file,
        "human",
        human_scale=(1, 5),
        level=0.9,
        evidence="off",
        config=config,
        skip_bad=True,
    )
    assert same.samples.scoring.place.startswith("T=0.2")
    assert found["rows"] == same.to_dict()["rows"]


def test_figures(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", file, "--human", "human", "--human-scale", "1,5", "--system", "system"]
    assert run([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["ratings"] for row in found["rows"]] == [15, 15]
    assert found["scale"] == [1, 5]
    assert run([*command, "--threshold", "4"]) == 0
    assert "share of human ratings of at least 4" in " ".join(capsys.readouterr().out.split())


def test_a_choice_and_its_file(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "label.jsonl")
    assert run(["estimate", file, "--next", "12", "--out", out]) == 0
    assert "12 of 120 samples" in capsys.readouterr().out
    lines = [json.loads(line) for line in Path(out).read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 12
    assert set(lines[0]) == {"id", "human", "inclusion", "round"}
    more = ["--human", "human", "--human-scale", "1,5", "--next", "5", "--out", out, "--json"]
    assert run(["estimate", file, *more]) == 0
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["next"]["chosen"]) == 5
    assert len(Path(out).read_text(encoding="utf-8").splitlines()) == 35
    assert run(["estimate", file, "--labels", out, "--human-scale", "1,5"]) == 0
    Path(out).write_text("a novel", encoding="utf-8")
    assert run(["estimate", file, "--next", "12", "--out", out]) == 2
    assert Path(out).read_text(encoding="utf-8") == "a novel"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "no human ratings"),
        (["--human", "human"], "give the lowest and the highest|outside the scale from 0 to 1"),
        (["--human", "anna", "--labels", "x.csv"], "x.csv"),
        (["--next", "5"], "--next and --out go together"),
        (["--human", "human", "--by", "variance"], "give --next, too"),
        (["--next", "5", "--out", "l.txt"], "l.txt"),
        (["--next", "0", "--out", "l.csv"], "whole number from 1 up"),
        (["--next", "5", "--out", "l.csv", "--by", "mood"], "no way to choose samples 'mood'"),
        (["--human", "stars"], "no assessment has 'stars'"),
    ],
)
def test_what_is_refused(
    file: str,
    more: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["estimate", file, *more]) == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert any(part in printed for part in said.split("|"))


def test_a_page_of_it(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    command = ["estimate", file, "--human", "human", "--human-scale", "1,5"]
    assert run([*command, "--report", str(page)]) == 0
    assert "mean human rating" in page.read_text(encoding="utf-8")
    out = ["--next", "12", "--out", str(tmp_path / "label.jsonl")]
    assert run(["estimate", file, *out, "--report", str(page), "--overwrite"]) == 2
    assert "needs human ratings" in " ".join(capsys.readouterr().err.split())
