"""What RAGAS' traces, callbacks and cost see of a judgement."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel

from tcva_adapters.ragas import TCVAMetric
from tests.ragas.entry import COLUMN, ScriptedLLM, evaluated
from tests.support.office import TWO


def test_traces_can_be_written_as_json() -> None:
    result = evaluated([TCVAMetric(llm=ScriptedLLM(lambda _: TWO))])
    names = [run.name for run in result.ragas_traces.values()]
    assert names == ["ragas evaluation", "row 0", COLUMN, "tcva_judgement"]
    (trace,) = (r for r in result.ragas_traces.values() if r.name == "tcva_judgement")
    verdicts = trace.model_dump(mode="json")["outputs"]["output"][0]["claims"]
    assert json.loads(json.dumps(verdicts))[1]["verdict"] == "minor"


def test_the_judge_call_is_nested_in_the_metrics_trace() -> None:
    class Listener(BaseCallbackHandler):
        def __init__(self) -> None:
            self.names: dict[Any, str] = {}
            self.model_parents: list[Any] = []

        def on_chain_start(self, serialized: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            del args
            self.names[kwargs["run_id"]] = serialized["name"]

        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            del args
            self.model_parents.append(self.names[kwargs["parent_run_id"]])

    listener = Listener()
    evaluated([TCVAMetric()], llm=FakeListChatModel(responses=[TWO]), callbacks=[listener])
    assert listener.model_parents == ["tcva_judgement"]
