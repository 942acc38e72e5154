"""What passes: thresholds, strict mode, profiles, and what DeepEval sets from its cache."""

from __future__ import annotations

import pytest
from deepeval.metrics.utils import copy_metrics

from tcva_adapters.deepeval import TCVAMetric
from tests.deepeval.entry import scripted
from tests.deepeval.office import CASE, HALF, HALF_AT_HALF, OPENS, tcva_of
from tests.support.scripted import verdict_json


def test_without_a_threshold_nothing_passes_or_fails() -> None:
    metric = TCVAMetric(model=scripted(HALF), threshold=None)
    metric.measure(CASE)
    assert metric.score == pytest.approx(HALF_AT_HALF, abs=1e-12)
    assert metric.success is None


def test_strict_mode_is_all_or_nothing() -> None:
    metric = TCVAMetric(model=scripted(HALF), strict_mode=True, threshold=0.1)
    assert metric.threshold == 1
    assert metric.measure(CASE) == 0.0
    assert metric.result is not None
    assert metric.result.score == pytest.approx(HALF_AT_HALF, abs=1e-12)
    whole = verdict_json((1, "fully", OPENS), (2, "fully", "Parking costs two coins."))
    assert TCVAMetric(model=scripted(whole), strict_mode=True).measure(CASE) == 1.0


def test_strict_mode_holds_the_threshold_at_one() -> None:
    metric = TCVAMetric(model="lexical", strict_mode=True)
    metric.threshold = 0.2
    assert metric.threshold == 1.0
    metric.strict_mode = False
    metric.threshold = 0.2
    assert (metric.threshold, tcva_of(metric).scoring.threshold) == (0.2, 0.2)


# Two claims at weight 0.7: the score is 0.7 at every temperature, between the two thresholds.
PARTIAL = verdict_json((1, "partial", OPENS), (2, "partial", ""))


def test_what_deepeval_sets_from_its_cache_is_taken() -> None:
    (copied,) = copy_metrics([TCVAMetric(model="lexical", threshold=0.7)])
    copied.score, copied.success = 0.8, True
    copied.threshold, copied.strict_mode, copied.evaluation_model = 0.7, False, "lexical/2"
    assert (copied.score, copied.threshold, copied.is_successful()) == (0.8, 0.7, True)
