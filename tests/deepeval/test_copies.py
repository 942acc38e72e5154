"""Copies of TCVAMetric: DeepEval's, Python's, and those with other settings; pickles."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deepeval.metrics.utils import copy_metrics

from tcva_adapters import TCVA, Result
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.deepeval import Collected, TCVAMetric
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.results.store import VerdictStore
from tests.deepeval.entry import run, scripted
from tests.deepeval.office import CASE, HALF, OPENS, SAMPLE, plenty, tcva_of
from tests.support.scripted import ScriptedModel, verdict_json

OTHER = verdict_json((1, "fully", OPENS), (2, "minor", ""))


def test_evaluate_scores_at_the_temperature_that_its_copies_keep() -> None:
    (result,) = run([SAMPLE], lambda _: OTHER, asynchronous=True, temperature=0.2)
    assert result.scoring.temperature == 0.2
    strict = TCVA(judge=ScriptedModel([OTHER]), temperature=0.2).evaluate(SAMPLE).score
    usual = TCVA(judge=ScriptedModel([OTHER])).evaluate(SAMPLE).score
    assert result.score == strict != usual


def test_a_copy_has_every_setting_and_shares_judge_store_and_list(tmp_path: Path) -> None:
    changed: dict[str, Any] = {
        "criterion": "correctness",
        "threshold": 0.7,
        "temperature": 0.3,
        "model": "lexical",
        "scheme": (1.0, 0.8, 0.5, 0.2, 0.0),
        "penalty": "ramped",
        "eps": 1e-6,
        "floor": "always",
        "bounds": Bounds(p_min=-4),
        "on_unscored": 0.25,
        "claims": "split",  # the lexical judge knows no other
        "max_claims": 3,
        "verdicts": "written",
        "repeats": 1,
        "evidence": "off",
        "store": tmp_path / "verdicts.sqlite",
        "fuse": [TCVA("faithfulness", judge="lexical")],
        "fuse_weights": (2.0, 1.0),
        "profiles": {"domain": {"medical": 0.2}},
        "name": "mine",
        "include_reason": False,
        "async_mode": False,
        "strict_mode": False,  # with it, the threshold is 1
        "verbose_mode": True,
        "flaky": True,
        "collected": [],
        "share": False,
        "max_concurrency": 2,
    }
    parameters = list(inspect.signature(TCVAMetric).parameters)
    assert parameters[:4] == list(changed)[:4]
    assert set(parameters) == set(changed)
    metric = TCVAMetric(**changed)
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, TCVAMetric)
    for name in changed:
        assert getattr(copied, name) == getattr(metric, name), name
    for name in changed.keys() - {"criterion", "fuse", "model", "scheme", "store"}:
        assert getattr(copied, name) == changed[name], name
    # These three were given above what a metric that lost them would say as well.
    (copied,) = copy_metrics([TCVAMetric(model="lexical", strict_mode=True)])
    assert (copied.include_reason, copied.strict_mode, copied.threshold) == (True, True, 1)
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, TCVAMetric)
    assert copied.collected is metric.collected
    assert copied.store is metric.store
    assert copied.model is metric.model
    assert tcva_of(copied).scoring == tcva_of(metric).scoring
    assert copied.scorer.fingerprint == metric.scorer.fingerprint
    assert copied.scorer.share is False
    if metric.store is not None:
        metric.store.close()


CHANGES: list[dict[str, Any]] = [
    {"criterion": "correctness"},
    {"threshold": 0.2},
    {"threshold": None},
    {"temperature": 0.9},
    {"temperature": "strict"},
    {"model": "lexical"},
    {"scheme": "linear"},
    {"scheme": (1, 0.5, 0.4, 0.3, 0)},
    {"penalty": "off"},
    {"temperature": 0.2, "eps": 1e-12},
    {"temperature": 0.5, "floor": "always", "eps": 0.05},
    {"on_unscored": 1.0},
    {"claims": "llm"},
    {"max_claims": 1},
    {"name": "mine"},
    {"include_reason": False},
    {"strict_mode": True},
    {"verbose_mode": True},
    {"flaky": True},
]


NOT_IN_A_SCORE = {"name", "include_reason", "verbose_mode", "flaky"}


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_changed_setting_counts_everywhere(changes: dict[str, Any]) -> None:
    llm = plenty()
    metric = TCVAMetric(model=llm)
    metric.measure(CASE)
    before = dict(vars(metric))
    changed = metric.changed(**changes)
    (copied,) = copy_metrics([changed])
    assert isinstance(copied, TCVAMetric)
    new = TCVAMetric(**{"model": llm, **changes})
    assert new.measure(CASE) == changed.measure(CASE) == copied.measure(CASE)
    for other in (changed, copied):
        assert {
            s: getattr(other, s)
            for s in {*inspect.signature(TCVAMetric).parameters} - {"collected"}
        } == {
            s: getattr(new, s) for s in {*inspect.signature(TCVAMetric).parameters} - {"collected"}
        }
        for name in ("reason", "success", "criteria", "evaluation_model", "__name__"):
            assert getattr(other, name) == getattr(new, name), name
        assert other._required_params == new._required_params
        assert other.result is not None
        assert other.result.scoring == tcva_of(new).scoring
    same = changed.criteria == TCVAMetric(model=llm).criteria
    assert same is bool(changes.keys() & NOT_IN_A_SCORE)
    assert vars(metric) == before
    assert changed.collected is not metric.collected


def test_an_unknown_setting_of_a_copy_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="the judge of TCVAMetric is called model"):
        TCVAMetric(model="lexical").changed(judge="lexical")


@pytest.mark.parametrize(
    ("fuse", "name", "criteria"),
    [
        # A judge has no criterion of its own, so it takes the metric's.
        ("lexical", "TCVA correctness (fuse=lexical/2 correctness)", ["correctness"]),
        (
            [TCVA("faithfulness", judge="lexical"), "lexical"],
            "TCVA correctness (fuse=lexical/2 faithfulness+lexical/2 correctness)",
            ["faithfulness", "correctness"],
        ),
    ],
)
def test_judges_that_are_fused_follow_the_criterion(
    fuse: Any, name: str, criteria: list[str]
) -> None:
    metric = TCVAMetric(model=scripted(HALF), fuse=fuse).changed(criterion="correctness")
    assert metric.name == name
    metric.measure(CASE)
    assert metric.result is not None
    assert [each.criterion for each in metric.result.assessment.members] == criteria


def test_the_list_and_the_store_can_be_changed(tmp_path: Path) -> None:
    results = list[Collected[Result]]()
    metric = TCVAMetric(model="lexical").changed(collected=results, store=tmp_path / "v.sqlite")
    metric.measure(CASE)
    (copied,) = copy_metrics([metric])
    assert len(results) == 1
    assert vars(copied)["collected"] is results
    assert isinstance(metric.scorer.store, VerdictStore)
    assert metric.measure(CASE) == results[0].result.score
    metric.scorer.store.close()


@pytest.mark.parametrize("claims", ["split", "llm"])
@pytest.mark.parametrize("kind", [scripted, lambda: ScriptedModel([])], ids=["deepeval", "other"])
def test_a_copy_asks_for_claims_as_its_original(kind: Callable[[], Any], claims: Any) -> None:
    llm = kind()
    (copied,) = copy_metrics([TCVAMetric(model=llm, claims=claims, max_claims=4)])
    assert isinstance(copied, TCVAMetric)
    assert copied.model is llm
    parameters = tcva_of(copied).judge.parameters
    assert (parameters["claims"], parameters["max_claims"]) == (claims, 4)


def test_copies_share_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    metric = TCVAMetric(model="openai:m", claims="llm")
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, TCVAMetric)
    ours, theirs = tcva_of(metric).judge, tcva_of(copied).judge
    assert isinstance(ours, LLMJudge)
    assert isinstance(theirs, LLMJudge)
    assert theirs.model is ours.model
    assert theirs.claims == "llm"


def test_a_judge_of_its_own_is_taken_as_it_is() -> None:
    judge = LLMJudge(ScriptedModel([]), claims="llm", max_claims=3)
    (copied,) = copy_metrics([TCVAMetric(model=judge)])
    assert isinstance(copied, TCVAMetric)
    assert tcva_of(copied).judge is judge


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_pythons_own_copies_work_with_clients_and_stores(
    again: Callable[[TCVAMetric], TCVAMetric], tmp_path: Path
) -> None:
    metric = TCVAMetric(model=scripted(HALF), store=tmp_path / "verdicts.sqlite", temperature=0.9)
    metric.measure(CASE)
    other = again(metric)
    assert (other.result, other.name, other.store) == (metric.result, metric.name, metric.store)
    strict = other.changed(temperature=0.1, collected=other.collected)
    assert strict.measure(CASE) != metric.score  # from the store
    assert len(metric.collected) == (1 if again is copy.deepcopy else 2)
    assert metric.store is not None
    metric.store.close()


def test_it_can_be_pickled() -> None:
    metric = TCVAMetric(model="lexical", temperature=0.2, name="mine")
    metric.measure(CASE)
    again = pickle.loads(pickle.dumps(metric))
    assert (again.result, again.score, again.name) == (metric.result, metric.score, "mine")
    assert again.changed(temperature=0.9).measure(CASE) != metric.score
