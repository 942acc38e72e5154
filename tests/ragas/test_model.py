"""RAGAS' LLM objects as judges. The server or the model is scripted, all else is real."""

import asyncio
import json
import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import openai
import pytest
from langchain_core.language_models import FakeListChatModel, FakeListLLM
from ragas.llms import llm_factory
from ragas.llms.base import InstructorBaseRagasLLM, LangchainLLMWrapper

from tcva_adapters import TCVA
from tcva_adapters.loops import wait_for
from tcva_adapters.models.judge_model import (
    JudgeModel,
    JudgeRequest,
    ModelReply,
    acomplete,
    complete,
)
from tcva_adapters.ragas import TCVACollectionMetric, as_judge_model
from tcva_adapters.results.judgement import Reason
from tests.ragas.entry import ScriptedInstructorLLM, ScriptedLLM
from tests.support.office import SAMPLE, SCORE, TWO
from tests.support.server import ScriptedServer, error, in_turn, reply

pytestmark = [
    # RAGAS announces the end of its wrappers on every use.
    pytest.mark.filterwarnings(
        "ignore:LangchainLLMWrapper is deprecated:DeprecationWarning"
    )
]

REQUEST = JudgeRequest(
    "be strict", "claim 1", {"type": "object", "title": "x"}, "verdicts"
)
KEY = "sk-very-secret-0123456789"


def model_of(llm: object) -> JudgeModel:
    found = as_judge_model(llm)
    assert found is not None
    return found


def answered(llm: object) -> ModelReply:
    return complete(model_of(llm), REQUEST)


def aanswered(llm: object) -> ModelReply:
    return asyncio.run(acomplete(model_of(llm), REQUEST))


@contextmanager
def factory(
    server: ScriptedServer,
    *,
    is_async: bool = False,
    client_options: dict[str, Any] | None = None,
    **arguments: Any,
) -> Iterator[InstructorBaseRagasLLM]:
    """An LLM as RAGAS' users make it, whose client is closed afterwards."""
    options: dict[str, Any] = {"max_retries": 0} | (client_options or {})
    if is_async:
        client = openai.AsyncOpenAI(base_url=server.base_url, api_key=KEY, **options)
        yield llm_factory("m", client=client, **arguments)
        wait_for(client.close())
    else:
        with openai.OpenAI(base_url=server.base_url, api_key=KEY, **options) as plain:
            yield llm_factory("m", client=plain, **arguments)


def test_repeats_are_asked_at_a_temperature_at_which_they_differ() -> None:
    seen: list[float] = []

    class Warm(FakeListChatModel):
        temperature: float = 0.4

        def _call(self, *arguments: Any, **options: Any) -> str:
            seen.append(self.temperature)
            return super()._call(*arguments, **options)

    wrapped = LangchainLLMWrapper(Warm(responses=[TWO]))
    TCVA(judge=wrapped, share=False).evaluate(SAMPLE)
    assert TCVA(judge=wrapped, repeats=2, share=False).evaluate(SAMPLE).usage.calls == 2
    assert seen == [0.01, 0.7, 0.7]


ROW: dict[str, Any] = {"user_input": SAMPLE.input, "response": SAMPLE.response}
ROW["retrieved_contexts"] = list(SAMPLE.contexts or ())


@pytest.mark.parametrize("is_async", [True, False], ids=["async client", "sync client"])
def test_factory_llms_judge_with_one_request_each(is_async: bool) -> None:
    # Without a kept connection, so that loops may come and go.
    options = {"default_headers": {"Connection": "close"}}
    with (
        ScriptedServer(lambda _body, _n: TWO) as server,
        factory(server, is_async=is_async, client_options=options) as llm,
    ):
        tcva = TCVACollectionMetric(llm, share=False)

        async def inside() -> Any:
            return tcva.score(**ROW)

        results: list[Any] = [tcva.score(**ROW), asyncio.run(inside())]
        with ThreadPoolExecutor(1) as pool:
            results.append(pool.submit(tcva.score, **ROW).result())
        results += tcva.batch_score([ROW])
        rows = [ROW | {"user_input": f"{i}?"} for i in range(3)]
        results += asyncio.run(tcva.abatch_score(rows)) + asyncio.run(
            tcva.abatch_score(rows)
        )
        assert [r.value for r in results] == pytest.approx([SCORE] * 10, abs=1e-12)
        # An asynchronous client in a new loop per call would send some of these twice.
        assert server.count == 10
        usage = results[0].result.assessment.usage
        assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 10, 5)


def test_our_schema_reaches_the_server() -> None:
    with (
        ScriptedServer(lambda _body, _n: TWO) as server,
        factory(server, max_tokens=4096) as llm,
    ):
        TCVA(judge=llm).evaluate(SAMPLE)
        (body,) = server.bodies
    assert (body["response_format"], body["max_tokens"]) == (
        {"type": "json_object"},
        4096,
    )
    assert "not_a_claim" in json.dumps(body["messages"][0])
    assert "<<<CLAIM 2 " in body["messages"][-1]["content"]


