"""Time, size, redirects, secrets and processes: what a call over our own client is held to."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import multiprocessing
import os
import pickle
import re
import socket
import sys
import threading
import time
import warnings
from typing import Any

import openai
import pytest

from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.models.openai_errors import shown_url
from tcva_adapters.models.openai_http import LARGEST_REPLY
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import NEUTRAL, JudgeRequest
from tests.support.faces import KEY, REQUEST, Face, both_faces, in_async, in_sync
from tests.support.faults import FaultServer
from tests.support.server import (
    Answer,
    Script,
    ScriptedServer,
    auto_judge,
    error,
    in_turn,
    later,
    reply,
)


@pytest.fixture(autouse=True, params=["aiohttp", "httpx2"])
def _transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once over each of the two transports."""
    if request.param == "httpx2":
        monkeypatch.setitem(sys.modules, "tcva_adapters.models.openai_aiohttp", None)


def _failure(face: Face, server: ScriptedServer, **settings: Any) -> JudgeError:
    model = OpenAICompatibleModel("m", base_url=server.base_url, **settings)
    with pytest.raises(JudgeError) as caught:
        face(model)
    return caught.value


# Time


@both_faces
@pytest.mark.parametrize("mode", ["drip", "hang"])
def test_the_timeout_is_a_deadline_for_the_whole_call(face: Face, mode: str) -> None:
    with FaultServer(auto_judge, lambda *_: mode) as server:
        started = time.monotonic()
        failure = _failure(face, server, timeout=1.0, max_retries=5)
        assert time.monotonic() - started < 5.0  # the drip goes on for half a minute
        assert server.count == 1  # what is late is not asked for again
    assert (failure.reason, failure.fatal) == ("timeout", False)
    assert "within 1 s" in str(failure)


@both_faces
def test_retries_and_their_pauses_count_as_well(face: Face) -> None:
    busy = error(503, "Busy.", retry_after=60)
    with ScriptedServer(in_turn(busy)) as server:
        started = time.monotonic()
        assert _failure(face, server, timeout=1.0).reason == "timeout"
        assert time.monotonic() - started < 5.0


@both_faces
def test_waiting_in_line_is_not_the_servers_time(face: Face) -> None:
    with ScriptedServer(auto_judge) as server:
        model = OpenAICompatibleModel(
            "m", base_url=server.base_url, timeout=0.9, requests_per_minute=60
        )
        face(model)
        face(model)  # a second later


def test_waiting_for_a_place_is_not_the_servers_time_either() -> None:
    with ScriptedServer(later(0.25, auto_judge)) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, timeout=1, max_concurrency=1)

        async def several() -> list[ModelReply]:
            return await asyncio.gather(*(model.acomplete(REQUEST) for _ in range(6)))

        assert len(asyncio.run(several())) == 6  # 1.5 seconds in all


def test_a_paid_reply_is_not_lost_to_a_late_question_about_features() -> None:
    def script(body: dict[str, Any], n: int) -> Any:
        if NEUTRAL.user in body["messages"][-1]["content"]:
            return later(30.0, auto_judge)(body, n)
        return error(400, "no seed here") if "seed" in body else reply("paid")

    with ScriptedServer(script) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, timeout=1.0)
        assert model.complete(REQUEST).text == "paid"
    assert not model.capabilities.dropped


# Size


@both_faces
@pytest.mark.parametrize("mode", ["endless", "gzip bomb", "50 MB"])
@pytest.mark.parametrize("status", [200, 400])
def test_a_reply_is_read_up_to_a_limit(face: Face, mode: str, status: int) -> None:
    with FaultServer(auto_judge, lambda *_: mode) as server:
        if status != 200:
            server.script = lambda *_: Answer("x" * (LARGEST_REPLY + 1), status=status)
        failure = _failure(face, server)
        assert server.count == 1
    assert (failure.reason, failure.fatal) == ("connection", False)
    assert f"{LARGEST_REPLY:,} bytes" in str(failure)


