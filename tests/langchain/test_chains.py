"""TCVAEvaluator in chains: what it passes on, streams, raises, and shows to callbacks."""

import asyncio
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy
from langchain_classic.evaluation import StringEvaluator
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import (
    Runnable,
    RunnableBranch,
    RunnableLambda,
    RunnablePassthrough,
)
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from tcva_adapters import CCRS
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.langchain import (
    BelowThresholdError,
    ScorerEvaluator,
    TCVAEvaluator,
    TCVAMiddleware,
    TCVAStringEvaluator,
    result_of,
)
from tcva_adapters.serving import REFUSAL
from tests.langchain.entry import RECORD, ScriptedChatModel, scripted
from tests.support.office import SAMPLE, SCORE, TWO
from tests.support.scripted import verdict_json


def test_the_output_has_the_keys_of_langchains_string_evaluators_and_the_result() -> (
    None
):
    evaluator = TCVAEvaluator(scripted(TWO))
    (output,) = evaluator.stream(RECORD)  # one chunk
    assert output["score"] == pytest.approx(SCORE, abs=1e-12)
    assert (output["value"], output["passed"]) == ("pass", True)
    assert output["reasoning"] == output["reason"]
    assert [claim["verdict"] for claim in output["claims"]] == ["fully", "minor"]
    usage = output["usage"]
    assert (usage["calls"], usage["input_tokens"], usage["output_tokens"]) == (1, 10, 5)
    assert "never-shown" not in f"{json.dumps(output)} {evaluator.model_dump_json()}"


def test_branches_mappers_and_schemas() -> None:
    chain = RunnablePassthrough.assign(
        tcva=TCVAEvaluator(scripted(TWO), threshold=0.9)
    ) | (
        RunnableBranch(
            (lambda x: x["tcva"]["passed"], lambda x: x["answer"]), lambda _: "Ask us."
        )
    )
    assert chain.invoke(RECORD) == "Ask us."
    mapped = TCVAEvaluator(
        "lexical", mapper=lambda two: {"response": two[0], "contexts": two[1:]}
    )
    assert mapped.invoke(("It opens at nine.", "It opens at nine."))["score"] == 1.0
    fields = mapped.get_input_jsonschema()["$defs"]["TCVAInput"]["properties"]
    assert set(fields) == {"input", "response", "contexts", "reference"}
    assert (
        "score" in mapped.get_output_jsonschema()["$defs"]["TCVAOutput"]["properties"]
    )


def test_metadata_that_is_no_json_does_not_cost_the_judgement() -> None:
    sample = SAMPLE.model_copy(update={"metadata": {"client": object(), "when": {1}}})
    output = TCVAEvaluator(scripted(TWO)).invoke(sample)
    assert output["score"] == pytest.approx(SCORE, abs=1e-12)
    assert json.loads(json.dumps(output["metadata"])).keys() == {"client", "when"}


def test_a_missing_field_is_told_with_the_names_that_were_given() -> None:
    named = r"no response.*said, context.*mapper="
    with pytest.raises(InvalidSampleError, match=named):
        TCVAEvaluator("lexical").invoke(
            {"said": "At nine.", "context": ["It opens at nine."]}
        )
    chain: Runnable[Any, Any] = RunnableLambda(lambda _: "At nine.") | TCVAEvaluator(
        "lexical"
    )
    with pytest.raises(
        InvalidSampleError, match=r"no contexts.*a str.*Add contexts.*assign"
    ):
        chain.invoke("When?")
    with pytest.raises(
        InvalidSampleError, match=r"given prediction, input, response\. Add "
    ):
        TCVAStringEvaluator(TCVAEvaluator("lexical")).evaluate_strings(
            prediction="9", input="?"
        )


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_batch_with_exceptions_as_values_keeps_what_was_judged(
    asynchronous: bool,
) -> None:
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


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_judges_call_is_traced_as_a_child_with_tags_and_metadata(
    asynchronous: bool,
) -> None:
    runs, usage = RunCollectorCallbackHandler(), UsageMetadataCallbackHandler()
    chain = RunnableLambda(lambda x: x) | TCVAEvaluator(scripted(TWO), name="faithful")
    config: Any = {
        "callbacks": [runs, usage],
        "tags": ["nightly"],
        "metadata": {"team": "docs"},
    }
    if asynchronous:
        asyncio.run(chain.ainvoke(RECORD, config))
    else:
        chain.invoke(RECORD, config)
    step = runs.traced_runs[0].child_runs[-1]
    (judge,) = step.child_runs
    assert (step.name, judge.name) == ("faithful", "tcva_judge")
    assert {"nightly", "nostream"} <= set(judge.tags or ())
    assert (judge.extra or {})["metadata"]["team"] == "docs"
    assert usage.usage_metadata["scripted-2026-01-01"]["total_tokens"] == 15
    rated = RunCollectorCallbackHandler()
    evaluator = ScorerEvaluator(CCRS("qr", judge=scripted('{"score": 20}')))
    evaluator.invoke(RECORD, {"callbacks": [rated]})
    assert [child.name for child in rated.traced_runs[0].child_runs] == ["tcva_judge"]


