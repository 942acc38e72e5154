"""What gates serve: the text, the marks and where they stand, whole and while it is written.

The chains are real. The judge is lexical, or a real chat model of which the replies are scripted.
"""

import asyncio
import pickle
from typing import Any, Final, get_args

import pytest
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.runnables import (
    ConfigurableField,
)

from benchmarks.modes import CASES, FRAMEWORKS, MADE_UP, MODES, NINE, WAYS, pieces, rows
from tcva_adapters import CCRS, Sample
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.langchain import (
    BelowThresholdError,
    Gate,
    ScorerEvaluator,
    TCVAConversationEvaluator,
    TCVAEvaluator,
    gate,
)
from tcva_adapters.serving import REFUSAL, OnFail
from tests.langchain.entry import scripted
from tests.support.scripted import verdict_json

BOTH: Final = f"{NINE} {MADE_UP}"
DOCS: Final = [Document(NINE)]
RECORD: Final[Any] = {"question": "When?", "answer": BOTH, "context": DOCS, "id": "1"}

RAISES: Final = "BelowThresholdError"
SERVED: Final[dict[str, dict[str, str]]] = {
    "supported": {
        "flag": f"{NINE} +",
        "remove": f"{NINE} +",
        "refuse": f"{NINE} +",
        "raise": NINE,
    },
    "one claim unsupported": {
        "flag": f"{BOTH} +-",
        "remove": f"{NINE} +-",
        "refuse": f"{REFUSAL} +-",
        "raise": RAISES,
    },
    "unsupported": {
        "flag": f"{MADE_UP} -",
        "remove": f"{REFUSAL} -",
        "refuse": f"{REFUSAL} -",
        "raise": RAISES,
    },
    "failed judge": {
        "flag": f"Hello! {NINE} +-",
        "remove": f"{REFUSAL} +-",
        "refuse": f"{REFUSAL} +-",
        "raise": RAISES,
    },
    "greeting": {
        "flag": "Hello! How can I help? ++",
        "remove": "Hello! How can I help? ++",
        "refuse": "Hello! How can I help? ++",
        "raise": "Hello! How can I help?",
    },
    "refusal": {
        "flag": "I do not know. +",
        "remove": "I do not know. +",
        "refuse": "I do not know. +",
        "raise": "I do not know.",
    },
    "claim without contexts": {
        "flag": f"{NINE} -",
        "remove": f"{REFUSAL} -",
        "refuse": f"{REFUSAL} -",
        "raise": RAISES,
    },
}


def gated(on_fail: Any, **settings: Any) -> Gate:
    return gate(TCVAEvaluator("lexical", **settings), on_fail=on_fail)


def summed(chunks: Any) -> Any:
    total: Any = None
    for chunk in chunks:
        total = chunk if total is None else total + chunk
    return total


async def asummed(chunks: Any) -> Any:
    return summed([chunk async for chunk in chunks])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_what_comes_out(name: str, mode: str, way: str) -> None:
    assert FRAMEWORKS["langchain"](mode, way, CASES[name]) == SERVED[name][mode]


def test_the_table_shows_what_comes_out() -> None:
    assert {(row.answer, row.on_fail): row.outcome for row in rows("langchain")} == {
        (name, mode): outcome
        for name, outcomes in SERVED.items()
        for mode, outcome in outcomes.items()
    }
    assert set(MODES) == set(get_args(OnFail))


def test_nothing_but_the_answer_changes_in_a_dict() -> None:
    row = gated("remove").invoke(RECORD)
    assert row["answer"] == NINE
    assert {name: row[name] for name in ("question", "context", "id")} == {
        name: RECORD[name] for name in ("question", "context", "id")
    }
    assert RECORD["answer"] == BOTH
    marks = row["tcva"]["marks"]
    assert [BOTH[mark["start"] : mark["end"]].strip() for mark in marks] == [
        NINE,
        MADE_UP,
    ]
    assert [(mark["level"], mark["supported"]) for mark in marks] == [
        ("fully", True),
        ("none", False),
    ]
    assert (row["tcva"]["is_refused"], row["tcva"]["failed"]) == (False, True)


def test_a_record_that_passes_is_the_same_object_where_failures_raise() -> None:
    supported = {**RECORD, "answer": NINE}
    assert gated("raise").invoke(supported) is supported
    with pytest.raises(BelowThresholdError) as error:
        gate(TCVAEvaluator("lexical")).invoke(RECORD)
    assert error.value.value is RECORD


@pytest.mark.parametrize("name", ["response", "answer", "output", "result", "text"])
def test_the_answer_is_replaced_under_the_name_that_was_read(name: str) -> None:
    value = {name: BOTH, "docs": DOCS, "note": BOTH}
    row = gated("remove").invoke(value)
    assert (row[name], row["note"]) == (NINE, BOTH)


