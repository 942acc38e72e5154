"""Results read back from what DeepEval reports and from the files that it writes."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from deepeval.evaluate import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from tcva_adapters import CCRS, Result
from tcva_adapters.ccrs import CCRSResult
from tcva_adapters.deepeval import ScorerMetric, TCVAMetric, result_of, results_of
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import Reason
from tests.deepeval.entry import OPENS, own_loop

ROOT = Path(__file__).resolve().parents[2]
STRICT, RELEVANCE = "TCVA faithfulness (T=0.2)", "CCRS question relevance"


def cases() -> list[LLMTestCase]:
    answers = {"good": OPENS, "half": f"{OPENS} Bananas ripen quickly.", "mute": ""}
    found = [
        LLMTestCase(
            input="When does it open?",
            actual_output=answer,
            retrieval_context=[OPENS],
            name=name,
            metadata={"domain": "hours"},
        )
        for name, answer in answers.items()
    ]
    return [*found, LLMTestCase(input="Where?", actual_output="There.", name="bare")]


@pytest.fixture(scope="module", params=[False, True], ids=["sync", "async"])
def stored(request: Any, tmp_path_factory: Any) -> Any:
    """What `evaluate` returned, and the two files that it left."""
    folder = tmp_path_factory.mktemp("runs")
    environment = pytest.MonkeyPatch()
    environment.setenv("DEEPEVAL_RESULTS_FOLDER", str(folder))
    try:
        metrics: list[BaseMetric] = [TCVAMetric(temperature=0.2, model="lexical")]
        metrics.append(ScorerMetric(CCRS("qr", judge="lexical")))
        with own_loop():
            returned = evaluate(
                test_cases=cases(),
                metrics=metrics,
                async_config=AsyncConfig(run_async=request.param),
                display_config=DisplayConfig(show_indicator=False, print_results=False),
                error_config=ErrorConfig(skip_on_missing_params=True),
            )
    finally:
        environment.undo()
    latest = folder / "latest.json"
    kept = Path(os.environ["DEEPEVAL_CACHE_FOLDER"]) / ".latest_test_run.json"
    latest.write_bytes(kept.read_bytes())
    return returned, latest, next(folder.glob("test_run_*.json"))


def test_the_files_hold_what_evaluate_returned(stored: Any) -> None:
    returned, *files = stored
    for name, kind in ((STRICT, Result), (RELEVANCE, CCRSResult)):
        results = results_of(returned, name)
        assert {type(result) for result in results} == {kind}
        assert [result.sample_id for result in results[:3]] == ["good", "half", "mute"]
        for file in files:
            assert results_of(file, name) == results_of(str(file), name) == results
    skipped = results_of(returned, STRICT)[3]
    assert skipped.unscored.reason is Reason.MISSING_FIELD
    assert skipped.scoring.temperature == 0.2
    with pytest.raises(InvalidValueError, match=rf"several metrics .*'TCVA.*', '{RELEVANCE}'"):
        results_of(files[0])


@pytest.mark.parametrize("content", ["no JSON", "[]", '{"testCases": 3}', '{"testRunData": []}'])
def test_other_files_are_no_test_runs(content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(UnreadableInputError, match="not a test run of DeepEval"):
        results_of(path)
    with pytest.raises(UnreadableInputError, match=r"absent.json"):
        results_of(tmp_path / "absent.json")


def test_an_error_after_the_measurement_is_the_time_limit() -> None:
    metric = TCVAMetric(model="lexical")
    metric.measure(cases()[0])
    ended = SimpleNamespace(verbose_logs=metric.verbose_logs, error="Skipped due to case timeout.")
    result = result_of(ended)
    assert result.unscored.reason is Reason.TIMEOUT
    assert result.unscored.detail == "Skipped due to case timeout."


@pytest.mark.parametrize("logs", ["Truths (limit=None):\n[]", "{}", ""])
def test_logs_of_other_metrics_are_no_result(logs: str) -> None:
    metric = TCVAMetric(model="lexical")
    metric.verbose_logs = logs
    with pytest.raises(UnreadableInputError, match="no result of tcva-adapters"):
        result_of(metric)
