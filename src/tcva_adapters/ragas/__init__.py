"""TCVA in RAGAS: metrics of both families, RAGAS' own metrics beside them, its LLMs as judges.

Every name is imported on first use; RAGAS itself takes seconds to import.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from tcva_adapters.diagnosis import KNOWN_FAULTS
from tcva_adapters.errors import MissingDependencyError

if TYPE_CHECKING:
    from tcva_adapters.ragas.collection import TCVACollectionMetric, TCVAMetricResult
    from tcva_adapters.ragas.evaluator import TCVAMetric
    from tcva_adapters.ragas.model import as_judge_model
    from tcva_adapters.ragas.native import ascore_native, native_metrics, score_native
    from tcva_adapters.ragas.offline import LexicalLLM
    from tcva_adapters.ragas.views import TCVAScore, claims_to_pandas, results_of

_HOMES: Final = {
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

_OLDEST: Final = (0, 4, 3)
_WAY_OUT: Final = (
    "pip install 'tcva-adapters[ragas]' -c constraints.txt, or pip install "
    "ragas==0.4.3 langchain-community==0.4.1 instructor==1.17.0"
)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    _require_framework()
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _require_framework() -> None:
    try:
        import_module("ragas")
    except Exception as error:
        # Another package's fault may be any exception: its own error stays in the chain.
        way_out = next((way for mark, way in KNOWN_FAULTS.items() if mark in str(error)), _WAY_OUT)
        msg = f"ragas cannot be imported ({type(error).__name__}: {error}); {way_out}"
        raise MissingDependencyError(msg) from error
    installed = version("ragas")
    if tuple(int(part) for part in installed.split(".")[:3] if part.isdigit()) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        msg = f"ragas {installed} is too old, {oldest} is needed; {_WAY_OUT}"
        raise MissingDependencyError(msg)
