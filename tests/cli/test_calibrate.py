"""``tcva calibrate``: from stored judgements to a recommendation, and to a file that others read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra stats")

from scipy import stats

from tcva_adapters import Assessment, Config, sweep
from tcva_adapters.cli.app import run
from tcva_adapters.compare import calibrate, calibration
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.files import read_assessments, write_assessments
from tcva_adapters.results.result import Result

QUICK = ("-B", "200")


@pytest.fixture(autouse=True)
def _in_a_folder_with_judgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eighty answers with ratings that follow T=0.5, eighty with ratings that follow T=1."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(calibration, "REPEATS", 3)
    rng = np.random.default_rng(3)
    counts = rng.multinomial(4, [0.4, 0.2, 0.2, 0.2, 0.0], size=160)
    plain, lenient = sweep(counts, [0.5, 1.0]).T
    stored = []
    for i, row in enumerate(counts):
        words = [level for level, n in zip(LEVELS, row, strict=True) for _ in range(n)]
        first = i < 80
        metadata = {
            "score": float(plain[i] if first else lenient[i]),
            "stars": 1 + 4 * float(plain[i]),
            "always": "pass",
            "domain": "medical" if first else "creative",
        }
        one = Assessment.from_verdicts(words, sample_id=str(i))
        stored.append(one.model_copy(update={"metadata": metadata}))
    stored += [
        Assessment.from_verdicts(["fully"], sample_id="unrated"),
        Assessment.from_verdicts([], sample_id="unscored"),
    ]
    write_assessments("judged.jsonl", stored)
    write_assessments("creative.jsonl", stored[80:])


def said(capsys: pytest.CaptureFixture[str], file: str, *arguments: str) -> dict[str, Any]:
    assert run(["calibrate", file, *QUICK, "--json", *arguments]) == 0
    parsed = json.loads(capsys.readouterr().out)
    assert isinstance(parsed, dict)
    return parsed


def test_a_detectable_gain_is_recommended_and_read_by_evaluate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = said(capsys, "creative.jsonl", "--human", "score", "-o", "new/tcva.json")
    (gain,) = found["tables"]["gain"]
    assert (gain["detectable"], gain["n"]) == (True, 80)
    assert found["notes"][0] == "2 samples without a score or a rating left out"
    temperature = found["settings"]["recommended"]["temperature"]
    assert temperature > 0.8
    config = Config.load("new/tcva.json")
    assert config.settings["temperature"] == temperature
    record = {"answer": "Doors open at nine.", "contexts": ["Doors open at nine."]}
    Path("in.jsonl").write_text(json.dumps(record), encoding="utf-8")
    assert run(["evaluate", "in.jsonl", "--config", "new/tcva.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["temperature"] == temperature
    # The file is the setting to beat now.
    again = said(capsys, "creative.jsonl", "--human", "score", "--config", "new/tcva.json")
    assert again["tables"]["settings"][0]["setting"] == f"T={temperature:g}"


def test_the_command_prints_the_report_of_its_function(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--human", "stars", "--human-scale", "1,5", "--objective", "mae", "--by", "domain"]
    scale: Any = (1, 5)
    expected = calibrate(
        "judged.jsonl", "stars", human_scale=scale, objective="mae", by="domain", resamples=200
    )
    assert said(capsys, "judged.jsonl", *arguments) == expected.to_dict()
    assert run(["calibrate", "judged.jsonl", *QUICK, *arguments, "-o", "tcva.json"]) == 0
    printed, also = capsys.readouterr()
    assert printed == expected.text()
    assert also.startswith("written: tcva.json (")


def test_more_to_choose_from(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--scheme", "default", "--scheme", "1,.8,.5,.2,0", "-T", "0.1,strict,1"]
    found = said(capsys, "judged.jsonl", "--human", "score", "--penalty", "off", *arguments)
    # Three temperatures with two schemes and another penalty, and the setting in use.
    assert found["tables"]["settings"][1]["measured"].startswith("best of 7, ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--human", "nothing"], "no sample has 'nothing' in its metadata"),
        (["--human", "domain"], "'medical' is no rating"),
        (["--human", "always"], "all 160 human ratings are 1"),
        (["--human", "score", "--objective", "auc"], "no objective 'auc'"),
        (["--human", "stars", "--objective", "mae"], "--human-scale 1,5"),
        (["--human", "score", "--human-scale", "5"], "it is two numbers"),
        (["--human", "score", "--scheme", "steep"], "unknown weight scheme 'steep'"),
        (["--human", "score", "--out", "judged.jsonl"], "the file that the samples come from"),
        (["--human", "score", "--out", "."], "is a folder"),
    ],
)
def test_wrong_use_is_one_sentence(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path("judged.jsonl").read_bytes()
    assert run(["calibrate", "judged.jsonl", *QUICK, *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert Path("judged.jsonl").read_bytes() == before


def test_scores_that_were_fused_are_calibrated_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    stored = read_assessments("judged.jsonl")
    second = Assessment.from_verdicts(["fully", "minor"]).model_copy(update={"judge": "second"})
    fused = [
        each
        if each.unscored is not None
        else each.model_copy(update={"members": (stored[159 - i], second)})
        for i, each in enumerate(stored)
    ]
    write_assessments("fused.jsonl", fused)
    before = said(capsys, "fused.jsonl", "--human", "score")["tables"]["settings"][0]["spearman"]
    rated = [each for each in fused if "score" in each.metadata]
    scores = [Result(each).score for each in rated]
    people = [each.metadata["score"] for each in rated]
    assert before == pytest.approx(stats.spearmanr(scores, people).statistic, abs=1e-12)
