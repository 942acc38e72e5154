"""TCVA in LlamaIndex: an evaluator, LlamaIndex's own evaluators beside it, and its LLMs as judges.

Every name is imported on first use; LlamaIndex itself takes two seconds to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tcva_adapters.lazy import Requirement, importer

if TYPE_CHECKING:
    from tcva_adapters.llamaindex.ccrs import CCRSEvaluationResult, CCRSEvaluator
    from tcva_adapters.llamaindex.evaluator import (
        TCVAEvaluationEndEvent,
        TCVAEvaluationResult,
        TCVAEvaluationStartEvent,
        TCVAEvaluator,
    )
    from tcva_adapters.llamaindex.model import as_judge_model
    from tcva_adapters.llamaindex.native import ascore_native, native_metrics, score_native
    from tcva_adapters.llamaindex.offline import LexicalLLM

_HOMES: Final = {
    "CCRSEvaluationResult": "ccrs",
    "CCRSEvaluator": "ccrs",
    "LexicalLLM": "offline",
    "TCVAEvaluationEndEvent": "evaluator",
    "TCVAEvaluationResult": "evaluator",
    "TCVAEvaluationStartEvent": "evaluator",
    "TCVAEvaluator": "evaluator",
    "as_judge_model": "model",
    "ascore_native": "native",
    "native_metrics": "native",
    "score_native": "native",
}

__all__ = [
    "CCRSEvaluationResult",
    "CCRSEvaluator",
    "LexicalLLM",
    "TCVAEvaluationEndEvent",
    "TCVAEvaluationResult",
    "TCVAEvaluationStartEvent",
    "TCVAEvaluator",
    "as_judge_model",
    "ascore_native",
    "native_metrics",
    "score_native",
]

_FRAMEWORK: Final = Requirement(
    "llama-index-core",
    "llama_index.core",
    (0, 14, 20),
    "pip install 'tcva-adapters[llamaindex]' -c constraints.txt, "
    "or pip install llama-index-core==0.14.25",
)

__getattr__ = importer(__name__, _HOMES, globals(), always=_FRAMEWORK)


def __dir__() -> list[str]:
    return sorted(__all__)
