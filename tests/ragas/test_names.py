"""The names of metrics, which are RAGAS' columns."""

from __future__ import annotations

from typing import Any

import pytest

from tcva_adapters.ragas import TCVACollectionMetric, TCVAMetric, results_of
from tests.ragas.entry import ScriptedLLM, ours_of
from tests.ragas.office import COLUMN, evaluated
from tests.support.office import TWO


def test_metrics_of_different_settings_do_not_overwrite_each_other() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    settings: list[tuple[str, dict[str, Any]]] = [
        ("", {}),
        # Equal to the defaults, said in another way.
        ("", {"temperature": "balanced", "scheme": (1, 0.9, 0.7, 0.3, 0), "claims": "split"}),
        ("(T=0.2)", {"temperature": "strict"}),
        ("(T=0.9,threshold=0.7)", {"temperature": 0.9, "threshold": 0.7}),
        ("(scheme=linear)", {"scheme": "linear"}),
        ("(scheme=1_0.8_0.6_0.2_0)", {"scheme": [1, 0.8, 0.6, 0.2, 0]}),
        ("(penalty=off)", {"penalty": "off"}),
        ("(eps=0.05,floor=always)", {"eps": 0.05, "floor": "always"}),
        ("(on_unscored=1)", {"on_unscored": 1.0}),
        ("(claims=llm,max_claims=3)", {"claims": "llm", "max_claims": 3}),
        ("(verdicts=yes_no)", {"verdicts": "yes_no"}),
    ]
    for expected, options in settings:
        assert TCVAMetric(llm=llm, **options).name == COLUMN + expected
        assert TCVACollectionMetric(llm, **options).name == COLUMN + expected
    metrics = [
        TCVAMetric(),
        TCVAMetric(temperature=0.9),
        TCVAMetric(criterion="answer_relevancy"),
        TCVAMetric(temperature=0.1, name="mine"),
    ]
    found = evaluated(metrics, llm=llm)
    columns = [COLUMN, f"{COLUMN}(T=0.9)", "tcva_answer_relevancy", "mine"]
    assert list(found.scores[0]) == columns
    # T=.9: p=10, T=.1: p=-8, over the weights 1 and .3
    lenient, strict = (((1 + 0.3**p) / 2) ** (1 / p) for p in (10, -8))
    assert found[columns[1]] == pytest.approx([lenient], abs=1e-12)
    assert found["mine"] == pytest.approx([strict], abs=1e-12)
    assert [r.score for r in results_of(found, columns[1])] == found[columns[1]]


def test_a_name_follows_settings_of_a_copy_unless_it_was_given() -> None:
    metric, named = TCVAMetric(llm="lexical"), TCVAMetric(llm="lexical", name="mine")
    copies = [each.changed(temperature=0.9) for each in (metric, named)]
    assert set(evaluated(copies).scores[0]) == {f"{COLUMN}(T=0.9)", "mine"}
    copies[0].name = "mine too"
    assert set(evaluated(copies[:1]).scores[0]) == {"mine too"}
    assert metric.name == COLUMN


def test_of_two_equal_names_ragas_keeps_the_later_column_and_both_traces() -> None:
    # Theirs, not ours; the page says so. This fails when it changes.
    metrics = [TCVAMetric(llm="lexical", name="a", temperature=t) for t in (0.2, 0.9)]
    found = evaluated(metrics)
    assert [r.scoring.temperature for r in ours_of(found)] == [0.9]
    judged = [t for t in found.ragas_traces.values() if t.name == "tcva_judgement"]
    kept = [trace.outputs["output"][0]["scoring"]["temperature"] for trace in judged]
    assert kept == [0.2, 0.9]