def test_a_reply_that_instructor_cannot_read_is_repaired_here() -> None:
    broken = "Here you are: " + TWO.replace('"claim": 1,', "'claim': 1,").removesuffix(
        "}"
    )
    with ScriptedServer(lambda _body, _n: broken) as server, factory(server) as llm:
        result = TCVA(judge=llm).evaluate(SAMPLE)
    assert result.score == pytest.approx(SCORE, abs=1e-12)


@pytest.mark.parametrize(
    ("status", "reason", "fatal"),
    [(429, Reason.RATE_LIMIT, False), (401, Reason.JUDGE_ERROR, True)],
)
def test_failures_over_http_have_their_reason(
    status: int, reason: Reason, fatal: bool
) -> None:
    said = error(status, f"not with {KEY}")
    with ScriptedServer(in_turn(said)) as server, factory(server) as llm:
        failed = TCVA(judge=llm).evaluate(SAMPLE).unscored
    assert failed is not None
    assert (failed.reason, failed.fatal) == (reason, fatal)
    assert KEY not in failed.detail


def test_a_cut_off_reply_is_seen_and_names_have_no_secret() -> None:
    cut = reply('{"verdicts": []}', finish_reason="length")
    with (
        ScriptedServer(lambda _body, _n: cut) as server,
        factory(server, max_tokens=2048) as llm,
    ):
        found, model = answered(llm), model_of(llm)
    assert (found.truncated, found.model) == (True, "m")
    assert (model.name, model.parameters["max_tokens"]) == ("ragas:m", 2048)
    older = model_of(ScriptedLLM(lambda _: TWO))
    assert older.name == "ragas:scripted"
    for said in (
        repr(model),
        repr(dict(model.parameters)),
        repr(older),
        repr(older.parameters),
    ):
        assert "secret" not in said
        assert "sk-" not in said


# --- the loop of synchronous calls -----------------------------------------------------------------


def test_threads_that_come_first_together_share_one_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        os, "getpid", lambda: -1
    )  # as in a process that had no call yet
    together = threading.Barrier(8)

    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    def call(_: int) -> asyncio.AbstractEventLoop:
        together.wait()
        return wait_for(loop())

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(call, range(8)))) == 1


@pytest.mark.slow
@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork here"
)
# Python warns of forks beside threads, which is what is tried here.
@pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)
def test_a_forked_process_does_not_wait_for_the_loop_of_its_parent() -> None:
    llm = ScriptedInstructorLLM(lambda _: TWO)
    assert TCVA(judge=llm).evaluate(SAMPLE).score == pytest.approx(SCORE, abs=1e-12)
    context = multiprocessing.get_context("fork")
    child = context.Process(
        target=lambda: TCVA(judge=llm).evaluate(SAMPLE), daemon=True
    )
    child.start()
    child.join(60)
    code = child.exitcode
    child.kill()
    child.join()
    assert code == 0


# --- both families, scripted --------------------------------------------------------------------------


def test_an_instructor_llm_is_given_the_schema_of_the_request() -> None:
    replies = []
    for is_async in (True, False, None):
        llm = ScriptedInstructorLLM(lambda _: TWO, is_async=is_async is not False)
        if is_async is None:
            del llm.is_async  # as a user's class may have it
        replies += [answered(llm), aanswered(llm)]
        assert (llm.prompts, llm.models[0].__name__) == (
            ["be strict\n\nclaim 1"] * 2,
            "verdicts",
        )
        assert llm.models[0].model_json_schema() == REQUEST.schema
    assert [json.loads(each.text) for each in replies] == [json.loads(TWO)] * 6


def test_a_chat_model_gets_system_and_user_as_messages() -> None:
    seen = []

    class Noting(FakeListChatModel):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append([(m.type, m.content) for m in messages])
            return super()._generate(messages, *args, **kwargs)

    assert answered(LangchainLLMWrapper(Noting(responses=[TWO]))).text == TWO
    assert seen == [[("system", "be strict"), ("human", "claim 1")]]


def test_a_completion_model_gets_one_text() -> None:
    wrapped = LangchainLLMWrapper(FakeListLLM(responses=[TWO, TWO]))
    assert (answered(wrapped).text, aanswered(wrapped).text) == (TWO, TWO)
    assert model_of(wrapped).name == "ragas:FakeListLLM"
    own = ScriptedLLM(lambda _: TWO)
    assert (answered(own).text, aanswered(own).text) == (TWO, TWO)
    assert own.prompts == ["be strict\n\nclaim 1"] * 2
