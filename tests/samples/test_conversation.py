"""Messages as turns, of every interface; histories; and files of conversations."""

import io
import json
from pathlib import Path
from typing import Any, Literal

import pytest
from deepeval.dataset import ConversationalGolden, EvaluationDataset
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage, messages_to_dict
from ragas.messages import AIMessage as RagasAIMessage
from ragas.messages import ToolCall
from ragas.messages import ToolMessage as RagasToolMessage

from tcva_adapters import TCVA, Conversation, Sample
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.conversation import add_group, conversation_of
from tcva_adapters.samples.reader import (
    SampleStream,
    columns_of,
    read_item,
    read_samples,
)
from tcva_adapters.samples.turns import LONGEST_HISTORY, history_of
from tests.deepeval.entry import talk_of
from tests.ragas.entry import dataset_of

Message = tuple[str, Any]
HELLO, HI = ("assistant", "Hello."), ("user", "Hi.")
Q1, A1, Q2, A2 = (
    ("user", "One?"),
    ("assistant", "1."),
    ("user", "Two?"),
    ("assistant", "2."),
)
C1, C2 = ("tool", "First."), ("tool", "Second.")
ASKED, ANSWERED = (
    {"role": "user", "content": "One?"},
    {"role": "assistant", "content": "1."},
)
RETURNED = {"role": "tool", "content": {"type": "hours", "at": "9 é"}}
TALK = [Q1, C1, A1, Q2, C2, A2]
HISTORY = "User: One?\nAssistant: 1."
TURNS = [("One?", "1.", ("First.",), None), ("Two?", "2.", ("Second.",), HISTORY)]


def shown(turns: Any) -> list[tuple[Any, ...]]:
    return [(turn.input, turn.response, turn.contexts, turn.history) for turn in turns]


def turns(*messages: Any, **about: Any) -> list[tuple[Any, ...]]:
    return shown(Conversation.from_messages(messages, **about).turns)


def anthropic(*returned: str, text: str = "") -> dict[str, Any]:
    parts = [
        {"type": "tool_result", "content": [{"type": "text", "text": t}]}
        for t in returned
    ]
    return {
        "role": "user",
        "content": [*parts, *[{"type": "text", "text": text}] * bool(text)],
    }


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param([*TALK], TURNS, id="pairs"),
        pytest.param([("system", "Be kind."), *TALK[:3], ("system", "Be brief."), *TALK[3:]], TURNS, id="system messages"),
        pytest.param([*TALK, ("user", "Three?")], TURNS, id="ends with a question"),
        pytest.param([HELLO, *TALK[:3]], [("One?", "1.", ("First.",), "Assistant: Hello.")], id="begins with the model"),
        pytest.param([HI, Q1, A1], [("Hi.\n\nOne?", "1.", None, None)], id="two questions, one answer"),
        pytest.param([Q1, ("user", ""), A1], [("One?", "1.", None, None)], id="a picture is no text"),
        pytest.param([Q1, C1, C2, ("assistant", "Wait."), ("tool", " "), A1], [("One?", "1.", ("First.", "Second."), None)], id="parallel tool calls, a call without text"),
        pytest.param([Q1, C1, A1, ("assistant", "")], [("One?", "1.", ("First.",), None)], id="the last text is the answer"),
        pytest.param([Q1, HELLO, C1, A1, A2], [("One?", "1.\n\n2.", ("First.",), None)], id="texts with nothing in between"),
        pytest.param([Q1, {**ANSWERED, "contexts": ["First."]}, A2], [("One?", "1.\n\n2.", ("First.",), None)], id="contexts of a text"),
        pytest.param([Q1, RETURNED, A1], [("One?", "1.", ('{"type":"hours","at":"9 é"}',), None)], id="an object of a tool"),
        pytest.param([Q1, {**RETURNED, "content": [{"type": "image"}, {"n": 9}]}, A1], [("One?", "1.", ('{"n":9}',), None)], id="a picture of a tool"),
        pytest.param([{**ASKED, "results": ["Mine."]}, A1], [("One?", "1.", None, None)], id="results of the user"),
        pytest.param([Q1, ("tool", ""), A1], [("One?", "1.", (), None)], id="nothing returned"),
        pytest.param([*TALK[:3], Q2, A2], [TURNS[0], ("Two?", "2.", (), HISTORY)], id="nothing retrieved for one"),
        pytest.param([Q1, A1, Q1, A1], [("One?", "1.", None, None), ("One?", "1.", None, HISTORY)], id="equal turns"),
        pytest.param(
            [Q1, ("assistant", "Wait."), anthropic("First.", "Second.", text="Be brief."), A1, Q2, anthropic("Third."), A2],
            [("One?\n\nBe brief.", "1.", ("First.", "Second."), None), ("Two?", "2.", ("Third.",), "User: One?\nAssistant: Wait.\nUser: Be brief.\nAssistant: 1.")],
            id="Anthropic's tool results",
        ),
        pytest.param(
            [
                *({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "One?"}]}, {"type": "reasoning", "summary": []}),
                *({"type": "file_search_call", "results": [{"text": "First."}, {"text": "Second."}]}, {"type": "web_search_call", "status": "completed"}),
                *({"type": "function_call", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "output": "Third."}),
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "1."}]},
            ],
            [("One?", "1.", ("First.", "Second.", "Third."), None)],
            id="OpenAI's responses",
        ),
    ],
)  # fmt: skip
def test_messages_as_turns(messages: list[Any], expected: list[Any]) -> None:
    assert turns(*messages) == expected


