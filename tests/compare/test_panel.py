"""Panels, repeats and several raters, by hand and against the statistics."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tcva_adapters import Assessment, Result, WeightScheme
from tcva_adapters.compare.comparing import comparison
from tcva_adapters.compare.panel import disputed, panel_report, raters_report, repeat_report
from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import ClaimVerdict, Reason, Unscored
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.agreement import krippendorff_alpha
from tcva_adapters.stats.raters import reliability

HALF = ScoringConfig(scheme=WeightScheme.resolve("linear"), penalty="off")
WORDS = [level.value for level in LEVELS]


def table_of(assessments: Sequence[Assessment], **more: Any) -> ScoreTable:
    results = [Result(each, HALF) for each in assessments]
    scores = np.array([[math.nan if r.score is None else r.score] for r in results])
    names = tuple(a.sample_id or f"s{i}" for i, a in enumerate(assessments))
    return ScoreTable(names, ("tcva",), scores, results={"tcva": results}, **more)


def judged(judge: str, *words: str | None) -> Assessment:
    claims = tuple(ClaimVerdict(claim=f"claim {i}", verdict=w) for i, w in enumerate(words))  # type: ignore[arg-type]  # words of the levels
    return Assessment(criterion="faithfulness", judge=judge, prompt_version="1", claims=claims)


def failed(judge: str) -> Assessment:
    unscored = Unscored(reason=Reason.TIMEOUT)
    return Assessment(criterion="faithfulness", judge=judge, prompt_version="1", unscored=unscored)


def panel(name: str, *judged: Assessment) -> Assessment:
    first = next(each for each in judged if each.unscored is None)
    return first.model_copy(update={"judge": "panel", "panel": judged, "sample_id": name})


def drawn(n: int, *, together: bool) -> ScoreTable:
    """Three judges, each a level off now and then: all at once, or each for itself; with ratings."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 5, n)
    errors = rng.integers(-2, 3, (n, 1 if together else 3)) + np.zeros((n, 3), dtype=int)
    levels = np.clip(truth[:, None] + errors, 0, 4).tolist()
    panels = [
        panel(f"s{i}", *(judged(f"judge {k}", WORDS[level]) for k, level in enumerate(row)))
        for i, row in enumerate(levels)
    ]
    return table_of(panels, human=(4 - truth).astype(float))


def test_pairs_failures_and_counts_by_hand() -> None:
    report = panel_report(
        table_of(
            [
                panel("a", judged("x", "fully", "none"), judged("y", "fully", "minor")),
                panel("b", judged("x", "partial", None), failed("y")),
            ]
        )
    )
    (found,) = report.records("agreement")
    assert (found["judges"], found["claims"], found["samples"]) == (2, 3, 2)
    assert "y gave no verdicts on 1 sample that others judged." in report.notes
    (pair,) = report.records("judges")
    assert (pair["first"], pair["second"], pair["claims"], pair["same_level"]) == ("x", "y", 2, 0.5)
    # Levels 0, 4 against 0, 3: observed 0 + 1 squared levels, expected (0 + 9 + 16 + 1) / 2 = 13.
    assert pair["kappa"] == pytest.approx(1 - 1 / 13, abs=1e-12)
    assert (pair["first_fully"], pair["second_fully"]) == (0.5, 0.5)


def test_alpha_is_one_where_judges_agree_and_undefined_where_nothing_varies() -> None:
    same = table_of([panel("a", judged("x", "fully", "none"), judged("y", "fully", "none"))])
    assert panel_report(same).records("agreement")[0]["alpha"] == pytest.approx(1.0, abs=1e-12)
    flat = panel_report(table_of([panel("a", judged("x", "fully"), judged("y", "fully"))]))
    assert flat.records("agreement")[0]["alpha"] is None
    assert flat.records("judges")[0]["kappa"] is None
    json.dumps(flat.to_dict(), allow_nan=False)
    apart = [
        panel("a", judged("x", "fully", "none"), failed("y")),
        panel("b", failed("x"), judged("y", "fully", "minor")),
    ]
    assert panel_report(table_of(apart)).records("judges")[0]["claims"] == 0
    with pytest.raises(InvalidValueError, match="panel"):
        panel_report(table_of([Assessment.from_verdicts(["fully"])]))


def test_the_most_disputed_come_first_with_their_claims() -> None:
    table = table_of(
        [
            panel("agreed", judged("x", "fully"), judged("y", "fully")),
            panel("close", judged("x", "fully", "fully"), judged("y", "mostly", "fully")),
            panel("far", judged("x", "fully", "fully"), judged("y", "fully", "none")),
            panel("alone", judged("x", "fully"), failed("y")),
        ]
    )
    found = disputed(table).records("disputed")
    assert found[0] == {
        "sample": "far",
        "spread": 4.0,
        "claim": "claim 1",
        "x": "fully",
        "y": "none",
    }
    assert [(each["sample"], each["spread"]) for each in found[1:]] == [("close", 1.0)]
    assert disputed(table, most=1).records("disputed") == found[:1]
    assert panel_report(table).sentence.startswith("The judges differ on 2 samples. ")


