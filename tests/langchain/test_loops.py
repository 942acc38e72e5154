"""Judging in a second event loop: what the page recommends works with LangChain's own client."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langchain_openai import ChatOpenAI

from tcva_adapters.langchain import TCVAEvaluator
from tests.support.scripted import verdict_json
from tests.support.server import ScriptedServer

TEXTS = [f"Door {number} opens at nine." for number in range(3)]
ROWS: list[Any] = [{"answer": text, "context": [text]} for text in TEXTS]
REPLY = verdict_json((1, "fully", "opens at nine"))


def of_openai(server: ScriptedServer, **settings: Any) -> ChatOpenAI:
    return ChatOpenAI(model="m", base_url=server.base_url, api_key="k", max_retries=0, **settings)  # type: ignore[arg-type]  # a secret as a text


WAYS: dict[str, Callable[[ScriptedServer], Any]] = {
    "a client for each loop": lambda server: of_openai(
        server, http_async_client=httpx.AsyncClient()
    ),
    "openai:MODEL": lambda _: "openai:m",
}


@pytest.mark.parametrize("way", WAYS)
def test_each_of_several_loops_judges(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(lambda *_: REPLY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        for number in range(1, 4):
            evaluator = TCVAEvaluator(WAYS[way](server), share=False)
            found = asyncio.run(evaluator.abatch(ROWS))
            assert [row["score"] for row in found] == [1.0] * len(ROWS)
            assert server.count == number * len(ROWS)


def test_one_loop_or_none_judges_again_and_again() -> None:
    with ScriptedServer(lambda *_: REPLY) as server:
        evaluator = TCVAEvaluator(of_openai(server), share=False)

        async def twice() -> list[Any]:
            return [*await evaluator.abatch(ROWS), *await evaluator.abatch(ROWS)]

        found = [*evaluator.batch(ROWS), *evaluator.batch(ROWS), *asyncio.run(twice())]
        assert [row["score"] for row in found] == [1.0] * 4 * len(ROWS)


def test_a_client_of_another_loop_loses_the_replies_that_it_asks_for() -> None:
    with ScriptedServer(lambda *_: REPLY) as server:
        for passes in (True, False):
            # Another object, but langchain-openai keeps one client for all.
            evaluator = TCVAEvaluator(of_openai(server), share=False)
            row = asyncio.run(evaluator.ainvoke(ROWS[0]))
            assert (row["score"] is not None) == passes
        assert "Connection error" in row["reasoning"]
        assert server.count == 2  # both are charged
