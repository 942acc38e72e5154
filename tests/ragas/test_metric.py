"""What only RAGAS has of our metrics: its LLMs, columns, exceptions, retries and waits."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from ragas import EvaluationDataset, RunConfig, aevaluate, evaluate
from ragas.cost import get_token_usage_for_openai
from ragas.dataset_schema import EvaluationResult
from ragas.metrics._faithfulness import Faithfulness
from ragas.run_config import RunConfig as Config

from tcva_adapters import CCRS, TCVA, Result, Sample
from tcva_adapters.errors import InvalidSampleError, JudgeError
from tcva_adapters.ragas import (
    LexicalLLM,
    ScorerMetric,
    TCVAMetric,
    results_of,
)
from tcva_adapters.results.assessment import Reason
from tcva_adapters.sharing import SHARED
from tests.ragas.entry import ScriptedInstructorLLM, ScriptedLLM, dataset_of, ours_of
from tests.ragas.office import COLUMN, Counted, evaluated, native_faithfulness, turn
from tests.support.office import ONE, SAMPLE, SCORE, TWO
from tests.support.scripted import verdict_json

# RAGAS announces the end of its main function and of its wrapper on every use.
pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")


# RAGAS announces the end of its main function on every call.
@pytest.mark.filterwarnings(r"ignore:aevaluate\(\) is deprecated:DeprecationWarning")
def test_aevaluate_leaves_the_loop_alone() -> None:
    async def inside() -> Any:
        data = EvaluationDataset(samples=[turn()])
        return await aevaluate(data, metrics=[TCVAMetric(llm="lexical")], show_progress=False)

    assert isinstance(asyncio.run(inside()), EvaluationResult)


def test_both_families_of_llms_are_asked_the_same_and_once() -> None:
    older, newer = ScriptedLLM(lambda _: TWO), ScriptedInstructorLLM(lambda _: TWO)
    scores = [evaluated([TCVAMetric(llm=llm)])[COLUMN] for llm in (older, newer)]
    assert scores[0] == scores[1]
    assert older.prompts == newer.prompts
    assert len(older.prompts) == 1


def test_a_langchain_model_is_taken_as_ragas_takes_it() -> None:
    result = evaluated([TCVAMetric()], llm=FakeListChatModel(responses=[TWO]))
    assert result[COLUMN] == pytest.approx([SCORE], abs=1e-12)
    with_own = evaluated([TCVAMetric(llm=FakeListChatModel(responses=[TWO]))])
    assert with_own[COLUMN] == result[COLUMN]


def test_a_metric_keeps_its_own_llm_and_gives_back_a_lent_one() -> None:
    own, lent = ScriptedLLM(lambda _: TWO), ScriptedLLM(lambda _: ONE)
    metrics = [TCVAMetric(name="own", llm=own), TCVAMetric(name="lent")]
    evaluated(metrics, llm=lent)
    assert (len(own.prompts), len(lent.prompts)) == (1, 2)  # ONE lacks claim 2: asked once more
    assert metrics[1].llm is None


def test_without_any_llm_it_says_so() -> None:
    with pytest.raises(ValueError, match="no valid LLM"):
        TCVAMetric().init(RunConfig())
    with pytest.raises(JudgeError, match="pass llm="):
        TCVAMetric().single_turn_score(turn())


def test_one_lexical_llm_serves_native_metrics_and_ours() -> None:
    theirs: list[Any] = [Faithfulness()]
    criteria = ("faithfulness", "answer_relevancy", "correctness", "completeness", "context_recall")
    metrics = [*theirs, *(TCVAMetric(criterion=name) for name in criteria)]
    llm: Any = LexicalLLM()  # RAGAS' annotation lacks the newer family, which it takes
    scores = evaluated(metrics, llm=llm, raise_exceptions=True).scores[0]
    expected = {
        f"tcva_{name}": TCVA(name, judge="lexical").evaluate(SAMPLE).score for name in criteria
    }
    assert {name: scores[name] for name in expected} == expected
    assert not any(math.isnan(score) for score in scores.values())
    # RAGAS wraps LangChain's LLMs itself.
    wrapped = evaluated([TCVAMetric()], llm=import_module("tcva_adapters.langchain").LexicalLLM())
    assert wrapped[COLUMN] == [scores[COLUMN]]


def test_an_llm_in_the_place_of_a_forgotten_one_is_asked() -> None:
    class Other(LexicalLLM):
        """Of the same size, so that it may be put where the one before it was."""

    metric = TCVAMetric()
    assert metric.llm is None
    for _ in range(20):
        metric.llm = LexicalLLM()
        assert metric.scorer.judge.name == TCVA(judge="lexical").judge.name
        metric.llm = None
        metric.llm = Other()
        assert metric.scorer.judge.name.startswith("ragas:")


# RAGAS announces the end of its wrapper on every use.
@pytest.mark.filterwarnings("ignore:LangchainLLMWrapper is deprecated:DeprecationWarning")
def test_another_judge_to_fuse_is_asked_where_ragas_thinks_it_equal() -> None:
    # Imported by name, the wrapper would announce its end to pytest.
    wrapper: Any = import_module("ragas.llms").LangchainLLMWrapper
    first, second = (wrapper(FakeListChatModel(responses=[TWO])) for _ in range(2))
    assert first == second
    metric = TCVAMetric(llm="lexical", fuse=first)
    other = metric.changed(fuse=second)
    asked: Any = [each.scorer.members[0].judge for each in (metric, other)]
    assert [judge.model.llm for judge in asked] == [first, second]
    assert asked[1].model.llm is second
    many = [second]
    both = metric.changed(fuse=many)
    many.append(first)
    assert len(both.scorer.members) == 1


def test_of_two_equal_names_ragas_keeps_the_later_column_and_both_traces() -> None:
    # Theirs, not ours; the page says so. This fails when it changes.
    metrics = [TCVAMetric(llm="lexical", name="a", temperature=t) for t in (0.2, 0.9)]
    found = evaluated(metrics)
    assert [r.scoring.temperature for r in ours_of(found)] == [0.9]
    judged = [t for t in found.ragas_traces.values() if t.name == "tcva_judgement"]
    kept = [trace.outputs["output"][0]["scoring"]["temperature"] for trace in judged]
    assert kept == [0.2, 0.9]


def test_a_score_in_a_suite_beside_the_native_metric() -> None:
    result = evaluated([native_faithfulness(), TCVAMetric()], llm=ScriptedLLM(lambda _: TWO))
    assert set(result.scores[0]) == {"faithfulness", COLUMN}
    assert result[COLUMN] == pytest.approx([SCORE], abs=1e-12)
    assert result.to_pandas()[COLUMN].dtype == float


def test_columns_follow_the_criterion() -> None:
    required = {
        name: TCVAMetric(llm="lexical", criterion=name).required_columns["SINGLE_TURN"]
        for name in ("faithfulness", "answer_relevancy", "correctness", "context_recall")
    }
    assert required == {
        "faithfulness": {"response", "retrieved_contexts"},
        "answer_relevancy": {"user_input", "response"},
        "correctness": {"response", "reference"},
        "context_recall": {"reference", "retrieved_contexts"},
    }


def test_a_judge_that_is_not_named_is_refused() -> None:
    with pytest.raises(TypeError, match="positional"):
        TCVAMetric("lexical")  # type: ignore[call-arg]  # on purpose


TEMPERATURES = (0.2, 0.5, 0.9)


def suite(**settings: Any) -> list[TCVAMetric]:
    return [TCVAMetric(temperature=each, **settings) for each in TEMPERATURES]


SAMPLES = [
    Sample(
        input=f"Question {number}?",
        response="The office opens at nine. Parking is free.",
        contexts=(f"Note {number}. The office opens at nine. Parking is free for visitors.",),
    )
    for number in range(6)
]


class Varying:
    """Replies with other levels each time.

    Attributes:
        calls: How often it was asked.
    """

    WORDS = ("fully", "mostly", "partial", "minor", "none")

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _: str) -> str:
        self.calls += 1
        first, second = (self.WORDS[n % 5] for n in (self.calls, self.calls * 3))
        return verdict_json((1, first, "The office opens"), (2, second, "Parking"))


def run(
    metrics: Sequence[Any], llm: Any, *, asynchronous: bool = False, config: Config | None = None
) -> EvaluationResult:
    arguments: dict[str, Any] = {
        "dataset": dataset_of(SAMPLES),
        "metrics": list(metrics),
        "llm": llm,
        "run_config": config or RunConfig(max_retries=1),
        "show_progress": False,
    }
    if asynchronous:
        found: Any = asyncio.run(aevaluate(**arguments))
    else:
        found = evaluate(**arguments, allow_nest_asyncio=False)
    assert isinstance(found, EvaluationResult)
    return found


def by_row(found: EvaluationResult) -> list[list[float]]:
    return [list(row.values()) for row in found.scores]


def are_monotone(rows: Sequence[Sequence[float]]) -> bool:
    return all(list(row) == sorted(row) for row in rows)


class Slow(ScriptedLLM):
    """Answers after a moment, so that all metrics of a row ask before it has."""

    async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0.02)
        return await super().agenerate_text(*args, **kwargs)


def test_a_langchain_model_that_ragas_wraps_anew_each_time_is_one_judge() -> None:
    varying = Varying()
    llm = Counted(responses=[varying("") for _ in range(18)])
    found = run(suite(), llm)
    again = run(suite(), llm)
    assert are_monotone(by_row(found))
    assert by_row(again) == by_row(found)
    assert llm.i == 6
    counted: Any = evaluate(
        dataset_of(SAMPLES[:1]),
        metrics=[*suite(criterion="answer_relevancy")],
        llm=llm,
        token_usage_parser=get_token_usage_for_openai,
        show_progress=False,
        allow_nest_asyncio=False,
    )
    assert counted.total_tokens().input_tokens == 10  # RAGAS counts a shared call once


def test_retries_of_ragas_belong_to_the_one_call() -> None:
    varying, refused = Varying(), set[str]()
    limited = type("RateLimitError", (Exception,), {"status_code": 429})

    def reply(prompt: str) -> str:
        if prompt not in refused:
            refused.add(prompt)
            msg = "slow down"
            raise limited(msg)
        return varying(prompt)

    llm = Slow(reply)
    metrics = suite()
    found = run(metrics, llm, config=RunConfig(max_retries=3, max_wait=0))
    assert varying.calls == 6
    assert len(llm.prompts) == 12
    assert are_monotone(by_row(found))


def test_a_judgement_that_ragas_ends_is_made_by_the_next_one() -> None:
    class SlowAtFirst(ScriptedLLM):
        async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
            self.started += 1
            await asyncio.sleep(5 if self.started == 1 else 0.01)
            return await super().agenerate_text(*args, **kwargs)

        started = 0

    varying = Varying()
    llm, metrics = SlowAtFirst(varying), suite()
    config = RunConfig(timeout=1, max_retries=3, max_workers=1)
    config.timeout = 0.2  # type: ignore[assignment]  # whole seconds would make a slow test
    started = time.monotonic()
    found = run(metrics, llm, config=config)
    assert time.monotonic() - started < 4
    first, *others = [results_of(found, metric.name)[0] for metric in metrics]
    assert isinstance(first, Result)
    assert first.unscored is not None
    assert first.unscored.reason is Reason.TIMEOUT
    assert (first.assessment.criterion, first.scoring.temperature) == ("faithfulness", 0.2)
    assert others[0].claims == others[1].claims
    assert varying.calls == 6
    assert SHARED.under_way == 0
    again = by_row(run(metrics, llm, config=config))
    assert varying.calls == 6
    assert are_monotone(again)


def test_a_rating_that_ragas_ends_is_a_rating_without_a_score() -> None:
    class Hanging(ScriptedLLM):
        async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
            await asyncio.Event().wait()

    config = RunConfig(timeout=1, max_retries=1)
    config.timeout = 0.05  # type: ignore[assignment]  # as above
    found = run([ScorerMetric(CCRS("qr", judge=Hanging(Varying())))], None, config=config)
    results = results_of(found)
    assert [result.kind for result in results] == ["ccrs"] * 6
    assert {result.unscored and result.unscored.reason for result in results} == {Reason.TIMEOUT}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("What a nice day.", Reason.UNREADABLE_REPLY),
        (ONE, Reason.INCOMPLETE_VERDICTS),
        (TimeoutError("late"), Reason.TIMEOUT),
        (type("RateLimitError", (Exception,), {})("slow down"), Reason.RATE_LIMIT),
        (ValueError("odd"), Reason.JUDGE_ERROR),
    ],
    ids=["garbage", "missing verdict", "timeout", "rate limit", "error"],
)
def test_a_failing_judge_is_nan_or_raises_as_ragas_is_told(
    reply: str | Exception, reason: Reason, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(_: str) -> str:
        if isinstance(reply, Exception):
            raise reply
        return reply

    metric = TCVAMetric(name=COLUMN, llm=ScriptedLLM(answer), on_unscored=1.0)
    result = evaluated([metric])
    assert math.isnan(result.scores[0][COLUMN])  # a failure never becomes a score
    assert reason.value in caplog.text
    (found,) = results_of(result)
    assert found.unscored is not None
    assert found.unscored.reason is reason
    with pytest.raises(JudgeError, match=reason.value):
        evaluated([metric], raise_exceptions=True)


def test_missing_columns_are_refused_by_ragas_and_a_missing_value_is_nan(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bare = SAMPLE.model_copy(update={"contexts": None})
    with pytest.raises(ValueError, match="retrieved_contexts"):
        evaluated([TCVAMetric(llm="lexical")], bare)
    # RAGAS looks at the first row only.
    result = evaluated([TCVAMetric(llm="lexical")], SAMPLE, bare)
    assert math.isnan(result[COLUMN][1])
    assert "has no contexts" in caplog.text
    assert results_of(result)[1].reason.startswith("unscored: missing_field")
    with pytest.raises(InvalidSampleError, match="contexts"):
        evaluated([TCVAMetric(llm="lexical")], SAMPLE, bare, raise_exceptions=True)
