"""What five levels and the dial do, on samples that come with the package."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.claim_view import claim_view
from tcva_adapters.compare.running.methods import Method, is_installed
from tcva_adapters.core.collapse import binary_counts, ternary_counts
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import LEVELS, count_levels
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.frameworks import FRAMEWORKS, Framework
from tcva_adapters.printing import Part, Table, Tabular, figure
from tcva_adapters.results.framework_score import FrameworkScore
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_SHOWN: Final = "support-003"


@dataclass(frozen=True, slots=True, repr=False)
class Demo(Tabular):
    """The package's own samples under the dial, and under the installed frameworks' own metrics.

    Attributes:
        samples: Of three assistants.
        results: One per sample.
        rows: Per assistant: coverage, the score on the dial, and the same verdicts at two and
            three levels.
        framework_metrics: Per installed framework: the mean of its metric by assistant, and its
            coverage; or the ``fault`` for which there is none.
        framework_scores: What those metrics said of each sample, by method.
    """

    samples: Sequence[Sample]
    results: Sequence[Result]
    rows: Sequence[Mapping[str, Any]]
    framework_metrics: Sequence[Mapping[str, Any]]
    framework_scores: Mapping[str, Sequence[FrameworkScore]]

    @property
    def sentence(self) -> str:
        """How far the dial moves the mean of the same judgements."""
        scored = [result for result in self.results if result.score is not None]
        means = [
            f"{figure(_mean([result.at(t).score or 0.0 for result in scored]))} {name}"
            for name, t in PRESETS.items()
        ]
        unscored = len(self.results) - len(scored)
        return (
            f"One judgement of {len(scored)} samples has the mean score {', '.join(means)} "
            f"({unscored} more have no score; the lexical judge only compares words)"
        )

    @property
    def judge(self) -> str:
        """The judge's name."""
        return self.results[0].assessment.judge

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {
            "sentence": self.sentence,
            "judge": self.judge,
            "rows": list(self.rows),
            "framework_metrics": list(self.framework_metrics),
        }

    def records(self) -> list[dict[str, Any]]:
        """One per assistant."""
        return list(map(dict, self.rows))

    def parts(self) -> Iterator[Part]:
        """The dial by assistant, the frameworks' metrics, and one sample with its verdicts."""
        yield (
            f"{len(self.samples)} samples of three assistants, judged once each for faithfulness by "
            f"{self.judge}\n(word overlap, numbers, names, negation; no model, no network)."
        )
        yield _assistants(self.rows)
        yield from _metrics(self.framework_metrics)
        pairs = zip(self.samples, self.results, strict=True)
        sample, result = next(pair for pair in pairs if pair[0].id == _SHOWN)
        yield from claim_view(result, sample)


def demo() -> Demo:
    """Judge the package's own samples with the lexical judge. Offline.

    The installed frameworks are imported, which takes seconds.
    """
    samples = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    results = TCVA("faithfulness", judge="lexical").evaluate_many(samples, progress=False)
    domains = dict.fromkeys(sample.metadata["domain"] for sample in samples)
    frameworks = filter(is_installed, FRAMEWORKS.values())
    said: dict[str, Sequence[FrameworkScore]] = {}
    return Demo(
        samples,
        results,
        [_by_dial(domain, samples, results) for domain in domains],
        [_by_metric(framework, samples, list(domains), said) for framework in frameworks],
        said,
    )


def _by_dial(domain: str, samples: Sequence[Sample], results: Sequence[Result]) -> dict[str, Any]:
    pairs = zip(samples, results, strict=True)
    own = [(sample, result) for sample, result in pairs if sample.metadata["domain"] == domain]
    scored = [result for _, result in own if result.score is not None]
    counts = np.array([count_levels(result.seen.verdicts) for result in scored])
    binary, ternary = binary_counts(counts), ternary_counts(counts)
    distances = np.array(_distances(own))
    return {
        "domain": domain,
        "samples": len(own),
        "scored": len(scored),
        **{
            name: _mean([result.at(temperature).score or 0.0 for result in scored])
            for name, temperature in PRESETS.items()
        },
        "binary": float((binary[:, 0] / counts.sum(axis=1)).mean()),
        "ternary": float((1 - ternary[:, 2] / counts.sum(axis=1)).mean()),
        "reader_same_level": float((distances == 0).mean()),
        "reader_within_one": float((distances <= 1).mean()),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _distances(judged: Sequence[tuple[Sample, Result]]) -> list[int]:
    """Between the reader's own level and ours, one per claim that has both."""
    found = []
    for sample, result in judged:
        labels = {label.claim: label.level for label in labels_of(sample)}
        for claim in result.claims:
            level = labels.get(claim.claim)
            if level is not None and claim.verdict is not None:
                found.append(abs(LEVELS.index(level) - LEVELS.index(claim.verdict)))
    return found


def _by_metric(
    framework: Framework,
    samples: Sequence[Sample],
    domains: Sequence[str],
    found: dict[str, Sequence[FrameworkScore]],
) -> dict[str, Any]:
    """A framework's own metric, unmodified, with the lexical judge as LLM; what it said is added."""
    name = f"{framework.title} {framework.grounding}"
    try:
        with warnings.catch_warnings(action="ignore"):  # the frameworks' own deprecations
            adapter = import_module(framework.package)
            llm = adapter.LexicalLLM()
            said = [adapter.score_framework_metric(framework.grounding, s, llm) for s in samples]
    except MissingDependencyError as error:
        return {"method": name, "fault": str(error)}
    found[Method(framework.name, framework.grounding).name] = said
    scores: dict[str, list[float]] = {domain: [] for domain in domains}
    for sample, one in zip(samples, said, strict=True):
        if one.score is not None:
            scores[sample.metadata["domain"]].append(one.score)
    scored = sum(map(len, scores.values()))
    means = {domain: _mean(values) for domain, values in scores.items()}
    return {"method": name, "scored": scored, "samples": len(samples), **means}


def _assistants(rows: Sequence[Mapping[str, Any]]) -> Table:
    header = (
        *("assistant", "scored"),
        *(f"{name}\nT={temperature:g}" for name, temperature in PRESETS.items()),
        *("binary\nyes", "ternary\nnot no", "as a reader\nexact / +-1"),
    )
    cells = [
        (
            row["domain"],
            f"{row['scored']}/{row['samples']}",
            *(figure(row[name]) for name in (*PRESETS, "binary", "ternary")),
            f"{row['reader_same_level']:.0%} / {row['reader_within_one']:.0%}",
        )
        for row in rows
    ]
    return Table(header, cells, "lr")


def _metrics(rows: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    if not rows:
        yield ("\nInstall a framework (pip install 'tcva-adapters[all]') to see its metric.")
        return
    yield "\nthe frameworks' own metrics, unmodified, on the same samples with the same judge"
    works = [row for row in rows if "fault" not in row]
    domains = [name for name in (works[0] if works else {}) if name not in _NOT_DOMAINS]
    cells = [
        (
            row["method"],
            f"{row['scored']}/{row['samples']}",
            *(figure(row[domain]) for domain in domains),
        )
        for row in works
    ]
    yield Table(("method", "scored", *domains), cells, "lr")
    yield from (f"{row['method']}: {row['fault']}" for row in rows if "fault" in row)


_NOT_DOMAINS: Final = frozenset({"method", "scored", "samples"})
