"""``tcva demo``: what five levels and the dial do, on samples that come with the package."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from tcva_adapters.cli import options
from tcva_adapters.compare.framework_metrics import installed_frameworks, score_offline
from tcva_adapters.core.collapse import binary_counts, ternary_counts
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.frameworks import NO_TELEMETRY
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_NATIVE_KEYS: Final = frozenset({"method", "scored", "samples", "fault"})
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
    natives = native_rows(samples)
    if as_json:
        report = {"judge": tcva.judge.name, "rows": rows, "natives": natives}
        typer.echo(json.dumps(report))
        return
    console = Console(width=WIDTH, highlight=False, markup=False)
    console.print(
        f"{len(samples)} samples of three assistants, judged once each for faithfulness by "
        f"{tcva.judge.name}\n(word overlap, numbers, names, negation; no model, no network)."
    )
    console.print(_domain_table(rows))
    _print_natives(console, natives)
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
        same, near = _agreement(samples, results, domain)
        binary, ternary = binary_counts(counts), ternary_counts(counts)
        rows.append(
            {
                "domain": domain,
                "samples": sum(sample.metadata["domain"] == domain for sample in samples),
                "scored": len(scored),
                **dial,
                "binary": float((binary[:, 0] / counts.sum(axis=1)).mean()),
                "ternary": float((1 - ternary[:, 2] / counts.sum(axis=1)).mean()),
                "reader_same_level": same,
                "reader_within_one": near,
            }
        )
    return rows


def native_rows(samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """Per installed framework: the mean of its own metric in each domain, and its coverage."""
    for name, value in NO_TELEMETRY.items():
        os.environ.setdefault(name, value)
    domains = list(dict.fromkeys(sample.metadata["domain"] for sample in samples))
    rows: list[dict[str, Any]] = []
    for framework in installed_frameworks():
        name = f"{framework.title} {framework.grounding}"
        try:
            with warnings.catch_warnings(action="ignore"):  # the frameworks' own deprecations
                scores = score_offline(framework, samples)
        except MissingDependencyError as error:
            rows.append({"method": name, "fault": str(error)})
            continue
        found: dict[str, list[float]] = {domain: [] for domain in domains}
        for sample, native_score in zip(samples, scores, strict=True):
            if native_score.score is not None:
                found[sample.metadata["domain"]].append(native_score.score)
        means = {domain: _mean(values) if values else None for domain, values in found.items()}
        scored = sum(map(len, found.values()))
        rows.append({"method": name, "scored": scored, "samples": len(samples), **means})
    return rows


def _print_natives(console: Console, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        console.print(
            "\nInstall a framework (pip install 'tcva-adapters[all]' -c constraints.txt) to see its metric."
        )
        return
    console.print(
        "\nthe frameworks' own metrics, unmodified, on the same samples with the same judge"
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("method")
    table.add_column("scored", justify="right")
    works = [row for row in rows if "fault" not in row]
    domains = [key for key in (works[0] if works else {}) if key not in _NATIVE_KEYS]
    for domain in domains:
        table.add_column(domain, justify="right")
    for row in works:
        means = ("-" if row[domain] is None else f"{row[domain]:.3f}" for domain in domains)
        table.add_row(row["method"], f"{row['scored']}/{row['samples']}", *means)
    console.print(table)
    for row in rows:
        if "fault" in row:
            console.print(f"{row['method']}: {row['fault']}")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _agreement(
    samples: Sequence[Sample], results: Sequence[Result], domain: str
) -> tuple[float, float]:
    """Shares of the claims with the reader's own level, and with one at most a level away."""
    distances = []
    for sample, result in zip(samples, results, strict=True):
        labels = {label.claim: label.level for label in labels_of(sample)}
        for claim in result.claims if sample.metadata["domain"] == domain else ():
            level = labels.get(claim.claim)
            if level is not None and claim.verdict is not None:
                distances.append(abs(LEVELS.index(level) - LEVELS.index(claim.verdict)))
    return (
        sum(distance == 0 for distance in distances) / len(distances),
        sum(distance <= 1 for distance in distances) / len(distances),
    )


def _domain_table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("assistant")
    table.add_column("scored", justify="right")
    for name, temperature in PRESETS.items():
        table.add_column(f"{name}\nT={temperature:g}", justify="right")
    table.add_column("binary\nshare of yes", justify="right")
    table.add_column("ternary\nshare not no", justify="right")
    table.add_column("as a reader\nexact / +-1", justify="right")
    for row in rows:
        scores = [f"{row[name]:.3f}" for name in (*PRESETS, "binary", "ternary")]
        scored = f"{row['scored']}/{row['samples']}"
        readers = f"{row['reader_same_level']:.0%} / {row['reader_within_one']:.0%}"
        table.add_row(row["domain"], scored, *scores, readers)
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
