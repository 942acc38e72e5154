"""Replies of judges, and forged and true quotes: read as before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden import names
from tests.golden.stored import changes, stored

SAME = 250
REPLIES: list[dict[str, Any]] = stored("replies")
QUOTES: dict[str, Any] = stored("quotes")


def _levels(verdicts: dict[str, list[str]]) -> dict[str, str]:
    return {number: level for number, (level, _) in verdicts.items()}


def test_no_reply_has_a_verdict_that_it_did_not_have() -> None:
    invented, same = [], 0
    for case in REPLIES:
        expected = _levels(case["verdicts"])
        found = _levels(names.verdicts_of(case["reply"], case["claims"]))
        same += found == expected
        if not found.items() <= expected.items():
            invented.append(f"{case['name']}: {expected} is {found} now")
    assert invented == []
    # An entry in changed.toml is a case that differs from what was written.
    assert same - sum(change["file"] == "replies" for change in changes()) >= SAME


def test_a_quote_is_read_with_its_verdict() -> None:
    for case in REPLIES:
        found = names.verdicts_of(case["reply"], case["claims"])
        for number in found.keys() & case["verdicts"].keys():
            assert found[number] == case["verdicts"][number], case["name"]


@pytest.mark.parametrize("kind", ["forged", "true"])
def test_quotes_are_lowered_or_not_as_before(kind: str) -> None:
    differing = [
        case["quote"]
        for case in QUOTES[kind]
        if names.is_lowered(case["claim"], case["quote"], QUOTES["passages"]) != case["lowered"]
    ]
    assert differing == []
