"""Time, size, redirects, secrets, loops and processes: what a call over our own client is held to."""

import asyncio
import gc
import logging
import multiprocessing
import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import openai
import pytest

from benchmarks.answering_server import samples, started
from tcva_adapters import TCVA
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.models.judge_model import ModelReply
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.openai_retries_and_limits import LARGEST_REPLY
from tcva_adapters.models.server_address import shown_url
from tests.support.faces import (
    KEY,
    REQUEST,
    Face,
    both_faces,
    in_async,
    in_sync,
    serving,
)
from tests.support.faults import FaultServer
from tests.support.server import (
    Answer,
    ScriptedServer,
    auto_judge,
    error,
    in_turn,
    lacking,
    later,
    reply,
)

TRANSPORTS = ["httpx2", *(["aiohttp"] if find_spec("aiohttp") else [])]


@pytest.fixture(params=TRANSPORTS)
def face(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Face:
    """Once over each transport; the two faces go the same way."""
    has_aiohttp = request.param == "aiohttp"
    monkeypatch.setattr(
        "tcva_adapters.models.openai_retries_and_limits.HAS_AIOHTTP", has_aiohttp
    )
    return in_sync


def failure(face: Face, server: ScriptedServer, **settings: Any) -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        face(OpenAICompatibleModel("m", base_url=server.base_url, **settings))
    return caught.value


# Time


@pytest.mark.parametrize("mode", ["drip", "hang"])
def test_the_timeout_is_a_deadline_for_the_whole_call(face: Face, mode: str) -> None:
    with FaultServer(auto_judge, lambda *_: mode) as server:
        started = time.monotonic()
        found = failure(face, server, timeout=0.2, max_retries=5)
        assert time.monotonic() - started < 15  # the drip goes on for half a minute
        assert server.count <= 1  # what is late is not asked for again
    assert (found.reason, found.fatal) == ("timeout", False)
    assert "within 0.2 s" in str(found)


def test_a_pause_of_years_ends_the_call_and_says_what_was_done() -> None:
    with ScriptedServer(in_turn(error(429, "Slow down.", retry_after=1e9))) as server:
        found = failure(in_sync, server, timeout=5.0, max_retries=2)
        assert server.count == 1
    assert found.reason == "rate_limit"
    assert "1 request sent, Retry-After: 1000000000.0" in str(found)
    # Nor is an account without credit asked again.
    with ScriptedServer(
        in_turn(error(429, "No money.", code="insufficient_quota"))
    ) as server:
        assert (failure(in_sync, server).reason, server.count) == ("quota", 1)


@both_faces
def test_retry_after_is_kept_and_requests_are_counted(face: Face) -> None:
    busy, odd = (
        error(429, "Slow down.", retry_after=0.01),
        error(400, "?", param="seed"),
    )
    unwell = Answer("", status=503, headers={"retry-after-ms": "10"})
    with serving(in_turn(busy, unwell, odd, busy, reply("ok")), max_retries=2) as (
        server,
        model,
    ):
        assert 1 + face(model).retries == server.count == 5
        server.script = in_turn(busy)
        with pytest.raises(JudgeError, match=r"3 requests.*0\.01"):
            face(model)


@pytest.mark.slow
def test_calls_wait_for_their_turn_which_is_not_the_servers_time() -> None:
    async def several(model: OpenAICompatibleModel, number: int) -> list[ModelReply]:
        return await asyncio.gather(*(model.acomplete(REQUEST) for _ in range(number)))

    for number, settings in (
        (3, {"requests_per_minute": 60}),
        (4, {"max_concurrency": 1}),
    ):
        with serving(later(0.5, auto_judge), timeout=1.9, **settings) as (_, model):
            started = time.monotonic()
            assert len(asyncio.run(several(model, number))) == number
            assert (
                time.monotonic() - started > 1.9
            )  # two pauses of 1 s; four calls of .5 s


# Size


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["endless", "gzip bomb", "refusal"])
def test_a_reply_is_read_up_to_a_limit(face: Face, mode: str) -> None:
    with FaultServer(auto_judge, lambda *_: mode) as server:
        if mode == "refusal":
            server.script = lambda *_: Answer("x" * (LARGEST_REPLY + 1), status=400)
        found = failure(face, server)
        assert server.count == 1
    assert (found.reason, found.fatal) == ("connection", False)
    assert f"{LARGEST_REPLY:,} bytes" in str(found)


# The line


def test_a_redirect_is_not_followed(face: Face) -> None:
    with ScriptedServer(auto_judge) as other:
        there = f"http://me:{KEY}@{other.base_url.removeprefix('http://')}/x?key={KEY}"
        answer = Answer(status=307, headers={"Location": there})
        with ScriptedServer(lambda *_: answer) as server:
            found = failure(face, server, api_key=KEY)
            assert (server.count, other.count) == (1, 0)
    assert found.reason == "redirect"
    assert all(part in str(found) for part in (f"{other.base_url}/x", "set base_url"))
    assert KEY not in str(found)


