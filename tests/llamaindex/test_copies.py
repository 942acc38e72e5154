"""Copies of TCVAEvaluator and of its results, with other settings and without; pickles."""

from __future__ import annotations

import copy
import pickle

import pytest
from llama_index.core.schema import MetadataMode

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.llamaindex import TCVAEvaluator
from tests.llamaindex.entry import scripted
from tests.llamaindex.office import CONTEXTS, evaluated
from tests.support.office import ONE, QUERY, TWO


def test_a_changed_evaluator_is_a_copy() -> None:
    llm, other = scripted(TWO), scripted(ONE)
    evaluator = TCVAEvaluator(llm)
    strict = evaluator.changed(temperature="strict", context_metadata_mode="llm")
    assert evaluated(strict).result.scoring.temperature == 0.2
    assert strict.context_metadata_mode is MetadataMode.LLM
    assert evaluated(evaluator).result.scoring.temperature == 0.5
    assert evaluator.context_metadata_mode is MetadataMode.NONE
    assert len(llm.prompts) == 1
    another = evaluator.changed(llm=other, criterion="correctness")
    assert (another.scorer.criterion.name, evaluator.scorer.criterion.name) == (
        "correctness",
        "faithfulness",
    )
    another.evaluate(QUERY, "It opens at nine.", CONTEXTS, reference="It opens at nine.")
    assert (len(llm.prompts), len(other.prompts)) == (1, 1)
    for wrong in ({"temperature": 7}, {"tone": 1}, {"context_metadata_mode": "some"}):
        with pytest.raises(InvalidValueError, match=next(iter(wrong))):
            evaluator.changed(**wrong)


def test_evaluators_and_results_copy_and_pickle() -> None:
    evaluator = TCVAEvaluator("lexical", temperature=0.9)
    result = evaluated(evaluator)
    other: TCVAEvaluator
    for other in (
        copy.copy(evaluator),
        copy.deepcopy(evaluator),
        pickle.loads(pickle.dumps(evaluator)),
    ):
        assert evaluated(other).score == result.score
    for again in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert again == result
        assert again.at(0.2).score == result.at(0.2).score
