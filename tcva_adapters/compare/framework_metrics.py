"""The installed frameworks' own faithfulness metrics, unmodified, with the lexical judge as LLM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec

from tcva_adapters.frameworks import FRAMEWORKS, Framework
from tcva_adapters.results.framework_score import FrameworkScore
from tcva_adapters.samples.sample import Sample


def installed_frameworks() -> Iterator[Framework]:
    """Those whose own metrics are installed; nothing is imported to find out."""
    for framework in FRAMEWORKS.values():
        if find_spec(framework.metrics_need.module.partition(".")[0]) is not None:
            yield framework


def score_offline(framework: Framework, samples: Sequence[Sample]) -> list[FrameworkScore]:
    """The scores of its grounding metric, one per sample; a failure is the ``error`` of a score.

    Raises:
        MissingDependencyError: The framework is installed but cannot be imported.
    """
    adapter = import_module(framework.package)
    llm = adapter.LexicalLLM()
    return [adapter.score_framework_metric(framework.grounding, sample, llm) for sample in samples]
