"""CCRS metrics beside human ratings: `rated_ccrs` and ``tcva ccrs --human``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.ccrs.result import CCRSResult, MetricAnswer
from tcva_adapters.ccrs.summary import CCRSSummary, summarise_ccrs
from tcva_adapters.cli.app import run
from tcva_adapters.compare import rated_ccrs
from tcva_adapters.compare.labels import Labels
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Reason, Unscored
from tcva_adapters.stats.correlation_test import correlation_test

RNG = np.random.default_rng(3)
TRUTH = RNG.random(40)
RATINGS = {
    "cc": (100 * np.clip(TRUTH + RNG.normal(0, 0.2, 40), 0, 1)).round(),
    "ir": (100 * RNG.random(40)).round(),
}
HUMAN = (4 * TRUTH).round() / 4


def results(scale: float = 1.0) -> list[CCRSResult]:
    found = []
    for number in range(40):
        answers = {name: MetricAnswer(rating=each[number]) for name, each in RATINGS.items()}
        if number == 7:
            why = Unscored(reason=Reason.EMPTY_CONTEXT)
            answers["cc"] = MetricAnswer(unscored=why)
        metadata = {} if number == 3 else {"rating": scale * float(HUMAN[number])}
        found.append(
            CCRSResult(
                judge="j",
                prompt_version="1",
                answers=answers,
                sample_id=f"s{number}",
                metadata=metadata,
            )
        )
    return found


def test_each_metric_on_the_samples_that_have_both() -> None:
    found = rated_ccrs(summarise_ccrs(results()), "rating")
    assert found.table.methods == ("cc", "ir")
    for name, without in (("cc", [3, 7]), ("ir", [3])):
        kept = np.setdiff1d(np.arange(40), without)
        scores, human = RATINGS[name][kept] / 100, HUMAN[kept]
        place = found.table.methods.index(name)
        by_measure = {
            "spearman": stats.spearmanr(scores, human)[0],
            "kendall": stats.kendalltau(scores, human)[0],
            "pearson": stats.pearsonr(scores, human)[0],
            "mae": np.abs(scores - human).mean(),
        }
        assert found.agreements.keys() == by_measure.keys()
        for measure, expected in by_measure.items():
            one = found.agreements[measure][place]  # type: ignore[index]  # one of the four
            assert one.n == len(kept)
            assert one.value == pytest.approx(expected, abs=1e-12)
            assert one.low < one.value < one.high
    # Of two tests the clearer one counts twice, the other once.
    kept = np.setdiff1d(np.arange(40), [3])
    other = correlation_test("spearman", RATINGS["ir"][kept], HUMAN[kept]).p_two_sided
    assert found.p_holm[1] == pytest.approx(other, abs=1e-12)
    assert found.p_holm[0] < 0.01
    assert "the highest Spearman with 'rating' of the 2 is that of cc" in found.sentence


def test_a_composite_stands_beside_the_metrics() -> None:
    summary = summarise_ccrs(results(), weights={"cc": 0.5, "ir": 0.5})
    found = rated_ccrs(summary, Labels("mine.csv", {f"s{i}": HUMAN[i] for i in range(40)}))
    assert (found.table.methods, found.human) == (("cc", "ir", "composite"), "mine.csv")
    half = np.array([found.summary.composite_of(each).score or np.nan for each in results()])
    kept = np.setdiff1d(np.arange(40), [7])
    expected = stats.spearmanr(half[kept], HUMAN[kept])[0]
    assert found.agreements["spearman"][2].value == pytest.approx(expected, abs=1e-12)
    assert len(found.records()) == 12


def test_another_scale_has_no_absolute_error() -> None:
    found = rated_ccrs(summarise_ccrs(results(scale=5.0)), "rating")
    assert "mae" not in found.agreements
    assert "human ratings lie outside [0, 1] (0 to 5)" in str(found)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="no assessment has 'mark'"):
        rated_ccrs(summarise_ccrs(results()), "mark")
    summary = CCRSSummary()
    for result in results():
        summary.add(result)
    with pytest.raises(InvalidValueError, match="holds 0 of 40 results"):
        rated_ccrs(summary, "rating")


@pytest.mark.slow
def test_the_command_says_and_draws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        {
            "id": f"s{i}",
            "question": "Which car?",
            "answer": f"The {'red ' * (i % 4)}car.",
            "contexts": ["A red car."],
            "rating": i % 5,
        }
        for i in range(20)
    ]
    Path("in.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    arguments = ["ccrs", "in.jsonl", "--judge", "lexical", "-m", "qr,id", "--human", "rating"]
    assert run([*arguments]) == 0
    printed = capsys.readouterr().out
    assert "agreement with human ratings (rating), 95% intervals" in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert run([*arguments, "--json"]) == 0
    human = json.loads(capsys.readouterr().out)["human"]
    assert human["source"] == "rating"
    assert human["agreement"]["spearman"]["id"]["n"] == 20
    pytest.importorskip("matplotlib", reason="the extra plots")
    assert run([*arguments, "--figures", "pictures"]) == 0
    drawn = {path.name for path in Path("pictures").iterdir()}
    assert drawn == {"histograms.png", "correlations.png", "agreement.png"}
