"""What gates serve: the text, the marks and where they stand, whole and while it is written.

The chains are real. The judge is lexical, or a real chat model of which the replies are scripted.
"""

import asyncio
import pickle
from collections.abc import AsyncIterator, Callable, Iterator
from copy import deepcopy
from typing import Any, Final, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    ToolMessage,
)
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import (
    AddableDict,
    ConfigurableField,
    Runnable,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langgraph.graph import START, MessagesState, StateGraph

from benchmarks.modes import CASES, FRAMEWORKS, MADE_UP, MODES, NINE, WAYS, pieces
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
from tests.langchain.entry import ScriptedChatModel, scripted
from tests.support.scripted import verdict_json
from tests.support.server import auto_judge

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
    "cited": {
        "flag": f"{CASES['cited'].answer} ++",
        "remove": f"{CASES['cited'].answer} ++",
        "refuse": f"{CASES['cited'].answer} ++",
        "raise": CASES["cited"].answer,
    },
    "cited elsewhere": {
        "flag": f"{CASES['cited elsewhere'].answer} -+",
        "remove": "The office opens at nine [1]. -+",
        "refuse": f"{REFUSAL} -+",
        "raise": RAISES,
    },
    "no such passage": {
        "flag": f"{CASES['no such passage'].answer} -",
        "remove": f"{REFUSAL} -",
        "refuse": f"{REFUSAL} -",
        "raise": RAISES,
    },
}

SENT: Final = {"one claim unsupported": f"{NINE}\n\n"}
"""What a stream has sent before the claim that is refused: it stays."""


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
@pytest.mark.parametrize("name", SERVED)
def test_what_comes_out(name: str, mode: str, way: str) -> None:
    sent = SENT.get(name, "") if mode == "refuse" and "streamed" in way else ""
    assert FRAMEWORKS["langchain"](mode, way, CASES[name]) == sent + SERVED[name][mode]


def test_every_mode_is_in_the_table() -> None:
    assert set(MODES) == set(get_args(OnFail))
    objects = {name for name, case in CASES.items() if case.is_object}
    assert CASES.keys() - objects == SERVED.keys()


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
    longer = gated(
        "remove", mapper=lambda x: {"answer": f"{x['said']} Yes.", "context": [NINE]}
    )
    for step in (upper, longer):
        with pytest.raises(InvalidSampleError, match=r"no text or message .* mapper="):
            step.invoke({"said": BOTH})


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
    assert served.content == [thought, picture, {"type": "text", "text": NINE}]
    assert (served.id, served.name, message.content) == ("m", "bot", blocks)
    assert [m["supported"] for m in served.response_metadata["tcva"]["marks"]] == [
        False,
        True,
    ]
    flagged = gated("flag").invoke({"answer": message, "context": DOCS})["answer"]
    assert flagged.content == blocks
    refused = gated("refuse").invoke({"answer": message, "context": DOCS})["answer"]
    assert (refused.text, refused.content[:2]) == (REFUSAL, [thought, picture])


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
    assert gated("remove").invoke({"messages": pairs})["messages"] == [
        *pairs[:2],
        ("assistant", NINE),
    ]
    plain = [{"role": "user", "content": "?"}, {"role": "tool", "content": NINE}]
    plain.append({"role": "assistant", "content": BOTH})
    assert gated("remove").invoke({"messages": plain})["messages"][-1] == {
        "role": "assistant",
        "content": NINE,
    }


def test_an_answer_in_several_messages_is_served_in_the_last() -> None:
    state = {"messages": [*TALK, AIMessage(MADE_UP), AIMessage(""), AIMessage(NINE)]}
    for on_fail, served in (
        ("remove", NINE),
        ("refuse", REFUSAL),
    ):
        messages = gated(on_fail).invoke(state)["messages"]
        assert [message.text for message in messages[-3:]] == ["", "", served]
        assert messages[:-3] == TALK


