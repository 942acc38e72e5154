"""A guarantee through every way to change a judge, a threshold or a setting, in all adapters.

``pytest tests/adapters/test_guarantee.py -v`` lists the ways, with what becomes of the guarantee.
"""

import asyncio
import json
import pickle
import warnings
from collections.abc import Callable
from typing import Any, Final

import pytest

pytest.importorskip("scipy", reason="the extra stats")

from langchain_core.runnables import ConfigurableField
from llama_index.core import Settings
from llama_index.core.async_utils import asyncio_run
from llama_index.core.evaluation import BatchEvalRunner

import tests.deepeval.entry as deepeval_entry
import tests.langchain.entry as langchain_entry
import tests.ragas.entry as ragas_entry
from tcva_adapters import (
    TCVA,
    Conversation,
    Criterion,
    Panel,
    Result,
    deepeval,
    langchain,
    llamaindex,
    ragas,
)
from tcva_adapters.errors import GuaranteeWarning, JudgeError
from tcva_adapters.langchain.gating import BelowThresholdError
from tests.adapters.table import Adapter, each_adapter, each_of_conversations
from tests.llamaindex.entry import ScriptedLLM
from tests.support.certified import (
    BAD,
    GOOD,
    HOLDS,
    LOST,
    OPEN,
    PASSAGE,
    RATED,
    certified,
    certified_by,
    state_of,
)
from tests.support.office import ONE

STRICTER: Final = Criterion(
    "faithfulness", instruction="Decide how far each claim is supported."
)
FIELDS: Final[dict[str, Any]] = {
    "query": GOOD.input, "response": GOOD.response, "contexts": [PASSAGE],
}  # fmt: skip

Way = Callable[[Adapter, Any], Any]
"""From an adapter and an evaluator of a certified file to a result."""


def changed(**settings: Any) -> Way:
    """A copy with other settings."""

    def way(adapter: Adapter, evaluator: Any) -> Any:
        renamed = {adapter.judge if n == "judge" else n: v for n, v in settings.items()}
        return adapter.score(adapter.changed(evaluator, **renamed), GOOD)

    return way


def other_llm(adapter: Adapter) -> Any:
    return adapter.llm(lambda _: ONE)


ALIKE: Final[dict[str, tuple[Way, str]]] = {
    "nothing": (lambda adapter, evaluator: adapter.score(evaluator, GOOD), HOLDS),
    "awaited": (
        lambda adapter, evaluator: asyncio.run(adapter.ascore(evaluator, GOOD)),
        HOLDS,
    ),
    "a suite": (
        lambda adapter, evaluator: adapter.suite([evaluator], [GOOD], False)[0][0],
        HOLDS,
    ),
    "an awaited suite": (
        lambda adapter, evaluator: adapter.suite([evaluator], [GOOD], True)[0][0],
        HOLDS,
    ),
    "pickled": (
        lambda adapter, evaluator: adapter.score(
            pickle.loads(pickle.dumps(evaluator)), GOOD
        ),
        HOLDS,
    ),
    "share off": (changed(share=False), HOLDS),
    "threshold": (changed(threshold=0.1), LOST),
    "temperature": (changed(temperature=0.2), LOST),
    "scheme": (changed(scheme="linear"), LOST),
    "penalty": (changed(penalty="off"), LOST),
    "floor": (changed(floor="always"), LOST),
    "bounds": (changed(bounds=(-4, 12)), LOST),
    "evidence": (changed(evidence="off"), LOST),
    "on_unscored": (changed(on_unscored=1.0), LOST),
    "fuse": (changed(fuse="lexical"), LOST),
    "criterion": (changed(criterion="answer_relevancy"), LOST),
    "the texts of the criterion": (changed(criterion=STRICTER), LOST),
    "another judge": (
        lambda adapter, evaluator: changed(judge=other_llm(adapter))(
            adapter, evaluator
        ),
        LOST,
    ),
    "another judge in a suite": (
        lambda adapter, evaluator: adapter.suite(
            [adapter.changed(evaluator, **{adapter.judge: other_llm(adapter)})],
            [GOOD],
            False,
        )[0][0],
        LOST,
    ),
    "back again": (
        lambda adapter, evaluator: adapter.score(
            adapter.changed(
                adapter.changed(evaluator, temperature=0.2), temperature=0.5
            ),
            GOOD,
        ),
        HOLDS,
    ),
    "a view at another temperature": (
        lambda adapter, evaluator: adapter.score(evaluator, GOOD).at(0.2),  # type: ignore[attr-defined]  # a Result
        LOST,
    ),
    "a view at another threshold": (
        lambda adapter, evaluator: adapter.score(evaluator, GOOD).at(  # type: ignore[attr-defined]  # likewise
            0.5, threshold=0.1
        ),
        LOST,
    ),
    "a view and back": (
        lambda adapter, evaluator: adapter.score(evaluator, GOOD).at(0.2).at(0.5),  # type: ignore[attr-defined]  # likewise
        HOLDS,
    ),
}


