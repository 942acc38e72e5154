"""What a calibration says about several judges: their gain together, at the setting in use."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration.candidates import score_matrix
from tcva_adapters.compare.calibration.report import Calibration
from tcva_adapters.printing import text_of
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.bootstrap import paired_difference
from tcva_adapters.stats.checks import FloatArray


def judged(judges: int, n: int = 60) -> tuple[FloatArray, FloatArray]:
    """Level counts of judges that err on their own, shape (n, judges, 5), and ratings."""
    rng = np.random.default_rng(8)
    quality = rng.random(n)
    shares = np.clip(quality[:, None] + rng.normal(0, 0.25, (n, judges)), 0.05, 0.95)
    good = rng.binomial(8, shares)
    counts = np.zeros((n, judges, 5))
    counts[..., 0], counts[..., 3] = good, 8 - good
    return counts, quality


def test_several_judges_have_a_gain_over_the_best_one() -> None:
    counts, quality = judged(2)
    found = calibrate(counts, quality, temperatures=[0.5], repeats=2, n_boot=200)
    row = found.fusing
    assert row is not None
    alone = [score_matrix(counts[:, [j]], [ScoringConfig()])[:, 0] for j in range(2)]
    best = int(row.best.removeprefix("judge ")) - 1
    expected = paired_difference(
        "spearman", score_matrix(counts, [ScoringConfig()])[:, 0], alone[best], quality, n_boot=200
    )
    assert (row.gain, row.p_two_sided) == (expected.delta, expected.p_two_sided)
    assert (row.looked_at, row.p_holm) == (1, row.p_two_sided)
    assert found.to_dict()["fusing"]["gain"] == row.gain
    assert " ".join(row.sentence.split()) in " ".join(text_of(found.parts(), 80).split())


@pytest.mark.parametrize("grouped", [False, True])
def test_groups_are_drawn_together(grouped: bool) -> None:
    counts, quality = judged(2)
    groups = [i // 4 for i in range(60)] if grouped else None
    found = calibrate(counts, quality, temperatures=[0.5], repeats=2, n_boot=200, group=groups)
    assert found.fusing is not None
    plain: Calibration = calibrate(counts, quality, temperatures=[0.5], repeats=2, n_boot=200)
    assert plain.fusing is not None
    assert (found.fusing.gain_low == plain.fusing.gain_low) is not grouped


def test_a_single_judge_has_none() -> None:
    counts, quality = judged(1)
    found = calibrate(counts, quality, temperatures=[0.5], repeats=2, n_boot=100)
    assert found.fusing is None
    assert found.to_dict()["fusing"] is None
