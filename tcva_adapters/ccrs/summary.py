"""Many results in a few figures: a mean per metric, and how many samples stand behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tcva_adapters.ccrs.composites import Composite, composite
from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.core.summing import added
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.printing import Part, Table, Tabular, counted, figure, shortened
from tcva_adapters.results.assessment import Unscored, Usage
from tcva_adapters.results.files import write_assessments
from tcva_adapters.samples.records import Source

_DETAIL: Final = 60
_PROTOCOLS: Final = {
    "single": "one call per metric",
    "suite": "one call for all metrics, which is not the source's protocol",
    "lexical": "a lexical judge",
}


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric over many samples.

    Attributes:
        title: Its long name.
        mean: Of the scored samples, in [0, 1]; None where there are none.
        scored: How many samples have a score.
        coverage: Their share of all samples.
        unscored: How many have none, by reason.
        details: What the first sample says of each reason.
        judged: The mean without the exact match; None for metrics that have no such part.
        exact: The share of exact matches among the scored; None likewise.
    """

    title: str
    mean: float | None
    scored: int
    coverage: float
    unscored: dict[str, int]
    details: dict[str, str]
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
class CCRSSummary(Tabular):
    """Many results.

    Attributes:
        results: Of the same metrics, at least one.
        metrics: One summary per metric.
        composite: Of the composites; None where there are none.
        composites: One per result; empty likewise.
        usage: What it cost, without answers from the store.
        served: How many answers came from the store.
    """

    results: Sequence[CCRSResult] = field(repr=False)
    metrics: dict[str, MetricSummary]
    composite: CompositeSummary | None
    composites: Sequence[Composite] = field(repr=False)
    usage: Usage
    served: int

    @property
    def sentence(self) -> str:
        """The mean of each metric, and how many samples lack one."""
        size = len(self.results)
        means = ", ".join(f"{name} {figure(m.mean)}" for name, m in self.metrics.items())
        lack = sum(None in result.scores.values() for result in self.results)
        lacking = f"{lack} of {size} {'lacks' if lack == 1 else 'lack'} a rating" if lack else ""
        lexical = self.results[0].protocol == "lexical"
        judge = "the lexical judge only counts words" if lexical else ""
        said = "; ".join(filter(None, (lacking, judge)))
        return f"Mean ratings of {counted(size, 'sample')}: {means}" + (
            f" ({said})" if said else ""
        )

    def records(self) -> list[dict[str, Any]]:
        """A row for each metric."""
        return [{"metric": name, **asdict(metric)} for name, metric in self.metrics.items()]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        first, whole = self.results[0], self.composite
        return {
            "sentence": self.sentence,
            "judge": first.judge,
            "protocol": first.protocol,
            "em": first.em,
            "lambda": first.lambda_,
            "samples": len(self.results),
            "metrics": {name: asdict(metric) for name, metric in self.metrics.items()},
            "composite": None if whole is None else asdict(whole),
            "usage": self.usage.model_dump(),
            "served": self.served,
        }

    def save(self, path: Source, *, overwrite: bool = False) -> None:
        """Write the results, one per line, as ``tcva ccrs --out`` does.

        Args:
            path: See `write_assessments`.
            overwrite: See there.

        Raises:
            InvalidValueError: The file cannot be written, or was written by something else.
        """
        write_assessments(path, self.results, overwrite=overwrite)

    def check(self) -> None:
        """Nothing, if any sample has a score and no failure says that none can ever have one.

        Raises:
            JudgeError: No call can succeed (a wrong key, say).
            InvalidSampleError: No sample has a score.
        """
        failures = [why for name in self.metrics for why in _unscored(self.results, name)]
        for why in failures:
            if why.fatal:
                raise JudgeError(why.detail, fatal=True)
        if failures and not any(metric.scored for metric in self.metrics.values()):
            first = failures[0]
            msg = f"no sample has a score; the first: {first.text}"
            raise InvalidSampleError(msg)

    def parts(self) -> Iterator[Part]:
        """What ``tcva ccrs`` prints."""
        first, size = self.results[0], len(self.results)
        yield f"CCRS by {first.judge}, {_PROTOCOLS[first.protocol]}"
        rows = []
        for name, metric in self.metrics.items():
            said = [
                f"{number} {reason} ({shortened(metric.details[reason], _DETAIL)})"
                for reason, number in metric.unscored.items()
            ]
            if metric.exact is not None and metric.judged is not None:
                how = f"({first.em}, weight {first.lambda_:g}), judged {metric.judged:.3f}"
                said.insert(0, f"exact match {metric.exact:.3f} {how}")
            scored = f"{metric.scored}/{size}"
            rows.append((f"{name} {metric.title}", figure(metric.mean), scored, "; ".join(said)))
        whole = self.composite
        if whole is not None:
            scored, passed = f"{whole.scored}/{size}", f"passed {whole.passed}/{whole.scored}"
            rows.append(("composite", figure(whole.mean), scored, passed))
        yield Table(("metric", "mean", "scored", ""), rows, "lrrp")
        used = self.usage
        if used.calls or self.served:
            yield (
                f"{counted(used.calls, 'call')}, {used.input_tokens} + {used.output_tokens} tokens; "
                f"{counted(self.served, 'rating')} from the store"
            )


