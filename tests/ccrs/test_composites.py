"""A composite of several metrics, against numbers derived by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tcva_adapters.ccrs import CCRSResult, MetricAnswer, composite
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Reason, Unscored


def result(**ratings: float | None) -> CCRSResult:
    why = Unscored(reason=Reason.UNREADABLE_REPLY, detail="words")
    answers = {
        name: MetricAnswer(rating=rating, unscored=why if rating is None else None)
        for name, rating in ratings.items()
    }
    return CCRSResult(judge="j", prompt_version="1", answers=answers)


def test_weights_and_threshold() -> None:
    rated = composite(result(cc=80, qr=60, ir=20), weights={"cc": 0.5, "qr": 0.3, "ir": 0.2})
    # 0.5 * 0.8 + 0.3 * 0.6 + 0.2 * 0.2 = 0.62
    assert rated.score == pytest.approx(0.62, abs=1e-12)
    assert rated.passed is True
    assert composite(result(cc=80, qr=60, ir=20), threshold=0.54).passed is False  # 1.6 / 3
    assert composite(result(cc=80, qr=60), weights={"qr": 1.0}).score == pytest.approx(0.6)
    # A metric without weight may be missing.
    lacking = composite(result(cc=80, qr=None), weights={"cc": 1.0, "qr": 0.0})
    assert lacking.score == pytest.approx(0.8)


def test_a_missing_metric_leaves_no_composite() -> None:
    weights = {"cc": 0.5, "qr": 0.3, "ir": 0.2}
    lacking = result(cc=80, qr=None, ir=20)
    rated = composite(lacking, weights=weights)
    assert (rated.score, rated.passed) == (None, None)
    assert rated.unscored is not None
    assert rated.unscored.reason is Reason.UNREADABLE_REPLY
    assert rated.unscored.detail == "no score for qr"


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"cc": 0.5, "qr": 0.4}, "not to 1"),
        ({"cc": 0.5, "ac": 0.5}, "a weight for 'ac', which was not rated"),
        ({"cc": -0.5, "qr": 1.5}, "at least 0"),
        ({}, "at least one of cc, qr"),
    ],
)
@pytest.mark.parametrize("rating", [60, None])
def test_wrong_weights_are_refused_whatever_was_scored(
    weights: Mapping[str, float], said: str, rating: float | None
) -> None:
    with pytest.raises(InvalidValueError, match=said):
        composite(result(cc=80, qr=rating), weights=weights)
    with pytest.raises(InvalidValueError, match="passing_threshold"):
        composite(result(cc=rating), threshold=2.0)
