"""TCVA in DeepEval: a metric, DeepEval's own metrics beside it, and its LLMs as judges.

Every name is imported on first use; DeepEval itself takes seconds to import.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from tcva_adapters.errors import MissingDependencyError

if TYPE_CHECKING:
    from tcva_adapters.deepeval.evaluator import Collected, TCVAMetric, result_of, results_of
    from tcva_adapters.deepeval.model import as_judge_model
    from tcva_adapters.deepeval.native import ascore_native, native_metrics, score_native
    from tcva_adapters.deepeval.offline import LexicalLLM

_HOMES: Final = {
    "Collected": "evaluator",
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
    "Collected",
    "LexicalLLM",
    "TCVAMetric",
    "as_judge_model",
    "ascore_native",
    "native_metrics",
    "result_of",
    "results_of",
    "score_native",
]

_OLDEST: Final = (4, 3)
_WAY_OUT: Final = (
    "pip install 'tcva-adapters[deepeval]' -c constraints.txt, or pip install deepeval==4.3.1"
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
        import_module("deepeval.metrics")
    except Exception as error:
        # Another package's fault may be any exception: its own error stays in the chain.
        msg = f"deepeval cannot be imported ({type(error).__name__}: {error}); {_WAY_OUT}"
        raise MissingDependencyError(msg) from error
    installed = version("deepeval")
    if tuple(int(part) for part in installed.split(".")[:2] if part.isdigit()) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        msg = f"deepeval {installed} is too old, {oldest} is needed; {_WAY_OUT}"
        raise MissingDependencyError(msg)
