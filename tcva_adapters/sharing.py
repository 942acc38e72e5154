"""Judgements that evaluators of one process share: what is known, or under way, is not asked again.

Three metrics at three temperatures ask the same judge for the same judgement; the first asker
judges, in its own thread, event loop and context, and the others take what it got. Failures are
handed to those who wait for them, and never remembered.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_core import to_json

MOST_REMEMBERED: Final = 4096
MOST_BYTES: Final = 64_000_000
"""How many judgements are remembered, and how large they are together; the one that was used least
recently goes first."""

Place = tuple[Hashable, str]
"""Whose judgement, and of what."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which judges are the same one.

    Attributes:
        holder: The object that judges.
        equal: What judges that were made from a name have in common (class, model, address,
            settings, a digest of the key); None where only the same object is the same judge.
        seconds: The longest that one call may take; None where that is not known.
        key: Equal for the same judge.
    """

    holder: object
    equal: Hashable | None = None
    seconds: float | None = None
    key: Hashable = field(init=False)

    def __post_init__(self) -> None:
        who = ("object", id(self.holder)) if self.equal is None else ("equal", self.equal)
        object.__setattr__(self, "key", who)


@dataclass(eq=False, slots=True)
class Call:
    """A judgement under way.

    Attributes:
        place: Whose judgement, and of what.
        holder: The object that judges; what is remembered of it goes with it.
        run: What it is part of.
        loop: The event loop that it is awaited on; None for a synchronous one.
        done: Its answer; None where the one who judged went away without one.
    """

    place: Place
    holder: object
    run: object
    loop: asyncio.AbstractEventLoop | None
    done: Future[Any] = field(default_factory=Future)


class SharedJudgements:
    """Answers by judge and key, and the judgements under way."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything; judgements under way end on their own, and are not remembered."""
        self._lock = threading.Lock()
        self._known: OrderedDict[Place, tuple[Any, int, weakref.ref[object]]] = OrderedDict()
        self._bytes = 0
        self._calls: dict[Place, Call] = {}

    def __len__(self) -> int:
        """How many answers are remembered for judges that are still there."""
        with self._lock:
            return sum(maker() is not None for _, _, maker in self._known.values())

    @property
    def under_way(self) -> int:
        """How many judgements are being made."""
        return len(self._calls)

    def begin(
        self,
        identity: Identity,
        key: str,
        run: object,
        loop: asyncio.AbstractEventLoop | None = None,
        past: Call | None = None,
    ) -> tuple[Any, Call | None, bool]:
        """What is remembered; else what is under way, and whether the asker is to make it.

        Args:
            identity: Whose judgement.
            key: Of what.
            run: What it would be part of.
            loop: Where it would be awaited; None for a synchronous asker.
            past: A judgement that the asker waits for no longer.
        """
        place = (identity.key, key)
        with self._lock:
            if place in self._known:
                answer, _, maker = self._known[place]
                if maker() is not None if identity.equal else maker() is identity.holder:
                    self._known.move_to_end(place)
                    return answer, None, False
            call = self._calls.get(place)
            if call is not None and call is not past:
                return None, call, False
            call = self._calls[place] = Call(place, identity.holder, run, loop)
            call.done.set_running_or_notify_cancel()  # no waiter can cancel it for the others
            return None, call, True

    def end(self, call: Call, answer: Any) -> None:
        """Tell those who wait, and remember what is no failure.

        Args:
            call: What ends.
            answer: The judgement; None hands it over to one of them.
        """
        new = None
        # What no file can hold is not remembered, nor where nobody can tell when its judge goes.
        with suppress(ValueError, TypeError):
            if answer is not None and answer.failure is None:
                new = answer, len(to_json(answer, fallback=str)), weakref.ref(call.holder)
        with self._lock:
            if self._calls.get(call.place) is call:
                del self._calls[call.place]
                if new is not None:
                    _, old, _ = self._known.pop(call.place, (None, 0, None))
                    self._bytes += new[1] - old
                    self._known[call.place] = new
                    while len(self._known) > MOST_REMEMBERED or self._bytes > MOST_BYTES:
                        _, (_, size, _) = self._known.popitem(last=False)
                        self._bytes -= size
        call.done.set_result(answer)


SHARED: Final = SharedJudgements()
"""What the evaluators of this process share."""


def clear_shared() -> None:
    """Forget the judgements that evaluators of this process share; the next ones are asked anew."""
    SHARED.clear()


if hasattr(os, "register_at_fork"):  # nobody in a child makes the judgements that were under way
    os.register_at_fork(after_in_child=SHARED.clear)
