"""A configuration file: read, written, refused, and followed by what is built from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Config, Sample, WeightScheme
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.errors import InvalidValueError, TCVAError, UnreadableInputError
from tcva_adapters.results.settings import ScoringConfig
from tests.support.scripted import ScriptedModel, verdict_json

CONFIG = Config(
    criterion="faithfulness",
    settings={"temperature": 0.7, "scheme": "linear", "penalty": "off", "threshold": 0.6},
    profiles={"domain": {"medical": "strict", "chat": 0.9}},
    provenance={"labels": 172, "gain": 0.01},
)
SAMPLE = Sample(
    response="The office opens at nine. Parking costs money.",
    contexts=("The office opens at nine. Parking is free for visitors.",),
)
REPLY = verdict_json((1, "fully", "opens at nine"), (2, "partial", "Parking is free"))


def of(domain: str) -> Sample:
    return SAMPLE.model_copy(update={"metadata": {"domain": domain}})


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "tcva.json"
    CONFIG.dump(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert Config.load(path) == CONFIG
    assert Config.load(CONFIG) is CONFIG
    assert json.loads(path.read_text(encoding="utf-8-sig"))["settings"]["temperature"] == 0.7
    with pytest.raises(InvalidValueError, match="cannot write"):
        CONFIG.dump(tmp_path)
    with pytest.raises(UnreadableInputError, match=r"nowhere\.json"):
        Config.load(tmp_path / "nowhere.json")


def test_a_judge_built_from_it_follows_it() -> None:
    tcva = TCVA.from_config(CONFIG, judge=ScriptedModel([REPLY] * 3))
    assert (tcva.criterion.name, tcva.scoring.temperature) == ("faithfulness", 0.7)
    assert tcva.scoring.scheme is WeightScheme.LINEAR
    # p(.7) = 5.5 with linear weights 1 and .5.
    expected = ((1 + 0.5**5.5) / 2) ** (1 / 5.5)
    assert tcva.evaluate(SAMPLE).score == pytest.approx(expected, abs=1e-12)
    medical, chat = tcva.evaluate(of("medical")), tcva.evaluate_many([of("chat")])[0]
    assert (medical.scoring.temperature, chat.scoring.temperature) == (0.2, 0.9)
    assert medical.scoring.scheme is WeightScheme.LINEAR

    # What is given in the call wins over profiles, too.
    given = TCVA.from_config(CONFIG, judge="lexical", temperature=0.6, criterion="correctness")
    assert (given.scoring.temperature, given.scoring.threshold) == (0.6, 0.6)
    assert given.criterion.name == "correctness"
    sample = of("medical").model_copy(update={"reference": "Nine."})
    assert given.evaluate(sample).scoring.temperature == 0.6


BAD = [
    ("{", "not JSON"),
    ('{"version": 1}', "version"),
    ('{"settings": {"temprature": 0.5}}', "'temprature' of a config.*'temperature' meant"),
    ('{"settings": {"temperature": 5}}', "got 5"),
    ('{"settings": {"threshold": "0.7"}}', r"threshold='0\.7'; it should be a number"),
    ('{"settings": {"scheme": "steep"}}', "unknown weight scheme 'steep'"),
    ('{"profiles": {"d": {"a": 7}}}', "got 7"),
    ('{"profiles": {"by": "d", "values": {}}}', "profiles="),
]


def test_a_bad_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "tcva.json"
    for text, message in BAD:
        path.write_text(text)
        with pytest.raises(UnreadableInputError, match=message) as caught:
            Config.load(path)
        assert "tcva.json" in str(caught.value)


def test_exponents_are_kept_in_the_file(tmp_path: Path) -> None:
    bounds = Bounds(p_min=-4.0, p_max=8.0)
    Config(settings={"temperature": 0.3, "bounds": bounds}).dump(tmp_path / "tcva.json")
    written = json.loads((tmp_path / "tcva.json").read_text(encoding="utf-8"))["settings"]
    assert written["bounds"] == {"p_min": -4.0, "p_max": 8.0, "t_min": 0.1, "t_max": 1.0}
    tcva = TCVA.from_config(tmp_path / "tcva.json", judge="lexical")
    assert tcva.scoring.bounds == bounds
    assert tcva.name == "tcva_faithfulness(T=0.3,p=-4..8)"
    assert Config(settings={"bounds": {"p_min": -4.0}}).given() == {"bounds": Bounds(p_min=-4.0)}


def test_temperatures_lie_within_the_exponents_scale() -> None:
    wide: dict[str, Any] = {"temperature": 1.2, "bounds": Bounds(t_max=1.5)}
    assert Config(settings=wide).given()["temperature"] == 1.2
    profiles = {"domain": {"a": 1.4}}
    assert TCVA(judge="lexical", **wide, profiles=profiles).scoring.temperature == 1.2
    for build in (
        lambda: Config(settings={"temperature": 1.2}),
        lambda: TCVA(judge="lexical", temperature=1.2),
        lambda: TCVA(judge="lexical", profiles={"domain": {"a": 1.2}}),
    ):
        with pytest.raises(InvalidValueError, match=r"1\.2"):
            build()


def test_a_sample_without_the_field_has_no_profile() -> None:
    profiles = {"domain": {"None": 0.2}}
    assert ScoringConfig().for_profile(profiles, {}).temperature == 0.5
    assert ScoringConfig().for_profile(profiles, {"domain": None}).temperature == 0.5
    odd: Any
    for odd in ({}, {"domain": 3}, {"a": {}, "b": {}}, "x", {"domain": {"a": {"threshold": 0.5}}}):
        with pytest.raises(InvalidValueError, match=r"map one metadata field|temperature"):
            TCVA(judge="lexical", profiles=odd)


def test_an_eps_and_a_floor_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tcva.json"
    Config(settings={"eps": 0.05}).dump(file)
    result = TCVA(judge="lexical").evaluate(SAMPLE)
    for refused in (
        lambda: TCVA.from_config(file, judge="lexical"),
        lambda: result.at(0.5, eps=0.05),
    ):
        with pytest.raises(TCVAError, match='floor="always"'):
            refused()
    assert TCVA.from_config(file, judge="lexical", floor="always").scoring.eps == 0.05