def test_equal_texts_are_told_apart() -> None:
    value = {"answer": NINE, "context": [NINE], "question": NINE, "other": NINE}
    row = gated("refuse", threshold=1.0, on_unscored=None).invoke(
        {**value, "context": ["The zoo is far away."]}
    )
    assert (row["answer"], row["question"], row["other"]) == (REFUSAL, NINE, NINE)
    nested = {"inputs": {"question": BOTH}, "outputs": {"answer": BOTH, "docs": [NINE]}}
    served = gated("remove").invoke({**nested, "contexts": [NINE]})
    assert served["outputs"]["answer"] == NINE
    assert served["inputs"] == nested["inputs"]


def test_a_mapper_names_the_answer_by_its_text() -> None:
    def mapper(value: dict[str, Any]) -> dict[str, Any]:
        return {"answer": value["said"], "context": value["found"]}

    value = {"said": BOTH, "found": [NINE], "copied": BOTH}
    assert gated("remove", mapper=mapper).invoke(value)["said"] == NINE
    assert gated("remove", mapper=mapper).invoke(value)["copied"] == BOTH
    upper = gated(
        "remove",
        mapper=lambda x: {"answer": x["said"].replace("nine", "9"), "context": [NINE]},
    )
    with pytest.raises(InvalidSampleError, match=r"stands nowhere .* mapper="):
        upper.invoke({"said": BOTH})


def test_a_message_keeps_its_id_and_all_blocks_that_are_no_text() -> None:
    thought = {"type": "reasoning", "reasoning": "Let me see."}
    picture = {"type": "image", "url": "https://example.com/a.png"}
    blocks: list[Any] = [
        thought,
        {"type": "text", "text": f"{MADE_UP} ", "annotations": ["a"]},
        picture,
        {"type": "text", "text": "The office opens ", "annotations": ["b"]},
        {"type": "text", "text": "at nine."},
    ]
    message = AIMessage(blocks, id="m", usage_metadata=None, name="bot")
    served = gated("remove").invoke({"answer": message, "context": DOCS})["answer"]
    assert served.content == [thought, picture, *blocks[3:]]
    assert (served.id, served.name, message.content) == ("m", "bot", blocks)
    assert [m["supported"] for m in served.response_metadata["tcva"]["marks"]] == [
        False,
        True,
    ]
    refused = gated("refuse").invoke({"answer": message, "context": DOCS})["answer"]
    assert refused.content == [
        thought,
        {"type": "text", "text": REFUSAL, "annotations": ["a"]},
        picture,
    ]
    assert refused.text == REFUSAL


TALK: Final[list[Any]] = [
    HumanMessage("When?", id="1"),
    AIMessage("", tool_calls=[{"name": "find", "args": {}, "id": "c"}], id="2"),
    ToolMessage(NINE, tool_call_id="c", id="3"),
]


def test_the_last_message_of_an_agents_state_is_replaced() -> None:
    state = {"messages": [*TALK, AIMessage(BOTH, id="4")], "other": 1}
    served = gated("remove").invoke(state)
    *before, last = served["messages"]
    assert before == TALK
    assert (last.text, last.id, served["other"]) == (NINE, "4", 1)
    assert last.response_metadata["tcva"] == served["tcva"]
    messages = gated("refuse").invoke(state["messages"])
    assert (messages[-1].text, messages[-1].id) == (REFUSAL, "4")
    pairs = [("user", "When?"), ("tool", NINE), ("assistant", BOTH)]
    served = gated("remove").invoke({"messages": pairs})
    assert served["messages"] == [*pairs[:2], ("assistant", NINE)]
    plain = [{"role": "user", "content": "?"}, {"role": "tool", "content": NINE}]
    plain.append({"role": "assistant", "content": BOTH})
    assert gated("remove").invoke({"messages": plain})["messages"][-1] == {
        "role": "assistant",
        "content": NINE,
    }


def test_an_answer_in_several_messages_is_served_in_the_last() -> None:
    state = {"messages": [*TALK, AIMessage(MADE_UP), AIMessage(NINE)]}
    served = gated("remove").invoke(state)["messages"]
    assert [message.text for message in served[-2:]] == ["", NINE]
    flagged = gated("flag").invoke(state)["messages"]
    assert flagged[-1].text == f"{MADE_UP}\n\n{NINE}"


def test_an_agents_empty_answer_is_refused() -> None:
    state = {"messages": [*TALK, AIMessage("")]}
    assert gated("refuse").invoke(state)["messages"][-1].text == REFUSAL


def mapped(on_fail: Any) -> Gate:
    """A gate for plain texts: their passages stand in the mapper."""
    return gated(on_fail, mapper=lambda text: {"answer": text, "context": [NINE]})


