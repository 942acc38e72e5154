"""Ten samples with a scripted judge: the same through TCVA, all faces and a panel, as before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.table import ADAPTERS
from tests.golden import adapters
from tests.golden.stored import differences, stored

GOLDEN: dict[str, Any] = stored("adapters")


def _compare(results: list[Any]) -> None:
    found = [adapters.plain(result) for result in results]
    assert differences(GOLDEN["results"], found) == []


def test_tcva() -> None:
    _compare(adapters.reference())


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_an_adapter(adapter: Any, asynchronous: bool) -> None:
    _compare(adapters.through(adapter.name, asynchronous=asynchronous))


@pytest.mark.parametrize("face", adapters.FACES)
def test_a_further_face(face: str) -> None:
    _compare(adapters.FACES[face]())


@pytest.mark.parametrize("framework", adapters.NATIVES)
def test_fields_of_the_frameworks_own_results(framework: str) -> None:
    found = adapters.NATIVES[framework]()
    assert differences(GOLDEN["natives"][framework], found) == []


@pytest.mark.parametrize("combine", ["median", "fused"])
def test_a_panel(combine: str) -> None:
    assert differences(GOLDEN["panels"][combine], adapters.panels(combine)) == []