@pytest.mark.parametrize(
    "body",
    [
        "[" * 1_000_000,
        '{"choices": ' + "[" * 1_000_000,
        json.dumps({"choices": [{"no": "message"}] * 100_000}),
    ],
    ids=["deep", "deep inside", "many"],
)
def test_odd_bodies_cost_little_and_are_no_chat_completions(body: str) -> None:
    with ScriptedServer(lambda *_: Answer(body)) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url)
        started = time.process_time()
        with pytest.raises(JudgeError, match="no chat completion"):
            model.complete(REQUEST)
        assert time.process_time() - started < 3.0


# Redirects


@both_faces
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_nothing_is_sent_where_a_redirect_leads_elsewhere(face: Face, status: int) -> None:
    with ScriptedServer(auto_judge) as other:
        there = f"http://me:{KEY}@{other.base_url.removeprefix('http://')}/x?key={KEY}"
        answer = Answer(status=status, headers={"Location": there})
        with ScriptedServer(lambda *_: answer) as server:
            failure = _failure(face, server, api_key=KEY)
            assert (server.count, other.count) == (1, 0)
    assert failure.reason == "redirect"
    assert f"{other.base_url}/x" in str(failure)
    assert "set base_url" in str(failure)
    assert KEY not in str(failure)


@both_faces
def test_a_redirect_within_the_server_is_followed(face: Face) -> None:
    moved = Answer(status=308, headers={"Location": "/v1/chat/completions"})
    with ScriptedServer(in_turn(moved, reply("ok"))) as server:
        assert face(OpenAICompatibleModel("m", base_url=server.base_url)).text == "ok"


# Features and whose fault their refusal is


def test_what_a_text_says_of_one_sample_takes_no_feature_from_the_others() -> None:
    def script(body: dict[str, Any], n: int) -> Any:
        prompt = body["messages"][-1]["content"]
        if "response_format" in prompt and "response_format" in body:
            return error(400, f"could not process: {prompt}")
        return auto_judge(body, n)

    odd = JudgeRequest("be strict", "a claim about response_format", REQUEST.schema, "verdicts")
    with ScriptedServer(script) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url)
        model.complete(odd)
        assert not model.capabilities.dropped
        model.complete(REQUEST)
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"


def test_a_sample_that_gets_an_empty_message_takes_no_form_from_the_others() -> None:
    def script(body: dict[str, Any], n: int) -> Any:
        is_odd = "claim 1" in body["messages"][-1]["content"] and "response_format" in body
        return reply("") if is_odd else auto_judge(body, n)

    with ScriptedServer(script) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, prices=(1.0, 1.0))
        answer = model.complete(REQUEST)
        assert not model.capabilities.dropped
        # Two empty replies, the good one, and the neutral one: all were paid for.
        assert (server.count, answer.retries, answer.input_tokens) == (4, 3, 40)
        assert answer.cost == pytest.approx(60e-6)


# Secrets


@both_faces
def test_a_key_that_the_server_echoes_is_in_nothing_that_comes_out(face: Face) -> None:
    tokens = [(KEY, {KEY: 1.0})]
    answer = reply(f'{{"you sent": "{KEY}"}}', model=f"m-{KEY}", tokens=tokens)
    with ScriptedServer(in_turn(answer, reply(None, refusal=f"no, {KEY}"))) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, api_key=KEY, logprobs=True)
        answered = face(model)
        assert answered.text == '{"you sent": "***"}'
        assert answered.token_logprobs is None
        assert KEY not in repr(answered)
        with pytest.raises(JudgeError, match=r"no, \*\*\*"):
            face(model)


def test_a_password_is_masked_as_it_is_written_and_as_it_is_meant() -> None:
    with ScriptedServer(reply_with("p@ss/word-77 p%40ss%2Fword-77 bWU6cEBzcy93b3JkLTc3")) as server:
        url = server.base_url.replace("//", "//me:p%40ss%2Fword-77@")
        assert OpenAICompatibleModel("m", base_url=url).complete(REQUEST).text == "*** *** ***"


def reply_with(text: str) -> Script:
    return in_turn(reply(text))


def test_a_placeholder_is_no_secret() -> None:
    said = "none, ollama and EMPTY are words; none of them is a key"
    with ScriptedServer(reply_with(said)) as server:
        for key in (None, "none", "ollama", "EMPTY"):
            model = OpenAICompatibleModel("m", base_url=server.base_url, api_key=key)
            assert model.complete(REQUEST).text == said


