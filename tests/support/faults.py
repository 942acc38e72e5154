"""What goes wrong between a judge and its server, by name; the faults of `tests.support.server`.

A mode is one thing that a server, a proxy or the line does with a request. `expected` says what a
client is to make of one sample whose requests all meet it, while other samples are answered well:

- ``scored``: the reply is usable, or it becomes so when the client asks again or asks for less.
- ``failed``: this sample has no score, and says why; all others have one.
- ``stop``: proof that no call can succeed.
"""

import gzip
import hashlib
import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from tests.support.server import (
    Answer,
    Body,
    Handler,
    Script,
    Scripted,
    ScriptedServer,
    as_answer,
    error,
)

Outcome = Literal["scored", "failed", "stop"]
Fault = Callable[[Body, Answer], Answer]
"""From a request and the answer that it would have got to what is done instead."""

ENDLESS: Final = 30.0
"""Seconds after which even a never-ending answer ends, so that no test hangs for ever."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One fault.

    Attributes:
        name: What tests call it.
        expected: What a client is to make of it.
        fault: What the server does.
    """

    name: str
    expected: Outcome
    fault: Fault


MODES: dict[str, Mode] = {}


def _add(name: str, expected: Outcome, fault: Fault) -> None:
    MODES[name] = Mode(name, expected, fault)


def prompt_of(body: Body) -> str:
    """The last message of a request."""
    return str(body["messages"][-1]["content"])


# --- statuses --------------------------------------------------------------------------------------


def _status(status: int, message: str, **more: Any) -> Fault:
    return lambda _body, _good: error(status, message, **more)


for _number in (
    400,
    403,
    404,
    405,
    409,
    413,
    415,
    418,
    422,
    451,
    500,
    502,
    503,
    504,
    529,
):
    _add(f"status {_number}", "failed", _status(_number, "This is not done today."))
_add(
    "status 401",
    "stop",
    _status(401, "Incorrect API key provided.", code="invalid_api_key"),
)
_add("status 402", "stop", _status(402, "Insufficient balance."))
_add(
    "quota", "stop", _status(429, "You exceeded your quota.", code="insufficient_quota")
)
_add("status 429", "failed", _status(429, "Slow down.", retry_after=0.01))
_add(
    "no model",
    "stop",
    _status(404, "The model `m` does not exist.", code="model_not_found"),
)
_add(
    "context length", "failed", _status(400, "too long", code="context_length_exceeded")
)
_add("content filter", "failed", _status(400, "refused", code="content_filter"))
_add(
    "500 not found", "failed", _status(500, "model 'm' not found, invalid model output")
)
_add(
    "400 quota text", "failed", _status(400, "insufficient_quota, invalid api key, 401")
)


def _echo(status: int) -> Fault:
    return lambda body, _good: error(status, f"could not process: {prompt_of(body)}")


def _answer(*payload: Any, **more: Any) -> Fault:
    return lambda _body, _good: Answer(*payload, **more)


for _number in (400, 403, 404, 500, 503):
    _add(f"echo {_number}", "failed", _echo(_number))
_add("html 502", "failed", _answer("<html><h1>502 Bad Gateway</h1></html>", status=502))
_add("status 204", "failed", _answer("", status=204))


# --- completions -----------------------------------------------------------------------------------


def _payload(**changes: Any) -> Fault:
    return lambda _body, good: replace(good, payload={**good.payload, **changes})


def _choice(**changes: Any) -> Fault:
    def fault(_body: Body, good: Answer) -> Answer:
        (choice,) = good.payload["choices"]
        return replace(
            good, payload={**good.payload, "choices": [{**choice, **changes}]}
        )

    return fault


def _message(**changes: Any) -> Fault:
    def fault(body: Body, good: Answer) -> Answer:
        message = good.payload["choices"][0]["message"]
        return _choice(message={**message, **changes})(body, good)

    return fault


def _content(change: Callable[[str], Any]) -> Fault:
    def fault(body: Body, good: Answer) -> Answer:
        text = good.payload["choices"][0]["message"]["content"]
        return _message(content=change(text))(body, good)

    return fault


def _usage(value: Any) -> Fault:
    return _payload(usage={"prompt_tokens": value, "completion_tokens": value})


def _tokens(*entries: Any) -> Fault:
    return _choice(logprobs={"content": list(entries)})


_TOP: Final = {"token": "fully", "logprob": -0.1, "top_logprobs": []}

