"""Prints cases of agreement for the page's tests: what scipy and `tcva_adapters.stats` find."""

import json
import math
import sys

import numpy as np
from scipy.stats import binomtest, norm, spearmanr

from tcva_adapters.samples.output import harmless
from tcva_adapters.stats.kappa import weighted_kappa

Z = float(norm.ppf(0.975))


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _claims(rng: np.random.Generator, answers: int) -> dict[str, object]:
    pairs = []
    for _ in range(answers):
        one = rng.integers(0, 5, size=int(rng.integers(1, 7)))
        two = np.clip(one + rng.integers(-1, 2, size=len(one)), 0, 4)
        pairs.append(np.column_stack([one, two]))
    whole = np.concatenate(pairs)

    def kappa(table: np.ndarray) -> float:
        return weighted_kappa(table[:, 0], table[:, 1], levels=5)

    found = kappa(whole)
    without = np.array([kappa(np.concatenate(pairs[:i] + pairs[i + 1 :])) for i in range(answers)])
    half = Z * math.sqrt((answers - 1) / answers * ((without - without.mean()) ** 2).sum())
    return {
        "answers": [each.tolist() for each in pairs],
        "kappa": _number(found),
        "same": float((whole[:, 0] == whole[:, 1]).mean()),
        "interval": [max(-1.0, found - half), min(1.0, found + half)],
    }


def _ratings(rng: np.random.Generator, n: int) -> dict[str, object]:
    scores = rng.integers(0, 8, size=n) / 7
    human = np.clip(np.round(scores * 4 + rng.normal(size=n)) + 1, 1, 5)
    r = float(spearmanr(scores, human).statistic)
    half = Z * math.sqrt((1 + r * r / 2) / (n - 3))
    return {
        "scores": scores.tolist(),
        "human": human.tolist(),
        "r": _number(r),
        "interval": np.tanh([np.arctanh(r) - half, np.arctanh(r) + half]).tolist(),
    }


def _shares() -> list[dict[str, object]]:
    cases = []
    for hits, n in ((0, 10), (10, 10), (7, 23), (1, 1000), (499, 500)):
        ends = binomtest(hits, n).proportion_ci(0.95, method="exact")
        cases.append({"hits": hits, "n": n, "interval": [ends.low, ends.high]})
    return cases


def main() -> None:
    """Print them as one JSON object."""
    rng = np.random.default_rng(11)
    texts = [
        "=1+1",
        "@SUM(1)",
        "+1",
        "-1",
        "\t=1",
        "'=1",
        "'a",
        "plain",
        'say "a", b',
        "a\r\nb",
        "\uff1d1",
    ]
    cases = {
        "z": Z,
        "claims": [_claims(rng, n) for n in (10, 12, 40, 200)],
        "ratings": [_ratings(rng, n) for n in (10, 25, 400)],
        "shares": _shares(),
        "cells": [[text, harmless(text)] for text in texts],
    }
    json.dump(cases, sys.stdout)


if __name__ == "__main__":
    main()
