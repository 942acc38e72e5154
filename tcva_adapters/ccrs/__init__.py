"""CCRS: five direct metrics. A judge rates a whole answer with one number from 0 to 100.

Source: A. Muhamed, CCRS (LLM4Eval at SIGIR 2025), section 2.3 and appendix B.
"""

from tcva_adapters.ccrs.composite import Composite, composite
from tcva_adapters.ccrs.exact import ExactMatch, exact_match
from tcva_adapters.ccrs.metrics import METRICS, Metric, resolve_metric
from tcva_adapters.ccrs.reply import Rating, read_rating
from tcva_adapters.ccrs.result import CCRSResult, MetricAnswer
from tcva_adapters.ccrs.scorer import CCRS

__all__ = [
    "CCRS",
    "METRICS",
    "CCRSResult",
    "Composite",
    "ExactMatch",
    "Metric",
    "MetricAnswer",
    "Rating",
    "composite",
    "exact_match",
    "read_rating",
    "resolve_metric",
]
