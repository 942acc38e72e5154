"""Settings of TCVAMetric: refused when built and when set, followed or frozen after that."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import Any

import pytest
from deepeval.metrics.utils import copy_metrics

from tcva_adapters.deepeval import TCVAMetric
from tcva_adapters.errors import InvalidValueError
from tests.deepeval.office import CASE, plenty, tcva_of


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": 1.5}, "1.5"),
        ({"temperature": "harsh"}, "harsh"),
        ({"threshold": 1.2}, "1.2"),
        ({"criterion": "truth"}, "truth"),
        ({"penalty": "soft"}, "soft"),
        ({"scheme": "steep"}, "steep"),
        ({"on_unscored": 2}, "on_unscored=2"),
        ({"max_claims": 0}, "max_claims=0"),
        ({"claims": "llm"}, "llm"),
        ({"model": 7}, "unknown judge 7"),
        ({"scheme": (1, 0)}, "has 5 weights"),
        ({"scheme": (math.nan,) * 5}, "nan"),
        ({"strict_mode": True, "threshold": 7}, "threshold=7; it "),
        ({"strict_mode": True, "threshold": math.nan}, "threshold=nan; it "),
    ],
)
def test_wrong_options_fail_when_built(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        TCVAMetric(**{"model": "lexical", **options})


WRONG: dict[str, list[Any]] = {
    "criterion": [None, True, 3],
    "threshold": [True, "0.5", math.nan, -1],
    "temperature": [None, True, math.nan, -1.0],
    "model": [True, [], b"lexical"],
    "scheme": [None, 3],
    "penalty": [None, True, 3],
    "eps": [None, True, math.nan, -1, 0],
    "floor": [None, True, 3],
    "bounds": [None, True, 3, {"p_low": -4}],
    "on_unscored": [True, "1", math.nan, -1],
    "claims": [None, True, 3],
    "verdicts": [None, True, "letters"],
    "repeats": [None, True, math.nan, 0, 2.5],
    "evidence": [None, True, "lowered"],
    "max_claims": [None, True, math.nan, -1, 2.5],
    "store": [3, True, b"verdicts.sqlite"],
    "name": [3, True, "", " ", math.nan],
    "include_reason": [None, 1, "no", math.nan],
    "async_mode": [None, 0],
    "strict_mode": [None, 1, "yes"],
    "verbose_mode": [None, -1],
    "flaky": [None, "no"],
    "collected": [3, True, (), "results"],
    "fuse": [True, 3, "lexcial"],
    "fuse_weights": [3, "geometric", (-1, 1)],
    "profiles": [3, "domain", {}],
    "share": [None, 0],
    "max_concurrency": [None, 0],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in WRONG.items() for v in values])
def test_a_wrong_value_is_refused_when_built_and_when_set(name: str, value: Any) -> None:
    assert WRONG.keys()
    said = re.escape(repr(value))
    with pytest.raises(InvalidValueError, match=said):
        TCVAMetric(**{"model": "lexical", name: value})
    metric = TCVAMetric(model="lexical", temperature=0.3)
    before = dict(vars(metric))
    with pytest.raises(InvalidValueError, match=said):
        setattr(metric, name, value)
    assert vars(metric) == before


def test_nothing_is_opened_for_wrong_options(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    with pytest.raises(InvalidValueError, match="flaky=3"):
        TCVAMetric(model="lexical", store=path, flaky=3)
    assert not path.exists()


def test_unknown_options_fail_when_built() -> None:
    unknown: dict[str, Any] = {"temprature": 0.5}
    with pytest.raises(InvalidValueError, match=r"'temprature' of TCVAMetric; .* temperature"):
        TCVAMetric(model="lexical", **unknown)


FOLLOWED: dict[str, list[Any]] = {
    "threshold": [0.2, None],
    "strict_mode": [True],
    "async_mode": [False],
    "verbose_mode": [True],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in FOLLOWED.items() for v in vs])
def test_what_deepeval_or_its_users_set_is_followed(name: str, value: Any) -> None:
    llm = plenty()
    metric = TCVAMetric(model=llm)
    metric.measure(CASE)
    setattr(metric, name, value)
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, TCVAMetric)
    options: dict[str, Any] = {"model": llm, name: value}
    new = TCVAMetric(**options)
    assert new.measure(CASE) == metric.measure(CASE) == copied.measure(CASE)
    for other in (metric, copied):
        for same in ("reason", "success", "criteria", "threshold", *FOLLOWED, "__name__"):
            assert getattr(other, same) == getattr(new, same), same
        assert other.result is not None
        assert other.result.scoring == tcva_of(new).scoring


@pytest.mark.parametrize(
    "name", sorted({*inspect.signature(TCVAMetric).parameters} - FOLLOWED.keys())
)
def test_everything_else_is_frozen(name: str) -> None:
    metric = TCVAMetric(model="lexical")
    with pytest.raises(InvalidValueError, match=rf"{name}=.* changed\({name}=...\) gives a copy"):
        setattr(metric, name, getattr(metric, name))
    with pytest.raises(InvalidValueError, match=r"temprature=0.9; a built .* is not changed"):
        metric.temprature = 0.9
