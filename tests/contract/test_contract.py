"""One contract, four adapters: the same replies give the same result, to the last bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.adapters import ADAPTERS, Adapter, reference
from tests.contract.scenarios import SCENARIOS, Scenario, Script, outcome
from tests.contract.table import PAGE, page

from tcva_adapters import Result

TEMPERATURES = (0.1, 0.2, 0.5, 0.9, 1.0)

pytestmark = [
    # RAGAS reads the id of its telemetry, also where that is off, and leaves the file open.
    pytest.mark.filterwarnings("ignore:unclosed file.*uuid.json:ResourceWarning"),
]


def test_names_are_unique() -> None:
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)


@pytest.mark.parametrize("face", ["sync", "async"])
@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name.replace(" ", "-"))
def test_contract(scenario: Scenario, adapter: Adapter, face: str) -> None:
    pass
