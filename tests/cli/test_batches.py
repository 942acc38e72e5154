"""tcva submit, status and collect, over a server with files and batches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from tcva_adapters.cli.app import run
from tests.support.batch_server import BatchServer, Fault
from tests.support.server import auto_judge, error

PASSAGE = "The office opens at nine. Parking is free for visitors."
SUBMIT = ["submit", "in.jsonl", "-j", "openai:m", "--store", "v.sqlite", "-o", "july"]


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
    records = [{"question": "When?", "answer": a, "contexts": [PASSAGE]} for a in answers]
    Path("in.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code
    printed = capsys.readouterr()
    lines = [*printed.out.splitlines(), *printed.err.splitlines()]
    # JSON is one line, and the name of a file is never cut.
    wide = [line for line in lines if cell_len(line) > 80 and not line.startswith(("{", "/"))]
    assert not wide
    return printed.out if code == 0 else printed.err


@pytest.mark.slow
def test_a_submission_from_end_to_end(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, *SUBMIT, "--prices", "1,5", "--batch-size", "5")
    assert out.startswith(
        "0 of 8 samples judged; round 1: 8 requests in 2 batches, 0 of them answered\n"
    )
    Path("in.jsonl").unlink()  # the folder is enough
    assert "completed" in said(capsys, "status", "july")
    assert run(["collect", "july"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("8 of 8 samples judged; nothing is under way\n")
    assert "cost 0.00028" in printed.out
    assert "what the judge said, cached" in printed.err
    figures = json.loads(said(capsys, "collect", "july", "--json"))
    assert (figures["done"], figures["scored"], figures["input_tokens"]) == (True, 8, 80)
    assert [each["requests"] for each in figures["batches"]] == [5, 3]
    write(*(f"The office opens at nine. It has {n} doors." for n in range(8)))
    before = server.count
    told = said(capsys, "evaluate", "in.jsonl", "-j", "openai:m", "--store", "v.sqlite", "--json")
    assert json.loads(told)["scored"] == 8
    assert server.count == before


@pytest.mark.parametrize(
    "options",
    [
        ["--claims", "llm"],
        ["--panel", "openai:n", "--fuse", "lexical", "--combine", "fused"],
        ["-m", "cc,ir"],
        ["-c", "answer_relevancy", "--max-claims", "1", "--enqueued-tokens", "5000"],
    ],
    ids=" ".join,
)
def test_the_scorer_is_built_again_from_the_folder(
    options: list[str], server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    if "-m" in options:
        server.script = lambda body, _: '{"score": 70}'
    said(capsys, *SUBMIT, *options)
    out = said(capsys, "collect", "july", "--wait", "0.01")
    assert "nothing is under way" in out
    assert "failed" not in out.splitlines()[0]


def test_waiting_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, *SUBMIT, "--claims", "llm")
    assert run(["collect", "july", "--wait", "0.01"]) == 0
    assert "0 of 8 samples judged; round 2: 8 requests in 1 batch" in capsys.readouterr().err


def test_what_stopped_is_explained(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.statuses = {1: "failed"}
    server.failures = ("billing", "Billing hard limit \x1b[31mhas been reached.")
    said(capsys, *SUBMIT)
    out = said(capsys, "collect", "july")
    assert "batch 1: Billing hard limit \\x1b[31mhas been reached." in out
    assert "--again" in out
    assert "8 of 8 samples judged" in said(capsys, "collect", "july", "--again", "--wait", "0.01")


def test_cancelling(server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.hold = True
    server.fate = lambda *_: "cancelled"
    said(capsys, *SUBMIT)
    assert "cancelling" in said(capsys, "collect", "july", "--cancel")
    assert "8 requests in 1 batch stopped before the end" in said(capsys, "collect", "july")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["status", "nowhere"], "nowhere holds no submission; 'tcva submit' makes one"),
        (["collect", "nowhere"], "nowhere holds no submission"),
        ([*SUBMIT, "-m", "cc", "--fuse", "lexical"], "leave --fuse and --panel out"),
        (["submit", "in.jsonl", "-j", "lexical", "-o", "july"], "asks no model"),
        ([*SUBMIT, "--tries", "0"], "tries=0"),
        ([*SUBMIT, "--batch-size", "0"], "requests=0"),
        ([*SUBMIT, "--prices", "1"], "--prices '1'; it is two numbers"),
        (
            [*SUBMIT, "-c", "correctness"],
            "correctness needs; a field of ours is named with --map, a sample left out",
        ),
        (["submit", "in.jsonl"], "Missing option"),
    ],
)
def test_wrong_use(
    arguments: list[str], message: str, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in " ".join(said(capsys, *arguments, code=2).split())
    assert not server.files


def test_another_server_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said(capsys, *SUBMIT)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert "the same settings and OPENAI_BASE_URL" in " ".join(
        said(capsys, "status", "july", code=2).split()
    )


def test_bad_lines_are_left_out_on_demand(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("in.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"nothing": 1}\n')
    assert "line 9" in said(capsys, *SUBMIT, code=2)
    assert not server.files
    assert "8 requests" in said(capsys, *SUBMIT, "--skip-bad")


def test_a_failing_server_leaves_the_submission_as_it_is(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.faults = [Fault("POST /v1/batches", error(400, "Try later."))]
    assert "Try later." in said(capsys, *SUBMIT, code=2)
    assert "round 1: 8 requests in 1 batch" in said(capsys, *SUBMIT)
    assert len(server.batches) == 1
