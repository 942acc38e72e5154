"""Temperatures by domain: what they are, and that they say what they are worth."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from tcva_adapters.core import temperature
from tcva_adapters.core.aggregation import aggregate, sweep
from tcva_adapters.core.temperature import DOMAINS, check_temperature
from tcva_adapters.errors import DomainWarning, InvalidValueError


@pytest.fixture(autouse=True)
def _not_told_yet() -> Iterator[None]:
    temperature._tell_of_domain.cache_clear()
    yield
    temperature._tell_of_domain.cache_clear()


# The paper, section 3.3, and the documentation of the library for law: each range's own preset.
@pytest.mark.parametrize(
    ("low", "high", "domains"),
    [
        (0.1, 0.3, {"medicine", "finance", "law", "security"}),
        (0.4, 0.6, {"corporate", "education"}),
        (0.7, 1.0, {"creative", "chat"}),
    ],
)
def test_each_lies_in_the_range_of_its_source(low: float, high: float, domains: set[str]) -> None:
    assert {name for name, t in DOMAINS.items() if low <= t <= high} == domains


def test_a_domain_is_its_number_and_warns_once() -> None:
    words = ["fully", "mostly", "minor"]
    with pytest.warns(DomainWarning, match=r"T=0.2 for 'medicine'.*no data.*tcva calibrate"):
        scored = aggregate(words, "medicine")
    assert scored == aggregate(words, 0.2)
    with warnings.catch_warnings(action="error"):
        assert sweep([[1, 1, 0, 1, 0]], ["medicine"])[0, 0] == scored
    with pytest.warns(DomainWarning, match="'chat'"):
        assert check_temperature("chat") == 0.9


def test_presets_and_numbers_warn_of_nothing() -> None:
    with warnings.catch_warnings(action="error"):
        assert [check_temperature(t) for t in ("strict", "0.3", 0.9)] == [0.2, 0.3, 0.9]


def test_an_unknown_domain_is_told_which_there_are() -> None:
    with pytest.raises(InvalidValueError, match=r"'aviation'.*strict.*medicine.*chat"):
        check_temperature("aviation")