def test_a_plain_text_is_cut_or_refused_but_never_flagged() -> None:
    assert mapped("remove").invoke(BOTH) == NINE
    assert mapped("refuse").invoke(BOTH) == REFUSAL
    assert mapped("raise").invoke(NINE) == NINE
    assert summed(mapped("remove").transform(iter(pieces(BOTH)))) == NINE
    streamed = mapped("flag").transform(iter(pieces(BOTH)))
    for call in (
        lambda: mapped("flag").invoke(BOTH),
        lambda: asyncio.run(mapped("flag").ainvoke(BOTH)),
        lambda: [*streamed],
    ):
        with pytest.raises(InvalidValueError, match=r"'flag' has no place .* a str"):
            call()


@pytest.mark.parametrize("on_fail", ["flag", "remove"])
def test_claims_need_an_evaluator_that_judges_claims(on_fail: Any) -> None:
    named = rf"on_fail='{on_fail}' must be a TCVAEvaluator"
    for evaluator in (
        ScorerEvaluator(CCRS("qr", judge="lexical")),
        TCVAConversationEvaluator("lexical"),
        TCVAEvaluator("lexical").with_retry(),
    ):
        with pytest.raises(InvalidValueError, match=named):
            gate(evaluator, on_fail=on_fail)
    with pytest.raises(InvalidValueError, match=r"claims='split'"):
        gate(
            TCVAEvaluator(scripted(CLAIMS, ONE), claims="llm"), on_fail=on_fail
        ).invoke(RECORD)


CLAIMS: Final = '{"claims": ["The office opens at nine."]}'
ONE: Final = verdict_json((1, "fully", NINE))


def test_other_evaluators_refuse_whole_answers() -> None:
    low = ScorerEvaluator(CCRS("qr", judge=scripted('{"score": 20}')))
    assert gate(low, on_fail="refuse").invoke(RECORD)["answer"] == REFUSAL
    wrapped = gate(TCVAEvaluator("lexical").with_retry(), on_fail="refuse")
    assert wrapped.invoke(RECORD)["answer"] == REFUSAL
    assert summed(wrapped.stream(RECORD))["answer"] == REFUSAL
    talk = gate(TCVAConversationEvaluator("lexical"), on_fail="refuse")
    said = [*TALK, AIMessage(MADE_UP, id="4")]
    assert talk.invoke(said)[-1].text == REFUSAL


@pytest.mark.parametrize(
    "options", [{"on_fail": "drop"}, {"refusal": None}, {"allow_unscored": 1}]
)
def test_a_wrong_option_fails_when_built(options: Any) -> None:
    with pytest.raises(InvalidValueError, match=next(iter(options))):
        gate(TCVAEvaluator("lexical"), **options)
    no_evaluator: Any = "lexical"
    with pytest.raises(InvalidValueError, match="evaluator"):
        gate(no_evaluator)


def test_a_gate_is_frozen_configurable_and_can_be_pickled() -> None:
    step = gated("remove")
    with pytest.raises(InvalidValueError, match=r"on_fail='flag' cannot be set"):
        step.on_fail = "flag"
    assert pickle.loads(pickle.dumps(step)).invoke(RECORD) == step.invoke(RECORD)
    chosen = step.configurable_fields(on_fail=ConfigurableField(id="mode"))
    config: Any = {"configurable": {"mode": "flag"}}
    assert chosen.invoke(RECORD, config)["answer"] == BOTH
    evaluator = TCVAEvaluator("lexical").configurable_fields(
        claim_threshold=ConfigurableField(id="least")
    )
    cut = gate(evaluator, on_fail="remove")
    lenient: Any = {"configurable": {"least": 0.0}}
    assert (cut.invoke(RECORD)["answer"], cut.invoke(RECORD, lenient)["answer"]) == (
        NINE,
        BOTH,
    )


def test_rows_of_a_batch_are_served_each() -> None:
    records = [RECORD, {**RECORD, "answer": NINE}, {"question": "?"}]
    first, second, third = gated("remove").batch(records, return_exceptions=True)
    assert (first["answer"], second["answer"]) == (NINE, NINE)
    assert isinstance(third, InvalidSampleError)


def test_allow_unscored_lets_failed_judges_through_but_marked() -> None:
    evaluator = TCVAEvaluator(scripted(RuntimeError("down")), share=False)
    step = gate(evaluator, on_fail="refuse", allow_unscored=True)
    row = summed(step.transform(iter([RECORD])))
    assert row["answer"] == BOTH
    assert [mark["supported"] for mark in row["tcva"]["marks"]] == [False, False]
    assert row["tcva"]["failed"] is False


def test_a_sample_is_no_value_to_cut() -> None:
    sample = Sample(response=BOTH, contexts=[NINE])
    with pytest.raises(InvalidSampleError, match="stands nowhere"):
        gated("remove").invoke(sample)
    assert gated("raise", threshold=0.0).invoke(sample) is sample
