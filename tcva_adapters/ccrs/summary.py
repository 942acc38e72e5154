"""Many results in a few figures: a mean per metric, and how many samples stand behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tcva_adapters.ccrs.composites import Composite, composite
from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.printing import Part, Table, Tabular, counted, figure, shortened
from tcva_adapters.results.assessment import Usage
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.summary import Scores, cost_lines
from tcva_adapters.samples.records import Source

_DETAIL: Final = 60
_PROTOCOLS: Final = {"single": "one call per metric", "lexical": "a lexical judge"}


@dataclass(slots=True, eq=False)
class MetricSummary(Scores):
    """One metric over many samples.

    Attributes:
        title: Its long name.
        judge: Scores without the exact match; none for metrics that have no such part.
        matches: 1 for each exact match, 0 for each other scored sample; none likewise.
    """

    title: str = ""
    judge: Scores = field(default_factory=Scores)
    matches: Scores = field(default_factory=Scores)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; ``judged`` and ``exact`` are means, and None for most metrics."""
        names = ("title", "mean", "scored", "coverage", "unscored", "details")
        figures = {name: getattr(self, name) for name in names}
        return {**figures, "judged": self.judge.mean, "exact": self.matches.mean}


@dataclass(slots=True, repr=False, eq=False)
class CCRSSummary(Tabular):
    """Figures of results of the same metrics that come one after the other.

    Attributes:
        weights: Of a composite, see `composite`; None and no threshold make none.
        threshold: Least composite that passes; 0.5 where there are weights alone.
        renormalise: See `composite`.
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
    renormalise: bool = False
    results: Sequence[CCRSResult] = ()
    samples: int = 0
    lacking: int = 0
    metrics: dict[str, MetricSummary] = field(default_factory=dict)
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
            self.metrics = {n: MetricSummary(title=METRICS[n].title) for n in result.answers}
        scores = result.scores
        self.samples += 1
        self.lacking += None in scores.values()
        self.usage += result.usage
        self.served += sum(answer.from_store for answer in result.answers.values())
        for name, metric in self.metrics.items():
            metric.add_score(scores[name], why=result.answers[name].unscored)
            judged = result.judged(name)
            if judged is not None and METRICS[name].has_exact_match:
                metric.judge.add_score(judged)
                metric.matches.add_score(float(bool(result.exact)))
        if self.has_composite:
            found = self.composite_of(result)
            self.composites.add_score(found.score, passed=found.passed)

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
    def has_composite(self) -> bool:
        """Whether the metrics are put together."""
        return self.weights is not None or self.threshold is not None

    def composite_of(self, result: CCRSResult) -> Composite:
        """The composite of one of the results."""
        threshold = 0.5 if self.threshold is None else self.threshold
        return composite(
            result, weights=self.weights, threshold=threshold, renormalise=self.renormalise
        )

    @property
    def sentence(self) -> str:
        """The mean of each metric, and how many samples lack one."""
        means = ", ".join(f"{name} {figure(m.mean)}" for name, m in self.metrics.items())
        said = []
        if self.lacking:
            verb = "lacks" if self.lacking == 1 else "lack"
            said.append(f"{self.lacking} of {self.samples} {verb} a rating")
        if self.first.protocol == "lexical":
            said.append("the lexical judge only counts words")
        more = f" ({'; '.join(said)})" if said else ""
        return f"Mean ratings of {counted(self.samples, 'sample')}: {means}{more}"

    def records(self) -> list[dict[str, Any]]:
        """A row for each metric."""
        return [{"metric": name, **metric.to_dict()} for name, metric in self.metrics.items()]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        names = ("mean", "scored", "coverage", "passed")
        whole = {name: getattr(self.composites, name) for name in names}
        return {
            "sentence": self.sentence,
            "judge": self.first.judge,
            "protocol": self.first.protocol,
            "em": self.first.em,
            "lambda": self.first.lambda_,
            "samples": self.samples,
            "metrics": {name: metric.to_dict() for name, metric in self.metrics.items()},
            "composite": whole if self.has_composite else None,
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
        for metric in self.metrics.values():
            if metric.fatal is not None:
                raise JudgeError(metric.fatal, fatal=True)
        if not any(metric.scored for metric in self.metrics.values()):
            reason, detail = next(iter(next(iter(self.metrics.values())).details.items()))
            why = f"{reason}: {detail}" if detail else reason
            msg = f"no sample has a score; the first: {why}"
            raise InvalidSampleError(msg)

    def parts(self) -> Iterator[Part]:
        """What ``tcva ccrs`` prints."""
        first, rows = self.first, []
        yield f"CCRS by {first.judge}, {_PROTOCOLS[first.protocol]}"
        for name, metric in self.metrics.items():
            said = [
                f"{number} {reason} ({shortened(metric.details[reason], _DETAIL)})"
                for reason, number in metric.unscored.items()
            ]
            if metric.matches.scored:
                how = f"({first.em}, weight {first.lambda_:g})"
                said.insert(
                    0,
                    f"exact match {figure(metric.matches.mean)} {how}, "
                    f"judged {figure(metric.judge.mean)}",
                )
            scored = f"{metric.scored}/{self.samples}"
            rows.append((f"{name} {metric.title}", figure(metric.mean), scored, "; ".join(said)))
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
    renormalise: bool = False,
) -> CCRSSummary:
    """Sum up results of the same metrics.

    Args:
        results: At least one.
        weights: See `CCRSSummary`.
        threshold: See there.
        renormalise: See there.

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
    summary = CCRSSummary(weights, threshold, renormalise, results)
    for result in results:
        summary.add(result)
    _ = summary.first  # there is one
    return summary
