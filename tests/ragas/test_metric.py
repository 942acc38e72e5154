"""What only RAGAS has of our metrics: its LLMs, columns, exceptions, retries and waits."""

import asyncio
import itertools
import json
import math
import time
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from ragas import RunConfig
from ragas.cost import get_token_usage_for_openai
from ragas.dataset_schema import EvaluationResult

from tcva_adapters import CCRS, Result, Sample
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    JudgeError,
    SharedNameWarning,
)
from tcva_adapters.ragas import ScorerMetric, TCVAMetric, results_of
from tcva_adapters.results.judgement import Reason
from tests.adapters.test_sharing import SAMPLES, TEMPERATURES, Varying
from tests.ragas.entry import COLUMN, ENDS_ALL, Counted, ScriptedLLM, evaluated, turn
from tests.support.office import ONE, SAMPLE, SCORE, TWO
from tests.support.shared_judgements import under_way

# RAGAS announces the end of its main function and of its wrapper on every use.
pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")


def test_a_langchain_model_is_taken_as_ragas_takes_it() -> None:
    result = evaluated([TCVAMetric()], llm=FakeListChatModel(responses=[TWO]))
    assert result[COLUMN] == pytest.approx([SCORE], abs=1e-12)
    with_own = evaluated([TCVAMetric(llm=FakeListChatModel(responses=[TWO]))])
    assert with_own[COLUMN] == result[COLUMN]


def test_a_metric_keeps_its_own_llm_and_gives_back_a_lent_one() -> None:
    own, lent = ScriptedLLM(lambda _: TWO), ScriptedLLM(lambda _: ONE)
    metrics = [TCVAMetric(name="own", llm=own), TCVAMetric(name="lent")]
    evaluated(metrics, llm=lent)
    assert (len(own.prompts), len(lent.prompts)) == (
        1,
        2,
    )  # ONE lacks claim 2: asked once more
    assert metrics[1].llm is None


def test_without_any_llm_it_says_so() -> None:
    with pytest.raises(ValueError, match="no valid LLM"):
        TCVAMetric().init(RunConfig())
    with pytest.raises(JudgeError, match="pass llm="):
        TCVAMetric().single_turn_score(turn())


def suite(**settings: Any) -> list[TCVAMetric]:
    return [TCVAMetric(temperature=each, **settings) for each in TEMPERATURES]


def columns(found: EvaluationResult) -> list[list[float]]:
    return [[row[metric.name] for metric in suite()] for row in found.scores]


def test_a_langchain_model_that_ragas_wraps_anew_each_time_is_one_judge() -> None:
    varying = Varying()
    llm = Counted(responses=[varying("") for _ in range(18)])
    counting = {"llm": llm, "token_usage_parser": get_token_usage_for_openai}
    found, again = (evaluated([*suite()], *SAMPLES, **counting) for _ in range(2))
    assert columns(found) == columns(again) == [sorted(row) for row in columns(found)]
    assert llm.i == 6
    usage: Any = found.total_tokens()
    assert usage.input_tokens == 60  # RAGAS counts a shared call once


def test_a_judgement_that_ragas_ends_is_made_by_the_next_one() -> None:
    class SlowAtFirst(ScriptedLLM):
        async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
            self.started += 1
            await asyncio.sleep(30 if self.started == 1 else 0.01)
            return await super().agenerate_text(*args, **kwargs)

        started = 0

    varying = Varying()
    llm, metrics = SlowAtFirst(varying), suite()
    # RAGAS reads the limit for each score: with a short one for all, a busy machine ends others.
    limits = itertools.chain((0.2,), itertools.repeat(60.0))
    limit = property(lambda _: next(limits), lambda *_: None)
    config: Any = type("Limited", (RunConfig,), {"timeout": limit})(
        max_retries=3, max_workers=1
    )
    started = time.monotonic()
    found = evaluated([*metrics], *SAMPLES, llm=llm, run_config=config)
    assert time.monotonic() - started < 20
    first, *others = [results_of(found, metric.name)[0] for metric in metrics]
    assert isinstance(first, Result)
    assert first.unscored is not None
    assert first.unscored.reason is Reason.TIMEOUT
    assert (first.assessment.criterion, first.scoring.temperature) == (
        "faithfulness",
        0.2,
    )
    assert others[0].claims == others[1].claims
    assert under_way() == 0
    again = columns(evaluated([*metrics], *SAMPLES, llm=llm, run_config=config))
    assert varying.calls == 6
    assert again == [sorted(row) for row in again]


