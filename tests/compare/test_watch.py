"""What changed since a baseline, and the gate that remembers runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tcva_adapters.compare.changes import Changes
from tcva_adapters.compare.gates import Gates
from tcva_adapters.compare.graded import Case, Graded
from tcva_adapters.compare.watch import OURS, Watch
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.samples.output import replacing
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
    look = Watch.of(found.before).after(found)
    assert look.gate("m").failed
    assert look.gate("m").reached is None


def test_a_fall_is_seen_and_the_next_runs_are_another_story(tmp_path: Path) -> None:
    before = run_of([0.9] * 60)
    file = tmp_path / "state.json"
    watch = Watch.of(before)
    shares = []
    for scores in ([0.9] * 60, [0.9] * 60, [0.1] * 60, [0.9] * 60):
        look = watch.look(file, Changes(before, run_of(scores)))
        shares.append(look.share)
        assert look.has_fallen is (scores[0] == 0.1)
        assert look.gate("m").failed is look.has_fallen
    assert shares == pytest.approx([0.05 / 2, 0.05 / 6, 0.05 / 12, 0.05 / 20])
    assert look.watch.totals["s0"] == (0.0, 1)  # since the alarm
    assert look.gate("m").text.startswith("m: mean score +0.000 since the baseline, run 4; by this")


def test_a_small_fall_in_every_run_adds_up() -> None:
    rng = np.random.default_rng(1)
    quality = rng.uniform(0.45, 0.55, 800)
    watch, before = Watch.of(run_of(quality)), run_of(quality)
    falls = []
    for _ in range(8):
        now = quality - 0.035 + rng.uniform(-0.4, 0.4, 800)
        look = watch.after(Changes(before, run_of(now.clip(0, 1))))
        watch = look.watch
        falls.append((look.latest.high < 0, look.whole.high < 0))
    assert any(average and not latest for latest, average in falls)


def test_a_fall_may_be_allowed() -> None:
    before, now = run_of([0.9] * 80), run_of([0.7] * 80)
    assert Watch.of(before).after(Changes(before, now)).has_fallen
    assert not Watch.of(before, max_drop=0.3).after(Changes(before, now)).has_fallen


def test_runs_that_end_together_are_both_counted(tmp_path: Path) -> None:
    file, before = tmp_path / "state.json", run_of([0.5] * 20)
    watch = Watch.of(before)
    one, two = (watch.went_on(file) for _ in range(2))  # both began before either ended
    shares = [each.look(file, Changes(before, before)).share for each in (one, two)]
    assert shares == pytest.approx([0.05 / 2, 0.05 / 6])
    with replacing(file, fingerprint="one process at a time", ours=OURS) as draft:
        with pytest.raises(InvalidValueError, match="another process is writing"):
            watch.look(file, Changes(before, before))
        draft.write(file.read_bytes())
    assert watch.went_on(file).runs == 2
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_what_does_not_fit_the_state_is_refused(tmp_path: Path) -> None:
    file, before = tmp_path / "state.json", run_of([0.5, 0.6])
    Watch.of(before).look(file, Changes(before, before))
    with pytest.raises(InvalidValueError, match="begun with another baseline or dial"):
        Watch.of(run_of([0.5, 0.7])).went_on(file)
    with pytest.raises(InvalidValueError, match="begun with another --false-alarms"):
        Watch.of(before, false_alarms=0.01).went_on(file)
    other = tmp_path / "other.json"
    other.write_text("[]")
    with pytest.raises(UnreadableInputError, match="is no state of earlier runs"):
        Watch.of(before).went_on(other)
    with pytest.raises(InvalidValueError, match=r"false_alarms=0\.6"):
        Watch.of(before, false_alarms=0.6)
    with pytest.raises(InvalidValueError, match="max_drop=1"):
        Watch.of(before, max_drop=1.0)


@pytest.mark.slow
def test_no_change_raises_hardly_an_alarm_however_often_one_looks() -> None:
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(20):
        quality = rng.beta(4, 1, 12)
        runs = (quality + rng.normal(0, 0.2, (16, 12))).clip(0, 1).round(1)
        before = run_of(runs[0])
        watch, alarm = Watch.of(before, false_alarms=0.2), False
        for now in runs[1:]:
            look = watch.after(Changes(before, run_of(now)))
            watch, alarm = look.watch, alarm or look.has_fallen
        alarms += alarm
    assert alarms <= 4 + 5  # a fifth of 20, and three times its Monte Carlo error


def test_gates_by_group_are_about_other_groups() -> None:
    scores = [1.0] * 18 + [0.0] * 2
    groups = [f"d{i // 5}" for i in range(20)]
    gates = Gates.of(0.5, 0.5, confidence=0.95)
    assert not gates.judge([run_of(scores)]).failed
    failed = gates.judge([run_of(scores, groups)]).failed
    assert [gate.figure for gate in failed] == ["mean score", "pass rate"]
    assert failed[0].text.endswith("; 4 groups of samples, the largest with 5 of 20")
    alone = replace(run_of(scores, [f"d{i}" for i in range(20)]))
    assert alone.sure_mean(0.95) == run_of(scores).sure_mean(0.95)
    assert alone.sure_pass_rate(0.95) == pytest.approx(run_of(scores).sure_pass_rate(0.95))


def test_scores_outside_the_scale_have_no_bound() -> None:
    text = Gates.of("m=3", confidence=0.9).judge([Graded("m", (Case("a", 4.0),))]).failed[0].text
    assert text == (
        "m: there is no lower bound of the mean score (scores leave [0, 1]), and 3 is asked for"
    )
    stars = Graded("m", tuple(Case(f"s{i}", 4.0) for i in range(40)), scale=(1.0, 5.0))
    assert not Gates.of("m=3", confidence=0.9).judge([stars]).failed
