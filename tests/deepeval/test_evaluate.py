"""TCVAMetric in DeepEval's own entry points. The model is scripted, all else is real."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from deepeval.dataset import EvaluationDataset, Golden
from deepeval.errors import MissingTestCaseParamsError
from deepeval.evaluate import assert_test, evaluate
from deepeval.evaluate.configs import (
    AsyncConfig,
    CacheConfig,
    DisplayConfig,
    ErrorConfig,
)
from deepeval.evaluate.execute import e2e
from deepeval.evaluate.types import EvaluationResult
from deepeval.metrics import BaseMetric, FaithfulnessMetric
from deepeval.test_case import LLMTestCase
from deepeval.tracing import observe, update_current_span

from tcva_adapters import CCRS, TCVA, CCRSResult, Result, Sample
from tcva_adapters.deepeval import (
    LexicalLLM,
    ScorerMetric,
    TCVAMetric,
    result_of,
    results_of,
)
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.judgement import Reason
from tests.deepeval.entry import (
    OPENS,
    ScriptedLLM,
    case_of,
    evaluated,
    own_loop,
    scripted,
)
from tests.support.scripted import ScriptedModel, verdict_json

WORDS = ("fully", "mostly", "partial", "minor", "none")
TEXTS = {f"sample {i}": f"Claim number {i} here. {OPENS}" for i in range(10)}
SAMPLES = [
    Sample(input="When?", response=t, contexts=(t,), id=i) for i, t in TEXTS.items()
]
both_ways = pytest.mark.parametrize(
    "asynchronous", [False, True], ids=["sync", "async"]
)


def reply(prompt: str) -> str:
    """A verdict that depends on the number of the sample."""
    number = int(prompt.split("Claim number ")[1].split(" ", maxsplit=1)[0])
    first = (1, WORDS[number % 5], f"Claim number {number} here.")
    return verdict_json(first, (2, "fully", OPENS))


def expected(samples: Sequence[Sample], **options: Any) -> list[float | None]:
    """What TCVA makes of the same replies."""
    tcva = TCVA(judge=ScriptedModel(lambda asked: reply(asked.user)), **options)
    return [tcva.evaluate(sample).score for sample in samples]


def metric_data(evaluation: EvaluationResult) -> list[Any]:
    tests = sorted(evaluation.test_results, key=lambda test: test.index or 0)
    return [data for test in tests for data in test.metrics_data or ()]


@both_ways
def test_deepevals_report_and_three_ways_to_the_verdicts(
    asynchronous: bool,
) -> None:
    metric = TCVAMetric(model=ScriptedLLM(reply), threshold=0.9)
    cases = [case_of(sample) for sample in SAMPLES]
    evaluation = evaluated(cases, [metric], asynchronous=asynchronous)
    results = results_of(evaluation)
    data = metric_data(evaluation)
    assert list(map(result_of, data)) == results
    collected = {case.name: result for case, result in metric.collected}
    assert [collected[case.name] for case in cases] == results
    assert [str(r.claims[0].verdict) for r in results] == [*WORDS, *WORDS]
    good, bad = data[0], data[4]
    name = "TCVA faithfulness (threshold=0.9)"
    assert (good.name, good.score, good.threshold) == (name, 1.0, 0.9)
    assert (good.success, bad.success, bad.error) == (True, False, None)
    assert bad.evaluation_model == "deepeval:scripted"
    assert bad.reason.startswith("0.250 < 0.9 at T=0.5: ")


@both_ways
def test_a_missing_field_follows_deepevals_error_settings(asynchronous: bool) -> None:
    bare = LLMTestCase(input="q", actual_output="a", name="bare")
    cases = [case_of(SAMPLES[0]), bare, case_of(SAMPLES[2])]
    first, _, third = expected(SAMPLES[:3])
    metric = TCVAMetric(model=ScriptedLLM(reply))
    with pytest.raises(MissingTestCaseParamsError, match="'retrieval_context'"):
        evaluated(cases, [metric], asynchronous=asynchronous)
    for setting, said, reported in (
        (
            "ignore_errors",
            "'retrieval_context' cannot be None for the 'TCVA faithfulness'",
            3,
        ),
        ("skip_on_missing_params", "DeepEval skipped 'bare': a field", 2),
    ):
        evaluation = evaluated(
            cases, [metric], asynchronous=asynchronous, **{setting: True}
        )
        results = results_of(evaluation, metric.name)
        assert [result.score for result in results] == [first, None, third]
        lacking = results[1].unscored
        assert lacking.reason is Reason.MISSING_FIELD
        assert lacking.detail.startswith(said)
        assert results[1].scoring == results[0].scoring
        assert results[1].assessment.judge == results[0].assessment.judge
        found = metric_data(evaluation)
        assert ([data.error is None for data in found].count(True), len(found)) == (
            2,
            reported,
        )
        assert reported == 2 or result_of(found[1]) == results[1]


@pytest.mark.slow
@both_ways
def test_a_measurement_that_a_time_limit_ended(
    asynchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # DeepEval asks for the limit where a test case begins. The two that are answered have all the
    # time they need: with one short limit for all, a busy machine ended them as well.
    limits = iter((60.0, 1.0, 60.0))
    monkeypatch.setattr(e2e, "get_per_task_timeout_seconds", lambda: next(limits))
    ended = threading.Event()

    class Hanging(ScriptedLLM):  # type: ignore[no-untyped-call]  # as its base class
        """Does not answer about sample 1 before the test has ended."""

        def generate(self, prompt: str) -> str:
            if "Claim number 1 here" in prompt:
                ended.wait(60)
            return reply(prompt)

        async def a_generate(self, prompt: str) -> str:
            self.hangs = "Claim number 1 here" in prompt
            return await super().a_generate(prompt)

    metrics = [
        TCVAMetric(model=Hanging(reply)),
        TCVAMetric(model=Hanging(reply), temperature=0.9),
        # Here no success tells DeepEval which test cases were finished.
        TCVAMetric(model=Hanging(reply), threshold=None, name="unlimited"),
    ]
    cases = [case_of(sample) for sample in SAMPLES[:3]]
    threads = threading.enumerate()
    try:
        evaluation = evaluated(
            cases, metrics, asynchronous=asynchronous, ignore_errors=True
        )
        for metric in metrics:
            first, second, third = results_of(evaluation, metric.name)
            scores = expected(SAMPLES[:3], temperature=metric.temperature)
            assert [first.score, third.score] == [scores[0], scores[2]]
            assert second.unscored is not None
            assert second.unscored.reason is Reason.TIMEOUT
        # A metric that was not reached has no score, least of all that of the case before.
        ended_early = [
            data for data in metric_data(evaluation) if data.error is not None
        ]
        assert [data.score for data in ended_early] == [None] * 3
        assert [data.success for data in ended_early] == [False, False, None]
    finally:
        ended.set()
        for thread in set(threading.enumerate()) - set(threads):
            thread.join(10)


@both_ways
def test_beside_the_native_metric_and_at_two_temperatures(asynchronous: bool) -> None:
    native = FaithfulnessMetric(model=LexicalLLM())
    by_name = {
        "TCVA faithfulness (T=0.2)": TCVAMetric(model="lexical", temperature=0.2),
        "TCVA faithfulness (T=0.9)": TCVAMetric(model="lexical", temperature=0.9),
        "lenient": TCVAMetric(model="lexical", temperature=0.9, name="lenient"),
    }
    cases = [case_of(SAMPLES[0])]
    evaluation = evaluated(
        cases, [native, *by_name.values()], asynchronous=asynchronous
    )
    scores = {data.name: data.score for data in metric_data(evaluation)}
    assert scores == dict.fromkeys(["Faithfulness", *by_name], 1.0)
    for name, metric in by_name.items():
        assert results_of(evaluation, name)[0].scoring.temperature == metric.temperature
    alone = evaluated(cases, [native], asynchronous=asynchronous)
    for found, wanted, said in (
        (
            evaluation,
            None,
            r"several metrics .* pass name=, one of 'TCVA.*, 'lenient'$",
        ),
        (evaluation, "other", "name must be one of 'TCVA.*got 'other'"),
        (alone, None, "no metric of tcva-adapters .*Faithfulness"),
    ):
        with pytest.raises(InvalidValueError, match=said):
            results_of(found, wanted)
    with pytest.raises(UnreadableInputError, match="no result of tcva-adapters"):
        results_of(evaluation, "Faithfulness")


def test_two_metrics_of_one_name_are_refused() -> None:
    twins = [
        TCVAMetric(model="lexical", temperature=t, name="same") for t in (0.2, 0.9)
    ]
    evaluation = evaluated([case_of(SAMPLES[0])], [*twins, TCVAMetric(model="lexical")])
    with pytest.raises(InvalidValueError, match="several metrics have the name 'same'"):
        results_of(evaluation, "same")
    assert len(results_of(evaluation, "TCVA faithfulness")) == 1
    temperatures = [
        result_of(data).scoring.temperature for data in metric_data(evaluation)
    ]
    assert temperatures == [0.2, 0.9, 0.5]


def test_it_judges_a_component() -> None:
    metric = TCVAMetric(model="lexical")

    @observe(metrics=[metric])  # type: ignore[untyped-decorator]  # as DeepEval has it
    def application(question: str) -> None:
        case = LLMTestCase(
            input=question, actual_output=OPENS, retrieval_context=[OPENS]
        )
        update_current_span(test_case=case)

    questions = ("When?", "Where?")
    goldens = [Golden(input=question) for question in questions]  # type: ignore[call-arg]  # aliases
    dataset = EvaluationDataset(goldens=goldens)
    shown = DisplayConfig(show_indicator=False, print_results=False)
    in_turn = AsyncConfig(run_async=False)
    for golden in dataset.evals_iterator(display_config=shown, async_config=in_turn):
        application(golden.input)
    assert tuple(case.input for case, _ in metric.collected) == questions
    assert [result.score for _, result in metric.collected] == [1.0, 1.0]


# What DeepEval prints


@pytest.mark.parametrize(("llm", "printed"), [
    (ScriptedLLM(lambda _: verdict_json((1, "none", ""))), "(none)"),
    (scripted(RuntimeError("no [/INST] here")), "(/INST)"),
], ids=["verdict", "error"])  # fmt: skip
def test_hostile_texts(
    llm: ScriptedLLM, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # It takes them for markup of rich, in which [none] is a style and [/INST] an error.
    case = LLMTestCase(
        input="When?", actual_output=OPENS, retrieval_context=["Nothing."]
    )
    metrics: list[BaseMetric] = [TCVAMetric(model=llm)]
    quiet: Any = {"display_config": DisplayConfig(show_indicator=False)}
    quiet |= {"cache_config": CacheConfig(write_cache=False)}
    evaluate([case], metrics, async_config=AsyncConfig(run_async=False), **quiet)
    assert printed in capsys.readouterr().out


# DeepEval's cache


def cached(metric: TCVAMetric, case: LLMTestCase, *, asynchronous: bool) -> Any:
    (result,) = results_of(
        evaluated([case], [metric], asynchronous=asynchronous, use_cache=True)
    )
    return result


@both_ways
def test_the_cache_serves_verdicts_and_notices_other_settings(
    asynchronous: bool,
) -> None:
    case = case_of(SAMPLES[3].model_copy(update={"input": f"Cached, {asynchronous}?"}))
    llm = ScriptedLLM(reply)
    # What this process shares would hide what the cache does.
    metric = TCVAMetric(model=llm, share=False)
    first = cached(metric, case, asynchronous=asynchronous)
    for changes, calls in (
        ({}, 1),
        ({"temperature": 0.9}, 2),
        ({"temperature": 0.3, "name": "one"}, 3),
        ({"temperature": 0.9, "name": "one"}, 4),
        ({"max_claims": 2}, 5),
    ):
        for _ in range(2):
            found = cached(metric.changed(**changes), case, asynchronous=asynchronous)
            assert found.score == first.at(found.scoring.temperature).score
            assert len(llm.prompts) == calls


@both_ways
def test_the_cache_does_not_mix_up_profiles(asynchronous: bool) -> None:
    # DeepEval's key of a test case is its texts, without the metadata.
    profiles = {"domain": {"medical": 0.2, "chat": 0.9}}
    sample = SAMPLES[3].model_copy(update={"input": "Whose?"})
    for domain, temperature in profiles["domain"].items():
        case = case_of(sample)
        case.metadata = {"domain": domain}
        metric = TCVAMetric(model=ScriptedLLM(reply), profiles=profiles)
        found = cached(metric, case, asynchronous=asynchronous)
        assert [found.score] == expected([sample], temperature=temperature)


@both_ways
def test_failures_are_not_cached(asynchronous: bool) -> None:
    case = case_of(SAMPLES[0].model_copy(update={"input": f"Failed, {asynchronous}?"}))
    llm = scripted(TimeoutError("slow"), reply("Claim number 0 here"))
    for score in (None, 1.0):
        assert (
            cached(TCVAMetric(model=llm), case, asynchronous=asynchronous).score
            == score
        )


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


SUITE = """\
import pytest
from deepeval import assert_test
from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn
from tcva_adapters.deepeval import TCVAConversationalMetric, TCVAMetric
OPENS = "The office opens at nine."
METRICS = [TCVAMetric(model="lexical", temperature=t) for t in ("strict", "lenient")]
@pytest.mark.parametrize("answer", [OPENS, OPENS + " Bananas ripen quickly."])
def test_answer(answer):
    case = LLMTestCase(input="When?", actual_output=answer, retrieval_context=[OPENS])
    assert_test(case, METRICS)
