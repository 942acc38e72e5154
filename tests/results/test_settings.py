"""Settings stand in one table: signatures, checks, names and files come from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import CCRS, TCVA, Fusion, Profiles, WeightScheme
from tcva_adapters.ccrs.scorer import CCRSSettings
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.config import Settings
from tcva_adapters.results.scoring import DIAL, HumanScale, Scoring
from tcva_adapters.results.settings import settings_of
from tcva_adapters.scorer import Scorer
from tcva_adapters.tcva import TCVASettings
from tests.support.scripted import ScriptedModel

TABLES = {TCVA: TCVASettings, CCRS: CCRSSettings}

scorers = pytest.mark.parametrize("scorer", TABLES, ids=lambda scorer: scorer.__name__)


@scorers
def test_the_signature_shows_every_setting_with_its_default(scorer: type[Scorer[Any]]) -> None:
    shown = inspect.signature(scorer).parameters
    for name, setting in settings_of(TABLES[scorer]).items():
        assert shown[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert shown[name].default == setting.default
        assert setting.meaning.endswith(".")
    assert not [p for p in shown.values() if p.kind is p.VAR_KEYWORD]


@scorers
def test_every_default_passes_its_own_check(scorer: type[Scorer[Any]]) -> None:
    built = scorer()
    for name, setting in settings_of(TABLES[scorer]).items():
        assert built.settings[name] == setting.check(name, setting.default)  # type: ignore[attr-defined]  # both have it


@scorers
def test_an_unknown_setting_is_named_with_those_that_there_are(scorer: type[Scorer[Any]]) -> None:
    with pytest.raises(InvalidValueError, match=r"unknown setting 'temp' of .*threshold"):
        scorer(temp=0.5)  # type: ignore[call-arg]  # on purpose


def test_the_core_scoring_and_files_have_the_same_defaults() -> None:
    assert {name: getattr(Scoring(), name) for name in DIAL} == {
        name: setting.default for name, setting in DIAL.items()
    }
    assert Settings(temperature="lenient", on_unscored=0.0).given() == {
        "temperature": 0.9,
        "on_unscored": 0.0,
    }
    with pytest.raises(ValueError, match="unknown setting 'fusion'"):
        Settings(fusion=Fusion())


@scorers
def test_a_built_scorer_is_frozen_and_a_changed_one_is_a_copy(scorer: type[Scorer[Any]]) -> None:
    model = ScriptedModel([])
    built = scorer(judge=model)  # type: ignore[call-arg]  # both take one
    with pytest.raises(InvalidValueError, match=r"changed\(threshold=\.\.\.\) gives a copy"):
        built.threshold = 0.9  # type: ignore[misc]  # on purpose
    other = built.changed(threshold=0.9, share=False)
    assert (built.threshold, other.threshold, other.share) == (0.5, 0.9, False)
    with pytest.raises(InvalidValueError, match="threshold=7"):
        built.changed(threshold=7)


def test_a_copy_shares_judge_store_and_additional_judges() -> None:
    model, second = ScriptedModel([]), ScriptedModel([], name="scripted:two")
    built = TCVA(judge=model, fuse=[second, TCVA("correctness", judge="lexical")], store=":memory:")
    copy = built.changed(max_claims=3, temperature="strict")
    assert copy.judge.model is model  # type: ignore[attr-defined]  # of this kind
    assert copy.store is built.store
    assert [each.criterion.name for each in copy.members] == ["faithfulness", "correctness"]
    assert copy.members[0].judge.model is second  # type: ignore[attr-defined]  # as above
    assert copy.members[1] is built.members[1]


def test_additional_judges_follow_claims_and_their_number() -> None:
    second = ScriptedModel([], name="scripted:two")
    tcva = TCVA(judge=ScriptedModel([]), claims="llm", max_claims=3, fuse=[second, "lexical"])
    model = tcva.members[0].judge
    assert (model.parameters["claims"], model.parameters["max_claims"]) == ("llm", 3)


@pytest.mark.parametrize(
    ("settings", "name", "title"),
    [
        ({}, "tcva_faithfulness", "TCVA faithfulness"),
        (
            {"temperature": "balanced", "store": ":memory:"},
            "tcva_faithfulness",
            "TCVA faithfulness",
        ),
        ({"threshold": 0.8}, "tcva_faithfulness(threshold=0.8)", "TCVA faithfulness"),
        (
            {"temperature": "strict", "scheme": (1, 0.8, 0.5, 0.2, 0.1)},
            "tcva_faithfulness(T=0.2,scheme=1_0.8_0.5_0.2_0.1)",
            "TCVA faithfulness (T=0.2, scheme=1/0.8/0.5/0.2/0.1)",
        ),
        (
            {"scheme": WeightScheme("mine", WeightScheme.LINEAR.weights), "max_claims": 4},
            "tcva_faithfulness(scheme=linear,max_claims=4)",
            "TCVA faithfulness (scheme=linear, max_claims=4)",
        ),
        (
            {"fuse": "lexical", "fusion": Fusion(0.3, (2, 1)), "profiles": Profiles("domain", {})},
            "tcva_faithfulness(fusion=T=0.3 2_1,fuse=lexical_2 faithfulness,profiles=by domain)",
            "TCVA faithfulness (fusion=T=0.3 2/1, fuse=lexical/2 faithfulness, profiles=by domain)",
        ),
    ],
)
def test_names_tell_what_is_unusual(settings: dict[str, Any], name: str, title: str) -> None:
    tcva = TCVA(**settings)
    assert (tcva.name, tcva.title) == (name, title)


def test_names_of_ratings_tell_the_exact_match_where_there_is_one() -> None:
    assert CCRS("ac", lambda_=0.5, em="normalised").name == "ccrs_ac(lambda=0.5,em=normalised)"
    assert CCRS("qr", lambda_=0.5, threshold=0.7).name == "ccrs_qr(threshold=0.7)"
    assert CCRS("qr").title == "CCRS question relevance"


ODD = [
    "x",
    "",
    True,
    float("nan"),
    float("inf"),
    -(10**400),
    -1,
    2.5,
    {},
    object(),
    b"x",
    1j,
    "a\0b",
]


@pytest.mark.parametrize(
    ("build", "table"),
    [
        (lambda **given: TCVA(judge="lexical", **given), TCVASettings),
        (lambda **given: TCVA(judge="lexical").changed(**given), TCVASettings),
        (lambda **given: CCRS("qr", judge="lexical", **given), CCRSSettings),
        (lambda **given: CCRS("qr", judge="lexical").changed(**given), CCRSSettings),
    ],
)
def test_odd_values_are_refused_by_the_name_of_their_setting(
    build: Callable[..., Any], table: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fits = {"store": (str,), "share": (bool,)}
    for name in settings_of(table):
        for value in [*ODD, *(["0.5"] if name != "temperature" else [])]:
            if type(value) in fits.get(name, ()) and value and "\0" not in str(value):
                continue
            with pytest.raises((InvalidValueError, UnreadableInputError)) as refused:
                build(**{name: value})
            assert str(refused.value)


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_of_parts(odd: Any) -> None:
    for build in (
        lambda: Fusion(weights=odd),
        lambda: Fusion(temperature=odd),
        lambda: Profiles("domain", {"a": odd or 5}),  # type: ignore[dict-item]  # what is refused
        lambda: HumanScale(odd, odd),
        lambda: Scoring(bounds=odd),
    ):
        with pytest.raises(InvalidValueError):
            build()
    if not isinstance(odd, str) or not odd:
        with pytest.raises(InvalidValueError, match="metadata field"):
            Profiles(odd, {})
