"""Several metrics as one rating, and many results in a few figures: a mean for each metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tcva_adapters.ccrs.lexical import LEXICAL_VERSION
from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.core.panel import evaluate_panel
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Table, Tabular, counted, figure
from tcva_adapters.results.assessment import Unscored, Usage
from tcva_adapters.results.summary import Scores, cost_lines


@dataclass(frozen=True, slots=True)
class Composite:
    """The metrics of one sample as one rating.

    Attributes:
        score: The weighted mean in [0, 1]; None where a weighted metric has no score.
        passed: Whether it reaches the threshold; None where there is no score.
        unscored: Why there is no score.
    """

    score: float | None = None
    passed: bool | None = None
    unscored: Unscored | None = None


def composite(
    result: CCRSResult, *, weights: Mapping[str, float] | None = None, threshold: float = 0.5
) -> Composite:
    """The metrics of one sample as one rating.

    Args:
        result: The sample's result.
        weights: By short name, at least 0, summing to 1; those not named do not count. By default
            all metrics count the same.
        threshold: Least composite that passes, in [0, 1].

    Raises:
        InvalidValueError: A weight for a metric that was not rated, weights that do not sum to 1,
            or a threshold outside [0, 1].

    >>> from tcva_adapters.ccrs import CCRS
    >>> from tcva_adapters.samples.sample import Sample
    >>> sample = Sample(input="Which red car?", response="The car.", contexts=[], reference="A car.")
    >>> result = CCRS(("qr", "ir"), judge="lexical").evaluate(sample)
    >>> rated = composite(result, weights={"qr": 0.6, "ir": 0.4}, threshold=0.6)
    >>> result.scores, round(rated.score, 3), rated.passed
    ({'qr': 0.5, 'ir': 1.0}, 0.7, True)
    """
    scores = result.scores
    shares = dict.fromkeys(scores, 1.0 / len(scores)) if weights is None else weights
    unknown = [name for name in shares if name not in scores]
    if unknown or not shares:
        what = f"a weight for {unknown[0]!r}, which was not rated" if unknown else "no weights"
        msg = f"{what}; give at least one of {', '.join(scores)}"
        raise InvalidValueError(msg)
    row = [scores[name] or 0.0 for name in shares]
    rating = evaluate_panel([row], list(shares.values()), threshold, 1.0)
    lacking = [name for name in shares if shares[name] > 0.0 and scores[name] is None]
    if not lacking:
        return Composite(rating.normalized_score, rating.pass_status)
    why = result.unscored_by[lacking[0]]
    return Composite(
        unscored=Unscored(reason=why.reason, detail=f"no score for {', '.join(lacking)}")
    )


@dataclass(slots=True, repr=False, eq=False)
class CCRSSummary(Tabular):
    """Figures of results of the same metrics that come one after the other.

    Attributes:
        weights: Of a composite, see `composite`; None and no threshold make none.
        threshold: Least composite that passes; 0.5 where there are weights alone.
        results: The results, for who looks at single ones; may be empty where nobody does.
        samples: How many there were.
        lacking: How many of them lack a rating.
        metrics: One summary per metric.
        composites: Of the composites; without samples where there are none.
        usage: What it cost, without answers from the store.
        served: How many answers came from the store.
    """

    weights: Mapping[str, float] | None = None
    threshold: float | None = None
    results: Sequence[CCRSResult] = ()
    samples: int = 0
    lacking: int = 0
    metrics: dict[str, Scores] = field(default_factory=dict)
    composites: Scores = field(default_factory=Scores)
    usage: Usage = field(default_factory=Usage)
    served: int = 0
    _first: CCRSResult | None = None

    def add(self, result: CCRSResult) -> None:
        """One more; it is not held.

        Raises:
            InvalidValueError: As for `composite`.
        """
        if self._first is None:
            self._first = result
            self.metrics = {n: Scores() for n in result.answers}
        scores = result.scores
        self.samples += 1
        self.lacking += None in scores.values()
        self.usage += result.usage
        self.served += sum(answer.from_store for answer in result.answers.values())
        for name, metric in self.metrics.items():
            metric.add_score(scores[name], why=result.answers[name].unscored)
        if self.has_composite:
            found = self.composite_of(result)
            self.composites.add_score(found.score, passed=found.passed, why=found.unscored)

    @property
    def first(self) -> CCRSResult:
        """The first result: all have its judge and its settings.

        Raises:
            InvalidValueError: There is none.
        """
        if self._first is None:
            msg = "a summary of no results; give at least one"
            raise InvalidValueError(msg)
        return self._first

    @property
    def is_lexical(self) -> bool:
        """Whether the judge only counts words."""
        return self.first.judge == LEXICAL_VERSION

    @property
    def has_composite(self) -> bool:
        """Whether the metrics are put together."""
        return self.weights is not None or self.threshold is not None

    def composite_of(self, result: CCRSResult) -> Composite:
        """The composite of one of the results."""
        threshold = 0.5 if self.threshold is None else self.threshold
        return composite(result, weights=self.weights, threshold=threshold)

    @property
    def sentence(self) -> str:
        """The mean of each metric, and how many samples lack one."""
        means = ", ".join(f"{name} {figure(m.mean)}" for name, m in self.metrics.items())
        said = []
        if self.lacking:
            verb = "lacks" if self.lacking == 1 else "lack"
            said.append(f"{self.lacking} of {self.samples} {verb} a rating")
        if self.is_lexical:
            said.append("the lexical judge only counts words")
        more = f" ({'; '.join(said)})" if said else ""
        return f"Mean ratings of {counted(self.samples, 'sample')}: {means}{more}"

    def records(self) -> list[dict[str, Any]]:
        """A row for each metric."""
        return [
            {"metric": name, "title": METRICS[name].title, **each.to_dict()}
            for name, each in self.metrics.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        whole = {**self.composites.to_dict(), "passed": self.composites.passed}
        return {
            "sentence": self.sentence,
            "judge": self.first.judge,
            "em": self.first.em,
            "lambda": self.first.lambda_,
            "samples": self.samples,
            "metrics": {row.pop("metric"): row for row in self.records()},
            "composite": whole if self.has_composite else None,
            "usage": self.usage.model_dump(),
            "served": self.served,
        }

    def check(self) -> None:
        """Refuse ratings that say nothing; see `Scores.check`."""
        has_any = any(metric.scored for metric in self.metrics.values())
        for metric in self.metrics.values():
            if metric.fatal or not has_any:
                metric.check()

    def parts(self) -> Iterator[Part]:
        """What ``tcva ccrs`` prints."""
        first, rows = self.first, []
        how = f"; exact match {first.em}, weight {first.lambda_:g}" if "ac" in self.metrics else ""
        kind = "a lexical judge" if self.is_lexical else "one call per metric"
        yield f"CCRS by {first.judge}, {kind}{how}"
        for name, metric in self.metrics.items():
            why = "; ".join(metric.lines())
            scored = f"{metric.scored}/{self.samples}"
            rows.append((f"{name} {METRICS[name].title}", figure(metric.mean), scored, why))
        if self.has_composite:
            whole = self.composites
            scored, passed = f"{whole.scored}/{self.samples}", f"{whole.passed}/{whole.scored}"
            rows.append(("composite", figure(whole.mean), scored, f"passed {passed}"))
        yield Table(("metric", "mean", "scored", ""), rows, "lrrp")
        yield from cost_lines(self.usage, self.served, "rating")


def summarise_ccrs(
    results: Sequence[CCRSResult],
    *,
    weights: Mapping[str, float] | None = None,
    threshold: float | None = None,
) -> CCRSSummary:
    """Sum up results of the same metrics.

    Args:
        results: At least one.
        weights: See `CCRSSummary`.
        threshold: See there.

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
    summary = CCRSSummary(weights, threshold, results)
    for result in results:
        summary.add(result)
    _ = summary.first  # there is one
    return summary
