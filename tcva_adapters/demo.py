"""What ``tcva demo`` shows: the bundled samples, judged offline, with a reader's levels."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.data import Label, labels_of, sample_lines
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.lazy import check
from tcva_adapters.report.claims import preset_scores
from tcva_adapters.results.claims import ClaimVerdict
from tcva_adapters.results.counted import judged_counts
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Column, Record, Report, Table, cell, named_columns
from tcva_adapters.tcva import TCVA

OURS: Final = "tcva T=0.5"
_SHOWN: Final = "creative-016"  # its reader's labels hold all five levels
_HIDING: Final = "medical-004"  # one of its four claims is invented
_TEMPERATURE: Final = "Temperature (T) here is the strictness of the score, not the model's sampling temperature."
_OFFLINE: Final = (
    "All rows: offline, by comparing words; LexicalLLM is the frameworks' model."
)
_Pair = tuple[Label, ClaimVerdict, int]
"""What the reader and the judge say of a claim, and how many levels lie between."""


def demo_samples() -> list[Sample]:
    """The package's own samples, of three assistants."""
    return [Sample.from_record(json.loads(line)) for line in sample_lines()]


def demo_table(samples: Sequence[Sample]) -> ScoreTable:
    """These samples judged by the lexical judge, and by the metrics of installed frameworks. Offline.

    The frameworks are imported, which takes seconds. What one cannot do is a note.
    """
    results = TCVA("faithfulness", judge="lexical").evaluate_many(
        samples, progress=False
    )
    columns = {OURS: [result.score for result in results]}
    notes = []
    for framework in FRAMEWORKS.values():
        name = f"{framework.title} {framework.grounding}"
        try:
            with warnings.catch_warnings(
                action="ignore"
            ):  # the frameworks' own deprecations
                check(framework.metrics_need)
                adapter = import_module(framework.package)
                llm, score = adapter.LexicalLLM(), adapter.score_framework_metric
                columns[name] = [
                    score(framework.grounding, s, llm).score for s in samples
                ]
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
    """How the lexical judge reads the samples, and their mean scores by temperature and method.

    Args:
        table: See `demo_table`.
    """
    pairs = [_pairs(table, i) for i in range(len(table))]
    agreement = _agreement([pair for of_sample in pairs for pair in of_sample])
    whole = agreement.records[-1]
    shown = table.samples.index(_SHOWN)
    return Report(
        "The lexical judge and a careful reader give the same level to "
        f"{cell(whole['same_level'], 'share')} of {whole['claims']} claims; for "
        f"{cell(whole['within_one'], 'share')} the levels differ by at most one. The judge only "
        "compares words: for real decisions, use a model as judge.",
        [_claims(table, shown, pairs[shown]), _means(table), agreement],
        [*_hidden(table), *table.notes],
    )


def _labels(table: ScoreTable, place: int) -> list[Label]:
    return labels_of(Sample(metadata=dict(table.metadata[place])))


def _pairs(table: ScoreTable, place: int) -> list[_Pair]:
    """Of the claims that reader and judge both give a level."""
    found: Any = table.results[OURS][place]
    labels = {label.claim: label for label in _labels(table, place)}
    pairs = []
    for claim in found.claims:
        label = labels.get(claim.claim)
        if label and label.level and claim.verdict:
            distance = abs(LEVELS.index(label.level) - LEVELS.index(claim.verdict))
            pairs.append((label, claim, distance))
    return pairs


def _agreement(pairs: Sequence[_Pair]) -> Table:
    records: list[Record] = []
    for name in (*LEVELS, "all"):
        of = [pair for pair in pairs if name in {pair[0].level, "all"}]
        far = np.array([distance for _, _, distance in of])
        records.append(
            {
                "reader": name,
                "claims": len(of),
                **{
                    level.value: sum(c.verdict == level for _, c, _ in of)
                    for level in LEVELS
                },
                "same_level": float((far == 0).mean()),
                "within_one": float((far <= 1).mean()),
            }
        )
    columns = named_columns(
        reader="text",
        claims="int",
        fully="int",
        mostly="int",
        partial="int",
        minor="int",
        none="int",
        same_level="share",
        within_one="share",
    )
    return Table(
        "agreement", columns, records, notes=["Columns fully to none are the judge's."]
    )


def _means(table: ScoreTable) -> Table:
    domains = np.array([metadata["domain"] for metadata in table.metadata])
    groups = {domain: domains == domain for domain in dict.fromkeys(domains.tolist())}
    methods = {f"tcva T={t:g} {name}": table.at(t) for name, t in PRESETS.items()}
    methods |= {name: table.column(name) for name in table.methods if name != OURS}
    records = [
        {"method": name, "scored": int(np.isfinite(scores).sum())}
        | {domain: float(np.nanmean(scores[rows])) for domain, rows in groups.items()}
        for name, scores in methods.items()
    ]
    columns = named_columns(method="text", scored="int")
    columns += [Column(domain, "score") for domain in groups]
    return Table("mean scores", columns, records, notes=[_OFFLINE, _TEMPERATURE])


def _claims(table: ScoreTable, place: int, pairs: Sequence[_Pair]) -> Table:
    columns = named_columns(
        reader="text",
        judge="text",
        weight="score",
        claim="prose",
        reason="prose",
    )
    records = [
        {
            "reader": label.level,
            "judge": claim.verdict,
            "weight": claim.weight(),
            "claim": claim.claim,
            "reason": claim.reason,
        }
        for label, claim, _ in pairs
    ]
    same, near = (sum(distance <= most for _, _, distance in pairs) for most in (0, 1))
    agree = f"Same level: {same} of {len(pairs)} claims; within one level: {near}."
    weigh = (
        "Weights, from 1 (fully) to 0 (none), are means over the judge's probabilities."
    )
    notes = [f"{agree} {weigh} Score: {preset_scores(table.results[OURS][place])}."]
    notes += [
        f'Wrong: "{claim.claim}" The reader\'s note is "{label.note}". The lexical judge compares '
        "words, and most words of this claim are in the context."
        for label, claim, distance in pairs
        if distance > 1
    ]
    return Table(f"claims of {table.samples[place]}", columns, records, notes=notes)


def _hidden(table: ScoreTable) -> Iterator[str]:
    """The invented claim of an answer that a framework's metric passes."""
    place = table.samples.index(_HIDING)
    labels = _labels(table, place)
    invented = next(label for label in labels if label.level == LEVELS[-1])
    own = [m for m in table.methods if m != OURS and table.column(m)[place] >= 0.5]
    for name in own[:1]:
        yield (
            f"{name} gives {_HIDING} {cell(table.column(name)[place], 'score')}. One of its "
            f'{len(labels)} claims is invented: "{invented.claim}" ({invented.note}). TCVA: '
            f"{preset_scores(table.results[OURS][place])}."
        )
