"""TCVAEvaluator as a step of chains. The model is scripted, all else is LangChain."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import (
    ConfigurableField,
    Runnable,
    RunnableBranch,
    RunnableLambda,
    RunnablePassthrough,
)

from tcva_adapters import CCRS, TCVA, Profiles, Result, Sample
from tcva_adapters.claims.criteria import CORRECTNESS, rubric
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import Verdict, WeightScheme
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.judging.model_judge import ModelJudge
from tcva_adapters.langchain import TCVAEvaluator, result_of
from tcva_adapters.langchain.results import as_output
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.scoring import Fusion, HumanScale, Scoring
from tcva_adapters.results.settings import settings_of
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.tcva import TCVASettings
from tests.langchain.entry import ScriptedChatModel, scripted
from tests.support.scripted import ScriptedModel, verdict_json

RECORD: dict[str, Any] = {
    "question": "When does the office open, and what does parking cost?",
    "answer": "The office opens at nine. Parking costs money.",
    "context": [Document("The office opens at nine on weekdays.")],
}
SAMPLE = Sample(
    input=RECORD["question"],
    response=RECORD["answer"],
    contexts=("The office opens at nine on weekdays.",),
)
TWO = verdict_json((1, "fully", "opens at nine"), (2, "minor", ""))


class Recorder(BaseCallbackHandler):
    """Keeps which run started under which, with tags and metadata."""

    def __init__(self) -> None:
        self.runs: dict[Any, dict[str, Any]] = {}

    def on_chain_start(self, *_: Any, **kwargs: Any) -> None:
        self._keep(kwargs)

    def on_chat_model_start(self, *_: Any, **kwargs: Any) -> None:
        self._keep(kwargs)

    def _keep(self, kwargs: dict[str, Any]) -> None:
        self.runs[kwargs["run_id"]] = kwargs

    def parent_of(self, name: str) -> str:
        (found,) = (run for run in self.runs.values() if run["name"] == name)
        return str(self.runs[found["parent_run_id"]]["name"])


def test_it_scores_as_tcva_does_to_the_last_bit() -> None:
    output = TCVAEvaluator(scripted(TWO)).invoke(RECORD)
    expected = TCVA(judge=ScriptedModel([TWO])).evaluate(SAMPLE)
    # The mean of 1 and 0.3.
    assert output["score"] == expected.score == pytest.approx(0.65, abs=1e-12)
    assert (output["value"], output["passed"]) == ("pass", True)
    assert output["reasoning"] == expected.reason
    assert [claim["verdict"] for claim in output["claims"]] == ["fully", "minor"]
    assert output["claims"][0]["evidence"] == "opens at nine"
    assert output["usage"]["calls"] == 1
    assert (output["usage"]["input_tokens"], output["usage"]["output_tokens"]) == (10, 5)


def test_a_chain_that_returns_a_string_is_told_how_to_keep_its_documents() -> None:
    chain: Runnable[Any, Any] = RunnableLambda(lambda _: "At nine.") | TCVAEvaluator("lexical")
    with pytest.raises(InvalidSampleError, match=r"no contexts.*answer alone.*assign\(answer="):
        chain.invoke("When?")


def test_the_output_is_json_and_gives_the_result_back() -> None:
    model = scripted(TWO)
    output = TCVAEvaluator(model, scheme="linear", penalty="off", threshold=0.6).invoke(RECORD)
    read = json.loads(json.dumps(output))
    assert read == output
    result = result_of(read)
    assert (result.score, result.passed) == (output["score"], output["passed"])
    assert result.scoring.scheme.name == "linear"
    # T=0.1: p = -8
    strict = ((1 + 0.25**-8) / 2) ** (-1 / 8)
    assert result.at(0.1).score == pytest.approx(strict, abs=1e-12)
    assert result.claims[1].verdict is Verdict.MINOR
    assert len(model.prompts) == 1


def test_the_judge_call_is_traced_as_a_child_with_tags_and_metadata() -> None:
    seen = Recorder()
    chain = RunnablePassthrough.assign(tcva=TCVAEvaluator(scripted(TWO)))
    config: Any = {"callbacks": [seen], "tags": ["nightly"], "metadata": {"team": "docs"}}
    chain.invoke(RECORD, config)
    assert seen.parent_of("tcva_judge") == "TCVAEvaluator"
    judge = next(r for r in seen.runs.values() if r["name"] == "tcva_judge")
    assert {"nightly", "nostream"} <= set(judge["tags"])
    assert judge["metadata"]["team"] == "docs"


def test_the_judge_call_is_traced_in_async_chains_too() -> None:
    seen = Recorder()
    chain = RunnableLambda(lambda x: x) | TCVAEvaluator(scripted(TWO), name="faithful")
    asyncio.run(chain.ainvoke(RECORD, {"callbacks": [seen]}))
    assert seen.parent_of("tcva_judge") == "faithful"


def test_usage_handlers_see_the_judges_tokens() -> None:
    usage = UsageMetadataCallbackHandler()
    TCVAEvaluator(scripted(TWO)).invoke(RECORD, {"callbacks": [usage]})
    assert usage.usage_metadata["scripted-2026-01-01"]["total_tokens"] == 15


def test_streaming_events_show_evaluator_and_judge() -> None:
    async def names() -> list[tuple[str, str]]:
        events = TCVAEvaluator(scripted(TWO)).astream_events(RECORD, version="v2")
        return [(event["event"], event["name"]) async for event in events]

    seen = asyncio.run(names())
    assert ("on_chat_model_end", "tcva_judge") in seen
    assert seen[-1] == ("on_chain_end", "TCVAEvaluator")


def test_a_stream_is_one_chunk() -> None:
    (chunk,) = TCVAEvaluator(scripted(TWO)).stream(RECORD)
    assert chunk["score"] == pytest.approx(0.65, abs=1e-12)


def test_the_dial_is_configurable_at_run_time() -> None:
    model = scripted(TWO, TWO)
    step = TCVAEvaluator(model, share=False).configurable_fields(
        temperature=ConfigurableField(id="tcva_temperature")
    )
    chain = RunnablePassthrough.assign(tcva=step)
    lenient = chain.invoke(RECORD, {"configurable": {"tcva_temperature": "lenient"}})["tcva"]
    assert lenient["scoring"]["temperature"] == 0.9
    assert lenient["score"] == result_of(chain.invoke(RECORD)["tcva"]).at("lenient").score
    with pytest.raises(InvalidValueError, match="5"):
        chain.invoke(RECORD, {"configurable": {"tcva_temperature": 5}})
    assert len(model.prompts) == 2


def test_every_setting_is_shown_read_and_left_to_the_run() -> None:
    settings = settings_of(TCVASettings)
    parameters = inspect.signature(TCVAEvaluator).parameters
    assert list(parameters) == ["llm", "criterion", "mapper", "name", *settings]
    evaluator = TCVAEvaluator("lexical")
    for name, setting in settings.items():
        assert parameters[name].default is setting.default
        assert getattr(evaluator, name) == evaluator.scorer.settings[name]
        (spec,) = evaluator.configurable_fields(**{name: ConfigurableField(id="it")}).config_specs
        assert spec.description == setting.meaning
    profiles = Profiles("domain", {"medical": {"temperature": 0.2}})
    changes: dict[str, Any] = {
        "temperature": 0.3,
        "threshold": 0.6,
        "scheme": WeightScheme.LINEAR,
        "penalty": "off",
        "eps": 0.01,
        "floor": "always",
        "on_unscored": 0.25,
        "fusion": Fusion(0.5),
        "mapping": HumanScale((0.0, 1.0), (1.0, 5.0)),
        "store": VerdictStore(":memory:"),
        "share": False,
        "max_concurrency": 3,
        "max_claims": 5,
        "fuse": (TCVA("completeness", judge="lexical"),),
        "profiles": profiles,
    }
    llm = scripted(TWO)
    changed = TCVAEvaluator(llm, claims="llm", **changes)
    again = evaluator.model_copy(update={"llm": llm, "claims": "llm", **changes})
    for built in (changed, again):
        for name, value in {**changes, "claims": "llm"}.items():
            assert getattr(built, name) == built.scorer.settings[name] == value


def test_branches_and_tools_and_schemas() -> None:
    chain = RunnablePassthrough.assign(tcva=TCVAEvaluator(scripted(TWO), threshold=0.9)) | (
        RunnableBranch((lambda x: x["tcva"]["passed"], lambda x: x["answer"]), lambda _: "Ask us.")
    )
    assert chain.invoke(RECORD) == "Ask us."
    evaluator = TCVAEvaluator("lexical")
    fields = evaluator.get_input_jsonschema()["$defs"]["TCVAInput"]["properties"]
    assert set(fields) == {"input", "response", "contexts", "reference"}
    assert "score" in evaluator.get_output_jsonschema()["$defs"]["TCVAOutput"]["properties"]


def test_a_mapper_reads_any_other_shape() -> None:
    evaluator = TCVAEvaluator(
        "lexical", mapper=lambda pair: {"response": pair[0], "contexts": pair[1].splitlines()}
    )
    assert (
        evaluator.invoke(("It opens at nine.", "It opens at nine.\nSundays: no."))["score"] == 1.0
    )


def test_a_missing_field_is_a_value_error_that_names_it() -> None:
    with pytest.raises(InvalidSampleError, match="no contexts, which faithfulness needs") as caught:
        TCVAEvaluator("lexical").invoke({"answer": "It opens at nine."})
    assert isinstance(caught.value, ValueError)
    good = {"answer": "Yes.", "context": ["Yes."]}
    found: list[Any] = TCVAEvaluator("lexical").batch(
        [good, {"answer": "Yes."}], return_exceptions=True
    )
    assert isinstance(found[1], InvalidSampleError)
    assert found[0]["value"] in ("pass", "unscored")


def test_unscored_samples_say_why_and_may_be_given_a_score() -> None:
    record = {"answer": "It opens at nine.", "context": []}
    output = TCVAEvaluator("lexical").invoke(record)
    assert (output["score"], output["passed"], output["value"]) == (None, None, "unscored")
    assert output["unscored"] is not None
    assert output["unscored"]["reason"] == "empty_context"
    assert TCVAEvaluator("lexical", on_unscored=0.0).invoke(record)["value"] == "fail"


def test_sync_calls_work_in_a_running_loop_after_asyncio_run_and_from_threads() -> None:
    evaluator = TCVAEvaluator(scripted(*[TWO] * 8))

    async def inside() -> float | None:
        return evaluator.invoke(RECORD)["score"]

    async def awaited() -> float | None:
        return (await evaluator.ainvoke(RECORD))["score"]

    scores = [asyncio.run(inside()), asyncio.run(awaited()), asyncio.run(awaited())]
    scores.append(evaluator.invoke(RECORD)["score"])
    threads = [
        threading.Thread(target=lambda: scores.append(evaluator.invoke(RECORD)["score"]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scores == [scores[0]] * 8


def test_cancelling_ends_the_judgement() -> None:
    class Waiting(ScriptedChatModel):
        async def _agenerate(self, *_: Any, **__: Any) -> Any:
            await asyncio.Event().wait()

    async def cancelled() -> None:
        task = asyncio.create_task(TCVAEvaluator(Waiting(reply=str)).ainvoke(RECORD))
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


def test_every_criterion_can_be_chosen() -> None:
    polite = rubric("tone", ["Is polite."])
    output = TCVAEvaluator(scripted(verdict_json((1, "mostly", ""))), criterion=polite).invoke(
        AIMessage("Gladly!")
    )
    assert (output["criterion"], output["score"]) == ("tone", 0.9)
    right = TCVAEvaluator("lexical", criterion="correctness").invoke(
        {"answer": "It opens at nine.", "ground_truth": "It opens at nine."}
    )
    assert right["score"] == 1.0


def test_a_store_serves_the_second_evaluator(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    first = TCVAEvaluator(scripted(TWO), store=path).invoke(RECORD)
    idle = scripted()
    second = TCVAEvaluator(idle, store=path, temperature=0.3).invoke(RECORD)
    assert second["from_store"]
    assert second["claims"] == first["claims"]
    assert not idle.prompts


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"temperature": 1.5}, "1.5"),
        ({"threshold": 2}, "threshold=2"),
        ({"scheme": "steep"}, "steep"),
        ({"penalty": "double"}, "double"),
        ({"eps": 0}, "eps"),
        ({"floor": "never"}, "never"),
        ({"on_unscored": 2}, "on_unscored=2"),
        ({"criterion": "beauty"}, "beauty"),
        ({"llm": "oracle"}, "oracle"),
        ({"claims": "llm"}, "llm"),
        ({"prompt": "compact"}, "compact"),
        ({"max_claims": 0}, "max_claims=0"),
        ({"temperature": True}, "True"),
        ({"temperature": float("nan")}, "nan"),
        ({"threshold": None}, "threshold=None"),
        ({"threshold": "half"}, "threshold='half'"),
        ({"on_unscored": True}, "on_unscored=True"),
        ({"eps": -1.0}, "eps"),
        ({"eps": None}, "eps"),
        ({"claims": None}, "None"),
        ({"max_claims": "8"}, "max_claims='8'"),
        ({"store": True}, "store=True; it is None or a VerdictStore or str or Path"),
        ({"mapper": "answer"}, "mapper='answer'; a function"),
        ({"name": 7}, "name=7; a text"),
        ({"name": ""}, "name=''; a text"),
    ],
)
def test_wrong_settings_fail_when_built(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidValueError, match=named):
        TCVAEvaluator(**options)


def test_nothing_of_the_llm_is_shown_in_the_repr_or_the_output() -> None:
    evaluator = TCVAEvaluator(scripted(TWO))
    shown = f"{evaluator!r} {json.dumps(evaluator.invoke(RECORD))} {evaluator.model_dump_json()}"
    assert "never-shown" not in shown


def _copied(evaluator: TCVAEvaluator, changes: dict[str, Any]) -> TCVAEvaluator:
    return evaluator.model_copy(update=changes)


def _deeply_copied(evaluator: TCVAEvaluator, changes: dict[str, Any]) -> TCVAEvaluator:
    return evaluator.model_copy(update=changes, deep=True)


def _copied_as_before(evaluator: TCVAEvaluator, changes: dict[str, Any]) -> TCVAEvaluator:
    return evaluator.copy(update=changes)


Change = Callable[[TCVAEvaluator, dict[str, Any]], TCVAEvaluator]
CHANGES = [_copied, _deeply_copied, _copied_as_before]
FULL_AND_MINOR = Assessment.from_verdicts(["fully", "minor"])


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


def test_an_additional_judge_follows_the_criterion_at_run_time() -> None:
    step = TCVAEvaluator("lexical", fuse="lexical").configurable_fields(
        criterion=ConfigurableField(id="criterion")
    )
    seen = step.invoke(RECORD, {"configurable": {"criterion": "answer_relevancy"}})
    assert [member["criterion"] for member in seen["members"]] == ["answer_relevancy"]


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


def test_unknown_settings_are_refused() -> None:
    evaluator = TCVAEvaluator("lexical")
    named = r"unknown setting 'temprature' of TCVAEvaluator; its settings are.*llm"
    with pytest.raises(InvalidValueError, match=named):
        evaluator.model_copy(update={"temprature": 0.1})
    with pytest.raises(
        InvalidValueError, match=r"scorer=CCRS.*ScorerEvaluator\(scorer\) takes any"
    ):
        evaluator.model_copy(update={"scorer": CCRS("qr", judge="lexical")})
    with pytest.raises(InvalidValueError, match=r"unknown setting 'temprature' of TCVA"):
        TCVAEvaluator("lexical", temprature=0.1)  # type: ignore[call-arg]  # the point


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 0.1),
        ("llm", None),
        ("scorer", TCVA(judge="lexical")),
        ("mapper", str),
        ("temprature", 0.1),
    ],
)
def test_an_evaluator_is_frozen_and_says_how_to_have_another(name: str, value: Any) -> None:
    evaluator = TCVAEvaluator("lexical", temperature=0.3)
    before = dict(vars(evaluator))
    with pytest.raises(InvalidValueError, match=rf"{name}=.*model_copy\(update=.*'{name}'.*a copy"):
        setattr(evaluator, name, value)
    assert vars(evaluator) == before


def test_the_name_in_traces_may_be_set() -> None:
    evaluator = TCVAEvaluator("lexical")
    evaluator.name = "checked"
    assert evaluator.get_name() == "checked"
    with pytest.raises(InvalidValueError, match="name=7; a text"):
        evaluator.name = 7  # type: ignore[assignment]  # the point


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


def test_a_judge_with_settings_of_its_own_keeps_them_at_run_time() -> None:
    claims = json.dumps({"claims": ["It opens at nine."]})
    judge = ModelJudge(ScriptedModel([claims, verdict_json((1, "fully", ""))]), claims="llm")
    step = TCVAEvaluator(judge).configurable_fields(temperature=ConfigurableField(id="dial"))
    seen = step.invoke(RECORD, {"configurable": {"dial": 0.2}})
    assert [claim["claim"] for claim in seen["claims"]] == ["It opens at nine."]


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


def test_results_copy_and_pickle() -> None:
    output = TCVAEvaluator(scripted(TWO)).invoke(RECORD)
    result = result_of(output)
    assert pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == result  # our own bytes
    assert result_of(pickle.loads(pickle.dumps(output))) == result  # our own bytes


def test_every_setting_of_the_dial_survives_the_output() -> None:
    scoring = Scoring(
        temperature=0.3,
        threshold=0.4,
        scheme=WeightScheme.LINEAR,
        penalty="ramped",
        eps=0.01,
        floor="always",
        on_unscored=0.0,
        bounds=Bounds(-4.0, 4.0),
        fusion=Fusion(0.5, (1.0, 2.0)),
        mapping=HumanScale((0.0, 1.0), (1.0, 5.0)),
    )
    fused = FULL_AND_MINOR.model_copy(update={"members": (Assessment.from_verdicts(["none"]),)})
    result = Result(fused, scoring)
    assert result_of(json.loads(json.dumps(as_output(result)))) == result


@pytest.mark.parametrize("value", [None, {}, {"scoring": {}}, {"scoring": 3, "claims": 3}, 7])
def test_what_is_no_output_is_named(value: Any) -> None:
    with pytest.raises(InvalidValueError, match="no output of a TCVA evaluator"):
        result_of(value)
    broken = {**as_output(Result(FULL_AND_MINOR)), "scoring": {"temperature": 9}}
    with pytest.raises(InvalidValueError, match="no output of a TCVA evaluator"):
        result_of(broken)


def test_metadata_that_is_no_json_does_not_cost_the_judgement() -> None:
    sample = SAMPLE.model_copy(update={"metadata": {"client": object(), "when": {1}}})
    output = TCVAEvaluator(scripted(TWO)).invoke(sample)
    assert output["score"] == pytest.approx(0.65, abs=1e-12)
    assert json.loads(json.dumps(output["metadata"]))["when"] == [1]


def test_a_missing_field_is_told_with_the_names_that_were_given() -> None:
    with pytest.raises(
        InvalidSampleError, match=r"no response.*names read: response,.*names given: said, context;"
    ):
        TCVAEvaluator("lexical").invoke({"said": "At nine.", "context": ["It opens at nine."]})


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_batch_with_exceptions_as_values_keeps_what_was_judged(asynchronous: bool) -> None:
    model = scripted(TWO, ValueError("boom"), TWO)
    evaluator = TCVAEvaluator(model, share=False)
    records: list[Any] = [RECORD, {"answer": "At nine."}, RECORD, 7, RECORD]
    config: Any = {"max_concurrency": 1}
    found: list[Any] = (
        asyncio.run(evaluator.abatch(records, config, return_exceptions=True))
        if asynchronous
        else evaluator.batch(records, config, return_exceptions=True)
    )
    kinds = [f["value"] if isinstance(f, dict) else type(f) for f in found]
    assert kinds == ["pass", InvalidSampleError, "unscored", InvalidSampleError, "pass"]
    assert len(model.prompts) == 3


def test_a_cancelled_stream_leaves_no_call_behind() -> None:
    async def left() -> int:
        asked = asyncio.Event()

        class Waiting(ScriptedChatModel):
            async def _agenerate(self, *_: Any, **__: Any) -> Any:
                asked.set()
                await asyncio.Event().wait()

        async def consume() -> None:
            async for _ in TCVAEvaluator(Waiting(reply=str)).astream(RECORD):
                pass

        task = asyncio.create_task(consume())
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        return len(asyncio.all_tasks()) - 1

    assert asyncio.run(left()) == 0


def test_a_scorer_of_ones_own_is_not_ignored() -> None:
    with pytest.raises(InvalidValueError, match=r"scorer=TCVA.*ScorerEvaluator\(scorer\)"):
        TCVAEvaluator("lexical", scorer=TCVA("correctness", judge="lexical"))  # type: ignore[call-arg]  # what is refused
