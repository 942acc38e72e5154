"""Judging does not hold up an event loop, and what was paid for survives a cancellation."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tcva_adapters import CCRS, TCVA, Sample, clear_shared, loops
from tcva_adapters.judges import lexical, written
from tcva_adapters.judges.evidence_check import check_evidence
from tcva_adapters.loops import checkpoint, turn_with_time, work_aside
from tests.support.scripted import ScriptedModel, verdict_json

ANSWER = "The office opens at nine."
QUOTING = verdict_json((1, "fully", ANSWER))
SHORT, LONG = 2_000, 200_000


def sample(size: int) -> Sample:
    return Sample(
        input="When?",
        response=ANSWER,
        contexts=[ANSWER + " It is open daily." * (size // 18)],
    )


def noting_threads(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[str]:
    """The names of the threads that call a function, in order."""
    called, threads = getattr(owner, name), list[str]()

    def noted(*args: Any, **options: Any) -> Any:
        threads.append(threading.current_thread().name)
        return called(*args, **options)

    monkeypatch.setattr(owner, name, noted)
    return threads


@pytest.mark.parametrize(
    ("scorer", "owner", "name"),
    [
        (lambda: TCVA(judge=ScriptedModel([QUOTING])), written, "check_evidence"),
        (lambda: TCVA(judge="lexical"), lexical, "index_of"),
        (lambda: CCRS("cc", judge="lexical"), lexical, "index_of"),
    ],
    ids=["model", "lexical", "ccrs"],
)
def test_long_work_leaves_the_thread_of_the_loop_and_short_work_stays(
    monkeypatch: pytest.MonkeyPatch, scorer: Callable[[], Any], owner: Any, name: str
) -> None:
    here = threading.current_thread().name
    for size, expected in ((SHORT, here), (LONG, "tcva-work")):
        with monkeypatch.context() as patch:
            threads = noting_threads(patch, owner, name)
            result = asyncio.run(scorer().aevaluate(sample(size)))
        assert result.score is not None
        assert set(threads) == {expected}


@pytest.mark.parametrize("store", [None, ":memory:"])
def test_many_long_samples_are_judged_by_words_in_the_other_thread(
    monkeypatch: pytest.MonkeyPatch, store: str | None
) -> None:
    threads = noting_threads(monkeypatch, lexical, "index_of")
    samples = [sample(LONG + 100 * n) for n in range(4)]
    results = asyncio.run(TCVA(judge="lexical", store=store).aevaluate_many(samples))
    assert [result.score for result in results] == [1.0] * 4
    assert threads == ["tcva-work"] * 4


def test_work_sees_the_context_of_its_caller_and_raises_to_it() -> None:
    asked_by: ContextVar[str] = ContextVar("asked_by")

    def fail() -> None:
        raise ValueError(asked_by.get())

    async def main(seconds: float) -> None:
        asked_by.set("the caller")
        with pytest.raises(ValueError, match="the caller"):
            await work_aside(fail, seconds)

    for seconds in (0.0, 1.0):
        asyncio.run(main(seconds))


class Clock:
    """A clock that goes on by what work says that it takes."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def work(self, seconds: float) -> float:
        self.now += seconds
        return self.now


@pytest.mark.parametrize(("seconds", "most"), [(0.003, 4), (0.0001, 100)])
def test_a_turn_of_the_loop_has_ten_milliseconds_of_work(
    monkeypatch: pytest.MonkeyPatch, seconds: float, most: int
) -> None:
    clock = Clock()
    monkeypatch.setattr(loops, "time", SimpleNamespace(perf_counter=clock.perf_counter))
    turn, done = 0, list[int]()

    async def count() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def piece() -> None:
        await work_aside(lambda: clock.work(seconds), seconds)
        done.append(turn)

    async def main() -> None:
        counting = asyncio.create_task(count())
        await asyncio.gather(*(piece() for _ in range(300)))
        counting.cancel()

    asyncio.run(main())
    assert len(done) == 300
    assert max(map(done.count, done)) <= most + 1


