"""Every command still prints the figures of the golden file, in whatever layout."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.golden.figures import QUESTIONS, SETS, figures, prepare
from tests.golden.stored import HERE, original

pytestmark = pytest.mark.slow
CLOSE = 1e-9


MOVED = tomllib.loads((HERE / "changed.toml").read_text(encoding="utf-8")).get("moved", [])


def _is_right(where: str, expected: Any, found: Any) -> bool:
    moved = [entry for entry in MOVED if fnmatch(where, entry["where"])]
    if any("most" not in entry for entry in moved):
        return True
    if isinstance(expected, int | float) and isinstance(found, int | float):
        most = max((entry["most"] for entry in moved), default=CLOSE)
        return bool(np.isclose(found, expected, rtol=CLOSE, atol=most, equal_nan=True))
    return bool(expected == found)


@pytest.fixture(scope="session", params=SETS)
def prepared(request: pytest.FixtureRequest, tmp_path_factory: Any) -> tuple[str, Path]:
    pytest.importorskip("scipy.stats", reason="the extra stats")
    folder = tmp_path_factory.mktemp(request.param)
    if not prepare(request.param, folder):
        pytest.skip(f"no data of {request.param}")
    return request.param, folder


@pytest.mark.parametrize("question", QUESTIONS)
def test_figures_are_those_of_the_golden_file(question: str, prepared: tuple[str, Path]) -> None:
    name, folder = prepared
    found = figures(question, name, folder)
    expected = original("figures")[name][question]
    # A figure that is null is one that is not offered, be its key there or not.
    wrong = {
        key: (value, found.get(key))
        for key, value in expected.items()
        if not _is_right(f"{name}/{question}/{key}", value, found.get(key))
    }
    assert not wrong, "\n".join(f"{key}: {old} is {new} now" for key, (old, new) in wrong.items())


def test_what_has_moved_says_why() -> None:
    assert all(set(entry) - {"most"} == {"where", "why"} and entry["why"] for entry in MOVED)
