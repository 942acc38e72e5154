"""One judgement for all who ask for it: threads, loops, cancellations, forks. The judge is scripted."""

import asyncio
import gc
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, Criterion, Result, Sample, clear_shared
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.models.judge_model import Identity, JudgeRequest, ModelReply
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.runner.sharing import SharedJudgements
from tests.support.scripted import verdict_json
from tests.support.shared_judgements import remembered, under_way

STRICTNESS = (0.2, 0.5, 0.9)


class VaryingModel:
    """A judge of two claims that says something else each time, after a while.

    Attributes:
        calls: How often it was asked.
    """

    name = "varying:one"
    parameters: dict[str, Any] = {}  # noqa: RUF012  # read only

    def __init__(self, *, seconds: float = 0.02, fails: int = 0) -> None:
        self.seconds = seconds
        self.calls = 0
        self._fails = fails
        self._lock = threading.Lock()

    def complete(self, request: JudgeRequest) -> ModelReply:
        time.sleep(self.seconds)
        return self._reply()

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        await asyncio.sleep(self.seconds)
        return self._reply()

    def _reply(self) -> ModelReply:
        with self._lock:
            self.calls += 1
            number = self.calls
        if number <= self._fails:
            msg = "the server is busy"
            raise JudgeError(msg, reason="rate_limit")
        words = ["fully", "mostly", "partial", "minor", "none"]
        first, second = words[number % 5], words[number * 3 % 5]
        text = verdict_json((1, first, "The office opens"), (2, second, "Parking"))
        return ModelReply(text, input_tokens=10, output_tokens=5, cost=0.01)


def sample(number: int = 0) -> Sample:
    return Sample(
        id=f"s{number}",
        response="The office opens at nine. Parking is free.",
        contexts=(
            f"Note {number}. The office opens at nine. Parking is free for visitors.",
        ),
    )


def evaluators(model: Any, **settings: Any) -> list[TCVA]:
    return [TCVA(judge=model, temperature=t, **settings) for t in STRICTNESS]


def are_views_of_one(results: Sequence[Result]) -> bool:
    scores = [result.score for result in results]
    same = all(result.assessment == results[0].assessment for result in results)
    return same and None not in scores and scores == sorted(scores)  # type: ignore[type-var]  # no None


def test_the_first_asker_pays_and_the_others_say_that_it_was_shared() -> None:
    model = VaryingModel()
    first, second, third = [tcva.evaluate(sample()) for tcva in evaluators(model)]
    assert model.calls == 1
    assert are_views_of_one([first, second, third])
    assert (first.usage.calls, first.usage.cost, first.assessment.shared) == (
        1,
        0.01,
        False,
    )
    assert (second.usage.calls, second.usage.cost, second.assessment.shared) == (
        0,
        None,
        True,
    )
    assert second.assessment.usage.calls == 0
    assert not second.assessment.from_store


def test_threads_and_loops_share_fifty_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tcva_adapters.runner.running._ELSEWHERE", 60
    )  # a busy machine is slow
    model = VaryingModel()
    samples = [sample(number) for number in range(50)]
    found: list[list[Result]] = []

    def judged(number: int) -> None:
        tcva = TCVA(judge=model, temperature=STRICTNESS[number % 3], max_concurrency=4)
        in_loop = number >= 16
        many = (
            asyncio.run(tcva.aevaluate_many(samples))
            if in_loop
            else tcva.evaluate_many(samples)
        )
        found.append(many)

    with ThreadPoolExecutor(20) as pool:
        assert len([*pool.map(judged, range(20))]) == 20
    assert model.calls == 50
    assert under_way() == 0
    by_temperature = sorted(found, key=lambda results: results[0].scoring.temperature)
    for views in zip(*by_temperature, strict=True):
        assert are_views_of_one(views)


class ThreadedModel(VaryingModel):
    """The asynchronous face wants a thread of the loop's executor, as many clients do, in a while."""

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        await asyncio.sleep(0.05)
        return await asyncio.to_thread(self.complete, request)


FACES = [lambda t: t.evaluate(sample()), lambda t: t.evaluate_many([sample()])[0]]


