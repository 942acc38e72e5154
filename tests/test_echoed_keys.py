"""Keys that an LLM object of a framework holds, when its server repeats them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from deepeval.models import LocalModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from ragas.llms import llm_factory
from ragas.llms.base import LangchainLLMWrapper

from tcva_adapters import TCVA, Sample
from tests.deepeval.entry import hanging_up
from tests.support.server import Answer, Script, ScriptedServer, error

# RAGAS announces the end of its wrapper on every use.
pytestmark = pytest.mark.filterwarnings(
    "ignore:LangchainLLMWrapper is deprecated:DeprecationWarning"
)

KEY = "given-by-hand-0123456789"
"""It looks like none of the keys that are known by their looks."""

TEXT = "The office opens at nine."
SAMPLE = Sample(response=TEXT, contexts=(TEXT,))
SAID = {"claim": 1, "evidence": TEXT, "passage": 1, "reason": f"by {KEY}", "verdict": "fully"}

Make = Callable[[str], Any]


def chat(url: str) -> ChatOpenAI:
    return ChatOpenAI(model="m", api_key=SecretStr(KEY), base_url=url, max_retries=0)


def _client(url: str) -> openai.OpenAI:
    return openai.OpenAI(api_key=KEY, base_url=url, max_retries=0)


LLMS: dict[str, Make] = {
    "langchain": chat,
    "langchain, bound": lambda url: chat(url).bind(seed=1),
    "langchain, with fallbacks": lambda url: chat(url).with_fallbacks([chat(url)]),
    "ragas": lambda url: llm_factory("m", client=_client(url)),
    "ragas, older": lambda url: LangchainLLMWrapper(chat(url)),
    "deepeval": lambda url: LocalModel(model="m", api_key=KEY, base_url=url),
}

SCRIPTS: dict[str, Script] = {
    "error": lambda *_: error(401, f"Incorrect API key provided: {KEY}."),
    "verdicts": lambda *_: json.dumps({"verdicts": [SAID]}),
    "prose": lambda *_: f"My key is {KEY}.",
    "no completion": lambda *_: Answer(f"{KEY} is welcome"),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize("make", LLMS.values(), ids=LLMS)
def test_a_key_that_is_repeated_is_in_no_result_and_no_store(
    make: Make, script: Script, tmp_path: Path
) -> None:
    with ScriptedServer(hanging_up(script)) as server:
        tcva = TCVA(judge=make(server.base_url), store=tmp_path / "v.sqlite")
        result = tcva.evaluate(SAMPLE)
        assert server.count
    assert KEY not in result.to_json()
    stored = list(tmp_path.iterdir())
    assert stored
    assert not any(KEY.encode() in path.read_bytes() for path in stored)
