"""The settings that a calibration chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.aggregation import Penalty, SchemeLike
from tcva_adapters.core.temperature import Temperatures
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.describe import seen

_STEP = 0.05

MOST_THRESHOLDS = 40
"""The number of thresholds to choose from at one setting, besides the one in use."""


def every_setting(
    baseline: ScoringConfig,
    temperatures: Temperatures = (),
    schemes: Sequence[SchemeLike] = (),
    penalties: Sequence[Penalty] = (),
) -> list[ScoringConfig]:
    """List every combination once; the baseline's value is used for what is not given."""
    return list(
        dict.fromkeys(
            baseline.changed(temperature=temperature, scheme=scheme, penalty=penalty)
            for temperature, scheme, penalty in product(
                temperatures or [baseline.temperature],
                schemes or [baseline.scheme],
                penalties or [baseline.penalty],
            )
        )
    )


def candidates(
    baseline: ScoringConfig,
    temperatures: Temperatures = (),
    schemes: Sequence[SchemeLike] = (),
    penalties: Sequence[Penalty] = (),
) -> list[ScoringConfig]:
    """List the baseline and every combination once, those closest to the baseline first.

    Among settings that agree equally well the first one wins, so that settings change only for a
    reason.
    """
    low = baseline.bounds.t_min
    high = baseline.bounds.t_max
    grid = temperatures or [*np.arange(low, high, _STEP).round(10).tolist(), high]

    def distance(setting: ScoringConfig) -> tuple[int, float]:
        changes = [
            setting.scheme != baseline.scheme,
            setting.penalty != baseline.penalty,
        ]
        return sum(changes), round(abs(setting.temperature - baseline.temperature), 9)

    settings = [baseline, *every_setting(baseline, grid, schemes, penalties)]
    return sorted(dict.fromkeys(settings), key=distance)


def with_thresholds(
    settings: Sequence[ScoringConfig], table: ScoreTable
) -> list[ScoringConfig]:
    """List each setting at the threshold in use and halfway between its scores, the nearest first.

    Scores that are equal to 3 decimals are one; 0 and 1 count as scores, so that a threshold may
    also lie below or above all of them. Of more than 40 thresholds, 40 are taken at even quantiles.

    >>> counts = np.array([[[1.0, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]]])
    >>> table = ScoreTable("ab", ("m",), np.ones((2, 1)), counts=counts)
    >>> [setting.threshold for setting in with_thresholds([ScoringConfig()], table)]
    [0.5, 0.625, 0.125]
    """
    found = []
    for setting in settings:
        in_use = setting.threshold
        scores = np.unique([0.0, *seen(table.at(setting)), 1.0])
        thinned = np.quantile(
            (scores[1:] + scores[:-1]) / 2.0,
            np.linspace(0.0, 1.0, MOST_THRESHOLDS),
            method="nearest",
        )
        thresholds = {in_use, *thinned.round(4).tolist()}
        found += [
            setting.changed(threshold=threshold)
            for threshold in sorted(thresholds, key=lambda t: (abs(t - in_use), t))
        ]
    return found
