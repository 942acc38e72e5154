"""The bounds of pyproject.toml, and everything that repeats them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tcva_adapters.frameworks import REQUIREMENTS, Requirement

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = dict(
    line.lower().replace("_", "-").split("==")
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
)
BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[\w+\])?>=(?P<oldest>[\d.]+)(?:,<(?P<below>[\d.]+))?")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def bounds(*requirements: str) -> dict[str, re.Match[str]]:
    found = [BOUND.fullmatch(requirement) for requirement in requirements]
    return {match["name"]: match for match in found if match is not None}


@pytest.mark.parametrize("need", REQUIREMENTS, ids=lambda need: need.distribution)
def test_the_registry_states_the_bounds_of_the_extras(need: Requirement) -> None:
    stated = bounds(*PROJECT["optional-dependencies"][need.extra])[need.distribution]
    assert numbers(stated["oldest"]) == need.oldest


def test_the_tested_versions_are_within_the_bounds() -> None:
    stated = bounds(
        *PROJECT["dependencies"],
        *(need for extra in PROJECT["optional-dependencies"].values() for need in extra),
    )
    assert len(stated) > 20
    for name, bound in stated.items():
        tested = numbers(CONSTRAINTS[name])
        assert numbers(bound["oldest"]) <= tested, name
        assert bound["below"] is None or tested < numbers(bound["below"]), name


@pytest.mark.parametrize("need", REQUIREMENTS, ids=lambda need: need.distribution)
def test_install_hints_name_the_tested_versions(need: Requirement) -> None:
    for pin in need.tested.split():
        name, _, version = pin.partition("==")
        assert CONSTRAINTS[name] == version
