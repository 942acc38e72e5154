"""Samples and replies that the tests of all four frameworks share."""

import re
from collections.abc import Sequence

from tcva_adapters import Sample
from tcva_adapters.ccrs import METRICS

PASSAGE = "The office opens at nine. Parking is free."

_SAID = (
    ("good", "When does the office open?", "At nine.", "At nine."),
    ("mute", "Is there a canteen?", "The judge says nothing about this one.", "No."),
    (
        "half",
        "When is it open, and where do I park?",
        "It opens at nine.",
        "At nine; it is free.",
    ),
)
SAMPLES = tuple(
    Sample(id=name, input=asked, response=said, contexts=(PASSAGE,), reference=right)
    for name, asked, said, right in _SAID
)
"""The judge gives no number to the second; the first is an exact match."""

RATINGS: dict[str, dict[str, float]] = {
    "good": {"cc": 95, "qr": 90, "id": 85, "ac": 80, "ir": 75},
    "half": {"cc": 70, "qr": 60.5, "id": 50, "ac": 40, "ir": 30},
}

SCORES: dict[str, dict[str, float | None]] = {
    # 0.7 * 1 + 0.3 * 0.80 for the exact match, 0.7 * 0 + 0.3 * 0.40 for the other.
    "good": {"cc": 0.95, "qr": 0.90, "id": 0.85, "ac": 0.94, "ir": 0.75},
    "mute": dict.fromkeys(METRICS),
    "half": {"cc": 0.70, "qr": 0.605, "id": 0.50, "ac": 0.12, "ir": 0.30},
}

_RESPONSE = re.compile(r"<<<RESPONSE \w+>>>\n(.*?)\n<<<END RESPONSE \w+>>>", re.DOTALL)


def asked_metric(prompt: str) -> str:
    """Which metric a prompt for one number is about."""
    return next(
        name for name, metric in METRICS.items() if metric.instruction in prompt
    )


def judge(prompt: str) -> str:
    """A judge that knows the samples; it wraps its number in JSON and a fence, as many do."""
    found = _RESPONSE.search(prompt)
    assert found is not None
    sample: Sample = next(s for s in SAMPLES if s.response == found[1])
    if sample.id == "mute":
        return "I cannot put a number on that."
    rating = RATINGS[str(sample.id)][asked_metric(prompt)]
    return f'```json\n{{"score": {rating}}}\n```'


def expected(metric: str, samples: Sequence[Sample] = SAMPLES) -> list[float | None]:
    """The scores of one metric, derived by hand."""
    return [SCORES[str(sample.id)][metric] for sample in samples]
