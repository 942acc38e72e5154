"""One judgement for every view of a suite. The judge says something else each time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tcva_adapters import CCRS, Sample, clear_shared
from tcva_adapters.results.protocol import Scored
from tests.adapters.table import Adapter, both_ways, each_adapter
from tests.support.scripted import Declared, verdict_json

TEMPERATURES = (0.2, 0.5, 0.9)
WORDS = ("fully", "mostly", "partial", "minor", "none")
TEXT = "The office opens at nine. Parking is free."
SAMPLES = [
    Sample(input="When?", response=TEXT, contexts=(f"Note {n}. {TEXT}",))
    for n in range(6)
]


class Varying:
    """Replies with other levels each time.

    Attributes:
        calls: How often it was asked.
    """

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _: str) -> str:
        self.calls += 1
        first, second = (WORDS[n % 5] for n in (self.calls, self.calls * 3))
        return verdict_json((1, first, "The office opens"), (2, second, "Parking is"))


def suite(adapter: Adapter, llm: Any, **settings: Any) -> list[Any]:
    return [adapter.built(llm, temperature=each, **settings) for each in TEMPERATURES]


def check_are_views(rows: Sequence[Sequence[Scored]], paid: int) -> None:
    """Three views of six judgements, of which so many were paid for now."""
    assert [len(row) for row in rows] == [6] * 3
    for views in zip(*rows, strict=True):
        scores = [view.score for view in views]
        assert None not in scores
        assert scores == sorted(scores)
        assert len({view.claims for view in views}) == 1
    assert sum(view.usage.calls for row in rows for view in row) == paid


@each_adapter
@both_ways
def test_three_views_of_six_samples_are_six_calls(
    adapter: Adapter, asynchronous: bool
) -> None:
    varying = Varying()
    llm = adapter.llm(varying)
    check_are_views(adapter.suite(suite(adapter, llm), SAMPLES, asynchronous), paid=6)
    check_are_views(adapter.suite(suite(adapter, llm), SAMPLES, asynchronous), paid=0)
    assert varying.calls == 6


@each_adapter
@both_ways
def test_with_a_store_and_without(
    adapter: Adapter, asynchronous: bool, tmp_path: Path
) -> None:
    varying = Varying()
    llm = Declared(adapter.llm(varying), adapter.name.split()[0])
    evaluators = suite(adapter, llm, store=tmp_path / "verdicts.sqlite")
    for paid in (6, 0):
        check_are_views(adapter.suite(evaluators, SAMPLES, asynchronous), paid=paid)
        clear_shared()
    assert varying.calls == 6
    alone = suite(adapter, adapter.llm(varying), share=False)
    adapter.suite(alone, SAMPLES[:2], asynchronous)
    assert varying.calls == 6 + 2 * 3


@each_adapter
def test_ratings_at_two_thresholds_are_one_call(adapter: Adapter) -> None:
    def name(threshold: float) -> dict[str, str]:
        return {"name": f"from {threshold}"} if adapter.named else {}

    llm = adapter.llm(lambda _: '{"score": 80}')
    scored = [CCRS("qr", judge=llm, threshold=each) for each in (0.5, 0.9)]
    evaluators = [adapter.scoring(each, **name(each.threshold)) for each in scored]
    # Samples that differ in contexts alone, which this metric does not look at.
    rows = adapter.suite(evaluators, SAMPLES[:2], False)
    assert [[result.passed for result in row] for row in rows] == [
        [True] * 2,
        [False] * 2,
    ]
    assert len(llm.prompts) == 1
