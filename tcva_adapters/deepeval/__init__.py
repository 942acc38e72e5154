"""TCVA in DeepEval: a metric, DeepEval's own metrics beside it, and its LLMs as judges.

Every name is imported on first use; DeepEval itself takes seconds to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tcva_adapters.lazy import Requirement, importer

if TYPE_CHECKING:
    from tcva_adapters.deepeval.ccrs import CCRSMetric, CollectedRating
    from tcva_adapters.deepeval.evaluator import Collected, TCVAMetric, result_of, results_of
    from tcva_adapters.deepeval.model import as_judge_model
    from tcva_adapters.deepeval.native import ascore_native, native_metrics, score_native
    from tcva_adapters.deepeval.offline import LexicalLLM

_HOMES: Final = {
    "CCRSMetric": "ccrs",
    "Collected": "evaluator",
    "CollectedRating": "ccrs",
    "LexicalLLM": "offline",
    "TCVAMetric": "evaluator",
    "as_judge_model": "model",
    "ascore_native": "native",
    "native_metrics": "native",
    "result_of": "evaluator",
    "results_of": "evaluator",
    "score_native": "native",
}

__all__ = [
    "CCRSMetric",
    "Collected",
    "CollectedRating",
    "LexicalLLM",
    "TCVAMetric",
    "as_judge_model",
    "ascore_native",
    "native_metrics",
    "result_of",
    "results_of",
    "score_native",
]

_FRAMEWORK: Final = Requirement(
    "deepeval",
    "deepeval.metrics",
    (4, 3),
    "pip install 'tcva-adapters[deepeval]' -c constraints.txt, or pip install deepeval==4.3.1",
)

__getattr__ = importer(__name__, _HOMES, globals(), always=_FRAMEWORK)


def __dir__() -> list[str]:
    return sorted(__all__)