def test_streaming_events_show_evaluator_and_judge() -> None:
    async def names() -> list[tuple[str, str]]:
        events = TCVAEvaluator(scripted(TWO)).astream_events(RECORD, version="v2")
        return [(event["event"], event["name"]) async for event in events]

    seen = asyncio.run(names())
    assert ("on_chat_model_end", "tcva_judge") in seen
    assert seen[-1] == ("on_chain_end", "TCVAEvaluator")


ANSWER = "It opens at nine."


def test_it_is_a_string_evaluator_with_the_usual_keys() -> None:
    medical = {"domain": "medical"}
    judge = TCVAEvaluator("lexical", profiles={"domain": {"medical": 0.2}})
    evaluator = TCVAStringEvaluator(judge)
    assert isinstance(evaluator, StringEvaluator)
    found = evaluator.evaluate_strings(
        prediction=ANSWER, contexts=[ANSWER], metadata=medical
    )
    assert (found["scoring"]["temperature"], found["score"], found["value"]) == (
        0.2,
        1.0,
        "pass",
    )
    assert "1 fully" in found["reasoning"]
    assert result_of(found).at("strict").score == 1.0


def test_it_knows_what_its_criterion_needs() -> None:
    correct = TCVAStringEvaluator(TCVAEvaluator("lexical", criterion="correctness"))
    assert (correct.requires_reference, correct.requires_input) == (True, False)
    assert correct.evaluate_strings(prediction=ANSWER, reference=ANSWER)["score"] == 1.0
    recall = TCVAStringEvaluator(TCVAEvaluator("lexical", criterion="context_recall"))
    found = recall.evaluate_strings(prediction="", reference=ANSWER, contexts=[ANSWER])
    assert found["score"] == 1.0
    relevant = TCVAStringEvaluator(
        TCVAEvaluator("lexical", criterion="answer_relevancy")
    )
    assert relevant.requires_input


def test_wrapped_evaluators_are_taken_where_their_criterion_can_be_seen() -> None:
    tagged = TCVAEvaluator("lexical").with_config(tags=["nightly"])
    evaluator = TCVAStringEvaluator(tagged)  # type: ignore[arg-type]  # it shows the evaluator's attributes
    assert (
        evaluator.evaluate_strings(prediction=ANSWER, contexts=[ANSWER])["score"] == 1.0
    )
    for wrong in (None, "lexical", TCVAEvaluator("lexical").with_retry()):
        with pytest.raises(
            InvalidValueError, match="evaluator must be a TCVAEvaluator"
        ):
            TCVAStringEvaluator(wrong)  # type: ignore[arg-type]  # the point


GOOD, BAD = (verdict_json((1, word, "opens at nine")) for word in ("fully", "none"))
CALL = AIMessage("", tool_calls=[{"name": "find", "args": {}, "id": "1"}])
TOOLS = [CALL, ToolMessage("It opens at nine.", tool_call_id="1")]


