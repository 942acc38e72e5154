"""A judge against people: figures by hand, planted dependences, what is estimated and drawn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra stats")

from tcva_adapters import Assessment, ClaimVerdict, Result
from tcva_adapters.compare import ScoreTable, read_scores, validate
from tcva_adapters.compare.agreement.labels import next_to_rate, write_labels
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.result import MOSTLY_MARKED
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.inference import difference, estimate
from tcva_adapters.stats.labels_needed import labels_needed
from tcva_adapters.stats.powered_mean import powered_mean
from tcva_adapters.tables import Report

LEVELS = ("fully", "mostly", "partial", "minor", "none")


def suite(n: int = 90, seed: int = 0, **effects: float) -> list[Assessment]:
    """Ratings near the score, with errors that depend on what is named."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(n):
        words = rng.choice(
            LEVELS, int(rng.integers(2, 6)), p=[0.4, 0.2, 0.2, 0.1, 0.1]
        ).tolist()
        length, system = int(rng.integers(5, 200)), ["a", "b", "c"][number % 3]
        said = {"claim": "x" * length}
        texts = [{"verdict": w, "reason": f"{i}", **said} for i, w in enumerate(words)]
        claims = tuple(map(ClaimVerdict.model_validate, texts))
        about: Any = {
            "criterion": "faithfulness",
            "judge": "given",
            "prompt_version": "1",
        }
        judged = Assessment(**about, claims=claims, sample_id=f"s{number}")
        human = (Result(judged).score or 0.0) + rng.normal(0.0, 0.08)
        human -= effects.get("length", 0.0) * (length * len(words) / 400 - 1)
        human -= effects.get("system", 0.0) * (system == "b")
        metadata = {"system": system, "document": f"d{number // 3}", "size": number % 7}
        metadata["human"] = float(np.clip(human, 0.0, 1.0))
        found.append(judged.model_copy(update={"metadata": metadata}))
    return found


def columns(judged: list[Assessment]) -> tuple[Any, Any]:
    scores = np.array([Result(each).score for each in judged], dtype=float)
    return scores, np.array([each.metadata["human"] for each in judged])


def by(report: Report, title: str, name: str) -> dict[Any, dict[str, Any]]:
    return {row[name]: row for row in report.records(title)}


def test_figures_are_those_of_the_columns() -> None:
    judged = suite()
    found = validate(judged, "human", resamples=500)
    scores, human = columns(judged)
    (agreement,) = found.records("agreement")
    expected = estimate("spearman", [scores, human], resamples=500, test=True)
    assert [
        agreement["spearman"],
        agreement["spearman_low"],
        agreement["p"],
    ] == pytest.approx([expected.value, expected.low, expected.p], abs=1e-12)
    assert agreement["mae"] == pytest.approx(np.abs(scores - human).mean(), abs=1e-12)
    (errors,) = found.records("errors")
    assert errors["error"] == pytest.approx((scores - human).mean(), abs=1e-12)
    off = difference("mean", scores, human, resamples=500)
    assert (errors["error_low"], errors["p"]) == pytest.approx(
        (off.low, off.p), abs=1e-12
    )
    worst = np.argsort(-np.abs(scores - human), kind="stable")[:10]
    assert [row["sample"] for row in found.records("largest errors")] == [
        f"s{i}" for i in worst
    ]
    claims = [
        row["claim"]
        for row in found.records("claims")
        if row["sample"] == f"s{worst[0]}"
    ]
    assert claims == [each.claim for each in judged[worst[0]].claims]
    assert sum(row["n"] for row in found.records("bins")) == 90
    assert all(row["n"] >= 10 for row in found.records("bins"))
    decisions = by(found, "decisions", "figure")
    ours, theirs = scores >= 0.5, human >= 0.5
    assert decisions["precision"]["value"] == (ours & theirs).sum() / ours.sum()
    assert decisions["recall"]["value"] == (ours & theirs).sum() / theirs.sum()
    assert decisions["rating passes"]["value"] == theirs.mean()
    agree, chance = (ours == theirs).mean(), ours.mean() * theirs.mean()
    chance += (1 - ours.mean()) * (1 - theirs.mean())
    assert decisions["kappa"]["value"] == pytest.approx(
        (agree - chance) / (1 - chance), abs=1e-12
    )
    assert "mean rating" not in [table.title for table in found.tables]  # all are rated


