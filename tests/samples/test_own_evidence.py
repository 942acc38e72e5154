"""An answer is no evidence for itself: what tools return after it, or repeat of it, is no context."""

import io
import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from deepeval.test_case import ConversationalTestCase, ToolCall, Turn
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage
from pydantic import ValidationError
from ragas import MultiTurnSample
from ragas import messages as ragas

from tcva_adapters import TCVA, Conversation, Sample
from tcva_adapters.deepeval import TCVAConversationalMetric
from tcva_adapters.langchain import TCVAConversationEvaluator
from tcva_adapters.langchain.samples import as_sample
from tcva_adapters.ragas import TCVAMultiTurnMetric
from tcva_adapters.samples.reader import SampleStream

FACT = "The log of the Vega names Anna Moe."
ANSWER = "Olav Berg is the captain of the Vega."
SAVED = f"Saved: {ANSWER}"

Step = tuple[str, str, Any]
"""Who speaks, the text, and the calls (of the model) or the call's id (of a tool)."""

SEARCH = ("s", "search", {"q": "captain"})
REMEMBER = ("r", "remember", {"text": ANSWER})
KEEP_LAST: tuple[str, str, dict[str, str]] = ("k", "keep_last", {})
ASKED: list[Step] = [("user", "Who is the captain?", ())]
FOUND: list[Step] = [*ASKED, ("model", "", [SEARCH]), ("tool", FACT, "s")]
TOLD: list[Step] = [*FOUND, ("model", ANSWER, ())]
NEXT: Step = ("user", "And of the Lyra?", ())
FORMS: dict[str, tuple[list[Step], list[str]]] = {
    "remembered before": ([*ASKED, ("model", "", [REMEMBER]), ("tool", SAVED, "r"), ("model", ANSWER, ())], []),
    "remembered with the answer": ([*FOUND, ("model", ANSWER, [REMEMBER]), ("tool", SAVED, "r")], [FACT]),
    "remembered afterwards": ([*TOLD, ("model", "", [REMEMBER]), ("tool", SAVED, "r")], [FACT]),
    "kept afterwards, without arguments": ([*TOLD, ("model", "", [KEEP_LAST]), ("tool", SAVED, "k")], [FACT]),
    "a tool without a call": ([*TOLD, ("tool", ANSWER, "x")], [FACT]),
    "twice afterwards": ([*TOLD, ("model", "", [KEEP_LAST]), ("tool", SAVED, "k"), ("model", "", [REMEMBER]), ("tool", ANSWER, "r")], [FACT]),
    "ends without a text": ([*TOLD, ("tool", SAVED, "k"), ("model", "", ())], [FACT]),
    "a later question": ([*TOLD, NEXT, ("model", "", [KEEP_LAST]), ("tool", ANSWER, "k")], [FACT]),
    "a later question, two calls": ([*TOLD, NEXT, ("model", "", [KEEP_LAST, REMEMBER]), ("tool", ANSWER, "k"), ("tool", SAVED, "r")], [FACT]),
    "parallel calls": ([*ASKED, ("model", "", [SEARCH, REMEMBER]), ("tool", FACT, "s"), ("tool", SAVED, "r"), ("model", ANSWER, ())], [FACT]),
    "parallel calls, the other way": ([*ASKED, ("model", "", [REMEMBER, SEARCH]), ("tool", SAVED, "r"), ("tool", FACT, "s"), ("model", ANSWER, ())], [FACT]),
    "answers, remembers, answers again": ([*FOUND, ("model", ANSWER, [REMEMBER]), ("tool", SAVED, "r"), ("model", ANSWER, ())], [FACT]),
    "a text beside the search": ([*ASKED, ("model", "I look.", [SEARCH]), ("tool", FACT, "s"), ("model", ANSWER, ())], [FACT]),
}  # fmt: skip


