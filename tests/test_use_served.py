"""Answers served as an application does it: at once, again, in another process, on a busy loop, over HTTP."""

import asyncio
import importlib.util
import json
import logging
import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableGenerator

from tcva_adapters import TCVA, Sample
from tcva_adapters.judges import lexical
from tcva_adapters.langchain import TCVAEvaluator, gate
from tcva_adapters.serving import serve
from tcva_adapters.streaming import AnswerStream
from tests.test_loops import noting_threads

ROOT: Final = Path(__file__).resolve().parents[1]
EXAMPLE: Final = ROOT / "examples" / "chat_endpoint.py"
AT_ONCE: Final = 20


def row(number: int) -> dict[str, Any]:
    fact = f"Door {number} opens at nine."
    return {
        "question": "When?",
        "context": [fact],
        "answer": f"{fact} Bananas ripen in bags.\n\nDoor {number} opens at nine.",
    }


def left(number: int) -> str:
    return f"Door {number} opens at nine.\n\nDoor {number} opens at nine."


def chunks(number: int) -> Iterator[dict[str, Any]]:
    """A row as a chain streams it: the answer in pieces, its contexts in between."""
    whole = row(number)
    text = whole.pop("answer")
    yield {"answer": text[:7]}
    yield whole
    for at in range(7, len(text), 5):
        yield {"answer": text[at : at + 5]}


async def achunks(number: int) -> AsyncIterator[dict[str, Any]]:
    for chunk in chunks(number):
        await asyncio.sleep(0)
        yield chunk


def text_of(parts: list[dict[str, Any]]) -> str:
    return "".join(part.get("answer", "") for part in parts)


def test_many_answers_at_once_keep_to_themselves() -> None:
    evaluator = TCVAEvaluator("lexical")
    gates = [gate(evaluator, on_fail="remove"), gate(evaluator, on_fail="flag")]

    def streamed(number: int) -> str:
        return text_of([*gates[number % 2].transform(chunks(number))])

    async def astreamed(number: int) -> str:
        parts = [part async for part in gates[number % 2].atransform(achunks(number))]
        return text_of(parts)

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*map(astreamed, range(AT_ONCE)))

    expected = [row(n)["answer"] if n % 2 else left(n) for n in range(AT_ONCE)]
    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(streamed, range(AT_ONCE))] == expected
    assert asyncio.run(all_at_once()) == expected
    assert asyncio.run(all_at_once()) == expected  # in a second loop
    batch = gates[0].batch([row(n) for n in range(AT_ONCE)])
    assert [served["answer"] for served in batch] == [*map(left, range(AT_ONCE))]


def test_a_gate_serves_the_same_again_and_leaves_its_input_alone() -> None:
    step = gate(TCVAEvaluator("lexical"), on_fail="remove")
    given = row(1)
    first, second = step.invoke(given), step.invoke(given)
    assert first == second
    assert given == row(1)
    # What was served holds nothing that is cut.
    again = step.invoke({**given, "answer": first["answer"]})
    assert again["answer"] == first["answer"] == left(1)


def served_elsewhere(pickled: bytes) -> bytes:
    step, value = pickle.loads(pickled)  # ours
    return pickle.dumps((step.invoke(value), [*step.transform(chunks(3))]))


def test_gates_and_answers_go_to_other_processes() -> None:
    step = gate(TCVAEvaluator("lexical"), on_fail="remove", refusal="No.")
    here = step.invoke(row(3)), [*step.transform(chunks(3))]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        there = pool.submit(served_elsewhere, pickle.dumps((step, row(3)))).result()
    assert pickle.loads(there) == here  # ours

    result = TCVA(judge="lexical").evaluate(Sample.from_record(row(3)))
    for answer in (result.supported(), serve(result, "remove"), serve(result, "flag")):
        assert pickle.loads(pickle.dumps(answer)) == answer  # ours
    json.dumps(result.supported().to_dict())
    json.dumps(serve(result, "remove").to_dict())


