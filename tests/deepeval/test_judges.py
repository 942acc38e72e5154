"""Which model judges, and the store before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deepeval.errors import DeepEvalError

from tcva_adapters.deepeval import TCVAMetric
from tests.deepeval.entry import scripted
from tests.deepeval.office import CASE, HALF
from tests.support.scripted import ScriptedModel


@pytest.mark.parametrize("model", ["lexical", ScriptedModel([HALF])], ids=["lexical", "object"])
def test_other_judges(model: Any) -> None:
    score = TCVAMetric(model=model).measure(CASE)
    assert score is not None
    assert 0 < score < 1


@pytest.mark.parametrize("model", [None, "gpt-4.1-mini"])
def test_other_names_are_left_to_deepeval(model: str | None) -> None:
    # No key is set: DeepEval's own metrics fail when built, with the same error.
    with pytest.raises(DeepEvalError, match="OPENAI_API_KEY"):
        TCVAMetric(model=model)


def test_another_model_setting_is_another_fingerprint() -> None:
    # DeepEval's cache asks for it before every test case.
    llm = scripted()
    metric = TCVAMetric(model=llm)
    before = metric.criteria
    llm.temperature = 0.7
    assert metric.criteria != before
    assert TCVAMetric(model=llm).criteria == metric.criteria


def test_the_store_serves_what_was_judged_before(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    first = TCVAMetric(model=scripted(HALF), store=path)
    first.measure(CASE)
    assert first.store is not None
    second = TCVAMetric(model=scripted(), store=first.store, temperature=0.9)
    assert second.measure(CASE) == first.collected[0].result.at(0.9).score
    first.store.close()
