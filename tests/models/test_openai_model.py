"""The OpenAI-compatible model against a scripted server: what is sent, read, given up and refused."""

import sys
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tcva_adapters import TCVA
from tcva_adapters.errors import InvalidValueError, JudgeError, MissingDependencyError
from tcva_adapters.models.judge_model import JudgeRequest, ModelReply, Sampling
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.support.faces import KEY, REQUEST, Face, both_faces
from tests.support.faces import serving as served
from tests.support.server import (
    GARBAGE,
    NO_MODEL,
    WRONG_KEY,
    Answer,
    ScriptedServer,
    auto_judge,
    error,
    in_turn,
    lacking,
    reply,
)

serving = partial(served, max_retries=0, api_key=KEY)
OK = reply('{"verdicts": []}')
PROBABLE = replace(REQUEST, sampling=Sampling(top_logprobs=5))


# What is sent and what comes back


@both_faces
def test_one_request_carries_everything_and_the_reply_is_read(face: Face) -> None:
    with serving(in_turn(OK), prices=(2.0, 8.0)) as (server, model):
        answer = face(model)
    assert server.count == 1
    schema = {"name": "verdicts", "schema": {"type": "object"}, "strict": True}
    assert server.bodies[0] == {
        "model": "m",
        "messages": [
            {"role": r, "content": c}
            for r, c in (("system", "be strict"), ("user", "claim 1"))
        ],
        "response_format": {"type": "json_schema", "json_schema": schema},
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 4096,
    }
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    # 10 tokens at 2 per million and 5 at 8 per million: (20 + 40) / 1e6.
    assert answer == ModelReply('{"verdicts": []}', 10, 5, model="m", cost=6e-5)


def test_a_request_says_how_its_reply_is_drawn_and_settings_that_are_none_are_not_sent() -> (
    None
):
    drawn = Sampling(max_tokens=4, top_logprobs=20, temperature=0.7, seed_offset=2)
    with serving(in_turn(OK), seed=3) as (server, model):
        model.complete(replace(REQUEST, sampling=drawn, schema={}, system=""))
    sent = {
        "max_tokens": 4,
        "logprobs": True,
        "top_logprobs": 20,
        "temperature": 0.7,
        "seed": 5,
    }
    messages = [{"role": "user", "content": "claim 1"}]
    assert server.bodies[0] == {"model": "m", "messages": messages, **sent}
    with serving(in_turn(OK), temperature=None, seed=None) as (server, model):
        model.complete(REQUEST)
    assert set(server.bodies[0]) == {
        "model",
        "messages",
        "response_format",
        "max_tokens",
    }


def test_what_a_reply_holds_is_read() -> None:
    parts: Any = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "yes"}]
    tokens = [
        ('{"v":"', {'{"v":"': 1.0}),
        ("none", {"none": 0.75, "minor": 0.25}),
        ('"}', {}),
    ]
    answers = (
        reply("no", reasoning_content="long thoughts"),
        reply(parts),
        reply('{"v":"none"}', tokens=tokens),
        reply(
            "", finish_reason="length", usage=None
        ),  # is not taken for a lack of features
    )
    with serving(in_turn(*answers)) as (server, model):
        assert [model.complete(REQUEST).text for _ in range(2)] == ["no", "yes"]
        probable, cut_off = model.complete(PROBABLE), model.complete(REQUEST)
    assert server.count == 4
    assert probable.token_logprobs is not None
    assert [t.token for t in probable.token_logprobs] == ['{"v":"', "none", '"}']
    assert [t for t, _ in probable.token_logprobs[1].top] == ["none", "minor"]
    assert (cut_off.truncated, cut_off.input_tokens, cut_off.output_tokens) == (
        True,
        0,
        0,
    )
    assert cut_off.cost is None


def test_it_is_a_judge_model_with_a_name_and_parameters_without_secrets() -> None:
    model = OpenAICompatibleModel(
        "m", base_url=f"http://u:{KEY}@h:8000/v1", api_key=KEY
    )
    asked = {"server": "h:8000/v1", "temperature": 0.0, "seed": 0, "max_tokens": 4096}
    assert (model.name, model.parameters) == ("openai:m", asked)
    assert KEY not in f"{model!r}{vars(model)!r}"


# Construction