def test_streams_with_long_contexts_leave_the_thread_of_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = noting_threads(monkeypatch, lexical, "index_of")
    tcva = TCVA(judge="lexical")

    async def served(number: int) -> str:
        sample = Sample(contexts=[row(number)["context"][0] + " It is open." * 20_000])
        stream = AnswerStream(tcva, sample, on_fail="remove")

        async def words() -> AsyncIterator[str]:
            for word in row(number)["answer"].split(" "):
                await asyncio.sleep(0)
                yield f"{word} "

        return "".join([part.text async for part in stream.achunks(words())]).strip()

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*map(served, range(4)))

    assert asyncio.run(all_at_once()) == [*map(left, range(4))]
    assert threads
    assert threading.current_thread().name not in threads


@pytest.fixture(name="endpoint")
def _endpoint() -> ModuleType:
    pytest.importorskip("fastapi")
    spec = importlib.util.spec_from_file_location("chat_endpoint", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["chat_endpoint"] = module  # FastAPI reads annotations there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("on_fail", ["flag", "remove"])
@pytest.mark.parametrize(
    ("question", "answer", "line"),
    [
        ("Who?", None, {"error": "This question could not be answered."}),
        ("Empty?", "", {"error": "This question could not be answered."}),
        ("Hi", "Hello!\n", {"text": "Hello!\n"}),
    ],
)
def test_the_endpoint_always_ends_in_a_line_that_says_so(
    endpoint: ModuleType,
    question: str,
    answer: str | None,
    line: dict[str, str],
    on_fail: str,
) -> None:
    if answer is not None:
        endpoint.ANSWERS[question] = answer
    client = endpoint.TestClient(endpoint.app)
    response = client.post("/chat", json={"question": question, "on_fail": on_fail})
    lines = [json.loads(each) for each in response.text.splitlines()]
    assert lines[0] == line
    assert lines[-1] == {"done": True, "unsupported": 0}


def test_the_endpoint_sends_text_while_the_model_writes(
    endpoint: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    order: list[str] = []
    cards = "A reader's card is free for residents."

    async def write(_: AsyncIterator[Any]) -> AsyncIterator[AIMessageChunk]:
        texts = (
            cards,
            " Jugglers juggle.",
            " Visitors pay five pounds",
            " a year for it.",
        )
        for text in (*texts, " Thank you!", " Bye!"):
            order.append(f"model:{text}")
            yield AIMessageChunk(content=text)
            await asyncio.sleep(0)

    monkeypatch.setattr(endpoint, "scripted_model", lambda _: RunnableGenerator(write))
    body = json.dumps({"question": "What does a card cost?"}).encode()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/chat",
        "raw_path": b"/chat",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    requests = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> dict[str, Any]:
        request = next(requests, None)
        return request or await asyncio.Event().wait()  # type: ignore[return-value]  # never ends

    async def send(message: dict[str, Any]) -> None:
        lines = message.get("body", b"").decode().splitlines()
        order.extend(f"client:{json.loads(line).get('text', '')}" for line in lines)

    with caplog.at_level(logging.INFO, "chat"):
        asyncio.run(endpoint.app(scope, receive, send))
    sent = "".join(line.removeprefix("client:") for line in order if "client" in line)
    assert sent == f"{cards} Visitors pay five pounds a year for it. Thank you! Bye!"
    assert order.index(f"client:{cards}") < order.index("model: Bye!")
    assert "remove 1 of 5 sentences unsupported" in caplog.text


def test_the_example_runs_offline_and_shows_flags_and_cuts(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    done = subprocess.run(
        [sys.executable, EXAMPLE],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    shown = dict(
        part.split("\n", 1) for part in done.stdout.split("--- ") if part.strip()
    )
    card = "What does a reader's card cost?"
    assert (
        "[unsupported: - Jugglers receive it with a biscuit.]"
        in shown[f"{card} (flag)"]
    )
    assert shown[f"{card} (remove)"] == (
        "Good question!\n\n- A reader's card is free for residents.\n- Visitors pay five pounds a year for it.\n\n"
    )
    assert (
        "no answer that the documents support" in shown["May I bring my dog? (remove)"]
    )
    assert "[unsupported: Dogs" in shown["May I bring my dog? (flag)"]
    open_at = (
        "The library is open from nine to six on weekdays. It is closed on Sundays.\n\n"
    )
    assert shown["When is the library open? (remove)"] == open_at
    assert done.stderr.count("log: ") == 6
    assert not [*tmp_path.iterdir()]
