"""The embedded judge on eight labelled sets, beside plain counts of n-grams; and its speed.

Run: python -m benchmarks.lexical_sets [--first FOLDER]
Six sets are read from TCVA_BEDS, or ../shared/data/beds beside the repository, and two from
TCVA_PAPER_DATA, or ../shared/data/tcva_paper. With FOLDER, a checkout that has the first version
of the judge, samples a second and core of both versions are measured in turns and compared.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, Final
from unittest import mock

import numpy as np
from scipy.stats import spearmanr

from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.judges import lexical
from tcva_adapters.judges.lexical import LEXICAL_VERSION, LexicalJudge
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.sentences import split_claims

ROOT: Final = Path(__file__).resolve().parent.parent
BEDS: Final = (
    "begin_cmu_dev",
    "begin_tc_dev",
    "begin_wow_dev",
    "factcheck_stance",
    "topical_chat",
    "wice_dev",
)
PAPER: Final = ("summeval", "summeval_rel")
MOST: Final = 1500  # rows of a set
RESAMPLES: Final = 1000
ROUNDS: Final = 3
# What the judge's constants are chosen from, for the figure that leaves one set out.
GRID: Final = {
    "_THIN": (0.5, 1, 2),
    "_MISSING": (0.5, 0.7, 0.9),
    "_CONTRADICTION": (0.1, 0.3),
}

Row = dict[str, Any]
Counter = Callable[[str], list[Hashable]]


def folder(variable: str, name: str) -> Path:
    return Path(os.environ.get(variable, ROOT.parent / "shared/data" / name))


def data_folder(arguments: Sequence[str]) -> Path:
    """The folder of the paper's data: the first argument, or where it usually is."""
    return Path(arguments[0]) if arguments else folder("TCVA_PAPER_DATA", "tcva_paper")


def load() -> dict[str, list[Row]]:
    """At most 1 500 rows of each set that is there: answer, contexts, label."""
    sets: dict[str, list[Row]] = {}
    for name in BEDS:
        path = folder("TCVA_BEDS", "beds") / f"{name}.jsonl"
        if path.exists():
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            drawn = np.random.default_rng(0).permutation(len(rows))[:MOST]
            sets[name] = [
                {"answer": r["response"], "contexts": r["contexts"], "label": r["label"]}
                for r in (rows[i] for i in drawn)
            ]
    for name in PAPER:
        path = folder("TCVA_PAPER_DATA", "tcva_paper") / f"{name}_prepared.json"
        if path.exists():
            sets[name] = [
                {"answer": r["answer"], "contexts": r["context"], "label": r["human_score"]}
                for r in json.loads(path.read_text(encoding="utf-8"))
            ]
    return sets


def word_grams(size: int) -> Counter:
    def grams(text: str) -> list[Hashable]:
        words = re.findall(r"\w+", text.lower())
        return list(zip(*(words[i:] for i in range(size)), strict=False))

    return grams


def character_grams(size: int) -> Counter:
    def grams(text: str) -> list[Hashable]:
        line = " ".join(text.lower().split())
        return [line[i : i + size] for i in range(len(line) - size + 1)]

    return grams


COUNTS: Final[dict[str, Counter]] = {
    **{f"{n}-grams of words": word_grams(n) for n in (1, 2, 3, 4)},
    **{f"{n}-grams of characters": character_grams(n) for n in (3, 4, 5, 6)},
}


def containment(row: Row, grams: Counter) -> float:
    """The share of the answer's n-grams that occur in the contexts."""
    wanted = grams(row["answer"])
    known = set().union(*(grams(text) for text in row["contexts"]))
    return sum(gram in known for gram in wanted) / len(wanted) if wanted else 0.0


def judged(judge: LexicalJudge, rows: Sequence[Row]) -> FloatArray:
    """Scores at T = 0.5; nan where nothing is claimed."""
    counts = np.zeros((len(rows), len(LEVELS)))
    for at, row in enumerate(rows):
        claims = split_claims(row["answer"])
        for verdict in judge.judge_claims(claims, row["contexts"], FAITHFULNESS):
            if verdict.probabilities is not None:
                counts[at] += verdict.probabilities
    scores: FloatArray = sweep(counts, [0.5])[:, 0]
    return scores


def rho(scores: FloatArray, labels: FloatArray) -> float:
    known = ~np.isnan(scores)
    return float(spearmanr(scores[known], labels[known])[0])


def interval(scores: FloatArray, labels: FloatArray) -> tuple[float, float]:
    """The middle 95 percent over samples drawn again."""
    known = np.flatnonzero(~np.isnan(scores))
    rng = np.random.default_rng(0)
    drawn = [rng.choice(known, len(known)) for _ in range(RESAMPLES)]
    low, high = np.quantile([rho(scores[at], labels[at]) for at in drawn], [0.025, 0.975])
    return float(low), float(high)


