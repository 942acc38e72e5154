"""TCVA in RAGAS: metrics of both families, RAGAS' own metrics beside them, its LLMs as judges.

Every name is imported on first use; RAGAS itself takes seconds to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tcva_adapters.diagnosis import KNOWN_FAULTS
from tcva_adapters.lazy import Requirement, importer

if TYPE_CHECKING:
    from tcva_adapters.ragas.ccrs import (
        CCRSCollectionMetric,
        CCRSMetric,
        CCRSMetricResult,
        CCRSScore,
    )
    from tcva_adapters.ragas.collection import TCVACollectionMetric, TCVAMetricResult
    from tcva_adapters.ragas.evaluator import TCVAMetric
    from tcva_adapters.ragas.model import as_judge_model
    from tcva_adapters.ragas.native import ascore_native, native_metrics, score_native
    from tcva_adapters.ragas.offline import LexicalLLM
    from tcva_adapters.ragas.results import TCVAScore, claims_to_pandas, results_of

_HOMES: Final = {
    "CCRSCollectionMetric": "ccrs",
    "CCRSMetric": "ccrs",
    "CCRSMetricResult": "ccrs",
    "CCRSScore": "ccrs",
    "LexicalLLM": "offline",
    "TCVACollectionMetric": "collection",
    "TCVAMetric": "evaluator",
    "TCVAMetricResult": "collection",
    "TCVAScore": "views",
    "as_judge_model": "model",
    "ascore_native": "native",
    "claims_to_pandas": "views",
    "native_metrics": "native",
    "results_of": "views",
    "score_native": "native",
}

__all__ = [
    "CCRSCollectionMetric",
    "CCRSMetric",
    "CCRSMetricResult",
    "CCRSScore",
    "LexicalLLM",
    "TCVACollectionMetric",
    "TCVAMetric",
    "TCVAMetricResult",
    "TCVAScore",
    "as_judge_model",
    "ascore_native",
    "claims_to_pandas",
    "native_metrics",
    "results_of",
    "score_native",
]

_FRAMEWORK: Final = Requirement(
    "ragas",
    "ragas",
    (0, 4, 3),
    "pip install 'tcva-adapters[ragas]' -c constraints.txt, or pip install "
    "ragas==0.4.3 langchain-community==0.4.1 instructor==1.17.0",
    KNOWN_FAULTS,
)

__getattr__ = importer(__name__, _HOMES, globals(), always=_FRAMEWORK)


def __dir__() -> list[str]:
    return sorted(__all__)