WROTE = "Olav Berg is the captain."
SAVED = f"Saved: {WROTE}"
ARGUMENTS = {"text": WROTE}
AS_JSON = json.dumps(ARGUMENTS)
LLAMA = {
    "role": "assistant",
    "blocks": [
        {
            "block_type": "tool_call",
            "tool_call_id": "1",
            "tool_name": "f",
            "tool_kwargs": ARGUMENTS,
        }
    ],
}
FUNCTION = {
    "id": "1",
    "type": "function",
    "function": {"name": "f", "arguments": AS_JSON},
}
TOOL = {"role": "tool", "tool_call_id": "1", "content": SAVED}
CALLS: dict[str, list[Any]] = {
    "OpenAI chat": [
        {"role": "assistant", "content": None, "tool_calls": [FUNCTION]},
        TOOL,
    ],
    "OpenAI's older calls": [
        {"role": "assistant", "function_call": {"name": "f", "arguments": AS_JSON}},
        {"role": "function", "name": "f", "content": SAVED},
    ],
    "OpenAI responses": [
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": AS_JSON},
        {"type": "function_call_output", "call_id": "1", "output": SAVED},
    ],
    "OpenAI, a custom tool": [
        {"type": "custom_tool_call", "call_id": "1", "name": "f", "input": WROTE},
        {"type": "custom_tool_call_output", "call_id": "1", "output": SAVED},
    ],
    "OpenAI, MCP": [
        {"type": "mcp_call", "name": "f", "arguments": AS_JSON, "output": SAVED}
    ],
    "Anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "1", "name": "f", "input": ARGUMENTS}
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": SAVED}],
        },
    ],
    "LangChain, written": messages_to_dict(
        [
            AIMessage("", tool_calls=[{"id": "1", "name": "f", "args": ARGUMENTS}]),
            ToolMessage(SAVED, tool_call_id="1"),
        ]
    ),
    "LlamaIndex": [LLAMA, {**TOOL, "additional_kwargs": {"tool_call_id": "1"}}],
    "LlamaIndex with OpenAI": [
        {
            "role": "assistant",
            "content": "",
            "additional_kwargs": {"tool_calls": [FUNCTION]},
        },
        TOOL,
    ],
    "RAGAS": [
        message.model_dump()
        for message in (
            RagasAIMessage(content="", tool_calls=[ToolCall(name="f", args=ARGUMENTS)]),
            RagasToolMessage(content=SAVED),
        )
    ],
    "DeepEval": [
        {
            "role": "assistant",
            "content": "",
            "toolsCalled": [
                {"name": "f", "inputParameters": ARGUMENTS, "output": SAVED}
            ],
        }
    ],
    "another tool, later": [
        {"role": "assistant", "content": "", "tool_calls": [FUNCTION]},
        {**TOOL, "content": "Saved."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "2", "name": "g", "args": {}}],
        },
        {"role": "tool", "tool_call_id": "2", "content": WROTE.upper()},
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_what_a_tool_repeats_of_its_arguments_is_no_context(name: str) -> None:
    messages = [ASKED, *CALLS[name], {"role": "assistant", "content": WROTE}]
    said = json.loads(json.dumps(messages))
    for contexts in (
        Conversation.from_messages(messages).turns[0].contexts,
        Sample.from_record({"messages": said}).contexts,
    ):
        assert not "".join(contexts or ()).replace("Saved.", "")
    assert not TCVA(judge="lexical").evaluate_conversation(messages).at_gate().passed


