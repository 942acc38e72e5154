"""A scripted server with OpenAI-compatible chat completions, on 127.0.0.1."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server does with one request.

    Attributes:
        payload: Sent as JSON, or as it is where it is a string or bytes.
        status: HTTP status.
        headers: Further headers.
        delay: Seconds to wait first; closing the server ends the wait.
        drop: Close the connection without a word.
        write: Does what is done by itself, and leaves the rest out.
    """

    payload: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    write: Callable[[Handler], None] | None = None


Scripted = Answer | str | dict[str, Any] | tuple[int, Any]
"""An answer; or a message's text; or a payload; or a status and a payload."""

Script = Callable[[Body, int], Scripted]
"""From a request's JSON and its number, counted from 1, to what is done."""


@dataclass(frozen=True, slots=True)
class Received:
    """One request; the names of its headers are in lower case."""

    path: str
    headers: dict[str, str]
    body: Body


class ScriptedServer:
    """Serves ``/v1/chat/completions`` and ``/v1/models``; use it in a with statement.

    Attributes:
        received: Every request for a completion, in order of arrival.
        busiest: The largest number of requests that were under way at once.
    """

    def __init__(self, script: Script, *, models: Sequence[str] = ("m",)) -> None:
        self.script = script
        self.models = tuple(models)
        self.received: list[Received] = []
        self.busiest = 0
        self.closing = threading.Event()
        self._busy = 0
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", 0), Handler)
        self._http.owner = self
        how: Any = {"kwargs": {"poll_interval": 0.01}, "daemon": True}
        self._thread = threading.Thread(target=self._http.serve_forever, **how)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def count(self) -> int:
        with self._lock:
            return len(self.received)

    @property
    def bodies(self) -> list[Body]:
        with self._lock:
            return [request.body for request in self.received]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, request: Received) -> Answer:
        with self._lock:
            self.received.append(request)
            number = len(self.received)
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        try:
            answer = as_answer(self.script(request.body, number), request.body)
            if answer.delay:
                self.closing.wait(answer.delay)
            return answer
        finally:
            with self._lock:
                self._busy -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024
    owner: ScriptedServer

    def handle_error(self, *_: Any) -> None:
        """Clients that hang up are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        models = [{"id": name, "object": "model"} for name in self.server.owner.models]
        found = self.path == "/v1/models"
        self._send(
            Answer({"object": "list", "data": models})
            if found
            else error(404, "no page")
        )

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.partition("?")[0] != "/v1/chat/completions":
            self._send(error(404, f"no page {self.path}"))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(self.path, headers, json.loads(raw))
        answer = self.server.owner.answer(request)
        streamed = (
            request.body.get("stream") and answer.status == 200 and not answer.write
        )
        self._send(_stream(answer) if streamed else answer)

    def _send(self, answer: Answer) -> None:
        if answer.drop:
            self.close_connection = True
            return
        if answer.write is not None:
            answer.write(self)
            return
        text = isinstance(answer.payload, str)
        data = answer.payload
        if not isinstance(data, bytes):
            data = (data if text else json.dumps(data)).encode()
        kind = "text/html" if text else "application/json"
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(data)),
            **answer.headers,
        }
        self.send_response(answer.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""


def as_answer(scripted: Scripted, body: Body) -> Answer:
    """The answer that a script means."""
    if isinstance(scripted, Answer):
        return scripted
    if isinstance(scripted, str):
        return reply(scripted, model=body.get("model", ""))
    if isinstance(scripted, tuple):
        return Answer(scripted[1], status=scripted[0])
    return Answer(scripted)


def _stream(answer: Answer) -> Answer:
    """The completion as one event, for clients that always stream."""
    choice = answer.payload["choices"][0]
    delta = {
        "index": 0,
        "delta": choice["message"],
        "finish_reason": choice["finish_reason"],
    }
    chunk = {**answer.payload, "object": "chat.completion.chunk", "choices": [delta]}
    events = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    return replace(
        answer, payload=events, headers={"Content-Type": "text/event-stream"}
    )


def reply(
    text: str | None,
    *,
    finish_reason: str = "stop",
    usage: tuple[int, int] | None = (10, 5),
    model: str = "m",
    tokens: Sequence[tuple[str, Mapping[str, float]]] | None = None,
    **message: Any,
) -> Answer:
    """A completion; ``tokens`` are (token, {alternative: probability}) pairs."""
    said = {"role": "assistant", "content": text, **message}
    choice: dict[str, Any] = {
        "index": 0,
        "message": said,
        "finish_reason": finish_reason,
    }
    if tokens is not None:
        choice["logprobs"] = {
            "content": [_logprob(token, top) for token, top in tokens]
        }
    payload: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
    }
    payload |= {"model": model, "choices": [choice]}
    if usage is not None:
        names = ("prompt_tokens", "completion_tokens", "total_tokens")
        payload["usage"] = dict(zip(names, (*usage, sum(usage)), strict=True))
    return Answer(payload)


def _logprob(token: str, top: Mapping[str, float]) -> dict[str, Any]:
    others = [
        {"token": t, "logprob": math.log(p), "bytes": None} for t, p in top.items()
    ]
    own = math.log(top[token]) if token in top else 0.0
    return {"token": token, "logprob": own, "bytes": None, "top_logprobs": others}


def error(
    status: int, message: str, *, retry_after: float | None = None, **more: Any
) -> Answer:
    """A failure as OpenAI words it; more are ``param`` and ``code``."""
    said = {
        "message": message,
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Answer({"error": said | more}, status=status, headers=headers)


GARBAGE = Answer("<html>Welcome to the proxy</html>")
DROP = Answer(drop=True)
WRONG_KEY = error(401, "Incorrect API key provided.", code="invalid_api_key")
NO_MODEL = error(404, "The model `m` does not exist.", code="model_not_found")


def in_turn(*answers: Scripted) -> Script:
    """The answers in order; the last one for ever after."""
    return lambda _body, n: answers[min(n, len(answers)) - 1]


def later(seconds: float, script: Script) -> Script:
    """The same, after a pause."""
    return lambda body, n: replace(as_answer(script(body, n), body), delay=seconds)


def lacking(
    *features: str, then: Script, status: int = 400, named: bool = True
) -> Script:
    """A server without some features; ``json_schema`` and ``json_object`` are features too."""

    def script(body: Body, n: int) -> Scripted:
        form = body.get("response_format", {}).get("type")
        for feature in features:
            if feature in body or feature == form:
                if not named:
                    return error(status, "Invalid request.")
                param = "response_format" if feature == form else feature
                return error(status, f"Unsupported parameter: '{param}'.", param=param)
        return then(body, n)

    return script


CLAIM = re.compile(r"<<<CLAIM (\d+) \w+>>>\n(.*?)\n<<<END CLAIM \1 \w+>>>", re.DOTALL)
_ASKED = re.compile(
    r"(?:each of these claims|these claims only): ((?:claim_\d+(?:, )?)+)\."
)
PASSAGE = re.compile(
    r"<<<PASSAGE (\d+) \w+>>>\n(.*?)\n<<<END PASSAGE \1 \w+>>>", re.DOTALL
)
_TEXT = re.compile(r"<<<TEXT \w+>>>\n(.*?)\n<<<END TEXT \w+>>>", re.DOTALL)


def asked_numbers(prompt: str) -> set[int]:
    """The claims that a prompt of ours asks for verdicts on; none for any other prompt."""
    asked = _ASKED.search(prompt)
    return set(map(int, re.findall(r"\d+", asked[1]))) if asked else set()


def auto_judge(body: Body, _n: int) -> str:
    """Judges the numbered claims of the prompt: fully if a passage holds the claim, else none.

    A request for claims gets the sentences of the text, any other an object with ``ok``.
    """
    prompt = body["messages"][-1]["content"]
    text = _TEXT.search(prompt)
    if text is not None:
        return json.dumps({"claims": re.split(r"(?<=[.!?])\s+", text[1].strip())})
    wanted = asked_numbers(prompt)
    if not wanted:
        return '{"ok": true}'
    passages = PASSAGE.findall(prompt)
    verdicts = {}
    for number, claim in CLAIM.findall(prompt):
        if int(number) not in wanted:
            continue
        core = claim.strip().rstrip(".").lower()
        held = next((p for p, passage in passages if core in passage.lower()), None)
        verdicts[f"claim_{number}"] = {
            "quote_from_passage": claim.strip() if held else "",
            "reason": "Stated." if held else "Not stated.",
            "verdict": "fully" if held else "none",
        }
    return json.dumps(verdicts)
