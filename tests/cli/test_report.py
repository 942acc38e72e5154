"""``tcva report``, and ``--report`` at the end of other commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.cli.app import run
from tests.report.blocks import blocks_of

PASSAGE = "The office opens at nine. Parking is free for visitors."
RECORDS: list[dict[str, Any]] = [
    {"id": f"q{i}", "question": "When?", "answer": answer, "contexts": [PASSAGE], "human": i / 4}
    for i, answer in enumerate(
        ["Parking costs five euros.", "The office opens at nine.", "The office opens at nine."]
    )
]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "".join(f"{json.dumps(record)}\n" for record in RECORDS)
    Path("samples.jsonl").write_text(text, encoding="utf-8")


def test_a_report_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "samples.jsonl", "-o", "judged.jsonl"]) == 0
    capsys.readouterr()
    assert run(["report", "judged.jsonl", "--samples", "samples.jsonl", "--title", "Office"]) == 0
    printed, said = capsys.readouterr()
    assert printed == ""
    assert re.fullmatch(r"written: report\.html \(\d+ kB\): report on 3 samples\n", said)
    figures, details = blocks_of("report.html")
    assert figures["title"] == "Office"
    assert figures["samples"]["human"] == [0.0, 0.25, 0.5]
    assert [line["response"] for line in details] == [record["answer"] for record in RECORDS]


def test_each_command_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy", reason="the extra stats")
    for command in (
        ["evaluate", "samples.jsonl", "-o", "judged.jsonl", "-T", "0.3"],
        ["ccrs", "samples.jsonl", "-o", "rated.jsonl"],
        ["compare", "samples.jsonl", "--with", "none", "--out", "side"],
        ["systems", "a=judged.jsonl", "b=judged.jsonl", "-B", "20"],
    ):
        assert run([*command, "--report", f"{command[0]}.html"]) == 0
        assert re.search(rf"{command[0]}\.html \(\d+ kB\): report", capsys.readouterr().err)
    figures, details = blocks_of("evaluate.html")
    assert figures["title"] == "samples.jsonl"
    assert figures["runs"][0]["settings"]["temperature"] == 0.3
    assert details[0]["contexts"] == [PASSAGE]
    assert len(blocks_of("ccrs.html")[0]["methods"]) == 5
    assert blocks_of("compare.html")[0]["title"] == "side"
    _, about, *parts = blocks_of("systems.html")[0]["sections"]["systems"]
    assert about.startswith("2 systems")
    assert [row[0] for row in parts[1]["rows"]] == ["a", "b"]
    assert run(["report", "side", "-o", "again.html"]) == 0
    assert blocks_of("again.html") == blocks_of("compare.html")


def test_what_cannot_be_written_is_refused_before_anything_is_judged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("mine.html").write_text("<p>mine", encoding="utf-8")
    for command in (
        ["evaluate", "samples.jsonl"],
        ["ccrs", "samples.jsonl"],
        ["compare", "samples.jsonl", "--with", "none", "--out", "side"],
        ["demo"],
    ):
        assert run([*command, "--report", "mine.html"]) == 2
        printed, said = capsys.readouterr()
        assert printed == ""
        assert "mine.html was written by something else" in said
    assert run(["evaluate", "samples.jsonl", "--report", "samples.jsonl"]) == 2
    assert (
        "--report samples.jsonl is the file that the samples come from" in capsys.readouterr().err
    )
    assert not Path("side").exists()
    assert Path("mine.html").read_text(encoding="utf-8") == "<p>mine"
    assert run(["evaluate", "samples.jsonl", "--report", "mine.html", "--overwrite"]) == 0
    assert blocks_of("mine.html")[0]["title"] == "samples.jsonl"


def test_the_demo_leaves_a_file_of_that_name_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tcva-demo.html").write_text("mine", encoding="utf-8")
    assert run(["demo"]) == 0
    assert "tcva-demo.html was written by something else" in capsys.readouterr().err
    assert Path("tcva-demo.html").read_text(encoding="utf-8") == "mine"


def test_a_calibration_by_labels_is_that_by_a_field(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy", reason="the extra stats")
    records = [{**RECORDS[i % 3], "id": f"q{i}", "human": (i * 7 % 11) / 10} for i in range(30)]
    text = "".join(f"{json.dumps(record)}\n" for record in records)
    Path("samples.jsonl").write_text(text, encoding="utf-8")
    lines = [f'{{"id": "{r["id"]}", "human": {r["human"]}, "claims": []}}\n' for r in records]
    Path("labels.jsonl").write_text("".join(reversed(lines)), encoding="utf-8")
    assert run(["evaluate", "samples.jsonl", "-o", "judged.jsonl"]) == 0
    capsys.readouterr()
    found = []
    for where in ("human", "labels.jsonl"):
        quick = ["--human", where, "-B", "100", "--json"]
        assert run(["calibrate", "judged.jsonl", *quick]) == 0
        found.append(json.loads(capsys.readouterr().out)["tables"])
    assert found[0] == found[1]