@pytest.mark.parametrize(("argument", "returned", "context"), [
    # What a search finds stays, also where it repeats the query.
    (
        "who is the captain of Aurora",
        '{"query": "Who is the captain of Aurora?", "found": "The log of 1893 names Anna Moe."}',
        None,
    ),
    ("opening hours of the office", "Opening hours of the office: 9:00", None),
        ("capital of Burkina Faso", "The capital of Burkina Faso is Ouagadougou.", None),
        ("side effects of ibuprofen", "Nausea is one of the side effects of ibuprofen.", None),
        ("租约的期限是多久", "租约的期限是多久？36个月", None),
        (WROTE, f"Saved {WROTE}", ""),
        ("张伟是总经理", "已保存：张伟是总经理", ""),
    (WROTE, f"No hits for '{WROTE}' in the crew lists.", "No hits for '….' in the crew lists."),
    (f"{WROTE} He is 52 years old.", "ok: he is 52\nyears old", ""),
    ("Bjørn Berg er kaptein", json.dumps({"saved": "Bjørn Berg er kaptein"}), ""),
    ("船长是奥拉夫·贝格先生", "已保存：船长是奥拉夫·贝格先生。", ""),
    # Names, ids, numbers and single words are no statements.
    ("Oslo Gardermoen Airport", "Oslo Gardermoen Airport is open.", None),
    ("2026-01-02 10:30", "Due 2026-01-02 10:30 today.", None),
    ("captain", "The captain is Olav Berg.", None),
    ("退货政策", "退货政策：三十天。", None),
    ("", WROTE, None),
    # A tool's own text under such a name is its own.
    (WROTE, {"found": "The log of 1893 names Anna Moe.", "input": "Anna Moe sailed it."}, None),
])  # fmt: skip
def test_only_statements_are_taken_out(
    argument: str, returned: Any, context: str | None
) -> None:
    call = {"id": "1", "name": "f", "args": {"nested": [{"description": argument}]}}
    messages = [ASKED, {"role": "assistant", "content": "", "tool_calls": [call]}]
    messages += [{"role": "tool", "content": returned}, ANSWERED]
    (turn,) = Conversation.from_messages(messages).turns
    if isinstance(returned, dict):
        returned = json.dumps(returned, separators=(",", ":"))
    assert turn.contexts == tuple(
        filter(None, [returned if context is None else context])
    )


def test_what_a_tool_returns_after_the_answer_is_no_context_of_it() -> None:
    assert turns(Q1, A1, C1) == [("One?", "1.", (), None)]
    assert turns(Q1, C1, A1, C2, Q2, A2)[0][2] == ("First.",)
    late = {"messages": [{"role": r, "content": t} for r, t in (Q1, C1, A1, C2)]}
    assert Sample.from_record(late).contexts == ("First.",)


def test_a_turn_without_contexts_has_those_of_the_turns_before() -> None:
    one, two, three = Conversation.from_messages(
        [*TALK[:3], Q2, A2, Q1, C2, A1], id="t"
    ).turns
    found = [turn.earlier_contexts for turn in (one, two, three)]
    assert found == [None, ("First.",), None]
    stored = json.loads(two.model_dump_json(by_alias=True))
    assert Sample.from_record(stored) == two


