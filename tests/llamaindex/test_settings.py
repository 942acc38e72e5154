"""Settings of TCVAEvaluator: shown, refused, frozen."""

from __future__ import annotations

import inspect
import math
from typing import Any

import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.llamaindex import TCVAEvaluator
from tcva_adapters.results.settings import TCVASettings
from tests.llamaindex.entry import scripted
from tests.llamaindex.office import evaluated


def test_signatures_show_every_setting_once() -> None:
    shown = inspect.signature(TCVAEvaluator).parameters
    settings = TCVASettings.model_fields
    assert list(shown) == ["llm", "criterion", "context_metadata_mode", *settings]
    assert all(shown[name].default == setting.default for name, setting in settings.items())


@pytest.mark.parametrize(
    "options",
    [
        {option: value}
        for option, values in {
            "temperature": (0.05, "sharp", True, None, math.nan, -1, []),
            "threshold": (2, True, None, math.nan, -1, "0.5"),
            "scheme": ("steep", True, None, 3, (1.0, 0.0)),
            "penalty": ("harsh", False, None, 0),
            "floor": ("never", False, None, 0),
            "eps": (-1.0, True, False, None, math.nan, 0, "1e-9"),
            "on_unscored": (3, True, math.nan, -1),
            "criterion": ("tone", True, None, 3, ""),
            "claims": ("guess", True, None),
            "max_claims": (0, True, None, math.nan, -1, 1.5),
            "context_metadata_mode": ("some", True, None, 3),
            "llm": (object(), "gpt-9", True, 0, ""),
        }.items()
        for value in values
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_wrong_option_is_refused_when_built(options: dict[str, Any]) -> None:
    llm = scripted()
    with pytest.raises(InvalidValueError) as caught:
        TCVAEvaluator(**{"llm": llm, **options})
    name, value = next(iter(options.items()))
    assert repr(value) in str(caught.value) or name in str(caught.value)
    assert llm.prompts == []


@pytest.mark.parametrize(
    "setting",
    ["llm", "temperature", "threshold", "criterion", "context_metadata_mode", "scorer", "anything"],
)
def test_a_built_evaluator_is_frozen(setting: str) -> None:
    evaluator = TCVAEvaluator("lexical")
    with pytest.raises(
        InvalidValueError, match=f"{setting}='strict'; a built TCVAEvaluator is not changed"
    ) as error:
        setattr(evaluator, setting, "strict")
    assert f"changed({setting}=...) gives a copy" in str(error.value)
    assert evaluated(evaluator).result.scoring.temperature == 0.5