def test_calls_that_frameworks_make_on_the_loop_begin_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr(loops, "time", SimpleNamespace(perf_counter=clock.perf_counter))
    begun: list[int] = []

    async def call(number: int) -> None:
        await turn_with_time(0.001)
        begun.append(number)

    async def main() -> int:
        calls = [asyncio.create_task(call(number)) for number in range(50)]
        await asyncio.sleep(0)
        first = len(begun)
        await asyncio.gather(*calls)
        return first

    assert 5 <= asyncio.run(main()) <= 12
    assert begun == [*range(50)]


def test_short_work_that_waits_for_its_turn_is_done_although_its_task_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr(loops, "time", SimpleNamespace(perf_counter=clock.perf_counter))
    done: list[float] = []

    async def piece() -> None:
        done.append(await work_aside(lambda: clock.work(0.003), 0.003))
        await checkpoint()
        pytest.fail("it was not cancelled")

    async def main() -> list[BaseException | None]:
        pieces = [asyncio.create_task(piece()) for _ in range(5)]
        await asyncio.sleep(0)
        for task in pieces:
            task.cancel()
        return await asyncio.gather(*pieces, return_exceptions=True)

    ended = asyncio.run(main())
    assert len(done) == 5
    assert [type(error) for error in ended[1:]] == [asyncio.CancelledError] * 4


class Held:
    """A function that waits in its thread until it is let go."""

    def __init__(self, called: Callable[..., Any]) -> None:
        self.called = called
        self.begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.begun.set()
        assert self.may_end.wait(30)
        return self.called(*args, **options)


async def cancelled_while_reading(
    scorer: TCVA, held: Held, *, by_timeout: bool
) -> None:
    """Judge a sample, and cancel that while the reply is read in the other thread."""
    expired = asyncio.Event()

    async def judge() -> None:
        async with asyncio.timeout(None) as limit:
            if by_timeout:
                asyncio.get_running_loop().call_later(0, expire, limit)
            await scorer.aevaluate(sample(LONG))
        pytest.fail("it was not cancelled")

    def expire(limit: asyncio.Timeout) -> None:
        if held.begun.is_set():
            limit.reschedule(0)
            expired.set()
        else:
            asyncio.get_running_loop().call_later(0.001, expire, limit)

    task = asyncio.create_task(judge())
    if by_timeout:
        await expired.wait()
    else:
        await asyncio.to_thread(held.begun.wait, 30)
        task.cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    held.may_end.set()
    await task


@pytest.mark.parametrize("by_timeout", [False, True])
def test_a_judgement_that_is_cancelled_while_its_reply_is_read_is_kept(
    monkeypatch: pytest.MonkeyPatch, *, by_timeout: bool
) -> None:
    held = Held(check_evidence)
    monkeypatch.setattr(written, "check_evidence", held)
    model = ScriptedModel([QUOTING])
    scorer = TCVA(judge=model, store=":memory:")
    with pytest.raises(TimeoutError if by_timeout else asyncio.CancelledError):
        asyncio.run(cancelled_while_reading(scorer, held, by_timeout=by_timeout))
    clear_shared()
    assert asyncio.run(scorer.aevaluate(sample(LONG))).assessment.from_store
    assert len(model.requests) == 1


class _Holding:
    """A store's file that another process holds for a while."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("BEGIN EXCLUSIVE")
        self._timer = threading.Timer(seconds, self._let_go)
        self._timer.start()

    def _let_go(self) -> None:
        self._connection.execute("ROLLBACK")
        self._connection.close()


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("judge", ["lexical", "a model"])
def test_a_store_that_is_held_holds_up_no_loop(
    many: bool, judge: str, tmp_path: Path
) -> None:
    path, samples = tmp_path / "v.sqlite", [sample(SHORT + 18 * n) for n in range(3)]
    model: Any = judge if judge == "lexical" else ScriptedModel(lambda _: QUOTING)
    scorer = TCVA(judge=model, store=path, share=False)
    assert scorer.store is not None

    async def run() -> float:
        _Holding(path, 0.6)
        found = scorer.aevaluate_many(samples) if many else scorer.aevaluate(samples[0])
        task = asyncio.ensure_future(found)
        longest, last = 0.0, time.perf_counter()
        while not task.done():
            await asyncio.sleep(0.005)
            longest, last = (
                max(longest, time.perf_counter() - last),
                time.perf_counter(),
            )
        await task
        return longest

    assert asyncio.run(run()) < 0.3
    again = scorer.evaluate(samples[0])
    assert again.from_store
