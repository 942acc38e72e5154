"""Lines of the files of a batch: requests that go up, and answers that come down."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from tcva_adapters.models.call_errors import NO_CREDIT
from tcva_adapters.models.openai_batches import ENDPOINT
from tcva_adapters.models.protocol import as_count
from tcva_adapters.models.reply_json import read_integer

_PASSING: Final = frozenset(
    {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
)
"""What the openai package, too, asks again, beside all failures of a server."""

_CUSTOM_ID: Final = re.compile(r"([0-9a-f]+)-([0-9]{1,9})-[0-9]+")
"""As `request_line` makes them; lines of anybody else's requests are left out."""

_MOST_STATUS: Final = 599
_UNASKED: Final = frozenset({"batch_expired", "batch_cancelled"})
"""Codes of requests that nobody looked at: as if they had no line."""


def request_line(question: str, turn: int, tries: int, body: Mapping[str, Any]) -> bytes:
    r"""A request as a line of a file that is uploaded.

    >>> request_line("5f", 0, 1, {"model": "m"})
    b'{"custom_id":"5f-0-1","method":"POST","url":"/v1/chat/completions","body":{"model":"m"}}\n'
    """
    line = {
        "custom_id": f"{question}-{turn}-{tries}",
        "method": "POST",
        "url": ENDPOINT,
        "body": body,
    }
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Line:
    """What came of one request.

    Attributes:
        question: Of which question.
        turn: Which of its turns.
        status: The HTTP status that stands beside it.
        body: Its body as JSON.
        is_passing: Whether the same request may be answered another day.
        input_tokens: What it cost, by its own account.
        output_tokens: Likewise.
    """

    question: str
    turn: int
    status: int
    body: str
    is_passing: bool = False
    input_tokens: int = 0
    output_tokens: int = 0


def read_line(raw: bytes, mask: Callable[[str], str]) -> Line | None:
    """What came of a request, from a line of a result file.

    None for a line that is none, and for a request that nobody looked at.

    Args:
        raw: The line.
        mask: Takes keys out of a text.

    >>> line = b'{"custom_id": "5f-0-1", "response": {"status_code": 429, "body": {"error": null}}}'
    >>> read_line(line, str)
    Line(question='5f', turn=0, status=429, body='{"error": null}', is_passing=True, input_tokens=0, output_tokens=0)
    """
    try:
        told = json.loads(mask(raw.decode("utf-8-sig", "replace")), parse_int=read_integer)
        place = _CUSTOM_ID.fullmatch(told["custom_id"])
        response, error = told.get("response"), told.get("error")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    if place is None:
        return None
    code = error.get("code") if isinstance(error, Mapping) else None
    if code in _UNASKED:
        return None
    response = response if isinstance(response, Mapping) else {}
    status = response.get("status_code")
    body = response.get("body")
    if not isinstance(status, int) or not HTTPStatus.OK <= status <= _MOST_STATUS:  # some write 0
        status, body = int(HTTPStatus.BAD_GATEWAY), {"error": error}
    said = body.get("error") if isinstance(body, Mapping) else None
    has_no_credit = isinstance(said, Mapping) and NO_CREDIT in (said.get("code"), said.get("type"))
    is_passing = status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    usage = body.get("usage") if isinstance(body, Mapping) else None
    usage = usage if isinstance(usage, Mapping) else {}
    return Line(
        place[1],
        int(place[2]),
        status,
        json.dumps(body),
        is_passing and not has_no_credit,
        as_count(usage.get("prompt_tokens")),
        as_count(usage.get("completion_tokens")),
    )
