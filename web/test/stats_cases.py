"""Prints quantiles and intervals that scipy finds, as JSON, for stats.test.js."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from scipy import stats

from tcva_adapters.stats.least_mean import mean_between
from tcva_adapters.stats.means import mean_intervals

FREEDOM = (1, 2, 3, 5, 9, 10, 29, 50, 59, 60, 61, 100, 999, 9_999)


def interval(scores: np.ndarray) -> dict[str, object]:
    """Of the mean, at 95 %, as the library has it."""
    means, low, high = mean_intervals(scores[:, None])
    return {"scores": scores.tolist(), "mean": means[0], "low": low[0], "high": high[0]}


def between() -> Iterator[dict[str, object]]:
    """Means of values between two ends, of single samples and of groups."""
    draw = np.random.default_rng(4)
    steps = np.round(draw.normal(0, 0.1, 90), 1)
    for values, ends in (
        (np.zeros(20), (-1.0, 1.0)),
        (np.ones(7), (0.0, 1.0)),
        (draw.integers(-1, 2, 60).astype(float), (-1.0, 1.0)),
        (steps, (-1.0, 1.0)),
        (draw.normal(0.05, 0.1, 1500), (-1.0, 1.0)),
        (draw.random(300) ** 6, (0.0, 1.0)),
        (draw.integers(0, 101, 40).astype(float), (0.0, 100.0)),
    ):
        for codes in (None, (np.arange(len(values)) ** 1.5 // 20).astype(int).tolist()):
            found = mean_between(values, ends=ends, groups=codes)
            yield {"values": values.tolist(), "ends": ends, "codes": codes, "interval": found}


def main() -> None:
    """Print them."""
    draw = np.random.default_rng(3)
    quantiles = [(p, n, float(stats.t.ppf(p, n))) for p in (0.9, 0.975, 0.995) for n in FREEDOM]
    means = [interval(draw.random(n)) for n in (10, 11, 57, 1000)]
    means.append(interval(draw.random(57) ** 9))
    print(json.dumps({"quantiles": quantiles, "means": means, "between": list(between())}))


if __name__ == "__main__":
    main()
