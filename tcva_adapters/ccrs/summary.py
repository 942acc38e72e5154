"""Many results in a few figures: a mean per metric, and how many samples stand behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tcva_adapters.ccrs.composites import Composite, composite
from tcva_adapters.ccrs.exact import ExactMatch
from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.result import CCRSResult, Protocol
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.printing import Part, Table, Tabular, counted, figure, shortened
from tcva_adapters.results.assessment import Usage
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.summary import Scores, cost_lines
from tcva_adapters.samples.records import Source

_DETAIL: Final = 60
_PROTOCOLS: Final = {
    "single": "one call per metric",
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
        results: Of the same metrics; may be empty where they were not held.
        judge: Who rated.
        protocol: How; as for `CCRSResult`.
        em: Likewise.
        lambda_: Likewise.
        threshold: Likewise.
        samples: How many results there were, at least one.
        lacking: How many of them lack a rating.
        metrics: One summary per metric.
        composite: Of the composites; None where there are none.
        composing: How these are made.
        usage: What it cost, without answers from the store.
        served: How many answers came from the store.
        fatal: Why no call could succeed; None where that was not seen.
    """

    results: Sequence[CCRSResult] = field(repr=False)
    judge: str
    protocol: Protocol
    em: ExactMatch
    lambda_: float
    threshold: float
    samples: int
    lacking: int
    metrics: dict[str, MetricSummary]
    composite: CompositeSummary | None
    composing: Mapping[str, Any] = field(repr=False)
    usage: Usage
    served: int
    fatal: str | None = None

    @property
    def sentence(self) -> str:
        """The mean of each metric, and how many samples lack one."""
        means = ", ".join(f"{name} {figure(m.mean)}" for name, m in self.metrics.items())
        lack = self.lacking
        lacking = f"{lack} of {self.samples} {'lacks' if lack == 1 else 'lack'} a rating"
        lexical = self.protocol == "lexical"
        judge = "the lexical judge only counts words" if lexical else ""
        said = "; ".join(filter(None, (lacking if lack else "", judge)))
        return f"Mean ratings of {counted(self.samples, 'sample')}: {means}" + (
            f" ({said})" if said else ""
        )

    def composite_of(self, result: CCRSResult) -> Composite:
        """The composite of one of the results."""
        return composite(result, **self.composing)

    def records(self) -> list[dict[str, Any]]:
        """A row for each metric."""
        return [{"metric": name, **asdict(metric)} for name, metric in self.metrics.items()]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        whole = self.composite
        return {
            "sentence": self.sentence,
            "judge": self.judge,
            "protocol": self.protocol,
            "em": self.em,
            "lambda": self.lambda_,
            "samples": self.samples,
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
        if self.fatal is not None:
            raise JudgeError(self.fatal, fatal=True)
        if not any(metric.scored for metric in self.metrics.values()):
            first = next(iter(self.metrics.values()))
            reason, detail = next(iter(first.details.items()))
            why = f"{reason}: {detail}" if detail else reason
            msg = f"no sample has a score; the first: {why}"
            raise InvalidSampleError(msg)

    def parts(self) -> Iterator[Part]:
        """What ``tcva ccrs`` prints."""
        size = self.samples
        yield f"CCRS by {self.judge}, {_PROTOCOLS[self.protocol]}"
        rows = []
        for name, metric in self.metrics.items():
            said = [
                f"{number} {reason} ({shortened(metric.details[reason], _DETAIL)})"
                for reason, number in metric.unscored.items()
            ]
            if metric.exact is not None and metric.judged is not None:
                how = f"({self.em}, weight {self.lambda_:g}), judged {metric.judged:.3f}"
                said.insert(0, f"exact match {metric.exact:.3f} {how}")
            scored = f"{metric.scored}/{size}"
            rows.append((f"{name} {metric.title}", figure(metric.mean), scored, "; ".join(said)))
        whole = self.composite
        if whole is not None:
            scored, passed = f"{whole.scored}/{size}", f"passed {whole.passed}/{whole.scored}"
            rows.append(("composite", figure(whole.mean), scored, passed))
        yield Table(("metric", "mean", "scored", ""), rows, "lrrp")
        yield from cost_lines(self.usage, self.served, "rating")


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
    tally = CCRSTally(weights=weights, threshold=threshold, renormalise=renormalise)
    for result in results:
        tally.add(result)
    return tally.ended(results)


class CCRSTally:
    """The figures of results that come one after the other; none of these is held.

    Args:
        weights: See `summarise_ccrs`.
        threshold: See there.
        renormalise: See there.
    """

    def __init__(
        self,
        *,
        weights: Mapping[str, float] | None = None,
        threshold: float | None = None,
        renormalise: bool = False,
    ) -> None:
        self._composing: dict[str, Any] = {
            "weights": weights,
            "threshold": 0.5 if threshold is None else threshold,
            "renormalise": renormalise,
        }
        self._whole = Scores() if weights is not None or threshold is not None else None
        self._metrics: dict[str, _Metric] = {}
        self._first: CCRSResult | None = None
        self._samples = self._lacking = self._served = 0
        self._usage = Usage()

    def add(self, result: CCRSResult) -> None:
        """One more.

        Raises:
            InvalidValueError: As for `composite`.
        """
        if self._first is None:
            self._first = result
            self._metrics = {name: _Metric(name) for name in result.answers}
        self._samples += 1
        self._usage += result.usage
        self._served += sum(answer.from_store for answer in result.answers.values())
        for metric in self._metrics.values():
            metric.add(result)
        self._lacking += None in result.scores.values()
        if self._whole is not None:
            found = composite(result, **self._composing)
            self._whole.add_score(found.score, passed=found.passed)

    def ended(self, results: Sequence[CCRSResult]) -> CCRSSummary:
        """The whole of it.

        Args:
            results: All that came, for who looks at single ones; may be empty where nobody does.

        Raises:
            InvalidValueError: None came.
        """
        first, size, whole = self._first, self._samples, self._whole
        if first is None:
            msg = "a summary of no results; give at least one"
            raise InvalidValueError(msg)
        fatal = (metric.scores.fatal for metric in self._metrics.values())
        return CCRSSummary(
            results=results,
            judge=first.judge,
            protocol=first.protocol,
            em=first.em,
            lambda_=first.lambda_,
            threshold=first.threshold,
            samples=size,
            lacking=self._lacking,
            metrics={name: metric.summary for name, metric in self._metrics.items()},
            composite=None
            if whole is None
            else CompositeSummary(whole.mean, whole.scored, whole.coverage, whole.passed),
            composing=self._composing,
            usage=self._usage,
            served=self._served,
            fatal=next((why for why in fatal if why is not None), None),
        )


class _Metric:
    """One metric of results that come one after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.scores, self._judged, self._exact = Scores(), Scores(), Scores()

    def add(self, result: CCRSResult) -> None:
        name = self._name
        self.scores.add_score(result.scores[name], why=result.answers[name].unscored)
        judged = result.judged(name)
        if judged is not None:
            self._judged.add_score(judged)
            self._exact.add_score(float(bool(result.exact)))

    @property
    def summary(self) -> MetricSummary:
        metric, scores = METRICS[self._name], self.scores
        return MetricSummary(
            title=metric.title,
            mean=scores.mean,
            scored=scores.scored,
            coverage=scores.coverage,
            unscored=scores.unscored,
            details=scores.details,
            judged=self._judged.mean if metric.has_exact_match else None,
            exact=self._exact.mean if metric.has_exact_match else None,
        )
