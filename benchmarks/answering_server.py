"""A lean server with OpenAI-compatible chat completions, in a process of its own.

Measuring a client needs a server that takes no time from it. This one
answers the prompts of TCVA and of the framework metrics in `benchmarks.peers` with four claims each,
after a fixed pause, on connections that stay open. It keeps the bodies of the requests, so that a
bare client can post the same ones.

Run: python -m benchmarks.answering_server     (prints its address)
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from tcva_adapters import Sample
from tests.support.server import auto_judge, reply

_HOUSE: Final = re.compile(r"\b[Hh]ouse (\d+)\b")
_HEAD: Final = (
    b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)
_FILLER: Final = (
    "The street was laid out when the old town grew beyond its walls, and most of its houses "
    "were put up by the merchants who traded on the river. Many were rebuilt after the fire. "
)


def statements(number: int) -> tuple[str, ...]:
    """What the answer of a sample says, which is what framework metrics find in it."""
    return (
        f"House {number} has {number % 7 + 2} floors.",
        f"It was built by the river in {1800 + number % 200}.",
        f"The library of house {number} opens at nine.",
        f"The garden of house {number} is open to everybody.",
    )


def samples(number: int) -> list[Sample]:
    """Samples of four claims, each stated in one of three contexts; no two are the same."""
    found = []
    more = (
        "first owner sold timber",
        "rooms hold the papers of three families",
        "pond is deep",
    )
    for i in range(number):
        facts = statements(i)
        held = (f"{facts[0]} {facts[1]}", *facts[2:])
        contexts = [
            f"{_FILLER}{fact} Its {text}."
            for fact, text in zip(held, more, strict=True)
        ]
        about = f"What is there to know about house {i}?"
        found.append(
            Sample(id=f"s{i}", input=about, response=" ".join(facts), contexts=contexts)
        )
    return found


def _ragas_verdicts(said: Sequence[str]) -> Any:
    return {
        "statements": [
            {"statement": s, "reason": "Stated.", "verdict": 1} for s in said
        ]
    }


_ANSWERS: Final[tuple[tuple[str, Callable[[Sequence[str]], Any]], ...]] = (
    ("analyze the complexity of each sentence", lambda said: {"statements": said}),
    ("judge the faithfulness of a series of statements", _ragas_verdicts),
    ('with the "truths" key', lambda said: {"truths": said}),
    ('with the "claims" key', lambda said: {"claims": said}),
    (
        "with the 'verdicts' key",
        lambda said: {"verdicts": [{"verdict": "yes"}] * len(said)},
    ),
    (
        "with the 'reason' key",
        lambda _: {"reason": "The score is 1 because it is stated."},
    ),
    ("You need to answer with either YES or NO", lambda _: "YES"),
    ("Does the submission meet the Criteria", lambda _: "It is stated.\n\nY"),
)
"""Part of a prompt, and what is said to it where the sample makes these statements: RAGAS, DeepEval,
LlamaIndex, LangChain. As short as their prompts allow."""


def answer(body: dict[str, Any], otherwise: str | None = None) -> str:
    """What the model says.

    Args:
        body: The request.
        otherwise: The reply to a prompt that is not known.

    Raises:
        ValueError: The prompt is not known, and there is no other reply.
    """
    content = body["messages"][-1]["content"]
    prompt = content if isinstance(content, str) else content[0]["text"]
    if "<<<CLAIM" in prompt:
        return auto_judge(body, 0)
    for part, said in _ANSWERS:
        if part in prompt:
            house = _HOUSE.search(prompt)  # some prompts for reasons name none
            found = said(statements(int(house[1]) if house else 0))
            return found if isinstance(found, str) else json.dumps(found)
    if otherwise is None:
        msg = f"a prompt that is not known: {prompt[:80]!r}"
        raise ValueError(msg)
    return otherwise


@lru_cache(maxsize=20_000)
def _response(raw: bytes) -> bytes:
    """The whole of it; the same request gets the same bytes without being read again."""
    body = json.loads(raw)
    try:
        text: str | None = answer(body)
    except ValueError as error:
        return _http(
            400, {"error": {"message": str(error), "type": "unknown", "code": None}}
        )
    more: dict[str, Any] = {}
    if tools := body.get(
        "tools"
    ):  # structured output by a call of the one function offered
        called = {"name": tools[0]["function"]["name"], "arguments": text}
        text, more = (
            None,
            {"tool_calls": [{"id": "1", "type": "function", "function": called}]},
        )
    return _http(200, reply(text, usage=(len(raw) // 4, 150), **more).payload)


def _http(status: int, payload: Any) -> bytes:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return _HEAD % (status, len(data)) + data


async def _serve() -> None:
    delay, connections = 0.0, 0
    bodies: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal delay, connections, bodies
        connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)\ncontent-length: *(\d+)", head)
                raw = await reader.readexactly(int(length[1]) if length else 0)
                if head.startswith(b"POST /control"):
                    first = json.dumps({"connections": connections}).encode()
                    writer.write(_http(200, b"\n".join([first, *bodies])))
                    delay, connections, bodies = json.loads(raw)["delay"], 0, []
                else:
                    bodies.append(raw)
                    await asyncio.sleep(delay)
                    writer.write(_response(raw))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", backlog=1024)
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
        with urllib.request.urlopen(f"{self.address}/control", data) as response:
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
    asyncio.run(_serve())
