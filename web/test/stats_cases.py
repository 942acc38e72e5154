"""Prints quantiles and intervals that scipy finds, as JSON, for stats.test.js."""

from __future__ import annotations

import json

import numpy as np
from scipy import stats

from tcva_adapters.stats.means import mean_intervals

FREEDOM = (1, 2, 3, 5, 9, 10, 29, 50, 59, 60, 61, 100, 999, 9_999)


def interval(scores: np.ndarray) -> dict[str, object]:
    """Of the mean, at 95 %, as the library has it."""
    means, low, high = mean_intervals(scores[:, None])
    return {"scores": scores.tolist(), "mean": means[0], "low": low[0], "high": high[0]}


def main() -> None:
    """Print them."""
    draw = np.random.default_rng(3)
    quantiles = [(p, n, float(stats.t.ppf(p, n))) for p in (0.9, 0.975, 0.995) for n in FREEDOM]
    means = [interval(draw.random(n)) for n in (10, 11, 57, 1000)]
    means.append(interval(draw.random(57) ** 9))
    print(json.dumps({"quantiles": quantiles, "means": means}))


if __name__ == "__main__":
    main()
