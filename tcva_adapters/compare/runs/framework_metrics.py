"""Choose among the frameworks' own metrics as methods of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version

from tcva_adapters import deepeval, langchain, llamaindex, ragas
from tcva_adapters.core.checks import nearest
from tcva_adapters.errors import (
    InvalidValueError,
    MissingDependencyError,
    install_hint,
)
from tcva_adapters.frameworks import FRAMEWORKS, MetricEntry
from tcva_adapters.lazy import is_installed
from tcva_adapters.samples.sample import Sample

ALL = "all"
NONE = "none"

ADAPTERS = {
    "ragas": ragas,
    "deepeval": deepeval,
    "llamaindex": llamaindex,
    "langchain": langchain,
}
"""The adapters by framework; each imports its framework on first use."""


@dataclass(frozen=True)
class FrameworkMetric:
    """One framework's own metric.

    Attributes:
        framework: One of `FRAMEWORKS`.
        metric: The metric's name there.
    """

    framework: str
    metric: str

    @property
    def name(self) -> str:
        """The name in tables, e.g. ``ragas faithfulness``."""
        return f"{self.framework} {self.metric}"

    @property
    def dotted(self) -> str:
        """The name in settings, e.g. ``ragas.faithfulness``."""
        return f"{self.framework}.{self.metric}"

    @property
    def names(self) -> set[str]:
        """The names in settings that select the metric."""
        return {ALL, self.metric, self.dotted, self.name}

    @property
    def entry(self) -> MetricEntry:
        """The metric's entry in `FRAMEWORKS`."""
        return FRAMEWORKS[self.framework].metrics[self.metric]

    @cached_property
    def version(self) -> str:
        """The framework's distribution with its version."""
        distribution = FRAMEWORKS[self.framework].metrics_need.distribution
        return f"{distribution} {version(distribution)}"

    def missing(self, sample: Sample) -> list[str]:
        """The fields that the metric needs and the sample does not have."""
        return [name for name in self.entry.needs if getattr(sample, name) is None]


def choose_metrics(
    frameworks: Sequence[str],
    metrics: Sequence[str] | None,
    *,
    criterion: str,
    samples: Sequence[Sample],
    is_lexical: bool,
) -> tuple[list[FrameworkMetric], list[str]]:
    """Choose the metrics of a comparison. This imports the frameworks, which takes seconds.

    Args:
        frameworks: Names of `FRAMEWORKS`; ``all`` takes those that are installed, ``none`` none.
        metrics: ``faithfulness`` (of every framework that has it) or ``ragas.faithfulness``;
            ``all`` takes all. None takes those that stand for the criterion.
        criterion: A criterion's name.
        samples: A metric is left out where no sample has the fields that it needs; without samples,
            none is left out for that.
        is_lexical: Whether the lexical judge takes the place of a model; metrics whose prompts it
            cannot answer are left out.

    Returns:
        The metrics, framework by framework, and sentences on what was left out.

    Raises:
        InvalidValueError: An unknown framework or metric.
        MissingDependencyError: A framework that is named is not installed.
    """
    if NONE in frameworks:
        return [], []
    names, notes = _installed(frameworks)
    known = [
        FrameworkMetric(name, metric)
        for name in names
        for metric in ADAPTERS[name].framework_metrics()
    ]
    if metrics is None:
        chosen = [metric for metric in known if metric.entry.criterion == criterion]
        if not chosen:
            notes.append(
                f"{', '.join(names)}: no metric for {criterion}; name metrics (--metrics)."
            )
    else:
        wanted = {*metrics}
        chosen = [metric for metric in known if wanted & metric.names]
        if unknown := wanted.difference(*(metric.names for metric in chosen)):
            options = ", ".join(metric.dotted for metric in known)
            raise InvalidValueError(
                f"no metric {min(unknown)!r} in {', '.join(names)}; the metrics are {options}"
            )

    by_reason: dict[str, list[FrameworkMetric]] = {}
    for metric in chosen:
        why = _why_not(metric, samples, is_lexical=is_lexical)
        by_reason.setdefault(why, []).append(metric)
    used = by_reason.pop("", [])
    for why, left_out in by_reason.items():
        left = ", ".join(metric.name for metric in left_out)
        notes.append(f"Left out: {left} ({why}).")
    return used, notes


def _why_not(
    metric: FrameworkMetric,
    samples: Sequence[Sample],
    *,
    is_lexical: bool,
) -> str:
    """Say why a metric is left out; empty for one that is used."""
    if metric.entry.compares_embeddings:
        return "they need embeddings; import their scores instead"
    if is_lexical and not metric.entry.is_lexical:
        return "the lexical judge cannot answer their prompts"
    if samples and all(metric.missing(sample) for sample in samples):
        return f"no sample has {' and '.join(metric.missing(samples[0]))}"
    return ""


def _installed(frameworks: Sequence[str]) -> tuple[list[str], list[str]]:
    """Find the installed frameworks, and note those left out; nothing is imported."""
    unknown = [name for name in frameworks if name not in FRAMEWORKS and name != ALL]
    if unknown or not frameworks:
        name = ", ".join(unknown)
        options = f"give {', '.join(FRAMEWORKS)}, {ALL} or {NONE}"
        raise InvalidValueError(
            f"no framework {name!r}; {nearest(name, FRAMEWORKS, options)}"
        )
    names, notes = [], []
    for name in FRAMEWORKS if ALL in frameworks else dict.fromkeys(frameworks):
        needs = FRAMEWORKS[name].metrics_need
        if is_installed(needs):
            names.append(name)
            continue
        why = f"{name} is not installed: {install_hint(needs.extra)}"
        if ALL not in frameworks:
            raise MissingDependencyError(why)
        notes.append(f"Left out: {why}.")
    return names, notes
