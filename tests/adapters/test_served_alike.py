"""LangChain's gate and LlamaIndex' query engine serve the same, each in its own framework."""

import pytest

from benchmarks.modes import CASES, MODES, WAYS, langchain_cell, llamaindex_cell


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [n for n, case in CASES.items() if not case.is_object])
def test_both_serve_the_same(name: str, mode: str, way: str) -> None:
    by_gate = langchain_cell(mode, way, CASES[name])
    by_engine = llamaindex_cell(mode, way, CASES[name])
    if mode == "raise":
        # What was sent before stays with a stream; a dict that passes has no marks.
        is_raised = "BelowThresholdError" in by_engine
        assert ("BelowThresholdError" in by_gate) is is_raised
        assert is_raised or by_engine.startswith(by_gate)
    else:
        assert by_gate == by_engine
