"""Judging in a second event loop: what the page says of LangChain's own client."""

import json
import os
import subprocess
import sys

from tests.support.scripted import verdict_json
from tests.support.server import ScriptedServer

# In a process of its own: clients whose loop is gone cannot be closed.
SCRIPT = """
import asyncio, json, os
import httpx
from langchain_openai import ChatOpenAI
from tcva_adapters.langchain import TCVAEvaluator

texts = [f"Door {number} opens at nine." for number in range(3)]
rows = [{"answer": text, "context": [text]} for text in texts]
model = lambda **more: ChatOpenAI(model="m", max_retries=0, **more)
ways = {
    "a new model": model,
    "a client for each loop": lambda: model(http_async_client=httpx.AsyncClient()),
    "openai:MODEL": lambda: "openai:m",
}
found = {}
for way, judge in ways.items():
    evaluators = [TCVAEvaluator(judge(), share=False) for _ in range(2)]
    found[way] = [asyncio.run(each.abatch(rows)) for each in evaluators]

async def twice(evaluator):
    return [await evaluator.abatch(rows) for _ in range(2)]

one = TCVAEvaluator(model(http_async_client=httpx.AsyncClient()), share=False)
found["one loop"] = asyncio.run(twice(one))
found["no loop"] = [one.batch(rows) for _ in range(2)]
print(json.dumps({way: [[row["score"] for row in some] for some in of] for way, of in found.items()}))
"""


def test_only_a_client_of_another_loop_loses_replies() -> None:
    reply = verdict_json((1, "fully", "opens at nine"))
    with ScriptedServer(lambda *_: reply) as server:
        own = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
        command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
        done = subprocess.run(
            command, env=os.environ | own, capture_output=True, check=True
        )
        asked = server.count
    passed, lost = [1.0] * 3, [None] * 3
    found = json.loads(done.stdout)
    # langchain-openai keeps one client for all models, so that a new one does not help.
    assert found.pop("a new model") == [passed, lost]
    assert found == {way: [passed, passed] for way in found}
    assert len(found) == 4
    assert asked == 5 * 2 * 3  # those without a reply, too
