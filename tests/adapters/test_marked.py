"""An answer most of which is no claim by its judge's word alone passes no gate, in no framework."""

import asyncio
import json
import re
import xml.etree.ElementTree as ET
from typing import Any, Final, get_args

import pytest
from deepeval.evaluate import assert_test
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda

from tcva_adapters import TCVA, Assessment, Conversation, Panel, Sample
from tcva_adapters.compare import read_scores
from tcva_adapters.compare.scores.reading_options import Held
from tcva_adapters.deepeval import TCVAMetric
from tcva_adapters.langchain import (
    BelowThresholdError,
    TCVAEvaluator,
    TCVAMiddleware,
    gate,
)
from tcva_adapters.llamaindex import TCVAEvaluator as TCVALlamaIndex
from tcva_adapters.report import Gates, changes, evaluation
from tcva_adapters.report.failing_samples import gate_lines
from tcva_adapters.report.gates import exit_code, gate_records
from tcva_adapters.report.junit import to_junit
from tcva_adapters.report.suite import Suite
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.result import MOSTLY_MARKED
from tests.adapters.table import ADAPTERS, Adapter, each_adapter
from tests.deepeval import entry as deepeval_entry
from tests.langchain import entry as langchain_entry
from tests.support.scripted import ScriptedModel, verdict_json

FACT: Final = "It opens at nine."
FALSE: Final = "The drug is safe for newborn children."
ABOUT: Final[dict[str, Any]] = {
    "input": "When?",
    "contexts": (FACT,),
    "reference": FACT,
}
MOSTLY = Sample(id="mostly", response=f"{FACT} {FALSE}", **ABOUT)
WHOLLY = Sample(id="wholly", response=FALSE, **ABOUT)
HARDLY = Sample(id="hardly", response=f"{FACT} Bis die Tage!", **ABOUT)


def obeying(prompt: str) -> str:
    """A judge that takes all but the fact for no claim, in both requests."""
    if "Does SENTENCE assert something?" in prompt:
        return '{"reason": "it says so", "asserts": "no"}'
    claims = re.findall(r"<<<CLAIM (\d+) \w+>>>\n(.*)\n", prompt)
    words = (
        (int(n), "fully" if text == FACT else "not_a_claim", FACT) for n, text in claims
    )
    return verdict_json(*words)


def model() -> ScriptedModel:
    return ScriptedModel(lambda request: obeying(request.user))


@each_adapter
def test_it_does_not_pass_and_says_why(adapter: Adapter) -> None:
    llm = adapter.llm(obeying)
    evaluators = [adapter.built(llm), adapter.built(llm, on_unscored=1.0)]
    for asynchronous in (False, True):
        for results in adapter.suite(
            evaluators, [MOSTLY, WHOLLY, HARDLY], asynchronous
        ):
            assert [result.passed for result in results] == [False, False, True]
            assert [MOSTLY_MARKED in result.summary for result in results] == [
                True,
                True,
                False,
            ]
            assert results[0].score == results[2].score == 1.0  # that of its claims
            for result in results:
                again = read_result(result.to_json())
                assert (again, again.passed) == (result, result.passed)
    assert asyncio.run(adapter.ascore(evaluators[0], MOSTLY)).passed is False


@pytest.mark.parametrize("sample", [MOSTLY, WHOLLY])
@pytest.mark.parametrize("allow_unscored", [False, True])
def test_langchains_gate_is_closed(sample: Sample, allow_unscored: bool) -> None:
    judge = langchain_entry.ScriptedChatModel(reply=obeying)
    step = gate(TCVAEvaluator(judge), allow_unscored=allow_unscored)
    (record,) = langchain_entry.records([sample])
    with pytest.raises(BelowThresholdError, match="passes no gate"):
        (RunnableLambda(lambda value: value) | step).invoke(record)
    with pytest.raises(BelowThresholdError):
        asyncio.run(step.ainvoke(record))
    (record,) = langchain_entry.records([HARDLY])
    assert step.invoke(record) == record


def test_langchains_middleware_asks_again() -> None:
    judge = langchain_entry.ScriptedChatModel(reply=obeying)
    middleware = TCVAMiddleware(TCVAEvaluator(judge))
    tool = ToolMessage(FACT, tool_call_id="1")
    state: Any = {
        "messages": [HumanMessage("When?"), tool, AIMessage(MOSTLY.response or "")]
    }
    update = middleware.after_model(state, None) or {}
    assert update["jump_to"] == "model"
    assert "passes no gate" in update["messages"][0].text


@pytest.mark.parametrize("sample", [MOSTLY, WHOLLY])
def test_llamaindexs_engines_ask_again(sample: Sample) -> None:
    llm = next(adapter for adapter in ADAPTERS if adapter.name == "llamaindex").llm(
        obeying
    )
    evaluator = TCVALlamaIndex(llm, threshold=0.1)
    texts = {"query": "When?", "contexts": [FACT]}
    assert evaluator.evaluate(response=sample.response, **texts).passing is False
    assert evaluator.evaluate(response=HARDLY.response, **texts).passing is True


