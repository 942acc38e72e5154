"""A lean server with OpenAI-compatible chat completions, in a process of its own.

Measuring a client needs a server that takes no time from it: this one is an asyncio protocol that
answers the prompts of TCVA and of the framework metrics in `adapter_methods` with four claims
each, after a fixed pause, on connections that stay open. It keeps the bodies of the requests, so
that a bare client can post the same ones.

Run: python -m benchmarks.answering_server [PORT]     (prints its address)
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from tests.support.server import auto_judge


def statements(number: int) -> tuple[str, ...]:
    """What the answer of a sample says, which is what framework metrics find in it."""
    return (
        f"House {number} has {number % 7 + 2} floors.",
        f"It was built by the river in {1800 + number % 200}.",
        f"The library of house {number} opens at nine.",
        f"The garden of house {number} is open to everybody.",
    )


_HOUSE: Final = re.compile(r"\b[Hh]ouse (\d+)\b")
_HEAD: Final = b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def house(prompt: str) -> int | None:
    """The number of the sample that a prompt is about; some prompts of reasons name none."""
    found = _HOUSE.search(prompt)
    return int(found[1]) if found else None


def _ragas_verdicts(said: Sequence[str]) -> Any:
    return {"statements": [{"statement": s, "reason": "Stated.", "verdict": 1} for s in said]}


def _reference_verdicts(said: Sequence[str]) -> Any:
    return [{"type": "fact", "verdict": "fully", "reason": "Stated.", "support": s} for s in said]


_ANSWERS: Final[tuple[tuple[str, Callable[[Sequence[str]], Any]], ...]] = (
    ("analyze the complexity of each sentence", lambda said: {"statements": said}),
    ("judge the faithfulness of a series of statements", _ragas_verdicts),
    ('with the "truths" key', lambda said: {"truths": said}),
    ('with the "claims" key', lambda said: {"claims": said}),
    ("with the 'verdicts' key", lambda said: {"verdicts": [{"verdict": "yes"}] * len(said)}),
    ("with the 'reason' key", lambda _: {"reason": "The score is 1 because it is stated."}),
    ("You need to answer with either YES or NO", lambda _: "YES"),
    (
        "Does the submission meet the Criteria",
        lambda _: "All of it is stated in the reference.\n\nY",
    ),
    ("You are an expert data labeler", lambda _: {"reasoning": "It is stated.", "score": True}),
    ("Evaluate how well each statement is supported", _reference_verdicts),
    ("Summarize the following points", lambda _: "All of it is stated in the passages."),
)
"""Part of a prompt, and what is said to it where the sample makes these statements: RAGAS, DeepEval,
LlamaIndex, LangChain, openevals, eval-ai-library. As short as their prompts allow."""


def answer(body: dict[str, Any]) -> str:
    """What the model says; an error where the prompt is none of those that are known.

    Raises:
        ValueError: The prompt is not known.
    """
    content = body["messages"][-1]["content"]
    prompt = content if isinstance(content, str) else content[0]["text"]
    if "<<<CLAIM" in prompt:
        return auto_judge(body, 0)
    for part, said in _ANSWERS:
        if part in prompt:
            found = said(statements(house(prompt) or 0))
            return found if isinstance(found, str) else json.dumps(found)
    msg = f"a prompt that is not known: {prompt[:80]!r}"
    raise ValueError(msg)


@lru_cache(maxsize=20_000)
def _reply(raw: bytes) -> bytes:
    """A whole response; the same request gets the same bytes without being read again."""
    body = json.loads(raw)
    status = 200
    try:
        message: dict[str, Any] = {"role": "assistant", "content": answer(body)}
        tools = body.get("tools")
        if tools:  # structured output by a call of the one function that is offered
            name = tools[0]["function"]["name"]
            called = {"name": name, "arguments": message["content"]}
            message |= {
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": called}],
            }
        found: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                # Four characters a token, as estimates have it.
                "prompt_tokens": sum(len(str(m["content"])) for m in body["messages"]) // 4,
                "completion_tokens": len(str(message)) // 4,
                "total_tokens": 0,
            },
        }
    except ValueError as error:
        status, found = 400, {"error": {"message": str(error), "type": "unknown", "code": None}}
    data = json.dumps(found).encode()
    return _HEAD % (status, len(data)) + data


class _State:
    """What all connections share: the pause before an answer, and the bodies received."""

    delay = 0.0
    bodies: list[bytes]  # of the one instance below

    def __init__(self) -> None:
        self.bodies = []
        self.connections = 0


class _Connection(asyncio.Protocol):
    def __init__(self, state: _State) -> None:
        self._state = state
        self._buffer = b""
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._state.connections += 1

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            lines = head.split(b"\r\n")
            lengths = [
                line[15:] for line in lines[1:] if line.lower().startswith(b"content-length:")
            ]
            length = int(lengths[0]) if lengths else 0
            if len(rest) < length:
                return
            self._buffer = rest[length:]
            self._answer(lines[0].split(b" ")[1], rest[:length])

    def _answer(self, path: bytes, raw: bytes) -> None:
        state = self._state
        if path == b"/control":
            state.delay = json.loads(raw)["delay"]
            self._send(json.dumps({"connections": state.connections}).encode(), state.bodies)
            state.bodies, state.connections = [], 0
            return
        state.bodies.append(raw)
        if state.delay:
            asyncio.get_running_loop().call_later(state.delay, self._write, _reply(raw))
        else:
            self._write(_reply(raw))

    def _send(self, first: bytes, bodies: list[bytes]) -> None:
        data = b"\n".join([first, *bodies])
        self._write(_HEAD % (200, len(data)) + data)

    def _write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)


async def _serve(port: int) -> None:
    state = _State()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(state), "127.0.0.1", port, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


@dataclass(frozen=True, slots=True)
class Remote:
    """The server, from the process that measures.

    Attributes:
        address: Without the path.
    """

    address: str

    @property
    def base_url(self) -> str:
        """What clients are given."""
        return f"{self.address}/v1"

    def reset(self, delay: float) -> tuple[int, list[bytes]]:
        """Set the pause before each answer; connections and bodies since the last time.

        Args:
            delay: Seconds.
        """
        data = json.dumps({"delay": delay}).encode()
        request = urllib.request.Request(f"{self.address}/control", data)  # its own
        with urllib.request.urlopen(request) as response:  # as above
            first, *bodies = response.read().split(b"\n")
        return json.loads(first)["connections"] - 1, bodies


@contextmanager
def started() -> Iterator[Remote]:
    """The server in another process, for as long as it is needed."""
    command = [sys.executable, "-m", "benchmarks.answering_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # it is a pipe
        try:
            yield Remote(process.stdout.readline().strip())
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
