"""What a drop-in makes of a sample: TCVA's own score, whatever its framework carries it in."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tcva_adapters import CCRS, TCVA
from tcva_adapters.ccrs import METRICS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Reason
from tests.adapters.table import Adapter, both_ways, each_adapter
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.support.office import SAMPLE, SCORE, TWO
from tests.support.scripted import ScriptedModel, verdict_json

BUILT_IN = ("faithfulness", "answer_relevancy", "correctness", "completeness", "context_recall")


@each_adapter
def test_the_score_is_that_of_tcva_at_any_temperature_and_costs_one_call(adapter: Adapter) -> None:
    llm = adapter.llm(lambda _: TWO)
    found: Any = adapter.score(adapter.built(llm), SAMPLE)
    assert found.score == pytest.approx(SCORE, abs=1e-12)
    for temperature in (0.1, 0.37, 0.93, 1.0):
        tcva = TCVA(judge=ScriptedModel([TWO]), temperature=temperature)
        expected = tcva.evaluate(SAMPLE).score
        evaluator = adapter.built(llm, temperature=temperature)
        assert adapter.score(evaluator, SAMPLE).score == expected
        assert asyncio.run(adapter.ascore(evaluator, SAMPLE)).score == expected
        assert found.at(temperature).score == expected
    assert len(llm.prompts) == 1


@each_adapter
def test_every_criterion_is_judged_by_its_own_fields(adapter: Adapter) -> None:
    for criterion in BUILT_IN:
        tcva = TCVA(criterion, judge="lexical")
        others = {name: None for name in ("input", "reference") if name not in tcva.required}
        sample = SAMPLE.model_copy(update=others)
        found = adapter.score(adapter.built("lexical", criterion=criterion), sample)
        expected = tcva.evaluate(sample)
        assert (found.score, found.claims) == (expected.score, expected.claims)


@each_adapter
def test_a_repr_names_the_judge_and_shows_no_secret(adapter: Adapter) -> None:
    llm = adapter.llm(lambda _: TWO)
    llm.api_key = "sk-never-shown-1234567890"
    shown = repr(adapter.built(llm))
    assert ":scripted" in shown
    assert llm.api_key not in shown


@each_adapter
def test_a_refusal_says_why_or_counts_as_told(adapter: Adapter) -> None:
    llm = adapter.llm(lambda _: verdict_json((1, "refusal", "")))
    evaluators = [adapter.built(llm), adapter.built(llm, on_unscored=1.0)]
    sample = SAMPLE.model_copy(update={"response": "I do not know."})
    (found,), (counted,) = adapter.suite(evaluators, [sample], False)
    assert (found.score, found.unscored and found.unscored.reason) == (None, Reason.REFUSAL)
    assert counted.score == 1.0


@each_adapter
@both_ways
def test_a_row_without_a_needed_field_keeps_its_place(adapter: Adapter, asynchronous: bool) -> None:
    if adapter.name == "langchain":
        pytest.skip("a step raises, which batches of LangChain's return on demand")
    bare = SAMPLE.model_copy(update={"contexts": None})
    (results,) = adapter.suite([adapter.built("lexical")], [SAMPLE, bare], asynchronous)
    assert results[0].score is not None
    assert results[1].unscored is not None
    assert results[1].unscored.reason is Reason.MISSING_FIELD


@each_adapter
def test_one_sample_needs_no_loop_and_patches_none(adapter: Adapter) -> None:
    native, evaluator = asyncio.run, adapter.built(adapter.llm(lambda _: TWO), share=False)
    found: list[Any] = []

    def score() -> None:
        found.append(adapter.score(evaluator, SAMPLE).score)

    async def inside() -> None:
        score()

    asyncio.run(inside())
    thread = threading.Thread(target=score)
    thread.start()
    thread.join()
    assert found == pytest.approx([SCORE] * 2, abs=1e-12)
    assert asyncio.run is native
    assert not hasattr(asyncio, "_nest_patched")


@each_adapter
def test_a_cancelled_judgement_is_cancelled(adapter: Adapter) -> None:
    llm = adapter.llm(lambda _: TWO)
    llm.hangs = True

    async def cancelled() -> None:
        task = asyncio.ensure_future(adapter.ascore(adapter.built(llm), SAMPLE))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert llm.prompts == []


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
        ({"lambda_": 7}, "lambda_ must .*got 7"),
        ({"em_": "strict"}, f"'em_' of {adapter.scoring.__name__}; did you mean 'em'"),
    ):
        with pytest.raises(InvalidValueError, match=said):
            evaluator.changed(**changes)


@each_adapter
def test_what_is_no_scorer_is_refused_by_the_class_that_was_called(adapter: Adapter) -> None:
    for given in ("faithfulness", None, 3):
        said = f"scorer of {adapter.scoring.__name__} .*got {given!r}"
        with pytest.raises(InvalidValueError, match=said):
            adapter.scoring(given)