def test_a_connection_that_is_lost_or_refused_is_called_that(face: Face) -> None:
    with FaultServer(auto_judge, lambda *_: "reset") as server:
        found = failure(face, server, max_retries=0)
    assert (found.reason, found.fatal) == ("connection", False)
    assert "Error" not in str(found).replace("[Errno 104] Connection reset by peer", "")
    url = f"http://localhost:{server.base_url.rpartition(':')[2]}"  # where nobody listens now
    with pytest.raises(JudgeError, match=f"{url}") as caught:
        face(OpenAICompatibleModel("m", base_url=url, max_retries=0))
    assert (caught.value.reason, caught.value.fatal) == ("unreachable", True)


# Secrets


def test_a_password_in_the_address_signs_in(
    face: Face, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), ScriptedServer(auto_judge) as server:
        url = server.base_url.replace("//", "//me:p%40ss-word-77@")
        face(OpenAICompatibleModel("m", base_url=url))
        assert (
            server.received[0].headers["authorization"] == "Basic bWU6cEBzcy13b3JkLTc3"
        )
        server.script = in_turn(error(500, "p@ss-word-77"))
        with pytest.raises(JudgeError) as caught:
            face(OpenAICompatibleModel("m", base_url=url, max_retries=0))
    assert caplog.records
    assert (
        "word-77"
        not in f"{caught.value}{caplog.text.replace('500 - p@ss-word-77', '')}"
    )


def test_a_key_that_the_server_echoes_is_in_nothing_that_comes_out() -> None:
    answer = reply(
        f'{{"you sent": "{KEY}"}}', model=f"m-{KEY}", tokens=[(KEY, {KEY: 1.0})]
    )
    refusal, seedless = (
        reply(None, refusal=f"no, {KEY}"),
        error(400, f"no {KEY}", param="seed"),
    )
    wrong = error(
        401, f"Incorrect API key provided: {KEY}, also sk-another-0123456789."
    )
    script = in_turn(answer, seedless, refusal, wrong)
    with serving(script, api_key=KEY, max_retries=0) as (_, model):
        answered = model.complete(REQUEST)
        assert (answered.text, answered.token_logprobs) == ('{"you sent": "***"}', None)
        assert KEY not in repr(answered)
        for says in (r"no, \*\*\*", r"provided: \*\*\*, also"):
            with pytest.raises(JudgeError, match=says) as caught:
                model.complete(REQUEST)
            assert "sk-" not in str(caught.value)
            assert caught.value.__cause__ is None
    assert model.refused == {"seed": "no ***"}


def test_a_password_is_masked_as_it_is_written_and_meant_and_a_placeholder_is_no_secret() -> (
    None
):
    said = "p@ss/word-77 p%40ss%2Fword-77 bWU6cEBzcy93b3JkLTc3"
    with ScriptedServer(in_turn(reply(said))) as server:
        url = server.base_url.replace("//", "//me:p%40ss%2Fword-77@")
        assert (
            OpenAICompatibleModel("m", base_url=url).complete(REQUEST).text
            == "*** *** ***"
        )
    said = "none, ollama and EMPTY are words; none of them is a key"
    for key in (None, "ollama", "EMPTY"):
        with serving(in_turn(reply(said)), api_key=key) as (_, model):
            assert model.complete(REQUEST).text == said


def test_an_address_that_is_none_is_refused_without_its_password() -> None:
    hosts = ("@host:99999/v1", "@[::zz]/v1", "@ho st/v1", "/er2-77@host:x/v1")
    urls = [f"http://me:hunter2-77{host}" for host in hosts]
    for url in [
        *urls,
        "me:hunter2-77@host:8000/v1",
        "http://",
        "http://host/v1?key=hunter2-77",
    ]:
        with pytest.raises(InvalidValueError, match="base_url") as caught:
            OpenAICompatibleModel("m", base_url=url)
        assert "er2" not in str(caught.value)
    assert shown_url("http://me:p/w?#@h/v1") == "http://h/v1"


