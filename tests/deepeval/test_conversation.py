"""What only DeepEval has of conversations: its turns, thresholds, errors and files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest
from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import ConversationalTestCase, RetrievedContextData

from tcva_adapters.deepeval import TCVAConversationalMetric, TCVAMetric, results_of
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.judgement import Reason
from tests.deepeval.entry import CASE, HALF, OPENS, evaluated, scripted

COSTS: Final = "Parking costs two coins."
ASKED: Final = {"role": "user", "content": "When?"}
ANSWERED: Final = {"role": "assistant", "content": f"{OPENS} {COSTS}"}
REASONS: Final = (None, Reason.MISSING_FIELD)


def talk(*turns: Any, **given: Any) -> ConversationalTestCase:
    return ConversationalTestCase(**{"turns": [*turns], "name": "talk", **given})


def test_contexts_are_retrieved_or_returned_by_tools_or_the_test_cases_own() -> None:
    tools = [{"name": "search", "output": {"parking": "two coins"}}, {"name": "log"}]
    turns: list[dict[str, Any]] = [
        {"role": "assistant", "content": "Welcome!"},
        ASKED,
        {"role": "assistant", "content": "", "tools_called": tools},
        {
            **ANSWERED,
            "retrieval_context": [RetrievedContextData(context=OPENS, source="a book")],
        },
        *(ASKED, ANSWERED),
        *(ASKED, {**ANSWERED, "retrieval_context": []}),
        ASKED,
    ]
    metric: Any = TCVAConversationalMetric("correctness", model="lexical")
    case = talk(
        *turns, context=[COSTS], metadata={"domain": "hours"}, expected_outcome=OPENS
    )
    found = metric.sample_of(case).turns
    own = ('{"parking":"two coins"}', OPENS)
    assert [turn.contexts for turn in found] == [own, (COSTS,), ()]
    assert found[2].metadata == {"domain": "hours", "conversation": "talk", "turn": 3}
    several = talk(ASKED, ANSWERED | {"tools_called": tools}, ANSWERED)
    [turn] = metric.sample_of(several).turns
    assert (turn.response, turn.contexts) == (
        "\n\n".join([ANSWERED["content"]] * 2),
        own[:1],
    )
    metric.measure(case)
    reasons = [turn.unscored and turn.unscored.reason for turn in metric.result.turns]
    assert reasons == [*[Reason.MISSING_FIELD] * 2, None]  # the outcome is the last's


@pytest.mark.parametrize("threshold", [0.25, 0.26, None])
@pytest.mark.parametrize("strict_mode", [False, True])
def test_one_turn_is_measured_as_its_answer_alone(
    threshold: Any, strict_mode: bool
) -> None:
    options = {"threshold": threshold, "strict_mode": strict_mode}
    single = TCVAMetric(model=scripted(HALF), **options)
    whole = TCVAConversationalMetric(model=scripted(HALF), **options)
    copied: Any = copy_metrics([whole])[0]
    answer = {"role": "assistant", "content": CASE.actual_output}
    case = talk(ASKED, {**answer, "retrieval_context": CASE.retrieval_context})
    single.measure(CASE)
    asyncio.run(copied.a_measure(case))
    of_both = (
        "score",
        "success",
        "threshold",
        "error",
        "reason",
        "input_tokens",
        "name",
    )
    assert [getattr(copied, n) for n in of_both] == [
        getattr(single, n) for n in of_both
    ]
    collected: Any = whole.collected
    assert collected == [(case, copied.result)]
    shown = (
        1.0 if strict_mode else threshold or 0.0
    )  # without a threshold, every score passes
    assert (
        whole.changed(temperature=0.2).name
        == f"TCVA faithfulness (T=0.2, threshold={shown:g})"
    )


def test_an_error_names_what_is_missing_or_the_metric_to_use() -> None:
    metric: Any = TCVAConversationalMetric(model="lexical")
    with pytest.raises(
        InvalidSampleError, match=r"got a LLMTestCase; TCVAMetric judges those"
    ):
        metric.measure(CASE)
    with pytest.raises(
        InvalidSampleError, match=r"got a multimodal ConversationalTestCase$"
    ):
        metric.measure(talk(ASKED, ANSWERED, multimodal=True))
    for each, turns, said in (
        (
            metric,
            (ASKED, ANSWERED),
            "'retrieval_context' cannot be None for the 'TCVA faith",
        ),
        (
            metric,
            (ASKED,),
            "'TCVA faithfulness' has nothing to judge: .*no message of the user",
        ),
        (
            metric.changed(criterion="correctness"),
            (ASKED, ANSWERED),
            "'expected_outcome' cannot",
        ),
    ):
        with pytest.raises(MissingTestCaseParamsError, match=said):
            each.measure(talk(*turns))
        assert (each.result.score, each.result.unscored.reason) == REASONS


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("setting", ["ignore_errors", "skip_on_missing_params"])
def test_the_file_holds_what_evaluate_returned(
    asynchronous: bool, setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPEVAL_RESULTS_FOLDER", str(tmp_path))
    metrics = [
        TCVAConversationalMetric(model="lexical", temperature=t) for t in (0.2, 0.9)
    ]
    cases = [
        talk(ASKED, ANSWERED, context=context) for context in ([OPENS], None, [COSTS])
    ]
    returned = evaluated(cases, metrics, asynchronous=asynchronous, **{setting: True})
    (file,) = tmp_path.glob("test_run_*.json")
    for metric in metrics:
        first, bare, last = results_of(returned, metric.name)
        assert (first.kind, first.sample_id, first.unscored) == (
            "conversation",
            "talk",
            None,
        )
        assert (bare.score, bare.unscored.reason) == REASONS
        written = [first, bare, last] if setting == "ignore_errors" else [first, last]
        assert results_of(file, metric.name) == written
