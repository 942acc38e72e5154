"""What a drop-in makes of a sample: TCVA's own score, whatever its framework carries it in."""

import asyncio
import re
import threading
from importlib import import_module
from typing import Any

import pytest

from tcva_adapters import CCRS, TCVA
from tcva_adapters.ccrs import METRICS
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.models.judge_model import (
    JudgeRequest,
    acomplete,
    complete,
    identity_of,
)
from tcva_adapters.results.judgement import Reason
from tests.adapters.table import ADAPTERS, Adapter, both_ways, each_adapter
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.support.office import SAMPLE, SCORE, TWO
from tests.support.scripted import ScriptedModel, verdict_json

BUILT_IN = (
    "faithfulness",
    "answer_relevancy",
    "correctness",
    "completeness",
    "context_recall",
)


@each_adapter
def test_the_score_is_that_of_tcva_at_any_temperature_and_costs_one_call(
    adapter: Adapter,
) -> None:
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
        others = {
            name: None for name in ("input", "reference") if name not in tcva.required
        }
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
    assert (found.score, found.unscored and found.unscored.reason) == (
        None,
        Reason.REFUSAL,
    )
    assert counted.score == 1.0


@each_adapter
@both_ways
def test_a_row_without_a_needed_field_keeps_its_place(
    adapter: Adapter, asynchronous: bool
) -> None:
    if adapter.name == "langchain":
        pytest.skip("a step raises, which batches of LangChain's return on demand")
    bare = SAMPLE.model_copy(update={"contexts": None})
    (results,) = adapter.suite([adapter.built("lexical")], [SAMPLE, bare], asynchronous)
    assert results[0].score is not None
    assert results[1].unscored is not None
    assert results[1].unscored.reason is Reason.MISSING_FIELD


@each_adapter
def test_one_sample_needs_no_loop_and_patches_none(adapter: Adapter) -> None:
    native, evaluator = (
        asyncio.run,
        adapter.built(adapter.llm(lambda _: TWO), share=False),
    )
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
        await asyncio.sleep(1e-9)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert llm.prompts == []


@each_adapter
@both_ways
def test_ratings_keep_scores_where_one_sample_fails(
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
    assert (
        len(llm.prompts) == 20
    )  # exact matches ask nobody; the silent judge is asked again


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
def test_the_class_that_was_called_refuses_other_objects_than_scorers(
    adapter: Adapter,
) -> None:
    for given in ("faithfulness", None, 3):
        said = f"scorer of {adapter.scoring.__name__} .*got {given!r}"
        with pytest.raises(InvalidValueError, match=said):
            adapter.scoring(given)


FRAMEWORKS = ["ragas", "langchain", "llamaindex", "deepeval"]


@each_adapter
def test_the_lexical_judge_is_known_in_every_dress(adapter: Adapter) -> None:
    expected = TCVA(judge="lexical").evaluate(SAMPLE)
    for framework in FRAMEWORKS:
        llm = import_module(f"tcva_adapters.{framework}").LexicalLLM()
        found: Any = adapter.score(adapter.built(llm), SAMPLE)
        assert (found.score, found.claims) == (expected.score, expected.claims)
        assert found.assessment.judge == "lexical/6"


@each_adapter
def test_llms_of_any_framework_and_judge_models_are_asked_the_same(
    adapter: Adapter,
) -> None:
    model = ScriptedModel([TWO])
    assert adapter.score(adapter.built(model), SAMPLE).score == pytest.approx(
        0.65, abs=1e-12
    )
    (request,) = model.requests
    for other in ADAPTERS:
        llm = other.llm(lambda _: TWO)
        assert adapter.score(adapter.built(llm), SAMPLE).score == pytest.approx(
            0.65, abs=1e-12
        )
        assert llm.prompts == [f"{request.system}\n\n{request.user}"]


@each_adapter
def test_an_object_that_cannot_judge_is_refused_when_built(adapter: Adapter) -> None:
    names = (
        [] if adapter.name == "deepeval" else ["gpt-nothing/else"]
    )  # names are DeepEval's own
    for wrong in [7, True, [], b"lexical", *names]:
        with pytest.raises(InvalidValueError, match=re.escape(f"judge {wrong!r}")):
            adapter.built(wrong)
    with pytest.raises(InvalidValueError):
        adapter.built("lexical", claims="llm")


@each_adapter
def test_judges_that_are_fused_follow_the_criterion(adapter: Adapter) -> None:
    llm, own = adapter.llm(lambda _: TWO), TCVA("faithfulness", judge="lexical")
    evaluator = adapter.built(llm, fuse=["lexical", own])
    evaluator = adapter.changed(evaluator, criterion="correctness")
    found: Any = adapter.score(evaluator, SAMPLE)
    members = found.assessment.members
    assert [each.criterion for each in members] == ["correctness", "faithfulness"]


REQUEST = JudgeRequest("Judge.", "The data.", {}, "verdicts")
KEY = "sk-never-shown-1234567890"


class StatusError(Exception):
    """As providers' clients raise it."""

    status_code = 401


def read(adapter: Adapter, llm: object) -> Any:
    return import_module(f"tcva_adapters.{adapter.name.split()[0]}").as_judge_model(llm)


@each_adapter
def test_llms_of_the_framework_and_nothing_else_are_taken(adapter: Adapter) -> None:
    llm: Any = adapter.llm(lambda _: "yes")
    for other in ("lexical", None, 3, object(), type(llm)):
        assert read(adapter, other) is None
    model = read(adapter, llm)
    assert identity_of(model) == identity_of(read(adapter, llm))
    answered = complete(model, REQUEST), asyncio.run(acomplete(model, REQUEST))
    assert [each.text for each in answered] == ["yes"] * 2
    assert llm.prompts == ["Judge.\n\nThe data."] * 2
    assert model.name == f"{adapter.name.split()[0]}:scripted"
    assert "sk-never" not in f"{model!r}{model.parameters}"
    assert identity_of(model).holder is llm


@each_adapter
def test_a_failure_has_a_reason_and_shows_no_key(adapter: Adapter) -> None:
    def fails(_: str) -> str:
        raise StatusError(f"status 401, Bearer {KEY}")  # as others write it

    model = read(adapter, adapter.llm(fails))
    for ask in (complete, lambda *given: asyncio.run(acomplete(*given))):
        with pytest.raises(JudgeError) as caught:
            ask(model, REQUEST)
        assert (caught.value.reason, caught.value.fatal) == ("authentication", True)
        assert isinstance(caught.value.__cause__, StatusError)
        assert KEY not in str(caught.value)
