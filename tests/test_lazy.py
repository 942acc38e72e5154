"""What a folder needs of other packages: versions as they are written, and what is said of them."""

from __future__ import annotations

import importlib.metadata

import pytest

from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.frameworks import Requirement
from tcva_adapters.lazy import check


@pytest.mark.parametrize(
    ("installed", "enough"),
    [
        ("1.8", True),
        ("1.8rc1", True),
        ("1.10.0", True),
        ("2.0.dev3", True),
        ("1.8.0+cpu", True),
        ("1.7.9", False),
        ("1.7rc1", False),
        ("1", False),
        ("unknown", False),
    ],
)
def test_a_version_is_compared_by_its_numbers(
    monkeypatch: pytest.MonkeyPatch, installed: str, enough: bool
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: installed)
    needed = Requirement("some-package", "json", (1, 8), "some")
    if enough:
        check(needed)
        return
    with pytest.raises(
        MissingDependencyError,
        match=r"too old, 1\.8 is needed; pip install 'tcva-adapters\[some\]'",
    ):
        check(needed)
