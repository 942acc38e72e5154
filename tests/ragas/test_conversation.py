"""What only RAGAS has of conversations: LLMs that are lent, NaN, waits and frames."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements
import pytest

from tcva_adapters import Conversation
from tcva_adapters.errors import InvalidSampleError, JudgeError
from tcva_adapters.ragas import TCVAMultiTurnMetric, results_of, results_to_pandas
from tests.adapters.test_conversations import BEGUN, MESSAGES, TALK, reply
from tests.ragas.entry import ENDS_ALL, ScriptedLLM, dataset_of, evaluated

# RAGAS announces the end of its main function on every use.
pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")

BARE = Conversation.from_messages([said for said in MESSAGES if said[0] != "tool"])


def test_the_llm_of_evaluate_judges_and_what_cannot_be_judged_is_nan(
    tmp_path: Path,
) -> None:
    llm = ScriptedLLM(reply)
    metrics: Any = [
        TCVAMultiTurnMetric(temperature=each) for each in ("strict", "lenient")
    ]
    found = evaluated(metrics, TALK, BARE, llm=llm)
    assert (len(llm.prompts), metrics[0].llm) == (2, None)
    results_to_pandas(found).to_csv(tmp_path / "scores.csv")
    for metric in metrics:
        scores, results = found[metric.name], results_of(found, metric.name)
        assert (scores[0], math.isnan(scores[1])) == (results[0].score, True)
        assert (
            "missing_field: the conversation has no tool messages" in results[1].reason
        )
        assert results_of(pd.read_csv(tmp_path / "scores.csv"), metric.name) == results
    with pytest.raises(
        InvalidSampleError, match="no tool messages, which faithfulness needs"
    ):
        evaluated(metrics[:1], TALK, BARE, llm=llm, raise_exceptions=True)
    with pytest.raises(ValueError, match=r"additional columns \['reference'\]"):
        evaluated([TCVAMultiTurnMetric(llm="lexical", criterion="correctness")], TALK)


def test_one_conversation_is_scored_without_and_within_a_loop() -> None:
    row: Any = dataset_of([BEGUN]).samples[0]

    async def both() -> tuple[float, float]:
        metric = TCVAMultiTurnMetric(llm=ScriptedLLM(reply))
        return metric.multi_turn_score(row), await metric.multi_turn_ascore(row)

    metric = TCVAMultiTurnMetric(llm=ScriptedLLM(reply))
    assert {metric.multi_turn_score(row), *asyncio.run(both())} == {0.65}
    with pytest.raises(JudgeError, match="turn 1: "):
        metric.changed(llm=ScriptedLLM(lambda _: "Nice.")).multi_turn_score(row)


def test_a_wait_that_ragas_ends_is_a_timeout_and_the_turns_are_asked_again() -> None:
    llm = ScriptedLLM(reply)
    llm.hangs = True
    metrics: Any = [TCVAMultiTurnMetric(llm=llm)]
    (ended,) = results_of(evaluated(metrics, TALK, run_config=ENDS_ALL))
    assert (ended.kind, ended.reason.partition(": ")[2][:7]) == (
        "conversation",
        "timeout",
    )
    llm.hangs = False
    assert results_of(evaluated(metrics, TALK))[0].usage.calls == 2
