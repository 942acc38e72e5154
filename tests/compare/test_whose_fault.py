"""The example of a bot with known mistakes: each is found, and its part of the bot named."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA
from tcva_adapters.compare import diagnose

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "whose_fault.py"
# What the comments of the example say, by question.
MISTAKES = {
    "q2": {"relevant passage", "not used"},
    "q3": {"hallucination", "not used"},
    "q4": {"irrelevant passage", "not retrieved"},
    "q5": {"hallucination", "not retrieved"},
}


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


def test_each_mistake_of_the_bot_is_found_with_its_cause(
    example: dict[str, Any],
) -> None:
    samples = example["answers"]()
    results = {
        name: TCVA(name, judge="lexical").evaluate_many(samples)
        for name in example["CRITERIA"]
    }
    causes: dict[str, set[str]] = {}
    for claim in diagnose(results).records("claims"):
        causes.setdefault(claim["sample"], set()).add(claim["cause"])
    assert causes == MISTAKES


def test_it_runs_and_prints_causes_and_passages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("4 wrong claims: 1 from passages that also hold needed")
    assert (
        "2 not retrieved (retriever), 2 retrieved and not used (generator)" in printed
    )
    assert "q2 rests on card" in printed
    assert "q5 rests on no document" in printed