class HeldModel(VaryingModel):
    """The asynchronous face answers when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        await self.go.wait()
        return self._reply()


both_ways = pytest.mark.parametrize("judged", FACES)


@both_ways
def test_a_full_executor(
    judged: Callable[[TCVA], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcva_adapters.runner.running._ELSEWHERE", 0.2)
    model = ThreadedModel()

    async def everybody() -> list[Result]:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(2))
        strict, balanced, lenient = evaluators(model)
        first = asyncio.ensure_future(strict.aevaluate(sample()))
        await asyncio.sleep(0.01)
        rest = [
            loop.run_in_executor(None, judged, tcva) for tcva in (balanced, lenient) * 2
        ]
        return [await first, *await asyncio.gather(*rest)]

    started = time.monotonic()
    results = asyncio.run(everybody())
    assert time.monotonic() - started < 20
    assert None not in [result.score for result in results]
    assert under_way() == 0


@both_ways
def test_a_synchronous_call_inside_a_running_loop_judges_for_itself_at_once(
    judged: Callable[[TCVA], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcva_adapters.runner.running._ELSEWHERE", 60)
    model = HeldModel()

    async def both() -> tuple[Result, Result, float]:
        strict, balanced, _ = evaluators(model)
        first = asyncio.ensure_future(strict.aevaluate(sample()))
        await asyncio.sleep(0.01)
        started = time.monotonic()
        inner = judged(balanced)
        model.go.set()
        return inner, await first, time.monotonic() - started

    inner, outer, seconds = asyncio.run(both())
    assert None not in (inner.score, outer.score)
    assert model.calls == 2
    assert seconds < 20


ALONE = [lambda t: t.evaluate(sample()), lambda t: asyncio.run(t.aevaluate(sample()))]


@pytest.mark.parametrize("judged", ALONE)
def test_an_ended_loop(
    judged: Callable[[TCVA], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcva_adapters.runner.running._ELSEWHERE", 0.2)
    model = VaryingModel(seconds=0.1)
    strict, balanced, _ = evaluators(model)
    loop = asyncio.new_event_loop()
    first = loop.create_task(strict.aevaluate(sample()))
    loop.run_until_complete(asyncio.sleep(0.02))
    started = time.monotonic()
    second = judged(balanced)
    assert time.monotonic() - started < 20
    assert second.score is not None
    assert loop.run_until_complete(first).score is not None  # it ends for itself
    loop.close()
    assert under_way() == 0


def test_when_the_first_is_cancelled_one_waiter_takes_over() -> None:
    model = HeldModel()

    async def cancelled() -> list[Result]:
        asked = [tcva.aevaluate(sample()) for tcva in evaluators(model) * 2]
        first, *others = map(asyncio.ensure_future, asked)
        await asyncio.sleep(0.02)
        first.cancel()
        model.go.set()
        return await asyncio.gather(*others)

    results = asyncio.run(cancelled())
    assert model.calls == 1  # that of the first was never finished
    assert (len(results), sum(result.usage.calls for result in results)) == (5, 1)
    assert under_way() == 0


@pytest.mark.parametrize("steps", range(5))
def test_a_waiter_that_is_cancelled_just_as_it_takes_over_ends(steps: int) -> None:
    async def cancelled() -> set[Any]:
        asked = [
            asyncio.ensure_future(t.aevaluate(sample())) for t in evaluators(slow)[:2]
        ]
        await asyncio.sleep(0.01)
        for each in asked:
            each.cancel()
            for _ in range(steps):
                await asyncio.sleep(0)
        return (await asyncio.wait(asked, timeout=20))[1]

    slow = VaryingModel(seconds=30)
    assert not asyncio.run(cancelled())


def test_failures_are_handed_to_those_who_wait_and_never_remembered() -> None:
    model = VaryingModel(fails=1, seconds=0.05)

    async def together() -> list[Result]:
        return await asyncio.gather(*(t.aevaluate(sample()) for t in evaluators(model)))

    assert [r.score for r in asyncio.run(together())] == [None] * 3
    assert model.calls == 1
    assert remembered() == 0
    assert TCVA(judge=model).evaluate(sample()).score is not None
    assert model.calls == 2


def test_what_is_shared_can_be_forgotten_and_goes_with_its_judge() -> None:
    model = VaryingModel()
    TCVA(judge=model).evaluate(sample())
    clear_shared()
    TCVA(judge=model).evaluate(sample())
    assert (model.calls, remembered()) == (2, 1)
    del model
    gc.collect()
    assert remembered() == 0
    shared, holder = SharedJudgements(), Holder()
    call, _ = shared.begin(Identity(holder), "key", None)
    shared.clear()
    shared.end(call, Assessment.from_verdicts(["fully"]))
    assert remembered(shared) == 0


class HarshJudge(LLMJudge):
    """It sees the same verdicts in its own way."""

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        return (
            super().assess(sample, criterion).model_copy(update={"criterion": "harsh"})
        )


def test_a_namesake_or_a_subclass_is_another_judge() -> None:
    model, namesake = VaryingModel(), VaryingModel()
    for each in (model, namesake):
        TCVA(judge=each).evaluate(sample())
    assert (model.calls, namesake.calls) == (1, 1)
    harsh = TCVA(judge=HarshJudge(model)).evaluate(sample())
    assert harsh.assessment.criterion == "harsh"
    own = type("Own", (OpenAICompatibleModel,), {})
    one, two = (
        own("m", base_url="http://localhost:1/v1", prices=[1, 2]) for _ in range(2)
    )
    assert one.identity != two.identity
    plain = OpenAICompatibleModel("m", base_url="http://localhost:1/v1", prices=[1, 2])
    assert isinstance(hash(plain.identity.equal), int)


def test_a_store_gets_what_another_evaluator_asked_for(tmp_path: Path) -> None:
    model = VaryingModel()
    TCVA(judge=model).evaluate(sample())
    path = tmp_path / "verdicts.sqlite"
    TCVA(judge=model, store=path).evaluate(sample())
    clear_shared()
    served = TCVA(judge=model, store=path).evaluate(sample())
    assert model.calls == 1
    assert served.assessment.from_store
    assert not served.assessment.shared


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
# Python warns of forks beside threads, which is what is tried here.
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_child_process_starts_with_nothing() -> None:
    TCVA(judge=VaryingModel()).evaluate(sample())
    child = os.fork()
    if child == 0:
        os._exit(0 if remembered() == under_way() == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0


class Holder:
    """Something that judges."""


def put(shared: SharedJudgements, identity: Identity, key: str, judge: str) -> None:
    call, is_own = shared.begin(identity, key, None)
    assert is_own
    shared.end(call, Assessment.from_verdicts(["fully"], judge=judge))


class Stuck(VaryingModel):
    """Its first call does not end before it is let go; its calls may take so long.

    Attributes:
        begun: Set by the first call.
        go: What it waits for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.identity = Identity(self, "one", seconds=0.3)
        self.begun, self.go = threading.Event(), threading.Event()

    def complete(self, request: JudgeRequest) -> ModelReply:
        self.begun.set()
        self.go.wait(60)
        return self._reply()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_every_wait_ends_by_the_deadline(asynchronous: bool) -> None:
    first, second = Stuck(), Stuck()
    second.go.set()
    thread = threading.Thread(target=TCVA(judge=first).evaluate, args=(sample(),))
    thread.start()
    first.begun.wait(60)
    started = time.monotonic()
    tcva = TCVA(judge=second)
    result = (
        asyncio.run(tcva.aevaluate(sample()))
        if asynchronous
        else tcva.evaluate(sample())
    )
    assert result.score is not None
    assert 0.2 <= time.monotonic() - started < 20
    first.go.set()
    thread.join()
    assert under_way() == 0


def test_memory_is_bounded_by_number_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcva_adapters.runner.sharing.MAX_REMEMBERED", 50)
    shared, holder = SharedJudgements(), Holder()
    for number in range(100):
        put(shared, Identity(holder), str(number), "x")
    assert remembered(shared) == 50
    for number in range(60):
        put(shared, Identity(holder), f"long {number}", "x" * 2_000_000)
    assert remembered(shared) == 31
    assert not shared.begin(Identity(holder), "long 59", None)[1]
    # Equal judges that are made from a name share what they say.
    one, two = Holder(), Holder()
    put(shared, Identity(one, ("gpt", "url")), "key", "first")
    call, is_own = shared.begin(Identity(two, ("gpt", "url")), "key", None)
    assert (call.done.result().judge, is_own) == ("first", False)
    assert shared.begin(Identity(two, ("gpt", "other")), "key", None)[1]


def test_sharing_is_cleared_when_no_judgement_begins_or_ends() -> None:
    shared = SharedJudgements()
    clearing = threading.Thread(target=shared.clear)
    with shared._lock:
        clearing.start()
        clearing.join(0.1)
        assert clearing.is_alive()
    clearing.join(10)
    assert not clearing.is_alive()
