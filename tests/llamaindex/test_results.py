"""Results as LlamaIndex carries them, and read back: in memory, from JSON, of earlier versions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.evaluation import BatchEvalRunner, EvaluationResult
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index_instrumentation import root_dispatcher
from pydantic import PrivateAttr

from tcva_adapters import CCRS, TCVA, Result, Verdict
from tcva_adapters.ccrs import CCRSResult
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.llamaindex import (
    ScorerEvaluationEndEvent,
    ScorerEvaluationResult,
    ScorerEvaluator,
    TCVAEvaluator,
    result_of,
)
from tcva_adapters.results.protocol import read_result
from tests.llamaindex.entry import scripted
from tests.llamaindex.office import evaluated
from tests.support.office import TWO

QUERY = "When does the office open?"
RESPONSE = "The office opens at nine. Dogs bark."
CONTEXTS = ["The office opens at nine on weekdays."]


def evaluations() -> list[ScorerEvaluationResult[Any]]:
    """One of each kind: scored, fused, rated, and without a score."""
    scorers: list[Any] = [
        TCVA(judge="lexical", temperature="strict", scheme="linear"),
        TCVA(judge="lexical", fuse=TCVA("answer_relevancy", judge="lexical")),
        CCRS("qr", judge="lexical", threshold=0.9),
    ]
    found = [ScorerEvaluator(each).evaluate(QUERY, RESPONSE, CONTEXTS) for each in scorers]
    return [*found, ScorerEvaluator(scorers[0]).evaluate(QUERY, RESPONSE, [])]


@pytest.mark.parametrize("evaluation", evaluations())
def test_the_result_is_there_however_it_was_carried(evaluation: Any) -> None:
    result = evaluation.result
    assert result_of(evaluation) is result
    assert evaluation.score == result.score
    for carried in (
        evaluation.model_dump(),
        evaluation.model_dump(mode="json"),
        evaluation.model_dump_json(),
        result.to_json(),
    ):
        assert result_of(carried) == result
    again = ScorerEvaluationResult[Any].model_validate_json(evaluation.model_dump_json())
    assert again.model_dump() == evaluation.model_dump()


@pytest.mark.slow
def test_a_batch_that_was_written_is_read_in_another_process(tmp_path: Path) -> None:
    runner = BatchEvalRunner(
        {"tcva": TCVAEvaluator("lexical"), "qr": ScorerEvaluator(CCRS("qr", judge="lexical"))}
    )
    found = runner.evaluate_response_strs(
        queries=[QUERY] * 2, response_strs=[RESPONSE] * 2, contexts_list=[CONTEXTS, []]
    )
    path = tmp_path / "batch.json"
    rows = {name: [each.model_dump(mode="json") for each in of] for name, of in found.items()}
    path.write_text(json.dumps(rows), encoding="utf-8")
    script = (
        "import json, sys; from tcva_adapters.llamaindex import result_of\n"
        "rows = json.load(open(sys.argv[1], encoding='utf-8'))\n"
        "for name in rows:\n"
        "    for row in rows[name]: print(result_of(row).to_json())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    read = [read_result(line) for line in done.stdout.splitlines()]
    assert read == [result_of(each) for of in found.values() for each in of]
    assert [type(each) for each in read] == [Result, Result, CCRSResult, CCRSResult]


class Recorder(BaseEventHandler):
    """Writes events down, as handlers that send them somewhere do."""

    _lines: list[str] = PrivateAttr(default_factory=list)

    def handle(self, event: BaseEvent, **_: Any) -> None:
        if isinstance(event, ScorerEvaluationEndEvent):
            assert result_of(event) is event.result.result
            self._lines.append(event.model_dump_json())


def test_an_event_that_was_written_down_holds_the_result() -> None:
    recorder = Recorder()
    root_dispatcher.event_handlers.append(recorder)
    try:
        result = TCVAEvaluator("lexical").evaluate(QUERY, RESPONSE, CONTEXTS).result
    finally:
        root_dispatcher.event_handlers.remove(recorder)
    (line,) = recorder._lines
    assert result_of(line) == result


EARLIER_TCVA = r"""{"query":"When?","contexts":["The office opens at nine on weekdays."],"response":
"The office opens at nine. Parking costs money.","passing":true,"feedback":"0.338 >= 0.3","score":
0.3379855025977104,"pairwise_source":null,"invalid_result":false,"invalid_reason":null,"assessment":
{"schema_version":1,"criterion":"faithfulness","judge":"llamaindex:scripted","prompt_version":
"tcva/1","claims":[{"claim":"The office opens at nine.","verdict":"partial","evidence":"opens at ten",
"reason":"r (quote not found in the passages: lowered from fully)","passage":null,"judged":"fully",
"probabilities":null},{"claim":"Parking costs money.","verdict":"minor","evidence":"","reason":"r",
"passage":1,"judged":null,"probabilities":null}],"unscored":null,"usage":{"calls":1,"input_tokens":10,
"output_tokens":5,"retries":0,"seconds":0.0005,"cost":null},"sample_id":null,"metadata":
{"domain":"docs"},"from_store":false,"members":[],"panel":[]},"scoring":{"temperature":0.2,
"threshold":0.3,"scheme":{"name":"default","weights":[1.0,0.9,0.7,0.3,0.0]},"penalty":"paper","eps":
1e-9,"floor":"paper","on_unscored":null,"bounds":{"p_min":-8.0,"p_max":12.25,"t_min":0.1,"t_max":1.0},
"fusion":{"temperature":null,"weights":null},"mapping":null}}"""
"""As the first version dumped an evaluation, with the first layout of its assessment."""

EARLIER_CCRS = r"""{"query":"When?","contexts":["The office opens at nine."],"response":"At nine.",
"passing":false,"feedback":"answer correctness 0.240","score":0.24000000000000005,"pairwise_source":
null,"invalid_result":false,"invalid_reason":null,"rated":{"schema_version":1,"judge":
"llamaindex:scripted","protocol":"single","answers":{"ac":{"metric":"ac","judge":
"llamaindex:scripted","prompt_version":"ccrs/1","protocol":"single","rating":80.0,"unscored":null,
"replies":["{\"score\": 80}"],"usage":{"calls":1,"input_tokens":10,"output_tokens":5,"retries":0,
"seconds":0.0003,"cost":null},"from_store":false}},"exact":false,"em":"strict","lambda_":0.7,
"sample_id":null,"metadata":{}}}"""
"""As the first version dumped a rated evaluation."""


def test_what_earlier_versions_carried_stays_readable() -> None:
    judged = result_of(EARLIER_TCVA)
    assert isinstance(judged, Result)
    assert (judged.score, judged.passed) == (0.3379855025977104, True)
    assert [claim.verdict for claim in judged.claims] == [Verdict.PARTIAL, Verdict.MINOR]
    assert judged.claims[0].original_verdict is Verdict.FULLY
    assert (judged.scoring.temperature, judged.assessment.metadata) == (0.2, {"domain": "docs"})
    rated = result_of(json.loads(EARLIER_CCRS))
    assert isinstance(rated, CCRSResult)
    assert (rated.score, rated.exact, rated.lambda_) == (0.24000000000000005, False, 0.7)


@pytest.mark.parametrize(
    "other", [EvaluationResult(score=1.0), {"score": 1.0}, "not JSON", 5, None, {"rated": None}]
)
def test_what_holds_no_result_is_named(other: Any) -> None:
    with pytest.raises(UnreadableInputError, match="not a"):
        result_of(other)


def test_the_result_survives_json() -> None:
    result = evaluated(TCVAEvaluator(scripted(TWO), temperature="strict", scheme="linear"))
    again: ScorerEvaluationResult[Result]
    again = ScorerEvaluationResult.model_validate_json(result.model_dump_json())
    assert again == result
    assert again.at(0.9).score == result.at(0.9).score
