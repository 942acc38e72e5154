"""The optional packages: their bounds in pyproject.toml, and what is said of one that does not work."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

from tcva_adapters.diagnosis import inspect
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.frameworks import REQUIREMENTS, Requirement
from tcva_adapters.lazy import check

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[\w+\])?>=(?P<oldest>[\d.]+)(?:,<(?P<below>[\d.]+))?")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def test_the_registry_states_the_bounds_of_the_extras_and_constraints_are_within() -> None:
    assert REQUIREMENTS.keys() == EXTRAS.keys() - {"all", "dev", "docs"}
    every = [*PROJECT["dependencies"], *(need for extra in EXTRAS.values() for need in extra)]
    stated = {found["name"]: found for found in map(BOUND.fullmatch, every) if found}
    assert len(stated) > 20
    for need in REQUIREMENTS.values():
        assert numbers(stated[need.distribution]["oldest"]) == need.oldest
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    constraints = dict(line.lower().replace("_", "-").split("==") for line in lines)
    for name, bound in stated.items():
        tested = numbers(constraints[name])
        assert numbers(bound["oldest"]) <= tested, name
        assert bound["below"] is None or tested < numbers(bound["below"]), name


@pytest.mark.slow
def test_what_is_missing_or_broken_names_its_extra() -> None:
    fix = "pip install 'tcva-adapters[ragas]'"
    missing = inspect(Requirement("no-such", "no_such", (1,), "ragas"))
    assert missing == {"package": "no-such", "version": None, "state": f"not installed: {fix}"}
    broken = inspect(Requirement("numpy", "numpy.no_such_part", (1,), "ragas"))
    assert broken["state"].startswith("broken: ")
    assert "no_such_part" in broken["state"]
    assert broken["state"].endswith(fix)


def test_a_version_is_compared_by_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = Requirement("some-package", "json", (1, 8), "some")
    for installed in ("1.8", "1.8rc1", "1.10.0", "1.8.0+cpu"):
        monkeypatch.setattr(importlib.metadata, "version", lambda _, found=installed: found)
        check(needed)
    for installed in ("1.7.9", "1.7rc1", "1", "unknown"):
        monkeypatch.setattr(importlib.metadata, "version", lambda _, found=installed: found)
        with pytest.raises(MissingDependencyError, match=r"1\.8.*pip install"):
            check(needed)
