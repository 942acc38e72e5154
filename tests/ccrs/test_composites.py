"""A composite of several metrics, against numbers derived by hand and against the panel itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tcva_adapters.ccrs import CCRSResult, MetricAnswer, composite
from tcva_adapters.core.panel import evaluate_panel
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Reason, Unscored


def result(**ratings: float | None) -> CCRSResult:
    why = Unscored(reason=Reason.UNREADABLE_REPLY, detail="words")
    answers = {
        name: MetricAnswer(rating=rating, unscored=why if rating is None else None)
        for name, rating in ratings.items()
    }
    return CCRSResult(judge="j", prompt_version="1", protocol="single", answers=answers)


def test_weights_and_threshold() -> None:
    rated = composite(result(cc=80, qr=60, ir=20), weights={"cc": 0.5, "qr": 0.3, "ir": 0.2})
    # 0.5 * 0.8 + 0.3 * 0.6 + 0.2 * 0.2 = 0.62
    assert rated.score == pytest.approx(0.62, abs=1e-12)
    assert rated.passed is True
    assert composite(result(cc=80, qr=60, ir=20), threshold=0.54).passed is False  # 1.6 / 3
    assert composite(result(cc=80, qr=60), weights={"qr": 1.0}).score == pytest.approx(0.6)


def test_several_judges_are_a_panel() -> None:
    judged = [result(cc=80, qr=60), result(cc=60, qr=None), result(cc=100, qr=90)]
    rated = composite(judged, weights={"cc": 0.4, "qr": 0.6}, threshold=0.7)
    expected = evaluate_panel([[0.8, 0.6], [0.6, None], [1.0, 0.9]], [0.4, 0.6], 0.7, 1.0)
    assert rated.rating == expected
    assert rated.rating is not None
    assert (rated.rating.missing, rated.left_out) == ((0, 1), ())


def test_a_missing_metric_leaves_no_composite_unless_asked() -> None:
    weights = {"cc": 0.5, "qr": 0.3, "ir": 0.2}
    lacking = result(cc=80, qr=None, ir=20)
    rated = composite(lacking, weights=weights)
    assert (rated.score, rated.passed, rated.left_out) == (None, None, ("qr",))
    assert rated.unscored is not None
    assert rated.unscored.reason is Reason.UNREADABLE_REPLY
    assert rated.unscored.detail == "no score for qr (unreadable_reply)"
    renormalised = composite(lacking, weights=weights, renormalise=True)
    # What is left: half of 0.8 and a fifth of 0.2, over the 0.7 of weight that is left.
    assert renormalised.score == pytest.approx(0.44 / 0.7, abs=1e-12)
    assert renormalised.weights == pytest.approx({"cc": 0.5 / 0.7, "ir": 0.2 / 0.7})
    assert (renormalised.left_out, renormalised.to_dict()["left_out"]) == (("qr",), ["qr"])


def test_a_metric_without_weight_may_be_missing() -> None:
    rated = composite(result(cc=80, qr=None), weights={"cc": 1.0, "qr": 0.0})
    assert rated.score == pytest.approx(0.8)


def test_nothing_can_stand_in_for_everything() -> None:
    rated = composite(result(cc=None, qr=None), renormalise=True)
    assert (rated.score, rated.to_dict()["unscored"]["reason"]) == (None, "unreadable_reply")


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
        composite(result(cc=80, qr=rating), weights=weights, renormalise=True)


def test_a_wrong_threshold_or_no_result_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="passing_threshold"):
        composite(result(cc=None), threshold=2.0)
    with pytest.raises(InvalidValueError, match="at least one judge"):
        composite([])
