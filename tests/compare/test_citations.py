"""Citations over samples: means with intervals over groups, and the claims to check."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.compare import read_scores
from tcva_adapters.compare.scores.passages import passage_tables
from tcva_adapters.stats.inference import estimate

CONTEXTS = (
    "The museum opens at nine in the morning.",
    "Entry is free for children.",
    "Dogs must stay outside the museum.",
)
ANSWERS = [
    "The museum opens at nine in the morning [1]. Entry is free for children [2].",
    "The museum opens at nine in the morning [2]. Entry is free for children [2].",
    "Dogs must stay outside the museum [9]. Entry is free for children.",
    "Entry is free for children.",
    "Whales sing operas underwater nightly [1].",
] * 3
SAMPLES = [
    Sample(id=str(n), response=answer, contexts=CONTEXTS, metadata={"topic": n % 4})
    for n, answer in enumerate(ANSWERS)
]


@pytest.mark.parametrize("group", [None, "topic"])
def test_the_means_are_those_of_the_answers_that_have_them(group: str | None) -> None:
    results = TCVA(judge="lexical").evaluate_many(SAMPLES)
    table = read_scores(results, group=group)
    passages, _, to_check = passage_tables(table, SAMPLES)
    records = {record["measure"]: record for record in passages.records}
    groups = [n % 4 for n in range(len(SAMPLES))] if group else None
    for name, values in {
        "citation precision": [1.0, 0.5, 0.0, np.nan, np.nan] * 3,
        "citation recall": [1.0, 0.5, 0.0, np.nan, np.nan] * 3,
    }.items():
        expected = estimate("mean", values, groups)
        record = records[name]
        assert record["samples"] == 9
        assert record["mean"] == pytest.approx(expected.value, abs=1e-12)
        assert record["mean_low"] == pytest.approx(expected.low, abs=1e-12, nan_ok=True)
    assert not passages.detail
    outcomes = [(record["sample"], record["outcome"]) for record in to_check.records]
    assert outcomes == [
        (str(5 * n + k), outcome)
        for n in range(3)
        for k, outcome in ((1, "elsewhere"), (2, "broken"), (2, "missing"))
    ]


def test_nothing_is_said_where_no_answer_cites() -> None:
    samples = [sample for sample in SAMPLES if "[" not in str(sample.response)]
    table = read_scores(TCVA(judge="lexical").evaluate_many(samples))
    passages, _, to_check = passage_tables(table, samples)
    assert not to_check.records
    assert passages.detail
    assert not [r for r in passages.records if "citation" in r["measure"]]


def test_other_criteria_keep_their_passages() -> None:
    samples = [
        sample.model_copy(update={"reference": "Entry is free for children."})
        for sample in SAMPLES
    ]
    table = read_scores(TCVA("context_recall", judge="lexical").evaluate_many(samples))
    passages, _, to_check = passage_tables(table, samples)
    assert not to_check.records
    assert {record["measure"] for record in passages.records} >= {"passages used"}
