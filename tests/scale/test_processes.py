"""Several processes give what one gives, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.ccrs import CCRS
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.scale import iter_evaluate

pytestmark = pytest.mark.slow


def samples(number: int) -> Iterator[Sample]:
    for n in range(number):
        text = f"Room {n % 50} opens at nine. It is {'red' if n % 3 else 'blue'}."
        contexts = None if n % 17 == 5 else [f"Room {n % 50} opens at nine and is red."]
        yield Sample(id=str(n), response=text, contexts=contexts, metadata={"n": n})


class Deadly(LexicalJudge):
    """Takes its process down at some samples: at once, or the first time only."""

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        mark = Path(sample.metadata.get("mark") or "/")
        if sample.metadata.get("deadly") or (mark.name and not mark.exists()):
            if mark.name:
                mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().assess(sample, criterion)


def test_results_are_those_of_one_process_in_order() -> None:
    scorers: list[Scorer[Any]] = [
        TCVA(judge="lexical", temperature="strict"),
        CCRS("cc", judge="lexical"),
    ]
    for scorer in scorers:
        alone = scorer.evaluate_many(samples(200))
        found = list(iter_evaluate(scorer, samples(200), workers=2))
        assert found == alone
        assert [each.sample_id for each in found] == [str(n) for n in range(200)]


def test_reading_stays_a_few_chunks_ahead() -> None:
    read = 0

    def counted() -> Iterator[Sample]:
        nonlocal read
        for sample in samples(10_000):
            read += 1
            yield sample

    found = iter_evaluate(TCVA(judge="lexical"), counted(), workers=1)
    assert next(found).sample_id == "0"
    assert read <= 4 * 32
    found.close()  # type: ignore[attr-defined]  # a generator


@pytest.mark.parametrize("at", [0, 70])
@pytest.mark.parametrize("kind", [UnreadableInputError, InvalidSampleError])
def test_what_came_before_an_error_is_handed_over(kind: type[Exception], at: int) -> None:
    """A file that cannot be read further down, and what is no sample."""

    def given() -> Iterator[Any]:
        yield from samples(at)
        if kind is UnreadableInputError:
            msg = "line 71: not JSON"
            raise UnreadableInputError(msg)
        yield {"response": "no sample"}

    results = iter_evaluate(TCVA(judge="lexical"), given(), workers=2)
    assert [next(results).sample_id for _ in range(at)] == [str(n) for n in range(at)]
    with pytest.raises(kind):
        next(results)


def test_a_slow_source_holds_back_few_results() -> None:
    read = 0

    def slow() -> Iterator[Sample]:
        nonlocal read
        for sample in samples(500):
            time.sleep(0.03 if read >= 32 else 0.0)
            read += 1
            yield sample

    found = iter_evaluate(TCVA(judge="lexical"), slow(), workers=1)
    assert next(found).sample_id == "0"
    assert read <= 40
    found.close()  # type: ignore[attr-defined]  # a generator


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no signal masks")
def test_an_interrupt_before_a_process_starts_leaves_no_mask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(signal, "getsignal", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(iter_evaluate(TCVA(judge="lexical"), samples(3), workers=1))
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_closing_ends_the_processes() -> None:
    found = iter_evaluate(TCVA(judge="lexical"), samples(10_000), workers=2)
    next(found)
    children = _children()
    assert len(children) >= 2
    found.close()  # type: ignore[attr-defined]  # as above
    for _ in range(100):
        if not children & _children():
            return
        time.sleep(0.05)
    raise AssertionError(children & _children())


def _children(of: int | None = None) -> set[int]:
    task = Path(f"/proc/{of or os.getpid()}/task")
    if not task.exists():
        pytest.skip("looks at processes in /proc")
    found = {n for each in task.glob("*/children") for n in each.read_text().split()}
    # The process in which Python looks after semaphores stays to the end.
    return {int(n) for n in found if b"resource_tracker" not in _command(n)}


def _command(process: str) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b"resource_tracker"  # it has ended


def test_a_killed_process_costs_nothing(tmp_path: Path) -> None:
    given = list(samples(200))
    once = {"mark": str(tmp_path / "killed")}
    given[77] = given[77].model_copy(update={"metadata": once})
    found = list(iter_evaluate(TCVA(judge=Deadly()), given, workers=2))
    assert (tmp_path / "killed").exists()
    assert found == TCVA(judge=Deadly()).evaluate_many(given)


def test_a_deadly_sample_is_unscored_and_no_other() -> None:
    given = list(samples(100))
    given[40] = given[40].model_copy(update={"metadata": {"deadly": True}})
    found = list(iter_evaluate(TCVA(judge=Deadly()), given, workers=2))
    why = found[40].unscored
    assert why is not None
    assert why.reason == "judge_error"
    assert "ended without a word" in why.detail
    del given[40], found[40]
    assert found == TCVA(judge=Deadly()).evaluate_many(given)


def test_no_samples_and_what_is_no_sample() -> None:
    tcva = TCVA(judge="lexical")
    assert list(iter_evaluate(tcva, [], workers=2)) == []
    with pytest.raises(InvalidSampleError, match="a Sample is needed"):
        list(iter_evaluate(tcva, [{"response": "a"}], workers=1))  # type: ignore[list-item]  # that is the point
    with pytest.raises(InvalidValueError, match="workers"):
        iter_evaluate(tcva, [], workers=0)


class Unpicklable(LexicalJudge):
    def __reduce__(self) -> Any:
        msg = "cannot pickle a lock"
        raise TypeError(msg)


class Closed(LexicalJudge):
    """Goes to another process, and does not open there."""

    def __reduce__(self) -> Any:
        return _refuse, ()


def _refuse() -> None:
    msg = "no model file here"
    raise FileNotFoundError(msg)


def test_a_judge_that_cannot_be_had_there_ends_the_run() -> None:
    with pytest.raises(InvalidValueError, match="cannot be pickled for other processes"):
        iter_evaluate(TCVA(judge=Unpicklable()), samples(9), workers=1)
    with pytest.raises(FileNotFoundError, match="no model file here"):
        list(iter_evaluate(TCVA(judge=Closed()), samples(9), workers=1))


def test_a_script_without_its_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from tcva_adapters import TCVA, Sample\n"
        "from tcva_adapters.scale import iter_evaluate\n"
        "given = [Sample(response='Red.', contexts=['Red.'])] * 40\n"
        "print(len(list(iter_evaluate(TCVA(judge='lexical'), given, workers=1))))\n"
    )
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "InvalidValueError: the processes end as they start" in done.stderr


_INTERRUPTED_AS_IT_STARTS = """
import os, signal, threading, time
from concurrent.futures import ProcessPoolExecutor
from tcva_adapters import TCVA, Sample
from tcva_adapters.scale import iter_evaluate

