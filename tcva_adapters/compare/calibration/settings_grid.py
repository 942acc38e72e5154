"""The settings that a calibration chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from tcva_adapters.core.aggregation import Penalty, SchemeLike
from tcva_adapters.core.temperature import Temperatures
from tcva_adapters.results.scoring import ScoringConfig

_STEP = 0.05


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
