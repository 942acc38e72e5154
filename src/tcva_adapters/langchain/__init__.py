"""TCVA in LangChain: a Runnable, a gate and a guard, LangSmith and classic evaluators, middleware.

Every name is imported on first use. Only `TCVAStringEvaluator`, the native evaluators and
`LexicalLLM` need langchain-classic, and only `TCVAMiddleware` needs langchain; everything else
needs langchain-core alone.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from tcva_adapters.errors import MissingDependencyError

if TYPE_CHECKING:
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

_CORE: Final = ("langchain-core", "langchain_core.runnables.base", (1, 7), "1.7.2")
_CLASSIC: Final = ("langchain-classic", "langchain_classic.evaluation", (1, 0), "1.0.8")
_NEEDS: Final = {
    "classic": _CLASSIC,
    "native": _CLASSIC,
    "offline": _CLASSIC,
    "middleware": ("langchain", "langchain.agents.middleware", (1, 4), "1.4.7"),
}
"""Distribution, module, oldest version, and the version that was seen to work."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    home = _HOMES[name]
    _require(*_CORE)
    if home in _NEEDS:
        _require(*_NEEDS[home])
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _require(distribution: str, module: str, oldest: tuple[int, int], seen: str) -> None:
    way_out = (
        "pip install 'tcva-adapters[langchain]' -c constraints.txt, "
        f"or pip install {distribution}=={seen}"
    )
    try:
        import_module(module)
    except Exception as error:
        # Another package's fault may be any exception: its own error stays in the chain.
        msg = f"{distribution} cannot be imported ({type(error).__name__}: {error}); {way_out}"
        raise MissingDependencyError(msg) from error
    installed = version(distribution)
    if tuple(int(part) for part in installed.split(".")[:2]) < oldest:
        msg = f"{distribution} {installed} is too old, {oldest[0]}.{oldest[1]} is needed; {way_out}"
        raise MissingDependencyError(msg)