def test_the_reason_of_a_lost_feature_holds_no_key() -> None:
    refused = error(400, f"no seed for {KEY}", param="seed")
    with ScriptedServer(in_turn(refused, reply("ok"))) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, api_key=KEY)
        model.complete(REQUEST)
    assert model.capabilities.dropped == {"seed": "no seed for ***"}


# Arguments and addresses


@pytest.mark.parametrize(
    "url",
    [
        "me:hunter2-77@host:8000/v1",
        "ftp://me:hunter2-77@host/v1",
        "http://me:hunter2-77@host:99999/v1",
        "http://me:hunter2-77@[::1/v1",
        "http://me:hunter2-77@[::zz]/v1",
        "http://me:hunter2-77@ho st/v1",
        "http://me:hunter2-77@host/\0v1",
        "http://me:hunter2-77@host\n/v1",
        "http://me:hunter2-77@a..b/v1",
        "http://me:hunter2-77@host\\v1",
        "http://me:hunter2-77@/v1",
        "http://me:hunt/er2-77@host:x/v1",
        "http://",
        "host",
        "\0",
    ],
)
def test_an_address_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InvalidValueError, match="base_url must look like") as caught:
        OpenAICompatibleModel("m", base_url=url)
    assert "er2" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"timeout": "5"}, "timeout='5'; it is a number of seconds above 0"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"timeout": float("inf")}, "timeout=inf"),
        ({"timeout": True}, "timeout=True"),
        ({"timeout": 10**400}, "it is a number of seconds above 0"),
        ({"prices": (10**400, 1)}, r"prices\[0\]=10+; it is a price"),
        ({"timeout": None}, "timeout=None"),
        ({"max_retries": 2.5}, "max_retries=2.5; it is a whole number from 0 up"),
        ({"max_retries": "2"}, "max_retries='2'"),
        ({"max_tokens": True}, "max_tokens=True"),
        ({"max_concurrency": 2.5}, "max_concurrency=2.5"),
        ({"requests_per_minute": "60"}, "requests_per_minute='60'"),
        ({"requests_per_minute": float("nan")}, "requests_per_minute=nan"),
        ({"temperature": "hot"}, "temperature='hot'; it is None or a number from 0 to 2"),
        ({"temperature": True}, "temperature=True"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"prices": (1.0,)}, "two numbers"),
        ({"prices": 1.0}, "two numbers"),
        ({"prices": "12"}, "two numbers"),
        ({"prices": (1.0, "2")}, r"prices\[1\]='2'"),
        ({"prices": (float("nan"), 1)}, r"prices\[0\]=nan"),
        ({"logprobs": 1}, "logprobs=1"),
        ({"base_url": 5}, "base_url=5"),
        ({"api_key": b"sk-secret-77"}, "api_key is a bytes"),
        ({"client": "openai"}, "a client is one of the openai package, not a str"),
        ({"timeuot": 5}, "unknown setting 'timeuot'"),
        ({"model": None}, "model=None; it is the name of a model"),
        ({"model": 5}, "model=5"),
    ],
    ids=str,
)
def test_an_argument_that_cannot_be_used_is_named(settings: dict[str, Any], says: str) -> None:
    given = {"model": "m", "base_url": "http://localhost:1/v1", **settings}
    with pytest.raises(InvalidValueError, match=says) as caught:
        OpenAICompatibleModel(**given)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:pw@h:8000/v1/?key=x", "https://h:8000/v1"),
        ("me:pw@h/v1", "h/v1"),
        ("http://me:p/w?#@h/v1", "http://h/v1"),
    ],
)
def test_an_address_is_shown_without_credentials(url: str, shown: str) -> None:
    assert shown_url(url) == shown


# Processes


def test_a_model_is_pickled_as_its_settings_and_reads_the_environment_where_it_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ScriptedServer(auto_judge) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, timeout=7, seed=3)
        model.complete(REQUEST)
        data = pickle.dumps(model)
        assert KEY.encode() not in data
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-worker-77")
        opened = pickle.loads(data)
        opened.complete(REQUEST)
        keys = [request.headers["authorization"] for request in server.received]
    assert keys == [f"Bearer {KEY}", "Bearer sk-of-the-worker-77"]
    assert opened.parameters == model.parameters
    assert opened.identity.seconds == 7


