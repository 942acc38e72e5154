"""The commands as functions: from files or from memory, with the same figures and the same faces."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import Assessment, Config, Result
from tcva_adapters.cli.app import run
from tcva_adapters.compare import calibrate
from tcva_adapters.compare.judged import Judged
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import (
    InvalidValueError,
    MissingDependencyError,
    UnreadableInputError,
)
from tcva_adapters.printing import Tabular
from tcva_adapters.results.files import write_assessments

pytest.importorskip("scipy", reason="the extra stats")

QUICK: dict[str, Any] = {"repeats": 2, "n_boot": 100}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def judged(n: int = 40, seed: int = 1) -> list[Assessment]:
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        words = rng.choice(LEVELS, 3).tolist()
        metadata = {"grade": rng.integers(0, 5) / 4, "part": "<b>even" if i % 2 else "odd"}
        one = Assessment.from_verdicts(words, sample_id=f"q{i}")
        found.append(one.model_copy(update={"metadata": metadata}))
    return found


def reports() -> list[Tabular]:
    return [
        calibrate(judged(), "grade", by="part", **QUICK),
    ]


def test_every_report_has_the_same_faces(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reports()
    for report in found:
        assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report.to_dict()
        assert str(report) == report.text()
        shown = report._repr_html_()
        assert shown.startswith("<div")
        assert "<b>" not in shown
    pytest.importorskip("pandas", reason="frameworks bring it")
    for report in found:
        assert len(report.to_pandas()) == len(report.records()) > 0
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="pip install pandas"):
        found[0].to_pandas()


def test_files_results_assessments_and_counts_give_the_same_figures() -> None:
    assessments = judged()
    write_assessments("all.jsonl", assessments)
    write_assessments("first.jsonl", assessments[:15])
    write_assessments("rest.jsonl", assessments[15:])
    grades = [each.metadata["grade"] for each in assessments]
    expected = calibrate("all.jsonl", "grade", **QUICK)
    for source in (Path("all.jsonl"), ["first.jsonl", "rest.jsonl"], assessments):
        assert calibrate(source, "grade", **QUICK) == expected
    results = [Result(each) for each in assessments]
    assert calibrate(results, grades, **QUICK).gain == expected.gain
    counts = np.array([each.counts for each in assessments])
    assert calibrate(counts, grades, **QUICK).gain == expected.gain
    assert expected.judged is not None
    assert calibrate(expected.judged, "grade", **QUICK) == expected


@pytest.mark.parametrize("command", ["calibrate"])
def test_a_command_prints_the_report_of_its_function(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_assessments("all.jsonl", judged())
    Config(settings={"temperature": 0.3, "penalty": "off"}).dump("tcva.json")
    quick = ["--repeats", "2", "-B", "100"] if command == "calibrate" else []
    arguments = [command, "all.jsonl", "--human", "grade", "--config", "tcva.json", *quick]
    found = calibrate("all.jsonl", "grade", config="tcva.json", **QUICK)
    assert run(arguments) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == str(
        found
    ).splitlines()
    assert run([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found.to_dict()


def test_what_a_calibration_chose_is_saved() -> None:
    found = calibrate(judged(), "grade", objective="mae", **QUICK)
    found.save("new/tcva.json")
    assert Config.load("new/tcva.json") == found.config()
    assert found.config().settings["temperature"] == found.recommended.temperature
    assert found.config().criterion == "faithfulness"


def test_parts_and_groups_may_be_values() -> None:
    assessments = judged()
    parts = [each.metadata["part"] for each in assessments]
    by_key = calibrate(assessments, "grade", by="part", **QUICK)
    by_value = calibrate(assessments, "grade", by=parts, **QUICK)
    assert by_value.profiles == by_key.profiles
    with pytest.raises(InvalidValueError, match="3 parts for 40 samples"):
        calibrate(assessments, "grade", by=parts[:3], **QUICK)
    with pytest.raises(InvalidValueError, match="3 groups for 40 samples"):
        calibrate(assessments, "grade", group=parts[:3], **QUICK)


def test_a_configuration_in_memory_is_the_setting_to_beat() -> None:
    config = Config(
        settings={"temperature": 0.9, "scheme": "linear"},
        profiles={"part": {"odd": 0.2}},
    )
    found = calibrate(judged(), "grade", config=config, **QUICK)
    assert (found.baseline.temperature, found.baseline.scheme.name) == (0.9, "linear")
    assert found.unused == (
        "the configuration has profiles by 'part'; its settings for all samples are used here",
    )


def test_bad_lines_are_left_out_and_named() -> None:
    write_assessments("a.jsonl", judged(3))
    text = Path("a.jsonl").read_text(encoding="utf-8")
    Path("b.jsonl").write_text(f"nonsense\n{text}", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="line 1"):
        Judged.of("b.jsonl")
    read = Judged.of(["a.jsonl", "b.jsonl"], skip_bad=True)
    (note,) = read.notes
    assert note.startswith("skipped line 1 of b.jsonl: ")
    assert (len(read), read.to_dict()["skipped"]) == (6, 1)
