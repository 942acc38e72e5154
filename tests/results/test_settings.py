"""Settings stand in one model: signatures, checks, names and files come from it."""

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import CCRS, TCVA, Config, Sample, WeightScheme
from tcva_adapters.ccrs.scorer import CCRSSettings
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import SCHEMES
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.settings import ModelConfig, TCVASettings
from tcva_adapters.results.settings_base import SettingsModel
from tests.support.office import REPLY, VISITED
from tests.support.scripted import ScriptedModel

MODELS: dict[Any, type[SettingsModel]] = {TCVA: TCVASettings, CCRS: CCRSSettings}

scorers = pytest.mark.parametrize("scorer", MODELS, ids=lambda scorer: scorer.__name__)


@scorers
def test_the_signature_shows_every_setting_with_its_default(
    scorer: type[Scorer[Any]],
) -> None:
    parameters = inspect.signature(scorer).parameters
    built = scorer(judge="lexical")  # type: ignore[call-arg]  # both take one
    for name, field in MODELS[scorer].model_fields.items():
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default == field.default == built.settings[name]  # type: ignore[attr-defined]  # both have it
        assert str(field.description).endswith(".")
    assert not [p for p in parameters.values() if p.kind is p.VAR_KEYWORD]
    assert "Annotated" not in str(inspect.signature(scorer))  # checks are for no reader


@scorers
def test_an_unknown_setting_is_named_with_the_nearest_known_one(
    scorer: type[Scorer[Any]],
) -> None:
    with pytest.raises(InvalidValueError, match=r"'treshold'.*'threshold'"):
        scorer(treshold=0.5)  # type: ignore[call-arg]  # on purpose
    with pytest.raises(InvalidValueError, match=r"'zzz'.*threshold"):
        scorer(zzz=0.5)  # type: ignore[call-arg]  # as above


@scorers
def test_a_built_scorer_is_frozen_and_a_changed_one_is_a_copy(
    scorer: type[Scorer[Any]],
) -> None:
    built = scorer(judge=ScriptedModel([]))  # type: ignore[call-arg]  # both take one
    with pytest.raises(InvalidValueError, match=r"changed\(threshold=\.\.\.\)"):
        built.threshold = 0.9
    other = built.changed(threshold=0.9, share=False)
    assert (built.threshold, other.threshold, other.share) == (0.5, 0.9, False)


def test_a_copy_shares_judge_store_and_additional_judges() -> None:
    model, second = ScriptedModel([]), ScriptedModel([], name="scripted:two")
    built = TCVA(
        judge=model,
        fuse=[second, TCVA("correctness", judge="lexical")],
        store=":memory:",
    )
    copy = built.changed(max_claims=3, temperature="strict")
    assert copy.judge.model is model  # type: ignore[attr-defined]  # of this kind
    assert copy.store is built.store
    assert [each.criterion.name for each in copy.members] == [
        "faithfulness",
        "correctness",
    ]
    assert copy.members[0].judge.model is second  # type: ignore[attr-defined]  # as above
    assert copy.members[1] is built.members[1]
    assert copy.members[0].judge.parameters["max_claims"] == 3


LINEAR = SCHEMES["linear"].weights
STEEP: dict[str, Any] = {"temperature": "strict", "scheme": (1, 0.8, 0.5, 0.2, 0.1)}
NAMES: list[tuple[dict[str, Any], str]] = [
    ({"temperature": "balanced", "store": ":memory:"}, ""),
    ({"threshold": 0.8}, "(threshold=0.8)"),
    (STEEP, "(T=0.2,scheme=1_0.8_0.5_0.2_0.1)"),
    (
        {"scheme": WeightScheme("mine", LINEAR), "max_claims": 4},
        "(scheme=linear,max_claims=4)",
    ),
    (
        {"fuse": "lexical", "fuse_weights": (2, 1), "profiles": {"domain": {"a": 0.2}}},
        "(fuse_weights=2+1,fuse=lexical_6 faithfulness,profiles=by domain)",
    ),
    (
        {"on_unscored": {"refusal": 1, "empty_context": 0.5}, "uncontexted": "earlier"},
        "(on_unscored=refusal=1.0+empty_context=0.5,uncontexted=earlier)",
    ),
]


def test_names_tell_what_is_unusual() -> None:
    for settings, name in NAMES:
        assert TCVA(judge="lexical", **settings).name == f"tcva_faithfulness{name}"
    title = "TCVA faithfulness (T=0.2, scheme=1/0.8/0.5/0.2/0.1)"
    assert TCVA(judge="lexical", **STEEP).title == title
    assert (
        TCVA(judge="lexical", threshold=0.8).title
        == "TCVA faithfulness (threshold=0.8)"
    )
    # An exact match is told where there is one.
    assert (
        CCRS("ac", lambda_=0.5, em="normalised").name
        == "ccrs_ac(lambda=0.5,em=normalised)"
    )
    assert CCRS("qr", lambda_=0.5, threshold=0.7).name == "ccrs_qr(threshold=0.7)"
    assert CCRS("qr").title == "CCRS question relevance"


ODD: list[Any] = [*("x", "", True, float("nan"), float("inf"), -(10**400), -1, 2.5)]
ODD += [{}, object(), b"x", 1j, "a\0b", "0.5"]


