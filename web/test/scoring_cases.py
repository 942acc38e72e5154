"""Prints what the library makes of random rows, as JSON, for scoring.test.js."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np

from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import SCHEMES, FloatArray, WeightScheme
from tcva_adapters.results.settings import ScoringConfig

TEMPERATURES = [step / 100 for step in range(10, 101)]
THRESHOLDS = (0.0, 0.3, 0.5, 0.64, 0.7, 0.9, 1.0)
WEIGHTS = (*SCHEMES.values(), WeightScheme("custom", (1, 1, 0.5, 0.5, 0.125)))
VARIANTS = (
    ScoringConfig(),
    ScoringConfig(floor="always"),
    ScoringConfig(eps=1e-12),
    ScoringConfig(fuse_weights=(3, 1, 0)),
    ScoringConfig(floor="always", eps=0.01),
    ScoringConfig(bounds=Bounds(p_min=-3.0, p_max=1.0, t_min=0.0, t_max=1.0), temperature=0.5),
    ScoringConfig(scheme=WeightScheme("custom", (0.9, 1 / 3, 1 / 3, 0, 0))),
)


def rows(draw: np.random.Generator, number: int) -> list[FloatArray]:
    """Counts of one to three judges: uniform rows, whole ones, shares, and judges without any."""
    found = []
    for i in range(number):
        judges = draw.integers(0, 5, (1 + i % 3, 5)).astype(float)
        judges[draw.random(judges.shape) < 0.5] = 0
        if i % 5 == 1:
            judges = draw.dirichlet(np.ones(5), len(judges)) * draw.integers(1, 9)
        if i % 5 == 2:
            judges[0] = np.eye(5)[draw.integers(5)] * draw.integers(1, 9)
        if i % 5 == 3:
            judges = np.round(judges * 256 * draw.random(judges.shape)) / 256
        found.append(judges)
    return found


def plain(value: float | None) -> float | None:
    """Without nan, which JSON has not."""
    return None if value is None or np.isnan(value) else float(value)


def case(row: FloatArray, scoring: ScoringConfig) -> dict[str, Any]:
    """One row under one setting."""
    if scoring.fuse_weights is not None:
        scoring = scoring.changed(fuse_weights=scoring.fuse_weights[: len(row)])
    bounds = scoring.bounds
    settings = {
        "weights": scoring.scheme.weights,
        **{name: getattr(scoring, name) for name in ("penalty", "eps", "floor")},
        "bounds": {n: getattr(bounds, n) for n in ("p_min", "p_max", "t_min", "t_max")},
        "fuse_weights": scoring.fuse_weights,
    }
    found = scoring.curve(row)(np.array(TEMPERATURES))
    judges = [[float(c) for c in counts] if counts.any() else None for counts in row]
    return {"row": judges, "settings": settings, "scores": list(map(plain, found))}


def main() -> None:
    """Print them."""
    draw = np.random.default_rng(11)
    cases = []
    for variant, weights, penalty in product(VARIANTS, WEIGHTS, PENALTIES):
        is_own = variant.scheme.name == "custom"
        scoring = variant.changed(scheme=variant.scheme if is_own else weights, penalty=penalty)
        cases += [case(row, scoring) for row in rows(draw, 10)]
    found = {"temperatures": TEMPERATURES, "thresholds": THRESHOLDS, "cases": cases}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
