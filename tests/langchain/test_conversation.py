"""Lists of messages in LangChain: their shapes, LangSmith, openevals' convention, gates."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, messages_to_dict

from tcva_adapters import langchain
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain import TCVAConversationEvaluator, result_of
from tests.adapters.test_conversations import MESSAGES, TALK, reply
from tests.langchain.entry import ScriptedChatModel, messages_of, run_of

SAID = messages_of(TALK)
DICTS = [{"role": role, "content": text} for role, text in MESSAGES]


def evaluator(**settings: Any) -> Any:
    return TCVAConversationEvaluator(ScriptedChatModel(reply=reply), **settings)


@pytest.mark.parametrize("value", [
    *(SAID, DICTS, MESSAGES, TALK, {"messages": SAID}, {"messages": messages_to_dict(SAID)}),
    {"inputs": {"messages": DICTS[:1]}, "outputs": {"messages": DICTS}},
    {"outputs": DICTS},
    [*SAID[:-1], AIMessage("Bad."), HumanMessage("Try again.", name="tcva"), SAID[-1]],
])  # fmt: skip
def test_every_shape_of_messages_has_the_same_verdicts(value: Any) -> None:
    results = [
        result_of(json.dumps(evaluator().invoke(each))) for each in (value, SAID)
    ]
    assert [result.kind for result in results] == ["conversation"] * 2
    assert results[0].claims == results[1].claims
    assert [turn.score is None for turn in results[0].turns] == [False, True, False]


def test_langsmith_openevals_and_gates_take_it_as_it_is() -> None:
    chat = evaluator(threshold=0.9)
    output = chat.invoke({"messages": SAID, "id": "talk", "metadata": {"domain": "x"}})
    about = {"sample_id": "talk", "metadata": {"domain": "x"}, "value": "fail"}
    assert output == output | about
    result = result_of(output)
    run = run_of({"messages": DICTS[:1]}, {"messages": messages_to_dict(SAID)})
    feedback: Any = langchain.TCVARunEvaluator(chat).evaluate_run(run)
    judged = langchain.create_tcva_judge(chat)(
        inputs={}, outputs=DICTS, reference_outputs=None
    )
    for found in (feedback.model_dump(), judged):
        assert (found["key"], found["score"]) == (
            "tcva_faithfulness(threshold=0.9)",
            result.score,
        )
        assert result_of(found).claims == result.claims
    run = run_of({}, {"messages": messages_to_dict(SAID[:1])})
    failed = langchain.TCVARunEvaluator(chat).evaluate_run(run)
    assert (failed.score, failed.extra) == (None, {"error": True})
    with pytest.raises(langchain.BelowThresholdError) as stopped:
        langchain.gate(chat).invoke(SAID)
    assert stopped.value.result == result_of(chat.invoke(SAID))


def test_the_error_for_other_values_than_conversations_says_what_is_missing() -> None:
    for value, said in (
        ([HumanMessage("When?")], "no message of the user is followed"),
        (7, "give a mapping or a list of messages, got int; mapper= can make one"),
        ([7], "a message must have a role"),
        ({"answers": ["No."]}, "must have messages, got answers"),
    ):
        with pytest.raises(InvalidSampleError, match=said):
            evaluator().invoke(value)
    with pytest.raises(
        InvalidSampleError, match="has no reference, which correctness needs"
    ):
        evaluator(criterion="correctness").invoke(SAID)
    (turn,) = evaluator().invoke([HumanMessage("When?"), AIMessage("At nine.")])[
        "turns"
    ]
    assert turn["unscored"]["reason"] == "empty_context"
    inputs, outputs = (
        {"messages": DICTS[:7]},
        {"answer": "Coffee.", "context": ["Coffee."]},
    )
    _, thanks, last = evaluator().invoke({"inputs": inputs, "outputs": outputs})[
        "turns"
    ]
    assert thanks["unscored"]["reason"] == "no_claims"
    assert last["claims"][0]["claim"] == "Coffee."
    with_contexts = {
        "messages": [("user", "When?"), ("ai", "Coffee.")],
        "contexts": ["Coffee."],
    }
    assert TCVAConversationEvaluator("lexical").invoke(with_contexts)["score"] == 1.0