def test_an_answer_of_which_nothing_is_cut_stays_in_its_messages() -> None:
    called = AIMessage(NINE, tool_calls=[{"name": "f", "args": {}, "id": "2"}])
    bad = [*TALK, called, ToolMessage(NINE, tool_call_id="2"), AIMessage(MADE_UP)]
    good = [*TALK, AIMessage(f"{NINE}\n"), AIMessage("Welcome!")]
    for on_fail, said in (
        ("flag", bad),
        ("flag", good),
        ("refuse", good),
        ("remove", good),
    ):
        messages = gated(on_fail).invoke(said)
        assert [m.content for m in messages] == [m.content for m in said]
        assert messages[:-1] == said[:-1]
        assert messages[-1].response_metadata["tcva"]["marks"]


def test_the_structured_response_of_an_answer_that_is_cut_is_none() -> None:
    state = {
        "messages": [*TALK, AIMessage(BOTH)],
        "structured_response": {"text": BOTH},
    }
    for on_fail, held in (("remove", None), ("refuse", None), ("flag", {"text": BOTH})):
        assert gated(on_fail).invoke(state)["structured_response"] == held
    assert state["structured_response"] == {"text": BOTH}


def test_a_mapped_answer_is_streamed_as_a_call_serves_it() -> None:
    """The mapper takes another answer from the text when its end has come."""

    def mapper(x: dict[str, str]) -> dict[str, Any]:
        return {"answer": x["out"].split("FINAL:")[-1], "context": [NINE]}

    step = gated("raise", mapper=mapper)
    said = [
        {"out": piece} for piece in pieces(f"{NINE} {NINE} {NINE} FINAL: {MADE_UP}")
    ]
    for asynchronous in (False, True):
        with pytest.raises(BelowThresholdError):
            streamed(step, *said, asynchronous=asynchronous)
    (chunk,) = streamed(
        gated("remove", mapper=lambda x: {**x, "context": [NINE]}), *ANSWER
    )
    assert chunk["answer"] == NINE


def test_the_error_for_an_agents_updates_names_the_way_out() -> None:
    updates: Any = [{"model": {"messages": TALK}}, {"tools": {"messages": TALK}}]
    with pytest.raises(InvalidSampleError, match=r"RunnableLambda\(agent\.invoke\)"):
        streamed(gated("remove"), *updates)


@pytest.mark.parametrize("before", ["", "\n", " \n\n"])
@pytest.mark.parametrize("after", ["", "\n", "\n\n  "])
def test_white_space_around_an_answer_stays(before: str, after: str) -> None:
    good, cut = f"{before}{NINE}{after}", f"{before}{BOTH}{after}"
    for on_fail in ("remove", "refuse", "flag"):
        step = gated(on_fail)
        assert step.invoke({**RECORD, "answer": good})["answer"] == good
        said = step.invoke([*TALK, AIMessage(good, id="4")])[-1]
        assert (said.content, said.id) == (good, "4")
        total = summed(
            streamed(step, {"context": DOCS}, *({"answer": c} for c in good))
        )
        assert total["answer"] == good
    row = gated("remove").invoke({**RECORD, "answer": cut})
    parts = streamed(gated("remove"), {"context": DOCS}, *({"answer": c} for c in cut))
    assert row["answer"] == summed(parts)["answer"]
    assert row["answer"].startswith(f"{before}{NINE}")
    marks = row["tcva"]["marks"]
    assert [cut[m["start"] : m["end"]].strip() for m in marks] == [NINE, MADE_UP]
    refused = gated("refuse").invoke([*TALK, AIMessage(cut)])
    assert refused[-1].text == REFUSAL


@pytest.mark.parametrize(
    "texts", [("We ", "open "), (" We", " open"), (" ", "We open")]
)
def test_a_stream_may_begin_or_end_in_white_space(texts: tuple[str, ...]) -> None:
    answer = [{"answer": text} for text in (*texts, " at nine. ", f"{MADE_UP} ", "\n")]
    docs = {"context": [Document("We open at nine.")]}
    total = summed(streamed(gated("remove"), docs, *answer))
    assert total["answer"].split() == ["We", "open", "at", "nine."]


def test_an_agents_empty_answer_is_refused_or_says_why_it_fails() -> None:
    state = {"messages": [*TALK, AIMessage("")]}
    assert gated("refuse").invoke(state)["messages"][-1].text == REFUSAL
    # With flags it stays, and says why it fails.
    flagged = gated("flag").invoke(state)
    marks = flagged["tcva"]
    assert flagged["messages"][-1].text == ""
    assert (marks["failed"], marks["marks"]) == (True, [])
    assert marks["why"] == "unscored: empty_response: the response is empty"


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
    assert summed(cut.transform(iter([RECORD]), lenient))["answer"] == BOTH


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


