"""One rating out of several metrics: weights, a threshold, and one judge or several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.core.panel import PanelRating, evaluate_panel
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Reason, Unscored

_HIGHEST: Final = 1.0


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
    lacking = tuple(name for name in shares if all(score is None for score in table[name]))
    counted = {name: share for name, share in shares.items() if share > 0.0}
    absent = [name for name in lacking if name in counted]
    kept = {name: share for name, share in shares.items() if name not in lacking}
    if absent:
        # The panel's own checks hold for samples without a composite as well.
        evaluate_panel([[0.0] * len(shares)], list(shares.values()), threshold, _HIGHEST)
        if not renormalise or len(absent) == len(counted):
            return Composite(None, shares, lacking, _unscored(judged, absent))
        total = math.fsum(kept.values())
        kept = {name: share / total for name, share in kept.items()}
    rows = [[table[name][row] for name in kept] for row in range(len(judged))]
    rating = evaluate_panel(rows, list(kept.values()), threshold, _HIGHEST)
    return Composite(rating, kept, lacking)


def _weights(judged: Sequence[CCRSResult], weights: Mapping[str, float] | None) -> dict[str, float]:
    names = list(judged[0].answers)
    if weights is None:
        return {name: 1.0 / len(names) for name in names}
    for name in weights:
        if not any(name in result.answers for result in judged):
            msg = f"a weight for {name!r}, which was not rated; rated are {', '.join(names)}"
            raise InvalidValueError(msg)
    if not weights:
        msg = f"weights={dict(weights)!r}; give at least one of {', '.join(names)}"
        raise InvalidValueError(msg)
    return dict(weights)


def _unscored(judged: Sequence[CCRSResult], absent: Sequence[str]) -> Unscored:
    reasons = [
        (name, result.unscored_by[name])
        for name in absent
        for result in judged
        if name in result.unscored_by
    ]
    said = ", ".join(f"{name} ({why.reason.value})" for name, why in reasons)
    return Unscored(
        reason=reasons[0][1].reason if reasons else Reason.MISSING_FIELD,
        detail=f"no score for {said or ', '.join(absent)}",
    )
