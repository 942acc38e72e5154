"""Settings of the drop-ins: shown, refused when built and when set."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import TCVASettings
from tests.adapters.table import Adapter, each_adapter, each_named

WRONG: dict[str, list[Any]] = {
    "criterion": [None, True, "beauty"],
    "threshold": [True, "0.5", math.nan, -1, 2],
    "temperature": [None, True, math.nan, -1.0, "severe"],
    "scheme": [None, 3, "steep"],
    "penalty": [None, True, "huge"],
    "eps": [None, True, math.nan, 0],
    "floor": [None, "cellar"],
    "bounds": [None, {"p_low": -4}],
    "on_unscored": [True, "1", math.nan, 3],
    "claims": [None, "guess"],
    "verdicts": [None, "letters"],
    "repeats": [None, True, 0, 2.5],
    "evidence": [None, "lowered"],
    "max_claims": [None, True, 0, 2.5],
    "store": [3, True],
    "fuse": [True, 3, "lexcial"],
    "fuse_weights": [3, (-1, 1)],
    "share": [None, 0],
    "max_concurrency": [None, 0],
}


@each_adapter
def test_the_signature_shows_every_setting(adapter: Adapter) -> None:
    shown = inspect.signature(adapter.drop_in).parameters
    settings = {"criterion", *TCVASettings.model_fields} - adapter.leaves_out
    assert settings <= shown.keys()
    assert WRONG.keys() == settings - {"profiles"}
    assert not adapter.leaves_out & shown.keys()


@each_adapter
def test_a_wrong_value_is_refused_before_any_call(adapter: Adapter) -> None:
    usual = adapter.built("lexical")
    for name, value in ((name, value) for name, values in WRONG.items() for value in values):
        said = re.escape(repr(value))
        with pytest.raises(InvalidValueError, match=said):
            adapter.built("lexical", **{name: value})
        with pytest.raises(InvalidValueError, match=said):
            adapter.changed(usual, **{name: value})
        with pytest.raises(InvalidValueError, match=said):
            setattr(usual, name, value)


@each_adapter
def test_no_store_is_opened_where_something_else_is_wrong(adapter: Adapter, tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    odd: list[dict[str, Any]] = [{"criterion": "beauty"}, {"fuse_weights": (1, 1)}, {"name": 3}, {}]
    for wrong in odd:
        with pytest.raises(InvalidValueError):
            adapter.built("lexical" if wrong else object(), store=path, **wrong)
    assert not path.exists()


@each_adapter
def test_what_would_not_be_used_cannot_be_set(adapter: Adapter) -> None:
    evaluator = adapter.built("lexical")
    for name in [*({*WRONG} - {"threshold"}), "scorer", "temprature"]:
        instead = adapter.instead.format(name)
        said = f"{adapter.drop_in.__name__}.*{re.escape(instead)}"
        with pytest.raises(InvalidValueError, match=said):
            setattr(evaluator, name, getattr(evaluator, name, 0.9))


@each_named
def test_a_name_is_a_text(adapter: Adapter) -> None:
    for name in (3, True, "  "):
        with pytest.raises(InvalidValueError, match=f"name.*{name!r}"):
            adapter.built("lexical", name=name)
