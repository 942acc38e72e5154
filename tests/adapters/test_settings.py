"""Settings of the drop-ins: shown, refused when built and when set."""

import copy
import inspect
import math
import pickle
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import TCVASettings
from tests.adapters.table import Adapter, each_adapter, each_named
from tests.support.office import SAMPLE, TWO
from tests.support.scripted import Declared

WRONG: dict[str, list[Any]] = {
    "criterion": [None, True, "beauty"], "threshold": [True, "0.5", math.nan, -1, 2],
    "temperature": [None, True, math.nan, -1, "severe"],
    "scheme": [None, 3, "steep"], "penalty": [None, True, "huge"], "eps": [None, True, math.nan, 0],
    "floor": [None, "cellar"], "bounds": [None, {"p_low": -4}],
    "on_unscored": [True, "1", math.nan, 3, {"refusal": 2}],
    "uncontexted": [True, "pass"], "claims": [None, "guess"],
    "verdicts": [None, "letters"], "repeats": [None, True, 0, 2.5], "evidence": [None, "lowered"],
    "max_claims": [None, True, 0, 2.5], "store": [3, True], "fuse": [True, 3, "lexcial"],
    "fuse_weights": [3, (-1, 1)], "share": [None, 0], "max_concurrency": [None, 0],
    "claim_threshold": [None, True, "good", 1.5, math.nan],
    "max_removed": [None, True, -0.1, 1.5, "half"],
    "streamed": [None, 0, "yes"], "citations": [None, 3, "("],
    "require_citations": [None, 0, "yes"],
    "events": [None, "yes"], "guarantee": [True, 3, "gate.json"],
}  # fmt: skip


@each_adapter
def test_the_signature_shows_every_setting(adapter: Adapter) -> None:
    shown = inspect.signature(adapter.drop_in).parameters
    settings = {"criterion", *TCVASettings.model_fields} - adapter.leaves_out
    assert settings <= shown.keys()
    assert WRONG.keys() == settings - {"profiles"}
    assert not adapter.leaves_out & shown.keys()


@each_adapter
def test_a_wrong_value_is_refused_before_any_call(adapter: Adapter) -> None:
    usual = adapter.built("lexical")
    for name, value in (
        (name, value) for name, values in WRONG.items() for value in values
    ):
        said = re.escape(repr(value).removesuffix(".0"))
        with pytest.raises(InvalidValueError, match=said):
            adapter.built("lexical", **{name: value})
        with pytest.raises(InvalidValueError, match=said):
            adapter.changed(usual, **{name: value})
        with pytest.raises(InvalidValueError, match=said):
            setattr(usual, name, value)


def test_a_failure_gets_no_score_by_its_reason() -> None:
    for reason, near in (
        ("timeout", "its settings are no_claims"),
        ("refusl", "'refusal'"),
    ):
        with pytest.raises(
            InvalidValueError, match=f"'{reason}' of on_unscored.*{near}"
        ):
            TCVA(judge="lexical", on_unscored={reason: 1.0})


