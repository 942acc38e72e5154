"""Does anything that costs no call tell which scores of a model are off?

Run: python -m benchmarks.trust [folder of the paper's data]
The folder defaults to TCVA_PAPER_DATA, or ../shared/data/tcva_paper beside the repository.

What is off, the signals and the rule were fixed before the first look. A score at T = 0.5 is off where it lies more than 0.25
from the mean human rating. A logistic regression on all signals (ridge of 1, standardised) says how
likely that is, always on samples that it was not fitted to: five folds, ten partitions. The area
under the ROC curve is of the pairs within a fold: between folds the fits differ, and a fit takes what
it has seen more of for more likely, which lies below 0.5 where nothing can be told. Its interval is that
of 2000 resamples of the samples. The signals would be shipped if its lower end were above 0.5 on both sets.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.lexical_sets import PAPER, data_folder
from tcva_adapters import TCVA, Assessment, ClaimVerdict, Result, Sample, Verdict, WeightScheme
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.judges.evidence import check_evidence
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.text.sentences import split_claims

OFF: Final = 0.25
FOLDS, PARTITIONS, RESAMPLES, RIDGE, STEPS = 5, 10, 2000, 1.0, 25
SIGNALS: Final = (
    "verdicts lowered for their quotes",
    "verdicts whose quotes cannot be checked",
    "verdicts without a quote",
    "few claims",
    "levels that differ",
    "score close to the threshold",
    "embedded judge says otherwise",
)


def checked_claims(verdicts: Sequence[dict[str, Any]], sample: Sample) -> tuple[ClaimVerdict, ...]:
    """The stored verdicts after the check of their quotes.

    Texts of claims are not stored: they are the answer's sentences where there are as many, else
    the reason stands in.
    """
    texts = split_claims(sample.response or "")
    if len(texts) != len(verdicts):
        texts = [v["reason"] for v in verdicts]
    claims = [
        ClaimVerdict(claim=text, verdict=Verdict.parse(v["verdict"]), evidence=v.get("support", ""))
        for text, v in zip(texts, verdicts, strict=True)
    ]
    # Where the model was not asked for quotes, their absence says nothing.
    asked = any(claim.evidence for claim in claims)
    return check_evidence(claims, sample.contexts or ()) if asked else tuple(claims)


def signals_of(claims: Sequence[ClaimVerdict], score: float, embedded: float) -> list[float]:
    """What is known of one sample, in the order of `SIGNALS`; more is meant to be worse."""
    weights = [
        WeightScheme.DEFAULT.weight(c.original_verdict or c.verdict or Verdict.NONE) for c in claims
    ]
    unchecked = [claim.evidence_check is EvidenceCheck.UNCHECKED for claim in claims]
    return [
        float(np.mean([claim.original_verdict is not None for claim in claims])),
        float(np.mean(unchecked)),
        float(np.mean([not claim.evidence for claim in claims])),
        -float(np.log(len(claims))),
        float(np.std(weights)),
        -abs(score - 0.5),
        abs(score - embedded),
    ]


def read(folder: Path, name: str) -> tuple[FloatArray, npt.NDArray[np.bool_], FloatArray]:
    """Signals, shape (N, 7), which scores are off, and the scores."""
    prepared = json.loads((folder / f"{name}_prepared.json").read_text(encoding="utf-8"))
    rows = json.loads((folder / f"{name}_tcva_scores.json").read_text(encoding="utf-8"))
    samples = {record["id"]: Sample.from_record(record) for record in prepared}
    tcva = TCVA("faithfulness", judge="lexical")
    found, off, scores = [], [], []
    for row in rows:
        if not row["verdicts"]:
            continue
        sample = samples[row["id"]]
        levels = [verdict["verdict"] for verdict in row["verdicts"]]
        score = Result(Assessment.from_verdicts(levels)).score or 0.0
        embedded = tcva.evaluate(sample).score
        claims = checked_claims(row["verdicts"], sample)
        found.append(signals_of(claims, score, score if embedded is None else embedded))
        off.append(abs(score - row["human_score"]) > OFF)
        scores.append(score)
    return np.array(found), np.array(off), np.array(scores)


@dataclass(frozen=True)
class Pairs:
    """How often a score that is off has the higher value than one that is not.

    Attributes:
        won: Shape (off, not off): how often, ties counting half.
        compared: Of how many comparisons.
    """

    won: FloatArray
    compared: FloatArray

    def area(self, off: FloatArray, others: FloatArray) -> float:
        """Under the ROC curve, with a weight for each sample."""
        return float((off @ self.won @ others) / (off @ self.compared @ others))

    def text(self) -> str:
        """The area with its interval."""
        first, second = self.won.shape
        rng = np.random.default_rng(0)
        areas: list[float] = []
        while len(areas) < RESAMPLES:
            drawn = np.bincount(
                rng.integers(first + second, size=first + second), minlength=first + second
            )
            if drawn[:first].any() and drawn[first:].any():
                areas.append(self.area(drawn[:first].astype(float), drawn[first:].astype(float)))
        low, high = np.quantile(areas, [0.025, 0.975])
        return f"{self.area(np.ones(first), np.ones(second)):.3f} [{low:.3f}, {high:.3f}]"


def pairs(values: FloatArray, off: npt.NDArray[np.bool_]) -> Pairs:
    """Every score that is off beside every other one."""
    first, second = values[off][:, None], values[~off][None, :]
    return Pairs((first > second) + 0.5 * (first == second), np.ones((off.sum(), (~off).sum())))


def fitted(signals: FloatArray, off: npt.NDArray[np.bool_]) -> FloatArray:
    """Coefficients of a logistic regression by Newton's steps; the first is the constant."""
    design = np.column_stack([np.ones(len(signals)), signals])
    ridge = np.diag([0.0, *[RIDGE] * signals.shape[1]])
    found = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-design @ found))
        slope = design.T @ (off - chance) - ridge @ found
        curve = design.T @ (design * (chance * (1.0 - chance))[:, None]) + ridge
        found += np.linalg.solve(curve, slope)
    return found


def held_out(signals: FloatArray, off: npt.NDArray[np.bool_]) -> Pairs:
    """Pairs within a fold, by how likely a fit that did not see the fold takes each to be off."""
    rng = np.random.default_rng(0)
    won = compared = np.zeros((off.sum(), (~off).sum()))
    for _ in range(PARTITIONS):
        fold, said = rng.permutation(len(off)) % FOLDS, np.zeros(len(off))
        for each in range(FOLDS):
            seen = fold != each
            centre, spread = signals[seen].mean(axis=0), signals[seen].std(axis=0)
            scaled = (signals - centre) / np.where(spread > 0.0, spread, 1.0)
            coefficients = fitted(scaled[seen], off[seen])
            said[~seen] = coefficients[0] + scaled[~seen] @ coefficients[1:]
        together = fold[off][:, None] == fold[~off][None, :]
        won, compared = won + pairs(said, off).won * together, compared + together
    return Pairs(won, compared)


def main(arguments: Sequence[str]) -> None:
    for name in PAPER:
        signals, off, scores = read(data_folder(arguments), name)
        print(f"{name}: {off.sum()} of {len(off)} scores are off; AUROC [95 %]")
        print(f"  {'all signals, cross-validated (decides)':42} {held_out(signals, off).text()}")
        print(f"  {'the score alone, cross-validated':42} {held_out(scores[:, None], off).text()}")
        for place, signal in enumerate(SIGNALS):
            if signals[:, place].std() > 0.0:
                print(f"  {signal + ', as it is':42} {pairs(signals[:, place], off).text()}")


if __name__ == "__main__":
    main(sys.argv[1:])