def test_conversation():
    answer = Turn(role="assistant", content=OPENS, retrieval_context=[OPENS])
    case = ConversationalTestCase(turns=[Turn(role="user", content="When?"), answer])
    assert_test(case, [TCVAConversationalMetric(model="lexical", name="talk")])
"""


@pytest.mark.slow
def test_deepeval_test_run(tmp_path: Path) -> None:
    path = tmp_path / "test_suite.py"
    path.write_text(SUITE)
    code = "from deepeval.cli.main import app; app()"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path / "home"),
    }
    environment["DEEPEVAL_CACHE_FOLDER"] = str(tmp_path / "cache")
    run: Any = {
        "cwd": tmp_path,
        "env": environment,
        "capture_output": True,
        "text": True,
    }
    done = subprocess.run(
        [sys.executable, "-c", code, "test", "run", path], check=False, **run
    )
    assert done.returncode == 1, done.stderr
    assert "Passed: 2 | Failed: 1" in done.stdout
    # Half of the claims are none: at T=0.2 that is a veto, at T=0.9 a blemish.
    said = " ".join(done.stdout.split())
    assert "Metrics: TCVA faithfulness (T=0.2) (score: " in said
    assert "threshold: 0.5, strict: False, error: None, reason: 0.0" in said
    assert "(T=0.9) (score: " not in said
    file = tmp_path / "cache" / ".latest_test_run.json"
    assert [result.kind for result in results_of(file, "talk")] == ["conversation"]
    assert [result.passed for result in results_of(file, STRICT)] == [True, False]
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= {"test_suite.py", "cache", "home", "__pycache__", ".pytest_cache"}


ROOT = Path(__file__).resolve().parents[2]
STRICT, RELEVANCE = "TCVA faithfulness (T=0.2)", "CCRS question relevance"


def cases() -> list[LLMTestCase]:
    answers = {"good": OPENS, "half": f"{OPENS} Bananas ripen quickly.", "mute": ""}
    about: Any = {"input": "When does it open?", "contexts": (OPENS,)}
    about["metadata"] = {"domain": "hours"}
    found = [
        case_of(Sample(response=a, id=name, **about)) for name, a in answers.items()
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
    assert (skipped.unscored.reason, skipped.scoring.temperature) == (
        Reason.MISSING_FIELD,
        0.2,
    )
    with pytest.raises(
        InvalidValueError, match=rf"several metrics .*'TCVA.*', '{RELEVANCE}'"
    ):
        results_of(files[0])


@pytest.mark.parametrize(
    "content", ["no JSON", "[]", '{"testCases": 3}', '{"testRunData": []}']
)
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
    ended = SimpleNamespace(
        verbose_logs=metric.verbose_logs, error="Skipped due to case timeout."
    )
    result = result_of(ended)
    assert result.unscored.reason is Reason.TIMEOUT
    assert result.unscored.detail == "Skipped due to case timeout."


@pytest.mark.parametrize("logs", ["Truths (limit=None):\n[]", "{}", ""])
def test_logs_of_other_metrics_are_no_result(logs: str) -> None:
    metric = TCVAMetric(model="lexical")
    metric.verbose_logs = logs
    with pytest.raises(UnreadableInputError, match="no result of tcva-adapters"):
        result_of(metric)
