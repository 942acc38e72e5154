"""How sure scores are, from the server's probabilities to what commands print and write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.cli.app import run
from tests.report.blocks import blocks_of
from tests.support.server import Answer, ScriptedServer, reply

RECORD = {
    "input": "When does the office open?",
    "response": "The office opens at nine. Parking is free.",
    "contexts": ["The office opens at nine. Parking costs two euros."],
}


def _torn(body: dict[str, Any], _n: int) -> Answer:
    """Two is more than one; and A, which is fully, is as likely as E, which is none."""
    if "Is two more than one?" in body["messages"][-1]["content"]:
        return reply("yes", tokens=[("yes", {"yes": 1.0})])
    return reply("A", tokens=[("A", {"A": 0.5, "E": 0.5})])


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({**RECORD, "id": f"s{n}"}) for n in range(2)]
    Path("in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with ScriptedServer(_torn) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield ["in.jsonl", "--judge", "openai:m", "--verdicts", "labels"]


def test_evaluate_prints_writes_and_shows_it(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    # Of two claims both are fully with 1/4, one with 1/2 (score 1/4), none with 1/4.
    assert run(["evaluate", *command, "--out", "out.jsonl", "--report", "page.html"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "mean chance to pass 25% of 2 samples with probabilities; 2 undecided" in printed
    assert "the judge is unsure of 4 of 4 claims" in printed
    assert "least sure, with the chance to pass: s0 25%, s1 25%" in printed
    for line in Path("out.jsonl").read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        assert found["uncertainty"]["pass_probability"] == pytest.approx(0.25)
        assert "chance to pass 25%, 95% interval 0.000 to 1.000" in found["reason"]
    figures, details = blocks_of(Path("page.html"))
    assert any("mean chance to pass 25%" in note for note in figures["notes"])
    assert all("unsure of 2 of 2 claims" in str(line["runs"]) for line in details)
    capsys.readouterr()
    assert run(["evaluate", *command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["uncertainty"]
    assert (told["samples"], told["undecided"], told["unsure_claims"]) == (2, 2, 4)


def test_compare_says_it_at_its_middle_temperature(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [
        "compare",
        *command,
        "--with",
        "none",
        "--out",
        "side",
        "--temperatures",
        "0.2,0.5,0.9",
    ]
    assert run(asked) == 0
    assert "tcva T=0.5: mean chance to pass 25% of 2 samples" in capsys.readouterr().out
    summary = json.loads(Path("side/summary.json").read_text(encoding="utf-8"))
    assert summary["uncertainty"]["method"] == "tcva T=0.5"
    assert summary["uncertainty"]["pass_probability"] == pytest.approx(0.25)
