"""What happens to a submission between two days: lost batches, foreign lines, cut folders, other limits."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.batches import Limits, cancel, collect, recipe_of, status, submit
from tcva_adapters.batches.ledger import Ledger
from tcva_adapters.errors import InvalidValueError, JudgeError, UnreadableInputError
from tests.batches.test_submission import SAMPLES, collected, model_at
from tests.support.batch_server import BatchServer, Fault
from tests.support.server import auto_judge, error

FEW = SAMPLES[:4]
TWO = Limits(requests=2)


@pytest.fixture(name="server")
def _server() -> Iterator[BatchServer]:
    with BatchServer(auto_judge) as server:
        yield server


@pytest.fixture(name="tcva")
def _tcva(server: BatchServer, tmp_path: Path) -> TCVA:
    return TCVA(judge=model_at(server, max_retries=0), store=tmp_path / "v.sqlite")


@pytest.mark.parametrize("is_file", [False, True])
def test_what_a_server_does_not_have_stops_nothing_else(
    is_file: bool, server: BatchServer, tcva: TCVA, tmp_path: Path
) -> None:
    submit(tcva, FEW, tmp_path / "sub", limits=TWO)
    lost = server.batches["batch_1"]
    if is_file:
        server.look("batch_1")
        path = f"GET /v1/files/{lost.told['output_file_id']}/content"
        server.faults = [Fault(path, error(404, "gone")) for _ in range(2)]
    else:
        path = "GET /v1/batches/batch_1"
        server.faults = [Fault(path, error(404, "gone")) for _ in range(3)]
        assert "not found: is the key" in str(status(tcva, tmp_path / "sub"))
    report = collect(tcva, tmp_path / "sub")
    assert (report.scored, report.waiting, report.is_done) == (2, 2, False)
    assert "--again" in str(report)
    assert collect(tcva, tmp_path / "sub", wait=0.01).scored == 2  # it does not wait for ever
    assert not server.faults
    report = collected(tcva, tmp_path / "sub")  # the right key
    assert (report.scored, len(server.batches)) == (4, 2)
    assert "not found" not in str(report)


def test_what_is_lost_for_good_is_asked_on_demand(
    server: BatchServer, tcva: TCVA, tmp_path: Path
) -> None:
    submit(tcva, FEW, tmp_path / "sub", limits=TWO)
    server.faults = [Fault("GET /v1/batches/batch_1", error(404, "gone"))]
    collect(tcva, tmp_path / "sub")
    server.faults = [Fault("GET /v1/batches/batch_1", error(404, "gone"))]
    report = collected(tcva, tmp_path / "sub", again=True)
    assert [each.requests for each in report.batches] == [2, 2, 2]
    assert report.scored == 4
    assert "gone" not in str(report)


def test_lines_of_nobodys_request_cost_nothing(
    server: BatchServer, tcva: TCVA, tmp_path: Path
) -> None:
    submit(tcva, FEW, tmp_path / "sub")
    server.look("batch_1")
    file = server.batches["batch_1"].told["output_file_id"]
    name, content = server.files[file]
    good = content.decode().splitlines()
    line = json.loads(good[0])
    odd = [
        json.dumps({**line, "custom_id": name})
        for name in ("5f-" + "9" * 40 + "-1", "\ud800-0-1", "5f-0-1", None, 5)
    ]
    lines = [*odd, "{", "[]", json.dumps({**line, "custom_id": "5f-0-1", "response": 1})]
    server.files[file] = (name, "\n".join([*lines, *good, *good]).encode())
    report = collect(tcva, tmp_path / "sub")
    assert (report.scored, report.tokens, report.is_done) == (4, (40, 20), True)


def test_a_submission_that_was_begun_is_told_of(tcva: TCVA, tmp_path: Path) -> None:
    def breaks() -> Iterator[Sample]:
        yield FEW[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        submit(tcva, breaks(), tmp_path / "sub")
    for ask in (status, collect, cancel):
        with pytest.raises(InvalidValueError, match=r"stopped before .* was whole"):
            ask(tcva, tmp_path / "sub")
    with pytest.raises(InvalidValueError, match="give it once more"):
        recipe_of(tmp_path / "sub")
    submit(tcva, FEW, tmp_path / "sub")
    assert collected(tcva, tmp_path / "sub").scored == 4


def test_a_disk_that_is_full_leaves_all_waiting(
    tcva: TCVA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        failure = sqlite3.OperationalError("database or disk is full")
        failure.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "ask", full)
        with pytest.raises(UnreadableInputError, match="free some space"):
            submit(tcva, FEW, tmp_path / "sub")
    report = status(tcva, tmp_path / "sub")
    assert (report.waiting, report.is_done) == (4, False)
    assert "asks for what lacks" in report.advice
    assert collected(tcva, tmp_path / "sub").scored == 4


def test_a_folder_that_was_cut_is_named(tcva: TCVA, tmp_path: Path) -> None:
    submit(tcva, FEW, tmp_path / "sub")
    path = tmp_path / "sub" / "samples.jsonl"
    whole = path.read_bytes()
    for cut in (whole[:-9], whole.splitlines(keepends=True)[0], b"", None):
        path.unlink() if cut is None else path.write_bytes(cut)
        with pytest.raises(UnreadableInputError, match="not as 'tcva submit' left it"):
            collect(tcva, tmp_path / "sub")
    path.write_bytes(whole)
    assert collect(tcva, tmp_path / "sub").scored == 4


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_file_that_is_refused_or_gone_is_written_anew(
    is_gone: bool, server: BatchServer, tcva: TCVA, tmp_path: Path
) -> None:
    server.faults = [Fault("POST /v1/files", error(413, "too large"))]
    with pytest.raises(JudgeError, match="a smaller --batch-size"):
        submit(tcva, FEW, tmp_path / "sub")
    if is_gone:
        (tmp_path / "sub" / "batch-0001.jsonl").unlink()
        report = collect(tcva, tmp_path / "sub")
    else:
        report = submit(tcva, FEW, tmp_path / "sub", limits=TWO)
    assert [each.requests for each in report.batches] == ([4] if is_gone else [2, 2])
    assert collected(tcva, tmp_path / "sub").scored == 4
    assert not list((tmp_path / "sub").glob("batch-*.jsonl"))
    assert max(server.answered.values()) == 1


def test_cancelling_sends_nothing_that_waits(
    server: BatchServer, tcva: TCVA, tmp_path: Path
) -> None:
    submit(tcva, FEW, tmp_path / "sub", limits=Limits(requests=1, tokens=1))
    assert len(server.batches) == 1
    server.look("batch_1")  # it has ended meanwhile, and cannot be cancelled
    cancel(tcva, tmp_path / "sub")
    assert not any("cancel" in call for call in server.calls)
    report = collected(tcva, tmp_path / "sub")
    assert (report.scored, len(report.stopped), len(server.batches)) == (1, 3, 1)
    assert "cancelled before it was sent" in str(report)
    assert collected(tcva, tmp_path / "sub", again=True).scored == 4


@pytest.mark.slow
def test_waiting_outlasts_another_command(tcva: TCVA, tmp_path: Path) -> None:
    submit(tcva, FEW, tmp_path / "sub")
    found: list[int] = []
    with Ledger(tmp_path / "sub"):
        waiting = threading.Thread(
            target=lambda: found.append(collect(tcva, tmp_path / "sub", wait=0.1).scored)
        )
        waiting.start()
        time.sleep(1.3)  # SQLite itself waits a second
    waiting.join(20)
    assert found == [4]


def test_numbers_out_of_range_are_refused_at_once(tcva: TCVA, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="100 times at most"):
        submit(tcva, FEW, tmp_path / "sub", tries=10**30)
    submit(tcva, FEW, tmp_path / "sub")
    with pytest.raises(InvalidValueError, match="a day at most"):
        collect(tcva, tmp_path / "sub", wait=1e300)
