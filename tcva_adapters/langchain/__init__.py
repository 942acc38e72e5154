"""TCVA in LangChain: a Runnable, a gate and a guard, LangSmith and classic evaluators, middleware.

Every name is imported on first use. Only `TCVAStringEvaluator`, the native evaluators and
`LexicalLLM` need langchain-classic, and only `TCVAMiddleware` needs langchain; everything else
needs langchain-core alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tcva_adapters.lazy import Requirement, importer

if TYPE_CHECKING:
    from tcva_adapters.langchain.ccrs import CCRSEvaluator, CCRSOutput
    from tcva_adapters.langchain.classic import TCVAStringEvaluator
    from tcva_adapters.langchain.evaluator import (
        TCVAEvaluator,
        TCVAInput,
        TCVAOutput,
        result_of,
    )
    from tcva_adapters.langchain.gating import BelowThresholdError, gate, guard
    from tcva_adapters.langchain.langsmith import (
        TCVARunEvaluator,
        create_async_tcva_judge,
        create_tcva_judge,
        local_client,
    )
    from tcva_adapters.langchain.middleware import TCVAMiddleware
    from tcva_adapters.langchain.model import as_judge_model
    from tcva_adapters.langchain.native import ascore_native, native_metrics, score_native
    from tcva_adapters.langchain.offline import LexicalLLM

_HOMES: Final = {
    "BelowThresholdError": "gating",
    "CCRSEvaluator": "ccrs",
    "CCRSOutput": "ccrs",
    "LexicalLLM": "offline",
    "TCVAEvaluator": "evaluator",
    "TCVAInput": "evaluator",
    "TCVAMiddleware": "middleware",
    "TCVAOutput": "evaluator",
    "TCVARunEvaluator": "langsmith",
    "TCVAStringEvaluator": "classic",
    "as_judge_model": "model",
    "ascore_native": "native",
    "create_async_tcva_judge": "langsmith",
    "create_tcva_judge": "langsmith",
    "gate": "gating",
    "guard": "gating",
    "local_client": "langsmith",
    "native_metrics": "native",
    "result_of": "evaluator",
    "score_native": "native",
}

__all__ = [
    "BelowThresholdError",
    "CCRSEvaluator",
    "CCRSOutput",
    "LexicalLLM",
    "TCVAEvaluator",
    "TCVAInput",
    "TCVAMiddleware",
    "TCVAOutput",
    "TCVARunEvaluator",
    "TCVAStringEvaluator",
    "as_judge_model",
    "ascore_native",
    "create_async_tcva_judge",
    "create_tcva_judge",
    "gate",
    "guard",
    "local_client",
    "native_metrics",
    "result_of",
    "score_native",
]

_WAY_OUT: Final = "pip install 'tcva-adapters[langchain]' -c constraints.txt, or pip install"
_CORE: Final = Requirement(
    "langchain-core", "langchain_core.runnables.base", (1, 7), f"{_WAY_OUT} langchain-core==1.7.2"
)
_CLASSIC: Final = Requirement(
    "langchain-classic",
    "langchain_classic.evaluation",
    (1, 0),
    f"{_WAY_OUT} langchain-classic==1.0.8",
)
_AGENTS: Final = Requirement(
    "langchain", "langchain.agents.middleware", (1, 4), f"{_WAY_OUT} langchain==1.4.7"
)
_NEEDS: Final = {
    "classic": _CLASSIC,
    "native": _CLASSIC,
    "offline": _CLASSIC,
    "middleware": _AGENTS,
}

__getattr__ = importer(__name__, _HOMES, globals(), _NEEDS, always=_CORE)


def __dir__() -> list[str]:
    return sorted(__all__)