def test_a_rating_that_ragas_ends_is_a_rating_without_a_score() -> None:
    llm = ScriptedLLM(Varying())
    llm.hangs = True
    scorer = ScorerMetric(CCRS("qr", judge=llm))
    results = results_of(evaluated([scorer], *SAMPLES, run_config=ENDS_ALL))
    assert [result.kind for result in results] == ["ccrs"] * 6
    assert {result.unscored and result.unscored.reason for result in results} == {
        Reason.TIMEOUT
    }


def test_a_failing_judge_is_nan_or_raises(caplog: pytest.LogCaptureFixture) -> None:
    metric = TCVAMetric(
        name=COLUMN, llm=ScriptedLLM(lambda _: "Nice."), on_unscored=1.0
    )
    assert math.isnan(
        evaluated([metric]).scores[0][COLUMN]
    )  # a failure never becomes a score
    assert "unreadable_reply" in caplog.text
    with pytest.raises(JudgeError, match="unreadable_reply"):
        evaluated([metric], raise_exceptions=True)
    with pytest.raises(JudgeError, match="unreadable_reply"):
        metric.single_turn_score(turn())
    with pytest.raises(InvalidSampleError, match="no response"):
        metric.single_turn_score(turn(Sample(input="?")))


def test_a_scorer_keeps_its_judge_unless_an_llm_is_set() -> None:
    own, other = ScriptedLLM(lambda _: "90"), ScriptedLLM(lambda _: "20")
    scorer = CCRS("qr", judge=own)
    metrics = [
        ScorerMetric(scorer, name=name) for name in ("own", "given", "of evaluate")
    ]
    metrics[1].llm, metrics[2].llm = other, None
    found = evaluated([*metrics], llm=ScriptedLLM(lambda _: "40"))
    assert [found[metric.name] for metric in metrics] == [[0.9], [0.2], [0.4]]
    assert [metric.llm for metric in metrics] == [own, other, None]
    assert (
        own.run_config.max_retries == other.run_config.max_retries == 1
    )  # of the evaluation
    assert other.callbacks != [None]  # RAGAS' traces see the calls
    changed = metrics[0].changed(llm=ScriptedLLM(lambda _: "30"), threshold=0.3)
    assert evaluated([changed])["own"] == [0.3]
    for wrong, said in (({"llm": 7}, "judge"), ({"judge": "lexical"}, "llm=")):
        with pytest.raises(InvalidValueError, match=said):
            metrics[0].changed(**wrong)


def test_missing_columns_and_missing_values(caplog: pytest.LogCaptureFixture) -> None:
    bare = SAMPLE.model_copy(update={"contexts": None})
    with pytest.raises(ValueError, match="retrieved_contexts"):
        evaluated([TCVAMetric(llm="lexical")], bare)
    # RAGAS looks at the first row only.
    result = evaluated([TCVAMetric(llm="lexical")], SAMPLE, bare)
    assert math.isnan(result[COLUMN][1])
    assert "has no retrieved_contexts" in caplog.text
    assert results_of(result)[1].reason.startswith("unscored: missing_field")
    with pytest.raises(InvalidSampleError, match="contexts"):
        evaluated([TCVAMetric(llm="lexical")], SAMPLE, bare, raise_exceptions=True)


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

        def on_chain_start(
            self, serialized: dict[str, Any], *args: Any, **kwargs: Any
        ) -> None:
            del args
            self.names[kwargs["run_id"]] = serialized["name"]

        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            del args
            self.model_parents.append(self.names[kwargs["parent_run_id"]])

    listener = Listener()
    evaluated(
        [TCVAMetric()], llm=FakeListChatModel(responses=[TWO]), callbacks=[listener]
    )
    assert listener.model_parents == ["tcva_judgement"]


def test_two_metrics_of_one_name_in_one_evaluation_are_told() -> None:
    def metrics(**names: str) -> list[TCVAMetric]:
        other = ScriptedLLM(lambda _: TWO)
        return [TCVAMetric(llm="lexical"), TCVAMetric(llm=other, **names)]

    with pytest.warns(
        SharedNameWarning, match=r"'tcva_faithfulness', .* name=\.\.\."
    ) as warned:
        found = evaluated(metrics(), SAMPLE, SAMPLE)
    assert (len(warned), [*found.scores[0]]) == (1, [COLUMN])
    found = evaluated(metrics(name="scripted"))
    assert [*found.scores[0]] == [COLUMN, "scripted"]
    # One after the other each has its column, also with one RunConfig, and so has one metric twice.
    config = RunConfig(max_retries=1)
    for metric in (*metrics(), *metrics()[:1] * 2):
        evaluated([metric], run_config=config)
