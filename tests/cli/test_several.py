"""Repeats and panels on the command line: options, figures, gates, workers, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.cli.app import run
from tests.support.server import Body, ScriptedServer, auto_judge

SAMPLES = 40


def noisy(body: Body, n: int) -> str:
    """Takes every third claim for unsupported, by the seed and the model."""
    said: dict[str, Any] = json.loads(auto_judge(body, n))
    for verdict in said.values():
        number = int(verdict["quote_from_passage"].split()[1])
        if (number + body["seed"] + len(body["model"])) % 3 == 0:
            verdict["verdict"] = "none"
    return json.dumps(said)


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.chdir(tmp_path)
    lines = []
    for number in range(SAMPLES):
        text = f"Room {number} is red. Room {number + 1} is blue."
        record = {"id": str(number), "response": text, "contexts": [text], "stars": number % 3}
        lines.append(json.dumps(record))
    Path("in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with ScriptedServer(noisy, models=("m", "other")) as found:
        monkeypatch.setenv("OPENAI_BASE_URL", found.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield found


EVALUATE = ("evaluate", "in.jsonl", "--judge", "openai:m", "--repeats", "3")


def test_repeats_are_judged_once_each_and_reported(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*EVALUATE, "-o", "judged.jsonl"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "faithfulness by repeats(openai:m, 3)" in said
    assert f"of {SAMPLES} samples flip at the threshold" in said
    assert "one repeat more would make it" in said
    assert server.count == 3 * SAMPLES
    assert {(body["seed"], body["temperature"]) for body in server.bodies} == {
        (0, 0.7),
        (1, 0.7),
        (2, 0.7),
    }
    assert run([*EVALUATE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["repeats"]
    assert server.count == 3 * SAMPLES
    assert (found["repeats"], found["samples"]) == (3, SAMPLES)
    assert found["judge_sd"] > 0.0


def test_a_gate_that_noise_does_not_open(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*EVALUATE, "--json"]) == 0
    mean = json.loads(capsys.readouterr().out)["mean_score"]
    gate = ("--min-score", f"{mean - 0.001:.6f}")
    assert run([*EVALUATE, *gate]) == 0
    assert run([*EVALUATE, *gate, "--confidence", "0.95"]) == 1
    assert "with 95% confidence at least" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("repeats", ["1", "2"])
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_what_a_panel_is_worth(
    command: str, repeats: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--judge", "openai:m", "--panel", "openai:other", "--json", "--repeats", repeats]
    options += ["--with", "none", "--out", "side"] if command == "compare" else []
    assert run([command, "in.jsonl", *options]) == 0
    found = json.loads(capsys.readouterr().out)["panel"]
    worth = found if command == "compare" else found["worth"]
    assert worth["judges"] == 2
    assert "cannot be told without human ratings" in worth["best_judge"]["sentence"]
    options += ["--overwrite"] if command == "compare" else []
    assert run([command, "in.jsonl", *options, "--human", "stars"]) == 0
    found = json.loads(capsys.readouterr().out)["panel"]
    worth = found if command == "compare" else found["worth"]
    assert worth["of_errors"]
    assert worth["best_judge"]["judge"] in {"openai:m", "openai:other"}


def test_labels_of_a_panels_samples(capsys: pytest.CaptureFixture[str]) -> None:
    rows = "\n".join(f"{number},{number % 3}" for number in range(SAMPLES))
    Path("labels.csv").write_text(f"id,human\n{rows}\n", encoding="utf-8")
    panel = ("evaluate", "in.jsonl", "--judge", "openai:m", "--panel", "openai:other")
    assert run([*panel, "--labels", "labels.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["panel"]["worth"]
    assert found["of_errors"]
    assert found["samples"] == SAMPLES


def test_a_comparison_reports_repeats_at_its_middle_temperature(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("compare", "in.jsonl", "--judge", "openai:m", "--with", "none", "--out", "side")
    assert run([*command, "--repeats", "2", "--report", "page.html"]) == 0
    assert "Over 2 repeats" in capsys.readouterr().out
    assert server.count == 2 * SAMPLES
    assert "Over 2 repeats" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--repeats", "2"), "repeats=2 of lexical/3: only a model can be asked again"),
        (("--judge", "openai:m", "--repeats", "2", "--claims", "llm"), "use claims='split'"),
        (
            ("--judge", "openai:m", "--repeats", "0"),
            "repeats=0; it should be greater than or equal to 1",
        ),
        (("--confidence", "0.95"), "give min_score or min_pass_rate, too"),
        (
            ("--min-score", "0.5", "--confidence", "95"),
            "confidence=95.0; it lies between 0.5 and 1",
        ),
        (("--human", "stars"), "--human is for a --panel here"),
        (("--labels", "labels.csv"), "--labels is for a --panel here"),
    ],
)
def test_what_says_nothing_is_refused_before_anything_is_asked(
    arguments: tuple[str, ...],
    message: str,
    server: ScriptedServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["evaluate", "in.jsonl", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert server.count == 0