def test_the_environment_names_key_and_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for url in (None, "https://api.example.org/v1"):
        with pytest.raises(JudgeError, match="OPENAI_API_KEY") as caught:
            OpenAICompatibleModel("m", base_url=url)
        assert caught.value.fatal
    for host in (
        "localhost:1",
        "127.0.0.1:1",
        "[::1]:1",
        "vllm:8000",
        "192.168.0.7",
        "a.local",
    ):
        OpenAICompatibleModel("m", base_url=f"http://{host}/v1")  # needs no key
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert OpenAICompatibleModel("m").parameters["server"] == "api.openai.com/v1"
    with ScriptedServer(in_turn(OK)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        OpenAICompatibleModel("m").complete(REQUEST)
        assert server.received[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(("settings", "says"), [
    ({"timeout": float("nan")}, "timeout must be a finite number, got nan"),
    ({"max_retries": 2.5}, "max_retries must be a whole number, got 2.5"),
    ({"temperature": 2.1}, "temperature must be at most 2, got 2.1"),
    ({"prices": (1.0,)}, r"prices must have more items, got \(1.0,\)"),
    ({"api_key": b"sk-secret-77"}, "api_key must be a string, got bytes"),
    ({"client": "openai"}, "client must be a client of the openai package, got str"),
    ({"logprobs": True}, "unknown setting 'logprobs'"),
    ({"model": " "}, "model must be the name of a model, got ' '"),
], ids=str)  # fmt: skip
def test_an_argument_that_cannot_be_used_is_named(
    settings: dict[str, Any], says: str
) -> None:
    given = {"model": "m", "base_url": "http://localhost:1/v1", **settings}
    with pytest.raises(InvalidValueError, match=says) as caught:
        OpenAICompatibleModel(**given)
    assert "secret" not in str(caught.value)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    for module in ("openai_model", "openai_retries_and_limits"):
        monkeypatch.delitem(sys.modules, f"tcva_adapters.models.{module}")
    with pytest.raises(MissingDependencyError, match=r"\.\[openai\]"):
        TCVA(judge="openai:m")


# What a server lacks


@both_faces
@pytest.mark.parametrize(("lacks", "status", "gone"), [
    (["temperature"], 422, {"temperature"}),
    (["json_schema"], 404, set()),  # which is not about the model
    (["json_schema", "json_object"], 400, {"response_format"}),
    (["max_tokens", "max_completion_tokens"], 400, {"max_tokens"}),
])  # fmt: skip
def test_features_are_given_up(
    face: Face, lacks: list[str], status: int, gone: set[str]
) -> None:
    script = lacking(*lacks, then=auto_judge, status=status)
    with serving(script, max_retries=2) as (server, model):
        assert [face(model).retries for _ in range(2)] == [len(lacks), 0]
        assert server.count == len(lacks) + 2  # refused, answered, answered
    keys = {"response_format", "temperature", "seed", "max_tokens"}
    assert keys - set(server.bodies[-1]) == gone
    assert sorted(model.refused) == sorted(lacks)


@pytest.mark.parametrize(("refused", "sent"), [
    (error(400, "unknown field max_tokens"), {"max_completion_tokens": 4096}),
    (error(400, "at most 5", param="top_logprobs"), {"top_logprobs": 5, "max_tokens": 4096}),
])  # fmt: skip
def test_what_is_refused_is_asked_for_in_another_way(
    refused: Answer, sent: dict[str, int]
) -> None:
    with serving(in_turn(refused, OK)) as (server, model):
        model.complete(replace(REQUEST, sampling=Sampling(top_logprobs=20)))
    assert sent.items() <= server.bodies[1].items()


def test_what_one_sample_has_to_do_without_the_others_still_ask_for() -> None:
    def script(body: dict[str, Any], n: int) -> Any:
        prompt = body["messages"][-1]["content"]
        if "odd" in prompt and "response_format" in body:
            return error(400, f"could not process: {prompt}")
        return auto_judge(body, n)

    odd = JudgeRequest(
        "be strict", "an odd claim: response_format", REQUEST.schema, "verdicts"
    )
    with serving(script) as (server, model):
        model.complete(odd)
        assert not model.refused
        model.complete(REQUEST)
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"


# What fails


@pytest.mark.parametrize(("answer", "reason", "fatal", "says"), [
    (WRONG_KEY, "authentication", True, "OPENAI_API_KEY"),
    (error(403, "Not allowed."), "permission", False, "Not allowed"),
    (NO_MODEL, "model_not_found", True, "'m'.*/models"),
    (error(400, "Model Not Exist"), "judge_error", False, "Model Not Exist"),
    (error(404, "no page"), "model_not_found", False, "/v1"),
    (error(429, "Slow down."), "rate_limit", False, "requests_per_minute.*1 request sent"),
    (error(429, "No money.", code="insufficient_quota"), "quota", True, "No money"),
    (error(500, "Oops."), "server_error", False, "500.*Oops"),
    (error(400, "?", code="context_length_exceeded"), "invalid_input", False, "too long"),
    (reply("", finish_reason="content_filter"), "judge_error", False, "content filter"),
    (reply(" "), "judge_error", False, "the reply is empty"),
    (reply(None, refusal="I can't."), "judge_error", False, "refused to judge: I can't"),
    (error(402, "Pay."), "quota", True, "no credit left"),
    (error(500, "insufficient_quota", code="insufficient_quota"), "server_error", False, "500"),
    (Answer({"detail": "Only PUT."}, status=405), "judge_error", False, "405.*Only PUT"),
    (GARBAGE, "server_error", False, "not a chat completion.*proxy"),
    (Answer({"error": "x"}), "server_error", False, "not a chat completion"),
    (error(400, "Cannot do."), "judge_error", False, "Cannot do.*1 request sent"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_a_failure_has_a_reason(
    answer: Answer, reason: str, fatal: bool, says: str
) -> None:
    with (
        serving(in_turn(answer)) as (_, model),
        pytest.raises(JudgeError, match=says) as caught,
    ):
        model.complete(REQUEST)
    assert (caught.value.reason, caught.value.fatal) == (reason, fatal)
    assert "Error:" not in str(caught.value)  # no class that the user never used


# The probe


def test_the_probe_reports_what_works() -> None:
    with serving(lacking("json_schema", "logprobs", then=auto_judge)) as (
        server,
        model,
    ):
        report = model.probe()
    refused = report.pop("refused")
    assert report == {
        "answers": True,
        "server": server.base_url,
        "model": "m",
        "logprobs": False,
    }
    assert set(refused) == {"json_schema", "logprobs"}
    assert all("Unsupported parameter" in why for why in refused.values())
    with serving(in_turn(WRONG_KEY)) as (_, model):
        report = model.probe()
    assert (report["answers"], report["reason"]) == (False, "authentication")
    assert KEY not in repr(report)