@each_adapter
def test_an_argument_in_the_place_of_another_is_named(
    adapter: Adapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    strict = re.escape("write temperature='strict'")
    number = re.escape("write temperature=0.2 or threshold=0.2")
    name = adapter.drop_in.__name__
    shown = inspect.signature(adapter.drop_in).parameters.values()
    places = [None for each in shown if each.kind is each.POSITIONAL_OR_KEYWORD]
    for build, value, said in (
        (adapter.drop_in, "strict", strict),
        (adapter.drop_in, 0.2, number),
        (lambda value: adapter.drop_in(*places, value), "strict", f"{name} takes .*{strict}"),
        (lambda value: adapter.built("lexical", criterion=value), "strict", strict),
        (lambda value: TCVA(value, judge="lexical"), 0.2, number),
        (partial(TCVA, "faithfulness"), "strict", f"TCVA takes only criterion .*{strict}"),
        (lambda value: TCVA(judge=value), "faithfulness", "write criterion='faithfulness'"),
    ):  # fmt: skip
        with pytest.raises(InvalidValueError, match=f"{said}$"):
            build(value)


@each_adapter
def test_no_store_is_opened_where_something_else_is_wrong(
    adapter: Adapter, tmp_path: Path
) -> None:
    path = tmp_path / "verdicts.sqlite"
    odd: list[dict[str, Any]] = [
        {"criterion": "beauty"},
        {"fuse_weights": (1, 1)},
        {"name": 3},
        {},
    ]
    for wrong in odd:
        with pytest.raises(InvalidValueError):
            adapter.built("lexical" if wrong else object(), store=path, **wrong)
    assert not path.exists()


@each_adapter
def test_attributes_that_would_not_be_used_cannot_be_set(adapter: Adapter) -> None:
    evaluator = adapter.built("lexical")
    for name in [*({*WRONG} - {"threshold"}), "scorer", "temprature"]:
        instead = adapter.instead.format(name)
        said = f"{adapter.drop_in.__name__}.*{re.escape(instead)}"
        with pytest.raises(InvalidValueError, match=said):
            setattr(evaluator, name, getattr(evaluator, name, 0.9))


@each_named
def test_a_name_is_a_text(adapter: Adapter) -> None:
    for name in (3, True, "  "):
        with pytest.raises(InvalidValueError, match=f"name.*{name!r}"):
            adapter.built("lexical", name=name)


@each_adapter
def test_a_changed_copy_shares_llm_and_store(adapter: Adapter, tmp_path: Path) -> None:
    llm = adapter.llm(lambda _: TWO)
    judge = Declared(llm, adapter.name.split()[0])
    evaluator = adapter.built(judge, store=tmp_path / "verdicts.sqlite", share=False)
    first = adapter.score(evaluator, SAMPLE)
    lenient = adapter.changed(evaluator, temperature=0.9)
    assert adapter.score(lenient, SAMPLE).score == first.at(0.9).score  # type: ignore[attr-defined]  # a Result
    assert adapter.score(evaluator, SAMPLE).score == first.score
    assert len(llm.prompts) == 1
    assert lenient.scorer.store is evaluator.scorer.store
    other = adapter.changed(
        evaluator, criterion="correctness", **{adapter.judge: "lexical"}
    )
    assert other.scorer.required == ("response", "reference")
    assert other.scorer.judge.name == "lexical/6"
    assert evaluator.scorer.judge.model.llm is llm
    evaluator.scorer.store.close()


@each_adapter
def test_a_copy_is_checked_in_the_name_of_its_class(adapter: Adapter) -> None:
    name, judge = adapter.drop_in.__name__, adapter.judge
    wrong: dict[str, dict[str, Any]] = {
        "threshold must .*got 80.*; for 80 % write 0.8": {"threshold": 80},
        f"'temprature' of {name}; did you mean 'temperature'": {"temprature": 0.3},
        f"{name} takes the judge as {judge}=": {
            {"llm": "model", "model": "llm"}[judge]: "lexical"
        },
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


SETTINGS: list[dict[str, Any]] = [
    {},
    # Equal to the defaults, said in another way.
    {"temperature": "balanced", "scheme": (1, 0.9, 0.7, 0.3, 0), "claims": "split"},
    {"temperature": "strict"},
    {"criterion": "correctness", "temperature": 0.9, "threshold": 0.7},
    {"scheme": [1, 0.8, 0.6, 0.2, 0]},
    {"scheme": "linear", "penalty": "off", "eps": 0.05, "floor": "always"},
    {"on_unscored": 1.0, "max_claims": 3},
    {"on_unscored": {"refusal": 1.0, "empty_context": 0.0}, "uncontexted": "earlier"},
    {"on_unscored": {"refusal": 1.0, "empty_context": 0.5}, "uncontexted": "earlier"},
]


@each_named
def test_the_usual_name_is_the_scorers_which_tells_the_settings(
    adapter: Adapter,
) -> None:
    for settings in SETTINGS:
        tcva = TCVA(**settings, judge="lexical")
        assert adapter.built("lexical", **settings).name == getattr(tcva, adapter.named)


@each_named
def test_a_name_follows_the_settings_until_it_is_given(adapter: Adapter) -> None:
    evaluator = adapter.built("lexical", temperature=0.2)
    assert "T=0.2" in evaluator.name
    assert "T=0.9" in evaluator.changed(temperature=0.9).name
    named = adapter.built("lexical", name="mine").changed(temperature=0.9)
    assert named.name == "mine"
