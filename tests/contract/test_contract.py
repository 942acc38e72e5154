"""One contract, all adapters: the same replies give the same result, to the last bit."""

from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Config, Panel, Result
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.models.judge_model import JudgeRequest
from tests.adapters.table import Adapter, both_ways, each_adapter
from tests.contract.adapters import SAMPLES, Run, reference, run
from tests.contract.scenarios import SCENARIOS, THROUGH, Scenario, outcome
from tests.support.scripted import ScriptedModel, verdict_json

TEMPERATURES = (0.1, 0.2, 0.5, 0.9, 1.0)


def _id(scenario: Scenario) -> str:
    return scenario.name.replace(", ", "-").replace(" ", "-")


every_scenario_in_its_faces = pytest.mark.parametrize(
    ("scenario", "asynchronous"),
    [
        pytest.param(
            scenario, face, id=f"{_id(scenario)}-{'async' if face else 'sync'}"
        )
        for scenario in THROUGH
        for face in scenario.faces
    ],
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=_id)
def test_the_reference_has_the_outcome_that_the_scenario_names(
    scenario: Scenario,
) -> None:
    results, _ = reference(scenario)
    assert [outcome(result) for result in results] == [
        case.outcome for case in scenario.cases
    ]


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


REPLY = verdict_json(
    (1, "fully", "opens at nine"), (2, "partial", "is free for visitors")
)
OTHER = verdict_json(
    (1, "mostly", "opens at nine"), (2, "minor", "is free for visitors")
)


def ours(**options: Any) -> list[Result]:
    model = ScriptedModel([REPLY] * len(SAMPLES))
    return TCVA(judge=model, **options).evaluate_many(SAMPLES)


def theirs(adapter: Adapter, asynchronous: bool = False, **options: Any) -> list[Any]:
    evaluator = adapter.built(adapter.llm(lambda _: REPLY), **options)
    (results,) = adapter.suite([evaluator], SAMPLES, asynchronous)
    return results


def scores(results: list[Any]) -> list[float | None]:
    return [result.score for result in results]


@each_adapter
@both_ways
def test_fused_scores_are_the_same_to_the_last_bit(
    adapter: Adapter, asynchronous: bool
) -> None:
    def fused() -> dict[str, Any]:
        second = TCVA(
            judge=ScriptedModel([OTHER] * len(SAMPLES), name="scripted:second")
        )
        return {"fuse": [second, "lexical"], "fuse_weights": (2.0, 1.0, 1.0)}

    expected = ours(**fused())
    assert scores(expected) != scores(ours())
    results = theirs(adapter, asynchronous, **fused())
    assert scores(results) == scores(expected)
    assert [len(r.assessment.members) for r in results] == [2] * len(SAMPLES)
    assert scores([r.at(0.2) for r in results]) == scores([r.at(0.2) for r in expected])


@each_adapter
def test_repeats_and_panels_are_the_same_everywhere(adapter: Adapter) -> None:
    def repeated() -> ScriptedModel:
        return ScriptedModel([REPLY, OTHER, REPLY])

    expected = TCVA(judge=repeated(), repeats=3).evaluate(SAMPLES[0])
    result: Any = adapter.score(adapter.built(repeated(), repeats=3), SAMPLES[0])
    assert result.score == expected.score
    assert [len(each.assessment.claims) for each in result.repeats] == [2, 2, 2]
    assert {each.score for each in result.repeats} == {
        each.score for each in expected.repeats
    }
    assert result.usage.calls == 3
    expected = TCVA(judge=panel()).evaluate(SAMPLES[0])
    result = adapter.score(adapter.built(panel()), SAMPLES[0])
    for name in ("score", "claims", "interval", "weights", "reason"):
        assert getattr(result, name) == getattr(expected, name)
    assert result.at("strict").interval == expected.at("strict").interval
    names = ["scripted:one", "scripted:two", "lexical/6"]
    assert [each.judge for each in result.assessment.panel] == names


def panel() -> Panel:
    """Two scripted models and the lexical judge."""
    texts = {"scripted:one": REPLY, "scripted:two": OTHER}
    models = [ScriptedModel([text], name=name) for name, text in texts.items()]
    return Panel([*map(LLMJudge, models), "lexical"], combine="fused")


@each_adapter
def test_every_drop_in_is_built_from_a_file(tmp_path: Path, adapter: Adapter) -> None:
    def inside(**options: Any) -> TCVA:
        drop_in = adapter.drop_in.from_config(
            path, **{adapter.judge: "lexical", **options}
        )
        assert isinstance(drop_in.scorer, TCVA)
        return drop_in.scorer

    path = tmp_path / "tcva.json"
    settings = {"temperature": 0.7, "scheme": "linear", "penalty": "off"}
    config = Config(criterion="answer_relevancy", settings=settings)
    config.dump(path)
    tcva = inside(threshold=0.6)
    assert tcva.criterion.name == "answer_relevancy"
    assert tcva.scoring == TCVA.from_config(path, threshold=0.6).scoring

    strict = {"domain": {"medical": "strict"}}
    config.model_copy(update={"profiles": strict}).dump(path)
    one = inside(temperature=0.3)
    assert (one.scoring.temperature, one.profiles) == (0.3, None)
    if "profiles" in adapter.leaves_out:  # the framework's samples have no metadata
        with pytest.raises(InvalidValueError, match=r"temperature="):
            inside()
    else:
        assert inside().profiles is not None


@each_adapter
def test_profiles_follow_metadata_where_a_framework_has_it(adapter: Adapter) -> None:
    if "profiles" in adapter.leaves_out:
        pytest.skip("its samples have no metadata")
    config = Config(profiles={"domain": {"medical": "strict"}})
    evaluator = adapter.drop_in.from_config(config, **{adapter.judge: "lexical"})
    medical = SAMPLES[0].model_copy(update={"metadata": {"domain": "medical"}})
    for sample, dial in ((medical, "strict"), (SAMPLES[0], 0.5)):
        expected = TCVA(judge="lexical", temperature=dial).evaluate(sample)
        assert adapter.score(evaluator, sample).score == expected.score