# Streams


def chunks_of(*entries: Any) -> Iterator[Any]:
    yield from entries


async def achunks_of(*entries: Any) -> AsyncIterator[Any]:
    for entry in entries:
        yield entry


def streamed(step: Any, *entries: Any, asynchronous: bool = False) -> list[Any]:
    if not asynchronous:
        return [*step.transform(chunks_of(*entries))]

    async def collected() -> list[Any]:
        return [chunk async for chunk in step.atransform(achunks_of(*entries))]

    return asyncio.run(collected())


ANSWER: Final = [{"answer": piece} for piece in pieces(BOTH)]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("on_fail", ["flag", "remove", "refuse"])
def test_the_chunks_add_up_to_what_invoke_returns(
    on_fail: str, asynchronous: bool
) -> None:
    step = gated(on_fail)
    chunks = streamed(
        step,
        {"question": "When?"},
        {"context": DOCS},
        *ANSWER,
        {"id": "1"},
        asynchronous=asynchronous,
    )
    total = summed(chunks)
    whole = step.invoke(RECORD)
    if on_fail == "refuse":  # what was sent before the claim that fails stays
        assert total["answer"].replace(REFUSAL, "").strip() in BOTH
        assert total["tcva"]["is_refused"] is True
        return
    assert total == whole


def test_other_entries_pass_before_the_answer_is_complete() -> None:
    seen: list[Any] = []

    def source() -> Iterator[Any]:
        yield {"question": "When?"}
        yield {"context": DOCS}
        yield from ANSWER[:2]
        assert seen == [{"question": "When?"}, {"context": DOCS}]
        yield {"title": "Hours"}
        assert seen[-1] == {"title": "Hours"}
        yield from ANSWER[2:]

    for chunk in gated("remove").transform(source()):
        seen.append(chunk)  # noqa: PERF402  # the source looks at it meanwhile
    assert summed(seen)["answer"] == NINE


def test_what_comes_after_a_refusal_passes_except_the_answers_rest() -> None:
    chunks = streamed(
        gated("refuse"),
        {"context": DOCS},
        *[{"answer": piece} for piece in pieces(f"{MADE_UP} {BOTH} {BOTH}")],
        {"usage": 7},
    )
    total = summed(chunks)
    assert (total["answer"], total["usage"]) == (REFUSAL, 7)
    assert total["tcva"]["is_refused"] is True


def test_text_waits_for_contexts_that_come_later() -> None:
    chunks = streamed(gated("remove"), *ANSWER, {"question": "?"}, {"context": DOCS})
    names = [next(iter(chunk)) for chunk in chunks]
    assert names.index("context") < names.index("answer")
    assert summed(chunks)["answer"] == NINE


def test_contexts_that_go_on_after_the_answer_has_begun_are_refused() -> None:
    with pytest.raises(
        InvalidSampleError, match=r"its contexts, changed after .* begun"
    ):
        streamed(gated("remove"), {"context": DOCS}, *ANSWER, {"context": DOCS})


def test_marks_at_the_end_give_no_empty_text() -> None:
    picked = streamed(gated("remove").pick("answer"), {"context": DOCS}, *ANSWER)
    assert picked == [NINE]
    mapped = {"context": DOCS, "answer": ""}
    assert summed(streamed(gated("flag"), mapped)) == gated("flag").invoke(mapped)


def test_entries_that_cannot_be_read_end_a_stream_that_has_begun() -> None:
    with pytest.raises(InvalidSampleError, match="reference"):
        streamed(gated("remove"), {"context": DOCS}, *ANSWER, {"reference": 5.5})


def test_without_contexts_a_stream_ends_as_a_call_does() -> None:
    with pytest.raises(InvalidSampleError, match=r"no contexts"):
        streamed(gated("remove"), {"question": "?"}, *ANSWER)
    greeting = streamed(gated("remove"), {"question": "?"}, {"answer": "Hello!"})
    assert summed(greeting)["answer"] == "Hello!"