def test_alpha_has_an_interval_over_samples_or_groups_or_says_why_not() -> None:
    rng = np.random.default_rng(2)

    def sample(number: int) -> Assessment:
        truth = rng.integers(0, 5, 3)
        said = [np.clip(truth + rng.integers(-1, 2, 3), 0, 4) for _ in range(2)]
        return panel(
            f"s{number}",
            *(judged(n, *(WORDS[i] for i in r)) for n, r in zip("xy", said, strict=True)),
        )

    panels = [sample(i) for i in range(40)]
    (found,) = panel_report(table_of(panels)).records("agreement")
    assert found["alpha_low"] < found["alpha"] < found["alpha_high"] < 1.0
    groups = tuple(i // 2 for i in range(40))
    (grouped,) = panel_report(table_of(panels, groups=groups)).records("agreement")
    assert grouped["alpha"] == found["alpha"]
    assert grouped["alpha_low"] != found["alpha_low"]
    few = panel_report(table_of(panels[:5]))
    assert few.records("agreement")[0]["alpha_low"] is None
    assert any("no interval of alpha: it needs" in note for note in few.notes)
    assert any(note.startswith("Alpha rests on") for note in few.notes)


def repeated(*levels: str | None, name: str = "m") -> Assessment:
    """A sample of one claim with a repeat for each level; None for one that failed."""
    each = [Assessment.from_verdicts([level] if level else [], judge=name) for level in levels]
    whole = Assessment.from_verdicts([levels[0] or "none"], judge=f"repeats({name}, {len(levels)})")
    return whole.model_copy(update={"panel": tuple(each)})


def test_flips_and_noise_by_hand() -> None:
    # Scores: (1, 1, 0), (.75, .75, .75), (0, .25): one of three has repeats on both sides of .5;
    # of its three pairs two disagree.
    report = repeat_report(
        table_of(
            [
                repeated("fully", "fully", "none"),
                repeated("mostly", "mostly", "mostly"),
                repeated("none", "minor", None),
                repeated("fully", None, None),
            ]
        )
    )
    (found,) = report.records("repeats")
    assert [found[k] for k in ("repeats", "samples", "flip", "same")] == [3, 3, 1, 1]
    assert found["flip_rate"] == pytest.approx(1 / 3)
    assert found["disagree"] == pytest.approx(2 / 9, abs=1e-12)
    # Squares within: 2/3 + 0 + 1/32, over 8 - 3.
    assert found["judge_sd"] ** 2 == pytest.approx((2 / 3 + 1 / 32) / 5, abs=1e-12)
    assert found["one_repeat_more"] < found["standard_error"]
    assert "the decision flips on 1 of 3 samples" in report.sentence


def test_raters_are_those_of_the_statistics() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(50)
    ratings = np.clip(truth[:, None] + rng.normal(0, 0.25, (50, 3)), 0, 1)
    ratings[::5, 1] = math.nan
    scores = np.clip(truth + rng.normal(0, 0.2, 50), 0, 1)[:, None]
    names = tuple(f"s{i}" for i in range(50))
    table = ScoreTable(names, ("ours",), scores, ratings, ("anna", "ben", "carl"))
    report = raters_report(table, objective="pearson")
    found = reliability("pearson", ratings, scores)
    assert report.settings["best"] == found.best.value == pytest.approx(math.sqrt(found.value))
    assert report.settings["alpha"] == krippendorff_alpha(ratings.T, "interval").value
    pairs = [(r["rater"], r["and"], r["n"], r["pearson"]) for r in report.records("raters")]
    assert pairs[0] == ("anna", "ben", 40, found.pairs[0].value)
    (ours,) = report.records("methods and raters")
    assert (ours["corrected"], ours["corrected_low"]) == (
        found.corrected[0].value,
        found.corrected[0].low,
    )
    assert report.sentence.startswith("3 raters agree with a mean pearson of 0.")
    assert any("mae cannot be corrected" in n for n in raters_report(table, objective="mae").notes)
    whole = comparison(table, resamples=100)
    assert any("3 raters agree with a mean spearman" in note for note in whole.notes)
    assert len(whole.records("raters")) == 3
    with pytest.raises(InvalidValueError, match="1 rater"):
        raters_report(ScoreTable(names, ("ours",), scores, ratings[:, 0]))
