"""Settings stand in one model: signatures, checks, names and files come from it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import CCRS, TCVA, WeightScheme
from tcva_adapters.ccrs.scorer import CCRSSettings
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.results.settings import (
    ModelConfig,
    ScoringConfig,
    SettingsModel,
    TCVASettings,
)
from tests.support.scripted import ScriptedModel

MODELS: dict[Any, type[SettingsModel]] = {TCVA: TCVASettings, CCRS: CCRSSettings}

scorers = pytest.mark.parametrize("scorer", MODELS, ids=lambda scorer: scorer.__name__)


@scorers
def test_the_signature_shows_every_setting_with_its_default(scorer: type[Scorer[Any]]) -> None:
    parameters = inspect.signature(scorer).parameters
    built = scorer(judge="lexical")  # type: ignore[call-arg]  # both take one
    for name, field in MODELS[scorer].model_fields.items():
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default == field.default == built.settings[name]  # type: ignore[attr-defined]  # both have it
        assert str(field.description).endswith(".")
    assert not [p for p in parameters.values() if p.kind is p.VAR_KEYWORD]
    assert "Annotated" not in str(inspect.signature(scorer))  # checks are for no reader


@scorers
def test_an_unknown_setting_is_named_with_the_nearest_known_one(scorer: type[Scorer[Any]]) -> None:
    with pytest.raises(InvalidValueError, match=r"'treshold'.*'threshold'"):
        scorer(treshold=0.5)  # type: ignore[call-arg]  # on purpose
    with pytest.raises(InvalidValueError, match=r"'zzz'.*threshold"):
        scorer(zzz=0.5)  # type: ignore[call-arg]  # as above


@scorers
def test_a_built_scorer_is_frozen_and_a_changed_one_is_a_copy(scorer: type[Scorer[Any]]) -> None:
    built = scorer(judge=ScriptedModel([]))  # type: ignore[call-arg]  # both take one
    with pytest.raises(InvalidValueError, match=r"changed\(threshold=\.\.\.\)"):
        built.threshold = 0.9
    other = built.changed(threshold=0.9, share=False)
    assert (built.threshold, other.threshold, other.share) == (0.5, 0.9, False)


def test_a_copy_shares_judge_store_and_additional_judges() -> None:
    model, second = ScriptedModel([]), ScriptedModel([], name="scripted:two")
    built = TCVA(judge=model, fuse=[second, TCVA("correctness", judge="lexical")], store=":memory:")
    copy = built.changed(max_claims=3, temperature="strict")
    assert copy.judge.model is model  # type: ignore[attr-defined]  # of this kind
    assert copy.store is built.store
    assert [each.criterion.name for each in copy.members] == ["faithfulness", "correctness"]
    assert copy.members[0].judge.model is second  # type: ignore[attr-defined]  # as above
    assert copy.members[1] is built.members[1]
    assert copy.members[0].judge.parameters["max_claims"] == 3


STEEP: dict[str, Any] = {"temperature": "strict", "scheme": (1, 0.8, 0.5, 0.2, 0.1)}
NAMES: list[tuple[dict[str, Any], str]] = [
    ({"temperature": "balanced", "store": ":memory:"}, ""),
    ({"threshold": 0.8}, "(threshold=0.8)"),
    (STEEP, "(T=0.2,scheme=1_0.8_0.5_0.2_0.1)"),
    (
        {"scheme": WeightScheme("mine", WeightScheme.LINEAR.weights), "max_claims": 4},
        "(scheme=linear,max_claims=4)",
    ),
    (
        {"fuse": "lexical", "fuse_weights": (2, 1), "profiles": {"domain": {"a": 0.2}}},
        "(fuse_weights=2+1,fuse=lexical_3 faithfulness,profiles=by domain)",
    ),
]


def test_names_tell_what_is_unusual() -> None:
    for settings, name in NAMES:
        assert TCVA(judge="lexical", **settings).name == f"tcva_faithfulness{name}"
    title = "TCVA faithfulness (T=0.2, scheme=1/0.8/0.5/0.2/0.1)"
    assert TCVA(judge="lexical", **STEEP).title == title
    assert TCVA(judge="lexical", threshold=0.8).title == "TCVA faithfulness"
    # An exact match is told where there is one.
    assert CCRS("ac", lambda_=0.5, em="normalised").name == "ccrs_ac(lambda=0.5,em=normalised)"
    assert CCRS("qr", lambda_=0.5, threshold=0.7).name == "ccrs_qr(threshold=0.7)"
    assert CCRS("qr").title == "CCRS question relevance"


ODD = [
    *("x", "", True, float("nan"), float("inf"), -(10**400), -1, 2.5),
    *({}, object(), b"x", 1j, "a\0b", "0.5"),
]


@scorers
def test_odd_values_are_refused_by_the_name_of_their_setting(
    scorer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    built = scorer(judge="lexical")
    for name in MODELS[scorer].model_fields:
        for value in ODD if name != "temperature" else ODD[:-1]:
            is_path = isinstance(value, str) and value and "\0" not in value
            if (name == "store" and is_path) or (name == "share" and value is True):
                continue
            for build in (scorer, built.changed):
                with pytest.raises((InvalidValueError, UnreadableInputError)) as refused:
                    build(**{"judge": "lexical", name: value})
                assert str(refused.value)


def test_numbers_are_numbers_whatever_they_came_as() -> None:
    assert ScoringConfig(threshold=np.float32(0.5)).threshold == 0.5
    assert ScoringConfig(fuse_weights=[2, 1]) == ScoringConfig(fuse_weights=(2.0, 1.0))
    assert len({ScoringConfig(), ScoringConfig(temperature="balanced")}) == 1
    with pytest.raises(InvalidValueError, match="'strictness'"):
        ScoringConfig().changed(strictness=1)
    assert ModelConfig(prices=[1, 2]).prices == (1.0, 2.0)  # type: ignore[arg-type]  # of JSON
