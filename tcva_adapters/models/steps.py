"""Work that asks on its way, apart from how the answer is waited for.

Such work is a generator: it yields what to ask, is sent what was answered or thrown why nothing
was, and returns what came of it. `run` and `arun` are its two faces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

Ask = TypeVar("Ask")
Answer = TypeVar("Answer")
Outcome = TypeVar("Outcome")


def run(steps: Generator[Ask, Answer, Outcome], answer: Callable[[Ask], Answer]) -> Outcome:
    """What comes of the work; whatever answering raises is thrown into it."""
    said: Answer | Exception
    try:
        asked = next(steps)
        while True:
            try:
                said = answer(asked)
            except Exception as error:  # noqa: BLE001  # any failure is the work's to judge
                said = error
            asked = _told(steps, said)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # a generator hands its result over untyped


async def arun(
    steps: Generator[Ask, Answer, Outcome], answer: Callable[[Ask], Awaitable[Answer]]
) -> Outcome:
    """The same, awaited."""
    said: Answer | Exception
    try:
        asked = next(steps)
        while True:
            try:
                said = await answer(asked)
            except Exception as error:  # noqa: BLE001  # as above; cancellation passes through
                said = error
            asked = _told(steps, said)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # as above


def _told(steps: Generator[Ask, Answer, Outcome], said: Answer | Exception) -> Ask:
    # Outside the handler: what the work raises then has no failure of a call as its context,
    # whose text may hold a key.
    return steps.throw(said) if isinstance(said, Exception) else steps.send(said)
