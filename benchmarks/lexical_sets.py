"""The lexical judge on eight labelled sets, beside plain counts of n-grams, and on our own labels.

Run: python -m benchmarks.lexical_sets
Six sets are read from TCVA_BEDS, or ../shared/data/beds beside the repository, and two from
TCVA_PAPER_DATA, or ../shared/data/tcva_paper. Spearman's rho with the labels is at T = 0.5.
"""

import json
import os
import re
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.stats import spearmanr

from tcva_adapters import Sample, aggregate_counts
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.stats.inference import estimate
from tcva_adapters.text.sentences import split_claims
from tests.support import paper

FOLDER: Final = Path(
    os.environ.get("TCVA_BEDS", paper.ROOT.parent / "shared/data/beds")
)
BEDS: Final = ("begin_cmu_dev", "begin_tc_dev", "begin_wow_dev", "factcheck_stance", "topical_chat", "wice_dev")  # fmt: skip
PAPER: Final = ("summeval", "summeval_rel")
MOST: Final = 1500
"""Rows of a set."""
Row = dict[str, Any]
Grams = Callable[[str], Sequence[Hashable]]


def paper_file(name: str) -> list[Row]:
    """A file of the paper's data; empty where it is not there."""
    return paper.load(name) if paper.FOLDER.is_dir() else []


def load() -> dict[str, list[Row]]:
    """At most 1 500 rows of each set that is there: answer, contexts, label."""
    sets: dict[str, list[Row]] = {}
    for name in BEDS:
        path = FOLDER / f"{name}.jsonl"
        if path.exists():
            rows = [
                json.loads(line)
                for line in path.read_text(encoding="utf-8").splitlines()
            ]
            drawn = [
                rows[i] for i in np.random.default_rng(0).permutation(len(rows))[:MOST]
            ]
            sets[name] = [{**row, "answer": row["response"]} for row in drawn]
    for name in PAPER:
        if rows := paper_file(f"{name}_prepared"):
            names = {"answer": "answer", "contexts": "context", "label": "human_score"}
            sets[name] = [
                {ours: row[theirs] for ours, theirs in names.items()} for row in rows
            ]
    return sets


def word_grams(size: int, text: str) -> list[Hashable]:
    words = re.findall(r"\w+", text.lower())
    return list(zip(*(words[i:] for i in range(size)), strict=False))


def character_grams(size: int, text: str) -> list[Hashable]:
    line = " ".join(text.lower().split())
    return [line[i : i + size] for i in range(len(line) - size + 1)]


COUNTS: Final = [
    partial(grams, n + far)
    for grams, far in ((word_grams, 1), (character_grams, 3))
    for n in range(4)
]


def containment(row: Row, grams: Grams) -> float:
    """The share of the answer's n-grams that occur in the contexts."""
    wanted = grams(row["answer"])
    known = set().union(*(grams(text) for text in row["contexts"]))
    return sum(gram in known for gram in wanted) / len(wanted) if wanted else 0.0


def level_counts(rows: Sequence[Row]) -> FloatArray:
    """The lexical judge's counts of the five levels, shape (N, 5); 0 where nothing is claimed."""
    counts, judge = np.zeros((len(rows), len(LEVELS))), LexicalJudge()
    for at, row in enumerate(rows):
        claims = split_claims(row["answer"])
        for verdict in judge.judge_claims(claims, row["contexts"], FAITHFULNESS):
            if verdict.probabilities is not None:
                counts[at] += verdict.probabilities
    return counts


def judged(rows: Sequence[Row]) -> FloatArray:
    """Scores at T = 0.5; nan where nothing is claimed."""
    return np.asarray(aggregate_counts(level_counts(rows), [0.5])[:, 0])


def print_sets(sets: dict[str, list[Row]]) -> None:
    print(f"{'set':18}{'rows':>6}  {'rho':>5}  {'interval':13}  best plain count")
    means = []
    for name, rows in sets.items():
        scores = judged(rows)
        labels = np.array([float(row["label"]) for row in rows])
        shares = ([containment(row, grams) for row in rows] for grams in COUNTS)
        plain = max(spearmanr(each, labels)[0] for each in shares)
        found = estimate("spearman", [scores, labels])
        means.append((found.value, plain))
        shown = f"{found.value:.3f}  {found.low:.3f}-{found.high:.3f}"
        print(f"{name:18}{found.n:6}  {shown}  {plain:.3f}", flush=True)
    own, plain = np.mean(means, axis=0)
    print(f"mean: {own:.3f}, best plain count {plain:.3f}")


def print_reader() -> None:
    """How often the judge gives the level that a reader gave, on the package's own samples."""
    apart = []
    samples = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    for sample in filter(lambda sample: any(sample.contexts or ()), samples):
        labels = {label.claim: label.level for label in labels_of(sample)}
        claims = split_claims(sample.response or "")
        for verdict in LexicalJudge().judge_claims(
            claims, sample.contexts or (), FAITHFULNESS
        ):
            level = labels.get(verdict.claim)
            if level and verdict.verdict:
                apart.append(abs(LEVELS.index(level) - LEVELS.index(verdict.verdict)))
    same, near = np.mean(np.array(apart) == 0), np.mean(np.array(apart) <= 1)
    shown = f"{same:.1%} have the reader's level, {near:.1%} are within one"
    print(f"{len(apart)} claims of the package's samples: {shown}")


def main() -> None:
    sets = load()
    if missing := {*BEDS, *PAPER} - set(sets):
        print(f"not found: {', '.join(missing)}; set TCVA_BEDS and TCVA_PAPER_DATA")
    print_reader()
    if sets:
        print_sets(sets)


if __name__ == "__main__":
    main()