def test_an_answer_that_moves_to_another_entry_is_refused() -> None:
    with pytest.raises(InvalidSampleError, match=r"the answer, or .* changed after"):
        streamed(
            gated("remove"),
            {"context": DOCS},
            *[{"output": piece} for piece in pieces(BOTH)],
            {"answer": MADE_UP},
        )


def test_a_mapper_that_needs_every_entry_holds_the_text_until_they_are_there() -> None:
    def mapper(value: dict[str, Any]) -> dict[str, Any]:
        return {"answer": value["said"], "context": value["found"]}

    step = gated("remove", mapper=mapper)
    said = [{"said": piece} for piece in pieces(BOTH)]
    chunks = streamed(step, *said[:3], {"found": [NINE]}, *said[3:])
    assert summed(chunks)["said"] == NINE
    changing = gated(
        "remove", mapper=lambda x: {"answer": x["said"].upper(), "context": [NINE]}
    )
    with pytest.raises(InvalidSampleError, match="no text or message"):
        streamed(changing, *said)


def test_marks_replace_the_evaluators_output_under_their_name() -> None:
    evaluator = TCVAEvaluator("lexical")
    chain = RunnablePassthrough.assign(tcva=evaluator) | gate(evaluator, on_fail="flag")
    assert summed(chain.stream(RECORD)) == chain.invoke(RECORD)
    kept = RunnablePassthrough.assign(tcva=evaluator) | gate(evaluator)
    supported = {**RECORD, "answer": NINE}
    assert summed(kept.stream(supported))["tcva"]["score"] == 1.0


MESSAGES: Final = [
    AIMessageChunk(
        content=[{"type": "reasoning", "reasoning": "Hm.", "index": 0}], id="m"
    ),
    *(AIMessageChunk(content=piece, id="m") for piece in pieces(BOTH)),
    AIMessageChunk(
        content="",
        id="m",
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
        response_metadata={"model_name": "m1"},
        chunk_position="last",
    ),
]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_messages_stream_with_all_that_is_no_text(asynchronous: bool) -> None:
    chunks = streamed(
        gated("remove"),
        {"context": DOCS},
        *({"answer": chunk} for chunk in deepcopy(MESSAGES)),
        asynchronous=asynchronous,
    )
    message = summed(chunks)["answer"]
    assert (message.text, message.id) == (NINE, "m")
    assert message.content[0]["reasoning"] == "Hm."
    assert message.usage_metadata["total_tokens"] == 7
    assert message.response_metadata["model_name"] == "m1"
    marks = message.response_metadata["tcva"]
    assert [mark["supported"] for mark in marks["marks"]] == [True, False]
    alone = gated("flag", mapper=lambda m: {"answer": m.text, "context": [NINE]})
    said = summed(streamed(alone, *deepcopy(MESSAGES), asynchronous=asynchronous))
    assert said.text == BOTH
    assert said.response_metadata["tcva"]["failed"] is True


@pytest.mark.parametrize("parsed", [False, True])
def test_a_chat_models_stream_is_cut(parsed: bool) -> None:
    text = f"Here are the facts:\n\n- {NINE}\n- {MADE_UP}\n\nWelcome!"
    model: Runnable[Any, Any] = GenericFakeChatModel(
        messages=iter([AIMessage(text, id="m")] * 2)
    )
    if parsed:
        model = model | StrOutputParser()
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    chain = RunnablePassthrough.assign(context=lambda _: DOCS).assign(
        answer=prompt | model
    ) | gated("remove")
    chunks = [*chain.stream({"question": "When?"})]
    total, whole = summed(chunks), chain.invoke({"question": "When?"})
    said = [row["answer"] if parsed else row["answer"].text for row in (total, whole)]
    assert said == [f"Here are the facts:\n\n- {NINE}\n\nWelcome!"] * 2
    assert total["tcva"] == whole["tcva"]
    if not parsed:
        assert total["answer"].response_metadata["tcva"] == whole["tcva"]
    assert len([chunk for chunk in chunks if "answer" in chunk]) <= 6


