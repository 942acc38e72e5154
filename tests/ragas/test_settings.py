"""Settings of TCVAMetric: shown, refused, frozen."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.ragas import TCVACollectionMetric, TCVAMetric
from tcva_adapters.results.settings import TCVASettings
from tests.ragas.office import turn


def test_the_signature_shows_every_setting() -> None:
    shown = inspect.signature(TCVAMetric).parameters
    assert list(shown)[:5] == ["_required_columns", "name", "llm", "output_type", "criterion"]
    settings = set(TCVASettings.model_fields) - {"profiles"}
    assert set(list(shown)[5:]) == settings
    assert set(inspect.signature(TCVACollectionMetric).parameters) == {
        *("llm", "name", "criterion"),
        *settings,
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": 0.05}, "0.05"),
        ({"temperature": "severe"}, "severe"),
        ({"threshold": 2}, "threshold=2"),
        ({"scheme": "nonesuch"}, "nonesuch"),
        ({"penalty": "huge"}, "huge"),
        ({"floor": "cellar"}, "cellar"),
        ({"eps": -1.0}, "-1"),
        ({"on_unscored": 3}, "on_unscored=3"),
        ({"criterion": "beauty"}, "beauty"),
        ({"claims": "guess"}, "guess"),
        ({"max_claims": 0}, "max_claims=0"),
        ({"llm": "gpt"}, "unknown judge 'gpt'"),
        ({"llm": "lexical", "claims": "llm"}, "needs a model"),
        ({"scheme": [math.nan] * 5}, "nan"),
        ({"name": 3}, "name=3"),
        ({"name": "  "}, "name='  '"),
        ({"name": True}, "name=True"),
        ({"output_type": "continuous"}, "output_type='continuous'"),
        *(
            ({option: value}, re.escape(repr(value)))
            for option, values in {
                "temperature": (True, None, math.nan, -1, []),
                "threshold": (True, None, math.nan, -1, "0.5"),
                "scheme": (True, None, 3, (1.0, 0.0)),
                "penalty": (False, None, 0, []),
                "eps": (True, False, None, math.nan, 0, "1e-9"),
                "floor": (False, None, 0),
                "on_unscored": (True, math.nan, -1, "1"),
                "criterion": (True, None, 3, ""),
                "claims": (True, None, 1),
                "max_claims": (True, None, math.nan, -1, 1.5, "3"),
                "llm": (True, 0, "", ()),
            }.items()
            for value in values
        ),
    ],
)
def test_wrong_options_fail_when_built(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        TCVAMetric(**options)
    if "output_type" not in options:
        with pytest.raises(InvalidValueError, match=said):
            TCVACollectionMetric(**{"llm": "lexical"} | options)


def test_a_judge_that_is_not_named_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="llm='lexical'"):
        TCVAMetric("lexical")  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("setting", ["temperature", "criterion", "fuse", "output_type", "scorer"])
def test_a_setting_that_would_not_be_used_is_refused(setting: str) -> None:
    metric = TCVAMetric(llm="lexical")
    with pytest.raises(InvalidValueError, match=rf"{setting}=0.3; a built .*changed\({setting}="):
        setattr(metric, setting, 0.3)
    assert metric.single_turn_score(turn()) == TCVAMetric(llm="lexical").single_turn_score(turn())
