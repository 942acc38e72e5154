"""The names of evaluators, which frameworks report and tell them apart by."""

from __future__ import annotations

from typing import Any

from tcva_adapters import TCVA
from tests.adapters.table import Adapter, each_named

SETTINGS: list[dict[str, Any]] = [
    {},
    # Equal to the defaults, said in another way.
    {"temperature": "balanced", "scheme": (1, 0.9, 0.7, 0.3, 0), "claims": "split"},
    {"temperature": "strict"},
    {"criterion": "correctness", "temperature": 0.9, "threshold": 0.7},
    {"scheme": [1, 0.8, 0.6, 0.2, 0]},
    {"scheme": "linear", "penalty": "off", "eps": 0.05, "floor": "always"},
    {"on_unscored": 1.0, "max_claims": 3},
]


@each_named
def test_the_usual_name_is_the_scorers_which_tells_the_settings(adapter: Adapter) -> None:
    for settings in SETTINGS:
        tcva = TCVA(**settings, judge="lexical")
        assert adapter.built("lexical", **settings).name == getattr(tcva, adapter.named)


@each_named
def test_a_name_follows_the_settings_until_it_is_given(adapter: Adapter) -> None:
    evaluator = adapter.built("lexical", temperature=0.2)
    assert "T=0.2" in evaluator.name
    assert "T=0.9" in evaluator.changed(temperature=0.9).name
    named = adapter.built("lexical", name="mine").changed(temperature=0.9)
    assert named.name == "mine"
