"""An eps and a floor that do not go together are refused wherever settings come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcva_adapters import TCVA, Profiles, Result
from tcva_adapters.cli.app import run
from tcva_adapters.compare import sweep
from tcva_adapters.errors import InvalidValueError, TCVAError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.config import Config, Settings
from tcva_adapters.results.scoring import Scoring

ASSESSMENT = Assessment.from_verdicts(["fully"] * 4 + ["none"])
NAMED = 'floor="always"'


def test_settings_are_refused_wherever_the_dial_stands() -> None:
    for temperature in ("strict", 0.5):
        with pytest.raises(InvalidValueError, match=NAMED):
            Scoring(temperature=temperature, eps=0.05)  # type: ignore[arg-type]  # presets are known
        with pytest.raises(InvalidValueError, match=NAMED):
            TCVA(judge="lexical", temperature=temperature, eps=0.05)
    with pytest.raises(InvalidValueError, match=NAMED):
        Result(ASSESSMENT).at(0.5, eps=0.05)
    graded = Result(ASSESSMENT).at(0.3, eps=0.05, floor="always")
    assert graded.score == pytest.approx(0.061, abs=5e-4)
    assert graded.flip_temperature is not None
    with pytest.raises(InvalidValueError, match=NAMED):
        graded.at(0.3, floor="paper")
    assert Scoring(eps=1e-12).floor == "paper"


def test_profiles_are_refused_before_anything_is_judged() -> None:
    alone = Profiles("domain", {"medical": {"eps": 0.05}})
    assert TCVA(judge="lexical", floor="always", profiles=alone).profiles == alone
    with pytest.raises(InvalidValueError, match=NAMED):
        TCVA(judge="lexical", profiles=alone)
    with pytest.raises(InvalidValueError, match=NAMED):
        Profiles("domain", {"medical": {"eps": 0.05, "floor": "paper"}})
    back = Profiles("domain", {"chat": {"floor": "paper"}})
    with pytest.raises(InvalidValueError, match=NAMED):
        TCVA(judge="lexical", floor="always", eps=0.05, profiles=back)


def test_stored_settings_are_refused_when_they_are_read(tmp_path: Path) -> None:
    stored = json.loads(Result(ASSESSMENT).to_json())
    stored["scoring"]["eps"] = 0.05
    with pytest.raises(TCVAError, match=NAMED):
        Result.from_json(json.dumps(stored))
    file = tmp_path / "tcva.json"
    Config(settings=Settings(eps=0.05)).dump(file)
    with pytest.raises(InvalidValueError, match=NAMED):
        TCVA.from_config(file, judge="lexical")
    with pytest.raises(InvalidValueError, match=NAMED):
        sweep([[4, 0, 0, 0, 1]], config=file)
    assert TCVA.from_config(file, judge="lexical", floor="always").scoring.eps == 0.05


def test_the_command_line_names_the_way_to_say_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = tmp_path / "samples.jsonl"
    samples.write_text('{"question": "?", "answer": "It is.", "contexts": ["It is."]}\n')
    arguments = ["evaluate", str(samples), "--judge", "lexical", "--eps", "0.05"]
    assert run(arguments) == 2
    assert NAMED in capsys.readouterr().err
    assert run([*arguments, "--floor", "always"]) == 0
