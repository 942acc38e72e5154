"""Five-level verdicts and a strictness dial for existing LLM evaluation suites.

Every public name is imported on first use, so that importing the package loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcva_adapters._version import __version__
from tcva_adapters.lazy import importer

if TYPE_CHECKING:
    from tcva_adapters.ccrs.result import CCRSResult
    from tcva_adapters.ccrs.scorer import CCRS
    from tcva_adapters.claims.criteria import Criterion, rubric
    from tcva_adapters.core.aggregation import aggregate, sweep
    from tcva_adapters.core.flip import flip_temperature
    from tcva_adapters.core.panel import fuse
    from tcva_adapters.core.temperature import exponent
    from tcva_adapters.core.verdicts import Verdict, WeightScheme
    from tcva_adapters.judging.panel import Panel
    from tcva_adapters.results.assessment import Assessment, ClaimVerdict
    from tcva_adapters.results.config import Config
    from tcva_adapters.results.result import Result
    from tcva_adapters.results.scoring import Fusion, HumanScale, Profiles
    from tcva_adapters.samples.sample import Sample
    from tcva_adapters.tcva import TCVA

_HOMES = {
    "Assessment": "results.assessment",
    "CCRS": "ccrs.scorer",
    "CCRSResult": "ccrs.result",
    "ClaimVerdict": "results.assessment",
    "Config": "results.config",
    "Criterion": "claims.criteria",
    "Fusion": "results.scoring",
    "HumanScale": "results.scoring",
    "Panel": "judging.panel",
    "Profiles": "results.scoring",
    "Result": "results.result",
    "Sample": "samples.sample",
    "TCVA": "tcva",
    "Verdict": "core.verdicts",
    "WeightScheme": "core.verdicts",
    "aggregate": "core.aggregation",
    "exponent": "core.temperature",
    "flip_temperature": "core.flip",
    "fuse": "core.panel",
    "rubric": "claims.criteria",
    "sweep": "core.aggregation",
}

__all__ = [
    "CCRS",
    "TCVA",
    "Assessment",
    "CCRSResult",
    "ClaimVerdict",
    "Config",
    "Criterion",
    "Fusion",
    "HumanScale",
    "Panel",
    "Profiles",
    "Result",
    "Sample",
    "Verdict",
    "WeightScheme",
    "__version__",
    "aggregate",
    "exponent",
    "flip_temperature",
    "fuse",
    "rubric",
    "sweep",
]


__getattr__ = importer(__name__, _HOMES, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