def of_openai(steps: list[Step], *, in_parts: bool = False) -> list[Any]:
    messages: list[Any] = []
    for who, text, more in steps:
        content: Any = (
            [{"type": "text", "text": text}] if in_parts and text else text or None
        )
        message = {"role": {"model": "assistant"}.get(who, who), "content": content}
        if who == "model" and more:
            named = (
                ({"name": n, "arguments": json.dumps(args)}, own)
                for own, n, args in more
            )
            message["tool_calls"] = [
                {"id": i, "type": "function", "function": f} for f, i in named
            ]
        messages.append(message | ({"tool_call_id": more} if who == "tool" else {}))
    return messages


def of_responses(steps: list[Step]) -> list[Any]:
    items: list[Any] = []
    for who, text, more in steps:
        if who == "tool":
            items.append(
                {"type": "function_call_output", "call_id": more, "output": text}
            )
            continue
        kind, role = {"user": ("input_text", "user")}.get(
            who, ("output_text", "assistant")
        )
        items += [
            {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        ]
        for own, name, args in more:
            call = {"call_id": own, "name": name, "arguments": json.dumps(args)}
            items.append({"type": "function_call", **call})
    return items


def of_anthropic(steps: list[Step]) -> list[Any]:
    messages: list[Any] = []
    for who, text, more in steps:
        parts: list[Any] = [{"type": "text", "text": text}] if text else []
        if who == "tool":
            parts = [{"type": "tool_result", "tool_use_id": more, "content": text}]
        elif who == "model":
            parts += [
                {"type": "tool_use", "id": i, "name": n, "input": args}
                for i, n, args in more
            ]
        messages.append(
            {"role": "assistant" if who == "model" else "user", "content": parts}
        )
    return messages


def of_langchain(steps: list[Step]) -> list[Any]:
    make: dict[str, Callable[[str, Any], Any]] = {
        "user": lambda text, _: HumanMessage(text),
        "tool": lambda text, own: ToolMessage(text, tool_call_id=own),
        "model": lambda text, calls: AIMessage(
            text,
            tool_calls=[{"id": i, "name": n, "args": args} for i, n, args in calls],
        ),
    }
    return [make[who](text, more) for who, text, more in steps]


def of_ragas(steps: list[Step]) -> list[Any]:
    make: dict[str, Callable[[str, Any], Any]] = {
        "user": lambda text, _: ragas.HumanMessage(content=text),
        "tool": lambda text, _: ragas.ToolMessage(content=text),
        "model": lambda text, calls: ragas.AIMessage(
            content=text,
            tool_calls=[ragas.ToolCall(name=n, args=args) for _, n, args in calls],
        ),
    }
    return [make[who](text, more) for who, text, more in steps]


def of_llama_index(steps: list[Step]) -> list[Any]:
    messages = []
    for who, text, more in steps:
        blocks: list[Any] = [TextBlock(text=text)] if text else []
        for own, name, args in more if who == "model" else ():
            blocks.append(
                ToolCallBlock(tool_call_id=own, tool_name=name, tool_kwargs=args)
            )
        role = "assistant" if who == "model" else who
        messages.append(ChatMessage(role=role, blocks=blocks))
    return messages


def of_deepeval(steps: list[Step]) -> list[Any]:
    """Turns have what their calls returned beside them."""
    returned = {own: text for who, text, own in steps if who == "tool"}
    turns = []
    for who, text, more in steps:
        if who == "tool":
            continue
        calls = [
            ToolCall(name=name, input_parameters=args, output=returned[own])
            for own, name, args in more
        ]
        role: Any = "assistant" if who == "model" else who
        turns.append(Turn(role=role, content=text, tools_called=calls or None))
    return turns


OBJECTS = {
    "LangChain": of_langchain,
    "RAGAS": of_ragas,
    "LlamaIndex": of_llama_index,
    "DeepEval": of_deepeval,
}
WRITTEN: dict[str, Callable[[list[Step]], list[Any]]] = {
    "OpenAI": of_openai,
    "OpenAI, parts": lambda steps: of_openai(steps, in_parts=True),
    "OpenAI, responses": of_responses,
    "Anthropic": of_anthropic,
    "LangChain, dumped": lambda steps: dumpd(of_langchain(steps)),
    "RAGAS, dumped": lambda steps: [each.model_dump() for each in of_ragas(steps)],
    "LlamaIndex, dumped": lambda steps: [
        m.model_dump(mode="json") for m in of_llama_index(steps)
    ],
    "DeepEval, dumped": lambda steps: [
        turn.model_dump(by_alias=True, mode="json") for turn in of_deepeval(steps)
    ],
}
RECORDS: dict[str, Callable[[list[Any]], dict[str, Any]]] = {
    "messages": lambda said: {"messages": said},
    "turns": lambda said: {"turns": said},
    "as text": lambda said: {"messages": json.dumps(said)},
    "user_input": lambda said: {"user_input": said},
    "outputs": lambda said: {"outputs": {"messages": said}},
    "the answer beside": lambda said: {"messages": said, "response": ANSWER},
    "the answer in outputs": lambda said: {
        "inputs": {"messages": said},
        "outputs": {"answer": ANSWER},
    },
    "the question beside": lambda said: {"messages": said, "question": "Who?"},
    "both beside": lambda said: {
        "user_input": said,
        "question": "Who?",
        "answer": ANSWER,
    },
    "another answer beside": lambda said: {
        "messages": said[:-1],
        "answer": f"So: {ANSWER}",
    },
}
CASES = [pytest.param(*each, id=name) for name, each in FORMS.items()]


def is_held(sample: Sample, contexts: list[str]) -> bool:
    """Whether the sample is the answer, with the contexts that it had."""
    is_answer = (sample.response or "").split("\n\n")[-1].removeprefix("So: ") == ANSWER
    return is_answer and [*filter(None, sample.contexts or ())] == contexts


@pytest.mark.parametrize(("steps", "contexts"), CASES)
@pytest.mark.parametrize("kind", [*OBJECTS, *WRITTEN])
def test_a_conversation_counts_only_what_was_there_before(
    kind: str, steps: list[Step], contexts: list[str]
) -> None:
    messages = {**OBJECTS, **WRITTEN}[kind](steps)
    assert is_held(Conversation.from_messages(messages).turns[-1], contexts)
    assert is_held(Sample.from_record({"messages": messages}), contexts)


@pytest.mark.parametrize(("steps", "contexts"), CASES)
@pytest.mark.parametrize("record", [name for name in RECORDS if "another" not in name])
def test_a_file_counts_only_what_was_there_before(
    record: str, steps: list[Step], contexts: list[str]
) -> None:
    for make in WRITTEN.values():
        line = json.dumps(RECORDS[record](make(steps)))
        (sample,) = SampleStream(io.StringIO(line))
        assert is_held(sample, contexts), make


@pytest.mark.parametrize(("steps", "contexts"), CASES)
def test_all_frameworks_score_an_answer_by_its_evidence(
    steps: list[Step], contexts: list[str]
) -> None:
    judge = TCVA(judge="lexical")
    metric = TCVAConversationalMetric(model="lexical")
    metric.measure(
        ConversationalTestCase(turns=of_deepeval(steps)), _show_indicator=False
    )
    found = [judge.evaluate_conversation(of_llama_index(steps)), metric.result]
    with suppress(ValidationError):  # RAGAS has no tool without a call
        sample = MultiTurnSample(user_input=of_ragas(steps))
        found.append(TCVAMultiTurnMetric(llm="lexical").multi_turn_score(sample).result)  # type: ignore[attr-defined]  # its float carries the result
    output = TCVAConversationEvaluator("lexical").invoke(of_langchain(steps))
    scores = [result.turns[-1].score for result in filter(None, found)] + [
        output["turns"][-1]["score"]
    ]
    for response in (
        ANSWER,
        f"I look.\n\n{ANSWER}",
    ):  # what DeepEval's turns say is one answer
        score = judge.evaluate(Sample(response=response, contexts=contexts)).score
        scores = [each for each in scores if each != score]
    assert not scores
    assert is_held(as_sample({"messages": of_langchain(steps)}), contexts)


@pytest.mark.parametrize("said", [
    [*FOUND, ("model", "", ())],
    [*TOLD, NEXT, ("model", "", ())],
    [*TOLD, NEXT, ("model", "", [SEARCH]), ("tool", FACT, "s"), ("model", "", ())],
])  # fmt: skip
def test_a_model_that_says_nothing_to_the_last_question_has_an_empty_answer(
    said: list[Step],
) -> None:
    for messages in (of_openai(said), of_langchain(said), of_responses(said)):
        assert Sample.from_record({"messages": messages}).response == ""
        assert as_sample({"messages": of_langchain(said)}).response == ""
    run = {
        "inputs": {"messages": of_openai(said[:1])},
        "outputs": {"messages": of_openai(said)},
    }
    assert Sample.from_record(run).response == ""
    unfinished = of_openai([*TOLD, NEXT, ("model", "", [SEARCH])])
    run = {
        "inputs": {"messages": of_openai([*TOLD, NEXT])},
        "outputs": {"messages": unfinished},
    }
    assert Sample.from_record(run).response == ""


@pytest.mark.parametrize("form", ["a call each", "one beginning", "all in one"])
def test_statements_are_looked_for_in_linear_time(form: str) -> None:
    def seconds(number: int) -> float:
        texts = [f"Ship number {n} has a captain." for n in range(number)]
        if form == "a call each":
            texts = [f"{n} ships have {n} captains in all." for n in range(number)]
        if form == "all in one":
            texts = [" ".join(texts)]
        steps = [*ASKED]
        for text in texts:
            steps += [
                ("model", "", [("r", "remember", {"t": text})]),
                ("tool", f"So: {text}", "r"),
            ]
        messages = of_openai([*steps, ("model", ANSWER, ())])
        re.purge()
        began = time.process_time()
        (turn,) = Conversation.from_messages(messages).turns
        assert turn.contexts == ()
        return time.process_time() - began

    small = min(seconds(250) for _ in range(3))
    assert seconds(2000) < 24 * small + 0.1


@pytest.mark.parametrize("n_words", [58, 60, 62, 500])
def test_a_long_sentence_that_the_model_wrote_is_no_context(n_words: int) -> None:
    sentence = " ".join(
        "ship " + "abcdefghij"[n % 10] * (1 + n // 10) for n in range(n_words // 2)
    )
    call = ("model", "", [("r", "remember", {"t": sentence})])
    steps = [
        *ASKED,
        call,
        ("tool", f"Saved: {sentence}. The log has twelve pages now.", "r"),
    ]
    (turn,) = Conversation.from_messages(
        of_openai([*steps, ("model", ANSWER, ())])
    ).turns
    contexts = "".join(turn.contexts or ())
    assert sentence[:200] not in contexts
    assert "The log has twelve pages now." in contexts


LINES = f"{ANSWER}\nShe carries forty sailors.\n\n- She sails in May"
SHELL = {"stdout": LINES, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}


def called(text: str, returned: str) -> list[Any]:
    """A conversation in which the model calls a tool with a text, as OpenAI writes it."""
    call = ("model", "", [("r", "remember", {"text": text})])
    return of_openai([*ASKED, call, ("tool", returned, "r"), ("model", ANSWER, ())])


@pytest.mark.parametrize("steps", [
    of_openai([("model", "", [("r", "remember", {"text": LINES})]), ("tool", f"Saved: {LINES}", "r")]),
    of_openai([("model", "", [("r", "remember", {"text": LINES})]), ("tool", json.dumps({"saved": LINES}), "r")]),
    of_openai([("model", "", [("r", "remember", {"text": LINES.replace("\n", "\r\n\t")})]), ("tool", LINES, "r")]),
    of_openai([("model", "", [("r", "remember", {"note": json.dumps({"text": LINES})})]), ("tool", LINES, "r")]),
    of_responses([("model", "", [("r", "remember", {"text": LINES})]), ("tool", f"Saved: {LINES}", "r")]),
    [{"role": "assistant", "function_call": {"name": "r", "arguments": json.dumps({"text": LINES})}}, {"role": "function", "name": "r", "content": LINES}],
    [{"type": "mcp_call", "name": "r", "arguments": json.dumps({"text": LINES}), "output": f"Saved: {LINES}"}],
    [{"type": "local_shell_call", "action": {"type": "exec", "command": ["echo", LINES]}}, {"type": "local_shell_call_output", "output": LINES}],
    [{"type": "shell_call", "action": {"commands": [f"echo '{LINES}' >> notes; cat notes"]}}, {"type": "shell_call_output", "output": [SHELL]}],
    [{"type": "apply_patch_call", "operation": {"type": "create_file", "diff": "+" + LINES.replace("\n", "\n+")}}, {"type": "apply_patch_call_output", "output": LINES}],
    of_openai([("model", "", [("r", "python", {"code": f"print('{ANSWER}')"})]), ("tool", f"{ANSWER}\n", "r")]),
    of_openai([("model", "", [("r", "python", {"code": f'print("{ANSWER}")'})]), ("tool", f"{ANSWER}\n", "r")]),
])  # fmt: skip
def test_lines_and_quoted_texts_of_arguments_are_no_contexts(steps: list[Any]) -> None:
    messages = [*of_openai(ASKED), *steps, {"role": "assistant", "content": ANSWER}]
    (turn,) = Conversation.from_messages(messages).turns
    words = " ".join(turn.contexts or ())
    assert not [said for said in ("captain", "sailors", "sails") if said in words]


@pytest.mark.parametrize("form", [
    "**{}**", "Saved: **{}**", "Saved: `{}`", "> _{}_", "Saved: *{}*. Now there are forty notes.", "<note>{}</note>",
    "\u2713 {}", "\u2705 {} \u2705", "Saved: {} \u2714", "- {}\n- The log has twelve pages.", "Saved:\n\n  {}",
])  # fmt: skip
def test_marks_around_what_a_tool_repeats_make_no_context_of_it(form: str) -> None:
    for text in (ANSWER, ANSWER.rstrip(".")):
        (turn,) = Conversation.from_messages(called(ANSWER, form.format(text))).turns
        assert "captain" not in " ".join(turn.contexts or ())


@pytest.mark.parametrize(("search", "returned"), [
    ("capital of France", '{"capital of France": "Paris"}'),
    ("capital of France", '{"capital of France" : ["Paris"]}'),
    ("capital of France", "**Capital of France**: Paris"),
    ("capital of France", "| Capital of France | Paris |"),
    ("price of the chair", "Price of the chair $40"),
    ("price of the chair", "price of the chair - 40 euros"),
    ("print('Revenue of the year:', 400)", "Revenue of the year: 400\n"),
    ("the 'red chair' and its price", "The 'red chair' and its price: 40 euros"),
    ("user's manual of the device", "The user's manual of the device says 4 V."),
    (r"C:\new\table of prices", r"C:\new\table of prices has 40 rows"),
])  # fmt: skip
def test_what_a_tool_says_of_a_search_stays_a_context(
    search: str, returned: str
) -> None:
    (turn,) = Conversation.from_messages(called(search, returned)).turns
    assert turn.contexts == (returned,)


@pytest.mark.parametrize(
    "unit", ["\n", " ", "\r\n", "\\n", "> ", "- ", "**", "_", "that "]
)
def test_a_tool_that_goes_on_is_read_in_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        returned = f"Saved: {ANSWER}{unit * (size // len(unit))}x"
        began = time.process_time()
        Conversation.from_messages(called(ANSWER, returned))
        return time.process_time() - began

    small = min(seconds(4000) for _ in range(3))
    assert seconds(32000) < 24 * small + 0.1