@scorers
def test_odd_values_are_named(
    scorer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    built = scorer(judge="lexical")
    for name in MODELS[scorer].model_fields:
        for value in ODD if name != "temperature" else ODD[:-1]:
            is_path = isinstance(value, str) and value and "\0" not in value
            if (name == "store" and is_path) or (
                name in ("share", "events", "require_citations") and value is True
            ):
                continue
            if name == "citations" and isinstance(value, str):  # each is a pattern
                continue
            for build in (scorer, built.changed):
                with pytest.raises(
                    (InvalidValueError, UnreadableInputError)
                ) as refused:
                    build(**{"judge": "lexical", name: value})
                assert str(refused.value)


def test_numbers_are_numbers_whatever_they_came_as() -> None:
    assert ScoringConfig(threshold=np.float32(0.5)).threshold == 0.5
    assert ScoringConfig(fuse_weights=[2, 1]) == ScoringConfig(fuse_weights=(2.0, 1.0))
    assert len({ScoringConfig(), ScoringConfig(temperature="balanced")}) == 1
    with pytest.raises(InvalidValueError, match="'strictness'"):
        ScoringConfig().changed(strictness=1)
    assert ModelConfig(prices=[1, 2]).prices == (1.0, 2.0)  # type: ignore[arg-type]  # of JSON


CONFIG = Config(
    criterion="faithfulness",
    settings={
        "temperature": 0.7,
        "scheme": "linear",
        "penalty": "off",
        "threshold": 0.6,
    },
    profiles={"domain": {"medical": "strict", "chat": 0.9}},
    provenance={"labels": 172, "gain": 0.01},
)


def of(domain: str) -> Sample:
    return VISITED.model_copy(update={"metadata": {"domain": domain}})


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "tcva.json"
    CONFIG.dump(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert Config.load(path) == CONFIG
    assert Config.load(CONFIG) is CONFIG
    assert (
        json.loads(path.read_text(encoding="utf-8-sig"))["settings"]["temperature"]
        == 0.7
    )
    with pytest.raises(InvalidValueError, match="cannot write"):
        CONFIG.dump(tmp_path)
    with pytest.raises(UnreadableInputError, match=r"nowhere\.json"):
        Config.load(tmp_path / "nowhere.json")


def test_a_judge_built_from_it_follows_it() -> None:
    tcva = TCVA.from_config(CONFIG, judge=ScriptedModel([REPLY] * 3))
    assert (tcva.criterion.name, tcva.scoring.temperature) == ("faithfulness", 0.7)
    assert tcva.scoring.scheme is SCHEMES["linear"]
    # p(.7) = 5.5 with linear weights 1 and .5.
    expected = ((1 + 0.5**5.5) / 2) ** (1 / 5.5)
    assert tcva.evaluate(VISITED).score == pytest.approx(expected, abs=1e-12)
    medical, chat = tcva.evaluate(of("medical")), tcva.evaluate_many([of("chat")])[0]
    assert (medical.scoring.temperature, chat.scoring.temperature) == (0.2, 0.9)
    assert medical.scoring.scheme is SCHEMES["linear"]

    # What is given in the call wins over profiles, too.
    given = TCVA.from_config(
        CONFIG, judge="lexical", temperature=0.6, criterion="correctness"
    )
    assert (given.scoring.temperature, given.scoring.threshold) == (0.6, 0.6)
    assert given.criterion.name == "correctness"
    sample = of("medical").model_copy(update={"reference": "Nine."})
    assert given.evaluate(sample).scoring.temperature == 0.6


BAD = [
    ("{", "not JSON"),
    ('{"version": 1}', "version"),
    ('{"settings": {"temprature": 0.5}}', "'temprature' of a config.*'temperature'"),
    ('{"settings": {"temperature": 5}}', "got 5"),
    ('{"settings": {"threshold": "0.7"}}', r"threshold must be a number, got '0"),
    ('{"settings": {"scheme": "steep"}}', "got 'steep'"),
    ('{"profiles": {"d": {"a": "tight"}}}', "d=a: .*'tight'"),
    ('{"profiles": {"by": "d", "values": {}}}', "profiles must"),
]


def test_a_bad_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "tcva.json"
    for text, message in BAD:
        path.write_text(text)
        with pytest.raises(UnreadableInputError, match=message) as caught:
            Config.load(path)
        assert "tcva.json" in str(caught.value)


def test_temperatures_lie_within_the_exponents_scale() -> None:
    wide: dict[str, Any] = {"temperature": 1.2, "bounds": Bounds(t_max=1.5)}
    assert Config(settings=wide).settings["temperature"] == 1.2
    profiles = {"domain": {"a": 1.4}}
    assert TCVA(judge="lexical", **wide, profiles=profiles).scoring.temperature == 1.2
    for build in (
        lambda: Config(settings={"temperature": 1.2}),
        lambda: TCVA(judge="lexical", temperature=1.2),
        lambda: TCVA(judge="lexical", profiles={"domain": {"a": 1.2}}),
    ):
        with pytest.raises(
            InvalidValueError, match=r"^(profiles, domain=a: )?temp.* got 1\.2"
        ):
            build()
