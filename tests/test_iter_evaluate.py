"""Judging samples as they come: in order, no further ahead than said, whatever stops it."""

import asyncio
import itertools
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tcva_adapters import CCRS, TCVA, Sample
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.models.judge_model import JudgeRequest, ModelReply
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.running import AHEAD, READ_AT_ONCE
from tests.support.scripted import verdict_json

FULLY = verdict_json((1, "fully", "opens at nine"))


def sample(number: int) -> Sample:
    text = f"Door {number} opens at nine."
    return Sample(id=str(number), response=text, contexts=(text,))


class Model:
    """Answers after what its script waits for; counts what is asked."""

    name = "scripted"
    parameters: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, seconds: float = 0.0) -> None:
        self.asked: list[JudgeRequest] = []
        self.eight_asked = asyncio.Event()
        self.under_way = self.most = self.cancelled = 0
        self._seconds = seconds
        self._lock = threading.Lock()

    def complete(self, request: JudgeRequest) -> ModelReply:
        with self._lock:
            self._begin(request)
        time.sleep(self._seconds)
        with self._lock:
            self.under_way -= 1
        return ModelReply(text=FULLY)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        self._begin(request)
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.under_way -= 1
        return ModelReply(text=FULLY)

    def _begin(self, request: JudgeRequest) -> None:
        self.asked.append(request)
        if len(self.asked) == 8:
            self.eight_asked.set()
        self.under_way += 1
        self.most = max(self.most, self.under_way)


class Counted(Iterator[Sample]):
    """Samples without end, counted as they are read."""

    read = 0

    def __next__(self) -> Sample:
        self.read += 1
        return sample(self.read - 1)


def ids(results: Iterable[Any]) -> list[str | None]:
    return [result.sample_id for result in results]


def numbers(size: int) -> list[str | None]:
    return [str(number) for number in range(size)]


def evaluated(
    scorer: Any, samples: Any, number: int, *, asynchronous: bool
) -> list[Any]:
    """The first results, and the end of it."""
    return [
        *itertools.islice(
            one_by_one(scorer, samples, asynchronous=asynchronous), number
        )
    ]


def one_by_one(scorer: Any, samples: Any, *, asynchronous: bool) -> Iterator[Any]:
    """The results one after the other, in a loop of their own where they are awaited."""
    if not asynchronous:
        yield from scorer.iter_evaluate(samples)
        return
    with asyncio.Runner() as runner:
        results = scorer.aiter_evaluate(samples)
        while (result := runner.run(anext(results, None))) is not None:
            yield result


each_face = pytest.mark.parametrize(
    "asynchronous", [False, True], ids=["sync", "async"]
)