class ToolModel(FakeMessagesListChatModel):
    """Takes tools without looking at them: what it calls is scripted."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def find() -> str:
    """Find the opening hours."""
    return "It opens at nine."


def agent(
    judge: ScriptedChatModel,
    *said: AIMessage | str,
    checkpointer: Any = None,
    **options: Any,
) -> Any:
    return create_agent(
        ToolModel(responses=[AIMessage(s) if isinstance(s, str) else s for s in said]),
        tools=[find],
        middleware=[TCVAMiddleware(TCVAEvaluator(judge, share=False), **options)],
        checkpointer=checkpointer,
    )


def ask(built: Any, asynchronous: bool = False, config: Any = None) -> dict[str, Any]:
    question = {"messages": [HumanMessage("When?")]}
    call = (
        built.ainvoke(question, config)
        if asynchronous
        else built.invoke(question, config)
    )
    state: dict[str, Any] = asyncio.run(call) if asynchronous else call
    return state


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_weak_answer_is_sent_back_with_the_reason(asynchronous: bool) -> None:
    judge = scripted(BAD, GOOD)
    state = ask(
        agent(judge, CALL, "It opens at ten.", "It opens at nine."), asynchronous
    )
    assert state["messages"][-1].text == "It opens at nine."
    critique = state["messages"][-2]
    assert (critique.name, critique.type) == ("tcva", "human")
    assert '"It opens at ten." [none]' in critique.text
    assert state["tcva"]["passed"]
    assert result_of(state["tcva"]).score == 1.0
    assert len(judge.prompts) == 2
    assert "It opens at nine." in judge.prompts[0]


def test_retries_end_with_the_refusal_and_the_last_judgement_is_kept() -> None:
    judge = scripted(BAD, BAD)
    built = agent(judge, CALL, "At ten.", AIMessage("At eleven.", id="last"))
    state = ask(built)
    last = state["messages"][-1]
    assert (last.text, last.id, len(state["messages"])) == (REFUSAL, "last", 6)
    assert state["tcva"]["passed"] is False
    assert result_of(state["tcva"]).claims[0].claim == "At eleven."
    (mark,) = last.response_metadata["tcva"]["marks"]
    assert (mark["claim"], mark["supported"]) == ("At eleven.", False)
    own = ask(agent(scripted(BAD), CALL, "At ten.", max_retries=0, refusal="Ask us."))
    assert own["messages"][-1].text == "Ask us."


def test_a_greeting_goes_through_and_an_answer_with_a_failed_judge_is_refused() -> None:
    judge = scripted()
    state = ask(agent(judge, "Hello!"))
    assert state["messages"][-1].text == "Hello!"
    assert state["tcva"]["unscored"]["reason"] == "no_claims"
    assert not judge.prompts
    state = ask(agent(scripted(RuntimeError("boom")), CALL, "At ten."))
    assert (state["messages"][-1].text, state["tcva"]["value"]) == (REFUSAL, "unscored")


def test_an_agent_that_cites_wrongly_is_asked_again() -> None:
    def asked(**settings: Any) -> Any:
        judge = scripted(GOOD, GOOD)
        evaluator = TCVAEvaluator(judge, share=False, **settings)
        said = ["It opens at nine [2].", "At nine [1]."]
        built = create_agent(
            ToolModel(responses=[CALL, *map(AIMessage, said)]),
            tools=[find],
            middleware=[TCVAMiddleware(evaluator)],
        )
        return ask(built)["messages"]

    assert asked()[-1].text == "It opens at nine [2]."
    messages = asked(require_citations=True)
    assert messages[-1].text == "At nine [1]."
    assert "wrong citation [2] (broken)" in messages[-2].text


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_agents_answer_is_flagged_cut_refused_or_raised(asynchronous: bool) -> None:
    two = verdict_json((1, "fully", "opens at nine"), (2, "none", ""))
    said = "It opens at nine. Olav Berg is the captain."

    def asked(on_fail: Any, reply: str | Exception = two, text: str = said) -> Any:
        answer = AIMessage(text, id="last")
        built = agent(scripted(reply), CALL, answer, on_fail=on_fail)
        return ask(built, asynchronous)

    for on_fail, served in (
        ("flag", said),
        ("remove", "It opens at nine."),
        ("refuse", REFUSAL),
    ):
        state = asked(on_fail)
        last = state["messages"][-1]
        assert (last.text, last.id, len(state["messages"])) == (served, "last", 4)
        marks = last.response_metadata["tcva"]["marks"]
        assert [mark["supported"] for mark in marks] == [True, False]
        failed = asked(on_fail, RuntimeError("boom"))["messages"][-1]
        assert failed.text == (said if on_fail == "flag" else REFUSAL)
        marks = failed.response_metadata["tcva"]["marks"]
        assert [mark["supported"] for mark in marks] == [False, False]
        assert asked(on_fail, two, "Hello!")["messages"][-1].text == "Hello!"
    with pytest.raises(BelowThresholdError) as error:
        asked("raise")
    assert error.value.result.score < 0.5
    supported = asked("raise", GOOD, "It opens at nine.")
    assert "tcva" not in supported["messages"][-1].response_metadata


def test_every_question_of_a_conversation_has_its_retries() -> None:
    judge = scripted(BAD, GOOD, BAD, GOOD)
    answers = ("At ten.", "At nine.") * 2
    built = agent(judge, CALL, *answers, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    ask(built, config=config)
    state = ask(built, config=config)
    assert state["messages"][-1].text == "At nine."
    assert len(judge.prompts) == 4


def test_the_judges_tokens_are_not_streamed_to_the_user() -> None:
    built = agent(scripted(GOOD), CALL, "It opens at nine.")
    chunks = built.stream({"messages": [HumanMessage("When?")]}, stream_mode="messages")
    said = "".join(
        str(message.text) for message, _ in chunks if isinstance(message, AIMessage)
    )
    assert "verdicts" not in said


@pytest.mark.parametrize("retries", [-1, "x", True, None, 1.5])
def test_a_wrong_number_of_retries_fails_when_built(retries: Any) -> None:
    named = rf"max_retries.*{retries!r}"
    with pytest.raises(InvalidValueError, match=named):
        TCVAMiddleware(TCVAEvaluator(), max_retries=retries)
    no_evaluator: Any = "lexical"
    with pytest.raises(InvalidValueError, match=r"evaluator must be .*got 'lexical'"):
        TCVAMiddleware(no_evaluator)
    unknown: Any = "drop"
    with pytest.raises(InvalidValueError, match=r"on_fail.*'drop'"):
        TCVAMiddleware(TCVAEvaluator("lexical"), on_fail=unknown)
    with pytest.raises(InvalidValueError, match=r"'remove' must be a TCVAEvaluator"):
        TCVAMiddleware(ScorerEvaluator(CCRS("qr", judge="lexical")), on_fail="remove")


class Hours(BaseModel):
    """A structured answer."""

    text: str


@pytest.mark.parametrize(
    ("on_fail", "said", "held"),
    [
        ("remove", [BAD], None),
        ("refuse", [BAD], None),
        ("flag", [BAD], "ten"),
        ("remove", [GOOD], "nine"),
        ("retry", [BAD, GOOD], "nine"),
        ("retry", [BAD, BAD], None),
    ],
)
def test_a_structured_response_that_is_not_served_is_none(
    on_fail: Any, said: list[str], held: str | None
) -> None:
    hours = ("ten", "nine") if BAD in said else ("nine",)
    answers = [f'{{"text": "It opens at {hour}."}}' for hour in hours]
    middleware = TCVAMiddleware(
        TCVAEvaluator(scripted(*said), share=False), on_fail=on_fail
    )
    built: Any = create_agent(
        ToolModel(responses=[CALL, *map(AIMessage, answers)]),
        tools=[find],
        middleware=[middleware],
        response_format=ProviderStrategy(Hours),
    )
    response = ask(built)["structured_response"]
    assert response == (held and Hours(text=f"It opens at {held}."))


def test_what_passes_is_only_judged() -> None:
    state: Any = {"messages": [HumanMessage("When?"), *TOOLS, AIMessage(ANSWER)]}

    def mapper(state: Any) -> dict[str, Any]:
        return {"answer": state["messages"][-1].text.upper(), "context": [ANSWER]}

    for evaluator in (
        TCVAEvaluator(scripted(GOOD)),
        TCVAEvaluator(scripted(GOOD), mapper=mapper),
    ):
        once = TCVAMiddleware(evaluator, max_retries=0)
        update = once.after_model(state, None) or {}
        assert update.keys() == {"tcva"}
        assert update["tcva"]["passed"]
    refused = TCVAMiddleware(TCVAEvaluator(scripted(BAD), mapper=mapper), max_retries=0)
    with pytest.raises(InvalidSampleError, match=r"no text or message .* mapper="):
        refused.after_model(state, None)


def test_any_scorer_judges_answers() -> None:
    evaluator = ScorerEvaluator(CCRS("qr", judge=scripted('{"score": 20}')))
    state: Any = {
        "messages": [HumanMessage("When?"), *TOOLS, AIMessage("It opens at ten.")]
    }
    update = TCVAMiddleware(evaluator).after_model(state, None) or {}
    assert result_of(update["tcva"]).scores == {"qr": 0.2}
    assert "question relevance 0.200" in update["messages"][0].text