def test_an_answer_that_no_gate_passes_counts_as_not_passing() -> None:
    names = ("a", "b", "c", "d")
    scores = np.array([[0.9], [0.9], [0.1], [0.9]])
    table = ScoreTable(
        names,
        ("m",),
        scores,
        np.array([0.1, 0.8, 0.2, 0.9]),
        reasons={("a", "m"): MOSTLY_MARKED},
    )
    decisions = by(validate(table, resamples=20), "decisions", "figure")
    assert decisions["precision"]["value"] == decisions["same decision"]["value"] == 1.0
    assert decisions["precision"]["n"] == 2


def test_planted_dependences_are_found_and_others_are_not() -> None:
    long = validate(suite(length=0.25), "human", by=["size"], resamples=999)
    factors = by(long, "factors", "factor")
    assert factors["length of claims"]["p_corrected"] <= 0.05
    assert {*factors} == {"size", "length of claims", "number of claims"}
    apart = validate(suite(60, system=0.25), "human", by=["system"])
    values = by(apart, "by system", "value")
    assert values["b"]["error_low"] > 0.0
    assert [row["n"] for row in values.values()] == [20, 20, 20]


def test_errors_where_ratings_are_nearly_all_the_same_have_no_interval() -> None:
    """A rating that nobody gave so far may bring an error that is far larger."""
    table = ScoreTable(
        samples=tuple(f"s{number}" for number in range(24)),
        methods=("m",),
        scores=np.linspace(0.93, 0.97, 24)[:, None],
        human=np.array([1.0] * 20 + [0.9] * 4),
        metadata=({"kind": "a"}, {"kind": "b"}) * 12,
    )
    found = validate(table, by="kind")
    why = "all but 4 ratings are equal; at least 5 must differ"
    assert f" on average (no interval: {why})." in found.sentence
    assert "[" not in found.sentence
    (errors,) = found.records("errors")
    values = found.records("by kind")
    assert errors["error"] == pytest.approx(0.95 - 59 / 60, abs=1e-12)
    assert errors["reason"] == why
    assert errors["p"] is None
    assert [row["n"] for row in values] == [12, 12]
    for row in (errors, *values):
        assert row["error_low"] is row["mae_low"] is None
        assert "ratings are equal" in row["reason"]


def test_another_scale_and_another_temperature() -> None:
    judged = suite()
    stars = [1 + 4 * each.metadata["human"] for each in judged]
    plain = validate(judged, "human", human_threshold=0.25, resamples=100)
    ids = {f"s{number}": rating for number, rating in enumerate(stars)}
    scaled: dict[str, Any] = {"human_scale": (1, 5), "resamples": 100}
    for ratings in (ids, stars, np.array(stars)):
        found = validate(judged, ratings, human_threshold=2, **scaled)
        for title in ("errors", "decisions"):
            for one, two in zip(
                found.records(title), plain.records(title), strict=True
            ):
                assert one == pytest.approx(two, abs=1e-12)
    with pytest.raises(InvalidValueError, match=r"between 1 and 5, got 5\.5;"):
        validate(judged, [5.5, *stars[1:]], **scaled)
    with pytest.raises(
        InvalidValueError, match=r"--human-scale\) must be .*got \(5, 1\)"
    ):
        validate(judged, stars, human_scale=(5, 1))
    strict = validate(
        judged, "human", scoring=ScoringConfig(temperature=0.1), resamples=100
    )
    assert strict.records("errors")[0]["error"] < plain.records("errors")[0]["error"]
    with pytest.raises(InvalidValueError, match=r"between 0 and 1, got 1[.\d]* to 5"):
        validate(judged, stars)
    with pytest.raises(
        InvalidValueError, match="human_threshold must be between 1 and 5, got 9"
    ):
        validate(judged, ids, human_threshold=9, **scaled)
    with pytest.raises(InvalidValueError, match="'mood'"):
        validate(judged, "human", by=["mood"])


