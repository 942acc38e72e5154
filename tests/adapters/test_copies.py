"""Copies of evaluators, with other settings and without; pickles."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
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
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"threshold": 3.0}, "threshold=3"),
        ({"temprature": 0.3}, "'temprature' of {}; was 'temperature' meant"),
        ({"judge": "lexical"}, "the judge of {} is called {}; pass it as {}="),
    ],
)
def test_a_copy_is_checked_in_the_name_of_its_class(
    adapter: Adapter, changes: dict[str, Any], said: str
) -> None:
    known = said.format(adapter.drop_in.__name__, adapter.judge, adapter.judge)
    with pytest.raises(InvalidValueError, match=known):
        adapter.changed(adapter.built("lexical"), **changes)
    with pytest.raises(InvalidValueError, match=known):
        adapter.built("lexical", **changes)


@each_adapter
@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda evaluator: pickle.loads(pickle.dumps(evaluator))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_evaluators_copy_and_pickle(adapter: Adapter, again: Callable[[Any], Any]) -> None:
    evaluator = adapter.built("lexical", temperature=0.9)
    other = again(evaluator)
    assert other.scorer.name == evaluator.scorer.name
    assert adapter.score(other, SAMPLE) == adapter.score(evaluator, SAMPLE)
    strict = adapter.score(adapter.changed(other, temperature=0.2), SAMPLE)
    expected = TCVA(judge="lexical", temperature=0.2).evaluate(SAMPLE)
    assert strict.score == expected.score
