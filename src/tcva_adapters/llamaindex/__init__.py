"""TCVA in LlamaIndex: an evaluator, LlamaIndex's own evaluators beside it, and its LLMs as judges.

Every name is imported on first use; LlamaIndex itself takes two seconds to import.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from tcva_adapters.errors import MissingDependencyError

if TYPE_CHECKING:
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

_OLDEST: Final = (0, 14, 20)
_WAY_OUT: Final = (
    "pip install 'tcva-adapters[llamaindex]' -c constraints.txt, "
    "or pip install llama-index-core==0.14.25"
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
        import_module("llama_index.core")
    except Exception as error:
        # Another package's fault may be any exception: its own error stays in the chain.
        msg = f"llama-index-core cannot be imported ({type(error).__name__}: {error}); {_WAY_OUT}"
        raise MissingDependencyError(msg) from error
    installed = version("llama-index-core")
    if tuple(int(part) for part in installed.split(".")[:3] if part.isdigit()) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        msg = f"llama-index-core {installed} is too old, {oldest} is needed; {_WAY_OUT}"
        raise MissingDependencyError(msg)
