"""Results that RAGAS and its frames carry are read back, in another process where that is the use."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ragas import evaluate
from ragas.dataset_schema import EvaluationResult

from tcva_adapters import CCRS, TCVA, Result, Sample
from tcva_adapters.compare import read_scores
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.ragas import ScorerMetric, TCVAMetric, results_of, results_to_pandas
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.judgement import Reason
from tests.ragas.entry import ScriptedLLM, dataset_of, evaluated
from tests.support.scripted import verdict_json

# RAGAS announces the end of its main function on every call.
pytestmark = pytest.mark.filterwarnings(
    r"ignore:a?evaluate\(\) is deprecated:DeprecationWarning"
)

SAMPLES = [
    Sample(
        input="When does the office open?",
        response='The office opens at nine, "sharp".\nParking costs money, 三 euros.',
        contexts=("The office opens at nine, sharp.", "Parking is free."),
    ),
    Sample(
        input="Boom?",
        response="The office opens at ten.",
        contexts=("It opens at nine.",),
    ),
    Sample(input="Empty?", response="The office opens at ten.", contexts=(" ",)),
]


def reply(prompt: str) -> str:
    if "Boom" in prompt:
        msg = "down"
        raise ConnectionError(msg)
    return verdict_json((1, "fully", "opens at nine"), (2, "minor", ""))


def evaluation() -> EvaluationResult:
    llm = ScriptedLLM(reply)
    metrics: list[Any] = [
        *(TCVAMetric(llm=llm, temperature=each) for each in (0.2, 0.9)),
        ScorerMetric(CCRS("qr", judge="lexical")),
    ]
    return evaluated(metrics, *SAMPLES)


NAMES = ["tcva_faithfulness(T=0.2)", "tcva_faithfulness(T=0.9)", "ccrs_qr"]

READ = """
import sys
import pandas as pd
from tcva_adapters.ragas import results_of
folder, *names = sys.argv[1:]
for kind in ("csv", "parquet", "json"):
    frame = getattr(pd, f"read_{kind}")(f"{folder}/scores.{kind}")
    for name in names:
        for result in results_of(frame, name):
            print(result.to_json())
"""


@pytest.mark.slow
def test_a_frame_that_was_written_is_read_in_another_process(tmp_path: Path) -> None:
    found = evaluation()
    frame = results_to_pandas(found)
    ours = [column for name in NAMES for column in (name, f"{name}_result")]
    assert list(frame.columns) == [*found.dataset.to_pandas().columns, *ours]
    assert frame[NAMES].equals(found.to_pandas()[NAMES])
    frame.to_csv(tmp_path / "scores.csv", index=False)
    frame.to_parquet(tmp_path / "scores.parquet", index=False)
    frame.to_json(tmp_path / "scores.json")
    expected = [result for name in NAMES for result in results_of(found, name)]
    assert [result for name in NAMES for result in results_of(frame, name)] == expected
    command = [sys.executable, "-c", READ, str(tmp_path), *NAMES]
    said = subprocess.check_output(command, text=True, encoding="utf-8")
    results = [read_result(line) for line in said.splitlines()]
    assert results == expected * 3
    assert [r.usage.calls for r in results] == [r.usage.calls for r in expected] * 3


def test_every_way_of_a_result_through_ragas_is_without_loss() -> None:
    found = evaluation()
    scores = [row[NAMES[0]] for row in found.scores]
    results = results_of(found, NAMES[0])
    assert results[0] == scores[0].result
    reasons = [r.unscored and r.unscored.reason.value for r in results]
    assert reasons == [None, "judge_error", "empty_context"]
    first = results[0]
    assert isinstance(first, Result)
    assert first.at(0.9) == results_of(found, NAMES[1])[0]
    outputs = [row[NAMES[0]]["tcva_judgement"]["output"] for row in found.traces]
    traced = json.loads(json.dumps(outputs))
    assert [read_result(each) for each in traced] == results


def test_a_frame_without_results_says_which_metrics_there_are() -> None:
    frame = results_to_pandas(evaluation())
    with pytest.raises(
        InvalidValueError, match=r"pass what evaluate\(\) or results_to_pandas"
    ):
        results_of(evaluation().to_pandas(), NAMES[0])
    nothing: Any = None
    with pytest.raises(TypeError, match=r"evaluation must be .*got None"):
        results_of(nothing)
    frame["ccrs_qr_result"] = ["{}", None, "x"]
    with pytest.raises(UnreadableInputError):
        results_of(frame, "ccrs_qr")


def test_scores_of_such_a_frame_are_imported_under_their_names(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    results_to_pandas(evaluation()).to_csv(path, index=False)
    assert list(read_scores(path).methods) == [f"imported {name}" for name in NAMES]


@pytest.mark.filterwarnings(
    "ignore:Pydantic serializer warnings:UserWarning"
)  # of RAGAS' row
def test_rows_that_ragas_never_handed_over_keep_their_place() -> None:
    data = dataset_of([SAMPLES[0], SAMPLES[0]])
    row: Any = data.samples[0]
    row.response = {
        "text": "The office opens at nine."
    }  # pydantic checks no assignment
    metrics: Any = [
        TCVAMetric(llm="lexical"),
        ScorerMetric(CCRS("qr", judge="lexical")),
    ]
    quiet: Any = {"show_progress": False, "allow_nest_asyncio": False}
    found: Any = evaluate(data, metrics=metrics, **quiet)
    refused, judged = results_of(found, "tcva_faithfulness")
    assert judged == TCVA(judge="lexical").evaluate(SAMPLES[0])
    assert refused.score is None
    assert refused.unscored is not None
    assert refused.unscored.reason is Reason.INVALID_INPUT
    assert results_of(results_to_pandas(found), "tcva_faithfulness") == [
        refused,
        judged,
    ]
    assert results_of(found, "ccrs_qr")[0].unscored == refused.unscored
