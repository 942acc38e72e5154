"""TCVAMetric in DeepEval's own entry points. The model is scripted, all else is real."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from deepeval.evaluate import assert_test
from deepeval.evaluate.types import EvaluationResult
from deepeval.metrics import BaseMetric, FaithfulnessMetric
from deepeval.models import LocalModel
from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn
from tests.deepeval.entry import (
    ScriptedLLM,
    arun,
    case_of,
    evaluated,
    hanging_up,
    own_loop,
    run,
    scripted,
)
from tests.support.scripted import ScriptedModel, verdict_json
from tests.support.server import Body, ScriptedServer

from tcva_adapters import TCVA, Sample
from tcva_adapters.deepeval import LexicalLLM, TCVAMetric, result_of, results_of
from tcva_adapters.errors import InvalidValueError, UnreadableInputError

OPENS = "The office opens at nine."
WORDS = ("fully", "mostly", "partial", "minor", "none")
SAMPLES = [
    Sample(
        input="When?",
        response=f"Claim number {i} here. {OPENS}",
        contexts=(f"Claim number {i} here. {OPENS}",),
        id=f"sample {i}",
    )
    for i in range(10)
]
both_ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


def reply(prompt: str) -> str:
    """A verdict that depends on the number of the sample."""
    number = int(prompt.split("Claim number ")[1].split(" ", maxsplit=1)[0])
    first = (1, WORDS[number % 5], f"Claim number {number} here.")
    return verdict_json(first, (2, "fully", OPENS))


def expected(samples: Sequence[Sample], **options: Any) -> list[float | None]:
    """What TCVA makes of the same replies."""
    return [
        TCVA(judge=ScriptedModel([reply(sample.response or "")]), **options).evaluate(sample).score
        for sample in samples
    ]


def metric_data(evaluation: EvaluationResult) -> list[Any]:
    tests = sorted(evaluation.test_results, key=lambda test: test.index or 0)
    return [data for test in tests for data in test.metrics_data or ()]


@both_ways
@pytest.mark.parametrize("temperature", [0.1, 0.6])
def test_scores_are_those_of_tcva_to_the_last_bit(asynchronous: bool, temperature: float) -> None:
    results = run(SAMPLES, reply, asynchronous=asynchronous, temperature=temperature)
    assert [r.score for r in results] == expected(SAMPLES, temperature=temperature)
    assert [r.assessment.sample_id for r in results] == [s.id for s in SAMPLES]


def test_awaited_measures_agree() -> None:
    results = asyncio.run(arun(SAMPLES, reply, temperature=0.6))
    assert [r.score for r in results] == expected(SAMPLES, temperature=0.6)


def test_evaluate_inside_a_running_loop_and_in_a_thread() -> None:
    plain = asyncio.run
    found: list[list[float | None]] = []

    def judge(*, asynchronous: bool = False) -> None:
        results = run(SAMPLES, reply, asynchronous=asynchronous)
        found.append([result.score for result in results])

    async def in_a_loop() -> None:
        judge()

    asyncio.run(in_a_loop())
    for asynchronous in (False, True):
        thread = threading.Thread(target=judge, kwargs={"asynchronous": asynchronous})
        thread.start()
        thread.join()
    assert found == [expected(SAMPLES)] * 3
    assert asyncio.run is plain


def test_results_keep_the_order_of_the_cases_however_they_finish() -> None:
    answered = defaultdict[int, asyncio.Event](asyncio.Event)

    class LastFirst(ScriptedLLM):  # type: ignore[no-untyped-call]  # as its base class
        """Answers sample i only when sample i + 1 is answered."""

        async def a_generate(self, prompt: str) -> str:
            number = int(prompt.split("Claim number ")[1].split(" ", maxsplit=1)[0])
            if number + 1 < len(SAMPLES):
                await answered[number + 1].wait()
            answered[number].set()
            return reply(prompt)

    metric = TCVAMetric(model=LastFirst(reply))
    evaluation = evaluated([case_of(sample) for sample in SAMPLES], [metric])
    results = results_of(evaluation)
    assert [r.assessment.sample_id for r in results] == [s.id for s in SAMPLES]
    assert [r.score for r in results] == expected(SAMPLES)
    assert [case.name for case, _ in metric.collected] == [s.id for s in reversed(SAMPLES)]


@both_ways
def test_the_store_is_shared_by_the_copies(asynchronous: bool, tmp_path: Path) -> None:
    llm = ScriptedLLM(reply)
    for _ in range(2):
        metric = TCVAMetric(model=llm, store=tmp_path / "verdicts.sqlite")
        cases = [case_of(sample) for sample in SAMPLES]
        evaluation = evaluated(cases, [metric], asynchronous=asynchronous)
        assert [r.score for r in results_of(evaluation)] == expected(SAMPLES)
        assert metric.store is not None
        metric.store.close()
    assert len(llm.prompts) == len(SAMPLES)


@both_ways
def test_one_request_per_case_where_the_native_metric_needs_four(asynchronous: bool) -> None:
    def script(body: Body, _: int) -> str:
        prompt = body["messages"][0]["content"]
        return reply(prompt) if "<<<CLAIM 1>>>" in prompt else str(LexicalLLM().generate(prompt))

    cases = [case_of(sample) for sample in SAMPLES[:3]]
    with ScriptedServer(hanging_up(script)) as server:
        llm = LocalModel(model="m", base_url=server.base_url, api_key="x")
        evaluated(cases, [TCVAMetric(model=llm)], asynchronous=asynchronous)
        assert server.count == len(cases)
        evaluated(cases, [FaithfulnessMetric(model=llm)], asynchronous=asynchronous)
        assert server.count == len(cases) + 4 * len(cases)


@both_ways
def test_verdicts_are_reachable_in_three_ways(asynchronous: bool) -> None:
    metric = TCVAMetric(model=ScriptedLLM(reply))
    cases = [case_of(sample) for sample in SAMPLES]
    evaluation = evaluated(cases, [metric], asynchronous=asynchronous)
    results = results_of(evaluation)
    assert [result_of(data) for data in metric_data(evaluation)] == results
    collected = {case.name: result for case, result in metric.collected}
    assert [collected[case.name] for case in cases] == results
    assert [str(r.claims[0].verdict) for r in results] == [*WORDS, *WORDS]


@both_ways
def test_what_deepeval_reports(asynchronous: bool) -> None:
    metric = TCVAMetric(model=ScriptedLLM(reply), threshold=0.9)
    good, bad = metric_data(
        evaluated([case_of(SAMPLES[0]), case_of(SAMPLES[4])], [metric], asynchronous=asynchronous)
    )
    assert (good.name, good.score, good.threshold, good.success) == (
        "TCVA faithfulness",
        1.0,
        0.9,
        True,
    )
    assert (bad.success, bad.error, bad.evaluation_model) == (False, None, "deepeval:scripted")
    assert bad.reason.startswith("0.250 < 0.9 at T=0.5: ")


@both_ways
def test_one_failing_case_does_not_end_the_run(asynchronous: bool) -> None:
    def one_fails(prompt: str) -> str:
        if "Claim number 1 here" in prompt:
            raise TimeoutError
        return reply(prompt)

    metric = TCVAMetric(model=ScriptedLLM(one_fails))
    cases = [case_of(sample) for sample in SAMPLES[:3]]
    first, second, third = metric_data(evaluated(cases, [metric], asynchronous=asynchronous))
    assert [first.score, third.score] == [expected(SAMPLES)[0], expected(SAMPLES)[2]]
    assert (second.score, second.success) == (None, False)
    assert second.error.startswith("timeout: ")
    unscored = result_of(second).unscored
    assert unscored is not None
    assert unscored.reason.value == "timeout"


@both_ways
def test_a_missing_field_follows_deepevals_error_settings(asynchronous: bool) -> None:
    cases = [case_of(SAMPLES[0]), LLMTestCase(input="q", actual_output="a", name="bare")]
    metric = TCVAMetric(model=ScriptedLLM(reply))
    kept = evaluated(cases, [metric], asynchronous=asynchronous, ignore_errors=True)
    good, bare = metric_data(kept)
    assert (good.score, bare.score) == (1.0, None)
    assert "'retrieval_context' cannot be None" in bare.error
    with pytest.raises(UnreadableInputError, match="'retrieval_context' cannot be None"):
        result_of(bare)
    skipped = evaluated(cases, [metric], asynchronous=asynchronous, skip_on_missing_params=True)
    assert len(metric_data(skipped)) == 1


@both_ways
def test_beside_the_native_metric_and_at_two_temperatures(asynchronous: bool) -> None:
    metrics = [
        FaithfulnessMetric(model=LexicalLLM()),
        TCVAMetric(model="lexical", temperature=0.2, name="strict"),
        TCVAMetric(model="lexical", temperature=0.9, name="lenient"),
    ]
    evaluation = evaluated([case_of(SAMPLES[0])], metrics, asynchronous=asynchronous)
    assert {data.name: data.score for data in metric_data(evaluation)} == {
        "Faithfulness": 1.0,
        "strict": 1.0,
        "lenient": 1.0,
    }
    assert results_of(evaluation, "strict")[0].scoring.temperature == 0.2
    with pytest.raises(InvalidValueError, match="it has Faithfulness, strict, lenient"):
        results_of(evaluation)


def test_conversations_are_refused() -> None:
    conversation = ConversationalTestCase(turns=[Turn(role="user", content="Hello")])
    wrong: Any = [conversation]
    with pytest.raises(ValueError, match="not a valid metric for ConversationalTestCase"):
        evaluated(wrong, [TCVAMetric(model="lexical")])


# DeepEval's cache


@both_ways
def test_the_cache_serves_verdicts_and_notices_another_temperature(asynchronous: bool) -> None:
    case = case_of(
        SAMPLES[3].model_copy(update={"input": f"Cached, {'async' if asynchronous else 'sync'}?"})
    )
    llm = ScriptedLLM(reply)

    def judged(**options: Any) -> Any:
        metric = TCVAMetric(model=llm, **options)
        evaluation = evaluated([case], [metric], asynchronous=asynchronous, use_cache=True)
        return results_of(evaluation)[0]

    first, again = judged(), judged()
    assert len(llm.prompts) == 1
    assert again == first
    changed = judged(temperature=0.9)
    assert len(llm.prompts) == 2
    assert changed.score == first.at(0.9).score != first.score
    judged(penalty="off")
    judged(max_claims=2)
    assert len(llm.prompts) == 4


@both_ways
def test_failures_are_not_cached(asynchronous: bool) -> None:
    case = case_of(
        SAMPLES[0].model_copy(update={"input": f"Failed, {'async' if asynchronous else 'sync'}?"})
    )
    llm = scripted(TimeoutError("slow"), reply("Claim number 0 here"))
    for score in (None, 1.0):
        metric = TCVAMetric(model=llm)
        (data,) = metric_data(
            evaluated([case], [metric], asynchronous=asynchronous, use_cache=True)
        )
        assert data.score == score


# assert_test and the command


@both_ways
def test_assert_test(asynchronous: bool) -> None:
    metric = TCVAMetric(model=ScriptedLLM(reply))
    metrics: list[BaseMetric] = [metric]
    said = r"TCVA faithfulness \(score: 0\.25, threshold: 0\.5"
    with own_loop():
        assert_test(case_of(SAMPLES[0]), metrics, run_async=asynchronous)
        with pytest.raises(AssertionError, match=said):
            assert_test(case_of(SAMPLES[4]), metrics, run_async=asynchronous)
    assert [result.score for _, result in metric.collected] == [1.0, 0.25]


def test_deepeval_test_run(tmp_path: Path) -> None:
    suite = tmp_path / "test_suite.py"
    suite.write_text(
        "import pytest\n"
        "from deepeval import assert_test\n"
        "from deepeval.test_case import LLMTestCase\n"
        "from tcva_adapters.deepeval import TCVAMetric\n"
        "OPENS = 'The office opens at nine.'\n"
        "@pytest.mark.parametrize('answer', [OPENS, 'Bananas ripen quickly.'])\n"
        "def test_answer(answer):\n"
        "    case = LLMTestCase(input='When?', actual_output=answer, retrieval_context=[OPENS])\n"
        "    assert_test(case, [TCVAMetric(model='lexical')])\n"
    )
    source = str(Path(__file__).resolve().parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", "from deepeval.cli.main import app; app()", "test", "run", suite],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": source, "DEEPEVAL_CACHE_FOLDER": str(tmp_path)},
    )
    assert done.returncode == 1, done.stderr
    assert "Passed: 1 | Failed: 1" in done.stdout
    assert "TCVA faithfulness (score: 0.0, threshold: 0.5" in " ".join(done.stdout.split())
