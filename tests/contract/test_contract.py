"""One contract, four adapters: the same replies give the same result, to the last bit."""

from __future__ import annotations

import pytest

from tcva_adapters import Result
from tcva_adapters.models.protocol import JudgeRequest
from tests.contract.adapters import ADAPTERS, Adapter, Run, reference
from tests.contract.scenarios import SCENARIOS, THROUGH, Scenario, outcome
from tests.contract.table import PAGE, page

TEMPERATURES = (0.1, 0.2, 0.5, 0.9, 1.0)


def _id(scenario: Scenario) -> str:
    return scenario.name.replace(", ", "-").replace(" ", "-")


every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=_id)
every_adapter = pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
every_scenario_in_its_faces = pytest.mark.parametrize(
    ("scenario", "asynchronous"),
    [
        pytest.param(scenario, face, id=f"{_id(scenario)}-{'async' if face else 'sync'}")
        for scenario in THROUGH
        for face in scenario.faces
    ],
)


@every_scenario
def test_the_reference_has_the_outcome_that_the_scenario_names(scenario: Scenario) -> None:
    results, _ = reference(scenario, retries=scenario.retried)
    assert [outcome(result) for result in results] == [case.outcome for case in scenario.cases]


@every_adapter
@every_scenario_in_its_faces
def test_contract(scenario: Scenario, adapter: Adapter, asynchronous: bool) -> None:
    retries = adapter.retries(scenario)
    expected, asked = reference(scenario, retries=retries)
    runs = adapter.run(scenario, asynchronous=asynchronous)
    assert runs
    for run in runs:
        assert len(run.results) == len(expected)
        for result, other in zip(run.results, expected, strict=True):
            _check_equal(result, other)
            own_id = other.assessment.sample_id if adapter.has_ids else None
            assert result.assessment.sample_id == own_id
        _check_asked(run, asked, retries=retries)


def _check_equal(result: Result, expected: Result) -> None:
    assert result.scoring == expected.scoring
    assert result.score == expected.score
    assert result.passed == expected.passed
    assert result.unscored == expected.unscored
    assert result.claims == expected.claims
    assert result.interval == expected.interval
    assert result.assessment.criterion == expected.assessment.criterion
    assert result.assessment.usage.calls == expected.assessment.usage.calls
    for temperature in TEMPERATURES:
        assert result.at(temperature).score == expected.at(temperature).score


def _check_asked(run: Run, asked: dict[str, list[JudgeRequest]], *, retries: bool) -> None:
    for question, requests in asked.items():
        prompts = run.script.prompts[question]
        if retries:
            assert len(prompts) > len(requests)
            assert len(set(prompts)) == len(requests)
            prompts = list(dict.fromkeys(prompts))
        assert len(prompts) == len(requests)
        for prompt, request in zip(prompts, requests, strict=True):
            # Frameworks put their own words for the roles before them, and nothing else.
            system, user = prompt.find(request.system), prompt.find(request.user)
            assert 0 <= system < user


def test_the_page_is_what_a_run_gives() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
