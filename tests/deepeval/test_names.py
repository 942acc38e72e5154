"""The names of metrics, which DeepEval reports and tells them apart by."""

from __future__ import annotations

from typing import Any

import pytest
from deepeval.metrics.utils import copy_metrics

from tcva_adapters.deepeval import TCVAMetric


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "TCVA faithfulness"),
        ({"temperature": 0.5, "threshold": 0.9, "strict_mode": True}, "TCVA faithfulness"),
        ({"temperature": "strict"}, "TCVA faithfulness (T=0.2)"),
        ({"criterion": "correctness", "temperature": 0.9}, "TCVA correctness (T=0.9)"),
        (
            {"scheme": "linear", "penalty": "off", "eps": 0.05, "floor": "always"},
            "TCVA faithfulness (scheme=linear, penalty=off, eps=0.05, floor=always)",
        ),
        ({"scheme": (1, 0.9, 0.7, 0.2, 0)}, "TCVA faithfulness (scheme=1/0.9/0.7/0.2/0)"),
        ({"scheme": (1, 0.9, 0.7, 0.3, 0)}, "TCVA faithfulness"),
        ({"on_unscored": 1, "max_claims": 3}, "TCVA faithfulness (on_unscored=1, max_claims=3)"),
        ({"temperature": 0.2, "name": "mine"}, "mine"),
    ],
)
def test_the_default_name_tells_the_settings(options: dict[str, Any], name: str) -> None:
    metric = TCVAMetric(**{"model": "lexical", **options})
    assert metric.__name__ == metric.name == name
    assert vars(copy_metrics([metric])[0])["name"] == name


def test_a_name_follows_the_settings_until_it_is_given() -> None:
    metric = TCVAMetric(model="lexical", temperature=0.2).changed(temperature=0.9)
    assert metric.name == "TCVA faithfulness (T=0.9)"
    named = metric.changed(name="mine").changed(temperature=0.3)
    assert named.name == "mine"


def test_it_says_what_it_is() -> None:
    assert repr(TCVAMetric(model="lexical", temperature=0.2)) == (
        "TCVAMetric(name='TCVA faithfulness (T=0.2)', scorer=TCVA('faithfulness', "
        "judge='lexical/2', temperature=0.2, threshold=0.5))"
    )
