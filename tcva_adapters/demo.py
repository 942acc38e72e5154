"""The report of ``tcva demo``: the bundled samples, judged offline, with a reader's levels."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tcva_adapters.compare.runs.framework_metrics import ADAPTERS
from tcva_adapters.compare.scores.score_reader import read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.data import Label, labels_of, sample_lines
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.report.claims import preset_scores
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Column, Report, Table, cell, named_columns
from tcva_adapters.tcva import TCVA

TCVA_METHOD = "tcva T=0.5"
_SHOWN = "creative-016"  # its reader's labels hold all five levels
_HIDING = "medical-004"  # one of its four claims is invented
_TEMPERATURE = "Temperature (T) here is the strictness of the score, not the model's sampling temperature."
_OFFLINE = "All rows: offline, by comparing words; LexicalLLM is the frameworks' model."


@dataclass(frozen=True, slots=True)
class _Pair:
    """The reader's and the judge's level of a claim.

    Attributes:
        label: The reader's level and note.
        judged: The claim with the judge's level.
        distance: How many levels lie between.
    """

    label: Label
    judged: ClaimVerdict
    distance: int


def demo_samples() -> list[Sample]:
    """The package's own samples, of three assistants."""
    return [Sample.from_record(json.loads(line)) for line in sample_lines()]


def demo_table(samples: Sequence[Sample]) -> ScoreTable:
    """Judge samples with the lexical judge and the metrics of installed frameworks, offline.

    The frameworks are imported, which takes seconds. A note names what a framework cannot do.
    """
    results = TCVA("faithfulness", judge="lexical").evaluate_many(
        samples, progress=False
    )
    table = read_scores({TCVA_METHOD: results})
    notes = []
    for framework in FRAMEWORKS.values():
        name = f"{framework.title} {framework.grounding}"
        adapter = ADAPTERS[framework.name]
        try:
            # The frameworks warn of their own deprecations.
            with warnings.catch_warnings(action="ignore"):
                llm = adapter.LexicalLLM()
                score = adapter.score_framework_metric
                scores = [
                    score(framework.grounding, sample, llm).score for sample in samples
                ]
        except MissingDependencyError as error:
            notes.append(f"{name}: {error}")
        else:
            table = table.with_method(name, np.array(scores, dtype=float))
    return replace(table, notes=tuple(notes))


def demo(table: ScoreTable) -> Report:
    """Report the lexical judge's levels against a reader's, and mean scores by temperature and method.

    Args:
        table: See `demo_table`.
    """
    pairs = [_pairs(table, row) for row in range(len(table))]
    agreement = _agreement([pair for of_sample in pairs for pair in of_sample])
    whole = agreement.records[-1]
    shown = table.samples.index(_SHOWN)
    return Report(
        "The lexical judge and a careful reader give the same level to "
        f"{cell(whole['same_level'], 'share')} of {whole['claims']} claims; for "
        f"{cell(whole['within_one'], 'share')} the levels differ by at most one. The judge only "
        "compares words: for real decisions, use a model as judge.",
        [
            _claims(table, shown, pairs[shown]),
            _means(table),
            agreement,
        ],
        [*_hidden(table), *table.notes],
    )


def _labels(table: ScoreTable, row: int) -> list[Label]:
    return labels_of(Sample(metadata=dict(table.metadata[row])))


def _pairs(table: ScoreTable, row: int) -> list[_Pair]:
    """Return the claims of a sample that have a level from both reader and judge."""
    result = table.result(TCVA_METHOD, row)
    labels = {label.claim: label for label in _labels(table, row)}
    pairs = []
    for judged in result.claims if result else ():
        label = labels.get(judged.claim)
        if label and label.level and judged.verdict:
            distance = abs(LEVELS.index(label.level) - LEVELS.index(judged.verdict))
            pairs.append(_Pair(label, judged, distance))
    return pairs


def _agreement(pairs: Sequence[_Pair]) -> Table:
    groups = {
        level.value: [pair for pair in pairs if pair.label.level == level]
        for level in LEVELS
    }
    records = []
    for name, group in [*groups.items(), ("all", pairs)]:
        levels = Counter(pair.judged.verdict for pair in group)
        distances = np.array([pair.distance for pair in group])
        records.append(
            {
                "reader": name,
                "claims": len(group),
                **{level.value: levels[level] for level in LEVELS},
                "same_level": float((distances == 0).mean()),
                "within_one": float((distances <= 1).mean()),
            }
        )
    columns = named_columns(
        "reader",
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
    methods |= {
        name: table.column(name) for name in table.methods if name != TCVA_METHOD
    }
    records = [
        {
            "method": name,
            "scored": int(np.isfinite(scores).sum()),
        }
        | {domain: float(np.nanmean(scores[rows])) for domain, rows in groups.items()}
        for name, scores in methods.items()
    ]
    columns = named_columns("method", scored="int")
    columns += [Column(domain, "score") for domain in groups]
    return Table("mean scores", columns, records, notes=[_OFFLINE, _TEMPERATURE])


def _claims(
    table: ScoreTable,
    row: int,
    pairs: Sequence[_Pair],
) -> Table:
    columns = named_columns(
        "reader",
        "judge",
        weight="score",
        claim="prose",
        reason="prose",
    )
    records = [
        {
            "reader": pair.label.level,
            "judge": pair.judged.verdict,
            "weight": pair.judged.weight(),
            "claim": pair.judged.claim,
            "reason": pair.judged.reason,
        }
        for pair in pairs
    ]
    same = sum(pair.distance == 0 for pair in pairs)
    near = sum(pair.distance <= 1 for pair in pairs)
    note = (
        f"Same level: {same} of {len(pairs)} claims; within one level: {near}. "
        "Weights, from 1 (fully) to 0 (none), are means over the judge's probabilities. "
        f"Score: {preset_scores(table.results[TCVA_METHOD][row])}."
    )
    notes = [
        f'Wrong: "{pair.judged.claim}" The reader\'s note is "{pair.label.note}". The lexical judge '
        "compares words, and most words of this claim are in the context."
        for pair in pairs
        if pair.distance > 1
    ]
    return Table(
        f"claims of {table.samples[row]}", columns, records, notes=[note, *notes]
    )


def _hidden(table: ScoreTable) -> Iterator[str]:
    """Describe the invented claim of an answer that a framework's metric passes."""
    row = table.samples.index(_HIDING)
    labels = _labels(table, row)
    invented = next(label for label in labels if label.level == LEVELS[-1])
    for name in table.methods:
        score = table.column(name)[row]
        if name != TCVA_METHOD and score >= 0.5:
            yield (
                f"{name} gives {_HIDING} {cell(score, 'score')}. One of its "
                f'{len(labels)} claims is invented: "{invented.claim}" ({invented.note}). TCVA: '
                f"{preset_scores(table.results[TCVA_METHOD][row])}."
            )
            return
