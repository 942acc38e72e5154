"""Lines of the files of a batch: uploaded requests, and downloaded answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import NamedTuple

from tcva_adapters.models.call_errors import NO_CREDIT
from tcva_adapters.models.openai_batches import ENDPOINT
from tcva_adapters.models.reply_json import read_integer
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json


class Line(NamedTuple):
    """A line of a result file.

    Attributes:
        question: The question.
        request: The number of its request.
        status: The HTTP status of the outcome.
        body: Its body as JSON.
    """

    question: str
    request: int
    status: int
    body: str


_CUSTOM_ID = re.compile(r"([0-9a-f]+)-([0-9]{1,9})")

_UNASKED = ("batch_expired", "batch_cancelled")


def request_line(question: str, request: int, body: Fields) -> bytes:
    r"""Write a request as a line of a file to upload.

    >>> request_line("5f", 0, {"model": "m"})
    b'{"custom_id":"5f-0","method":"POST","url":"/v1/chat/completions","body":{"model":"m"}}\n'
    """
    line = json.dumps(
        {
            "custom_id": f"{question}-{request}",
            "method": "POST",
            "url": ENDPOINT,
            "body": body,
        },
        separators=(",", ":"),
    )
    return f"{line}\n".encode()


def read_lines(lines: Iterable[bytes], mask: Callable[[str], str]) -> Iterator[Line]:
    """Read the outcomes of requests from the lines of a result file.

    Lines that cannot be read, and requests that the server did not look at, are left out.

    Args:
        lines: The lines.
        mask: Removes keys from a text.

    >>> line = b'{"custom_id": "5f-0", "response": {"status_code": 429, "body": {"error": null}}}'
    >>> [(line.request, line.status) for line in read_lines([line, b"{}"], str)]
    [(0, 429)]
    """
    for line in lines:
        try:
            fields = json.loads(
                line.decode("utf-8-sig", "replace"), parse_int=read_integer
            )
            custom_id = _CUSTOM_ID.fullmatch(fields["custom_id"])
            response = _mapping(fields.get("response"))
            error = fields.get("error")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue
        if custom_id is None or _mapping(error).get("code") in _UNASKED:
            continue

        status = response.get("status_code", 0)
        body = response.get("body")
        if status not in range(200, 600):  # some write 0
            status = HTTPStatus.BAD_GATEWAY.value
            body = {"error": error}
        refused = _mapping(_mapping(body).get("error"))
        if NO_CREDIT in (refused.get("code"), refused.get("type")):
            status = (
                HTTPStatus.PAYMENT_REQUIRED.value
            )  # unlike a rate limit, it does not pass
        yield Line(custom_id[1], int(custom_id[2]), status, mask(json.dumps(body)))


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}
