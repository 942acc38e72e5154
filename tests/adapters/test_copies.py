"""Copies of evaluators, with other settings and without; pickles."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA
from tcva_adapters.errors import InvalidValueError
from tests.adapters.table import Adapter, each_adapter
from tests.support.office import SAMPLE, TWO


@each_adapter
def test_a_setting_is_changed_in_a_copy_that_shares_llm_and_store(
    adapter: Adapter, tmp_path: Path
) -> None:
    llm = adapter.llm(lambda _: TWO)
    evaluator = adapter.built(llm, store=tmp_path / "verdicts.sqlite", share=False)
    first = adapter.score(evaluator, SAMPLE)
    lenient = adapter.changed(evaluator, temperature=0.9)
    assert adapter.score(lenient, SAMPLE).score == first.at(0.9).score  # type: ignore[attr-defined]  # a Result
    assert adapter.score(evaluator, SAMPLE).score == first.score
    assert len(llm.prompts) == 1
    assert lenient.scorer.store is evaluator.scorer.store
    other = adapter.changed(evaluator, criterion="correctness", **{adapter.judge: "lexical"})
    assert other.scorer.required == ("response", "reference")
    assert other.scorer.judge.name == "lexical/3"
    assert evaluator.scorer.judge.model.llm is llm
    evaluator.scorer.store.close()


@each_adapter
def test_a_copy_is_checked_in_the_name_of_its_class(adapter: Adapter) -> None:
    name, judge = adapter.drop_in.__name__, adapter.judge
    wrong: dict[str, dict[str, Any]] = {
        "threshold=3": {"threshold": 3.0},
        f"'temprature' of {name}; was 'temperature' meant": {"temprature": 0.3},
        f"{name} takes the judge as {judge}=": {"judge": "lexical"},
    }
    for said, changes in wrong.items():
        with pytest.raises(InvalidValueError, match=said):
            adapter.changed(adapter.built("lexical"), **changes)
        with pytest.raises(InvalidValueError, match=said):
            adapter.built("lexical", **changes)


@each_adapter
def test_evaluators_copy_and_pickle(adapter: Adapter) -> None:
    evaluator = adapter.built("lexical", temperature=0.9)
    pickled = pickle.loads(pickle.dumps(evaluator))
    expected = TCVA(judge="lexical", temperature=0.2).evaluate(SAMPLE)
    for other in (copy.copy(evaluator), copy.deepcopy(evaluator), pickled):
        assert other.scorer.name == evaluator.scorer.name
        assert adapter.score(other, SAMPLE) == adapter.score(evaluator, SAMPLE)
        strict = adapter.score(adapter.changed(other, temperature=0.2), SAMPLE)
        assert strict.score == expected.score