@each_adapter
@pytest.mark.parametrize("way", ALIKE)
def test_ways_of_all_adapters(adapter: Adapter, way: str) -> None:
    change, state = ALIKE[way]
    evaluator = adapter.drop_in.from_config(certified(), **{adapter.judge: "lexical"})
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = change(adapter, evaluator)
    assert state_of(result) == state
    ours = [str(each.message) for each in warned if each.category is GuaranteeWarning]
    is_view = way.startswith("a view")  # of which the result alone tells
    assert ours == ([] if state == HOLDS or is_view else [result.guarantee.text])
    assert ("The guarantee is lost" in result.reason) == (state == LOST)


def _ragas(llm: Any = None, **settings: Any) -> Any:
    return ragas.TCVAMetric.from_config(certified(), llm=llm, **settings)


def _ragas_evaluated(metric: Any, llm: Any = None) -> Any:
    found = ragas_entry.evaluated([metric], GOOD, llm=llm)
    return ragas.results_of(found)[0]


def _ragas_llm_set(metric: Any) -> Any:
    metric.llm = ragas_entry.ScriptedLLM(lambda _: ONE)
    return metric.single_turn_score(ragas_entry.turn(GOOD)).result


def _deepeval(**settings: Any) -> Any:
    return deepeval.TCVAMetric.from_config(certified(), model="lexical", **settings)


def _deepeval_set(name: str, value: Any, *, in_suite: bool = False) -> Any:
    metric = _deepeval()
    setattr(metric, name, value)
    if in_suite:
        cases = [deepeval_entry.case_of(each) for each in (GOOD, BAD)]
        return deepeval.results_of(deepeval_entry.evaluated(cases, [metric]))[0]
    metric.measure(deepeval_entry.case_of(GOOD))
    return metric.result


RECORD: Final = langchain_entry.records([GOOD])[0]


def _langchain(**settings: Any) -> Any:
    return langchain.TCVAEvaluator.from_config(certified(), llm="lexical", **settings)


def _langchain_run(field: str, value: Any) -> Any:
    step = _langchain().configurable_fields(**{field: ConfigurableField(id="it")})
    return langchain.result_of(step.invoke(RECORD, {"configurable": {"it": value}}))


def _langchain_gate(**settings: Any) -> Any:
    # The threshold is above all scores, so that the gate tells the output.
    with pytest.raises(BelowThresholdError) as stopped:
        langchain.gate(_langchain(**settings)).invoke(langchain_entry.records([BAD])[0])
    return stopped.value.result


def _langsmith(**settings: Any) -> Any:
    step = _langchain(**settings).with_config(tags=["x"])
    feedback = langchain.TCVARunEvaluator(step).evaluate_run(
        langchain_entry.run_of(
            {"question": GOOD.input}, {"answer": GOOD.response, "context": [PASSAGE]}
        )
    )
    return langchain.result_of(feedback)


def _llamaindex(**settings: Any) -> Any:
    return llamaindex.TCVAEvaluator.from_config(certified(), **settings)


