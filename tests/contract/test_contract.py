"""One contract, all adapters: the same replies give the same result, to the last bit."""

from __future__ import annotations

import pytest

from tcva_adapters import Result
from tcva_adapters.models.protocol import JudgeRequest
from tests.adapters.table import Adapter, each_adapter
from tests.contract.adapters import Run, reference, run
from tests.contract.scenarios import SCENARIOS, THROUGH, Scenario, outcome

TEMPERATURES = (0.1, 0.2, 0.5, 0.9, 1.0)


def _id(scenario: Scenario) -> str:
    return scenario.name.replace(", ", "-").replace(" ", "-")


every_scenario_in_its_faces = pytest.mark.parametrize(
    ("scenario", "asynchronous"),
    [
        pytest.param(scenario, face, id=f"{_id(scenario)}-{'async' if face else 'sync'}")
        for scenario in THROUGH
        for face in scenario.faces
    ],
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=_id)
def test_the_reference_has_the_outcome_that_the_scenario_names(scenario: Scenario) -> None:
    results, _ = reference(scenario)
    assert [outcome(result) for result in results] == [case.outcome for case in scenario.cases]


@each_adapter
@every_scenario_in_its_faces
def test_contract(scenario: Scenario, adapter: Adapter, asynchronous: bool) -> None:
    expected, asked = reference(scenario)
    runs = run(adapter, scenario, asynchronous=asynchronous)
    assert runs
    for each in runs:
        assert len(each.results) == len(expected)
        for result, other in zip(each.results, expected, strict=True):
            _check_equal(result, other)
            own_id = other.assessment.sample_id if adapter.has_ids else None
            assert result.assessment.sample_id == own_id
        _check_asked(each, asked)


def _check_equal(result: Result, expected: Result) -> None:
    for name in ("scoring", "score", "passed", "unscored", "claims", "interval"):
        assert getattr(result, name) == getattr(expected, name)
    assert result.assessment.criterion == expected.assessment.criterion
    assert result.assessment.usage.calls == expected.assessment.usage.calls
    for temperature in TEMPERATURES:
        assert result.at(temperature).score == expected.at(temperature).score


def _check_asked(found: Run, asked: dict[str, list[JudgeRequest]]) -> None:
    for question, requests in asked.items():
        prompts = found.script.prompts[question]
        assert len(prompts) == len(requests)
        for prompt, request in zip(prompts, requests, strict=True):
            # Frameworks put their own words for the roles before them, and nothing else.
            system, user = prompt.find(request.system), prompt.find(request.user)
            assert 0 <= system < user
