"""Citations and passages of an answer, where each framework shows the details of a result."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

import tests.deepeval.entry as deepeval_entry
import tests.langchain.entry as langchain_entry
import tests.ragas.entry as ragas_entry
from tcva_adapters import TCVA, Sample, deepeval, langchain, llamaindex, ragas

PASSAGES = ("The office opens at nine.", "Parking is free for visitors.")
SAMPLE = Sample(
    input="When?",
    response="The office opens at nine [1]. Parking is free for visitors [1].",
    contexts=PASSAGES,
)


def _deepeval(sample: Sample, **options: Any) -> Any:
    metric = deepeval.TCVAMetric(model="lexical", **options)
    metric.measure(deepeval_entry.case_of(sample))
    return json.loads(metric.verbose_logs or "")


def _ragas(sample: Sample, **options: Any) -> Any:
    metric = ragas.TCVAMetric(llm="lexical", **options)
    (trace,) = ragas_entry.evaluated([metric], sample).traces[0].values()
    return trace["tcva_judgement"]["output"]


def _collections(sample: Sample, **options: Any) -> Any:
    metric = ragas.TCVACollectionMetric(llm="lexical", **options)
    score = metric.score(**ragas_entry.turn(sample).to_dict())
    assert score.traces is not None
    return score.traces["output"]


def _langchain(sample: Sample, **options: Any) -> Any:
    (record,) = langchain_entry.records([sample])
    return langchain.TCVAEvaluator("lexical", **options).invoke(record)


def _llamaindex(sample: Sample, **options: Any) -> Any:
    evaluator = llamaindex.TCVAEvaluator("lexical", **options)
    evaluation = evaluator.evaluate(
        sample.input,
        sample.response,
        sample.contexts and [*sample.contexts],
        reference=sample.reference,
    )
    again = type(evaluation).model_validate_json(evaluation.model_dump_json())
    assert again.model_dump() == evaluation.model_dump()
    return evaluation.model_dump(exclude_none=True)


SHOWN = [_deepeval, _ragas, _collections, _langchain, _llamaindex]
each_framework = pytest.mark.parametrize("shown", SHOWN)


@each_framework
def test_each_framework_shows_the_use_of_passages(shown: Callable[..., Any]) -> None:
    result = TCVA(judge="lexical").evaluate(SAMPLE)
    expected = json.loads(json.dumps([*map(asdict, result.passages())]))
    assert [use["claims"] for use in expected] == [[0], [1]]
    assert shown(SAMPLE)["passages"] == expected


@each_framework
def test_each_framework_shows_the_citations(shown: Callable[..., Any]) -> None:
    citations = TCVA(judge="lexical").evaluate(SAMPLE).citations().to_dict()
    assert shown(SAMPLE)["citations"] == json.loads(json.dumps(citations))
    outcomes = [part["outcome"] for part in citations["parts"]]
    assert outcomes == ["confirmed", "elsewhere"]
    plain = SAMPLE.model_copy(update={"response": "The office opens at nine."})
    assert "citations" not in shown(plain)


@each_framework
def test_nothing_is_shown_where_nothing_is_known(shown: Callable[..., Any]) -> None:
    for sample, options in (
        (SAMPLE, {"criterion": "answer_relevancy"}),
        (SAMPLE.model_copy(update={"response": "Hello!"}), {}),
        (SAMPLE.model_copy(update={"contexts": ()}), {}),
    ):
        assert {"passages", "citations"}.isdisjoint(shown(sample, **options))
