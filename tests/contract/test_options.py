"""Further judges, panels and configuration files: the same in all four adapters and in TCVA."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Config, Panel, Result
from tcva_adapters.core import temperature
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.errors import DomainWarning, InvalidValueError
from tcva_adapters.judges.llm import LLMJudge
from tests.contract.adapters import ADAPTERS, SAMPLES, Adapter
from tests.contract.drop_ins import DROP_INS
from tests.support.scripted import ScriptedModel, verdict_json

REPLY = verdict_json((1, "fully", "opens at nine"), (2, "partial", "is free for visitors"))
OTHER = verdict_json((1, "mostly", "opens at nine"), (2, "minor", "is free for visitors"))

REPLIES = [REPLY, OTHER, REPLY]


def reply(_prompt: str) -> str:
    return REPLY


def second() -> TCVA:
    return TCVA(judge=ScriptedModel([OTHER] * len(SAMPLES), name="scripted:second"))


def ours(**options: Any) -> list[Result]:
    model = ScriptedModel([REPLY] * len(SAMPLES))
    return TCVA(judge=model, **options).evaluate_many(SAMPLES)


def scores(results: list[Result]) -> list[float | None]:
    return [result.score for result in results]


each_adapter = pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)


@each_adapter
def test_fused_scores_are_the_same_to_the_last_bit(adapter: Adapter) -> None:
    def fused() -> dict[str, Any]:
        return {"fuse": [second(), "lexical"], "fuse_weights": (2.0, 1.0, 1.0)}

    expected = ours(**fused())
    assert scores(expected) != scores(ours())
    for asynchronous in (False, True):
        results = adapter.entry().run(SAMPLES, reply, asynchronous=asynchronous, **fused())
        assert scores(results) == scores(expected)
        assert [len(r.assessment.members) for r in results] == [2] * len(SAMPLES)
        assert scores([r.at(0.2) for r in results]) == scores([r.at(0.2) for r in expected])


@pytest.mark.parametrize("judged", DROP_INS)
def test_repeats_and_panels_are_the_same_everywhere(judged: Callable[..., Result]) -> None:
    expected = TCVA(judge=ScriptedModel(REPLIES), repeats=3).evaluate(SAMPLES[0])
    result = judged(ScriptedModel(REPLIES), SAMPLES[0], repeats=3)
    assert result.score == expected.score
    assert [len(each.assessment.claims) for each in result.repeats] == [2, 2, 2]
    repeated, wanted = result.repeated, expected.repeated
    assert repeated is not None
    assert wanted is not None
    assert sorted(repeated.scores) == sorted(wanted.scores)
    assert "3 repeats from" in result.reason
    assert result.usage.calls == 3
    expected = TCVA(judge=panel()).evaluate(SAMPLES[0])
    result = judged(panel(), SAMPLES[0])
    assert (result.score, result.claims) == (expected.score, expected.claims)
    assert result.interval is not None
    assert result.interval == expected.interval
    assert result.weights == expected.weights
    assert result.at("strict").interval == expected.at("strict").interval
    assert result.reason == expected.reason
    assert "by probability" in result.reason
    assert "95% interval" in result.reason
    names = ["scripted:one", "scripted:two", "lexical/3"]
    assert [each.judge for each in result.assessment.panel] == names


def panel() -> Panel:
    """Two scripted models and the lexical judge."""
    texts = {"scripted:one": REPLY, "scripted:two": OTHER}
    models = [ScriptedModel([text], name=name) for name, text in texts.items()]
    return Panel([*map(LLMJudge, models), "lexical"], combine="fused")


CLASSES = [
    ("tcva_adapters.langchain", "TCVAEvaluator", "llm", True),
    ("tcva_adapters.llamaindex", "TCVAEvaluator", "llm", True),
    ("tcva_adapters.ragas", "TCVAMetric", "llm", False),
    ("tcva_adapters.ragas", "TCVACollectionMetric", "llm", False),
    ("tcva_adapters.deepeval", "TCVAMetric", "model", True),
]


@pytest.mark.parametrize(("module", "name", "judge", "sees_metadata"), CLASSES)
def test_every_drop_in_is_built_from_a_file(
    tmp_path: Path, module: str, name: str, judge: str, sees_metadata: bool
) -> None:
    drop_in = getattr(import_module(module), name)
    path = tmp_path / "tcva.json"
    config = Config(
        criterion="answer_relevancy",
        settings={"temperature": 0.7, "scheme": "linear", "penalty": "off"},
    )
    config.dump(path)
    tcva = inside(drop_in.from_config(path, **{judge: "lexical", "threshold": 0.6}))
    assert tcva.criterion.name == "answer_relevancy"
    assert tcva.scoring == TCVA.from_config(path, threshold=0.6).scoring

    strict = {"domain": {"medical": "strict"}}
    config.model_copy(update={"profiles": strict}).dump(path)
    one = inside(drop_in.from_config(path, profile="medical", **{judge: "lexical"}))
    assert (one.scoring.temperature, one.profiles) == (0.2, None)
    if sees_metadata:
        both = inside(drop_in.from_config(path, **{judge: "lexical"}))
        assert both.profiles is not None
    else:
        with pytest.raises(InvalidValueError, match=r"no 'domain'.*one of medical"):
            drop_in.from_config(path, **{judge: "lexical"})
    with pytest.raises(InvalidValueError, match=r"no profile 'legal'.*medical"):
        drop_in.from_config(path, profile="legal", **{judge: "lexical"})


def inside(drop_in: Any) -> TCVA:
    tcva = drop_in.scorer
    assert isinstance(tcva, TCVA)
    return tcva


def test_profiles_follow_metadata_where_a_framework_has_it() -> None:
    from deepeval.test_case import LLMTestCase  # noqa: PLC0415  # each framework where it is used

    from tcva_adapters.deepeval import TCVAMetric  # noqa: PLC0415  # likewise
    from tcva_adapters.langchain import TCVAEvaluator, result_of  # noqa: PLC0415  # likewise
    from tcva_adapters.llamaindex import TCVAEvaluator as Index  # noqa: PLC0415  # likewise

    medical = {"domain": {"medical": "strict"}}
    config = Config(profiles=medical)
    sample, domain = SAMPLES[0], {"domain": "medical"}
    expected = TCVA(judge="lexical", temperature="strict").evaluate(sample)
    assert expected.score != TCVA(judge="lexical").evaluate(sample).score
    record = {"answer": sample.response, "context": list(sample.contexts or ()), "metadata": domain}
    chain = TCVAEvaluator.from_config(config, llm="lexical")
    assert result_of(chain.invoke(record)).score == expected.score
    index = Index.from_config(config, llm="lexical")
    assert (
        index.evaluate(sample.input, sample.response, sample.contexts, metadata=domain).score
        == expected.score
    )
    metric = TCVAMetric.from_config(config, model="lexical")
    case = LLMTestCase(
        input=str(sample.input),
        actual_output=str(sample.response),
        retrieval_context=list(sample.contexts or ()),
        metadata=domain,
    )
    assert metric.measure(case) == expected.score
    plain = LLMTestCase(
        input=str(sample.input),
        actual_output=str(sample.response),
        retrieval_context=list(sample.contexts or ()),
    )
    assert metric.measure(plain) == TCVA(judge="lexical").evaluate(sample).score


@each_adapter
def test_domains_and_exponents_are_those_of_tcva(adapter: Adapter) -> None:
    temperature._tell_of_domain.cache_clear()
    expected = scores(ours(temperature=0.2, bounds=Bounds(p_min=-2.0)))
    assert expected != scores(ours(temperature=0.2))
    options: dict[str, Any] = {"temperature": "medicine", "bounds": {"p_min": -2.0}}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DomainWarning)
        results = adapter.entry().run(SAMPLES, reply, **options)
    assert ["'medicine'" in str(one.message) for one in said] == [True]
    assert scores(results) == expected
    assert results[0].scoring.bounds == Bounds(p_min=-2.0)
