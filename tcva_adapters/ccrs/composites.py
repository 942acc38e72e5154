"""One rating out of several metrics: weights, a threshold, and one judge or several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.core.panel import PanelRating, evaluate_panel
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Unscored


@dataclass(frozen=True, slots=True)
class Composite:
    """The metrics of one sample as one rating.

    Attributes:
        rating: What the panel made of them; None where the sample has no composite.
        weights: The weights that were used, by metric; they sum to 1.
        left_out: Metrics without a score, which others stand in for.
        unscored: Why there is no rating.
    """

    rating: PanelRating | None
    weights: Mapping[str, float] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    unscored: Unscored | None = None

    @property
    def score(self) -> float | None:
        """The weighted mean in [0, 1]; None where there is none."""
        return None if self.rating is None else self.rating.normalized_score

    @property
    def passed(self) -> bool | None:
        """Whether it reaches the threshold; None where there is no score."""
        return None if self.rating is None else self.rating.pass_status

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "score": self.score,
            "passed": self.passed,
            "weights": dict(self.weights),
            "left_out": list(self.left_out),
            "unscored": None if self.unscored is None else self.unscored.model_dump(mode="json"),
        }


def composite(
    results: CCRSResult | Sequence[CCRSResult],
    *,
    weights: Mapping[str, float] | None = None,
    threshold: float = 0.5,
    renormalise: bool = False,
) -> Composite:
    """The metrics of one sample as one rating, by `evaluate_panel`.

    Args:
        results: The sample's result, or one result per judge. With several judges a metric's score
            is the mean over those that have one, and ``rating.judge_agreement`` says how far they
            agree.
        weights: By short name, at least 0, summing to 1; those not named do not count. By default
            all metrics of the first result count the same.
        threshold: Least composite that passes, in [0, 1].
        renormalise: What happens where a weighted metric has no score from any judge. By default
            there is no composite; if true, the others share its weight in proportion.

    Raises:
        InvalidValueError: No result, a weight for a metric that was not rated, weights that do not
            sum to 1, or a threshold outside [0, 1].

    >>> from tcva_adapters.ccrs import CCRS
    >>> from tcva_adapters.samples.sample import Sample
    >>> sample = Sample(input="Which red car?", response="The car.", contexts=[], reference="A car.")
    >>> result = CCRS(("qr", "ir"), judge="lexical").evaluate(sample)
    >>> rated = composite(result, weights={"qr": 0.6, "ir": 0.4}, threshold=0.6)
    >>> result.scores, round(rated.score, 3), rated.passed
    ({'qr': 0.5, 'ir': 1.0}, 0.7, True)
    """
    judged = [results] if isinstance(results, CCRSResult) else list(results)
    if not judged:
        msg = "a composite of no results; give the result of at least one judge"
        raise InvalidValueError(msg)
    shares = _weights(judged, weights)
    table = {name: [result.scores.get(name) for result in judged] for name in shares}
    left_out = tuple(name for name in shares if all(score is None for score in table[name]))
    rated = {name: share for name, share in shares.items() if name not in left_out}
    absent = [name for name in left_out if shares[name] > 0.0]
    if absent:
        # The panel's own checks hold for samples without a composite as well.
        evaluate_panel([[0.0] * len(shares)], list(shares.values()), threshold, 1.0)
        total = math.fsum(rated.values())
        if not renormalise or not total:
            return Composite(None, shares, left_out, _unscored(judged, absent))
        rated = {name: share / total for name, share in rated.items()}
    rows = [[table[name][row] for name in rated] for row in range(len(judged))]
    rating = evaluate_panel(rows, list(rated.values()), threshold, 1.0)
    return Composite(rating, rated, left_out)


def _weights(judged: Sequence[CCRSResult], weights: Mapping[str, float] | None) -> dict[str, float]:
    names = list(judged[0].answers)
    if weights is None:
        return {name: 1.0 / len(names) for name in names}
    unknown = [name for name in weights if not any(name in each.answers for each in judged)]
    if unknown or not weights:
        what = f"a weight for {unknown[0]!r}, which was not rated" if unknown else "no weights"
        msg = f"{what}; give at least one of {', '.join(names)}"
        raise InvalidValueError(msg)
    return dict(weights)


def _unscored(judged: Sequence[CCRSResult], absent: Sequence[str]) -> Unscored:
    reasons = [
        (each.unscored_by[name].reason, f"{name} ({each.unscored_by[name].reason.value})")
        for name in absent
        for each in judged
        if name in each.unscored_by
    ]
    said = ", ".join(text for _, text in reasons)
    return Unscored(reason=reasons[0][0], detail=f"no score for {said}")
