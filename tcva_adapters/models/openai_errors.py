"""What a request without success means: from what came back to `JudgeError`, without any secret."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.addresses import shown_url
from tcva_adapters.models.call_errors import Kind, innermost, kind_of
from tcva_adapters.models.openai_reply import Answer
from tcva_adapters.models.secrets import Mask, quotable

_LIMIT_TOO_LARGE: Final = re.compile(
    r"max_(?:completion_)?tokens\b.{0,80}\b(?:too large|too high|at most|less than|exceed)",
    re.IGNORECASE | re.DOTALL,
)
_REFUSED: Final = frozenset({400, 404, 422, 501})
_UNANSWERED: Final = {
    "timeout": "{url} did not answer in time",
    "unreachable": "cannot reach {url}; check OPENAI_BASE_URL or base_url",
    "connection": "no reply of {url} could be read",
}


@dataclass(frozen=True, slots=True)
class Server:
    """The server as messages may name it.

    Attributes:
        url: Its address without credentials and query.
        model: The model asked for.
        mask: Takes the key and passwords out of what it says.
        timeout: Seconds that a call may take, its repeated requests included; None where the
            client of a user decides.
    """

    url: str
    model: str
    mask: Mask = field(repr=False)
    timeout: float | None

    def clean(self, text: str) -> str:
        """A quotation fit for a message."""
        return quotable(text, self.mask)

    def failure(self, answer: Answer) -> Failure:
        """What an answer means that is no success."""
        try:
            payload = json.loads(answer.content)
        except (ValueError, RecursionError):
            payload = None
        said: Any = payload.get("error", payload) if isinstance(payload, Mapping) else payload
        fields: Mapping[str, Any] = said if isinstance(said, Mapping) else {"message": said}
        message, param = fields.get("message"), fields.get("param")
        if not (isinstance(message, str) and message):
            message = answer.content[:10_000].decode(errors="replace")
        message = self.clean(message)
        kind = kind_of(answer.status or 0, str(fields.get("code") or ""), message)
        return Failure(self, answer, kind, message, param if isinstance(param, str) else "")

    def late(self, sent: int) -> JudgeError:
        """What is raised when the time of a call is over."""
        msg = (
            f"{self.url} did not answer within {self.timeout:g} s ({requests(sent)}); raise timeout "
            "(--judge-timeout) or lower the concurrency"
        )
        return JudgeError(msg, reason="timeout")


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request.

    What a server wrote may repeat the words of the sample, so it is only ever about this request.

    Attributes:
        server: Who failed.
        answer: What came back, with the number of requests that were sent until then.
        kind: What it means.
        message: What the server said, cleaned.
        param: The parameter that the server blames, or an empty string.
    """

    server: Server
    answer: Answer
    kind: Kind
    message: str
    param: str = ""

    @property
    def is_limit_too_large(self) -> bool:
        """The reply's length limit is more than the model can write, whatever the prompt."""
        return self.answer.status in _REFUSED and _LIMIT_TOO_LARGE.search(self.message) is not None

    def may_be_cured_by_less(self, *, names_a_feature: bool) -> bool:
        """Whether a request that asks for less may succeed.

        Args:
            names_a_feature: Whether the message names a feature that the request used.
        """
        if self.is_limit_too_large:
            return True
        if self.answer.status not in _REFUSED or self.kind.is_about_the_request:
            return False
        # Most 404s are wrong addresses; some gateways answer so when no server has a feature.
        is_address = self.answer.status == HTTPStatus.NOT_FOUND and "support" not in self.message
        return names_a_feature or not is_address

    def as_error(self) -> JudgeError:
        """The failure as it is raised; fatal where it holds for every call."""
        server, answer, sent = self.server, self.answer, requests(self.answer.sent)
        if answer.error is not None:
            kind, cause = innermost(answer.error)
            reason = kind.reason if kind.reason in _UNANSWERED else "connection"
            said = server.clean(str(cause)) or "the connection broke off"
            msg = f"{_UNANSWERED[reason].format(url=server.url)} ({sent}): {said}"
            return JudgeError(msg, reason=reason, fatal=kind.fatal and reason == kind.reason)
        if (pause := answer.pause) is not None:
            is_longer = server.timeout is not None and pause >= server.timeout
            sent = f"{sent}; it asks for a pause of {pause:g} s{', more than is left' * is_longer}"
        where = server.clean(shown_url(answer.headers.get("location", ""))) or "nowhere"
        hint = self.kind.hint.format(url=server.url, model=server.model, where=where)
        said = f"{server.url} answered {answer.status}: {self.message}".removesuffix(": ")
        msg = f"{hint} ({said}; {sent})" if hint else f"{said} ({sent})"
        return JudgeError(msg, reason=self.kind.reason, fatal=self.kind.fatal)


def requests(sent: int) -> str:
    """How many requests were sent, in words.

    >>> requests(1), requests(3)
    ('1 request sent', '3 requests sent')
    """
    return f"{sent} request{'' if sent == 1 else 's'} sent"