@pytest.mark.parametrize("rated", [20, 50])
def test_the_mean_of_all_samples_from_some_ratings(rated: int) -> None:
    judged = suite(400)
    scores, human = columns(judged)
    ratings = np.where(np.arange(400) % (400 // rated) == 0, human, np.nan)
    found = validate(judged, ratings, resamples=100)
    mean, rate = found.records("mean rating")
    expected = powered_mean(ratings, scores)
    assert [
        mean["estimate"],
        mean["estimate_low"],
        mean["ratings_only_high"],
    ] == pytest.approx(
        [expected.estimate.value, expected.estimate.low, expected.alone.high], abs=1e-12
    )
    sizes = [mean[name] for name in ("samples", "ratings", "effective_n")]
    assert sizes == [400, rated, round(expected.effective_n)]
    assert rate["judge"] == np.mean(scores >= 0.5)
    if rated == 20:
        share = by(found, "decisions", "figure")["rating passes"]
        exact = [share[f"value{end}"] for end in ("", "_low", "_high")]
        assert [rate[f"estimate{end}"] for end in ("", "_low", "_high")] == exact
        assert exact[1] is not None
    assert (mean["effective_n"] == 20) == (rated == 20)  # the ratings alone
    picked = np.where(scores < np.quantile(scores, 0.2), human, np.nan)
    notes = validate(judged, picked, resamples=100).table("mean rating").notes
    assert any("lower than it would a random draw" in note for note in notes)


def test_how_many_labels_an_interval_takes() -> None:
    judged = suite()
    found = validate(judged, "human", width=0.07, resamples=100)
    rho = estimate("spearman", list(columns(judged)))
    rows = by(found, "labels needed", "width")
    assert rows[0.07]["spearman"] == labels_needed(rho, width=0.07)
    usual = validate(judged, "human", resamples=100)
    assert [*by(usual, "labels needed", "width")] == [0.2, 0.1, 0.05]
    with pytest.raises(InvalidValueError, match="width"):
        validate(judged, "human", width=-1.0, resamples=100)


def test_a_draw_is_even_along_the_scores_and_leaves_out_what_is_rated(
    tmp_path: Path,
) -> None:
    judged = suite(200)
    scores, human = columns(judged)
    table = read_scores(judged, human=np.where(np.arange(200) < 50, human, np.nan))
    drawn = next_to_rate(table, "faithfulness", 30, seed=3)
    places = [int(row["sample"][1:]) for row in drawn.records]
    assert min(places) >= 50
    assert len(set(places)) == 30
    left = np.sort(scores[50:])
    ranks = np.sort(np.searchsorted(left, scores[places]))
    assert np.abs(ranks - np.arange(30) * 5).max() <= 10
    assert next_to_rate(table, "faithfulness", 30, seed=3) == drawn
    often = np.zeros(200)
    for seed in range(300):
        rows = next_to_rate(table, "faithfulness", 30, seed=seed).records
        often[[int(row["sample"][1:]) for row in rows]] += 1
    assert abs(often[50:] - 60).max() < 30  # each in a fifth of the draws
    for kind in ("jsonl", "csv"):
        write_labels(tmp_path / f"l.{kind}", table, drawn)
        again = read_scores(judged, human=tmp_path / f"l.{kind}")
        np.testing.assert_array_equal(again.rating, table.rating)
    with pytest.raises(InvalidValueError, match=r"\.jsonl.*\.csv"):
        write_labels(tmp_path / "l.json", table, drawn)
    with pytest.raises(InvalidValueError):
        next_to_rate(read_scores(judged, human=human), "faithfulness", 5)
