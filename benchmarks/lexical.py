"""How well the lexical judge agrees with human ratings, what each feature adds, and how fast it is.

Run: python -m benchmarks.lexical [folder of the paper's data]
The folder defaults to TCVA_PAPER_DATA, or ../shared/data/tcva_paper beside the repository.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.stats import spearmanr

from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.verdicts import LEVELS, FloatArray, Verdict
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.lexical.judge import LEXICAL_VERSION, LexicalJudge, LexicalSettings
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.text.sentences import split_claims

ROOT: Final = Path(__file__).resolve().parent.parent
SETS: Final = ("summeval", "summeval_rel")
DEFAULT: Final = LexicalSettings()
ABLATIONS: Final[dict[str, dict[str, Any]]] = {
    "full": {},
    "no share of words": {"words": 0.0},
    "no best window": {"window": 0.0},
    "no word order": {"order": 0.0},
    "word order only": {"words": 0.0, "window": 0.0},
    "function words count in full": {"function_weight": 1.0},
    "thin claims count in full": {"thin": 0.0},
    "no speaker": {"speaker": 1.0},
    "no names": {"missing_name": 1.0},
    "no misplaced figures": {"misplaced_number": 1.0},
    "no contradictions": {"contradiction": 1.0},
    "no fault at all": {
        "speaker": 1.0,
        "missing_name": 1.0,
        "misplaced_number": 1.0,
        "contradiction": 1.0,
    },
}


def data_folder(arguments: Sequence[str]) -> Path:
    if arguments:
        return Path(arguments[0])
    return Path(os.environ.get("TCVA_PAPER_DATA", ROOT.parent / "shared/data/tcva_paper"))


def judge_sample(judge: LexicalJudge, sample: dict[str, Any]) -> list[ClaimVerdict]:
    claims = split_claims(sample["answer"])
    return judge.judge_claims(claims, sample["context"], FAITHFULNESS)


def counts(verdicts: Iterable[ClaimVerdict], *, hard: bool) -> FloatArray:
    row = np.zeros(len(LEVELS))
    for verdict in verdicts:
        if verdict.verdict is not None and verdict.probabilities is not None:
            shares = np.array([level is verdict.verdict for level in LEVELS], dtype=float)
            row += shares if hard else np.array(verdict.probabilities)
    return row


def correlation(
    judge: LexicalJudge, samples: list[dict[str, Any]], *, hard: bool = False
) -> tuple[float, int]:
    rows = np.array([counts(judge_sample(judge, sample), hard=hard) for sample in samples])
    scores = sweep(rows, [0.5])[:, 0]
    ratings = np.array([sample["human_score"] for sample in samples])
    scored = ~np.isnan(scores)
    return float(spearmanr(scores[scored], ratings[scored])[0]), int(scored.sum())


def quadratic_kappa(table: FloatArray) -> float:
    distance = np.subtract.outer(np.arange(len(table)), np.arange(len(table))) ** 2
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(1 - (distance * table).sum() / (distance * expected).sum())


def print_correlations(folder: Path) -> None:
    sets = {
        name: json.loads((folder / f"{name}_prepared.json").read_text(encoding="utf-8"))
        for name in SETS
    }
    print(f"{LEXICAL_VERSION}, Spearman's rho with human ratings, T=0.5, one setting for both sets")
    print(f"{'':34}" + "".join(f"{name:>14}" for name in SETS))
    for name, change in ABLATIONS.items():
        judge = LexicalJudge(dataclasses.replace(DEFAULT, **change))
        print(f"{name:34}" + "".join(f"{correlation(judge, s)[0]:14.4f}" for s in sets.values()))
    judge = LexicalJudge()
    hard = [correlation(judge, samples, hard=True)[0] for samples in sets.values()]
    print(f"{'full, hard levels':34}" + "".join(f"{rho:14.4f}" for rho in hard))
    scored = [correlation(judge, samples)[1] for samples in sets.values()]
    print(f"{'samples with a score':34}" + "".join(f"{n:14d}" for n in scored))


def print_speed(folder: Path) -> None:
    text = (folder / "summeval_prepared.json").read_text(encoding="utf-8")
    samples = json.loads(text)
    judge = LexicalJudge()
    rates: list[float] = []
    for _ in range(3):
        started = time.perf_counter()
        for i, sample in enumerate(samples):
            # A passage that was never seen before, so that no prepared index is at hand.
            fresh = {
                **sample,
                "context": [f"{text} ({len(rates)}-{i})" for text in sample["context"]],
            }
            judge_sample(judge, fresh)
        rates.append(len(samples) / (time.perf_counter() - started))
    print(f"\nspeed: {max(rates):.0f} samples/s, best of 3 runs over {len(samples)} (one core)")


def print_labels(path: Path) -> None:
    judge = LexicalJudge()
    table = np.zeros((len(LEVELS), len(LEVELS)))
    by_kind: dict[str, list[tuple[int, int]]] = defaultdict(list)
    non_claims: Counter[str] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        claims = [label["claim"] for label in item["labels"]]
        verdicts = judge.judge_claims(claims, item["contexts"], FAITHFULNESS)
        for label, verdict in zip(item["labels"], verdicts, strict=True):
            if label["level"] is None or verdict.verdict is None:
                who = ("label" if label["level"] is None else "") + (
                    " judge" if verdict.verdict is None else ""
                )
                non_claims[who.strip()] += 1
                continue
            pair = LEVELS.index(Verdict(label["level"])), LEVELS.index(verdict.verdict)
            table[pair] += 1
            by_kind[item["kind"]].append(pair)
    print(f"\nown samples: {int(table.sum())} claims, labels against levels")
    print(f"exact {np.trace(table) / table.sum():.3f}, ", end="")
    near = sum(table[i, j] for i in range(5) for j in range(5) if abs(i - j) <= 1)
    print(
        f"within one level {near / table.sum():.3f}, kappa {quadratic_kappa(table):.3f}, ", end=""
    )
    by_label, by_judge = table.sum(axis=1) / table.sum(), table.sum(axis=0) / table.sum()
    print(f"fully by label {by_label[0]:.3f}, by judge {by_judge[0]:.3f}")
    print(f"{'label / judge':14}" + "".join(f"{level:>8}" for level in LEVELS))
    for level, row in zip(LEVELS, table, strict=True):
        print(f"{level:14}" + "".join(f"{int(n):8d}" for n in row))
    print(f"marked as no claim: by both {non_claims['label judge']}, by the label alone ", end="")
    print(f"{non_claims['label']}, by the judge alone {non_claims['judge']}")
    for kind, pairs in by_kind.items():
        exact = sum(a == b for a, b in pairs) / len(pairs)
        error = sum(abs(a - b) for a, b in pairs) / len(pairs)
        print(
            f"  {kind:16} n={len(pairs):3d} exact {exact:.2f}, off by {error:.2f} levels on average"
        )


def main(arguments: Sequence[str]) -> None:
    folder = data_folder(arguments)
    if folder.is_dir():
        print_correlations(folder)
        print_speed(folder)
    else:
        print(f"no paper data in {folder}; give the folder as argument or set TCVA_PAPER_DATA")
    print_labels(ROOT / "examples/data/samples.jsonl")


if __name__ == "__main__":
    main(sys.argv[1:])
