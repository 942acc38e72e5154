"""Lines of the files of a batch: requests that go up, and answers that come down."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from tcva_adapters.models.call_errors import NO_CREDIT
from tcva_adapters.models.openai_batches import ENDPOINT
from tcva_adapters.models.openai_exchange import read_completion
from tcva_adapters.models.reply_json import read_integer

Outcome = tuple[int, str]
"""An HTTP status, and a body as JSON."""

Line = tuple[str, int, Outcome]
"""A question, which of its turns, and what came of it."""

CONFLICT: Final[Outcome] = (
    HTTPStatus.CONFLICT.value,
    json.dumps({"error": {"message": "its batch holds two replies to it that differ"}}),
)
"""What came of a request that was answered twice: neither of the two can be believed."""

_CUSTOM_ID: Final = re.compile(r"([0-9a-f]+)-([0-9]{1,9})")
"""As `request_line` makes them; lines of anybody else's requests are left out."""

_MOST_STATUS: Final = 599
_UNASKED: Final = frozenset({"batch_expired", "batch_cancelled"})
"""Codes of requests that nobody looked at: as if they had no line."""


def request_line(question: str, turn: int, body: Mapping[str, Any]) -> bytes:
    r"""A request as a line of a file that is uploaded.

    >>> request_line("5f", 0, {"model": "m"})
    b'{"custom_id":"5f-0","method":"POST","url":"/v1/chat/completions","body":{"model":"m"}}\n'
    """
    line = {"custom_id": f"{question}-{turn}", "method": "POST", "url": ENDPOINT, "body": body}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def read_line(raw: bytes, mask: Callable[[str], str]) -> Line | None:
    """What came of a request, from a line of a result file.

    None for a line that is none, and for a request that nobody looked at.

    Args:
        raw: The line.
        mask: Takes keys out of a text.

    >>> line = b'{"custom_id": "5f-0", "response": {"status_code": 429, "body": {"error": null}}}'
    >>> read_line(line, str)
    ('5f', 0, (429, '{"error": null}'))
    """
    try:
        found = json.loads(mask(raw.decode("utf-8-sig", "replace")), parse_int=read_integer)
        place = _CUSTOM_ID.fullmatch(found["custom_id"])
        response, error = _mapping(found.get("response")), found.get("error")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    if place is None or _mapping(error).get("code") in _UNASKED:
        return None
    status, body = response.get("status_code"), response.get("body")
    if not isinstance(status, int) or not HTTPStatus.OK <= status <= _MOST_STATUS:  # some write 0
        status, body = HTTPStatus.BAD_GATEWAY.value, {"error": error}
    refused = _mapping(_mapping(body).get("error"))
    if NO_CREDIT in (refused.get("code"), refused.get("type")):
        status = HTTPStatus.PAYMENT_REQUIRED.value  # no rate limit that passes
    return place[1], int(place[2]), (status, json.dumps(body))


def merged(known: Outcome | None, came: Outcome) -> Outcome:
    """What stands of two lines of one request: an answer before a failure, unless answers differ.

    Args:
        known: What came before; None where nothing did.
        came: What comes now.
    """
    if known is None:
        return came
    known_text, text = (
        read_completion(body)[0] if status == HTTPStatus.OK else None
        for status, body in (known, came)
    )
    if CONFLICT in (known, came) or (known_text and text and known_text.text != text.text):
        return CONFLICT
    return came if known_text is None and text is not None else known


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
