"""Any scorer in place of the drop-in: here the direct metrics."""

from __future__ import annotations

import pytest

from tcva_adapters import CCRS
from tcva_adapters.ccrs import METRICS
from tcva_adapters.errors import InvalidValueError
from tests.adapters.table import Adapter, both_ways, each_adapter
from tests.ccrs.entries import SAMPLES, expected, judge


@each_adapter
@both_ways
def test_ratings_keep_their_scores_where_one_sample_fails(
    adapter: Adapter, asynchronous: bool
) -> None:
    llm = adapter.llm(judge)
    evaluators = [adapter.scoring(CCRS(name, judge=llm)) for name in METRICS]
    rows = adapter.suite(evaluators, SAMPLES, asynchronous)
    for name, results in zip(METRICS, rows, strict=True):
        assert [result.score for result in results] == pytest.approx(expected(name))
        failed = results[1].unscored
        assert failed is not None
        assert failed.reason == "unreadable_reply"
    assert len(llm.prompts) == 20  # exact matches ask nobody; the silent judge is asked again


@each_adapter
def test_settings_of_a_scorer_change_in_copies(adapter: Adapter) -> None:
    if adapter.name == "langchain":
        pytest.skip("a step takes another scorer, not other settings of it")
    evaluator = adapter.scoring(CCRS("ac", judge=adapter.llm(judge)))
    light = evaluator.changed(lambda_=0.0)
    assert adapter.score(light, SAMPLES[0]).score == 0.8
    assert adapter.score(evaluator, SAMPLES[0]).score == pytest.approx(0.94)
    rated = light.changed(metrics="qr")  # which needs other fields
    assert adapter.score(rated, SAMPLES[0]).score == 0.9
    if adapter.named:
        assert rated.name == getattr(rated.scorer, adapter.named)
    for changes, said in (
        ({"lambda_": 7}, "lambda_=7"),
        ({"em_": "strict"}, f"'em_' of {adapter.scoring.__name__}; was 'em' meant"),
    ):
        with pytest.raises(InvalidValueError, match=said):
            evaluator.changed(**changes)


@each_adapter
def test_what_is_no_scorer_is_refused_by_the_class_that_was_called(adapter: Adapter) -> None:
    for given in ("faithfulness", None, 3):
        said = f"scorer of {adapter.scoring.__name__} .*got {given!r}"
        with pytest.raises(InvalidValueError, match=said):
            adapter.scoring(given)
