"""When does the temperature matter? Ranking and decisions on labelled sets, beside a threshold.

Run: python -m benchmarks.temperature [--cost 5] [--check], and with --simulate 500.

Verdicts are GPT-4.1-mini's on the paper's sets (TCVA_PAPER_DATA) and the lexical judge's on the beds
(TCVA_BEDS, at most 1 500 rows each), see `benchmarks.lexical_sets`. Of each set it prints

- how far Spearman's rho with the labels moves over T = 0.1, 0.2 and so on to 1.0: worst, best, and their
  difference with its paired interval (of the best and the worst of ten, so too large rather than too small);
  also of scores that are not rounded to 3 decimals, which makes ties at low temperatures,
- how many decisions at threshold 0.5 change between T = 0.2 and 0.9,
- what `calibrate` says of decisions, from T = 0.5 and threshold 0.5: the objective of four choices on unseen
  samples, their gains, the recommended one, and how many decisions it changes.

--check computes the choices once more with numpy alone and prints the largest difference. --simulate draws
sets in which no setting is better than another (ratings that depend on nothing), and prints in which share a
change is recommended.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from scipy.stats import spearmanr

from benchmarks.lexical_sets import load
from tcva_adapters.compare import calibrate, sweep
from tcva_adapters.compare.calibration import choice_by_agreement
from tcva_adapters.core.aggregation import aggregate_counts
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.tables import Report
from tcva_adapters.text.sentences import split_claims
from tests.support.paper import FOLDER, judged
from tests.support.recomputed_calibration import recompute

PAPER = ("summeval", "summeval_rel")
RESAMPLES = 2000
GRID = [round(0.1 * place, 1) for place in range(1, 11)]


def sets() -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Name, level counts and labels of each set that is there."""
    if FOLDER.is_dir():
        for name in PAPER:
            counts, human, _ = judged(name)
            yield name, counts, human
    judge = LexicalJudge()
    for name, rows in load().items():
        if name in PAPER:
            continue
        counts = np.zeros((len(rows), len(LEVELS)))
        for place, row in enumerate(rows):
            claims = split_claims(row["answer"])
            for verdict in judge.judge_claims(claims, row["contexts"], FAITHFULNESS):
                if verdict.probabilities is not None:
                    counts[place] += verdict.probabilities
        human = np.array([float(row["label"]) for row in rows])
        scored = counts.any(axis=1)
        yield name, counts[scored], human[scored]


def largest_difference(
    report: Report, counts: FloatArray, human: FloatArray, cost: float | None
) -> float:
    """How far the figures of the report are from those of numpy alone."""
    expected = recompute(
        counts,
        human,
        cost=cost,
        divisions=choice_by_agreement.REPEATS,
        resamples=RESAMPLES,
    )
    sign = 1 if cost is None else -1
    apart = [0.0]
    for row in report.records("settings"):
        way = expected.ways[row["choice"]]
        setting = f"T={way.temperature:g}, threshold {way.threshold:g}"
        assert row["setting"] in {None, setting}
        pairs = (
            (row["kappa" if cost is None else "cost"], sign * way.on_same),
            (row["cross_validated"], sign * way.on_unseen),
            (row["gain"], way.gain),
            (row["gain_low"], way.low),
            (row["gain_high"], way.high),
            (row["false_pass"], way.false_pass),
            (row["missed"], way.missed),
        )
        apart += [abs(a - b) for a, b in pairs if a is not None]
    chosen = expected.ways[expected.recommended]
    recommended = report.settings["recommended"]
    assert recommended["temperature"] == chosen.temperature
    assert recommended["threshold"] == chosen.threshold
    assert len(report.records("flips")) == len(expected.flips)
    return max(apart)


def print_sets(cost: float | None, *, check: bool) -> None:
    measure = "kappa" if cost is None else f"cost, false pass {cost:g}"
    figures = []
    for name, counts, human in sets():
        moved = aggregate_counts(counts, [0.2, 0.9]) >= 0.5
        flipped = float((moved[:, 0] != moved[:, 1]).mean())
        print(f"\n{name}, n = {len(human)}")
        print(f"  {sweep(counts, human=human).sentence}")
        digits = aggregate_counts(counts, GRID)
        rhos = [spearmanr(scores, human).statistic for scores in digits.T]
        print(f"  with all digits: {max(rhos) - min(rhos):.3f}")
        print(f"  {flipped:.0%} of decisions at 0.5 differ between T=0.2 and T=0.9")
        report = (
            calibrate(counts, human, objective="kappa", resamples=RESAMPLES)
            if cost is None
            else calibrate(counts, human, cost_false_pass=cost, resamples=RESAMPLES)
        )
        print(f"  {report.sentence}")
        for row in report.records("settings"):
            interval = ""
            if row["gain_low"] is not None:
                interval = f" [{row['gain_low']:+.3f}, {row['gain_high']:+.3f}]"
            print(
                f"  {row['choice']:10} {row['setting'] or '-':25} {row['cross_validated']:.3f}"
                f"  gain {row['gain']:+.3f}{interval}"
            )
        if check:
            apart = largest_difference(report, counts, human, cost)
            print(f"  largest difference from numpy alone: {apart:.1e}")
        figures.append([r["cross_validated"] for r in report.records("settings")])
    means = ", ".join(
        f"{choice} {value:.3f}"
        for choice, value in zip(
            [row["choice"] for row in report.records("settings")],
            np.mean(figures, axis=0),
            strict=True,
        )
    )
    print(f"\nmean {measure} of {len(figures)} sets on unseen samples: {means}")


def simulate(number: int) -> None:
    """How often a change is recommended where all settings are equally good."""
    choice_by_agreement.REPEATS = 10
    for n in (40, 100, 250):
        changed = 0
        for seed in range(number):
            rng = np.random.default_rng([seed, n])
            counts = rng.multinomial(6, rng.dirichlet([2, 1, 1, 1, 1], n)).astype(float)
            human = (rng.random(n) < 0.6).astype(float)
            report = calibrate(
                counts, human, objective="kappa", resamples=400, seed=seed
            )
            changed += report.sentence.startswith("Use")
        print(f"n = {n}: a change is recommended in {changed / number:.3f} of {number}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cost", type=float)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--simulate", type=int, default=0)
    options = parser.parse_args()
    if options.simulate:
        simulate(options.simulate)
    else:
        print_sets(options.cost, check=options.check)


if __name__ == "__main__":
    main()
