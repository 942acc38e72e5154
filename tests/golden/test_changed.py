"""The list of what has changed on purpose is right about what was before."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.golden.stored import changes, original, parts

ENTRIES = changes()


@pytest.mark.parametrize("change", ENTRIES, ids=[f"{c['file']}.{c['where']}" for c in ENTRIES])
def test_an_entry_names_the_old_value_and_a_reason(change: dict[str, str]) -> None:
    assert set(change) == {"file", "where", "old", "new", "why"}
    value: Any = original(change["file"])
    for part in parts(change["where"]):
        value = value[part]
    value = value.item() if isinstance(value, np.generic) else value
    assert json.dumps(value) == json.dumps(json.loads(change["old"]))
    assert json.loads(change["new"]) != value
    assert change["why"].strip()
    assert "\n" not in change["why"]
