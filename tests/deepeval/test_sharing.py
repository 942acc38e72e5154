"""One judgement for every view in DeepEval's own runner. The judge says something else each time."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from deepeval.test_case import LLMTestCase

from tcva_adapters import CCRS, Sample, clear_shared
from tcva_adapters.deepeval import (
    ScorerMetric,
    TCVAMetric,
    as_judge_model,
    results_of,
)
from tcva_adapters.models.protocol import identity_of_model
from tests.deepeval.entry import ScriptedLLM, case_of, evaluated
from tests.support.scripted import verdict_json

TEMPERATURES = (0.2, 0.5, 0.9)
WORDS = ("fully", "mostly", "partial", "minor", "none")
both_ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


class Varying(ScriptedLLM):  # type: ignore[no-untyped-call]  # as its base class
    """A judge of two claims whose words change from call to call, and whose calls have a price."""

    def __init__(self) -> None:
        numbers = itertools.count()
        super().__init__(lambda _: self.verdicts(next(numbers)))

    @staticmethod
    def verdicts(number: int) -> str:
        first, second = WORDS[number % 5], WORDS[number * 3 % 5]
        return verdict_json((1, first, "The office opens"), (2, second, "Parking"))

    def generate(self, prompt: str) -> Any:
        return super().generate(prompt), 0.01

    async def a_generate(self, prompt: str) -> Any:
        return self.generate(prompt)


def cases(count: int = 6) -> list[LLMTestCase]:
    notes = [f"Note {n}. The office opens at nine. Parking is free." for n in range(count)]
    return [
        case_of(
            Sample(
                input="When?",
                response="The office opens at nine. Parking is free.",
                contexts=(note,),
                id=f"s{number}",
            )
        )
        for number, note in enumerate(notes)
    ]


def suite(**settings: Any) -> list[TCVAMetric]:
    return [TCVAMetric(temperature=each, **settings) for each in TEMPERATURES]


def rows(evaluation: Any, metrics: list[TCVAMetric]) -> list[tuple[Any, ...]]:
    """The results of each test case, by temperature."""
    return list(zip(*(results_of(evaluation, metric.name) for metric in metrics), strict=True))


@both_ways
@pytest.mark.parametrize("with_store", [False, True], ids=["without a store", "one store"])
def test_three_temperatures_are_one_call_a_test_case(
    asynchronous: bool, with_store: bool, tmp_path: Any
) -> None:
    llm = Varying()
    store = tmp_path / "verdicts.sqlite" if with_store else None
    metrics = suite(model=llm, store=store)
    found = rows(evaluated(cases(), metrics, asynchronous=asynchronous), metrics)
    assert len(llm.prompts) == 6
    for results in found:
        scores = [result.score for result in results]
        assert scores == sorted(scores)
        assert all(result.assessment == results[0].assessment for result in results)
    if metrics[0].scorer.store is not None:
        metrics[0].scorer.store.close()


@both_ways
def test_each_call_is_booked_once(asynchronous: bool) -> None:
    metrics = suite(model=Varying())
    evaluation = evaluated(cases(), metrics, asynchronous=asynchronous)
    data = [each for test in evaluation.test_results for each in test.metrics_data or ()]
    assert sum(each.evaluation_cost or 0.0 for each in data) == pytest.approx(0.06)
    assert sorted(each.evaluation_cost or 0.0 for each in data) == [0.0] * 12 + [0.01] * 6


@both_ways
def test_a_store_hit_costs_nothing(asynchronous: bool, tmp_path: Any) -> None:
    llm = Varying()
    metric = TCVAMetric(model=llm, store=tmp_path / "verdicts.sqlite")
    for costs in ([0.01] * 6, [0.0] * 6):
        evaluation = evaluated(cases(), [metric], asynchronous=asynchronous)
        data = [each for test in evaluation.test_results for each in test.metrics_data or ()]
        assert [each.evaluation_cost for each in data] == costs
        clear_shared()
    assert [(d.input_tokens, d.output_tokens) for d in data] == [(0, 0)] * 6
    assert len(llm.prompts) == 6
    assert metric.scorer.store is not None
    metric.scorer.store.close()


@both_ways
def test_equal_test_cases_are_one_call_and_independent_ones_are_to_be_had(
    asynchronous: bool,
) -> None:
    llm = Varying()
    evaluated(cases(1) * 3, [TCVAMetric(model=llm)], asynchronous=asynchronous)
    assert len(llm.prompts) == 1
    metrics = suite(model=llm, share=False)
    evaluated(cases(2), metrics, asynchronous=asynchronous)
    assert len(llm.prompts) == 1 + 2 * 3


def test_ratings_are_shared_as_well() -> None:
    llm = ScriptedLLM(lambda _: "80")
    scorer = CCRS("qr", judge=llm)
    metrics = [ScorerMetric(scorer, threshold=t, name=f"from {t}") for t in (0.5, 0.9)]
    evaluated(cases(2), metrics)  # the two differ in contexts, which this metric does not look at
    assert len(llm.prompts) == 1


# LLMs that DeepEval makes from a name


def identity(metric: TCVAMetric) -> object:
    model = as_judge_model(metric.model)
    assert model is not None
    return identity_of_model(model).key


def test_equal_names_are_the_same_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one-1234567890")
    one, two = TCVAMetric(model="gpt-4o"), TCVAMetric(model="gpt-4o", temperature=0.9)
    assert one.model is not two.model
    assert identity(one) == identity(two) == identity(one.changed(temperature=0.2))
    assert "sk-one" not in repr(identity(one))
    others = [TCVAMetric(model="gpt-4o-mini")]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    others.append(TCVAMetric(model="gpt-4o"))
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-two-1234567890")
    others.append(TCVAMetric(model="gpt-4o"))
    assert len({identity(metric) for metric in [one, *others]}) == 4
    warmer = TCVAMetric(model="gpt-4o")
    warmer.model.temperature = 0.7
    assert identity(warmer) != identity(others[-1])


def test_an_llm_object_of_the_user_s_is_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one-1234567890")
    made = type(TCVAMetric(model="gpt-4o").model)
    one, two = (TCVAMetric(model=made("gpt-4o")) for _ in range(2))
    assert identity(one) != identity(two)
    assert identity(one) == identity(one.changed(temperature=0.2))
