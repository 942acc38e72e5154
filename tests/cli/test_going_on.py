"""Runs that end early and are gone on with: killed, interrupted, at a bad line, or changed meanwhile."""

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

from tests.cli.conftest import Run
from tests.support.server import Body, ScriptedServer, auto_judge

SIZE = 60


@pytest.fixture
def server(tcva: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    tcva("--version")
    with ScriptedServer(auto_judge) as local:
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        monkeypatch.setenv("OPENAI_BASE_URL", local.base_url)
        yield local


def write(size: int, path: str = "in.jsonl", tail: str = "") -> None:
    texts = {f"{n}": f"Door {n} opens at nine." for n in range(size)}
    rows = (
        {"id": n, "question": "?", "answer": t, "contexts": [t]}
        for n, t in texts.items()
    )
    lines = [json.dumps(row) for row in rows]
    Path(path).write_text("\n".join(lines) + "\n" + tail, encoding="utf-8")


def drafts() -> list[Path]:
    return sorted(Path().glob(".*.draft"))


def judged(path: str) -> list[dict[str, Any]]:
    """Results without the seconds that they took, which differ from run to run."""
    text = re.sub(
        r'"seconds": [\d.e-]+', '"seconds": 0', Path(path).read_text(encoding="utf-8")
    )
    return [
        json.loads(line)
        for line in text.strip("[]\n").replace("\n,", "\n").splitlines()
    ]


def answer(body: Body, n: int) -> str:
    asks_for_claims = "verdict" in json.dumps(body)
    return auto_judge(body, n) if asks_for_claims else '{"score": 80}'


def killed(server: ScriptedServer, after: int, *arguments: str) -> None:
    """Run a command until so many requests have come, and kill it."""
    enough, dead = threading.Event(), threading.Event()

    def script(body: Body, n: int) -> str:
        if n >= after:
            enough.set()
            dead.wait(60)  # so that it has not ended before it is killed
        return answer(body, n)

    server.script = script
    command, silent = (
        [sys.executable, "-m", "tcva_adapters", *arguments],
        subprocess.DEVNULL,
    )
    child = subprocess.Popen(command, stdout=silent, stderr=silent)
    assert enough.wait(timeout=30)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    dead.set()


MODEL = ("evaluate", "in.jsonl", "--judge", "openai:m", "--store", "none")
RUN = (*MODEL, "--set", "max-concurrency=2")


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--ccrs", "id")], ids=["claims", "ccrs"])
def test_a_killed_run_goes_on(
    more: tuple[str, ...], server: ScriptedServer, tcva: Run
) -> None:
    write(SIZE)
    killed(server, SIZE // 2, *RUN, *more, "--out", "out.jsonl")
    (draft,) = drafts()
    there = draft.read_bytes().count(b"\n")
    assert 0 < there <= SIZE
    assert not Path("out.jsonl").exists()
    left = draft.read_bytes()
    tcva(
        *RUN, *more, "--threshold", "0.7", "-o", "other.jsonl"
    )  # another run leaves it alone
    assert draft.read_bytes() == left
    with draft.open("ab") as file:
        file.write(b'{"kind": "tc')  # written in half when it was killed
    before = server.count
    done = tcva(*RUN, *more, "--out", "out.jsonl", "--json")
    assert f"found {there} results of an interrupted run" in done.err
    assert server.count - before <= SIZE - there
    assert done.json["tables"]["methods"][0]["samples"] == SIZE
    assert not drafts()
    tcva(*RUN, *more, "--out", "whole.jsonl")
    assert judged("out.jsonl") == judged("whole.jsonl")


def test_a_bad_line_keeps_what_was_judged(
    tcva: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tcva_adapters.samples.row_stream.RowStream.check", lambda *_: None
    )
    write(
        SIZE,
        tail="no JSON\n"
        + json.dumps({"id": "last", "answer": "A.", "contexts": ["A."]}),
    )
    arguments = ("evaluate", "in.jsonl", "--judge", "lexical", "-o", "out.jsonl")
    done = tcva(*arguments, code=2)
    assert f"in.jsonl, line {SIZE + 1}: not JSON" in done.text
    assert "--skip-bad continues" in done.text
    done = tcva(*arguments, "--skip-bad", "--json")
    assert f"found {SIZE} results of an interrupted run" in done.err
    assert done.json["tables"]["methods"][0]["samples"] == SIZE + 2
    assert [row["sample_id"] for row in judged("out.jsonl")][-2:] == [
        str(SIZE - 1),
        "last",
    ]


def test_samples_of_a_pipe_leave_no_draft(
    tcva: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(SIZE, "half.jsonl", tail="no JSON\n")
    monkeypatch.setattr(
        "tcva_adapters.samples.row_stream.RowStream.check", lambda *_: None
    )
    with Path("half.jsonl").open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        tcva("evaluate", "-", "--judge", "lexical", "-o", "out.jsonl", code=2)
    assert not drafts()


FAILED = {2, 5, 11}
STORES = [(), ("--store", "own.sqlite")]


@pytest.mark.parametrize("store", STORES, ids=["default", "own"])
@pytest.mark.parametrize(
    ("more", "calls"), [((), 1), (("--panel", "openai:n"), 1), (("--ccrs", "id"), 1)], ids=["claims", "panel", "ccrs"]
)  # fmt: skip
def test_samples_that_failed_before_the_stop_are_asked_again(
    more: tuple[str, ...],
    calls: int,
    store: tuple[str, ...],
    server: ScriptedServer,
    tcva: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "tcva_adapters.samples.row_stream.RowStream.check", lambda *_: None
    )
    write(SIZE, tail="no JSON\n")
    failing = FAILED

    def script(body: Body, n: int) -> str:
        failed = any(f"Door {number} opens" in json.dumps(body) for number in failing)
        is_asked = "--panel" not in more or body["model"] == "n"
        return "I cannot say." if failed and is_asked else answer(body, n)

    server.script = script
    run = (
        "evaluate",
        "in.jsonl",
        "--judge",
        "openai:m",
        *store,
        *more,
        "--out",
        "out.jsonl",
    )
    tcva(*run, code=2)
    (draft,) = drafts()
    assert draft.read_bytes().count(b"\n") == SIZE
    failing, before = set(), server.count
    done = tcva(*run, "--skip-bad", "--json")
    assert f"found {min(FAILED)} results of an interrupted run" in done.err
    assert server.count - before == calls * len(FAILED)
    (figures,) = done.json["tables"]["methods"]
    assert (figures["scored"], figures["samples"]) == (SIZE, SIZE + 1)
    assert [row["sample_id"] for row in judged("out.jsonl")] == [
        str(n) for n in range(SIZE)
    ]
    assert "failed" not in done.json["sentence"]


def test_without_a_store_what_was_paid_after_a_failure_stays(
    server: ScriptedServer, tcva: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tcva_adapters.samples.row_stream.RowStream.check", lambda *_: None
    )
    write(SIZE, tail="no JSON\n")
    server.script = lambda body, n: (
        "No." if "Door 5 " in json.dumps(body) else answer(body, n)
    )
    tcva(*MODEL, "--out", "out.jsonl", code=2)
    before = server.count
    done = tcva(*MODEL, "--out", "out.jsonl", "--skip-bad", "--json", code=3)
    assert server.count == before
    assert "1 failed" in done.json["sentence"]
    assert "asks only for the rest" not in done.json["sentence"]
