"""Which methods a comparison has, what each needs, and when a judgement is the same."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Any

import pytest

from tcva_adapters.compare.running import methods
from tcva_adapters.compare.running.methods import Method, choose
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.samples.sample import Sample

SAMPLE = Sample(input="When?", response="At nine.", contexts=("It opens at nine.",), id="a")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_every_framework_metric_needs_is_known(framework: str) -> None:
    known = FRAMEWORKS[framework].metrics
    assert set(known) == set(import_module(f"tcva_adapters.{framework}").framework_metrics())


def test_all_frameworks_without_what_needs_embeddings() -> None:
    chosen, notes = choose(["all"])
    assert {method.framework for method in chosen} == set(FRAMEWORKS)
    assert "ragas answer_relevancy" not in [method.name for method in chosen]
    assert len(notes) == 1
    assert "embeddings" in notes[0]


def test_one_line_names_what_the_lexical_judge_cannot_answer() -> None:
    chosen, notes = choose(["all"], is_lexical=True)
    assert [method.name for method in chosen] == [
        "ragas faithfulness",
        "ragas legacy_faithfulness",
        "deepeval faithfulness",
        "llamaindex faithfulness",
        "langchain context_qa",
    ]
    said = (
        "left out, as the lexical judge cannot answer their prompts: ragas context_recall, "
        "ragas factual_correctness, deepeval answer_relevancy, deepeval contextual_recall, "
        "llamaindex answer_relevancy, llamaindex correctness, langchain labeled_criteria"
    )
    assert notes[1:] == [said]
    assert choose(["deepeval"], ["faithfulness"], is_lexical=True)[1] == []


def test_metrics_are_chosen_by_name_with_or_without_their_framework() -> None:
    chosen, _ = choose(["ragas", "deepeval"], ["faithfulness", "deepeval.contextual_recall"])
    names = ["ragas faithfulness", "deepeval faithfulness", "deepeval contextual_recall"]
    assert [method.name for method in chosen] == names


@pytest.mark.parametrize(
    ("frameworks", "metrics", "said"),
    [
        (["rags"], None, "unknown framework 'rags'; known are ragas"),
        ([], None, "no framework is named; known are ragas"),
        (["langchain"], ["faithfulnes"], "no metric 'faithfulnes' in langchain"),
        (["langchain"], ["ragas.faithfulness"], "langchain.context_qa"),
        (["ragas"], ["answer_relevancy"], "ragas answer_relevancy: it compares embeddings"),
    ],
)
def test_unknown_names_are_refused(
    frameworks: list[str], metrics: list[str] | None, said: str
) -> None:
    with pytest.raises(InvalidValueError) as refused:
        choose(frameworks, metrics)
    assert said in str(refused.value)


def without(module: str) -> Callable[..., ModuleSpec | None]:
    return lambda name, *rest: None if name == module else find_spec(name, *rest)


def test_a_framework_that_is_not_installed_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(methods, "find_spec", without("langchain_classic"))
    with pytest.raises(MissingDependencyError) as refused:
        choose(["llamaindex", "langchain"])
    assert "tcva-adapters[langchain-classic]" in str(refused.value)

    chosen, notes = choose(["all"], ["faithfulness"])
    assert [method.framework for method in chosen] == ["ragas", "deepeval", "llamaindex"]
    assert notes[0].startswith("langchain is left out")


def test_the_key_holds_what_changes_a_judgement_and_nothing_else() -> None:
    method = Method("deepeval", "faithfulness")  # looks at the response and the contexts

    def key(sample: Sample = SAMPLE, judge: str = "j", **parameters: Any) -> str:
        return method.key(sample, judge, parameters)

    same = SAMPLE.model_copy(update={"id": "b", "metadata": {"x": 1}, "reference": "Nine."})
    assert key(same) == key()
    changed = [
        key(SAMPLE.model_copy(update={"response": "At ten."})),
        key(SAMPLE.model_copy(update={"contexts": ()})),
        key(judge="k"),
        key(seed=1),
        Method("ragas", "faithfulness").key(SAMPLE, "j", {}),
        Method("deepeval", "contextual_recall").key(SAMPLE, "j", {}),
    ]
    assert len({key(), *changed}) == 1 + len(changed)


def test_a_new_version_of_the_framework_is_another_judgement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = Method("ragas", "faithfulness").key(SAMPLE, "j", {})
    monkeypatch.setattr(methods, "version", lambda _: "9.9.9")
    assert Method("ragas", "faithfulness").key(SAMPLE, "j", {}) != before


def test_a_missing_field_is_named_and_an_empty_one_is_not_missing() -> None:
    method = Method("ragas", "context_recall")
    assert method.lacking(SAMPLE) == (
        "the sample has no reference, which ragas context_recall needs"
    )
    assert method.lacking(SAMPLE.model_copy(update={"reference": "", "contexts": ()})) == ""