def test_what_holds_a_secret_is_not_pickled_and_says_what_to_do() -> None:
    def refused(**settings: Any) -> str:
        with pytest.raises(InvalidValueError) as caught:
            pickle.dumps(OpenAICompatibleModel("m", **settings))
        assert KEY not in str(caught.value)
        return str(caught.value)

    assert "set OPENAI_API_KEY" in refused(base_url="http://localhost:1/v1", api_key=KEY)
    assert "set OPENAI_BASE_URL" in refused(base_url=f"http://me:{KEY}@localhost:1/v1")
    with openai.OpenAI(base_url="http://localhost:1/v1", api_key=KEY) as client:
        assert "set OPENAI_API_KEY" in refused(client=client)


def test_an_address_with_a_password_is_read_from_the_workers_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://me:{KEY}@localhost:1/v1")
    data = pickle.dumps(OpenAICompatibleModel("m"))
    assert KEY.encode() not in data
    assert pickle.loads(data).parameters["server"] == "localhost:1/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:2/v1")
    with pytest.raises(InvalidValueError, match=r"localhost:1/v1; set OPENAI_BASE_URL"):
        pickle.loads(data)


def test_copies_share_connections_and_learn_for_themselves() -> None:
    def script(body: dict[str, Any], n: int) -> Any:
        return error(400, "no", param="seed") if "seed" in body else auto_judge(body, n)

    with ScriptedServer(script) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, api_key=KEY)
        for copied in (copy.copy(model), copy.deepcopy(model)):
            copied.complete(REQUEST)
            assert copied.capabilities.dropped
            assert copied.identity.key == model.identity.key
    assert not model.capabilities.dropped


def _asked(model: OpenAICompatibleModel) -> list[str]:
    return [in_sync(model).text, in_async(model).text]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_can_call_while_its_parent_does() -> None:
    with ScriptedServer(later(0.1, auto_judge)) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, max_concurrency=2)
        in_sync(model)  # a fork while another thread imports waits for ever, in any program
        calls = [threading.Thread(target=in_sync, args=(model,)) for _ in range(6)]
        for call in calls:
            call.start()
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert pool.apply_async(_asked, (model,)).get(30) == ['{"ok": true}'] * 2
        for call in calls:
            call.join()
        assert in_sync(model).text


def test_an_interrupted_call_gives_its_connection_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(later(30.0, auto_judge)) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, max_concurrency=1)
        run = asyncio.run_coroutine_threadsafe

        def interrupted(*arguments: Any) -> Any:
            done = run(*arguments)

            class Waiting:
                cancel = staticmethod(done.cancel)

                @staticmethod
                def result() -> None:
                    while not server.count:
                        time.sleep(0.001)
                    raise KeyboardInterrupt

            return Waiting

        monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.complete(REQUEST)
        monkeypatch.undo()
        server.script = auto_judge
        assert model.complete(REQUEST).text  # its place is free again


@both_faces
def test_a_connection_that_is_lost_is_called_that(face: Face) -> None:
    with FaultServer(auto_judge, lambda *_: "reset") as server:
        failure = _failure(face, server, max_retries=0)
    assert (failure.reason, failure.fatal) == ("connection", False)
    assert re.search("could be read: .*(ReadError|reset by peer)", str(failure))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_nobody_listening_is_unreachable(host: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    model = OpenAICompatibleModel("m", base_url=f"http://{host}:{port}/v1", max_retries=0)
    with pytest.raises(JudgeError) as caught:
        model.complete(REQUEST)
    assert caught.value.reason == "unreachable"


def test_connections_of_a_loop_that_ended_without_its_generators_do_not_complain(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ScriptedServer(in_turn(reply("{}"))) as server, warnings.catch_warnings(action="ignore"):
        model = OpenAICompatibleModel("m", base_url=server.base_url)
        for _ in range(2):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(model.acomplete(REQUEST))
            loop.close()
        del model, loop
        gc.collect()
    assert "Unclosed" not in caplog.text
