"""What judging will cost, against what it then costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.ccrs import CCRS
from tcva_adapters.cost import cost
from tcva_adapters.data import sample_lines
from tcva_adapters.models.protocol import JudgeRequest, ModelReply
from tcva_adapters.results.store import VerdictStore
from tests.support.lexical_server import lexical_reply

SAMPLES = [Sample.from_record(json.loads(line)) for line in sample_lines()]


class Counting:
    """Answers like a good model, and counts what it is asked."""

    name = "counting"
    parameters: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.calls = self.prompts = 0

    def complete(self, request: JudgeRequest) -> ModelReply:
        self.calls += 1
        self.prompts += len((request.system + request.user).encode())
        if request.schema_name == "ccrs_score":
            return ModelReply('{"score": 50}')
        return ModelReply(lexical_reply(request.user) or "")

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        return self.complete(request)


@pytest.mark.parametrize(
    "scorer_of", [lambda judge: TCVA(judge=judge), lambda judge: CCRS(("qr", "ir"), judge=judge)]
)
def test_calls_and_prompts_are_those_that_are_then_made(scorer_of: Any, tmp_path: Path) -> None:
    model = Counting()
    scorer = scorer_of(model).changed(store=VerdictStore(tmp_path / "store"), share=False)
    (found,) = cost({"tcva": scorer}, SAMPLES, prices=(2.0, 8.0)).records("calls")
    assert model.calls == 0
    scorer.evaluate_many(SAMPLES)
    assert (found["cached"], found["calls"]) == (0, model.calls)
    assert found["prompt_tokens"] == model.prompts // 4
    priced = (found["prompt_tokens"] * 2 + found["reply_tokens"] * 8) / 1e6
    assert found["cost"] == pytest.approx(priced)
    (again,) = cost({"tcva": scorer}, SAMPLES).records("calls")
    assert (again["cached"] >= model.calls, again["calls"]) == (True, 0)
