"""Five-level verdicts and a strictness dial for existing LLM evaluation suites.

Every public name is imported on first use, so that importing the package loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tcva_adapters._version import __version__

if TYPE_CHECKING:
    from tcva_adapters.core.aggregation import aggregate, sweep
    from tcva_adapters.core.flip import flip_temperature
    from tcva_adapters.core.temperature import exponent
    from tcva_adapters.core.verdicts import Verdict, WeightScheme
    from tcva_adapters.facade import TCVA
    from tcva_adapters.judging.assessment import Assessment, ClaimVerdict
    from tcva_adapters.judging.criteria import Criterion, rubric
    from tcva_adapters.judging.result import Result
    from tcva_adapters.judging.sample import Sample

_HOMES = {
    "Assessment": "judging.assessment",
    "ClaimVerdict": "judging.assessment",
    "Criterion": "judging.criteria",
    "Result": "judging.result",
    "Sample": "judging.sample",
    "TCVA": "facade",
    "Verdict": "core.verdicts",
    "WeightScheme": "core.verdicts",
    "aggregate": "core.aggregation",
    "exponent": "core.temperature",
    "flip_temperature": "core.flip",
    "rubric": "judging.criteria",
    "sweep": "core.aggregation",
}

__all__ = [
    "TCVA",
    "Assessment",
    "ClaimVerdict",
    "Criterion",
    "Result",
    "Sample",
    "Verdict",
    "WeightScheme",
    "__version__",
    "aggregate",
    "exponent",
    "flip_temperature",
    "rubric",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