@pytest.mark.parametrize("run_async", [False, True])
@pytest.mark.parametrize("sample", [MOSTLY, WHOLLY])
def test_deepevals_test_fails(sample: Sample, run_async: bool) -> None:
    metric = TCVAMetric(model=deepeval_entry.ScriptedLLM(obeying), threshold=0.1)
    metrics: list[Any] = [metric]
    with deepeval_entry.own_loop():
        assert_test(deepeval_entry.case_of(HARDLY), metrics, run_async=run_async)
        with pytest.raises(AssertionError, match="TCVA faithfulness"):
            assert_test(deepeval_entry.case_of(sample), metrics, run_async=run_async)
    metric.measure(deepeval_entry.case_of(sample))
    assert (metric.is_successful(), metric.success, metric.error) == (
        False,
        False,
        None,
    )
    found = deepeval_entry.evaluated([deepeval_entry.case_of(sample)], metrics)
    assert [each.success for each in found.test_results] == [False]


def test_gates_of_files_count_it_as_not_judged() -> None:
    results = TCVA(judge=model(), threshold=0.9).evaluate_many([MOSTLY, WHOLLY, HARDLY])
    assert results[0].flip_temperature is None
    for hold in get_args(Held):
        if hold == "counts":
            continue
        table = read_scores(results, hold=hold)
        report = evaluation(table, Gates.of("mean>=0.5"))
        (row,) = report.records("methods")
        assert (row["scored"], row["passed"], row["mean"]) == (2, 1, 1.0)
        assert exit_code(table, gate_records(report)) == 1
        texts = [gate["text"] for gate in gate_records(report) if not gate["passed"]]
        assert len(texts) == 1
        assert "2 of 3 samples cannot pass:" in texts[0]
        # A coverage says how many may be so.
        for least, passed in ((0.3, True), (0.4, False)):
            records = Gates.of(["pass_rate>=0.5", f"coverage>={least}"]).judge(table)
            assert all(record["passed"] for record in records) is passed
    table = read_scores(results)
    report = evaluation(table, Gates.of("pass_rate>=0.9"))
    assert sum(MOSTLY_MARKED in line for line in gate_lines(report, table)) == 2
    suite = ET.fromstring(to_junit(report, table))
    assert [error.get("type") for error in suite.iter("error")] == [MOSTLY_MARKED] * 2
    judged = [
        Assessment.from_verdicts(["fully"], sample_id=each.id)
        for each in (MOSTLY, HARDLY)
    ]
    good = read_scores(judged)
    assert len(changes(good, table).records("newly fail")) == 1


def test_pytests_check_fails_for_an_answer_and_for_a_conversation() -> None:
    suite = Suite(judge=model(), threshold=0.1)
    suite.check(HARDLY)
    with pytest.raises(AssertionError, match="2 of 3 samples do not pass"):
        suite.check([MOSTLY, WHOLLY, HARDLY])
    asked: list[Any] = [("user", "When?"), ("tool", FACT), ("assistant", FACT)]
    suite.check(
        Conversation.from_messages([*asked, ("user", "Bye"), ("assistant", "Goodbye!")])
    )
    more = [*asked * 5, ("user", "Is it?"), ("tool", FACT), ("assistant", FALSE)]
    talk = Conversation.from_messages(more)
    with pytest.raises(AssertionError, match="passes no gate"):
        suite.check(talk)
    result = TCVA(judge=model()).evaluate_conversation(talk)
    assert (result.score, result.passed) == (1.0, False)
    again = read_result(json.loads(result.to_json()))
    assert (again.passed, again.summary) == (False, result.summary)


@pytest.mark.parametrize("settings", [
    {"repeats": 2}, {"fuse": "lexical"}, {"claims": "llm"},
])  # fmt: skip
def test_several_judgements_of_it_pass_no_gate(settings: dict[str, Any]) -> None:
    def answer(request: Any) -> str:
        if request.schema_name == "tcva_claims":
            return '{"claims": []}'
        return obeying(request.user)

    tcva = TCVA(judge=ScriptedModel(answer), **settings)
    assert tcva.evaluate(WHOLLY).passed is False
    assert tcva.evaluate(MOSTLY).passed is False


def test_a_panel_passes_what_most_of_its_judges_check() -> None:
    honest = ScriptedModel(
        lambda request: verdict_json((1, "fully", FACT), (2, "mostly", FACT)),
        name="scripted:two",
    )
    other = ScriptedModel(honest.complete, name="scripted:three")
    result = TCVA(judge=Panel([model(), honest, other])).evaluate(MOSTLY)
    assert [claim.verdict for claim in result.claims] == ["fully", "partial"]
    assert result.passed is True
    assert TCVA(judge=Panel([model(), honest])).evaluate(MOSTLY).passed is False
    # An additional judge's word counts as well: its score is in that of the answer.
    assert (
        TCVA(judge="lexical", fuse=model(), threshold=0.1).evaluate(MOSTLY).passed
        is False
    )
