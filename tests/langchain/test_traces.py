"""What callbacks, usage handlers and event streams of LangChain see of a judgement."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.langchain import TCVAEvaluator
from tests.langchain.entry import scripted
from tests.langchain.office import RECORD
from tests.support.office import TWO


class Recorder(BaseCallbackHandler):
    """Keeps which run started under which, with tags and metadata."""

    def __init__(self) -> None:
        self.runs: dict[Any, dict[str, Any]] = {}

    def on_chain_start(self, *_: Any, **kwargs: Any) -> None:
        self._keep(kwargs)

    def on_chat_model_start(self, *_: Any, **kwargs: Any) -> None:
        self._keep(kwargs)

    def _keep(self, kwargs: dict[str, Any]) -> None:
        self.runs[kwargs["run_id"]] = kwargs

    def parent_of(self, name: str) -> str:
        (found,) = (run for run in self.runs.values() if run["name"] == name)
        return str(self.runs[found["parent_run_id"]]["name"])


def test_the_judge_call_is_traced_as_a_child_with_tags_and_metadata() -> None:
    seen = Recorder()
    chain = RunnablePassthrough.assign(tcva=TCVAEvaluator(scripted(TWO)))
    config: Any = {"callbacks": [seen], "tags": ["nightly"], "metadata": {"team": "docs"}}
    chain.invoke(RECORD, config)
    assert seen.parent_of("tcva_judge") == "TCVAEvaluator"
    judge = next(r for r in seen.runs.values() if r["name"] == "tcva_judge")
    assert {"nightly", "nostream"} <= set(judge["tags"])
    assert judge["metadata"]["team"] == "docs"


def test_the_judge_call_is_traced_in_async_chains_too() -> None:
    seen = Recorder()
    chain = RunnableLambda(lambda x: x) | TCVAEvaluator(scripted(TWO), name="faithful")
    asyncio.run(chain.ainvoke(RECORD, {"callbacks": [seen]}))
    assert seen.parent_of("tcva_judge") == "faithful"


def test_the_name_in_traces_may_be_set() -> None:
    evaluator = TCVAEvaluator("lexical")
    evaluator.name = "checked"
    assert evaluator.get_name() == "checked"
    with pytest.raises(InvalidValueError, match="name=7; a text"):
        evaluator.name = 7  # type: ignore[assignment]  # the point


def test_usage_handlers_see_the_judges_tokens() -> None:
    usage = UsageMetadataCallbackHandler()
    TCVAEvaluator(scripted(TWO)).invoke(RECORD, {"callbacks": [usage]})
    assert usage.usage_metadata["scripted-2026-01-01"]["total_tokens"] == 15


def test_streaming_events_show_evaluator_and_judge() -> None:
    async def names() -> list[tuple[str, str]]:
        events = TCVAEvaluator(scripted(TWO)).astream_events(RECORD, version="v2")
        return [(event["event"], event["name"]) async for event in events]

    seen = asyncio.run(names())
    assert ("on_chat_model_end", "tcva_judge") in seen
    assert seen[-1] == ("on_chain_end", "TCVAEvaluator")
