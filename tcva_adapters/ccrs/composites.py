"""Combine several metrics of a sample into one rating."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.core.panel import evaluate_panel
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.judgement import Unscored


@dataclass(frozen=True, slots=True)
class Composite:
    """The metrics of one sample as one rating.

    Attributes:
        score: The weighted mean in [0, 1]; None where a weighted metric has no score.
        passed: Whether the score reaches the threshold; None where there is no score.
        unscored: Why there is no score.
    """

    score: float | None = None
    passed: bool | None = None
    unscored: Unscored | None = None


def composite(
    result: CCRSResult,
    *,
    weights: Mapping[str, float] | None = None,
    threshold: float = 0.5,
) -> Composite:
    """Combine the metrics of one sample into one rating.

    Args:
        result: The sample's result.
        weights: Weights by the metrics' short names, at least 0, summing to 1; metrics that are not
            named do not count. By default all metrics count the same.
        threshold: The lowest composite score that passes, in [0, 1].

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
    if not shares or not scores.keys() >= shares.keys():
        names = ", ".join(scores)
        raise InvalidValueError(
            f"weights must be for the rated metrics ({names}), got {list(shares)!r}"
        )
    rating = evaluate_panel(
        [[scores[name] or 0.0 for name in shares]],
        list(shares.values()),
        threshold,
        1.0,
    )
    missing = [name for name in shares if shares[name] > 0.0 and scores[name] is None]
    if not missing:
        return Composite(rating.normalized_score, rating.pass_status)
    return Composite(
        unscored=Unscored(
            reason=result.unscored_by[missing[0]].reason,
            detail=f"no score for {', '.join(missing)}",
        )
    )
