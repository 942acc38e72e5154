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
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from tests.support.server import auto_judge

STATEMENTS: Final = (
    "The house has four floors.",
    "It was built by the river.",
    "Its library opens at nine.",
    "The garden is open to everybody.",
)
"""What framework metrics find in any answer: as many claims as the samples have sentences."""

_HEAD: Final = b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def _of_ragas(kind: str) -> str:
    if kind == "statements":
        return json.dumps({"statements": STATEMENTS})
    judged = [{"statement": s, "reason": "Stated.", "verdict": 1} for s in STATEMENTS]
    return json.dumps({"statements": judged})


_CANNED: Final = (
    ("analyze the complexity of each sentence", _of_ragas("statements")),
    ("judge the faithfulness of a series of statements", _of_ragas("verdicts")),
    ('with the "truths" key', json.dumps({"truths": STATEMENTS})),
    ('with the "claims" key', json.dumps({"claims": STATEMENTS})),
    ("with the 'verdicts' key", json.dumps({"verdicts": [{"verdict": "yes"}] * len(STATEMENTS)})),
    ("with the 'reason' key", json.dumps({"reason": "The score is 1 because it is stated."})),
    ("You need to answer with either YES or NO", "YES"),
    ("Does the submission meet the Criteria", "All of it is stated in the reference.\n\nY"),
    (
        "You are an expert data labeler",
        json.dumps({"reasoning": "All of it is stated.", "score": True}),
    ),
)
"""Part of a prompt, and its answer: RAGAS, DeepEval, LlamaIndex, LangChain, openevals."""


def answer(body: dict[str, Any]) -> str:
    """What the model says; an error where the prompt is none of those that are known.

    Raises:
        ValueError: The prompt is not known.
    """
    content = body["messages"][-1]["content"]
    prompt = content if isinstance(content, str) else content[0]["text"]
    if "<<<CLAIM" in prompt:
        return auto_judge(body, 0)
    for part, said in _CANNED:
        if part in prompt:
            return said
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
    bodies: list[bytes]  # noqa: RUF012  # of the one instance below

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
        request = urllib.request.Request(f"{self.address}/control", data)  # noqa: S310  # its own
        with urllib.request.urlopen(request) as response:  # noqa: S310  # as above
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
