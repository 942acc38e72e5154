"""A scripted server with OpenAI's files and batches beside its chat completions, on 127.0.0.1."""

import email
import email.policy
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.server import (
    Answer,
    Body,
    Handler,
    Script,
    ScriptedServer,
    as_answer,
    error,
)

Line = dict[str, Any]
Fate = Callable[[int, int, Line], str | Answer | None]
"""From a batch's number, a line's number (both from 1) and the line to what becomes of it: an answer
in place of the script's, ``expired``, ``cancelled`` or ``missing``; None for what the script says."""


@dataclass
class Held:
    """A batch on the server."""

    number: int
    told: dict[str, Any]
    lines: list[Line]
    looks: int = 0


@dataclass
class Fault:
    """The next request to a path fails: before it is carried out, or after."""

    path: str
    answer: Answer
    is_done: bool = False


class BatchServer(ScriptedServer):
    """Batches end at the first look, unless `hold` is set.

    Attributes:
        fate: See `Fate`.
        statuses: What batches end as, by number; ``completed`` for others. ``failed`` takes
            ``failures``.
        failures: Code and message of batches that fail.
        room: Bytes of lines that may be under way; batches beyond it fail.
        hold: Batches stay in progress.
        faults: Requests that fail.
        answered: How often each request was answered well, by its body.
        calls: Method and path of each request but those for completions.
    """

    def __init__(self, script: Script, *, models: Sequence[str] = ("m",)) -> None:
        super().__init__(script, models=models)
        self._http.RequestHandlerClass = _Handler
        self.fate: Fate = lambda batch, number, line: None
        self.statuses: dict[int, str] = {}
        self.failures = (
            "model_not_found",
            "The provided model 'm' is not supported by Batch.",
        )
        self.room = float("inf")
        self.hold = False
        self.faults: list[Fault] = []
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, Held] = {}
        self.answered: Counter[str] = Counter()
        self.looked_at: Counter[str] = Counter()
        self.gate = threading.Lock()

    @property
    def lines(self) -> list[list[Line]]:
        """The requests of each batch, in the order in which they were made."""
        return [held.lines for held in self.batches.values()]

    def fault(self, method: str, path: str) -> Fault | None:
        for each in self.faults:
            if each.path == f"{method} {path}":
                self.faults.remove(each)
                return each
        return None

    def upload(self, name: str, content: bytes) -> dict[str, Any]:
        id_ = f"file-{len(self.files) + 1}"
        self.files[id_] = (name, content)
        return self.file(id_)

    def file(self, id_: str) -> dict[str, Any]:
        name, content = self.files[id_]
        more = {
            "object": "file",
            "created_at": 1,
            "purpose": "batch",
            "status": "processed",
        }
        return {"id": id_, "bytes": len(content), "filename": name, **more}

    def create(self, asked: Body) -> dict[str, Any]:
        number = len(self.batches) + 1
        content = self.files[asked["input_file_id"]][1]
        lines = [json.loads(line) for line in content.splitlines()]
        assert len({line["custom_id"] for line in lines}) == len(lines)
        assert len({line["body"]["model"] for line in lines}) == 1
        open_ones = [
            held
            for held in self.batches.values()
            if held.told["status"] == "in_progress"
        ]
        under_way = sum(
            len(self.files[held.told["input_file_id"]][1]) for held in open_ones
        )
        given = ("endpoint", "input_file_id", "completion_window")
        told: dict[str, Any] = {
            **{name: asked[name] for name in given}, "id": f"batch_{number}", "object": "batch",
            "status": "in_progress", "created_at": int(time.time()),
            "metadata": asked.get("metadata"),
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }  # fmt: skip
        if under_way + len(content) > self.room:
            self._fail(
                told, "token_limit_exceeded", "Enqueued token limit reached for m."
            )
        self.batches[told["id"]] = Held(number, told, lines)
        return told

    def look(self, id_: str) -> dict[str, Any]:
        held = self.batches[id_]
        if held.told["status"] == "in_progress" and not self.hold:
            self._end(held, self.statuses.get(held.number, "completed"))
        return held.told

    def cancel(self, id_: str) -> dict[str, Any]:
        held = self.batches[id_]
        self._end(held, "cancelled")
        return {**held.told, "status": "cancelling"}

    def _end(self, held: Held, status: str) -> None:
        if status == "failed":
            self._fail(held.told, *self.failures)
            return
        good: list[Line] = []
        bad: list[Line] = []
        for number, line in enumerate(held.lines, start=1):
            body = json.dumps(line["body"], sort_keys=True)
            fate = self.fate(held.number, number, line)
            if fate == "missing":
                continue
            if isinstance(fate, str):
                said = {"code": f"batch_{fate}", "message": f"This request was {fate}."}
                bad.append(_result(line, None, said))
                continue
            self.looked_at[body] += 1
            answer = fate or as_answer(self.script(line["body"], number), line["body"])
            response = {
                "status_code": answer.status,
                "request_id": "r",
                "body": answer.payload,
            }
            if answer.status == 200:
                self.answered[body] += 1
            (good if answer.status == 200 else bad).append(
                _result(line, response, None)
            )
        held.told["status"] = status
        for name, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                content = "\n".join(
                    json.dumps(each, ensure_ascii=False) for each in lines
                )
                held.told[name] = self.upload(f"{name}.jsonl", content.encode())["id"]
        counts = {"total": len(held.lines), "completed": len(good), "failed": len(bad)}
        held.told["request_counts"] = counts

    def _fail(self, told: dict[str, Any], code: str, message: str) -> None:
        said = {"code": code, "message": message, "line": None, "param": None}
        told.update(status="failed", errors={"object": "list", "data": [said]})


