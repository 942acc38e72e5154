"""Runs that end early and are gone on with: killed, interrupted, at a bad line, or changed meanwhile."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.cli.app import run
from tcva_adapters.samples.output import replacing
from tests.support.server import Body, ScriptedServer, auto_judge, error

SIZE = 60


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    write(SIZE)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer(auto_judge) as local:
        monkeypatch.setenv("OPENAI_BASE_URL", local.base_url)
        yield local


def write(size: int, path: str = "in.jsonl", tail: str = "") -> None:
    texts = (f"Door {n} opens at nine." for n in range(size))
    lines = [
        json.dumps({"id": str(n), "question": "When?", "answer": t, "contexts": [t]})
        for n, t in enumerate(texts)
    ]
    Path(path).write_text("\n".join(lines) + "\n" + tail, encoding="utf-8")


def drafts() -> list[Path]:
    return sorted(Path().glob(".*.draft"))


def judged(path: str) -> list[dict[str, Any]]:
    """Results without the seconds that they took, which differ from run to run."""
    text = re.sub(r'"seconds": [\d.e-]+', '"seconds": 0', Path(path).read_text(encoding="utf-8"))
    return [json.loads(line) for line in text.strip("[]\n").replace("\n,", "\n").splitlines()]


def answer(body: Body, n: int) -> str:
    asks_for_claims = "verdict" in json.dumps(body)
    return auto_judge(body, n) if asks_for_claims else '{"score": 80}'


def killed(server: ScriptedServer, after: int, *arguments: str) -> None:
    """Run a command until so many requests have come, and kill it."""
    enough = threading.Event()

    def script(body: Body, n: int) -> str:
        if server.count >= after:
            enough.set()
        return answer(body, n)

    server.script = script
    child = subprocess.Popen(
        [sys.executable, "-m", "tcva_adapters", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert enough.wait(timeout=120)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()


@pytest.mark.slow
@pytest.mark.parametrize(("command", "out"), [("evaluate", "out.jsonl"), ("ccrs", "out.jsonl")])
def test_a_killed_run_is_gone_on_with_without_a_store_too(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str], command: str, out: str
) -> None:
    arguments = [command, "in.jsonl", "--judge", "openai:m", "--no-store", "--max-concurrency", "2"]
    arguments += ["--metrics", "id"] if command == "ccrs" else []
    killed(server, SIZE // 2, *arguments, "--out", out)
    (draft,) = drafts()
    there = draft.read_bytes().count(b"\n")
    assert 0 < there <= SIZE
    assert not Path(out).exists()
    with draft.open("ab") as file:
        file.write(b'{"kind": "tc')  # written in half when it was killed
    before = server.count
    assert run([*arguments, "--out", out, "--json"]) == 0
    printed = capsys.readouterr()
    assert f"{there} results of an interrupted run are there" in printed.err
    assert server.count - before == SIZE - there
    assert json.loads(printed.out)["samples"] == SIZE
    assert not drafts()
    assert run([*arguments, "--out", f"whole{Path(out).suffix}"]) == 0
    assert judged(out) == judged(f"whole{Path(out).suffix}")


@pytest.mark.slow
def test_another_run_leaves_a_draft_alone(server: ScriptedServer) -> None:
    arguments = ["evaluate", "in.jsonl", "--judge", "openai:m", "--no-store", "-o", "out.jsonl"]
    killed(server, SIZE // 2, *arguments)
    (draft,) = drafts()
    left = draft.read_bytes()
    assert run([*arguments, "-T", "strict"]) == 0
    assert draft.read_bytes() == left
    assert {row["scoring"]["temperature"] for row in judged("out.jsonl")} == {0.2}
    write(SIZE + 1)  # other samples
    assert run(arguments) == 0
    assert len(judged("out.jsonl")) == SIZE + 1


@pytest.mark.slow
def test_what_failed_last_is_tried_again(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["evaluate", "in.jsonl", "--judge", "openai:m", "--no-store", "-o", "out.jsonl"]
    arguments += ["--retries", "0", "--max-concurrency", "1"]
    stop = threading.Event()

    def script(body: Body, n: int) -> Any:
        if n > 40:
            stop.set()
        return auto_judge(body, n) if n <= 20 else error(503, "Busy.")

    server.script = script
    child = subprocess.Popen([sys.executable, "-m", "tcva_adapters", *arguments])
    assert stop.wait(timeout=120)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    server.script = auto_judge
    capsys.readouterr()
    assert run(arguments) == 0
    assert re.search(r"(1\d|20) results of an interrupted run are there", capsys.readouterr().err)
    assert all(row["unscored"] is None for row in judged("out.jsonl"))


def test_a_bad_line_far_down_keeps_what_was_judged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcva_adapters.samples.records.RowStream.check", lambda *_: None)
    write(SIZE, tail="no JSON\n" + json.dumps({"id": "last", "answer": "A.", "contexts": ["A."]}))
    arguments = ["evaluate", "in.jsonl", "--judge", "lexical", "-o", "out.jsonl"]
    assert run(arguments) == 2
    printed = capsys.readouterr().err
    assert f"in.jsonl, line {SIZE + 1}: not JSON" in printed
    assert "with --skip-bad goes on behind them" in " ".join(printed.split())
    assert run([*arguments, "--skip-bad"]) == 0
    assert f"{SIZE} results of an interrupted run are there" in capsys.readouterr().err
    assert [row["sample_id"] for row in judged("out.jsonl")][-2:] == [str(SIZE - 1), "last"]


def test_samples_that_are_skipped_for_their_group_move_no_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcva_adapters.samples.records.RowStream.check", lambda *_: None)
    good = {"answer": "A door.", "contexts": ["A door."]}
    lines = [{"id": str(n), **good, **({} if n == 3 else {"page": n % 5})} for n in range(SIZE)]
    last = {"id": "last", **good, "page": 1}
    text = "\n".join([*map(json.dumps, lines), "no JSON", json.dumps(last)])
    Path("in.jsonl").write_text(text, encoding="utf-8")
    arguments = ["evaluate", "in.jsonl", "--judge", "lexical", "-o", "out.jsonl"]
    assert run(arguments) == 2  # with a draft of all before that line
    grouped = ["--skip-bad", "--group", "page", "--min-score", "0", "--confidence", "0.9"]
    assert run([*arguments, *grouped]) == 0
    capsys.readouterr()
    names = [str(n) for n in range(SIZE) if n != 3]
    assert [row["sample_id"] for row in judged("out.jsonl")] == [*names, "last"]


def test_samples_of_a_pipe_leave_no_draft(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Path("in.jsonl").read_text(encoding="utf-8")
    with Path("half.jsonl").open("w", encoding="utf-8") as file:
        file.write(text + "no JSON\n")
    monkeypatch.setattr("tcva_adapters.samples.records.RowStream.check", lambda *_: None)
    with Path("half.jsonl").open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert run(["evaluate", "-", "--judge", "lexical", "-o", "out.jsonl"]) == 2
    assert not drafts()
    assert not Path("out.jsonl").exists()
    capsys.readouterr()


def test_one_process_at_a_time_writes_a_draft(capsys: pytest.CaptureFixture[str]) -> None:
    script = (
        "import sys; from tcva_adapters.samples.output import replacing\n"
        "from tcva_adapters.errors import InvalidValueError\n"
        "try:\n    replacing('out.jsonl', fingerprint='x').__enter__()\n"
        "except InvalidValueError as error:\n    print(error)\n"
    )
    with replacing("out.jsonl", fingerprint="x") as draft:
        draft.write(b"a\n")
        ran = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert "another process is writing out.jsonl" in ran.stdout
    assert Path("out.jsonl").read_bytes() == b"a\n"
    capsys.readouterr()


@pytest.mark.slow
def test_figures_pages_and_gates_are_those_of_all_results(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["evaluate", "in.jsonl", "--judge", "openai:m", "--no-store", "-o", "out.jsonl"]
    more = ["--json", "--min-score", "1.0", "--junit", "tests.xml", "--show", "worst"]
    killed(server, SIZE // 2, *arguments)
    status = run([*arguments, *more, "--report", "page.html"])
    one = capsys.readouterr()
    junit = Path("tests.xml").read_text(encoding="utf-8")
    assert run([*arguments[:-1], "whole.jsonl", *more]) == status
    two = capsys.readouterr()
    pattern = r'"seconds": [\d.e-]+'
    assert re.sub(pattern, "", one.out) == re.sub(pattern, "", two.out)
    assert junit.count("<testcase") == SIZE + 2
    assert Path("page.html").stat().st_size > 0
