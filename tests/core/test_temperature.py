"""The map from temperature to exponent, and temperatures by name."""

from __future__ import annotations

import warnings

import pytest

from tcva_adapters.core import temperature
from tcva_adapters.core.aggregation import aggregate, sweep
from tcva_adapters.core.temperature import DOMAINS, PRESETS, check_temperature, exponent
from tcva_adapters.errors import DomainWarning


def test_other_bounds() -> None:
    # Half way from 0 to 2 lies half way from -1 to 3.
    assert exponent(0.75, p_min=-1, p_max=3, t_min=0, t_max=1.5) == 1.0


def test_presets_and_numbers_warn_of_nothing() -> None:
    with warnings.catch_warnings(action="error"):
        assert [check_temperature(t) for t in ("strict", "0.25", 0.9)] == [0.2, 0.25, 0.9]
        assert list(PRESETS) == ["strict", "balanced", "lenient"]
        assert exponent("strict") < exponent("balanced") == 1.0 < exponent("lenient")


# The paper, section 3.3, and the documentation of the library for law: each range's own preset.
@pytest.mark.parametrize(
    ("low", "high", "domains"),
    [
        (0.1, 0.3, {"medicine", "finance", "law", "security"}),
        (0.4, 0.6, {"corporate", "education"}),
        (0.7, 1.0, {"creative", "chat"}),
    ],
)
def test_each_domain_lies_in_the_range_of_its_source(
    low: float, high: float, domains: set[str]
) -> None:
    assert {name for name, t in DOMAINS.items() if low <= t <= high} == domains


def test_a_domain_is_its_number_and_warns_once() -> None:
    temperature._tell_of_domain.cache_clear()
    words = ["fully", "mostly", "minor"]
    with pytest.warns(DomainWarning, match=r"T=0.2 for 'medicine'.*no data.*tcva calibrate"):
        scored = aggregate(words, "medicine")
    assert scored == aggregate(words, 0.2)
    with warnings.catch_warnings(action="error"):
        assert sweep([[1, 1, 0, 1, 0]], ["medicine"])[0, 0] == scored
    with pytest.warns(DomainWarning, match="'chat'"):
        assert check_temperature("chat") == 0.9
    temperature._tell_of_domain.cache_clear()
