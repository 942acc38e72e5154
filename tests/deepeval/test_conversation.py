"""What only DeepEval has of conversations: its turns, fields, errors, files and test runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from deepeval.errors import MissingTestCaseParamsError
from deepeval.evaluate import assert_test
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import ConversationalTestCase, RetrievedContextData, ToolCall, Turn

from tcva_adapters.deepeval import TCVAConversationalMetric, TCVAMetric, results_of
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.assessment import Reason
from tests.deepeval.entry import CASE, HALF, HALF_AT_HALF, OPENS, evaluated, own_loop, scripted
from tests.support.scripted import verdict_json

COSTS = "Parking costs two coins."
ANSWER = f"{OPENS} {COSTS}"


def said(role: Any, content: str, **given: Any) -> Turn:
    return Turn(role=role, content=content, **given)


def talk(*turns: Turn, name: str | None = "talk", **given: Any) -> ConversationalTestCase:
    turns = turns or (said("user", "When?"), said("assistant", ANSWER, retrieval_context=[OPENS]))
    return ConversationalTestCase(turns=list(turns), name=name, **given)


def test_contexts_are_retrieved_or_returned_by_tools_or_the_test_cases_own() -> None:
    call: Any = ToolCall
    found = call(name="search", output={"parking": "two coins"})
    with_source = RetrievedContextData(context=OPENS, source="handbook")
    turns = [
        said("assistant", "Welcome!"),
        said("user", "When?"),
        said("assistant", "", tools_called=[found, call(name="log")]),
        said("assistant", ANSWER, retrieval_context=[with_source], metadata={"draft": 2}),
        said("user", "Why?"),
        said("assistant", ANSWER),
        said("user", "And then?"),
        said("assistant", ANSWER, retrieval_context=[]),
        said("user", "Goodbye."),
    ]
    metric = TCVAConversationalMetric("correctness", model="lexical")
    case = talk(*turns, context=[COSTS], metadata={"domain": "hours"}, expected_outcome=OPENS)
    conversation = metric.sample_of(case)
    assert [turn.contexts for turn in conversation.turns] == [
        ('{"parking":"two coins"}', OPENS),
        (COSTS,),
        (),
    ]
    assert [turn.reference for turn in conversation.turns] == [None, None, OPENS]
    assert conversation.turns[2].metadata == {"domain": "hours", "conversation": "talk", "turn": 3}
    metric.measure(case)
    assert metric.result is not None
    assert [turn.unscored and turn.unscored.reason for turn in metric.result.turns] == [
        *(Reason.MISSING_FIELD, Reason.MISSING_FIELD, None)
    ]


@pytest.mark.parametrize(
    "settings", [{"threshold": 0.25}, {"threshold": 0.26}, {"threshold": None}]
)
@pytest.mark.parametrize("strict_mode", [False, True])
def test_one_turn_is_measured_as_its_answer_alone(settings: Any, strict_mode: bool) -> None:
    options = {**settings, "strict_mode": strict_mode, "verbose_mode": True}
    single = TCVAMetric(model=scripted(HALF), **options)
    whole = TCVAConversationalMetric(model=scripted(HALF), **options)
    copied: Any = copy_metrics([whole])[0]
    context = CASE.retrieval_context
    case = talk(
        said("user", CASE.input),
        said("assistant", CASE.actual_output or "", retrieval_context=context),
    )
    single.measure(CASE)
    asyncio.run(copied.a_measure(case))
    assert copied.result.score == HALF_AT_HALF
    for name in (
        *("score", "success", "threshold", "error", "reason", "evaluation_cost", "input_tokens"),
        *("output_tokens", "name", "evaluation_model"),
    ):
        assert getattr(copied, name) == getattr(single, name), name
    assert copied.collected is whole.collected
    assert [(found.name, result) for found, result in whole.collected] == [("talk", copied.result)]
    assert whole.changed(temperature=0.2).name == "TCVA faithfulness (T=0.2)"


def test_what_it_cannot_judge_names_what_is_missing_or_the_metric_to_use() -> None:
    metric = TCVAConversationalMetric(model="lexical")
    other: Any = CASE
    with pytest.raises(
        InvalidSampleError, match=r"class Conv.*got a LLMTestCase; TCVAMetric judges"
    ):
        metric.measure(other)
    with pytest.raises(InvalidSampleError, match=r"got a multimodal ConversationalTestCase$"):
        metric.measure(talk(multimodal=True))
    bare, unanswered = talk(*CHAT), talk(said("user", "When?"))
    for case, said_of in (
        (bare, "'retrieval_context' cannot be None for the 'TCVA faithfulness' metric"),
        (unanswered, "'TCVA faithfulness' has nothing to judge: .*no question .* has an answer"),
    ):
        with pytest.raises(MissingTestCaseParamsError, match=said_of):
            metric.measure(case)
        assert metric.result is not None
        assert metric.result.unscored is not None
        assert metric.result.unscored.reason is Reason.MISSING_FIELD
    with pytest.raises(MissingTestCaseParamsError, match="'expected_outcome' cannot be None"):
        TCVAConversationalMetric("correctness", model="lexical").measure(bare)


CHAT = (said("user", "When?"), said("assistant", ANSWER))


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("setting", ["ignore_errors", "skip_on_missing_params"])
def test_the_file_holds_what_evaluate_returned(
    asynchronous: bool, setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPEVAL_RESULTS_FOLDER", str(tmp_path))
    metrics = [TCVAConversationalMetric(model="lexical", temperature=t) for t in (0.2, 0.9)]
    cases: Any = [talk(), talk(*CHAT, name="bare"), talk(*CHAT, name="own", context=[OPENS])]
    returned = evaluated(cases, metrics, asynchronous=asynchronous, **{setting: True})
    (file,) = tmp_path.glob("test_run_*.json")
    for metric in metrics:
        found = results_of(returned, metric.name)
        assert [result.unscored and result.unscored.reason for result in found] == [
            *(None, Reason.MISSING_FIELD, None)
        ]
        assert found[0].sample_id == "talk"
        written = results_of(file, metric.name)
        assert written == (found if setting == "ignore_errors" else [found[0], found[2]])


def test_assert_test() -> None:
    low = verdict_json((1, "fully", OPENS), (2, "none", ""))
    for replies, asynchronous in ((HALF, False), (low, True)):
        metric: Any = TCVAConversationalMetric(model=scripted(replies))
        with own_loop(), pytest.raises(AssertionError, match=r"TCVA faithfulness \(score: 0\.25,"):
            assert_test(talk(), [metric], run_async=asynchronous)
