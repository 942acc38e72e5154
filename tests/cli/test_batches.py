"""tcva batch submit, status, collect and cancel, over a server with files and batches."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tcva_adapters.cli.app import run
from tests.support.batch_server import BatchServer
from tests.support.server import auto_judge, error

PASSAGE = "The office opens at nine. Parking is free for visitors."
SUBMIT = [
    "batch",
    "submit",
    "in.jsonl",
    "-j",
    "openai:m",
    "--store",
    "v.sqlite",
    "-o",
    "july",
]


@pytest.fixture(autouse=True, name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write(*(f"The office opens at nine. It has {n} doors." for n in range(8)))
    with BatchServer(auto_judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-local-0123456789")
        yield server


def write(*answers: str) -> None:
    records = [
        {"question": "When?", "answer": a, "contexts": [PASSAGE]} for a in answers
    ]
    Path("in.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code
    printed = capsys.readouterr()
    lines = [*printed.out.splitlines(), *printed.err.splitlines()]
    # JSON is one line, and the name of a file is never cut.
    wide = [
        line
        for line in lines
        if cell_len(line) > 80 and not line.startswith(("{", "/"))
    ]
    assert not wide
    return printed.out if code == 0 else printed.err


@pytest.mark.slow
def test_a_whole_submission(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, *SUBMIT, "--batch-size", "5")
    assert out.startswith("0 of 8 samples scored, 0 failed; 8 requests under way\n")
    Path("in.jsonl").unlink()  # the folder is enough
    assert "completed" in said(capsys, "batch", "status", "july")
    out = said(capsys, "batch", "collect", "july")
    assert out.startswith("8 of 8 samples scored, 0 failed; no request under way\n")
    tables = json.loads(said(capsys, "batch", "collect", "july", "--json"))["tables"]
    assert tables["samples"][0]["scored"] == 8
    assert [each["requests"] for each in tables["batches"]] == [5, 3]
    write(*(f"The office opens at nine. It has {n} doors." for n in range(8)))
    before = server.count
    said(
        capsys,
        "evaluate",
        "in.jsonl",
        "-j",
        "openai:m",
        "--store",
        "v.sqlite",
        "--json",
    )
    assert server.count == before


@pytest.mark.parametrize("options", [
    ["--set", "claims=llm"],
    ["--panel", "openai:n", "--fuse", "lexical", "--set", "combine=fused"],
    ["--ccrs", "cc,qr"],
], ids=" ".join)  # fmt: skip
def test_the_scorer_is_built_again_from_the_folder(
    options: list[str], server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--ccrs" in options:
        server.script = lambda *_: '{"score": 70}'
    said(capsys, *SUBMIT, *options)
    assert "no request under way" in said(
        capsys, "batch", "collect", "july", "--wait", "0.01"
    )


@pytest.mark.parametrize("fate", [error(400, "No."), "cancelled"])
def test_nothing_judged(
    fate: Any, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.fate = lambda *_: fate
    server.hold = fate == "cancelled"
    said(capsys, *SUBMIT)
    if server.hold:
        assert "cancelling" in said(capsys, "batch", "cancel", "july")
    assert "no sample has a score" in said(capsys, "batch", "collect", "july", code=2)
    server.fate, server.hold = (lambda *_: None), False
    assert "8 of 8" in said(
        capsys, "batch", "collect", "july", "--again", "--wait", "0.01"
    )


def test_bad_lines_are_left_out(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("in.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"nothing": 1}\n')
    assert "line 9" in said(capsys, *SUBMIT, code=2)
    assert not server.files
    assert "8 requests" in said(capsys, *SUBMIT, "--skip-bad")
