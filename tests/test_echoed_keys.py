"""A key of the environment that a framework's LLM uses, when its server repeats it."""

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

from tcva_adapters import TCVA, Sample
from tests.deepeval.entry import hanging_up
from tests.support.server import ScriptedServer, error

KEY = "given-by-hand-0123456789"
"""It looks like none of the keys that are known by their looks."""

TEXT = "The office opens at nine."
SAMPLE = Sample(response=TEXT, contexts=(TEXT,))
SAID = {"claim": 1, "evidence": TEXT, "passage": 1, "reason": f"by {KEY}", "verdict": "fully"}

LLMS: dict[str, Callable[[str], Any]] = {
    "langchain": lambda url: ChatOpenAI(
        model="m", api_key=SecretStr(KEY), base_url=url, max_retries=0
    ),
    "ragas": lambda url: llm_factory(
        "m", client=openai.OpenAI(api_key=KEY, base_url=url, max_retries=0)
    ),
    "deepeval": lambda url: LocalModel(model="m", api_key=KEY, base_url=url),
}


@pytest.mark.parametrize("make", LLMS.values(), ids=LLMS)
def test_a_key_that_is_repeated_is_in_no_result_and_no_store(
    make: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    for n, answer in enumerate(
        (error(401, f"Incorrect API key provided: {KEY}."), json.dumps({"verdicts": [SAID]}))
    ):
        with ScriptedServer(hanging_up(lambda *_, said=answer: said)) as server:
            tcva = TCVA(judge=make(server.base_url), store=tmp_path / f"{n}.sqlite")
            result = tcva.evaluate(SAMPLE)
            assert server.count
        assert KEY not in result.to_json()
    stored = list(tmp_path.iterdir())
    assert stored
    assert not any(KEY.encode() in path.read_bytes() for path in stored)
