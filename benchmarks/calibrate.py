"""Which temperature agrees best with human ratings on the paper's sets, and what that is worth.

Run: python -m benchmarks.calibrate FOLDER
FOLDER holds the paper's files, NAME_tcva_scores.json for each set. For each set and objective it
prints the setting that does best on all samples with its agreement there (in sample: too good), the
agreement of choices on samples that they have not seen (out of fold), and the gain of choosing over
T=0.5 with its interval; first among 19 temperatures, then among all weight schemes, penalties and
floors as well.

Run: python -m benchmarks.calibrate --null [RUNS]
prints how often a gain is claimed where there is none: on candidates that are equally good by
construction, over several sizes and numbers of candidates and folds.

Run: python -m benchmarks.calibrate --power [RUNS]
prints how often a gain is found where all candidates but the default are better than it, beside how
often that was predicted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration.candidates import describe
from tcva_adapters.compare.calibration.nested import Choice, Division, Resampling
from tcva_adapters.compare.calibration.objectives import (
    OBJECTIVES,
    Objective,
    ObjectiveName,
    mid_ranks,
)
from tcva_adapters.compare.calibration.report import Calibration
from tcva_adapters.compare.paper.data import read_folder
from tcva_adapters.core.aggregation import FLOORS, PENALTIES
from tcva_adapters.core.verdicts import SCHEMES

EVERYTHING: dict[str, Any] = {
    "schemes": list(SCHEMES),
    "penalties": list(PENALTIES),
    "floors": list(FLOORS),
}
# Samples, correlation of a candidate with quality (squared), candidates, folds.
NULLS = ((30, 0.9, 19, 5), (60, 0.9, 19, 5), (60, 0.5, 3, 5), (60, 0.97, 76, 5), (60, 0.9, 19, 10))
# Samples, candidates, and how the default goes with quality, where the others do by 0.9.
POWERS = (
    *((60, 19, default) for default in (0.88, 0.85, 0.8, 0.7, 0.6)),
    *((150, 19, default) for default in (0.895, 0.88, 0.87, 0.85, 0.8)),
)


def line(found: Calibration) -> str:
    gain = found.gain
    often, share = found.picks[0]
    return (
        f"{found.objective:8} of {found.candidates:3}: default {found.before:.4f}; "
        f"in sample {found.in_sample:.4f} at {describe(found.chosen)}; "
        f"out of fold {found.out_of_fold:.4f}; "
        f"gain {gain.value:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]; "
        f"most often {describe(often)} ({share:.0%}); {found.recommendation}"
    )


def paper(folder: Path) -> None:
    for name, one in read_folder(folder).items():
        assert one.counts is not None
        print(name)
        for number, options in enumerate(({}, EVERYTHING)):
            for objective in OBJECTIVES:
                found = calibrate(one.counts[:, 0], one.rating, objective=objective, **options)
                if not number and objective == OBJECTIVES[0]:
                    print(f"  {found.n} samples, {found.unscored} unscored left out")
                print(f"  {line(found)}")


def claims_a_gain(objective: ObjectiveName, case: tuple[int, float, int, int], seed: int) -> bool:
    """Whether one of several candidates that are equally good is said to be better."""
    n, shared, size, folds = case
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    noise = rng.normal(size=(n, size))
    scores = np.round(4 * (np.sqrt(shared) * quality[:, None] + np.sqrt(1 - shared) * noise)) / 4
    human = np.clip(np.round(2 * (quality + 0.9 * rng.normal(size=n))) / 2, -2, 2)
    measured = Objective(objective)
    if measured.kind == "rank":
        scores = mid_ranks(scores)
    elif measured.kind == "pass_fail":
        scores, human = (scores > 0).astype(float), (human > 0).astype(float)
    division = Division.of(human, None, Resampling(folds, 10, 400, 0.95, seed))
    choice = Choice.of(measured, scores, human, division)
    unseen = choice.unseen(scores, division)
    return division.gain(measured, unseen, scores[:, [0]], human).detectable


def null(runs: int) -> None:
    print(f"share of {runs} data sets without a difference on which a gain is claimed")
    for objective in OBJECTIVES:
        for case in NULLS:
            share = np.mean([claims_a_gain(objective, case, seed) for seed in range(runs)])
            n, _, size, folds = case
            print(f"  {objective:8} {n} samples, {size} candidates, {folds} folds: {share:.3f}")


def power(runs: int) -> None:
    """Frequencies of finds against the mean of the predicted ones, at the mean of the gains."""
    print(f"of {runs} data sets; Spearman")
    measured = Objective("spearman")
    for n, size, default in POWERS:
        gains = []
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            quality, common = rng.normal(size=n), rng.normal(size=(n, 1))
            human = quality + 0.7 * rng.normal(size=n)
            noise = np.sqrt(0.95) * common + np.sqrt(0.05) * rng.normal(size=(n, size))
            with_quality = np.append(default, np.full(size - 1, 0.9))
            scores = with_quality * quality[:, None] + np.sqrt(1 - with_quality**2) * noise
            scores = mid_ranks(scores)
            division = Division.of(human, None, Resampling(5, 5, 400, 0.95, seed))
            choice = Choice.of(measured, scores, human, division)
            unseen = choice.unseen(scores, division)
            gains.append(division.gain(measured, unseen, scores[:, [0]], human))
        true = float(np.mean([gain.value for gain in gains]))
        found = np.mean([gain.detectable for gain in gains])
        said = np.mean([gain.power(true) for gain in gains])
        print(
            f"  {n} samples, {size} candidates, gain {true:.3f}: {found:.3f}, predicted {said:.3f}"
        )


def main() -> None:
    match sys.argv[1:]:
        case ["--null", *rest]:
            null(int(rest[0]) if rest else 300)
        case ["--power", *rest]:
            power(int(rest[0]) if rest else 300)
        case [folder]:
            paper(Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
