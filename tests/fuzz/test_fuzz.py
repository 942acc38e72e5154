"""A few inputs for each target; `make long` tries many."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tcva_adapters.errors import TCVAError
from tests.fuzz.targets import TARGETS


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
# The same inputs in each run: what the long run finds is kept as an example of a test beside it.
@settings(max_examples=40, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_nothing_but_an_error_of_ours_is_raised(name: str, data: st.DataObject) -> None:
    target = TARGETS[name]
    with contextlib.suppress(TCVAError):
        target.check(data.draw(target.given))