def _llamaindex_batch(**settings: Any) -> Any:
    rows: Any = {"queries": [GOOD.input], "response_strs": [GOOD.response]}
    rows |= {"contexts_list": [[PASSAGE]]}
    runner = BatchEvalRunner({"tcva": _llamaindex(llm="lexical")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # LlamaIndex' own
        found = asyncio_run(runner.aevaluate_response_strs(**rows, tcva=settings))
    return found["tcva"][0].result


def _llamaindex_settings(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(Settings, "_llm", ScriptedLLM(reply=lambda _: ONE))
    return _llamaindex().evaluate(**FIELDS).result


OWN: Final[dict[str, tuple[Callable[[pytest.MonkeyPatch], Any], str]]] = {
    "RAGAS: evaluate(llm=the judge)": (lambda _: _ragas_evaluated(_ragas(), ragas.LexicalLLM()), HOLDS),
    "RAGAS: evaluate(llm=ANOTHER)": (
        lambda _: _ragas_evaluated(_ragas(), ragas_entry.ScriptedLLM(lambda _: ONE)),
        LOST,
    ),
    "RAGAS: evaluate(llm=ANOTHER), with a judge": (
        lambda _: _ragas_evaluated(_ragas("lexical"), ragas_entry.ScriptedLLM(lambda _: ONE)),
        HOLDS,  # the metric keeps its own
    ),
    "RAGAS: metric.llm = ANOTHER": (lambda _: _ragas_llm_set(_ragas("lexical")), LOST),
    "RAGAS: from_config(threshold=)": (lambda _: _ragas_evaluated(_ragas("lexical", threshold=0.1)), LOST),
    "RAGAS: a score's view": (
        lambda _: _ragas("lexical").single_turn_score(ragas_entry.turn(GOOD)).at(0.2).result,
        LOST,
    ),
    "RAGAS: a scorer's metric": (
        lambda _: _ragas_evaluated(
            ragas.ScorerMetric(TCVA.from_config(certified(), judge="lexical").changed(threshold=0.1))
        ),
        LOST,
    ),
    "DeepEval: metric.threshold = the same": (
        lambda _: _deepeval_set("threshold", certified().settings["threshold"]),
        HOLDS,
    ),
    "DeepEval: metric.threshold = .1": (lambda _: _deepeval_set("threshold", 0.1), LOST),
    "DeepEval: metric.threshold = .1 in evaluate": (
        lambda _: _deepeval_set("threshold", 0.1, in_suite=True),
        LOST,
    ),
    "DeepEval: metric.threshold = None": (lambda _: _deepeval_set("threshold", None), LOST),
    "DeepEval: metric.strict_mode = True": (lambda _: _deepeval_set("strict_mode", True), LOST),
    "DeepEval: async_mode = False": (lambda _: _deepeval_set("async_mode", False), HOLDS),
    "LangChain: a threshold by the run's config": (lambda _: _langchain_run("threshold", 0.1), LOST),
    "LangChain: a temperature by the run's config": (
        lambda _: _langchain_run("temperature", 0.2),
        LOST,
    ),
    "LangChain: a judge by the run's config": (
        lambda _: _langchain_run("llm", langchain_entry.ScriptedChatModel(reply=lambda _: ONE)),
        LOST,
    ),
    "LangChain: a setting that is no part by the run's config": (
        lambda _: _langchain_run("share", False),
        HOLDS,
    ),
    "LangChain: a gate": (lambda _: _langchain_gate(), HOLDS),
    "LangChain: a gate with another threshold": (lambda _: _langchain_gate(threshold=1.0), LOST),
    "LangSmith: with_config": (lambda _: _langsmith(), HOLDS),
    "LangSmith: another temperature": (lambda _: _langsmith(temperature=0.2), LOST),
    "LangSmith: profiles": (lambda _: _langsmith(profiles={"domain": {"a": 0.2}}), LOST),
    "LlamaIndex: evaluate(threshold=)": (
        lambda _: _llamaindex(llm="lexical").evaluate(**FIELDS, threshold=0.1).result,
        LOST,
    ),
    "LlamaIndex: evaluate(temperature=)": (
        lambda _: _llamaindex(llm="lexical").evaluate(**FIELDS, temperature=0.2).result,
        LOST,
    ),
    "LlamaIndex: a batch's thresholds": (lambda _: _llamaindex_batch(threshold=[0.1]), LOST),
    "LlamaIndex: a batch without": (lambda _: _llamaindex_batch(), HOLDS),
    "LlamaIndex: Settings.llm": (_llamaindex_settings, LOST),
}  # fmt: skip


@pytest.mark.parametrize("way", OWN)
def test_ways_of_one_adapter(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change, state = OWN[way]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = change(monkeypatch)
    assert state_of(result) == state
    ours = {str(each.message) for each in warned if each.category is GuaranteeWarning}
    assert ours == (
        set() if state == HOLDS or way.endswith("view") else {result.guarantee.text}
    )


@each_adapter
def test_one_run_warns_once(adapter: Adapter) -> None:
    evaluator = adapter.drop_in.from_config(
        certified(), threshold=0.1, **{adapter.judge: "lexical"}
    )
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        results = adapter.suite([evaluator], [GOOD, BAD, *RATED[:6]], True)[0]
    assert [each.category for each in warned].count(GuaranteeWarning) == 1
    assert {state_of(result) for result in results} == {LOST}


def test_an_llm_that_ragas_sets_begins_a_run() -> None:
    metric = _ragas()
    for _ in range(2):
        with pytest.warns(GuaranteeWarning) as warned:
            _ragas_evaluated(metric, ragas_entry.ScriptedLLM(lambda _: ONE))
        assert len(warned) == 1


@each_of_conversations
def test_scores_of_conversations_are_not_what_was_certified(adapter: Adapter) -> None:
    talk = Conversation(turns=(GOOD,))
    evaluator = adapter.drop_in.from_config(certified(), **{adapter.judge: "lexical"})
    with pytest.warns(GuaranteeWarning, match="scored a conversation instead of None"):
        result: Any = adapter.suite([evaluator], [talk], False)[0][0]  # type: ignore[list-item]  # of conversations
    assert (state_of(result), state_of(result.turns[0])) == (LOST, HOLDS)
    assert state_of(result.at(0.5)) == LOST
    assert type(result).from_json(result.to_json()).guarantee == result.guarantee


@each_adapter
def test_settings_that_an_llm_object_does_not_tell_cannot_be_checked(
    adapter: Adapter,
) -> None:
    """The same opaque object, and then with another sampling temperature."""
    llm = adapter.llm(lambda _: ONE)
    config = certified_by(llm)
    evaluator = adapter.drop_in.from_config(config, **{adapter.judge: llm})
    with pytest.warns(
        GuaranteeWarning, match=r"address.* unknown; pass the judge as 'openai:MODEL'"
    ):
        result: Any = adapter.score(evaluator, GOOD)
    assert state_of(result) == OPEN
    assert "cannot be checked" in result.reason
    if adapter.name.startswith("ragas"):
        return  # RAGAS sets the temperature of each call
    llm.temperature = 0.7
    with pytest.warns(
        GuaranteeWarning, match=r"lost: sampling temperature 0\.7 instead of 0$"
    ):
        other = adapter.score(adapter.changed(evaluator, share=False), GOOD)
    assert state_of(other) == LOST


class Failing:
    """A model that never answers."""

    name = "m"
    parameters: Final[dict[str, Any]] = {
        "server": "h/v1", "temperature": 0, "seed": 0, "max_tokens": 9,
    }  # fmt: skip

    def complete(self, request: Any) -> Any:
        msg = "the server is down"
        raise JudgeError(msg, reason="judge_error")

    async def acomplete(self, request: Any) -> Any:
        return self.complete(request)


def test_a_score_without_one_of_several_judges_has_no_guarantee() -> None:
    panel = Panel(["lexical", Failing()])
    by_members = {"judge": "lexical", "fuse": [Failing()]}
    for judges in ({"judge": panel}, by_members, {"judge": "lexical", "fuse": [panel]}):
        config = certified()
        known = TCVA(**judges).judged_by()
        assert config.guarantee is not None
        guarantee = config.guarantee.model_copy(
            update={"judged_by": known}
        ).with_digest()
        config = config.model_copy(update={"guarantee": guarantee})
        with pytest.warns(GuaranteeWarning, match=r"lost: no verdicts from m$"):
            result = TCVA.from_config(config, **judges).evaluate(GOOD)
        assert (result.score, state_of(result)) == (1.0, LOST)
        assert "m none" in result.reason or "; no verdicts from m" in result.reason
        assert state_of(Result.from_json(result.to_json())) == LOST
    plain = TCVA(judge=panel).evaluate(GOOD)
    assert "; no verdicts from m" in plain.summary
    assert "no verdicts" not in TCVA(judge="lexical").evaluate(GOOD).summary


def test_ways_to_treat_missing_contexts_differ_only_where_one_lets_answers_pass() -> (
    None
):
    results = {
        how: TCVA.from_config(certified(), judge="lexical")
        .evaluate(GOOD)
        .changed(uncontexted=how)
        for how in (None, "skip", "fail", "earlier")
    }
    states = {how: state_of(result) for how, result in results.items()}
    assert states == {None: HOLDS, "skip": HOLDS, "fail": HOLDS, "earlier": LOST}


def test_the_state_is_written_and_read_back_and_old_results_are_read() -> None:
    result = TCVA.from_config(certified(), judge="lexical").evaluate(GOOD)
    plain = result.to_dict()
    assert plain["guarantee"] == {
        "state": HOLDS,
        "text": result.guarantee and result.guarantee.text,
    }
    again = Result.from_json(result.to_json())
    assert again == result
    assert again.guarantee == result.guarantee
    assert [state_of(again.at(t)) for t in (0.2, 0.5)] == [LOST, HOLDS]
    for name in ("guarantee", "certified", "judged_by"):
        del plain[name]
    old = Result.from_dict(plain)
    assert (old.guarantee, old.assessment.judged_by) == (None, {})
    assert old.assessment == result.assessment
    assert TCVA(judge="lexical").evaluate(GOOD).guarantee is None


def test_unscored_answers_keep_the_state() -> None:
    scorer = TCVA.from_config(certified(), judge="lexical")
    empty = scorer.evaluate(GOOD.model_copy(update={"contexts": ()}))
    assert (empty.score, state_of(empty)) == (None, HOLDS)
    assert empty.unscored is not None
    assert state_of(empty.unscored_for(empty.unscored)) == HOLDS
    assert len({empty, scorer.evaluate(GOOD)}) == 2


@pytest.mark.filterwarnings("ignore::tcva_adapters.errors.GuaranteeWarning")
def test_each_framework_shows_the_state_where_it_has_details() -> None:
    threshold = certified().settings["threshold"]
    text = f"The guarantee is lost: threshold 0.1 instead of {threshold:g}"
    shown = {"state": LOST, "text": text}
    output: Any = _langchain(threshold=0.1).invoke(RECORD)
    assert (output["guarantee"], text in output["reasoning"]) == (shown, True)
    metric = _deepeval(threshold=0.1)
    metric.measure(deepeval_entry.case_of(GOOD))
    assert (json.loads(metric.verbose_logs)["guarantee"], text in metric.reason) == (
        shown,
        True,
    )
    found = ragas_entry.evaluated([_ragas("lexical", threshold=0.1)], GOOD)
    (trace,) = found.traces[0].values()
    assert trace["tcva_judgement"]["output"]["guarantee"] == shown
    collection = ragas.TCVACollectionMetric.from_config(
        certified(), llm="lexical", threshold=0.1
    )
    score = collection.score(**ragas_entry.turn(GOOD).to_dict())
    assert score.traces is not None
    assert (score.traces["output"]["guarantee"], text in str(score.reason)) == (
        shown,
        True,
    )
    evaluation = _llamaindex(llm="lexical", threshold=0.1).evaluate(**FIELDS)
    assert evaluation.model_dump()["result"]["guarantee"] == shown
    assert text in evaluation.feedback