@pytest.mark.parametrize("messages", [[], [Q1], [HELLO], [Q1, C1]])
def test_without_an_answered_question_there_is_none(messages: list[Message]) -> None:
    with pytest.raises(InvalidSampleError, match="no message of the user is followed"):
        Conversation.from_messages(messages)


def test_what_turns_have_of_the_conversation() -> None:
    noted = {"role": "assistant", "content": "2.", "metadata": {"rating": 3}}
    about: dict[str, Any] = {"contexts": ["Own."], "reference": "Right.", "id": "t"}
    about |= {"metadata": {"a": 1, "rating": 0}}
    talk = Conversation.from_messages([*TALK[:3], Q2, noted], **about)
    one, two = talk.turns
    assert (one.id, one.contexts, one.reference) == ("t/1", ("First.",), None)
    assert (two.id, two.contexts, two.reference) == ("t/2", ("Own.",), "Right.")
    assert one.metadata == {"a": 1, "rating": 0, "conversation": "t", "turn": 1}
    assert two.metadata == {"a": 1, "rating": 3, "conversation": "t", "turn": 2}
    made = Conversation(
        turns=(Sample(input="One?", response="1."), Sample(input="Two?"))
    )
    expected = [(None, {"turn": 1}), (HISTORY, {"turn": 2})]
    assert [(turn.history, turn.metadata) for turn in made.turns] == expected
    assert Conversation.model_validate_json(talk.model_dump_json()) == talk


ANSWER = st.text(min_size=1, max_size=3000).filter(str.strip)


@given(
    st.lists(st.tuples(st.text(max_size=3000), ANSWER), max_size=6), st.integers(0, 6)
)
def test_a_turn_stays_when_the_conversation_grows(
    said: list[tuple[str, str]], number: int
) -> None:
    def grown(some: list[tuple[str, str]]) -> list[tuple[Any, ...]]:
        said = [("One?", "1."), *some]
        return turns(*[m for q, a in said for m in (("user", q), C1, ("assistant", a))])

    whole, part = grown(said), grown(said[:number])
    assert whole[: len(part)] == part
    assert all(len(history or "") <= LONGEST_HISTORY for *_, history in whole)


def test_a_history_is_the_end_in_whole_messages() -> None:
    long = "x" * (LONGEST_HISTORY - len("Assistant: ") - len("User: y") - 1)
    kept = f"User: y\nAssistant: {long}"
    assert (
        history_of([("user", "old"), ("user", "y"), ("tool", "t"), ("model", long)])
        == kept
    )
    assert history_of([("user", "y"), ("model", f"{long}x")]) == f"Assistant: {long}x"
    cut = history_of([("user", "y" * 9000 + "end")]) or ""
    assert (len(cut), cut[:5], cut[-4:]) == (LONGEST_HISTORY, "... y", "yend")
    assert history_of([("tool", "t"), ("user", " ")]) is None


# --- records and files ----------------------------------------------------------------------

AS_MESSAGES = [{"role": role, "content": text} for role, text in TALK]


def lines(*records: dict[str, Any]) -> io.StringIO:
    return io.StringIO("\n".join(map(json.dumps, records)))


def test_a_file_of_conversations() -> None:
    one = {"question": "Q?", "answer": "A.", "history": "mine"}
    file = lines(
        one,
        {"messages": AS_MESSAGES, "domain": "d"},
        one,
        {"messages": AS_MESSAGES[:3]},
    )
    stream = SampleStream(file)
    found = [*stream]
    assert [sample.id for sample in found] == [
        None,
        "row-2/1",
        "row-2/2",
        "row-3",
        "row-4",
    ]
    assert shown(found[1:3]) == TURNS
    assert found[2].metadata == {"domain": "d", "conversation": "row-2", "turn": 2}
    assert (found[0].history, found[0].metadata) == (None, {"history": "mine"})
    assert stream.notes == [
        "each answer in a conversation of several turns is a sample (1 conversation)"
    ]
    own, again = (
        {"conversation": 7, "messages": AS_MESSAGES},
        {"id": "8", "messages": AS_MESSAGES},
    )
    named = read_samples(lines(own, again)).samples
    assert [sample.id for sample in named] == ["7/1", "7/2", "8/1", "8/2"]
    groups: list[Any] = []
    for number, sample in enumerate([*found[:2], *named, *found[2:4]], start=1):
        add_group(groups, number, conversation_of(sample.id, sample.metadata))
    add_group(groups, 9, conversation_of("mine", named[0].metadata))
    assert groups == [1, "row-2", "7", "7", "8", "8", "row-2", 8, 9]