_add("usage 10**400", "scored", _usage(10**400))
_add("usage negative", "scored", _usage(-5))
_add("usage text", "scored", _usage("many"))
_add("usage null", "scored", _payload(usage=None))
_add("usage list", "scored", _payload(usage=[1, 2]))
_add("logprobs null token", "scored", _tokens(_TOP | {"token": None}))
_add("logprobs number token", "scored", _tokens(_TOP | {"token": 7}))
_add("logprobs text", "scored", _tokens(_TOP | {"logprob": "high"}))
_add("logprobs null", "scored", _tokens(_TOP | {"logprob": None}))
_add("logprobs 10**400", "scored", _tokens(_TOP | {"logprob": -(10**400)}))
_add(
    "logprobs odd top",
    "scored",
    _tokens(_TOP | {"top_logprobs": [None, 3, {"token": 1}]}),
)
_add("logprobs no list", "scored", _choice(logprobs={"content": "fully"}))
_add("model a number", "scored", _payload(model=42))
_add(
    "content in parts",
    "scored",
    _content(lambda text: [{"type": "text", "text": text}]),
)
_add(
    "fenced",
    "scored",
    _content(lambda text: f"Here it is:\n```json\n{text}\n```\nDone."),
)
_add(
    "reasoning first",
    "scored",
    _content(lambda text: f"<think>Hm, none?</think>\n{text}"),
)
_add("byte order mark", "scored", _content(lambda text: "\ufeff" + text))
_add("half a character", "scored", _content(lambda text: text + "\ud83d"))
_add("content null", "failed", _content(lambda _: None))
_add("content a number", "failed", _content(lambda _: 7))
_add("content empty", "failed", _content(lambda _: ""))
_add("prose", "failed", _content(lambda _: "What a lovely day it is."))
_add("no verdicts", "failed", _content(lambda _: '{"verdicts": []}'))
_add("cut off", "failed", _content(lambda text: text[: len(text) // 3]))
_add("deep nesting", "failed", _content(lambda _: "[" * 100_000))
_add(
    "absurd claim number",  # the claim is the only one, so its verdict is in its place
    "scored",
    _content(lambda text: text.replace('"claim": ', '"claim": 9e400')),
)
_add("control characters", "failed", _content(lambda _: "\x1b[2J\x00\x07"))
_add("finish length", "scored", _choice(finish_reason="length"))
_add("finish content filter", "failed", _choice(finish_reason="content_filter"))
_add("refusal", "failed", _message(content=None, refusal="I cannot help with that."))
_add(
    "tool call",
    "failed",
    _message(content=None, tool_calls=[{"id": "1", "type": "function"}]),
)
_add("no choices", "failed", _payload(choices=[]))
_add("choices null", "failed", _payload(choices=None))
_add("json null", "failed", _answer(None))
_add("json list", "failed", _answer([1, 2]))
_add("empty body", "failed", _answer(""))
_add("html", "failed", _answer("<html>Welcome to the proxy</html>"))
_add("error with 200", "failed", _answer({"error": {"message": "out of memory"}}))


# --- the line --------------------------------------------------------------------------------------


def _raw(write: Callable[[Handler, bytes], None]) -> Fault:
    """Whatever `write` does with the connection and the bytes of the good answer."""

    def fault(_body: Body, good: Answer) -> Answer:
        def broken(handler: Handler) -> None:
            handler.close_connection = True
            write(handler, json.dumps(good.payload).encode())

        return replace(good, write=broken)

    return fault


def _head(handler: Handler, *headers: tuple[str, str], status: int = 200) -> None:
    handler.send_response(status)
    for name, value in (
        ("Content-Type", "application/json"),
        ("Connection", "close"),
        *headers,
    ):
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.flush()


def _reset(handler: Handler, _data: bytes = b"") -> None:
    # With nothing to linger for, closing sends a reset instead of an orderly end.
    handler.connection.setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    handler.connection.close()


def _reset_half(handler: Handler, data: bytes) -> None:
    _head(handler, ("Content-Length", str(len(data))))
    handler.wfile.write(data[: len(data) // 2])
    handler.wfile.flush()
    _reset(handler)


def _said(
    *headers: tuple[str, str], before: bytes = b"", lacks: int | None = 0
) -> Fault:
    """All of the good answer, behind these headers and something else; so much is missing at its end."""

    def said(handler: Handler, data: bytes) -> None:
        length = [] if lacks is None else [("Content-Length", str(len(data) + lacks))]
        _head(handler, *headers, *length)
        handler.wfile.write(before + data)

    return _raw(said)


def _gzip_bomb(handler: Handler, _data: bytes) -> None:
    bomb = gzip.compress(b" " * 200_000_000, compresslevel=9)
    _head(handler, ("Content-Length", str(len(bomb))), ("Content-Encoding", "gzip"))
    handler.wfile.write(bomb)


def _no_http(handler: Handler, _data: bytes) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")


def _drip(handler: Handler, data: bytes) -> None:
    """A byte every tenth of a second."""
    _head(handler, ("Content-Length", str(len(data))))
    for at in range(min(len(data), int(ENDLESS * 10))):
        if handler.server.owner.closing.wait(0.1):
            return
        handler.wfile.write(data[at : at + 1])
        handler.wfile.flush()


def _endless(handler: Handler, _data: bytes) -> None:
    """More and more white space, as fast as it is read."""
    _head(handler)
    block, closing = b" " * 65_536, handler.server.owner.closing
    for _ in range(30_000):
        if closing.is_set():
            return
        handler.wfile.write(block)


def _hang(handler: Handler, _data: bytes) -> None:
    handler.server.owner.closing.wait(ENDLESS)


_add("close", "failed", _answer(drop=True))
_add("reset", "failed", _raw(_reset))
_add("reset half way", "failed", _raw(_reset_half))
_add("body too short", "failed", _said(lacks=1000))
_add("bad gzip", "failed", _said(("Content-Encoding", "gzip")))
_add("gzip bomb", "failed", _raw(_gzip_bomb))
_add(
    "bad chunks",
    "failed",
    _said(("Transfer-Encoding", "chunked"), before=b"zz\r\n", lacks=None),
)
_add("no http", "failed", _raw(_no_http))
_add("huge header", "failed", _said(("X-Filler", "x" * 300_000)))
_add("drip", "failed", _raw(_drip))
_add("endless", "failed", _raw(_endless))
_add("hang", "failed", _raw(_hang))
_add("50 MB", "failed", _content(lambda text: text + " " * 50_000_000))
_add(
    "utf-16",
    "failed",
    lambda _, good: Answer(json.dumps(good.payload).encode("utf-16")),
)
_add("latin-1", "failed", _answer(b'{"choices": "\xe9"}'))
# The first name is reserved for being nobody's, so that nothing leaves even if it is followed.
_URLS: Final = {
    "elsewhere": "http://elsewhere.invalid/v1",
    "in a circle": "/v1/chat/completions",
}
for _where, _url in _URLS.items():
    _add(
        f"redirect {_where}",
        "failed",
        _answer("", status=307, headers={"Location": _url}),
    )


# --- the server ------------------------------------------------------------------------------------


def with_faults(good: Script, chosen: Callable[[Body, int], str | None]) -> Script:
    """A script in which some requests meet a fault.

    Args:
        good: What a request gets otherwise.
        chosen: From a request and how often its very prompt has come to a mode's name.
    """
    seen: Counter[str] = Counter()
    lock = threading.Lock()

    def script(body: Body, number: int) -> Scripted:
        prompt = prompt_of(body)
        with lock:
            seen[prompt] += 1
            attempt = seen[prompt]
        name = chosen(body, attempt)
        answer = as_answer(good(body, number), body)
        return answer if name is None else MODES[name].fault(body, answer)

    return script


def for_prompts(faults: Mapping[str, str]) -> Callable[[Body, int], str | None]:
    """The mode of every request whose prompt holds a text, by that text."""

    def chosen(body: Body, _attempt: int) -> str | None:
        prompt = prompt_of(body)
        return next((mode for text, mode in faults.items() if text in prompt), None)

    return chosen


def for_share(share: float, modes: Iterable[str]) -> Callable[[Body, int], str | None]:
    """One of the modes for a share of the requests, drawn from the prompt and its attempt.

    So the order in which threads send does not matter.
    """
    names = sorted(modes)

    def chosen(body: Body, attempt: int) -> str | None:
        digest = hashlib.sha256(f"0 {attempt} {prompt_of(body)}".encode()).digest()
        if int.from_bytes(digest[:8]) / 2**64 >= share:
            return None
        return names[int.from_bytes(digest[8:16]) % len(names)]

    return chosen


class FaultServer(ScriptedServer):
    """A scripted server some of whose answers meet a fault; see `with_faults`."""

    def __init__(self, good: Script, chosen: Callable[[Body, int], str | None]) -> None:
        super().__init__(with_faults(good, chosen))
