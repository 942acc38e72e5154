"""TCVAEvaluator as a step of chains. The model is scripted, all else is LangChain."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import (
    ConfigurableField,
    RunnableBranch,
    RunnableLambda,
    RunnablePassthrough,
)
from tests.langchain.entry import ScriptedChatModel, arun, run, scripted
from tests.support.scripted import ScriptedModel, verdict_json

from tcva_adapters import TCVA, Sample
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.judging.criteria import rubric
from tcva_adapters.langchain import TCVAEvaluator, result_of

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


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_batch_keeps_order_and_a_failure_stays_alone(asynchronous: bool) -> None:
    def reply(prompt: str) -> str:
        if "note 3" in prompt:
            msg = "boom"
            raise RuntimeError(msg)
        return verdict_json((1, "fully", "opens at nine"))

    samples = [
        Sample(id=f"s{i}", response="It opens at nine.", contexts=(f"note {i}: opens at nine",))
        for i in range(12)
    ]
    results = run(samples, reply, asynchronous=asynchronous)
    assert [r.assessment.sample_id for r in results] == [s.id for s in samples]
    assert [r.score for r in results] == [None if i == 3 else 1.0 for i in range(12)]
    assert "boom" in results[3].reason


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
    step = TCVAEvaluator(model).configurable_fields(
        temperature=ConfigurableField(id="tcva_temperature")
    )
    chain = RunnablePassthrough.assign(tcva=step)
    lenient = chain.invoke(RECORD, {"configurable": {"tcva_temperature": "lenient"}})["tcva"]
    assert lenient["scoring"]["temperature"] == 0.9
    assert lenient["score"] == result_of(chain.invoke(RECORD)["tcva"]).at("lenient").score
    with pytest.raises(InvalidValueError, match="5"):
        chain.invoke(RECORD, {"configurable": {"tcva_temperature": 5}})
    assert len(model.prompts) == 2


def test_branches_and_tools_and_schemas() -> None:
    chain = RunnablePassthrough.assign(tcva=TCVAEvaluator(scripted(TWO), threshold=0.9)) | (
        RunnableBranch((lambda x: x["tcva"]["passed"], lambda x: x["answer"]), lambda _: "Ask us.")
    )
    assert chain.invoke(RECORD) == "Ask us."
    evaluator = TCVAEvaluator()
    fields = evaluator.get_input_jsonschema()["$defs"]["TCVAInput"]["properties"]
    assert set(fields) == {"input", "response", "contexts", "reference"}
    assert "score" in evaluator.get_output_jsonschema()["$defs"]["TCVAOutput"]["properties"]


def test_a_mapper_reads_any_other_shape() -> None:
    evaluator = TCVAEvaluator(
        mapper=lambda pair: {"response": pair[0], "contexts": pair[1].splitlines()}
    )
    assert (
        evaluator.invoke(("It opens at nine.", "It opens at nine.\nSundays: no."))["score"] == 1.0
    )


def test_a_missing_field_is_a_value_error_that_names_it() -> None:
    with pytest.raises(InvalidSampleError, match="no contexts, which faithfulness needs") as caught:
        TCVAEvaluator().invoke({"answer": "It opens at nine."})
    assert isinstance(caught.value, ValueError)
    good = {"answer": "Yes.", "context": ["Yes."]}
    found: list[Any] = TCVAEvaluator().batch([good, {"answer": "Yes."}], return_exceptions=True)
    assert isinstance(found[1], InvalidSampleError)
    assert found[0]["value"] in ("pass", "unscored")


def test_unscored_samples_say_why_and_may_be_given_a_score() -> None:
    record = {"answer": "It opens at nine.", "context": []}
    output = TCVAEvaluator().invoke(record)
    assert (output["score"], output["passed"], output["value"]) == (None, None, "unscored")
    assert output["unscored"] is not None
    assert output["unscored"]["reason"] == "empty_context"
    assert TCVAEvaluator(on_unscored=0.0).invoke(record)["value"] == "fail"


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


def test_unicode_reaches_the_judge_and_comes_back() -> None:
    quote = "営業時間は九時からです"
    model = scripted(verdict_json((1, "fully", quote)))
    output = TCVAEvaluator(model).invoke({"answer": f"{quote}。", "context": [f"{quote}。🌅"]})
    assert "🌅" in model.prompts[0]
    assert output["claims"][0]["evidence"] == quote
    assert output["score"] == 1.0


def test_every_criterion_can_be_chosen() -> None:
    polite = rubric("tone", ["Is polite."])
    output = TCVAEvaluator(scripted(verdict_json((1, "mostly", ""))), criterion=polite).invoke(
        AIMessage("Gladly!")
    )
    assert (output["criterion"], output["score"]) == ("tone", 0.9)
    right = TCVAEvaluator(criterion="correctness").invoke(
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


def test_claims_by_the_judge_take_two_calls() -> None:
    model = scripted(json.dumps({"claims": ["It opens at nine."]}), verdict_json((1, "minor", "")))
    output = TCVAEvaluator(model, claims="llm").invoke(RECORD)
    assert [claim["claim"] for claim in output["claims"]] == ["It opens at nine."]
    assert output["usage"]["calls"] == len(model.prompts) == 2


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
        ({"llm": None}, "None"),
        ({"claims": "llm"}, "llm"),
        ({"max_claims": 0}, "max_claims=0"),
    ],
)
def test_wrong_settings_fail_when_built(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidValueError, match=named):
        TCVAEvaluator(**options)


def test_nothing_of_the_llm_is_shown_in_the_repr_or_the_output() -> None:
    evaluator = TCVAEvaluator(scripted(TWO))
    shown = f"{evaluator!r} {json.dumps(evaluator.invoke(RECORD))} {evaluator.model_dump_json()}"
    assert "never-shown" not in shown


async def _many(count: int) -> list[Any]:
    samples = [
        Sample(response="It opens at nine.", contexts=(f"{i}: opens at nine",))
        for i in range(count)
    ]
    return await arun(samples, lambda _: verdict_json((1, "mostly", "opens at nine")))


def test_fifty_samples_at_once() -> None:
    assert {r.score for r in asyncio.run(_many(50))} == {0.9}