def summarise_ccrs(
    results: Sequence[CCRSResult],
    *,
    weights: Mapping[str, float] | None = None,
    threshold: float | None = None,
    renormalise: bool = False,
) -> CCRSSummary:
    """Sum up results of the same metrics.

    Args:
        results: At least one.
        weights: Of a composite, see `composite`; None and no threshold make none.
        threshold: Least composite that passes; 0.5 where there are weights alone.
        renormalise: See `composite`.

    Raises:
        InvalidValueError: No result, or as for `composite`.

    >>> from tcva_adapters.ccrs import CCRS
    >>> from tcva_adapters.samples.sample import Sample
    >>> samples = [Sample(input="Which car?", response="The car."), Sample(input="Which car?")]
    >>> ccrs = CCRS("qr", judge="lexical")
    >>> summary = summarise_ccrs(ccrs.evaluate_many(samples)).metrics["qr"]
    >>> summary.mean, summary.coverage, summary.unscored
    (1.0, 0.5, {'missing_field': 1})
    """
    if not results:
        msg = "a summary of no results; give at least one"
        raise InvalidValueError(msg)
    composites: list[Composite] = []
    if weights is not None or threshold is not None:
        least = 0.5 if threshold is None else threshold
        options: dict[str, Any] = {"threshold": least, "renormalise": renormalise}
        composites = [composite(each, weights=weights, **options) for each in results]
    answers = [answer for result in results for answer in result.answers.values()]
    return CCRSSummary(
        results=results,
        metrics={name: _metric(results, name) for name in results[0].answers},
        composite=_composite(composites) if composites else None,
        composites=composites,
        usage=sum((result.usage for result in results), Usage()),
        served=sum(answer.from_store for answer in answers),
    )


def _metric(results: Sequence[CCRSResult], name: str) -> MetricSummary:
    scores = [score for result in results if (score := result.scores[name]) is not None]
    unscored = _unscored(results, name)
    parts: dict[str, float | None] = {}
    if METRICS[name].has_exact_match:
        judged = [each for each in results if each.judged(name) is not None]
        parts = {
            "judged": _mean([each.judged(name) or 0.0 for each in judged]),
            "exact": _mean([float(bool(each.exact)) for each in judged]),
        }
    return MetricSummary(
        title=METRICS[name].title,
        mean=_mean(scores),
        scored=len(scores),
        coverage=len(scores) / len(results),
        unscored=dict(Counter(w.reason.value for w in unscored).most_common()),
        details={why.reason.value: why.detail for why in reversed(unscored)},
        **parts,
    )


def _unscored(results: Sequence[CCRSResult], name: str) -> list[Unscored]:
    found = (result.answers[name].unscored for result in results)
    return [why for why in found if why is not None]


def _composite(composites: Sequence[Composite]) -> CompositeSummary:
    scores = [score for each in composites if (score := each.score) is not None]
    return CompositeSummary(
        mean=_mean(scores),
        scored=len(scores),
        coverage=len(scores) / len(composites),
        passed=sum(each.passed is True for each in composites),
    )


def _mean(values: Sequence[float]) -> float | None:
    return added(values) / len(values) if values else None
