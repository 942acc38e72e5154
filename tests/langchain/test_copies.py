"""Copies of TCVAEvaluator, with other settings and without; pickles."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.criteria import CORRECTNESS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.langchain import TCVAEvaluator
from tcva_adapters.results.store import VerdictStore
from tests.langchain.entry import scripted
from tests.langchain.office import RECORD
from tests.support.office import TWO
from tests.support.scripted import verdict_json


def _copied(evaluator: TCVAEvaluator, changes: dict[str, Any]) -> TCVAEvaluator:
    return evaluator.model_copy(update=changes)


def _deeply_copied(evaluator: TCVAEvaluator, changes: dict[str, Any]) -> TCVAEvaluator:
    return evaluator.model_copy(update=changes, deep=True)


def _copied_as_before(evaluator: TCVAEvaluator, changes: dict[str, Any]) -> TCVAEvaluator:
    return evaluator.copy(update=changes)


Change = Callable[[TCVAEvaluator, dict[str, Any]], TCVAEvaluator]


CHANGES = [_copied, _deeply_copied, _copied_as_before]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "changes",
    [
        {"temperature": 0.1},
        {"temperature": "lenient"},
        {"threshold": 0.7},
        {"scheme": [1, 0.5, 0.4, 0.2, 0]},
        {"scheme": "linear"},
        {"penalty": "off"},
        {"eps": 1e-12},
        {"floor": "always", "eps": 0.4},
        {"on_unscored": 0.25},
        {"threshold": 0.7, "temperature": "strict"},
    ],
)
def test_a_changed_setting_is_the_one_that_is_used(change: Change, changes: dict[str, Any]) -> None:
    record = {
        "answer": "The office opens at nine. The office opens at ten. Bananas ripen in bags.",
        "context": ["The office opens at nine. The office is large."],
    }
    changed = change(TCVAEvaluator("lexical"), changes)
    fresh = TCVAEvaluator(**{"llm": "lexical", **changes})
    for sample in (record, {**record, "context": []}):
        seen, expected = changed.invoke(sample), fresh.invoke(sample)
        assert {**seen, "usage": None} == {**expected, "usage": None}
    assert changed.temperature == changed.invoke(record)["scoring"]["temperature"]
    scheme = changed.scheme
    assert isinstance(scheme, WeightScheme)
    assert list(scheme.weights) == changed.invoke(record)["scoring"]["scheme"]["weights"]


@pytest.mark.parametrize("change", CHANGES)
def test_judge_criterion_claims_mapper_store_and_name_can_be_changed(
    change: Change, tmp_path: Path
) -> None:
    claims = json.dumps({"claims": ["It opens at nine."]})
    model = scripted(claims, verdict_json((1, "mostly", "opens at nine")))
    changed = change(
        TCVAEvaluator("lexical"),
        {
            "llm": model,
            "criterion": "correctness",
            "claims": "llm",
            "max_claims": 3,
            "store": tmp_path / "verdicts.sqlite",
            "mapper": lambda text: {"answer": text, "reference": "It opens at nine."},
            "name": "checked",
        },
    )
    seen = changed.invoke("At nine, it opens.")
    assert (seen["judge"], seen["criterion"], seen["score"]) == (
        "langchain:scripted",
        "correctness",
        0.9,
    )
    assert (changed.criterion, changed.max_claims, changed.get_name()) == (
        CORRECTNESS,
        3,
        "checked",
    )
    assert [claim["claim"] for claim in seen["claims"]] == ["It opens at nine."]
    assert isinstance(changed.store, VerdictStore)
    assert changed.invoke("At nine, it opens.")["from_store"]
    assert (changed.scorer.subject, len(model.prompts)) == ("correctness", 2)


@pytest.mark.parametrize("change", CHANGES)
def test_an_additional_judge_follows_the_criterion_unless_it_has_its_own(change: Change) -> None:
    own = TCVA("completeness", judge="lexical")
    evaluator = TCVAEvaluator(scripted(TWO), fuse=[scripted(TWO), own])
    changed = change(evaluator, {"criterion": "correctness"})
    seen = changed.invoke({**RECORD, "reference": "The office opens at nine."})
    assert [seen["criterion"], *(member["criterion"] for member in seen["members"])] == [
        "correctness",
        "correctness",
        "completeness",
    ]


@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_change_is_refused_and_changes_nothing(change: Change) -> None:
    evaluator = TCVAEvaluator("lexical", temperature=0.3)
    for changes, named in (
        ({"temperature": 5}, "5"),
        ({"threshold": "half"}, "threshold='half'"),
        ({"claims": "llm"}, "claims='llm'"),
        ({"mapper": 3}, "mapper=3"),
    ):
        with pytest.raises(InvalidValueError, match=named):
            change(evaluator, changes)
    assert (evaluator.temperature, evaluator.threshold, evaluator.claims) == (0.3, 0.5, "split")
    assert evaluator.invoke(RECORD)["scoring"]["temperature"] == 0.3


def test_a_copy_leaves_the_first_one_as_it_is() -> None:
    evaluator = TCVAEvaluator(scripted(TWO, TWO), temperature=0.3)
    strict = evaluator.model_copy(update={"temperature": 0.1})
    assert [e.invoke(RECORD)["scoring"]["temperature"] for e in (evaluator, strict)] == [0.3, 0.1]
    assert strict.llm is evaluator.llm


def test_a_subclass_keeps_its_own_fields_and_its_class() -> None:
    class Named(TCVAEvaluator):
        team: str = "docs"

        def __init__(self) -> None:
            super().__init__("lexical", temperature=0.3)

    copied = Named().model_copy(update={"team": "web", "temperature": 0.1})
    assert (type(copied), copied.team) == (Named, "web")
    assert copied.invoke(RECORD)["scoring"]["temperature"] == 0.1


def test_a_copy_shares_the_additional_judges() -> None:
    evaluator = TCVAEvaluator("lexical", fuse=scripted(TWO))
    copied = copy.deepcopy(evaluator)
    assert copied.fuse is evaluator.fuse
    assert len(copied.model_copy(update={"temperature": 0.3}).invoke(RECORD)["members"]) == 1


def test_evaluators_copy_and_pickle(tmp_path: Path) -> None:
    evaluator = TCVAEvaluator("lexical", temperature=0.2, scheme="linear", name="checked")
    score = evaluator.invoke(RECORD)["score"]
    for copied in (
        copy.copy(evaluator),
        copy.deepcopy(evaluator),
        pickle.loads(pickle.dumps(evaluator)),  # our own bytes
    ):
        assert (copied.invoke(RECORD)["score"], copied.name) == (score, "checked")
    # A chat model with a lock and a store with a connection, twice in one structure.
    shared = TCVAEvaluator(scripted(TWO), store=tmp_path / "verdicts.sqlite")
    first, second = copy.deepcopy([shared, shared])
    assert first is second
    assert first is not shared
    assert first.invoke(RECORD)["score"] == pytest.approx(0.65, abs=1e-12)
    assert shared.invoke(RECORD)["from_store"]