spawn = ProcessPoolExecutor._spawn_process

def interrupted(pool):
    spawn(pool)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)  # lets the other thread run, after which Python looks for signals

if __name__ == "__main__":
    over = threading.Event()
    threading.Thread(target=over.wait).start()  # takes the signal where the main thread blocks it
    ProcessPoolExecutor._spawn_process = interrupted
    given = [Sample(response='Red.', contexts=['Red.'])] * 40
    try:
        list(iter_evaluate(TCVA(judge='lexical'), given, workers=2))
    except KeyboardInterrupt:
        print("interrupted")
    finally:
        over.set()
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no signal masks")
def test_an_interrupt_taken_by_another_thread_leaves_no_processes(tmp_path: Path) -> None:
    """Interrupted between the start of a process and that of the thread which ends it, it lives on."""
    script = tmp_path / "script.py"
    script.write_text(_INTERRUPTED_AS_IT_STARTS)
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


@pytest.mark.parametrize("end", ["SIGINT", "SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("at", ["start", "work"])
def test_nobody_outlives_the_command(end: str, at: str, tmp_path: Path) -> None:
    """Signals go to the whole group for Ctrl-C, as a terminal sends them, and else to the parent."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    line = '{"id": "%d", "answer": "Room %d opens at nine.", "context": "Room 7 opens at nine."}\n'
    source.write_text("".join(line % (n, n) for n in range(30_000)))
    command = [sys.executable, "-m", "tcva_adapters", "evaluate", str(source), "-j", "lexical"]
    command += ["--workers", "2", "--no-store", "-o", str(out)]
    parent = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and parent.poll() is None:
        drafts = [path for path in tmp_path.iterdir() if path != source]
        is_there = any(path.stat().st_size for path in drafts) if at == "work" else False
        if is_there or (at == "start" and len(_children(parent.pid)) == 2):
            break
        time.sleep(0.01)
    assert parent.poll() is None, "it ended before it could be ended"
    assert len(_children(parent.pid)) == 2
    number = getattr(signal, end)
    if end == "SIGINT":
        os.killpg(parent.pid, number)
    else:
        os.kill(parent.pid, number)
    until = time.monotonic() + 10
    _, said = parent.communicate(timeout=60)  # which waits for all that hold standard error
    assert parent.returncode == (130 if end == "SIGINT" else -number)
    while time.monotonic() < until and _group(parent.pid):
        time.sleep(0.05)  # one that has ended is still listed until its parent has heard of it
    assert _group(parent.pid) == []
    if end == "SIGINT":
        assert "Traceback" not in said
    assert not out.exists()


def _group(number: int) -> list[bytes]:
    """The commands of a process group."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[2] == str(number) and fields[0] != "Z":
            found.append(_command(each.parent.name))
    return [each for each in found if b"resource_tracker" not in each]