def test_a_node_of_a_graph_can_be_a_gate() -> None:
    graph = StateGraph(MessagesState)
    said = [ToolMessage(NINE, tool_call_id="1"), AIMessage(BOTH)]
    graph.add_node("say", lambda _: {"messages": said})
    graph.add_node("gate", gated("remove"))
    graph.add_edge(START, "say")
    graph.add_edge("say", "gate")
    state = graph.compile().invoke({"messages": [HumanMessage("When?")]})
    assert [message.text for message in state["messages"]] == ["When?", NINE, NINE]


def test_whole_messages_and_states_are_served_at_the_end() -> None:
    chunks = streamed(gated("remove"), {"answer": AIMessage(BOTH)}, {"context": DOCS})
    assert summed(chunks)["answer"].text == NINE
    state = {"messages": [*TALK, AIMessage(BOTH, id="4")], "other": 1}
    (served,) = streamed(gated("remove"), state)
    assert served["other"] == 1
    assert served["messages"][-1].text == NINE


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stream_raises_if_the_whole_answer_fails(asynchronous: bool) -> None:
    step = gated("raise")
    chunks = streamed(
        step, {"context": DOCS}, {"answer": NINE}, asynchronous=asynchronous
    )
    assert summed(chunks) == {"context": DOCS, "answer": NINE}
    with pytest.raises(BelowThresholdError) as error:
        streamed(step, {"context": DOCS}, *ANSWER, asynchronous=asynchronous)
    assert error.value.output["passed"] is False
    assert error.value.result.claims[-1].claim == MADE_UP
    for on_fail in ("raise", "refuse"):  # a claim below the threshold may pass
        lenient = gated(on_fail, threshold=0.1)
        entries = [{"context": DOCS}, {"answer": NINE}, {"answer": f" {MADE_UP}"}]
        total = summed(streamed(lenient, *entries, asynchronous=asynchronous))
        assert total == lenient.invoke({"context": DOCS, "answer": BOTH})


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_judges_calls_are_children_of_the_gates_run(asynchronous: bool) -> None:
    runs = RunCollectorCallbackHandler()
    model = scripted(*[verdict_json((1, "fully", NINE))] * 9)
    step = gate(TCVAEvaluator(model, share=False), on_fail="remove")
    config: Any = {"callbacks": [runs], "tags": ["nightly"]}
    entries = {"context": DOCS}, {"answer": NINE}
    if asynchronous:
        total = asyncio.run(asummed(step.atransform(achunks_of(*entries), config)))
    else:
        total = summed(step.transform(chunks_of(*entries), config))
    assert total["answer"] == NINE
    (run,) = runs.traced_runs
    assert run.name == "tcva_gate"
    assert {child.name for child in run.child_runs} == {"tcva_judge"}
    assert all("nightly" in (child.tags or ()) for child in run.child_runs)
    whole = RunCollectorCallbackHandler()
    step.invoke({"context": DOCS, "answer": NINE}, {"callbacks": [whole]})
    (evaluator,) = whole.traced_runs[0].child_runs
    assert [child.name for child in evaluator.child_runs] == ["tcva_judge"]


def test_a_mapper_is_not_asked_again_for_each_piece_of_a_text() -> None:
    asked: list[str] = []

    def mapper(text: str) -> dict[str, Any]:
        asked.append(text)
        return {"answer": text, "context": [NINE]}

    step = gated("remove", mapper=mapper)
    assert summed(step.transform(iter(pieces(BOTH, 1)))) == NINE
    assert len(asked) <= 4  # once to judge, and where the answer stands


def test_entries_that_cannot_be_added_do_not_cost_the_answer() -> None:
    usage = [{"usage": object()}, {"usage": object()}]
    chunks = streamed(
        gated("flag"), {"context": DOCS}, *ANSWER[:3], *usage, *ANSWER[3:]
    )
    assert "".join(chunk.get("answer", "") for chunk in chunks) == BOTH
    assert [chunk for chunk in chunks if "usage" in chunk] == usage


