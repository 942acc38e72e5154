"""One contract: the same samples and replies give the same scores in all four frameworks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tcva_adapters import Sample
from tcva_adapters.ccrs import CCRS, METRICS
from tests.ccrs.entries import SAMPLES, judge

# The frameworks deprecate parts of their own, which their ways of running need.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

USABLE = [sample for sample in SAMPLES if sample.id != "mute"]


def by_langchain(metric: str, sample: Sample) -> Any:
    entry, ours = import_module("tests.langchain.entry"), import_module("tcva_adapters.langchain")
    ccrs = CCRS(metric, judge=entry.ScriptedChatModel(reply=judge))
    return ours.ScorerEvaluator(ccrs).invoke(sample.model_dump())["score"]


def by_llamaindex(metric: str, sample: Sample) -> Any:
    entry, ours = import_module("tests.llamaindex.entry"), import_module("tcva_adapters.llamaindex")
    evaluator = ours.ScorerEvaluator(CCRS(metric), llm=entry.ScriptedLLM(reply=judge))
    texts = (sample.input, sample.response, sample.contexts)
    return evaluator.evaluate(*texts, reference=sample.reference).score


def by_ragas(metric: str, sample: Sample) -> Any:
    entry, ours = import_module("tests.ragas.entry"), import_module("tcva_adapters.ragas")
    (row,) = entry.dataset_of([sample]).samples
    scorer = CCRS(metric, judge=entry.ScriptedLLM(judge))
    return ours.ScorerMetric(scorer).single_turn_score(row)


def by_deepeval(metric: str, sample: Sample) -> Any:
    entry, ours = import_module("tests.deepeval.entry"), import_module("tcva_adapters.deepeval")
    scorer = CCRS(metric, judge=entry.ScriptedLLM(judge))
    return ours.ScorerMetric(scorer).measure(entry.case_of(sample))


@pytest.mark.parametrize("through", [by_langchain, by_llamaindex, by_ragas, by_deepeval])
def test_the_scores_are_those_of_ccrs_to_the_last_bit(through: Any) -> None:
    langchain = import_module("tests.langchain.entry").ScriptedChatModel(reply=judge)
    results = CCRS(judge=langchain).evaluate_many(USABLE)
    for metric in METRICS:
        wanted = [result.scores[metric] for result in results]
        assert None not in wanted
        assert [through(metric, sample) for sample in USABLE] == wanted
