"""The constraints file leaves all four frameworks importable beside each other."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tcva_adapters.diagnosis import Finding, inspect
from tcva_adapters.frameworks import REQUIREMENTS, Requirement

ROOT = Path(__file__).resolve().parents[1]


# Ray is no part of the extra `all`, which is what tests run with; tests/scale has its own environment.
TOGETHER = [each for each in REQUIREMENTS if each.extra != "ray"]


@pytest.mark.slow
@pytest.mark.parametrize("requirement", TOGETHER, ids=lambda r: r.distribution)
def test_every_extra_imports(requirement: Requirement) -> None:
    finding = inspect(requirement)
    assert finding.version is not None, finding.fix
    assert not finding.is_broken, finding.fault


def test_every_extra_is_looked_at() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"all", "dev", "docs"}
    assert {requirement.extra for requirement in REQUIREMENTS} == extras


def test_a_missing_package_names_its_extra() -> None:
    finding = inspect(Requirement("no-such-distribution", "no_such_module", (1,), "ragas"))
    assert finding == Finding(
        "no-such-distribution", None, fix="pip install 'tcva-adapters[ragas]'"
    )


def test_a_broken_package_shows_the_fault() -> None:
    finding = inspect(Requirement("numpy", "numpy.no_such_part", (1,), "stats"))
    assert finding.is_broken
    assert "no_such_part" in finding.fault
    assert "[stats]" in finding.fix
