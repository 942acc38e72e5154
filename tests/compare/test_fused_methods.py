"""Fused methods in a comparison: their rows, their members, their gain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from tcva_adapters.compare.fused import FusedMethod, fused_rows, gain_of, gains
from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.holm import holm

NAN = math.nan


def table(scores: list[list[float]], human: list[float] | None = None) -> ScoreTable:
    samples = tuple(f"s{i}" for i in range(len(scores)))
    ratings = None if human is None else np.array(human)
    return ScoreTable(samples, ("ours", "theirs"), np.array(scores), ratings)


def test_rows_are_means_and_say_what_was_missing() -> None:
    method = FusedMethod.parse("ours + theirs")
    rows, members = fused_rows(method, table([[0.4, 0.9], [0.4, NAN], [NAN, NAN]]))
    assert method.name == "fused(ours + theirs)"
    assert [row.score for row in rows] == [pytest.approx(0.6), pytest.approx(0.4), None]
    assert rows[2] == Row("s2", method.name, None, "no member has a score")
    assert members == {0: 1, 1: 1, 2: 1}


def test_dial_and_weights_are_in_the_name_and_in_the_mean() -> None:
    method = FusedMethod(("ours", "theirs"), temperature=0.5, weights=(3, 1))
    assert method.name == "fused(ours + theirs, T=0.5, 3/1)"
    rows, _ = fused_rows(method, table([[0.4, 0.8]]))
    assert rows[0].score == pytest.approx(0.5, abs=1e-12)  # (3*.4 + .8)/4


def test_the_gain_is_over_the_best_member_on_common_samples() -> None:
    generator = np.random.default_rng(7)
    human = generator.random(60)
    ours, theirs = (np.clip(human + generator.normal(0, s, 60), 0, 1) for s in (0.2, 0.4))
    ours[3] = NAN
    full = table(np.stack([ours, theirs], axis=1).tolist(), human.tolist())
    method = FusedMethod(("ours", "theirs"))
    rows, _ = fused_rows(method, full)
    fused = np.array([row.score for row in rows], dtype=float)
    row = gain_of(fused, {"ours": ours, "theirs": theirs}, human, n_boot=500)
    assert row is not None
    kept = np.isfinite(ours)
    expected = spearmanr(fused[kept], human[kept]).statistic
    best = spearmanr(ours[kept], human[kept]).statistic
    assert (row.n, row.best) == (59, "ours")
    assert row.rho == pytest.approx(expected, abs=1e-12)
    assert row.gain == pytest.approx(expected - best, abs=1e-12)
    assert row.gain_low < row.gain < row.gain_high
    cells = [Row(s, m, full.column(m)[i]) for m in full.methods for i, s in enumerate(full.samples)]
    ratings = dict(zip(full.samples, human.tolist(), strict=True))
    joined = ScoreTable.of([*cells, *rows], ratings)
    assert gains([method], joined, n_boot=500) == {method.name: row}
    assert gains([method], table([[0.1, 0.2]]), n_boot=500) == {}


def test_too_few_common_samples_state_no_gain() -> None:
    few = np.full(9, 0.5)
    assert gain_of(few, {"a": few}, few) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [("ours", "two members or more"), ("ours + ours", "each once"), (" + ", "two members")],
)
def test_a_method_of_one_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        FusedMethod.parse(text)


def test_what_cannot_be_fused_is_named() -> None:
    with pytest.raises(InvalidValueError, match="no method 'other'; there are ours, theirs"):
        fused_rows(FusedMethod(("ours", "other")), table([[0.4, 0.8]]))
    with pytest.raises(InvalidValueError, match="theirs gave 5 to 's0'"):
        fused_rows(FusedMethod(("ours", "theirs")), table([[0.4, 5]]))
    with pytest.raises(InvalidValueError, match="temperature 7"):
        FusedMethod(("ours", "theirs"), temperature=7)
    with pytest.raises(InvalidValueError, match="3 weights for 2"):
        FusedMethod(("ours", "theirs"), weights=(1, 1, 1))


def test_gains_allow_for_all_combinations_that_were_looked_at() -> None:
    rng = np.random.default_rng(2)
    human = rng.random(60)
    columns = np.clip(human[:, None] + rng.normal(0, 0.3, (60, 3)), 0, 1)
    names = [str(i) for i in range(3)]
    methods = [FusedMethod((a, b)) for a, b in (("0", "1"), ("0", "2"), ("1", "2"))]
    fused = [
        np.sqrt(columns[:, int(m.members[0])] * columns[:, int(m.members[1])]) for m in methods
    ]
    joined = ScoreTable(
        tuple(map(str, range(60))),
        (*names, *(m.name for m in methods)),
        np.column_stack([columns, *fused]),
        human,
    )
    found = gains(methods, joined, n_boot=500)
    raw = [row.p_two_sided for row in found.values()]
    assert [row.p_holm for row in found.values()] == holm(raw).tolist()
    assert {row.looked_at for row in found.values()} == {3}
    for row in found.values():
        told = "can be told" if row.p_holm < 0.05 else "cannot be told"
        assert f"which {told} from chance (p " in row.sentence
        assert "for 3 combinations looked at" in row.sentence
        # A third of the level for each: further than a single test, which finds less than an interval.
        assert row.smallest > (row.gain_high - row.gain_low) / 2
        missed = f"looked at; one of {row.smallest:.3f} mostly would)"
        assert (missed in row.sentence) == ("cannot" in told)


def test_a_gain_without_an_interval_says_why() -> None:
    rng = np.random.default_rng(3)
    human, ours, theirs = rng.random((3, 12))
    row = gain_of(np.sqrt(ours * theirs), {"ours": ours, "theirs": theirs}, human, n_boot=200)
    assert row is not None
    assert row.reason == row.gain_reason == "12 samples: an interval needs 30"
    assert np.isnan([row.low, row.high, row.gain_low, row.gain_high, row.smallest]).all()
    assert row.sentence.count("(no interval: 12 samples: an interval needs 30)") == 2
    assert "mostly" not in row.sentence


def test_a_gain_says_of_how_many_groups_its_samples_are() -> None:
    generator = np.random.default_rng(11)
    human = generator.random(120)
    ours = np.clip(human + generator.normal(0, 0.3, 120), 0, 1)
    members = {"ours": ours, "theirs": ours[::-1].copy()}
    fused = np.sqrt(ours * ours[::-1])
    row = gain_of(fused, members, human, groups=[i // 4 for i in range(120)])
    assert row is not None
    assert row.clusters == 30
    assert "on 120 samples of 30 groups; gain" in row.sentence
    few = gain_of(fused, members, human, groups=[i % 4 for i in range(120)])
    assert few is not None
    assert "no interval: 4 groups: an interval needs 10" in few.sentence
