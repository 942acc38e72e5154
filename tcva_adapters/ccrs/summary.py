"""Many results in a few figures: a mean per metric, and how many samples stand behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tcva_adapters.ccrs.composites import Composite
from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.results.assessment import Usage


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric over many samples.

    Attributes:
        title: Its long name.
        mean: Of the scored samples, in [0, 1]; None where there are none.
        scored: How many samples have a score.
        coverage: Their share of all samples.
        unscored: How many have none, by reason.
        judged: The mean without the exact match; None for metrics that have no such part.
        exact: The share of exact matches among the scored; None likewise.
    """

    title: str
    mean: float | None
    scored: int
    coverage: float
    unscored: dict[str, int]
    judged: float | None = None
    exact: float | None = None


@dataclass(frozen=True, slots=True)
class CompositeSummary:
    """Composites over many samples; attributes as those of `MetricSummary`.

    Attributes:
        mean: As there.
        scored: As there.
        coverage: As there.
        passed: How many reach the threshold.
    """

    mean: float | None
    scored: int
    coverage: float
    passed: int


@dataclass(frozen=True, slots=True)
class CCRSSummary:
    """Many results.

    Attributes:
        samples: How many there are.
        metrics: One summary per metric.
        composite: Of the composites; None where there are none.
        usage: What it cost, without answers from the store.
        served: How many answers came from the store.
    """

    samples: int
    metrics: dict[str, MetricSummary]
    composite: CompositeSummary | None
    usage: Usage
    served: int

    def as_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**asdict(self), "usage": self.usage.model_dump()}


def summarise_ccrs(
    results: Sequence[CCRSResult], composites: Sequence[Composite] | None = None
) -> CCRSSummary:
    """Sum up results of the same metrics.

    Args:
        results: At least one.
        composites: One per result, where there are any.

    >>> from tcva_adapters.ccrs import CCRS
    >>> from tcva_adapters.samples.sample import Sample
    >>> samples = [Sample(input="Which car?", response="The car."), Sample(input="Which car?")]
    >>> summary = summarise_ccrs(CCRS("qr").evaluate_many(samples)).metrics["qr"]
    >>> summary.mean, summary.coverage, summary.unscored
    (1.0, 0.5, {'missing_field': 1})
    """
    answers = [answer for result in results for answer in result.answers.values()]
    return CCRSSummary(
        samples=len(results),
        metrics={name: _metric(results, name) for name in results[0].answers},
        composite=None if composites is None else _composite(composites),
        usage=sum((result.usage for result in results), Usage()),
        served=sum(answer.from_store for answer in answers),
    )


def _metric(results: Sequence[CCRSResult], name: str) -> MetricSummary:
    scores = [score for result in results if (score := result.scores[name]) is not None]
    scored = [result for result in results if result.judged(name) is not None]
    parts: dict[str, float | None] = {}
    if METRICS[name].has_exact_match:
        parts = {
            "judged": _mean([result.judged(name) or 0.0 for result in scored]),
            "exact": _mean([float(bool(result.exact)) for result in scored]),
        }
    reasons = Counter(r.unscored_by[name].reason.value for r in results if name in r.unscored_by)
    return MetricSummary(
        title=METRICS[name].title,
        mean=_mean(scores),
        scored=len(scores),
        coverage=len(scores) / len(results),
        unscored=dict(reasons.most_common()),
        **parts,
    )


def _composite(composites: Sequence[Composite]) -> CompositeSummary:
    scores = [score for each in composites if (score := each.score) is not None]
    return CompositeSummary(
        mean=_mean(scores),
        scored=len(scores),
        coverage=len(scores) / len(composites),
        passed=sum(each.passed is True for each in composites),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
