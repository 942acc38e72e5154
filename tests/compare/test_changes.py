"""What changed since a baseline, sample by sample."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.compare.changes import Changes
from tcva_adapters.compare.gates import Gates
from tcva_adapters.compare.graded import Case, Graded
from tcva_adapters.stats.least_mean import mean_between


def run_of(scores: np.ndarray | list[float], groups: list[str] | None = None) -> Graded:
    cases = [
        Case(f"s{i}", score, passed=score >= 0.5, group=None if groups is None else groups[i])
        for i, score in enumerate(np.asarray(scores).tolist())
    ]
    return Graded("m", tuple(cases), 0.5)


def test_a_change_has_a_paired_interval() -> None:
    before, now = [0.2, 0.9, 0.6, 0.7], [0.3, 0.4, 0.6, 0.9]
    found = Changes(run_of(before), run_of(now))
    assert found.score_change.value == pytest.approx(-0.05)
    ends = mean_between(np.subtract(now, before), ends=(-1.0, 1.0))
    assert (found.score_change.low, found.score_change.high) == pytest.approx(ends)
    assert found.pass_change.value == -0.25
    assert "on 4 samples of both -0.050 [" in found.sentence
    assert found.to_dict()["pass_change"]["n"] == 4


def test_groups_are_drawn_together() -> None:
    before, now = [0.5] * 6, [0.1, 0.1, 0.1, 0.9, 0.9, 0.9]
    grouped = Changes(run_of(before), run_of(now, list("aaabbb")))
    alone = Changes(run_of(before), run_of(now))
    assert grouped.score_change.clusters == 2
    assert grouped.score_change.low < alone.score_change.low
    assert "2 groups of samples, the largest with 3 of 6" in grouped.sentence


def test_runs_without_a_sample_in_common_have_no_change() -> None:
    found = Changes(run_of([0.5]), Graded("m", (Case("new", 0.5, passed=True),), 0.5))
    assert found.score_change.text == "no sample has a score in both runs"


def test_gates_by_group_are_about_other_groups() -> None:
    scores = [1.0] * 18 + [0.0] * 2
    groups = [f"d{i // 5}" for i in range(20)]
    gates = Gates.of(0.5, 0.5, confidence=0.95)
    assert not gates.judge([run_of(scores)]).failed
    failed = gates.judge([run_of(scores, groups)]).failed
    assert [gate.figure for gate in failed] == ["mean score", "pass rate"]
    assert failed[0].text.endswith("; 4 groups of samples, the largest with 5 of 20")
    alone = run_of(scores, [f"d{i}" for i in range(20)])
    assert alone.sure_mean(0.95) == run_of(scores).sure_mean(0.95)
    assert alone.sure_pass_rate(0.95) == pytest.approx(run_of(scores).sure_pass_rate(0.95))


def test_scores_outside_the_scale_have_no_bound() -> None:
    text = Gates.of("m=3", confidence=0.9).judge([Graded("m", (Case("a", 4.0),))]).failed[0].text
    assert text == (
        "m: there is no lower bound of the mean score (scores leave [0, 1]), and 3 is asked for"
    )
    stars = Graded("m", tuple(Case(f"s{i}", 4.0) for i in range(40)), scale=(1.0, 5.0))
    assert not Gates.of("m=3", confidence=0.9).judge([stars]).failed