def _result(line: Line, response: Any, said: Any) -> dict[str, Any]:
    return {
        "id": "r",
        "custom_id": line["custom_id"],
        "response": response,
        "error": said,
    }


class _Handler(Handler):
    @property
    def owner(self) -> BatchServer:
        assert isinstance(self.server.owner, BatchServer)
        return self.server.owner

    def do_GET(self) -> None:  # noqa: N802  # what the base class calls
        url = urlsplit(self.path)
        if url.path == "/v1/models":
            super().do_GET()
            return
        with self.owner.gate:
            self._answered(
                "GET", url.path, lambda: self._get(url.path, parse_qs(url.query))
            )

    def do_POST(self) -> None:  # noqa: N802  # as above
        if self.path == "/v1/chat/completions":
            super().do_POST()
            return
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        with self.owner.gate:
            self._answered("POST", self.path, lambda: self._post(raw))

    def _answered(self, method: str, path: str, work: Callable[[], Answer]) -> None:
        fault = self.owner.fault(method, path)
        answer = work() if fault is None or fault.is_done else fault.answer
        self._send(answer if fault is None else fault.answer)

    def _get(self, path: str, query: dict[str, list[str]]) -> Answer:
        owner, parts = self.owner, path.removeprefix("/v1/").split("/")
        if parts == ["files"]:
            return _page([owner.file(each) for each in owner.files], query)
        if parts == ["batches"]:
            return _page([held.told for held in owner.batches.values()], query)
        if parts[0] == "files" and parts[1] in owner.files:
            content = owner.files[parts[1]][1]
            return (
                Answer(content)
                if parts[2:] == ["content"]
                else Answer(owner.file(parts[1]))
            )
        if parts[0] == "batches" and parts[1] in owner.batches:
            return Answer(owner.look(parts[1]))
        return error(404, f"No such object: {path}")

    def _post(self, raw: bytes) -> Answer:
        owner, parts = self.owner, self.path.removeprefix("/v1/").split("/")
        if parts == ["files"]:
            return Answer(owner.upload(*_form_file(self.headers["Content-Type"], raw)))
        if parts == ["batches"]:
            return Answer(owner.create(json.loads(raw)))
        return Answer(owner.cancel(parts[1]))


def _page(newest_last: list[dict[str, Any]], query: dict[str, list[str]]) -> Answer:
    rows = newest_last[::-1]
    after = query.get("after", [""])[0]
    start = next((i + 1 for i, row in enumerate(rows) if row["id"] == after), 0)
    page = rows[start : start + min(3, int(query.get("limit", ["3"])[0]))]
    rest = {"has_more": start + len(page) < len(rows), "object": "list"}
    return Answer({"data": page, "first_id": None, "last_id": None, **rest})


def _form_file(kind: str, raw: bytes) -> tuple[str, bytes]:
    head = f"Content-Type: {kind}\r\n\r\n".encode()
    form = email.message_from_bytes(head + raw, policy=email.policy.HTTP)
    for part in form.iter_parts():
        content = part.get_payload(decode=True)
        if part.get_filename() and isinstance(content, bytes):
            return str(part.get_filename()), content
    raise AssertionError(raw[:200])
