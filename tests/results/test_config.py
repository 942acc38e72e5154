"""A configuration file: read, written, refused, and followed by what is built from it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tcva_adapters import TCVA, Config, HumanScale, Profiles, Sample, WeightScheme
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.config import MappingKnots, ProfileTable, Settings
from tcva_adapters.results.scoring import Scoring
from tests.support.scripted import ScriptedModel, verdict_json

CONFIG = Config(
    criterion="faithfulness",
    settings=Settings(temperature=0.7, scheme="linear", penalty="off", threshold=0.6),
    mapping=MappingKnots(x=(0.0, 1.0), y=(1.0, 5.0)),
    profiles=ProfileTable(
        by="domain",
        values={"medical": Settings(temperature="strict"), "chat": Settings(temperature=0.9)},
    ),
    provenance={"labels": 172, "gain": 0.01},
)
SAMPLE = Sample(
    response="The office opens at nine. Parking costs money.",
    contexts=("The office opens at nine. Parking is free for visitors.",),
)
REPLY = verdict_json((1, "fully", "opens at nine"), (2, "partial", "Parking is free"))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "tcva.json"
    CONFIG.dump(path)
    assert Config.load(path) == CONFIG
    assert Config.load(CONFIG) is CONFIG
    assert json.loads(path.read_text())["settings"]["temperature"] == 0.7


def test_a_judge_built_from_it_follows_it(tmp_path: Path) -> None:
    path = tmp_path / "tcva.json"
    CONFIG.dump(path)
    tcva = TCVA.from_config(path, judge=ScriptedModel([REPLY] * 3))
    assert (tcva.criterion.name, tcva.scoring.temperature) == ("faithfulness", 0.7)
    assert tcva.scoring.scheme is WeightScheme.LINEAR
    plain = tcva.evaluate(SAMPLE)
    # p(.7) = 5.5 with linear weights 1 and .5.
    expected = ((1 + 0.5**5.5) / 2) ** (1 / 5.5)
    assert plain.score == pytest.approx(expected, abs=1e-12)
    assert plain.human_score == pytest.approx(1 + 4 * expected, abs=1e-12)
    medical = tcva.evaluate(SAMPLE.model_copy(update={"metadata": {"domain": "medical"}}))
    assert medical.scoring.temperature == 0.2
    assert medical.scoring.scheme is WeightScheme.LINEAR
    chat = tcva.evaluate_many([SAMPLE.model_copy(update={"metadata": {"domain": "chat"}})])[0]
    assert chat.scoring.temperature == 0.9


def test_what_is_given_beside_it_wins() -> None:
    tcva = TCVA.from_config(CONFIG, temperature=0.3, criterion="answer_relevancy")
    assert tcva.scoring.temperature == 0.3
    assert tcva.criterion.name == "answer_relevancy"
    assert tcva.scoring.threshold == 0.6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ('{"version": 2}', "version"),
        ('{"settings": {"temprature": 0.5}}', "unknown setting 'temprature'"),
        ('{"settings": {"temperature": 5}}', r"temperature 5\.0 is outside"),
        ('{"settings": {"scheme": "steep"}}', "unknown weight scheme 'steep'"),
        ('{"settings": {"scheme": [1, 2, 3, 4, 5]}}', "weight"),
        ('{"profiles": {"by": "d", "values": {"a": {"threshold": 7}}}}', "threshold=7"),
        ('{"mapping": {"x": [0, 1], "y": [1, 0]}}', "no line that rises"),
        ("[]", "document"),
    ],
)
def test_a_bad_file_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "tcva.json"
    path.write_text(text)
    with pytest.raises(UnreadableInputError, match=message) as caught:
        Config.load(path)
    assert "tcva.json" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match=r"nowhere\.json"):
        Config.load(tmp_path / "nowhere.json")


def test_lines_that_do_not_rise_are_refused() -> None:
    for x, y in (
        ((), ()),
        ((0, 0), (0, 1)),
        ((0, 1), (1, 0)),
        ((0, 1), (0,)),
        ((0.0, 1.0), (0.0, float("nan"))),
    ):
        with pytest.raises(InvalidValueError, match="no line that rises"):
            HumanScale(x, y)
    assert HumanScale((0.5,), (3.0,))(0.1) == 3.0


def test_unknown_settings_in_profiles_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="unknown setting 'temp'"):
        Profiles("domain", {"a": {"temp": 0.5}})


def test_what_is_given_beside_it_wins_over_profiles_too() -> None:
    medical = SAMPLE.model_copy(update={"metadata": {"domain": "medical"}})
    plain = TCVA.from_config(CONFIG, judge="lexical").evaluate(medical)
    given = TCVA.from_config(CONFIG, judge="lexical", temperature=0.6).evaluate(medical)
    assert (plain.scoring.temperature, given.scoring.temperature) == (0.2, 0.6)


def test_a_byte_order_mark_and_a_missing_folder_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "tcva.json"
    CONFIG.dump(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert Config.load(path) == CONFIG
    with pytest.raises(InvalidValueError, match="cannot write"):
        CONFIG.dump(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"temperature": true}', "temperature must be a number, not True"),
        ('{"threshold": "0.7"}', r"threshold='0\.7'; it lies in \[0, 1\]"),
    ],
)
def test_words_are_no_numbers(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tcva.json"
    path.write_text(f'{{"settings": {text}}}')
    with pytest.raises(UnreadableInputError, match=said):
        Config.load(path)


def test_a_sample_without_the_field_has_no_profile() -> None:
    profiles = Profiles("domain", {"None": {"temperature": 0.2}})
    assert profiles.scoring(Scoring(), {}).temperature == 0.5
    for values in (None, {"a": 3}):
        with pytest.raises(InvalidValueError, match="map each value of 'domain' to settings"):
            Profiles("domain", values)  # type: ignore[arg-type]  # what a user may get wrong


def test_settings_are_numbers_whatever_they_came_as() -> None:
    assert Scoring(temperature="strict").temperature == 0.2  # type: ignore[arg-type]  # by name
    assert Scoring(threshold=np.float32(0.5)).threshold == 0.5  # type: ignore[arg-type]  # numpy's
    assert HumanScale([0.5], [3]) == HumanScale((0.5,), (3.0,))  # type: ignore[arg-type]  # lists
    assert hash(HumanScale([0.5], [3])) == hash(HumanScale((0.5,), (3.0,)))  # type: ignore[arg-type]  # lists
    with pytest.raises(InvalidValueError, match="no line that rises"):
        HumanScale((0.5,), ("a",))  # type: ignore[arg-type]  # no number


def test_exponents_are_kept_in_the_file(tmp_path: Path) -> None:
    bounds = Bounds(p_min=-4.0, p_max=8.0)
    Config(settings=Settings(temperature=0.3, bounds=bounds)).dump(tmp_path / "tcva.json")
    written = json.loads((tmp_path / "tcva.json").read_text(encoding="utf-8"))["settings"]
    assert written["bounds"] == {"p_min": -4.0, "p_max": 8.0, "t_min": 0.1, "t_max": 1.0}
    tcva = TCVA.from_config(tmp_path / "tcva.json", judge="lexical")
    assert tcva.scoring.bounds == bounds
    assert tcva.name == "tcva_faithfulness(T=0.3,p=-4..8)"
    one_end = Settings.model_validate({"bounds": {"p_min": -4.0}})
    assert one_end.given() == {"bounds": Bounds(p_min=-4.0)}


def test_temperatures_lie_within_the_exponents_scale() -> None:
    wide = Bounds(t_max=1.5)
    assert Settings(temperature=1.2, bounds=wide).given()["temperature"] == 1.2
    assert TCVA(judge="lexical", temperature=1.2, bounds=wide).scoring.temperature == 1.2
    for build in (
        lambda: Settings(temperature=1.2),
        lambda: TCVA(judge="lexical", temperature=1.2),
    ):
        with pytest.raises(InvalidValueError, match=r"1\.2 is outside \[0\.1, 1\.0\]"):
            build()
