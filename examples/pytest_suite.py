"""TCVA in a pytest suite: each answer, all answers together, and results that you have already.

    pytest examples/pytest_suite.py
    TCVA_JUDGE=openai:gpt-4.1-mini pytest examples/pytest_suite.py

The first command needs no network: the answers are fixed below, and the lexical judge compares words.
The second command asks a model; it needs OPENAI_API_KEY. Its verdicts are cached, so a second run
makes no call.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.report import Suite

JUDGE = os.environ.get("TCVA_JUDGE", "lexical")
SETTINGS: dict[str, Any] = {"judge": JUDGE}
if JUDGE != "lexical":
    SETTINGS["store"] = ".tcva/verdicts.sqlite"

CONTEXTS = [
    "The bakery opens at six on weekdays and at seven on Saturdays. It is closed on Sundays.",
    "Cakes are made to order. An order is taken up to two days before.",
]
SAMPLES = [
    Sample(
        id="opening",
        input="When does the bakery open on Saturdays?",
        response="The bakery opens at seven on Saturdays.",
        contexts=CONTEXTS,
    ),
    Sample(
        id="cakes",
        input="How do I get a cake?",
        response="Cakes are made to order. An order is taken up to two days before.",
        contexts=CONTEXTS,
    ),
]

# The settings of all tests in this file. A marker on a test overrides them.
pytestmark = pytest.mark.tcva(criterion="faithfulness", threshold=0.5, **SETTINGS)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: str(sample.id))
def test_each_answer_is_grounded(tcva: Suite, sample: Sample) -> None:
    """Fails with the claims that the contexts do not support."""
    tcva.check(sample)


@pytest.mark.tcva(temperature="strict", gates=["mean>=0.8", "coverage>=1"])
def test_all_answers_together(tcva: Suite) -> None:
    """Gates look at the figures of all samples. Each sample is judged once for both tests."""
    tcva.check(SAMPLES)


def test_results_that_exist_already(tcva: Suite) -> None:
    """Results of another evaluator are checked and reported in the same way."""
    judged = TCVA("answer_relevancy", **SETTINGS).evaluate_many(SAMPLES, progress=False)
    tcva.check(judged, gates="mean>=0.1")