def print_sets(sets: dict[str, list[Row]]) -> None:
    print(f"{LEXICAL_VERSION}, Spearman's rho with the labels at T = 0.5")
    print(f"{'set':18}{'n':>6}  {'judge':>5}  {'interval':13}{'best plain count':>29}{'c-5':>7}")
    means = []
    for name, rows in sets.items():
        labels = np.array([row["label"] for row in rows], dtype=float)
        scores = judged(LexicalJudge(), rows)
        plain = {
            kind: rho(np.array([containment(row, grams) for row in rows]), labels)
            for kind, grams in COUNTS.items()
        }
        best = max(plain, key=plain.__getitem__)
        own, five = rho(scores, labels), plain["5-grams of characters"]
        low, high = interval(scores, labels)
        means.append((own, plain[best], five))
        scored = int((~np.isnan(scores)).sum())
        print(
            f"{name:18}{scored:6d}  {own:.3f}  {low:.3f}-{high:.3f}  "
            f"{plain[best]:.3f} {best:21}  {five:.3f}"
        )
    own, best_mean, five = np.mean(means, axis=0)
    print(f"mean of {len(means)}: judge {own:.3f}, best plain {best_mean:.3f}, c-5 {five:.3f}")


def print_left_out(sets: dict[str, list[Row]]) -> None:
    """The constants chosen on all sets but one, measured on that one."""
    found = []
    for values in itertools.product(*GRID.values()):
        with mock.patch.dict(vars(lexical), zip(GRID, values, strict=True)):
            found.append(
                [
                    rho(judged(LexicalJudge(), rows), np.array([r["label"] for r in rows]))
                    for rows in sets.values()
                ]
            )
    table = np.array(found)
    chosen = [table[np.delete(table, i, axis=1).mean(axis=1).argmax(), i] for i in range(len(sets))]
    means = table.mean(axis=1)
    print(f"{len(table)} choices of constants: mean from {means.min():.3f} to {means.max():.3f}")
    print(f"chosen on the other sets each: {np.mean(chosen):.3f}")


def print_reader() -> None:
    """The levels of the package's own samples: a reader's (down) against the judge's (across)."""
    found = np.zeros((len(LEVELS), len(LEVELS)), dtype=int)
    samples = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    for sample in filter(lambda sample: any(sample.contexts or ()), samples):
        labels = {label.claim: label.level for label in labels_of(sample)}
        claims = split_claims(sample.response or "")
        for verdict in LexicalJudge().judge_claims(claims, sample.contexts or (), FAITHFULNESS):
            level = labels.get(verdict.claim)
            if level and verdict.verdict:
                found[LEVELS.index(level), LEVELS.index(verdict.verdict)] += 1
    near = sum(np.trace(found, by) for by in (-1, 0, 1)) / found.sum()
    print(f"own samples: {found.sum()} claims, exact {np.trace(found) / found.sum():.3f}, ", end="")
    print(f"within one level {near:.3f}")
    print(f"{'reader / judge':15}" + "".join(f"{level:>8}" for level in LEVELS))
    for level, row in zip(LEVELS, found, strict=True):
        print(f"{level:15}" + "".join(f"{n:8d}" for n in row))


def child() -> None:
    """Samples a second of CPU, one pass over texts that this process has not seen."""
    judge, rows = LexicalJudge(), [row for rows in load().values() for row in rows]
    begin = time.process_time()
    for row in rows:
        claims = split_claims(row["answer"])
        judge.judge_claims(claims, row["contexts"], FAITHFULNESS)
    print(len(rows) / (time.process_time() - begin))


def print_speed(first: Path) -> None:
    code = (
        "import runpy, sys; sys.argv = ['lexical_sets', '--child'];"
        f"runpy.run_path({str(Path(__file__))!r}, run_name='__main__')"
    )
    rates: dict[Path, list[float]] = {first: [], ROOT: []}
    for _ in range(ROUNDS):
        for checkout, found in rates.items():
            environment = os.environ | {"PYTHONPATH": str(checkout)}
            done = subprocess.run(
                [sys.executable, "-c", code],
                cwd=checkout,
                env=environment,
                check=True,
                capture_output=True,
                text=True,
            )
            found.append(float(done.stdout))
    before, now = max(rates[first]), max(rates[ROOT])
    print(f"samples a second and core: {before:.0f} and {now:.0f}, {now / before:.2f} times")


def main(arguments: Sequence[str]) -> None:
    if "--child" in arguments:
        child()
        return
    sets = load()
    missing = [name for name in (*BEDS, *PAPER) if name not in sets]
    if missing:
        print(
            f"not found: {', '.join(missing)}; set TCVA_BEDS and TCVA_PAPER_DATA to their folders"
        )
    print_reader()
    if sets:
        print_sets(sets)
        print_left_out(sets)
        if "--first" in arguments:
            print_speed(Path(arguments[arguments.index("--first") + 1]).resolve())


if __name__ == "__main__":
    main(sys.argv[1:])