# Loops and threads


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_users_client_serves_both_faces_and_keeps_its_own_rules(
    asynchronous: bool,
) -> None:
    async def both(model: OpenAICompatibleModel) -> list[int]:
        awaited = await model.acomplete(REQUEST)
        return [
            awaited.retries,
            model.complete(REQUEST).retries,
        ]  # inside the running loop

    busy = error(429, "Slow down.", retry_after=0.01)
    with ScriptedServer(in_turn(busy, reply('{"ok": true}'))) as server:
        given: dict[str, Any] = {
            "base_url": server.base_url,
            "api_key": KEY,
            "max_retries": 2,
        }
        client: Any = (openai.AsyncOpenAI if asynchronous else openai.OpenAI)(**given)
        model = OpenAICompatibleModel("m", client=client)
        assert [asyncio.run(both(model)) for _ in range(2)] == [[1, 0], [0, 0]]
        assert server.count == 5
        assert KEY not in f"{model!r}{model.parameters}"
        del model, client
        with warnings.catch_warnings(action="ignore"):
            gc.collect()  # the user's own, which nobody closed


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """What a shell starts in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_a_call_in_a_loop_waits_for_its_place_whatever_the_tasks_of_that_loop_hold() -> (
    None
):
    """And a task that is cancelled, or whose loop ends, or a call that is interrupted, gives it up."""
    with serving(later(0.05, auto_judge), max_concurrency=1) as (server, model):

        async def main(cancelled: int) -> list[ModelReply | BaseException]:
            calls = [asyncio.create_task(model.acomplete(REQUEST)) for _ in range(3)]
            before = server.count
            while server.count == before:  # noqa: ASYNC110  # the server lives in another thread
                await asyncio.sleep(0.001)
            calls[cancelled].cancel()
            assert model.complete(REQUEST).text
            return await asyncio.gather(*calls, return_exceptions=True)

        for cancelled in (0, 1):
            done = asyncio.run(main(cancelled))
            assert isinstance(done.pop(cancelled), asyncio.CancelledError)
            assert all(isinstance(one, ModelReply) for one in done)
        assert server.busiest <= 2  # one whose caller is gone may still be answered

        async def give_up() -> None:
            asyncio.create_task(model.acomplete(REQUEST))  # noqa: RUF006  # the point
            await asyncio.sleep(0.02)

        def interrupting(_body: dict[str, Any], _n: int) -> Answer:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            return Answer(delay=30.0)

        server.script = later(30.0, auto_judge)
        asyncio.run(give_up())
        server.script = interrupting
        with pytest.raises(KeyboardInterrupt):
            model.complete(REQUEST)
        server.script = auto_judge
        assert asyncio.run(model.acomplete(REQUEST)).text


def test_threads_and_loops_together_keep_to_the_limit_and_learn_together() -> None:
    script = later(0.05, lacking("seed", then=auto_judge))
    with serving(script, max_concurrency=3) as (server, model):

        async def several() -> list[ModelReply]:
            return await asyncio.gather(*(model.acomplete(REQUEST) for _ in range(8)))

        with ThreadPoolExecutor(10) as pool:
            calls = [pool.submit(model.complete, REQUEST) for _ in range(8)]
            loops = [pool.submit(asyncio.run, several()) for _ in range(2)]
            replies = [call.result() for call in calls]
            replies += [reply for loop in loops for reply in loop.result()]
        assert server.count == 24 + sum(one.retries for one in replies)
        assert (
            sum(one.retries for one in replies) <= 3
        )  # at most those that began together
        assert 1 < server.busiest <= 3
    assert list(model.refused) == ["seed"]


def test_all_loops_share_connections_and_nothing_stays_open() -> None:
    with started() as server, warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        server.reset(0)
        model = OpenAICompatibleModel("m", base_url=server.base_url, max_concurrency=2)
        tcva, rows = TCVA(judge=model, share=False), samples(32)
        for start in (0, 8, 16):
            results = asyncio.run(tcva.aevaluate_many(rows[start : start + 8]))
            assert [result.score for result in results] == [1.0] * 8
        assert len(tcva.evaluate_many(rows[24:])) == 8
        del model, tcva
        gc.collect()
        connections, bodies = server.reset(0)
    assert (connections <= 2, len(bodies)) == (True, 32)


# Processes


def test_a_model_is_pickled_without_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://localhost:1/v1"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = OpenAICompatibleModel("m", base_url=url, timeout=7, seed=3)
    data = pickle.dumps(model)
    assert KEY.encode() not in data
    opened = pickle.loads(data)
    assert opened.parameters == model.parameters
    assert (opened.identity.equal, opened.identity.seconds) == (model.identity.equal, 7)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-worker-77")
    # With the key of its environment.
    assert pickle.loads(data).identity.equal != model.identity.equal
    with openai.OpenAI(base_url=url, api_key=KEY) as client:
        given: tuple[dict[str, Any], ...] = (
            {"base_url": url, "api_key": KEY},
            {"base_url": f"http://me:{KEY}@localhost:1/v1"},
            {"client": client},
        )
        for settings in given:
            with pytest.raises(InvalidValueError, match="OPENAI_API_KEY") as caught:
                pickle.dumps(OpenAICompatibleModel("m", **settings))
            assert KEY not in str(caught.value)


def asked(model: OpenAICompatibleModel) -> list[str]:
    return [in_sync(model).text, in_async(model).text]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_can_call_while_its_parent_does() -> None:
    with serving(later(0.1, auto_judge), max_concurrency=2) as (_, model):
        in_sync(
            model
        )  # a fork while another thread imports waits for ever, in any program
        in_async(model)
        with ThreadPoolExecutor(6) as pool:
            calls = [pool.submit(in_sync, model) for _ in range(6)]
            with multiprocessing.get_context("fork").Pool(1) as workers:
                assert (
                    workers.apply_async(asked, (model,)).get(30) == ['{"ok": true}'] * 2
                )
            assert all(call.result().text for call in calls)
