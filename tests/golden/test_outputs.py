"""Verdicts, replies and sentences are those of the golden files, but for what changed.toml names."""

import tomllib
from typing import Any, Final

import pytest

from tests.golden.outputs import FOLDER, OUTPUTS, differing, matching

_TEXT: Final = (FOLDER / "changed.toml").read_text(encoding="utf-8")
CHANGED: Final[list[dict[str, Any]]] = tomllib.loads(_TEXT).get("changed", [])


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_those_of_the_golden_file_but_for_intended_changes(
    name: str,
) -> None:
    keys = differing(name)
    patterns = [
        pattern
        for change in CHANGED
        for pattern in change["keys"]
        if change["file"] == name
    ]
    unlisted = [
        key for key in keys if not any(matching([key], pattern) for pattern in patterns)
    ]
    assert not unlisted, unlisted
    # An entry that names no difference any more is to go.
    stale = [pattern for pattern in patterns if not matching(keys, pattern)]
    assert not stale, stale


def test_every_change_has_a_reason() -> None:
    for change in CHANGED:
        assert change["file"] in OUTPUTS
        assert len(change["reason"].splitlines()) == 1
