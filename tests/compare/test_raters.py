"""Several human raters in a comparison: their mean, their agreement, and the ceilings."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tcva_adapters.cli.app import run
from tcva_adapters.compare.raters import Raters
from tcva_adapters.compare.ratings import human_ratings
from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.alpha import krippendorff_alpha
from tcva_adapters.stats.ceiling import ceiling
from tcva_adapters.stats.checks import FloatArray

pytest.importorskip("scipy", reason="the extra stats")

NAMES = ("anna", "ben", "carl")


def judged(n: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(2)
    truth = rng.random(n)
    ratings = np.round(np.clip(truth[:, None] + rng.normal(0, 0.25, (n, 3)), 0, 1) * 4) / 4
    return ratings, np.clip(truth + rng.normal(0, 0.2, n), 0, 1)[:, None]


def by_rater(ratings: FloatArray) -> dict[str, dict[str, float]]:
    return {
        name: {f"s{i}": float(r) for i, r in enumerate(column) if not math.isnan(r)}
        for name, column in zip(NAMES, ratings.T, strict=False)
    }


def table(scores: FloatArray) -> ScoreTable:
    return ScoreTable(tuple(f"s{i}" for i in range(len(scores))), ("ours",), scores)


def test_figures_are_those_of_the_statistics() -> None:
    ratings, scores = judged(50)
    ratings[::5, 1] = math.nan
    found = Raters.of(by_rater(ratings), table(scores), objective="pearson")
    assert found.ceiling == ceiling("pearson", ratings, scores)
    assert found.alpha == krippendorff_alpha(ratings.T, "interval")
    assert found.notes == ()
    figures = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert figures["ceiling"]["pairs"][1]["second"] == "carl"
    assert figures["ceiling"]["methods"]["ours"]["corrected"]["low"] > 0
    text = " ".join(found.text(full=True).split())
    assert "3 raters agree by Pearson's r" in text
    assert "one more rater" in text


def test_ratings_that_crowd_have_no_interval_of_alpha() -> None:
    ratings, scores = judged(50)
    found = Raters.of(by_rater(np.maximum(ratings, 0.75)), table(scores))
    text = " ".join(found.text().split())
    assert "no interval of alpha:" in text
    assert "of the ratings are equal: an interval needs 100 samples" in text


def test_what_is_odd_is_said() -> None:
    ratings, scores = judged(12)
    ratings[:, 1] *= 5
    ratings[:, 2] = 0.5
    found = Raters.of(by_rater(ratings), table(scores), objective="mae")
    text = " ".join(found.text(full=True).split())
    for said in (
        "mae cannot be corrected for raters: these are spearman's figures",
        "carl gave one rating throughout",
        "raters seem to use different scales",
        "no intervals of these: 12 samples: an interval needs 30",
        "below 30 alpha hangs on one or two",
    ):
        assert said in text
    apart = Raters.of({"anna": {"s0": 1.0}, "ben": {"s1": 0.5}}, table(scores))
    assert "cannot be told by Spearman" in apart.sentence
    assert apart.to_dict()["ceiling"]["best"]["value"] is None


def test_several_keys_are_several_raters() -> None:
    rows = [{"anna": "1", "ben": "fail"}, {"ben": "pass"}, {"anna": ""}]
    found = human_ratings(iter(rows), "anna, ben")
    assert found == pytest.approx([0.5, 1.0, math.nan], nan_ok=True)
    with pytest.raises(InvalidValueError, match="no assessment has 'carl'"):
        human_ratings(rows, "anna,carl")


def test_the_command_takes_raters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ratings, _ = judged(12)
    facts = "The office opens at nine. Parking is free."
    lines = [
        {"id": f"s{i}", "response": "The office opens at nine.", "contexts": [facts]}
        | dict(zip(NAMES, row, strict=True))
        for i, row in enumerate(ratings.tolist())
    ]
    Path("s.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    compare = ["compare", "s.jsonl", "--with", "none", "-B", "50", "--json"]
    assert run([*compare, "--human", "anna,ben,carl", "--out", "side"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["raters"]["names"] == list(NAMES)
    assert found["human_ratings"]["rated"] == 12
    details = [json.loads(line) for line in Path("side/details.jsonl").read_text().splitlines()[1:]]
    assert any(math.isclose(float(ratings[0].mean()), d.get("human", -1)) for d in details)
    rows = "\n".join(f"s{i},{a},{b}" for i, (a, b, _) in enumerate(ratings.tolist()))
    Path("labels.csv").write_text(f"id,x,y\n{rows}\n", encoding="utf-8")
    assert run([*compare, "--labels", "labels.csv", "--human", "x,y", "--out", "other"]) == 0
    assert json.loads(capsys.readouterr().out)["raters"]["names"] == ["x", "y"]
    assert run([*compare, "--human", "anna", "--out", "third"]) == 0
    assert json.loads(capsys.readouterr().out)["raters"] is None