@given(
    sentences=st.lists(
        st.sampled_from([NINE, MADE_UP, "Welcome!", "Dogs are fine."]), max_size=6
    ),
    is_message=st.booleans(),
    on_fail=st.sampled_from(["flag", "remove"]),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_entries_in_any_order_add_up_to_what_invoke_returns(
    sentences: list[str], is_message: bool, on_fail: str, data: st.DataObject
) -> None:
    text = " ".join(sentences)
    size = data.draw(st.integers(1, 40))
    parts: list[Any] = pieces(text, size) or [""]
    if is_message:
        parts = [AIMessageChunk(content=part, id="m") for part in parts]
    chunks: list[Any] = [{"answer": part} for part in parts]
    for entry in ({"question": "When?"}, {"context": DOCS}, {"title": MADE_UP}):
        chunks.insert(data.draw(st.integers(0, len(chunks))), entry)
    step = gated(on_fail)
    total = summed(streamed(step, *chunks))
    whole = step.invoke(summed(map(AddableDict, chunks)))
    assert (total.pop("tcva"), total["title"]) == (whole.pop("tcva"), MADE_UP)
    said = [
        row["answer"].text if is_message else row["answer"] for row in (total, whole)
    ]
    assert said[0] == said[1]


def judging() -> ScriptedChatModel:
    """A chat model that finds a claim supported where a passage holds it."""
    return ScriptedChatModel(
        reply=lambda prompt: auto_judge({"messages": [{"content": prompt}]}, 0)
    )


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_model_cuts_a_stream_and_with_streamed_makes_the_same_requests(
    is_streamed: bool, asynchronous: bool
) -> None:
    text = f"{BOTH} The office is closed on Mondays. {NINE} Dogs are fine."
    whole, parts = judging(), judging()
    said = [{"answer": piece} for piece in pieces(text)]
    row = summed(
        streamed(
            gate(
                TCVAEvaluator(parts, streamed=is_streamed, share=False),
                on_fail="remove",
            ),
            {"question": "When?", "context": DOCS},
            *said,
            asynchronous=asynchronous,
        )
    )
    step = gate(
        TCVAEvaluator(whole, streamed=is_streamed, share=False), on_fail="remove"
    )
    served = step.invoke({"question": "When?", "context": DOCS, "answer": text})
    assert row["answer"] == served["answer"] == f"{NINE} {NINE}"
    assert row["tcva"]["marks"] == served["tcva"]["marks"]
    assert (sorted(parts.prompts) == sorted(whole.prompts)) == is_streamed


def test_parallel_steps_stream_context_and_answer_apart() -> None:
    def answer(_: Any) -> Iterator[str]:
        yield from pieces(BOTH)

    def fetch(_: Any) -> list[Document]:
        return DOCS

    chain = RunnableParallel(
        answer=RunnableGenerator(answer), context=RunnableLambda(fetch)
    ) | gated("remove")
    for _ in range(5):
        assert summed(chain.stream("When?"))["answer"] == NINE


def test_a_closed_stream_cancels_the_judges_call() -> None:
    model = scripted()
    model.hangs = True
    step = gate(TCVAEvaluator(model, share=False), on_fail="flag")

    async def closed() -> tuple[bool, list[Any]]:
        entries = [{"context": DOCS}, *({"answer": p} for p in pieces(BOTH * 3))]
        stream: Any = step.atransform(achunks_of(*entries))
        await anext(stream)
        waiting = asyncio.create_task(anext(stream))
        await asyncio.sleep(0.1)
        n_under_way = len(asyncio.all_tasks())
        waiting.cancel()
        await asyncio.wait([waiting])
        await stream.aclose()
        left = [task for task in asyncio.all_tasks() if not task.done()]
        return n_under_way > len(left), left

    ended, left = asyncio.run(closed())
    assert ended
    assert len(left) == 1  # this task itself


def test_a_closed_stream_ends() -> None:
    stream = gated("remove").transform(
        chunks_of({"context": DOCS}, *ANSWER, *ANSWER, *ANSWER)
    )
    next(stream)
    next(stream)
    close: Callable[[], None] = stream.close  # type: ignore[attr-defined]  # a generator
    close()


def test_a_sample_is_no_value_to_cut() -> None:
    sample = Sample(response=BOTH, contexts=[NINE])
    with pytest.raises(InvalidSampleError, match="no text or message"):
        gated("remove").invoke(sample)
    assert gated("raise", threshold=0.0).invoke(sample) is sample
