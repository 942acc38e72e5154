"""Copies of TCVAMetric, with other settings and without; pickles."""

from __future__ import annotations

import copy
import pickle

import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.ragas import TCVAMetric
from tests.ragas.entry import ScriptedLLM
from tests.ragas.office import turn
from tests.support.office import SCORE, TWO


def test_a_setting_is_changed_in_a_copy_that_is_checked() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    metric = TCVAMetric(llm=llm)
    lenient = metric.changed(temperature=0.9)
    # p=10: ((1 + .3**10)/2)**.1
    assert lenient.single_turn_score(turn()) == pytest.approx(((1 + 0.3**10) / 2) ** 0.1, abs=1e-12)
    assert metric.single_turn_score(turn()) == pytest.approx(SCORE, abs=1e-12)
    assert len(llm.prompts) == 1
    with pytest.raises(InvalidValueError, match="threshold=3"):
        metric.changed(threshold=3.0)
    with pytest.raises(InvalidValueError, match="unknown setting 'temp'"):
        metric.changed(temp=0.3)
    with pytest.raises(InvalidValueError, match="name=3"):
        metric.name = 3  # type: ignore[assignment]  # on purpose
    other = metric.changed(criterion="correctness", llm="lexical")
    assert other.required_columns["SINGLE_TURN"] == {"response", "reference"}
    assert (other.llm, metric.llm, other.scorer.judge.name) == ("lexical", llm, "lexical/2")


def test_metrics_copy_and_pickle() -> None:
    metric = TCVAMetric(llm="lexical", temperature=0.9)
    expected = metric.single_turn_score(turn())
    for other in (copy.copy(metric), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert other.name == metric.name
        assert other.single_turn_score(turn()) == expected