def test_a_record_with_an_answer_of_its_own_is_one_sample() -> None:
    run = {
        "inputs": {"messages": AS_MESSAGES[:4]},
        "outputs": {"messages": AS_MESSAGES},
    }
    other = [
        {"type": {"user": "human"}.get(who, who), "content": text} for who, text in TALK
    ]
    state = {"inputs": run["inputs"], "outputs": {"messages": other}}
    one = {"messages": [ASKED, ANSWERED | {"contexts": ["C."]}, ANSWERED]}
    two_texts = Sample(input="One?", response="1.\n\n1.", contexts=["C."])
    echo = {
        "inputs": {"messages": [ASKED]},
        "outputs": {"messages": [ANSWERED | {"content": "One?"}]},
    }
    judged = {"testCases": [], "conversationalTestCases": [{"turns": one["messages"]}]}
    assert read_samples(lines({"testRunData": judged}), format="json").samples == [
        two_texts
    ]
    single = {"id": "1", "input": "One?", "actualOutput": "1."}
    of_both = {"testRunData": judged | {"testCases": [single]}}
    found = read_samples(lines(of_both), format="json").samples
    assert found == [Sample(id="1", input="One?", response="1."), two_texts]
    returned = {"toolsCalled": [{"name": "log"}, {"name": "find", "output": {"a": 1}}]}
    several = {"turns": [ASKED, ANSWERED | returned, ANSWERED]}
    assert Sample.from_record(several) == two_texts.model_copy(
        update={"contexts": ('{"a":1}',)}
    )
    assert Sample.from_record(one) == read_item(one, {}) == two_texts
    assert Sample.from_record(echo).response == "One?"
    mine = {"question": "Q?", "answer": "A.", "turns": AS_MESSAGES}
    assert Sample.from_record(mine).metadata == {"turns": AS_MESSAGES}
    for field in ("input", "response"):
        assert (
            read_item(columns=columns_of({"messages": field}), record=one) == two_texts
        )
    for record in (
        {"messages": AS_MESSAGES[:-1], "answer": "Mine."},
        {"messages": AS_MESSAGES, "question": "Mine?"},
        *(run, state, {"messages": AS_MESSAGES[:3]}),
    ):
        assert read_item(record, {}) == Sample.from_record(record)
    two = Sample(input="Two?", response="2.", contexts=["First.", "Second."])
    assert Sample.from_record(state) == two
    assert isinstance(
        read_item({"outputs": {"messages": AS_MESSAGES}}, {}), Conversation
    )


def test_files_that_frameworks_write(tmp_path: Path) -> None:
    talk = Conversation.from_messages(TALK)
    said = [
        t.model_copy(update={"metadata": {"rating": 1}}) for t in talk_of(talk).turns
    ]
    golden: dict[str, Any] = {"scenario": "s", "turns": said, "name": "t"}
    dataset = EvaluationDataset([ConversationalGolden(**golden)])
    kinds: tuple[Literal["json", "jsonl", "csv"], ...] = ("json", "jsonl", "csv")
    for kind in kinds:
        found = read_samples(dataset.save_as(kind, str(tmp_path), kind)).samples
        assert shown(found) == TURNS
        assert (found[0].id, found[0].metadata["rating"]) == ("t/1", 1)
    dataset_of([talk]).to_jsonl(tmp_path / "ragas.jsonl")
    found = read_samples(tmp_path / "ragas.jsonl").samples
    assert [each[:3] for each in shown(found)] == [each[:3] for each in TURNS]
