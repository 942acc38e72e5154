"""TCVAMetric in RAGAS' `evaluate`. The LLM is scripted, all else is RAGAS."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import math
import pickle
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from ragas import EvaluationDataset, RunConfig, SingleTurnSample, aevaluate, evaluate
from ragas.cost import get_token_usage_for_openai
from ragas.dataset_schema import EvaluationResult
from ragas.llms.base import BaseRagasLLM
from ragas.metrics._context_recall import ContextRecall
from ragas.metrics._faithfulness import Faithfulness

from tcva_adapters import TCVA, Sample
from tcva_adapters.claims.criteria import FAITHFULNESS
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.ragas import (
    LexicalLLM,
    ScorerScore,
    TCVACollectionMetric,
    TCVAMetric,
    claims_to_pandas,
    results_of,
    tcva_metrics,
)
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.protocol import read_result
from tcva_adapters.results.settings import settings_of
from tcva_adapters.tcva import TCVASettings
from tests.ragas.entry import (
    ScriptedInstructorLLM,
    ScriptedLLM,
    dataset_of,
    ours_of,
    run,
    scripted,
)
from tests.support.scripted import ScriptedModel, verdict_json

pytestmark = [
    # RAGAS announces the end of its main functions and of its LangChain wrapper on every use.
    pytest.mark.filterwarnings(r"ignore:a?evaluate\(\) is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:LangchainLLMWrapper is deprecated:DeprecationWarning"),
    # It reads the id of its telemetry, also where that is off, and leaves the file open.
    pytest.mark.filterwarnings("ignore:unclosed file.*uuid.json:ResourceWarning"),
]

SAMPLE = Sample(
    input="When does the office open, and what does parking cost?",
    response="The office opens at nine. Parking costs money.",
    contexts=("The office opens at nine on weekdays.",),
    reference="It opens at nine.",
)
TWO = verdict_json((1, "fully", "opens at nine"), (2, "minor", ""))
SCORE = 0.65  # weights 1 and .3, T=.5: p=1, the plain mean; no `none`, so no penalty
ONE = verdict_json((1, "fully", "opens at nine"))
COLUMN = "tcva_faithfulness"


def evaluated(metrics: list[Any], *samples: Sample, **kwargs: Any) -> EvaluationResult:
    kwargs.setdefault("run_config", RunConfig(max_retries=1))
    found = evaluate(
        dataset_of(samples or (SAMPLE,)),
        metrics=metrics,
        show_progress=False,
        allow_nest_asyncio=False,
        **kwargs,
    )
    assert isinstance(found, EvaluationResult)
    return found


def native_faithfulness() -> Faithfulness:
    llm: Any = LexicalLLM()  # RAGAS' annotation lacks the newer family, which it takes
    return Faithfulness(llm=llm)


def turn(sample: Sample = SAMPLE) -> SingleTurnSample:
    found = dataset_of([sample]).samples[0]
    assert isinstance(found, SingleTurnSample)
    return found


# --- the score ---------------------------------------------------------------------------------


def test_a_score_in_a_suite_beside_the_native_metric() -> None:
    result = evaluated([native_faithfulness(), TCVAMetric()], llm=ScriptedLLM(lambda _: TWO))
    assert set(result.scores[0]) == {"faithfulness", COLUMN}
    assert result[COLUMN] == pytest.approx([SCORE], abs=1e-12)
    assert result.to_pandas()[COLUMN].dtype == float


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


def test_metrics_of_different_settings_do_not_overwrite_each_other() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    settings: list[tuple[str, dict[str, Any]]] = [
        ("", {}),
        # Equal to the defaults, said in another way.
        ("", {"temperature": "balanced", "scheme": (1, 0.9, 0.7, 0.3, 0), "claims": "split"}),
        ("(T=0.2)", {"temperature": "strict"}),
        ("(T=0.9,threshold=0.7)", {"temperature": 0.9, "threshold": 0.7}),
        ("(scheme=linear)", {"scheme": "linear"}),
        ("(scheme=1_0.8_0.6_0.2_0)", {"scheme": [1, 0.8, 0.6, 0.2, 0]}),
        ("(penalty=off)", {"penalty": "off"}),
        ("(eps=0.05,floor=always)", {"eps": 0.05, "floor": "always"}),
        ("(on_unscored=1)", {"on_unscored": 1.0}),
        ("(claims=llm,max_claims=3)", {"claims": "llm", "max_claims": 3}),
        ("(prompt=compact)", {"prompt": "compact"}),
    ]
    for expected, options in settings:
        assert TCVAMetric(llm=llm, **options).name == COLUMN + expected
        assert TCVACollectionMetric(llm, **options).name == COLUMN + expected
    metrics = [
        TCVAMetric(),
        TCVAMetric(temperature=0.9),
        TCVAMetric(criterion="answer_relevancy"),
        TCVAMetric(temperature=0.1, name="mine"),
    ]
    found = evaluated(metrics, llm=llm)
    columns = [COLUMN, f"{COLUMN}(T=0.9)", "tcva_answer_relevancy", "mine"]
    assert list(found.scores[0]) == columns
    # T=.9: p=10, T=.1: p=-8, over the weights 1 and .3
    lenient, strict = (((1 + 0.3**p) / 2) ** (1 / p) for p in (10, -8))
    assert found[columns[1]] == pytest.approx([lenient], abs=1e-12)
    assert found["mine"] == pytest.approx([strict], abs=1e-12)
    assert [r.score for r in results_of(found, columns[1])] == found[columns[1]]


def test_a_name_follows_settings_of_a_copy_unless_it_was_given() -> None:
    metric, named = TCVAMetric(llm="lexical"), TCVAMetric(llm="lexical", name="mine")
    copies = [each.changed(temperature=0.9) for each in (metric, named)]
    assert set(evaluated(copies).scores[0]) == {f"{COLUMN}(T=0.9)", "mine"}
    copies[0].name = "mine too"
    assert set(evaluated(copies[:1]).scores[0]) == {"mine too"}
    assert metric.name == COLUMN


def test_of_two_equal_names_ragas_keeps_the_later_column_and_both_traces() -> None:
    # Theirs, not ours; the page says so. This fails when it changes.
    metrics = [TCVAMetric(llm="lexical", name="a", temperature=t) for t in (0.2, 0.9)]
    found = evaluated(metrics)
    assert [r.scoring.temperature for r in ours_of(found)] == [0.9]
    judged = [t for t in found.ragas_traces.values() if t.name == "tcva_judgement"]
    kept = [trace.outputs["output"][0]["scoring"]["temperature"] for trace in judged]
    assert kept == [0.2, 0.9]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": 0.05}, "0.05"),
        ({"temperature": "severe"}, "severe"),
        ({"threshold": 2}, "threshold=2"),
        ({"scheme": "nonesuch"}, "nonesuch"),
        ({"penalty": "huge"}, "huge"),
        ({"floor": "cellar"}, "cellar"),
        ({"eps": -1.0}, "-1"),
        ({"on_unscored": 3}, "on_unscored=3"),
        ({"criterion": "beauty"}, "beauty"),
        ({"claims": "guess"}, "guess"),
        ({"max_claims": 0}, "max_claims=0"),
        ({"llm": "gpt"}, "unknown judge 'gpt'"),
        ({"llm": "lexical", "claims": "llm"}, "needs a model"),
        ({"llm": "lexical", "prompt": "compact"}, "needs a model"),
        ({"scheme": [math.nan] * 5}, "nan"),
        ({"name": 3}, "name=3"),
        ({"name": "  "}, "name='  '"),
        ({"name": True}, "name=True"),
        ({"output_type": "continuous"}, "output_type='continuous'"),
        *(
            ({option: value}, re.escape(repr(value)))
            for option, values in {
                "temperature": (True, None, math.nan, -1, []),
                "threshold": (True, None, math.nan, -1, "0.5"),
                "scheme": (True, None, 3, (1.0, 0.0)),
                "penalty": (False, None, 0, []),
                "eps": (True, False, None, math.nan, 0, "1e-9"),
                "floor": (False, None, 0),
                "on_unscored": (True, math.nan, -1, "1"),
                "criterion": (True, None, 3, ""),
                "claims": (True, None, 1),
                "prompt": (True, None, "short"),
                "max_claims": (True, None, math.nan, -1, 1.5, "3"),
                "llm": (True, 0, "", ()),
            }.items()
            for value in values
        ),
    ],
)
def test_wrong_options_fail_when_built(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        TCVAMetric(**options)
    if "output_type" not in options:
        with pytest.raises(InvalidValueError, match=said):
            TCVACollectionMetric(**{"llm": "lexical"} | options)


def test_a_setting_is_changed_in_a_copy_that_is_checked() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    metric = TCVAMetric(llm=llm)
    lenient = metric.changed(temperature=0.9)
    # p=10: ((1 + .3**10)/2)**.1
    assert lenient.single_turn_score(turn()) == pytest.approx(((1 + 0.3**10) / 2) ** 0.1, abs=1e-12)
    assert metric.single_turn_score(turn()) == pytest.approx(SCORE, abs=1e-12)
    assert len(llm.prompts) == 1
    with pytest.raises(InvalidValueError, match="threshold=3"):
        metric.changed(threshold=3.0)
    with pytest.raises(InvalidValueError, match="unknown setting 'temp'"):
        metric.changed(temp=0.3)
    with pytest.raises(InvalidValueError, match="name=3"):
        metric.name = 3  # type: ignore[assignment]  # on purpose
    other = metric.changed(criterion="correctness", llm="lexical")
    assert other.required_columns["SINGLE_TURN"] == {"response", "reference"}
    assert other.get_prompts()["wording"].instruction == other.scorer.criterion.wording
    assert (other.llm, metric.llm, other.scorer.judge.name) == ("lexical", llm, "lexical/2")


@pytest.mark.parametrize("setting", ["temperature", "criterion", "fuse", "output_type", "scorer"])
def test_a_setting_that_would_not_be_used_is_refused(setting: str) -> None:
    metric = TCVAMetric(llm="lexical")
    with pytest.raises(InvalidValueError, match=rf"{setting}=0.3 on a built.*changed\({setting}="):
        setattr(metric, setting, 0.3)
    assert metric.single_turn_score(turn()) == TCVAMetric(llm="lexical").single_turn_score(turn())


def test_the_signature_shows_every_setting() -> None:
    shown = inspect.signature(TCVAMetric).parameters
    assert list(shown)[:5] == ["_required_columns", "name", "llm", "output_type", "criterion"]
    settings = set(settings_of(TCVASettings)) - {"profiles"}
    assert set(list(shown)[5:]) == settings
    assert set(inspect.signature(TCVACollectionMetric).parameters) == {
        *("llm", "name", "criterion"),
        *settings,
    }
    assert set(inspect.signature(tcva_metrics).parameters) == {
        *("temperatures", "llm", "criterion"),
        *settings - {"temperature"},
    }


@pytest.mark.parametrize("framework", ["ragas", "langchain", "llamaindex", "deepeval"])
def test_the_lexical_judge_is_known_in_every_dress(framework: str) -> None:
    llm = import_module(f"tcva_adapters.{framework}").LexicalLLM()
    (expected,) = evaluated([TCVAMetric(llm="lexical")])[COLUMN]
    found: Any
    (found,) = evaluated([TCVAMetric(llm=llm)])[COLUMN]
    assert found == expected > 0
    assert found.result.assessment.judge == TCVA(judge="lexical").judge.name
    row = turn().to_dict() | {"reference": None}
    assert TCVACollectionMetric(llm).score(**row).value == expected


def test_one_lexical_llm_serves_native_metrics_and_ours() -> None:
    theirs: list[Any] = [Faithfulness(), ContextRecall()]
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


def test_an_llm_that_cannot_follow_an_option_is_said_before_anything_is_judged() -> None:
    llm: Any = LexicalLLM()
    metric = TCVAMetric(claims="llm")
    with pytest.raises(InvalidValueError, match="needs a model"):
        evaluated([metric], llm=llm)


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


def test_metrics_copy_and_pickle() -> None:
    metric = TCVAMetric(llm="lexical", temperature=0.9)
    expected = metric.single_turn_score(turn())
    for other in (copy.copy(metric), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert other.name == metric.name
        assert other.single_turn_score(turn()) == expected


def test_a_repr_shows_no_secret() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    assert llm.api_key not in repr(TCVAMetric(llm=llm))
    assert "ragas:scripted" in repr(TCVAMetric(llm=llm))


# --- the judgement behind it ---------------------------------------------------------------------


def test_claims_are_reached_from_score_trace_and_table_without_a_call() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    result = evaluated([TCVAMetric(llm=llm)], SAMPLE, SAMPLE)
    score = result.scores[1][COLUMN]
    assert isinstance(score, ScorerScore)
    # T=.9: p=10, ((1 + .3**10)/2)**.1 = .93303, no penalty
    assert score.at(0.9) == pytest.approx(((1 + 0.3**10) / 2) ** 0.1, abs=1e-12)
    assert read_result(result.traces[1][COLUMN]["tcva_judgement"]["output"]) == score.result
    assert results_of(result) == [row[COLUMN].result for row in result.scores]
    table = claims_to_pandas(result)
    assert table["row"].tolist() == [0, 0, 1, 1]
    assert table["verdict"].tolist() == ["fully", "minor"] * 2
    assert table["evidence"][0] == "opens at nine"
    assert len(llm.prompts) == 1  # of two equal samples


def test_scores_copy_and_pickle() -> None:
    score = TCVAMetric(llm=ScriptedLLM(lambda _: TWO)).single_turn_score(turn())
    assert isinstance(score, ScorerScore)
    for other in (copy.deepcopy(score), copy.copy(score), pickle.loads(pickle.dumps(score))):
        assert other == score
        assert isinstance(other, ScorerScore)
        assert other.result == score.result


def test_results_of_says_which_metrics_there_are() -> None:
    metrics = [TCVAMetric(llm="lexical"), TCVAMetric(name="b", llm="lexical", temperature=0.2)]
    result = evaluated(metrics)
    assert ours_of(result, "b")[0].scoring.temperature == 0.2
    for name in (None, "c"):
        with pytest.raises(InvalidValueError, match=f"{COLUMN}, b"):
            results_of(result, name)
    with pytest.raises(InvalidValueError, match="none"):
        results_of(evaluated([native_faithfulness()]))


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
            self.parents: dict[Any, Any] = {}
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


class Counted(FakeListChatModel):
    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(*args, **kwargs)
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        return result.model_copy(update={"llm_output": {"token_usage": usage}})

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        del kwargs
        return self._generate(args[0])


@pytest.mark.parametrize(
    ("own", "suite", "calls"),
    [
        ({}, Counted(responses=[TWO]), 2),
        # RAGAS wraps only what `evaluate` is given; these are asked as they are.
        ({"llm": Counted(responses=[TWO])}, None, 2),
        ({"fuse": Counted(responses=[TWO])}, Counted(responses=[TWO]), 4),
    ],
    ids=["of evaluate", "of the metric", "fused"],
)
def test_tokens_are_counted_by_ragas(own: dict[str, Any], suite: Any, calls: int) -> None:
    result = evaluated(
        [TCVAMetric(**own)],
        SAMPLE,
        SAMPLE.model_copy(update={"input": "Another?"}),
        llm=suite,
        token_usage_parser=get_token_usage_for_openai,
    )
    usage = result.total_tokens()
    assert not isinstance(usage, list)
    assert (usage.input_tokens, usage.output_tokens) == (10 * calls, 5 * calls)


# --- what has no score ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reply", "reason"),
    [
        ({"contexts": ()}, TWO, Reason.EMPTY_CONTEXT),
        ({"response": " "}, TWO, Reason.EMPTY_RESPONSE),
        ({"response": "I do not know."}, verdict_json((1, "refusal", "")), Reason.REFUSAL),
        ({"response": "Hello!"}, verdict_json((1, "not_a_claim", "")), Reason.NO_CLAIMS),
    ],
)
def test_a_sample_without_a_score_is_nan_with_its_reason(
    change: dict[str, Any], reply: str, reason: Reason
) -> None:
    sample = SAMPLE.model_copy(update=change)
    llm = ScriptedLLM(lambda _: reply)
    score = evaluated([TCVAMetric(llm=llm)], sample, raise_exceptions=True).scores[0][COLUMN]
    assert math.isnan(score)
    assert score.result.unscored.reason is reason
    counted = TCVAMetric(llm=llm, on_unscored=1.0)
    assert evaluated([counted], sample)[counted.name] == [1.0]


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
    assert claims_to_pandas(result)["unscored"].tolist() == [reason.value]
    with pytest.raises(JudgeError, match=reason.value):
        evaluated([metric], raise_exceptions=True)


def test_one_failing_sample_does_not_touch_the_others(caplog: pytest.LogCaptureFixture) -> None:
    samples = [SAMPLE.model_copy(update={"input": f"Question {i}?"}) for i in range(5)]

    def reply(prompt: str) -> str:
        if "Question 2?" in prompt:
            msg = "down"
            raise ConnectionError(msg)
        return TWO

    results = run(samples, reply)
    assert [r.score is None for r in results] == [False, False, True, False, False]
    assert "down" in caplog.text


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


def test_a_judge_slower_than_ragas_waits_is_a_timeout(caplog: pytest.LogCaptureFixture) -> None:
    class Slow(ScriptedLLM):
        async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
            del args, kwargs
            await asyncio.Event().wait()

    config = RunConfig(timeout=1, max_retries=1)
    config.timeout = 0.05  # type: ignore[assignment]  # whole seconds would make a slow test
    result = evaluated([TCVAMetric(llm=Slow(lambda _: TWO))], run_config=config)
    (found,) = results_of(result)
    assert found.unscored is not None
    assert found.unscored.reason is Reason.TIMEOUT
    assert "TimeoutError" in caplog.text


def test_retries_are_those_of_the_run_config() -> None:
    config = RunConfig(max_retries=2, max_wait=0)
    limited = type("RateLimitError", (Exception,), {"status_code": 429})
    llm = ScriptedLLM(scripted(limited("slow down"), TWO))
    result = evaluated([TCVAMetric(llm=llm)], run_config=config)
    assert result[COLUMN] == pytest.approx([SCORE], abs=1e-12)


# --- loops and threads -----------------------------------------------------------------------------


def test_a_single_sample_is_scored_inside_a_running_loop_without_patching_it() -> None:
    metric = TCVAMetric(llm=ScriptedLLM(lambda _: TWO))

    async def inside() -> float:
        return metric.single_turn_score(turn())

    assert asyncio.run(inside()) == pytest.approx(SCORE, abs=1e-12)
    assert not hasattr(asyncio, "_nest_patched")


def test_a_cancelled_evaluation_stops() -> None:
    class Hanging(ScriptedLLM):
        started = asyncio.Event()

        async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
            del args, kwargs
            self.started.set()
            await asyncio.Event().wait()

    async def cancelled() -> None:
        llm = Hanging(lambda _: TWO)
        task = asyncio.ensure_future(TCVAMetric(llm=llm).single_turn_ascore(turn()))
        await llm.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


# --- prompts and store ------------------------------------------------------------------------------


def set_wording(metric: TCVAMetric, text: str) -> None:
    prompt = metric.get_prompts()["wording"]
    prompt.instruction = text
    metric.set_prompts(wording=prompt)


def test_prompts_are_the_texts_of_the_criterion() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    metric = TCVAMetric(llm=llm)
    prompts = metric.get_prompts()
    assert set(prompts) == {"wording", "fully", "mostly", "partial", "minor", "none"}
    assert prompts["wording"].instruction == metric.scorer.criterion.wording
    before = metric.scorer.key(SAMPLE)
    prompts["none"].instruction = "the passages say nothing of the sort, or the opposite"
    metric.set_prompts(**prompts)
    metric.single_turn_score(turn())
    assert "- none: the passages say nothing of the sort, or the opposite" in llm.prompts[0]
    assert metric.scorer.key(SAMPLE) != before
    assert TCVAMetric(llm=llm).scorer.key(SAMPLE) == before  # other metrics are not touched


def test_judges_that_are_fused_are_asked_in_the_same_texts() -> None:
    llm, other = ScriptedLLM(lambda _: TWO), ScriptedInstructorLLM(lambda _: TWO)
    own = TCVA(judge=ScriptedModel([TWO]))
    metric = TCVAMetric(llm=llm, fuse=[other, own])
    set_wording(metric, "Decide what the passages bear out.")
    score: Any = metric.single_turn_score(turn())
    for asked in (llm, other):
        assert "Decide what the passages bear out." in asked.prompts[0]
    assert metric.scorer.members[1] is own  # with the texts that it was built with
    assert len(score.result.assessment.members) == 2


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


def test_what_is_no_text_of_the_criterion_is_refused() -> None:
    metric = TCVAMetric(llm="lexical")
    with pytest.raises(InvalidValueError, match="NLIStatementPrompt"):
        metric.set_prompts(wording=Faithfulness().nli_statements_prompt)
    with pytest.raises(ValueError, match="nonesuch"):
        metric.set_prompts(nonesuch=metric.get_prompts()["wording"])
    with pytest.raises(InvalidValueError, match="wording"):
        set_wording(metric, " ")
    metric.get_prompts()["wording"].instruction = "of a copy that was not set"
    assert metric.scorer.criterion == FAITHFULNESS


def test_prompts_with_examples_are_refused() -> None:
    metric = TCVAMetric(llm="lexical")
    prompt = metric.get_prompts()["minor"]
    prompt.examples = [(prompt.input_model(), prompt.output_model(levels=["minor"]))]
    with pytest.raises(InvalidValueError, match="examples"):
        metric.set_prompts(minor=prompt)
    with pytest.raises(InvalidValueError, match="no prompt to send"):
        asyncio.run(prompt.generate(llm=LexicalLLM(), data=prompt.input_model()))


def test_prompts_are_saved_and_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metric = TCVAMetric(llm="lexical")
    set_wording(metric, "Decide strictly.")
    metric.save_prompts(str(tmp_path))
    assert capsys.readouterr().out.count("Prompt saved") == 6
    other = TCVAMetric(llm="lexical")
    other.set_prompts(**other.load_prompts(str(tmp_path)))
    assert other.scorer.criterion == metric.scorer.criterion


@pytest.mark.parametrize("family", [ScriptedLLM, ScriptedInstructorLLM])
def test_adapted_prompts_are_saved_loaded_and_asked(
    family: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    translator = family(lambda _: json.dumps({"statements": ["Auf Deutsch."]}))
    metric = TCVAMetric(llm=family(lambda _: TWO))
    metric.set_prompts(
        **asyncio.run(metric.adapt_prompts("german", translator, adapt_instruction=True))
    )
    metric.save_prompts(str(tmp_path))
    with pytest.raises(FileExistsError):
        metric.save_prompts(str(tmp_path))
    assert "german" in capsys.readouterr().out
    llm = family(lambda _: TWO)
    other = TCVAMetric(temperature=0.9)  # texts belong to the criterion, not to the dial
    with pytest.raises(FileNotFoundError, match="english"):
        other.load_prompts(str(tmp_path))
    other.set_prompts(**other.load_prompts(str(tmp_path), language="german"))
    assert not math.isnan(evaluated([other], llm=llm)[other.name][0])
    assert llm.prompts[0].count("Auf Deutsch.") == 6
    assert other.name == f"{COLUMN}(T=0.9)"


def test_prompts_are_adapted_by_the_llm() -> None:
    llm: BaseRagasLLM = ScriptedLLM(lambda _: json.dumps({"statements": ["Entscheide."]}))
    metric = TCVAMetric(llm="lexical")
    kept = asyncio.run(metric.adapt_prompts("german", llm))
    assert kept["wording"].instruction == metric.scorer.criterion.wording
    adapted = asyncio.run(metric.adapt_prompts("german", llm, adapt_instruction=True))
    metric.set_prompts(**adapted)
    assert metric.get_prompts()["wording"].language == "german"
    assert metric.scorer.criterion.wording == "Entscheide."


def test_a_store_serves_what_was_judged_before(tmp_path: Path) -> None:
    llm = ScriptedLLM(scripted(TWO))
    for temperature in (0.5, 0.2):
        metric = TCVAMetric(llm=llm, store=tmp_path / "verdicts.db", temperature=temperature)
        evaluated([metric])
    assert len(llm.prompts) == 1


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


def test_the_question_reaches_the_judge_though_it_is_optional() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    evaluated([TCVAMetric(llm=llm)])
    assert "what does parking cost?" in llm.prompts[0]


def test_aevaluate_leaves_the_loop_alone() -> None:
    async def inside() -> Any:
        data = EvaluationDataset(samples=[turn()])
        return await aevaluate(data, metrics=[TCVAMetric(llm="lexical")], show_progress=False)

    assert isinstance(asyncio.run(inside()), EvaluationResult)


def test_a_judge_that_is_not_named_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="llm='lexical'"):
        TCVAMetric("lexical")  # type: ignore[arg-type]  # on purpose
