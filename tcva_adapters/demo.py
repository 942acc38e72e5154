"""What five levels and the temperature do, on samples that come with the package."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.core.collapse import binary_counts, ternary_counts
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import LEVELS, FloatArray, count_levels
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.report.claims import claim_tables
from tcva_adapters.results.counted import judged_counts
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Column, Report, Table, cell
from tcva_adapters.tcva import TCVA

OURS: Final = "tcva T=0.5"
_SHOWN: Final = "support-003"


def demo_samples() -> list[Sample]:
    """The package's own samples, of three assistants."""
    return [Sample.from_record(json.loads(line)) for line in sample_lines()]


def demo_table(samples: Sequence[Sample]) -> ScoreTable:
    """These samples judged by the lexical judge, and by the metrics of installed frameworks. Offline.

    The frameworks are imported, which takes seconds. What one cannot do is a note.
    """
    results = TCVA("faithfulness", judge="lexical").evaluate_many(samples, progress=False)
    columns = {OURS: [result.score for result in results]}
    notes = []
    for framework in FRAMEWORKS.values():
        name = f"{framework.title} {framework.grounding}"
        try:
            with warnings.catch_warnings(action="ignore"):  # the frameworks' own deprecations
                adapter = import_module(framework.package)
                llm, score = adapter.LexicalLLM(), adapter.score_framework_metric
                columns[name] = [score(framework.grounding, s, llm).score for s in samples]
        except MissingDependencyError as error:
            notes.append(f"{name}: {error}")
    return ScoreTable(
        samples=tuple(sample.id or "" for sample in samples),
        methods=tuple(columns),
        scores=np.array(list(columns.values()), dtype=float).T,
        counts=judged_counts([result.seen for result in results]),
        metadata=[sample.metadata for sample in samples],
        results={OURS: results},
        notes=tuple(notes),
    )


def demo(table: ScoreTable) -> Report:
    """The same judgements at three temperatures, at two and three levels, and beside other metrics.

    Args:
        table: See `demo_table`.
    """
    domains = np.array([metadata["domain"] for metadata in table.metadata])
    groups = {domain: domains == domain for domain in dict.fromkeys(domains.tolist())}
    scores = {name: table.at(temperature) for name, temperature in PRESETS.items()}
    means = ", ".join(f"{cell(_mean(own), 'score')} {name}" for name, own in scores.items())
    scored = int(np.isfinite(table.column(OURS)).sum())
    sentence = (
        f"One judgement of {scored} samples has the mean score {means} ({len(table) - scored} more "
        "have no score; the lexical judge only compares words)"
    )
    assistants = [_assistant(table, domain, rows, scores) for domain, rows in groups.items()]
    headings = [Column("assistant"), Column("scored", "int")]
    headings += [Column(name, "score") for name in (*PRESETS, "binary", "ternary")]
    headings += [
        Column("same_level", "share", "as a careful reader"),
        Column("within_one", "share"),
    ]
    metrics = [
        {"method": method, "scored": int(np.isfinite(table.column(method)).sum())}
        | {domain: _mean(table.column(method)[rows]) for domain, rows in groups.items()}
        for method in table.methods
    ]
    columns = [Column("method"), Column("scored", "int"), *(Column(d, "score") for d in groups)]
    return Report(
        sentence,
        [
            Table("assistants", headings, assistants),
            Table("metrics", columns, metrics),
            *claim_tables(table, [_SHOWN]),
        ],
        table.notes,
    )


def _mean(scores: FloatArray) -> float | None:
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if known.size else None


def _assistant(
    table: ScoreTable, domain: str, rows: Any, scores: dict[str, FloatArray]
) -> dict[str, Any]:
    own = table.select(rows)
    results = [result for result in own.results[OURS] if isinstance(result, Result)]
    counts = np.array([count_levels(r.seen.verdicts) for r in results if r.score is not None])
    distances = []
    for metadata, result in zip(own.metadata, results, strict=True):
        levels = {label.claim: label.level for label in labels_of(Sample(metadata=dict(metadata)))}
        for claim in result.claims:
            level = levels.get(claim.claim)
            if level is not None and claim.verdict is not None:
                distances.append(abs(LEVELS.index(level) - LEVELS.index(claim.verdict)))
    far, total = np.array(distances), counts.sum(axis=1)
    return {
        "assistant": domain,
        "samples": len(own),
        "scored": len(counts),
        **{name: _mean(of[rows]) for name, of in scores.items()},
        "binary": _mean(binary_counts(counts)[:, 0] / total),
        "ternary": _mean(1 - ternary_counts(counts)[:, 2] / total),
        "same_level": float((far == 0).mean()),
        "within_one": float((far <= 1).mean()),
    }
