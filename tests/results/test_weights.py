"""What is shown explains the score: weights beside levels, counts by level, and the interval."""

from __future__ import annotations

import json
import re
from itertools import product
from operator import mul
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import Assessment, ClaimVerdict, Result, Verdict, aggregate, sweep
from tcva_adapters.cli.app import run
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.langchain.results import as_output
from tcva_adapters.results.protocol import read_result
from tests.report.blocks import blocks_of

Shares = tuple[float, float, float, float, float]

HALF: Shares = (0.5, 0.0, 0.0, 0.0, 0.5)
GOOD: Shares = (0.8, 0.2, 0.0, 0.0, 0.0)
ODD: Shares = (0.123456789, 0.2, 0.3, 0.376543, 0.000000211)
KINDS: dict[str, list[Shares | None]] = {
    "hidden probabilities": [HALF, GOOD],
    "some": [HALF, None, ODD],
    "a trace of none": [(1.0 - 1e-7, 0.0, 0.0, 0.0, 1e-7), GOOD, GOOD],
    "none at all": [None, None],
}


def claim(shares: Shares | None, verdict: Verdict | None = Verdict.FULLY) -> ClaimVerdict:
    return ClaimVerdict(claim="It opens.", verdict=verdict, probabilities=shares)


def assessed(*claims: ClaimVerdict, **more: Any) -> Assessment:
    given: dict[str, Any] = {"criterion": "c", "judge": "model", "prompt_version": "1", **more}
    return Assessment(claims=claims, **given)


def score_of(counts: list[float], temperature: float) -> float:
    return float(sweep([counts], [temperature])[0, 0])


def test_the_score_follows_from_what_is_shown() -> None:
    for kind, temperature in product(KINDS, [0.1, 0.3, 0.4, 0.5, 0.8, 1.0]):
        claims = [*map(claim, KINDS[kind]), claim(None, None)]
        result = Result(assessed(*claims)).at(temperature)
        plain = json.loads(result.to_json())
        exact = score_of([plain["breakdown"][level] for level in LEVELS], temperature)
        assert exact == pytest.approx(result.score, rel=1e-12)
        shown = dict.fromkeys(LEVELS, 0.0)
        levels = result.reason.partition(": ")[2].partition(" by probability")[0].partition(";")[0]
        for number, level in re.findall(r"([\d.e-]+) (\w+)", levels):
            shown[Verdict(level)] = float(number)
        assert score_of([*shown.values()], temperature) == pytest.approx(result.score, abs=1e-3)
        # From the claims alone, as they are written.
        counts = [0.0] * len(LEVELS)
        for each in plain["claims"]:
            certain = [float(level == each["verdict"]) for level in LEVELS]
            shares = each["probabilities"] or (certain if each["verdict"] else [0.0] * 5)
            counts = [n + share for n, share in zip(counts, shares, strict=True)]
            weight = sum(map(mul, shares, (1.0, 0.9, 0.7, 0.3, 0.0)))
            assert (each["weight"] or 0.0) == pytest.approx(weight, rel=1e-11)
            assert (each["weight"] is None) is (each["verdict"] is None)
        assert score_of(counts, temperature) == pytest.approx(result.score, rel=1e-12)
        assert read_result(result.to_json()) == result
        assert Assessment.from_json(result.to_json()) == result.assessment


def test_same_verdicts_with_other_weights_look_different_everywhere() -> None:
    result = Result(assessed(claim(HALF), claim((0.6, 0, 0, 0, 0.4)), sample_id="torn"))
    assert result.weights == (0.5, 0.6)
    assert result.at(0.5, scheme=(0.8, 0.7, 0.5, 0.2, 0.1)).weights == (0.45, 0.52)
    assert "1.1 fully, 0.9 none by probability (shown as 2 fully)" in result.reason
    assert '"It opens." [fully, weight 0.500]' in result.reason
    assert "fully, weight 0.600" in result._repr_html_()
    output = as_output(result)
    assert (output["breakdown"]["fully"], output["claims"][1]["weight"]) == (1.1, 0.6)
    plain = Result(Assessment.from_verdicts(["fully", "none"]))
    assert plain.reason.endswith('1 fully, 1 none; worst: "claim 2" [none]')
    assert "weight" not in plain._repr_html_()


def test_commands_and_pages_show_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # the lexical judge places claims between two levels
    answer = "It opens at nine on Mondays."
    record = {"response": answer, "contexts": ["It opens at nine, they say."]}
    Path("in.jsonl").write_text(json.dumps(record), encoding="utf-8")
    words = "evaluate in.jsonl --judge lexical --report page.html --show all --gate mean>=1"
    assert run([*words.split(), "--markdown", "said.md"]) == 1
    assert ", weight 0." in " ".join(capsys.readouterr().out.split())
    assert ", weight 0." in Path("said.md").read_text(encoding="utf-8")
    _, (line,) = blocks_of(Path("page.html"))
    (judged,) = line["runs"].values()
    assert judged["claims"][0]["probabilities"]  # of which the page makes the weight


@pytest.mark.parametrize(
    ("judged", "low", "high"),
    [
        (assessed(claim(HALF), claim(None)), aggregate(["fully", "none"]), 1.0),
        # P(yes) = .8 stands halfway between mostly (.9) and partial (.7); it is fully or none.
        (assessed(claim((0, 0.5, 0.5, 0, 0), Verdict.PARTIAL), form="yes_no"), 0.0, 1.0),
    ],
)
def test_an_interval_stands_beside_the_score(judged: Assessment, low: float, high: float) -> None:
    result = Result(judged)
    assert result.interval == pytest.approx((low, high))
    assert f"; 95% interval {low:.3f} to {high:.3f}" in result.reason
    assert json.loads(result.to_json())["interval"] == list(result.interval or ())


@pytest.mark.parametrize(
    "judged",
    [
        Assessment.from_verdicts(["fully", "none"]),
        assessed(claim(HALF), judge="lexical/3"),
        assessed(claim(None), claim(HALF, None)),
        assessed(claim(HALF), members=(assessed(claim(None), judge="other"),)),
    ],
)
def test_no_interval_without_chances(judged: Assessment) -> None:
    assert Result(judged).interval is None
    assert Result(judged).to_dict()["interval"] is None
    assert "interval" not in Result(judged).reason
