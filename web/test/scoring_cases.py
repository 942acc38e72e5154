"""Prints what the library makes of random rows, as JSON, for scoring.test.js."""

from __future__ import annotations

import json
from itertools import product

import numpy as np

from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import SCHEMES, FloatArray, WeightScheme
from tcva_adapters.report.page_data import settings_of
from tcva_adapters.results.scoring import ScoringConfig

TEMPERATURES = [step / 100 for step in range(10, 101)]
VARIANTS = (
    ScoringConfig(),
    ScoringConfig(fuse_weights=(3, 1, 0)),
    ScoringConfig(floor="always", eps=0.01),
    ScoringConfig(bounds=Bounds(p_min=-3.0, p_max=1.0, t_min=0.0, t_max=1.0)),
)


def rows(draw: np.random.Generator) -> list[FloatArray]:
    """Counts of one to three judges: uniform rows, whole ones, shares, and judges without any."""
    found = []
    for i in range(10):
        judges = draw.integers(0, 5, (1 + i % 3, 5)).astype(float)
        judges[draw.random(judges.shape) < 0.5] = 0
        if i % 5 == 1:
            judges = draw.dirichlet(np.ones(5), len(judges)) * draw.integers(1, 9)
        if i % 5 == 2:
            judges[0] = np.eye(5)[draw.integers(5)] * draw.integers(1, 9)
        found.append(judges)
    return found


def main() -> None:
    """Print them."""
    draw = np.random.default_rng(11)
    cases = []
    custom = WeightScheme("custom", (0.9, 1 / 3, 1 / 3, 0, 0))
    for variant, scheme, penalty in product(
        VARIANTS, (*SCHEMES.values(), custom), PENALTIES
    ):
        for row in rows(draw):
            weights = variant.fuse_weights and variant.fuse_weights[: len(row)]
            scoring = variant.changed(
                scheme=scheme, penalty=penalty, fuse_weights=weights
            )
            scores = scoring.curve(row)(np.array(TEMPERATURES)).tolist()
            judges = [each if any(each) else None for each in row.tolist()]
            found = [None if np.isnan(score) else score for score in scores]
            cases.append(
                {"row": judges, "settings": settings_of(scoring), "scores": found}
            )
    print(json.dumps({"temperatures": TEMPERATURES, "cases": cases}))


if __name__ == "__main__":
    main()
