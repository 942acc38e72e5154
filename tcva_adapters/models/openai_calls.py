"""The requests of one call: how long they may take, and which are sent again."""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tcva_adapters.models.openai_errors import Server
from tcva_adapters.models.openai_reply import Answer

if TYPE_CHECKING:
    from tcva_adapters.models.limits import RateLimit

_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 8.0
"""Seconds before a request is sent again: doubled each time, unless the server says how long."""

_TICK: Final = 0.001


class Call:
    """The time that a call has left, and whether a request of it is sent again.

    Args:
        server: Who is asked.
        max_retries: How often a request is sent again.
        rate: Spaces the requests.
    """

    def __init__(self, server: Server, max_retries: int, rate: RateLimit | None) -> None:
        self._server = server
        self._max_retries = max_retries
        self._rate = rate
        self._sent = self._tries = 0
        self._end = math.inf if server.timeout is None else time.monotonic() + server.timeout

    @property
    def left(self) -> float | None:
        """Seconds left; None where a user's client decides."""
        return None if math.isinf(self._end) else self._end - time.monotonic()

    def place_in_line(self) -> float:
        """Seconds to wait for the next request, which are not the server's time.

        Raises:
            JudgeError: The time is over.
        """
        self._check()
        pause = 0.0 if self._rate is None else self._rate.book()
        self._end += pause
        return pause

    def pause(self, answer: Answer) -> float | None:
        """Seconds until the request is sent again; None where this answer is the last one.

        Raises:
            JudgeError: The time is over.
        """
        self._sent += answer.sent
        if answer.status is None:
            self._check()
        if self._tries >= self._max_retries or not answer.may_pass:
            return None
        doubled = min(_FIRST_PAUSE * 2.0**self._tries, _LONGEST_PAUSE)
        pause = answer.pause or doubled * random.uniform(0.75, 1.0)  # noqa: S311  # callers are to spread
        if self.left is not None and pause >= self.left:
            return None
        self._tries += 1
        return pause

    def last(self, answer: Answer) -> Answer:
        """The last answer to a body, with the number of requests that were sent for it."""
        tries, self._tries = self._tries, 0
        return replace(answer, sent=tries + answer.sent)

    def _check(self) -> None:
        if self.left is not None and self.left < _TICK:
            raise self._server.late(self._sent)
