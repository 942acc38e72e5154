"""Fields of evaluators: every setting is one, left to the run or changed in a copy."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import (
    ConfigurableField,
    ConfigurableFieldSingleOption,
    RunnableLambda,
    RunnablePassthrough,
)

from tcva_adapters import CCRS, TCVA
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.langchain import ScorerEvaluator, TCVAEvaluator, result_of
from tcva_adapters.results.settings import TCVASettings
from tests.langchain.entry import scripted
from tests.langchain.office import RECORD
from tests.support.office import SCORE, TWO
from tests.support.scripted import ScriptedModel, verdict_json

CLAIMS = '{"claims": ["It opens at nine."]}'
FULLY = verdict_json((1, "fully", ""))
Copy = Callable[[TCVAEvaluator, dict[str, Any]], TCVAEvaluator]

each_copy = pytest.mark.parametrize(
    "copied",
    [
        lambda evaluator, changes: evaluator.model_copy(update=changes),
        lambda evaluator, changes: evaluator.model_copy(update=changes, deep=True),
        lambda evaluator, changes: evaluator.copy(update=changes),
    ],
    ids=["copy", "deep", "older name"],
)


def test_every_setting_is_shown_and_left_to_the_run() -> None:
    settings = TCVASettings.model_fields
    parameters = inspect.signature(TCVAEvaluator).parameters
    assert list(parameters) == ["llm", "criterion", "mapper", "name", *settings]
    evaluator = TCVAEvaluator("lexical")
    for name, setting in settings.items():
        assert parameters[name].default is setting.default
        assert getattr(evaluator, name) == evaluator.scorer.settings[name]
        (spec,) = evaluator.configurable_fields(**{name: ConfigurableField(id="it")}).config_specs
        assert spec.description == setting.description


def test_the_dial_is_configurable_at_run_time() -> None:
    model = scripted(TWO, TWO)
    step = TCVAEvaluator(model, share=False).configurable_fields(
        temperature=ConfigurableField(id="tcva_temperature")
    )
    chain = RunnablePassthrough.assign(tcva=step)
    lenient = chain.invoke(RECORD, {"configurable": {"tcva_temperature": "lenient"}})["tcva"]
    assert lenient["scoring"]["temperature"] == 0.9
    assert lenient["score"] == result_of(chain.invoke(RECORD)["tcva"]).at("lenient").score
    with pytest.raises(InvalidValueError, match="5"):
        chain.invoke(RECORD, {"configurable": {"tcva_temperature": 5}})
    assert len(model.prompts) == 2


def test_judges_keep_their_own_settings_at_run_time_and_additional_ones_follow() -> None:
    judge = LLMJudge(ScriptedModel([CLAIMS, FULLY]), claims="llm")
    step = TCVAEvaluator(judge).configurable_fields(temperature=ConfigurableField(id="dial"))
    seen = step.invoke(RECORD, {"configurable": {"dial": 0.2}})
    assert [claim["claim"] for claim in seen["claims"]] == ["It opens at nine."]
    fused = TCVAEvaluator("lexical", fuse="lexical").configurable_fields(
        criterion=ConfigurableField(id="criterion")
    )
    seen = fused.invoke(RECORD, {"configurable": {"criterion": "answer_relevancy"}})
    assert [member["criterion"] for member in seen["members"]] == ["answer_relevancy"]


def test_a_scorer_can_be_left_to_the_run() -> None:
    ccrs = CCRS("qr", judge="lexical", threshold=0.4)
    record = {"question": "red car?", "answer": "A red bus."}
    strict = ccrs.changed(threshold=0.6)
    by_name = ScorerEvaluator(ccrs).configurable_fields(
        scorer=ConfigurableFieldSingleOption(
            id="rating", options={"mild": ccrs, "strict": strict}, default="mild"
        )
    )
    by_object = ScorerEvaluator(ccrs).configurable_fields(scorer=ConfigurableField(id="rating"))
    for step, mild, severe in ((by_name, "mild", "strict"), (by_object, ccrs, strict)):
        assert step.with_config().config_specs[0].id == "rating"
        for chosen, value in ((mild, "pass"), (severe, "fail")):
            output = step.with_config(configurable={"rating": chosen}).invoke(record)
            assert output["value"] == value


def test_it_composes_with_other_steps_and_a_mapper() -> None:
    chain: Any = RunnableLambda(lambda text: {"mine": text}) | ScorerEvaluator(
        CCRS("qr", judge="lexical", threshold=0.9),
        mapper=lambda seen: {"question": "red car?", "answer": seen["mine"]},
    )
    output = chain.invoke("A red bus.")
    assert (output["score"], output["value"], output["passed"]) == (0.5, "fail", False)
    assert isinstance(TCVAEvaluator("lexical"), ScorerEvaluator)


@each_copy
def test_a_changed_setting_is_the_one_that_is_used(copied: Copy) -> None:
    record = {
        "answer": "The office opens at nine. The office opens at ten. Bananas ripen in bags.",
        "context": ["The office opens at nine. The office is large."],
    }
    every: list[dict[str, Any]] = [
        {"temperature": "lenient", "threshold": 0.7, "penalty": "off"},
        {"scheme": [1, 0.5, 0.4, 0.2, 0], "on_unscored": 0.25},
        {"floor": "always", "eps": 0.4, "scheme": "linear"},
    ]
    for changes in every:
        changed = copied(TCVAEvaluator("lexical"), changes)
        fresh = TCVAEvaluator(**{"llm": "lexical", **changes})
        for sample in (record, {**record, "context": []}):
            seen, expected = changed.invoke(sample), fresh.invoke(sample)
            assert {**seen, "usage": None} == {**expected, "usage": None}
        assert changed.temperature == seen["scoring"]["temperature"]
        assert list(changed.scheme.weights) == seen["scoring"]["scheme"]["weights"]


@each_copy
def test_judge_criterion_claims_mapper_store_and_name_can_be_changed(
    copied: Copy, tmp_path: Path
) -> None:
    model = scripted(CLAIMS, verdict_json((1, "mostly", "opens at nine")))
    own = TCVA("completeness", judge="lexical")
    changes = {
        "llm": model,
        "criterion": "correctness",
        "claims": "llm",
        "max_claims": 3,
        "store": tmp_path / "verdicts.sqlite",
        "mapper": lambda text: {"answer": text, "reference": "It opens at nine."},
        "name": "checked",
    }
    changed = copied(TCVAEvaluator("lexical", fuse=[own]), changes)
    seen = changed.invoke("At nine, it opens.")
    assert (seen["judge"], seen["criterion"]) == ("langchain:scripted", "correctness")
    assert [claim["claim"] for claim in seen["claims"]] == ["It opens at nine."]
    assert [member["criterion"] for member in seen["members"]] == ["completeness"]
    assert (changed.max_claims, changed.get_name()) == (3, "checked")
    assert changed.invoke("At nine, it opens.")["from_store"]
    assert (changed.scorer.subject, len(model.prompts)) == ("correctness", 2)


@each_copy
def test_a_wrong_change_is_refused_and_changes_nothing(copied: Copy) -> None:
    evaluator = TCVAEvaluator("lexical", temperature=0.3)
    before = dict(vars(evaluator))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"temperature": 5}, "5"),
        ({"claims": "llm"}, "claims='llm'"),
        ({"mapper": 3}, "mapper=3; a function"),
        ({"name": ""}, "name=''; a text"),
        ({"scorer": TCVA(judge="lexical")}, r"scorer=TCVA.*ScorerEvaluator\(scorer\) takes any"),
    ]
    for changes, named in wrong:
        with pytest.raises(InvalidValueError, match=named):
            copied(evaluator, changes)
        with pytest.raises(InvalidValueError, match=named):
            TCVAEvaluator(**{"llm": "lexical", **changes})
    assert vars(evaluator) == before
    assert evaluator.model_copy(update={"temperature": 0.1}).llm is evaluator.llm


def test_the_name_in_traces_may_be_set() -> None:
    evaluator = TCVAEvaluator("lexical")
    evaluator.name = "checked"
    assert evaluator.get_name() == "checked"
    with pytest.raises(InvalidValueError, match="name=7; a text"):
        evaluator.name = 7  # type: ignore[assignment]  # the point


def test_a_subclass_keeps_its_own_fields_and_its_class() -> None:
    class Named(TCVAEvaluator):
        team: str = "docs"

        def __init__(self) -> None:
            super().__init__("lexical", temperature=0.3)

    copied = Named().model_copy(update={"team": "web", "temperature": 0.1})
    assert (type(copied), copied.team) == (Named, "web")
    assert copied.invoke(RECORD)["scoring"]["temperature"] == 0.1


def test_deep_copies_share_what_holds_locks_and_connections(tmp_path: Path) -> None:
    # A chat model with a lock and a store with a connection, twice in one structure.
    shared = TCVAEvaluator(scripted(TWO), store=tmp_path / "verdicts.sqlite", fuse=scripted(TWO))
    first, second = copy.deepcopy([shared, shared])
    assert first is second
    assert first is not shared
    assert first.fuse is shared.fuse
    assert first.invoke(RECORD)["score"] == pytest.approx(SCORE, abs=1e-12)
    assert shared.invoke(RECORD)["from_store"]


def test_copies_have_another_scorer_and_share_its_store(tmp_path: Path) -> None:
    ccrs = CCRS("ac", judge="lexical", store=tmp_path / "v.sqlite")
    evaluator = ScorerEvaluator(ccrs, name="mine")
    record = {"answer": "At nine.", "context": ["-"], "ground_truth": "at nine"}
    assert result_of(evaluator.invoke(record)).exact is False
    other = evaluator.model_copy(update={"scorer": ccrs.changed(em="normalised", lambda_=0.0)})
    assert (result_of(other.invoke(record)).exact, other.name) == (True, "mine")
    assert (evaluator.scorer, evaluator.scorer.store) == (ccrs, other.scorer.store)
    assert copy.deepcopy(evaluator).scorer.store is ccrs.store
    with pytest.raises(InvalidValueError, match=r"unknown setting 'lamda' of ScorerEvaluator"):
        evaluator.model_copy(update={"lamda": 0.1})
    with pytest.raises(InvalidValueError, match=r"scorer=.*model_copy\(update="):
        evaluator.scorer = CCRS("ac", judge="lexical")
