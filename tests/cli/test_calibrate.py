"""``tcva calibrate``: from stored assessments to a recommendation, and to a file that others read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters import Assessment, Config, sweep
from tcva_adapters.cli.app import run
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.files import read_assessments, write_assessments
from tcva_adapters.results.result import Result

QUICK = ("--repeats", "3", "-B", "200")


@pytest.fixture(autouse=True)
def _in_a_folder_with_judgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eighty answers with ratings that follow T=0.5, eighty with ratings that follow T=1."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    counts = rng.multinomial(4, [0.4, 0.2, 0.2, 0.2, 0.0], size=160)
    plain, lenient = sweep(counts, [0.5, 1.0]).T
    stored = []
    for i, row in enumerate(counts):
        words = [level for level, n in zip(LEVELS, row, strict=True) for _ in range(n)]
        first = i < 80
        metadata = {
            "score": float(plain[i] if first else lenient[i]),
            "curved": float(plain[i] ** 4),
            "stars": 1 + 4 * float(plain[i]),
            "verdict": "pass" if plain[i] >= 0.8 else "fail",
            "always": "pass",
            "domain": "medical" if first else "creative",
            "page": i // 2,
        }
        one = Assessment.from_verdicts(words, sample_id=str(i))
        stored.append(one.model_copy(update={"metadata": metadata}))
    stored += [
        Assessment.from_verdicts(["fully"], sample_id="unrated"),
        Assessment.from_verdicts([], sample_id="unscored"),
    ]
    write_assessments("judged.jsonl", stored)
    write_assessments("creative.jsonl", stored[80:])
    write_assessments("few.jsonl", stored[80:100])


def said(capsys: pytest.CaptureFixture[str], file: str, *arguments: str) -> dict[str, Any]:
    assert run(["calibrate", file, *QUICK, "--json", *arguments]) == 0
    parsed = json.loads(capsys.readouterr().out)
    assert isinstance(parsed, dict)
    return parsed


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["calibrate", "judged.jsonl", *QUICK, *arguments]) == 2
    return capsys.readouterr().err


def test_a_detectable_gain_is_recommended_and_read_by_evaluate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = said(capsys, "creative.jsonl", "--human", "score", "-o", "new/tcva.json")
    assert found["detectable"] is True
    assert (found["samples"], found["n"], found["unscored"], found["unrated"]) == (82, 80, 1, 1)
    temperature = found["recommended"]["temperature"]
    assert temperature > 0.8
    assert found["gain"]["low"] > 0
    config = Config.load("new/tcva.json")
    assert config.settings["temperature"] == temperature
    assert config.provenance is not None
    assert config.provenance["human"] == "score"

    record = {"answer": "Doors open at nine.", "contexts": ["Doors open at nine."]}
    Path("in.jsonl").write_text(json.dumps(record), encoding="utf-8")
    assert run(["evaluate", "in.jsonl", "--config", "new/tcva.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["temperature"] == temperature


def test_what_is_printed_says_what_is_honest(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--human", "stars", "--group", "page", "--objective", "kendall"]
    assert run(["calibrate", "judged.jsonl", *QUICK, *arguments]) == 0
    printed = capsys.readouterr().out
    said, also, head, more, *figures = printed.splitlines()
    assert said.startswith(
        "No detectable difference: keep 0.5 (gain of choosing 0.000 kendall, on 160"
    )
    assert also.endswith("no interval: both agree as well on all resamples: nothing varies)")
    assert f"{head} {more}" == (
        "faithfulness by given: kendall with 'stars', 160 samples "
        "(1 unscored, 1 without a rating left out)"
    )
    assert [line[:18].rstrip() for line in figures[:4]] == [
        "T=0.5",
        "T=0.5",
        "chosen out of fold",
        "gain of choosing",
    ]
    assert "chosen in the folds: T=0.5 100%" in printed
    assert "few" not in printed
    assert max(map(len, figures)) <= 80


def test_few_labels_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", "few.jsonl", *QUICK, "--human", "score"]) == 0
    assert "note: 20 ratings are few: below 30" in capsys.readouterr().out


def test_profiles_by_a_field(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--human", "score", "--by", "domain", "-o", "tcva.json"]
    found = said(capsys, "judged.jsonl", *arguments)
    assert list(found["profiles"]) == ["medical", "creative"]
    settings = Config.load("tcva.json").settings
    assert settings["temperature"] == found["recommended"]["temperature"]
    assert run(["calibrate", "judged.jsonl", *QUICK, *arguments]) == 0
    printed, also = capsys.readouterr()
    assert "by 'domain', each on its own samples:" in printed
    assert "97.5% interval" in printed
    assert re.fullmatch(
        r"written: tcva\.json \(\d+ kB\): the recommended settings, for --config tcva\.json\n", also
    )


def test_words_as_labels_and_thresholds(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--human", "verdict", "--objective", "kappa", "-T", "0.5"]
    found = said(capsys, "judged.jsonl", *arguments, "--threshold", "0.5", "--threshold", "0.8")
    assert found["candidates"] == 2
    assert found["recommended"]["threshold"] == 0.8
    assert found["in_sample"] == 1.0


def test_more_to_choose_from(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--scheme", "default", "--scheme", "1,.8,.5,.2,0", "--penalty", "off"]
    arguments += ["--floor", "always", "--eps", "0.05", "--step", "0.3"]
    found = said(capsys, "judged.jsonl", "--human", "score", *arguments)
    # Temperatures 0.1, 0.4, 0.7, 1.0 with two schemes, and the default.
    assert found["candidates"] == 9


def test_unusable_lines_can_be_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("judged.jsonl").read_text(encoding="utf-8")
    Path("bad.jsonl").write_text("{}\n" + text, encoding="utf-8")
    assert run(["calibrate", "bad.jsonl", "--human", "score"]) == 2
    assert "line 1" in capsys.readouterr().err
    assert said(capsys, "bad.jsonl", "--human", "score", "--skip-bad")["skipped"] == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--human", "nothing"], "no assessment has 'nothing' in its metadata; the keys are"),
        (["--human", "domain"], "assessment 1, metadata 'domain': 'medical' is no rating"),
        (["--human", "always"], "all 160 human ratings are 1"),
        (["--human", "score", "--objective", "auc"], "unknown objective 'auc'"),
        (["--human", "stars", "--objective", "mae"], "--human-scale 1,5"),
        (["--human", "score", "--human-scale", "5"], "it is two numbers"),
        (["--human", "score", "--folds", "200"], "cannot fill 200 folds"),
        (["--human", "score", "--group", "page", "--folds", "100"], "80 groups of rated"),
        (["--human", "score", "--scheme", "steep"], "unknown weight scheme 'steep'"),
    ],
)
def test_wrong_use_is_one_sentence(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refused(capsys, *arguments)
    assert says in error
    assert error.count("\n") == 1


def test_the_judgements_are_never_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("judged.jsonl").read_bytes()
    assert "is the file that the samples come from" in refused(
        capsys, "--human", "score", "--out", "judged.jsonl"
    )
    assert Path("judged.jsonl").read_bytes() == before
    assert "is a folder" in refused(capsys, "--human", "score", "--out", ".")


def test_a_choice_has_to_beat_the_settings_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    Config(
        criterion="correctness",
        settings={"temperature": 1.0, "penalty": "off"},
        profiles={"domain": {"medical": 0.2}},
    ).dump("tcva.json")
    arguments = ["calibrate", "creative.jsonl", *QUICK, "--human", "score", "--config", "tcva.json"]
    assert run([*arguments, "--json"]) == 0
    out, notes = capsys.readouterr()
    found = json.loads(out)
    assert found["baseline"]["temperature"] == 1.0
    # No other penalty was asked for, so none but the one in use is tried.
    assert found["baseline"]["penalty"] == found["chosen"]["penalty"] == "off"
    assert "has profiles by 'domain'" in notes
    assert "is for correctness, these are of faithfulness" in notes
    assert run(arguments) == 0
    assert "in use now" in capsys.readouterr().out


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
    found = said(capsys, "fused.jsonl", "--human", "score")
    assert found["fused"] == ["faithfulness by given", "faithfulness by second"]
    rated = [each for each in fused if "score" in each.metadata]
    scores = [Result(each).score for each in rated]
    people = [each.metadata["score"] for each in rated]
    assert found["before"] == pytest.approx(stats.spearmanr(scores, people).statistic, abs=1e-12)
    assert found["before"] != pytest.approx(
        said(capsys, "judged.jsonl", "--human", "score")["before"]
    )


def test_scales_and_thresholds_without_end_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    mae = ("--human", "score", "--objective", "mae")
    assert "is finite" in refused(capsys, *mae, "--human-scale", "0,inf")
    f1 = ("--human", "score", "--objective", "f1")
    assert "finite human_threshold" in refused(capsys, *f1, "--human-threshold", "nan")
