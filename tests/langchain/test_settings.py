"""Settings of TCVAEvaluator: shown, left to the run, refused, frozen."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from langchain_core.runnables import ConfigurableField, RunnablePassthrough

from tcva_adapters import CCRS, TCVA
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.langchain import TCVAEvaluator, result_of
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.store import VerdictStore
from tests.langchain.entry import scripted
from tests.langchain.office import RECORD
from tests.support.office import TWO


def test_every_setting_is_shown_read_and_left_to_the_run() -> None:
    settings = TCVASettings.model_fields
    parameters = inspect.signature(TCVAEvaluator).parameters
    assert list(parameters) == ["llm", "criterion", "mapper", "name", *settings]
    evaluator = TCVAEvaluator("lexical")
    for name, setting in settings.items():
        assert parameters[name].default is setting.default
        assert getattr(evaluator, name) == evaluator.scorer.settings[name]
        (spec,) = evaluator.configurable_fields(**{name: ConfigurableField(id="it")}).config_specs
        assert spec.description == setting.description
    profiles = {"domain": {"medical": 0.2}}
    changes: dict[str, Any] = {
        "temperature": 0.3,
        "threshold": 0.6,
        "scheme": WeightScheme.LINEAR,
        "penalty": "off",
        "eps": 0.01,
        "floor": "always",
        "on_unscored": 0.25,
        "fuse_weights": (2.0, 1.0),
        "store": VerdictStore(":memory:"),
        "share": False,
        "max_concurrency": 3,
        "max_claims": 5,
        "fuse": (TCVA("completeness", judge="lexical"),),
        "profiles": profiles,
    }
    llm = scripted(TWO)
    changed = TCVAEvaluator(llm, claims="llm", **changes)
    again = evaluator.model_copy(update={"llm": llm, "claims": "llm", **changes})
    for built in (changed, again):
        for name, value in {**changes, "claims": "llm"}.items():
            assert getattr(built, name) == built.scorer.settings[name] == value


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


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"temperature": 1.5}, "1.5"),
        ({"threshold": 2}, "threshold=2"),
        ({"scheme": "steep"}, "steep"),
        ({"penalty": "double"}, "double"),
        ({"eps": 0}, "eps"),
        ({"floor": "never"}, "never"),
        ({"on_unscored": 2}, "on_unscored=2"),
        ({"criterion": "beauty"}, "beauty"),
        ({"llm": "oracle"}, "oracle"),
        ({"claims": "llm"}, "llm"),
        ({"max_claims": 0}, "max_claims=0"),
        ({"temperature": True}, "True"),
        ({"temperature": float("nan")}, "nan"),
        ({"threshold": None}, "threshold=None"),
        ({"threshold": "half"}, "threshold='half'"),
        ({"on_unscored": True}, "on_unscored=True"),
        ({"eps": -1.0}, "eps"),
        ({"eps": None}, "eps"),
        ({"claims": None}, "None"),
        ({"max_claims": "8"}, "max_claims='8'"),
        ({"store": True}, "store=True; it should be None or a VerdictStore or str or Path"),
        ({"mapper": "answer"}, "mapper='answer'; a function"),
        ({"name": 7}, "name=7; a text"),
        ({"name": ""}, "name=''; a text"),
    ],
)
def test_wrong_settings_fail_when_built(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidValueError, match=named):
        TCVAEvaluator(**options)


def test_unknown_settings_are_refused() -> None:
    evaluator = TCVAEvaluator("lexical")
    named = r"unknown setting 'temprature' of TCVAEvaluator; was 'temperature' meant.*llm"
    with pytest.raises(InvalidValueError, match=named):
        evaluator.model_copy(update={"temprature": 0.1})
    with pytest.raises(
        InvalidValueError, match=r"scorer=CCRS.*ScorerEvaluator\(scorer\) takes any"
    ):
        evaluator.model_copy(update={"scorer": CCRS("qr", judge="lexical")})
    with pytest.raises(InvalidValueError, match=r"unknown setting 'temprature' of TCVA"):
        TCVAEvaluator("lexical", temprature=0.1)


def test_a_scorer_of_ones_own_is_not_ignored() -> None:
    with pytest.raises(InvalidValueError, match=r"scorer=TCVA.*ScorerEvaluator\(scorer\)"):
        TCVAEvaluator("lexical", scorer=TCVA("correctness", judge="lexical"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 0.1),
        ("llm", None),
        ("scorer", TCVA(judge="lexical")),
        ("mapper", str),
        ("temprature", 0.1),
    ],
)
def test_an_evaluator_is_frozen_and_says_how_to_have_another(name: str, value: Any) -> None:
    evaluator = TCVAEvaluator("lexical", temperature=0.3)
    before = dict(vars(evaluator))
    with pytest.raises(InvalidValueError, match=rf"{name}=.*model_copy\(update=.*'{name}'.*a copy"):
        setattr(evaluator, name, value)
    assert vars(evaluator) == before
