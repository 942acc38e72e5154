"""The OpenAI-compatible model against a scripted server on 127.0.0.1."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import openai
import pytest

from tcva_adapters.errors import InvalidValueError, JudgeError, MissingDependencyError
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.protocol import JudgeModel, ModelReply
from tests.support.faces import KEY, REQUEST, Face, both_faces
from tests.support.server import (
    DROP,
    GARBAGE,
    NO_MODEL,
    WRONG_KEY,
    Answer,
    Script,
    ScriptedServer,
    auto_judge,
    error,
    in_turn,
    lacking,
    later,
    reply,
)

OK = reply('{"verdicts": []}')


@contextmanager
def serving(
    script: Script, **settings: Any
) -> Iterator[tuple[ScriptedServer, OpenAICompatibleModel]]:
    with ScriptedServer(script) as server:
        settings = {"max_retries": 0, "api_key": KEY, **settings}
        yield server, OpenAICompatibleModel("m", base_url=server.base_url, **settings)


# What is sent and what comes back


@both_faces
def test_one_request_carries_everything_and_the_reply_is_read(face: Face) -> None:
    with serving(in_turn(OK), prices=(2.0, 8.0), logprobs=True) as (server, model):
        answer = face(model)
    assert server.count == 1
    assert server.bodies[0] == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be strict"},
            {"role": "user", "content": "claim 1"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdicts", "schema": {"type": "object"}, "strict": True},
        },
        "temperature": 0.0,
        "seed": 0,
        "logprobs": True,
        "top_logprobs": 5,
        "max_tokens": 4096,
    }
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    # 10 tokens at 2 per million and 5 at 8 per million: (20 + 40) / 1e6.
    assert answer == ModelReply('{"verdicts": []}', 10, 5, model="m", cost=6e-5)


def test_settings_that_are_none_are_not_sent() -> None:
    with serving(in_turn(OK), temperature=None, seed=None) as (server, model):
        model.complete(REQUEST)
    assert set(server.bodies[0]) == {"model", "messages", "response_format", "max_tokens"}


def test_a_length_stop_is_marked_and_missing_usage_is_zero() -> None:
    with serving(in_turn(reply("{", finish_reason="length", usage=None))) as (_, model):
        answer = model.complete(REQUEST)
    assert (answer.truncated, answer.input_tokens, answer.output_tokens) == (True, 0, 0)
    assert answer.cost is None


def test_a_truncated_empty_reply_is_not_taken_for_a_lack_of_features() -> None:
    with serving(in_turn(reply("", finish_reason="length"))) as (server, model):
        assert model.complete(REQUEST).truncated
    assert server.count == 1


def test_separate_reasoning_is_left_out_and_typed_parts_are_joined() -> None:
    parts: Any = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "yes"}]
    answers = in_turn(reply("no", reasoning_content="long thoughts"), reply(parts))
    with serving(answers) as (_, model):
        assert model.complete(REQUEST).text == "no"
        assert model.complete(REQUEST).text == "yes"


def test_token_probabilities_are_read() -> None:
    tokens = [('{"v":"', {'{"v":"': 1.0}), ("none", {"none": 0.75, "minor": 0.25}), ('"}', {})]
    with serving(in_turn(reply('{"v":"none"}', tokens=tokens)), logprobs=True) as (_, model):
        answer = model.complete(REQUEST)
    assert answer.token_logprobs is not None
    assert [t.token for t in answer.token_logprobs] == ['{"v":"', "none", '"}']
    assert [t for t, _ in answer.token_logprobs[1].top] == ["none", "minor"]


def test_it_is_a_judge_model_with_a_name_and_parameters_without_secrets() -> None:
    model = OpenAICompatibleModel("m", base_url=f"http://u:{KEY}@h:8000/v1?k={KEY}", api_key=KEY)
    assert isinstance(model, JudgeModel)
    assert model.name == "openai:m"
    assert model.parameters == {
        "server": "h:8000/v1",
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 4096,
        "logprobs": False,
    }
    assert KEY not in f"{model!r}{vars(model)!r}"


# Construction


def test_a_missing_key_is_said_at_once_and_a_local_server_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(JudgeError, match="OPENAI_API_KEY") as caught:
        OpenAICompatibleModel("m")
    assert caught.value.fatal
    with pytest.raises(JudgeError, match=r"api\.example\.org"):
        OpenAICompatibleModel("m", base_url="https://api.example.org/v1")
    for host in ("localhost:1", "127.0.0.1:1", "[::1]:1", "vllm:8000", "192.168.0.7", "a.local"):
        OpenAICompatibleModel("m", base_url=f"http://{host}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert OpenAICompatibleModel("m").parameters["server"] == "api.openai.com/v1"


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(in_turn(OK)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        OpenAICompatibleModel("m").complete(REQUEST)
        assert server.count == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "localhost:8000"},
        {"temperature": 2.1},
        {"max_tokens": 0},
        {"timeout": 0},
        {"max_retries": -1},
        {"max_concurrency": 0},
        {"requests_per_minute": 0},
        {"prices": (-1.0, 0.0)},
        {"model": " "},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_settings_out_of_range_are_named(wrong: dict[str, Any]) -> None:
    settings = {"model": "m", "base_url": "http://localhost/v1", **wrong}
    with pytest.raises(InvalidValueError, match=f"(?i){next(iter(wrong))}"):
        OpenAICompatibleModel(**settings)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingDependencyError, match=r"tcva-adapters\[openai\]"):
        OpenAICompatibleModel("m")


# What a server lacks


@both_faces
@pytest.mark.parametrize("status", [400, 422, 501])
def test_a_named_feature_is_dropped_once_and_remembered(face: Face, status: int) -> None:
    script = lacking("temperature", then=auto_judge, status=status)
    with serving(script, max_retries=2) as (server, model):
        assert face(model).retries == 1
        assert face(model).retries == 0
        assert server.count == 3  # refused, answered, answered
    assert "temperature" not in server.bodies[2]
    assert {"response_format", "seed", "max_tokens"} <= set(server.bodies[2])
    assert list(model.capabilities.dropped) == ["temperature"]


@pytest.mark.parametrize(
    ("lacks", "form"),
    [(["json_schema"], "json_object"), (["json_schema", "json_object"], "text")],
)
def test_the_form_of_the_reply_goes_down_step_by_step(lacks: list[str], form: str) -> None:
    with serving(lacking(*lacks, then=auto_judge)) as (server, model):
        model.complete(REQUEST)
        model.complete(REQUEST)
    assert server.count == len(lacks) + 2
    assert model.capabilities.response_format == form


def test_the_token_limit_gets_its_other_name() -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )

    def script(body: dict[str, Any], _n: int) -> Answer:
        return error(400, message, param="max_tokens") if "max_tokens" in body else OK

    with serving(script) as (server, model):
        model.complete(REQUEST)
    assert server.bodies[1]["max_completion_tokens"] == 4096
    assert model.capabilities.token_limit == "max_completion_tokens"


def test_a_token_limit_beyond_the_model_is_left_out_and_is_no_long_prompt() -> None:
    message = (
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. "
        "This model's maximum context length is 2048 tokens."
    )
    with serving(in_turn(error(400, message), OK)) as (server, model):
        model.complete(REQUEST)
    assert not {"max_tokens", "max_completion_tokens"} & set(server.bodies[1])


def test_everything_lacking_and_nothing_named_goes_down_the_ladder() -> None:
    features = ("logprobs", "json_schema", "json_object", "seed", "max_tokens", "temperature")
    script = lacking(*features, then=auto_judge, named=False)
    with serving(script, logprobs=True) as (server, model):
        # Six refusals, and one more of a question without the sample, which proves them.
        assert model.complete(REQUEST).retries == 7
        assert server.count == 8
        model.complete(REQUEST)
        assert server.count == 9
    assert set(model.capabilities.dropped) == set(features)


@both_faces
def test_a_server_that_always_refuses_ends_in_an_error_and_nothing_is_remembered(
    face: Face,
) -> None:
    with serving(in_turn(error(400, "Cannot do."), error(400, "Cannot do."))) as (server, model):
        with pytest.raises(JudgeError, match="Cannot do") as caught:
            face(model)
        # json_schema, seed, json_object, max_tokens and temperature go; the sixth is the last.
        assert server.count == 6
    assert not caught.value.fatal
    assert not model.capabilities.dropped


def _silent_under_a_schema(body: dict[str, Any], _n: int) -> Answer:
    return reply("") if "response_format" in body else OK


def test_an_empty_message_under_a_schema_goes_down_and_counts_its_tokens() -> None:
    with serving(_silent_under_a_schema) as (server, model):
        answer = model.complete(REQUEST)
        # The fourth is a question without the sample, which stays empty, too.
        assert (server.count, answer.retries) == (4, 3)
        assert (answer.input_tokens, answer.output_tokens) == (40, 20)
        assert model.complete(REQUEST).retries == 0
    assert model.capabilities.response_format == "text"


def test_a_message_that_is_always_empty_is_an_error() -> None:
    with serving(in_turn(reply(" "))) as (server, model):
        with pytest.raises(JudgeError, match="empty message"):
            model.complete(REQUEST)
        assert server.count == 3
    assert model.capabilities.response_format == "json_schema"


def test_a_404_about_features_is_not_about_the_model() -> None:
    refused = error(404, "No endpoints found that support response_format.")
    with serving(in_turn(refused, OK, refused)) as (_, model):
        model.complete(REQUEST)
    assert model.capabilities.response_format == "json_object"


# What fails


@both_faces
@pytest.mark.parametrize(
    ("answer", "reason", "fatal", "says"),
    [
        (WRONG_KEY, "authentication", True, "OPENAI_API_KEY"),
        (error(403, "Not allowed."), "permission", False, "Not allowed"),
        (NO_MODEL, "model_not_found", False, "'m'.*/models"),
        (error(400, "Model Not Exist"), "model_not_found", False, "'m'"),
        (error(404, "no page"), "model_not_found", False, "/v1"),
        (error(429, "Slow down."), "rate_limit", False, "requests_per_minute"),
        (error(429, "No money.", code="insufficient_quota"), "quota", True, "No money"),
        (error(500, "Oops."), "server_error", False, "500.*Oops"),
        (error(501, "Never."), "server_error", False, "501.*Never"),
        (error(503, "Busy."), "server_error", False, "Busy"),
        (error(400, "Filtered.", code="content_filter"), "judge_error", False, "content filter"),
        (
            error(400, "Maximum context length is 9 tokens.", code="context_length_exceeded"),
            "context_length",
            False,
            "too long",
        ),
        (reply("", finish_reason="content_filter"), "judge_error", False, "content filter"),
        (reply(None, refusal="I can't."), "judge_error", False, "refused to judge: I can't"),
        (error(402, "Pay."), "quota", True, "no credit left"),
        (error(500, "insufficient_quota", code="insufficient_quota"), "server_error", False, "500"),
        (error(500, "model m not found"), "server_error", False, "500"),
        (error(503, "invalid model output: maximum context"), "server_error", False, "503"),
        (GARBAGE, "server_error", False, "no chat completion.*proxy"),
        (Answer({"error": "x"}), "server_error", False, "no chat completion"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failure_has_a_reason_and_a_sentence(
    face: Face, answer: Answer, reason: str, fatal: bool, says: str
) -> None:
    with (
        serving(in_turn(answer)) as (_, model),
        pytest.raises(JudgeError, match=says) as caught,
    ):
        face(model)
    assert (caught.value.reason, caught.value.fatal) == (reason, fatal)


@both_faces
def test_no_message_holds_the_key(face: Face) -> None:
    said = f"Incorrect API key provided: {KEY}, also sk-another-0123456789."
    with (
        serving(in_turn(error(401, said))) as (_, model),
        pytest.raises(JudgeError) as caught,
    ):
        face(model)
    assert "sk-" not in str(caught.value)
    assert caught.value.__cause__ is None


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@both_faces
def test_an_address_where_nobody_listens_is_named(face: Face) -> None:
    url = f"http://127.0.0.1:{_closed_port()}/v1"
    with pytest.raises(JudgeError, match=url) as caught:
        face(OpenAICompatibleModel("m", base_url=url, max_retries=0))
    assert (caught.value.reason, caught.value.fatal) == ("unreachable", False)


def test_a_server_that_once_answered_is_not_given_up_for_a_dropped_connection() -> None:
    with serving(in_turn(OK, DROP)) as (_, model):
        model.complete(REQUEST)
        with pytest.raises(JudgeError) as caught:
            model.complete(REQUEST)
    assert (caught.value.reason, caught.value.fatal) == ("connection", False)


@both_faces
def test_a_slow_server_is_a_timeout(face: Face) -> None:
    with (
        serving(later(30.0, auto_judge), timeout=0.2) as (_, model),
        pytest.raises(JudgeError, match=r"0\.2 s") as caught,
    ):
        face(model)
    assert (caught.value.reason, caught.value.fatal) == ("timeout", False)


# Repeated requests


@both_faces
def test_retry_after_is_kept_and_retries_are_counted(face: Face) -> None:
    busy = error(429, "Slow down.", retry_after=0.01)
    unwell = error(503, "Busy.", retry_after=0.01)
    with serving(in_turn(busy, unwell, OK), max_retries=2) as (server, model):
        assert face(model).retries == 2
        assert server.count == 3


def test_a_dropped_connection_is_tried_again() -> None:
    with serving(in_turn(DROP, OK), max_retries=1) as (server, model):
        assert model.complete(REQUEST).retries == 1
        assert server.count == 2


def test_retries_and_dropped_features_add_up_to_the_requests_sent() -> None:
    busy = error(429, "Slow down.", retry_after=0.01)
    refused = error(400, "Unknown: seed", param="seed")
    with serving(in_turn(busy, refused, busy, OK), max_retries=2) as (server, model):
        assert 1 + model.complete(REQUEST).retries == server.count == 4


# Loops and threads


def test_several_event_loops_in_a_row_send_no_request_twice() -> None:
    with serving(auto_judge, max_retries=2) as (server, model):

        async def two() -> list[int]:
            replies = await asyncio.gather(model.acomplete(REQUEST), model.acomplete(REQUEST))
            return [one.retries for one in replies]

        for _ in range(3):
            assert asyncio.run(two()) == [0, 0]
        assert server.count == 6


async def _use_both(model: OpenAICompatibleModel) -> None:
    await model.acomplete(REQUEST)
    model.complete(REQUEST)  # inside the running loop


def test_a_users_synchronous_client_serves_both_faces() -> None:
    with ScriptedServer(auto_judge) as server:
        with openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=2) as client:
            model = OpenAICompatibleModel("m", client=client)
            asyncio.run(_use_both(model))
            asyncio.run(_use_both(model))
            assert server.count == 4
            assert model.probe()["answers"]
        assert KEY not in f"{model!r}{model.parameters}"


def test_a_users_asynchronous_client_serves_both_faces() -> None:
    with ScriptedServer(auto_judge) as server:

        async def with_client() -> OpenAICompatibleModel:
            settings: dict[str, Any] = {"base_url": server.base_url, "api_key": KEY}
            async with openai.AsyncOpenAI(**settings, max_retries=2) as client:
                model = OpenAICompatibleModel("m", async_client=client)
                await _use_both(model)
            return model

        model = asyncio.run(with_client())
        asyncio.run(_use_both(model))
        assert server.count == 4
        assert model.probe()["answers"]
        assert KEY not in f"{model!r}{model.parameters}"


def test_a_synchronous_call_inside_a_loop_whose_tasks_hold_all_places() -> None:
    entered = threading.Event()

    def script(_body: dict[str, Any], n: int) -> Answer:
        # The first answer is held back until the second request has come in.
        if n == 1:
            entered.wait(10.0)
        else:
            entered.set()
        return OK

    with serving(script, max_concurrency=1) as (server, model):

        async def main() -> None:
            task = asyncio.create_task(model.acomplete(REQUEST))
            while not server.count:  # noqa: ASYNC110  # the server lives in another thread
                await asyncio.sleep(0.001)
            model.complete(REQUEST)
            await task

        asyncio.run(main())
        assert server.count == 2


def test_threads_and_loops_together_keep_to_the_limit() -> None:
    with serving(later(0.01, auto_judge), max_concurrency=3) as (server, model):

        async def several() -> None:
            await asyncio.gather(*(model.acomplete(REQUEST) for _ in range(8)))

        with ThreadPoolExecutor(10) as pool:
            calls: list[Any] = [pool.submit(model.complete, REQUEST) for _ in range(8)]
            calls += [pool.submit(asyncio.run, several()) for _ in range(2)]
            for call in calls:
                call.result()
        assert server.count == 24
        assert 1 < server.busiest <= 3


def test_a_feature_lost_while_many_ask_is_lost_for_all() -> None:
    with (
        serving(lacking("seed", then=auto_judge)) as (server, model),
        ThreadPoolExecutor(8) as pool,
    ):
        replies = list(pool.map(model.complete, [REQUEST] * 24))
        assert server.count == 24 + sum(one.retries for one in replies)
        assert sum(one.retries for one in replies) <= 8  # at most those that began together
    assert list(model.capabilities.dropped) == ["seed"]


def test_a_cancelled_waiter_gives_its_place_to_the_next() -> None:
    with serving(auto_judge, max_concurrency=1) as (server, model):

        async def main() -> None:
            async with model._connections.limit.ahold():
                waiting = [asyncio.create_task(model.acomplete(REQUEST)) for _ in range(3)]
                await asyncio.sleep(0)
                waiting[0].cancel()
                await asyncio.sleep(0)
            done = await asyncio.gather(*waiting, return_exceptions=True)
            assert isinstance(done[0], asyncio.CancelledError)
            assert all(isinstance(one, ModelReply) for one in done[1:])

        asyncio.run(main())
        model.complete(REQUEST)
        assert server.count == 3


@both_faces
def test_calls_wait_for_their_minute(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    here, really_sleep = threading.get_ident(), time.sleep

    def sleep(seconds: float) -> None:
        if threading.get_ident() == here:
            slept.append(seconds)
        else:  # a thread that some framework has left running
            really_sleep(seconds)

    async def asleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("tcva_adapters.models.openai_model.time.sleep", sleep)
    monkeypatch.setattr("tcva_adapters.models.openai_model.asyncio.sleep", asleep)
    with serving(auto_judge, requests_per_minute=30) as (_, model):
        assert model._connections.rate is not None
        model._connections.rate._clock = lambda: 50.0
        for _ in range(3):
            face(model)
    assert slept == [0.0, 2.0, 4.0]  # 60 s / 30, the clock standing still


def test_nothing_stays_open() -> None:
    with serving(auto_judge) as (_, model):
        asyncio.run(model.acomplete(REQUEST))
        model.complete(REQUEST)
        del model
        gc.collect()  # an open socket would warn here, and warnings are errors


def test_a_loop_that_stops_midway_leaves_the_model_usable() -> None:
    with serving(later(30.0, auto_judge), max_concurrency=1) as (server, model):

        async def give_up() -> bool:
            task = asyncio.create_task(model.acomplete(REQUEST))
            while not server.count:  # noqa: ASYNC110  # the server lives in another thread
                await asyncio.sleep(0.001)
            return task.done()

        assert not asyncio.run(give_up())
        server.script = auto_judge
        assert asyncio.run(model.acomplete(REQUEST)).text


# The probe


def test_the_probe_reports_what_works() -> None:
    script = lacking("json_schema", "logprobs", then=auto_judge)
    with serving(script) as (server, model):
        report = model.probe()
    assert report.pop("seconds") >= 0
    dropped = report.pop("dropped")
    assert report == {
        "answers": True,
        "server": server.base_url,
        "model": "m",
        "response_format": "json_object",
        "follows_schema": True,
        "seed": True,
        "temperature": True,
        "logprobs": False,
        "token_limit": "max_tokens",
        "requests": 3,
    }
    assert set(dropped) == {"json_schema", "logprobs"}
    assert all("Unsupported parameter" in why for why in dropped.values())


def test_the_probe_reports_a_failure_without_raising() -> None:
    with serving(in_turn(WRONG_KEY)) as (_, model):
        report = model.probe()
    assert report["answers"] is False
    assert report["reason"] == "authentication"
    assert KEY not in repr(report)
