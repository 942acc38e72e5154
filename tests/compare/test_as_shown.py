"""In every table scores that are shown as equal tie; what passes is decided by all digits."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.compare import (
    ScoreTable,
    calibrate,
    comparison,
    sweep,
    systems,
    validate,
)
from tcva_adapters.compare.agreement.raters import raters_report
from tcva_adapters.compare.combined_methods import with_fused
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.describe import TIES, seen
from tcva_adapters.tables import Report

N = 60
FEW: dict[str, Any] = {"resamples": 100}
RANKED = {
    "spearman",
    "kendall",
    "rho",
    "tau",
    "with_mean",
    "member_rho",
    "gain",
    "ties",
    "tied",
}


def tiny(*, raters: int = 1) -> ScoreTable:
    """Scores that order the samples as people do, mostly in digits that nobody sees."""
    rng = np.random.default_rng(0)
    ratings = np.linspace(0.0, 1.0, N)
    strict = np.where(ratings > 0.8, ratings, 1e-9 + 1e-5 * ratings)
    other = np.where(ratings > 0.5, 0.5 + 1e-5 * ratings, 0.2 * ratings)
    human = np.stack(
        [ratings + 0.1 * rng.uniform(size=N) * r for r in range(raters)], axis=1
    )
    scores = np.stack([strict, other], axis=1)
    return ScoreTable(
        tuple(f"s{i}" for i in range(N)), ("strict", "other"), scores, human / 1.3
    )


def exact_and_shown(table: ScoreTable) -> tuple[float, float]:
    strict, human = table.column("strict"), table.rating
    rhos = [
        stats.spearmanr(scores, human).statistic for scores in (strict, seen(strict))
    ]
    return rhos[0], rhos[1]


ANALYSES: dict[str, Callable[[ScoreTable], Report]] = {
    "compare, rated": lambda table: comparison(table, **FEW),
    "compare, kendall": lambda table: comparison(table, objective="kendall", **FEW),
    "compare, not rated": lambda table: comparison(replace(table, human=np.empty(0))),
    "validate": lambda table: validate(table, method="strict", **FEW),
    "raters": raters_report,
    "systems": lambda table: systems({"one": table, "two": table}, **FEW),
}


@pytest.mark.parametrize("name", ANALYSES)
def test_ranks_take_what_is_shown(name: str) -> None:
    table = with_fused(tiny(raters=2), "strict + other")
    report = ANALYSES[name](table)
    shown = ANALYSES[name](replace(table, scores=seen(table.scores)))
    checked = 0
    for one, other in zip(report.tables, shown.tables, strict=True):
        for record, expected in zip(one.records, other.records, strict=True):
            is_ranked = record.get("measure") in {"spearman", "kendall"}
            for key in record.keys() & (
                RANKED | ({"agreement"} if is_ranked else set())
            ):
                assert record[key] == pytest.approx(
                    expected[key], abs=1e-12, nan_ok=True
                ), key
                checked += 1
    assert checked > 1
    # It is said beside the table; raters are shown by comparisons, which have said it.
    assert TIES in report.markdown(full=True) or name == "raters"


def test_ties_and_correlations_of_one_row_go_together() -> None:
    table = tiny()
    exact, shown = exact_and_shown(table)
    assert exact > 0.99
    assert shown < 0.8
    (row, *_) = comparison(table, **FEW).records("methods")
    assert row["human"] == pytest.approx(shown, abs=1e-12)
    pairs = [*combinations(seen(table.column("strict")).tolist(), 2)]
    assert row["tied"] == pytest.approx(np.mean([a == b for a, b in pairs]), abs=1e-12)
    (row, *_) = validate(table, method="strict", **FEW).records("agreement")
    assert row["spearman"] == pytest.approx(shown, abs=1e-12)
    # Errors are those of the scores.
    errors = np.abs(table.column("strict") - table.rating)
    assert row["mae"] == pytest.approx(errors.mean(), abs=1e-15)


def test_temperatures_are_judged_by_what_they_show() -> None:
    rng = np.random.default_rng(3)
    counts = rng.multinomial(6, [0.5, 0.2, 0.1, 0.1, 0.1], size=N).astype(float)
    human = np.clip(counts @ [1, 0.9, 0.7, 0.3, 0] / 6 + 0.1 * rng.normal(size=N), 0, 1)
    scores = ScoringConfig(temperature=0.1).scores(counts)
    rho = stats.spearmanr(seen(scores), human).statistic
    assert abs(rho - stats.spearmanr(scores, human).statistic) > 0.01
    (row,) = sweep(counts, [0.1], human=human).records("temperatures")
    assert row["spearman"] == pytest.approx(rho, abs=1e-12)
    in_use = ScoringConfig(temperature=0.1)
    report = calibrate(counts, human, scoring=in_use, temperatures=[0.1, 0.9], **FEW)
    assert report.records("settings")[0]["spearman"] == pytest.approx(rho, abs=1e-12)


def test_what_passes_is_decided_by_all_digits() -> None:
    scores = np.array([[0.4999], [0.5], [0.49951], [0.5]] * 5)
    human = np.array([0.2, 0.9] * 10)
    table = ScoreTable(tuple(map(str, range(20))), ("m",), scores, human)
    assert len(set(seen(scores).ravel().tolist())) == 1
    (row,) = comparison(table, **FEW).records("methods")
    assert (row["tied"], row["pass_rate"]) == (1.0, 0.5)
    decisions = {
        row["figure"]: row["value"] for row in validate(table).records("decisions")
    }
    assert (decisions["precision"], decisions["recall"]) == (1.0, 1.0)
    # One bin, as its scores are shown as one.
    assert len(validate(table).records("bins")) == 1
