"""``tcva demo``: what five levels and the dial do, on samples that come with the package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from tcva_adapters.cli import options
from tcva_adapters.core.collapse import binary_counts, ternary_counts
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.facade import TCVA
from tcva_adapters.judging.result import Result
from tcva_adapters.judging.sample import Sample

SHOWN: Final = "support-003"
WIDTH: Final = 100


def demo(*, as_json: options.AsJson = False) -> None:
    """Judge the package's own samples with the lexical judge and turn the dial. Offline.

    Example: tcva demo
    """
    samples = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    tcva = TCVA("faithfulness", judge="lexical")
    results = tcva.evaluate_many(samples, progress=False)
    rows = domain_rows(samples, results)
    if as_json:
        print(json.dumps({"judge": tcva.judge.name, "rows": rows}))  # noqa: T201
        return
    console = Console(width=WIDTH, highlight=False, markup=False)
    console.print(
        f"{len(samples)} samples of three assistants, judged once each for faithfulness by "
        f"{tcva.judge.name}\n(word overlap, numbers, names, negation; no model, no network)."
    )
    console.print(_domain_table(rows))
    shown = next(result for result in results if result.assessment.sample_id == SHOWN)
    _print_sample(console, samples[results.index(shown)], shown)


def domain_rows(samples: Sequence[Sample], results: Sequence[Result]) -> list[dict[str, Any]]:
    """Per domain: coverage, the score on the dial, and the same verdicts at two and three levels."""
    rows = []
    for domain in dict.fromkeys(sample.metadata["domain"] for sample in samples):
        scored = [
            result
            for sample, result in zip(samples, results, strict=True)
            if sample.metadata["domain"] == domain and result.score is not None
        ]
        dial = {
            name: _mean([result.at(temperature).score or 0.0 for result in scored])
            for name, temperature in PRESETS.items()
        }
        counts = np.array([result.assessment.hard_counts for result in scored])
        binary, ternary = binary_counts(counts), ternary_counts(counts)
        rows.append(
            {
                "domain": domain,
                "samples": sum(sample.metadata["domain"] == domain for sample in samples),
                "scored": len(scored),
                **dial,
                "binary": float((binary[:, 0] / counts.sum(axis=1)).mean()),
                "ternary": float((1 - ternary[:, 2] / counts.sum(axis=1)).mean()),
                "same_level_as_reader": _agreement(samples, results, domain),
            }
        )
    return rows


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _agreement(samples: Sequence[Sample], results: Sequence[Result], domain: str) -> float:
    same = total = 0
    for sample, result in zip(samples, results, strict=True):
        levels = {label.claim: label.level for label in labels_of(sample)}
        for claim in result.claims if sample.metadata["domain"] == domain else ():
            if claim.claim in levels:
                total += 1
                same += claim.verdict == levels[claim.claim]
    return same / total


def _domain_table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("assistant")
    table.add_column("scored", justify="right")
    for name, temperature in PRESETS.items():
        table.add_column(f"{name}\nT={temperature:g}", justify="right")
    table.add_column("binary\nshare of yes", justify="right")
    table.add_column("ternary\nshare not no", justify="right")
    table.add_column("level as\na reader's", justify="right")
    for row in rows:
        scores = [f"{row[name]:.3f}" for name in (*PRESETS, "binary", "ternary")]
        scored = f"{row['scored']}/{row['samples']}"
        table.add_row(row["domain"], scored, *scores, f"{row['same_level_as_reader']:.0%}")
    return table


def _print_sample(console: Console, sample: Sample, result: Result) -> None:
    console.print(f"\n{sample.id}: {sample.input}")
    table = Table(box=None, pad_edge=False)
    table.add_column("verdict")
    table.add_column("claim", ratio=3)
    table.add_column("why", ratio=2)
    for claim in result.claims:
        verdict = claim.verdict.value if claim.verdict else "-"
        table.add_row(verdict, claim.claim, claim.reason)
    console.print(table)
    scores = ", ".join(f"{result.at(t).score:.3f} {name}" for name, t in PRESETS.items())
    flip = result.flip_temperature
    passes = "it never passes" if flip is None else f"it passes from T={flip:.2f} on"
    console.print(f"one judgement, every score: {scores}; at threshold 0.5 {passes}.")