@each_face
@pytest.mark.parametrize("scorer", [TCVA(judge="lexical"), CCRS("qr", judge="lexical")])
@pytest.mark.parametrize("has_store", [False, True])
def test_stream_and_list(
    scorer: Any, asynchronous: bool, has_store: bool, tmp_path: Path
) -> None:
    samples = [sample(n // 2) for n in range(150)]
    expected = scorer.evaluate_many(samples)
    if has_store:
        scorer = scorer.changed(store=tmp_path / "v.sqlite")
    for _ in range(2):
        found = evaluated(scorer, iter(samples), 200, asynchronous=asynchronous)
        assert found == expected
        assert [result.score for result in found] == [
            result.score for result in expected
        ]


@each_face
def test_samples_without_end_are_read_as_far_as_the_window_is_wide(
    asynchronous: bool,
) -> None:
    model, samples = Model(), Counted()
    tcva = TCVA(judge=model, max_concurrency=2)
    found = evaluated(tcva, samples, 100, asynchronous=asynchronous)
    assert ids(found) == numbers(100)
    assert samples.read <= 100 + 2 * AHEAD
    assert len(model.asked) <= samples.read
    assert model.most <= 2


@each_face
@pytest.mark.parametrize(("store", "most"), [(None, 1), (":memory:", READ_AT_ONCE)])
def test_computing_waits_to_be_taken(
    asynchronous: bool, store: str | None, most: int
) -> None:
    samples = Counted()
    tcva = TCVA(judge="lexical", store=store)
    assert len(evaluated(tcva, samples, 10, asynchronous=asynchronous)) == 10
    assert samples.read <= 10 + most


@each_face
def test_a_slow_first_call_holds_nobody_up_but_its_turn(asynchronous: bool) -> None:
    class SlowFirst(Model):
        def _begin(self, request: JudgeRequest) -> None:
            super()._begin(request)
            self._seconds = 0.2 if len(self.asked) == 1 else 0.0

    model, samples = SlowFirst(), [sample(n) for n in range(40)]
    tcva = TCVA(judge=model, max_concurrency=2)
    found = evaluated(tcva, samples, 40, asynchronous=asynchronous)
    assert ids(found) == numbers(40)
    assert len(model.asked) == 40


@each_face
def test_what_the_samples_raise_comes_after_the_results_before_it(
    asynchronous: bool,
) -> None:
    def broken() -> Iterator[Sample]:
        yield from map(sample, range(5))
        msg = "the disk is gone"
        raise OSError(msg)

    model = Model()
    found = []
    with pytest.raises(OSError, match="the disk is gone"):  # noqa: PT012  # the loop is one step
        for result in one_by_one(
            TCVA(judge=model), broken(), asynchronous=asynchronous
        ):
            found.append(result)  # noqa: PERF402  # those before the error are to be there
    assert ids(found) == numbers(5)
    assert len(model.asked) == 5


def test_what_is_no_sample_is_refused_in_its_turn_and_by_a_list_at_once() -> None:
    model = Model()
    samples: list[Any] = [sample(0), {"response": "x"}]
    results = TCVA(judge=model).iter_evaluate(samples)
    assert next(results).sample_id == "0"
    with pytest.raises(InvalidSampleError, match="dict"):
        next(results)
    with pytest.raises(InvalidSampleError):
        TCVA(judge=Model()).evaluate_many(samples)
    assert len(model.asked) == 1


def test_closing_starts_nothing_new() -> None:
    model, samples = Model(seconds=0.05), Counted()
    results = TCVA(judge=model, max_concurrency=2).iter_evaluate(samples)
    next(results)
    results.close()
    asked, read = len(model.asked), samples.read
    time.sleep(0.2)
    assert (len(model.asked), samples.read) == (asked, read)
    assert next(results, None) is None


def test_cancelling_cancels_the_calls_under_way() -> None:
    model = Model(seconds=60.0)

    async def main() -> None:
        task = asyncio.create_task(
            TCVA(judge=model).aevaluate_many(map(sample, range(20)))
        )
        await model.eight_asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert (model.cancelled, model.under_way) == (len(model.asked), 0)


@each_face
def test_judgements_are_stored_before_they_are_seen(
    asynchronous: bool, tmp_path: Path
) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")
    tcva = TCVA(judge=Model(), store=store)
    seen = [
        store.get(tcva.key(sample(int(result.sample_id or "")))) is not None
        for result in one_by_one(
            tcva, map(sample, range(100)), asynchronous=asynchronous
        )
    ]
    assert seen == [True] * 100


def test_a_store_is_read_and_written_for_many_at_once(tmp_path: Path) -> None:
    class Counting(VerdictStore):
        uses = 0

        def _run(self, *arguments: Any, **how: Any) -> Any:
            type(self).uses += 1
            return super()._run(*arguments, **how)

    tcva = TCVA(judge="lexical", store=Counting(tmp_path / "v.sqlite"))
    samples = [sample(n) for n in range(4 * READ_AT_ONCE)]
    first = tcva.evaluate_many(samples)
    assert Counting.uses <= 16
    Counting.uses = 0
    again = tcva.evaluate_many(samples)
    assert Counting.uses <= 8
    assert again == first
    assert all(result.assessment.from_store for result in again)
