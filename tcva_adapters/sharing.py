"""Judgements that evaluators of one process share: what is known, or under way, is not asked again.

Three metrics at three temperatures ask the same judge for the same judgement; the first asker
judges, in its own thread, event loop and context, and the others take what it got. Failures are
handed to those who wait for them, and never remembered. Every wait ends: see `wait`.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import to_json

MOST_REMEMBERED: Final = 4096
MOST_BYTES: Final = 64_000_000
"""How many judgements are remembered, and how large they are together; the one that was used least
recently goes first."""

LONGEST_WAIT: Final = 300.0
"""Seconds after which a waiter asks for itself where the judge's own deadline is not known."""

_LONGEST_FOR_A_LOOP: Final = 1.0
"""Seconds that a thread waits for what an event loop awaits: it may hold what that loop needs."""

_SLICE: Final = 0.25
"""Seconds after which a waiter looks whether the one who judges is still there."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which judges are the same one.

    Attributes:
        holder: The object that judges. What is shared is dropped when the last holder is.
        equal: What judges that were made from a name have in common (class, model, address,
            settings, a digest of the key); None where only the same object is the same judge.
        patience: Timeouts and retries: a waiter with others asks for itself.
        seconds: The longest that one call may take; None where that is not known.
    """

    holder: object
    equal: Hashable | None = None
    patience: Hashable | None = None
    seconds: float | None = None

    @property
    def key(self) -> Hashable:
        """Equal for the same judge."""
        return ("object", id(self.holder)) if self.equal is None else ("equal", self.equal)

    @property
    def deadline(self) -> float:
        """When a wait that begins now ends."""
        return time.monotonic() + (self.seconds or LONGEST_WAIT)


class Call:
    """A judgement under way.

    Args:
        loop: The event loop that it is awaited on; None for a synchronous one.
        owner: Whose work it is part of; whoever does the same work can always wait for it.

    Attributes:
        done: Its answer; None where the one who judged went away without one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None, owner: object) -> None:
        self.loop, self.owner = loop, owner
        self.thread = threading.get_ident()
        self.done: Future[Any] = Future()
        self.done.set_running_or_notify_cancel()  # no waiter can cancel it for the others

    @property
    def is_gone(self) -> bool:
        """Whether it may never end: nobody runs its loop, or who asks is the one who judges."""
        if self.loop is not None:
            return not self.loop.is_running()
        return self.thread == threading.get_ident()


class SharedJudgements:
    """Answers by judge and key, and the judgements under way."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything; judgements under way end on their own, and are not remembered."""
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[Hashable, str], tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._holders: dict[Hashable, set[int]] = {}
        self._gone: deque[tuple[Hashable, int]] = deque()
        self._calls: dict[Hashable, Call] = {}

    def __len__(self) -> int:
        """How many answers are remembered."""
        with self._lock:
            self._drop_the_gone()
            return len(self._known)

    @property
    def under_way(self) -> int:
        """How many judgements are being made."""
        with self._lock:
            return len(self._calls)

    def begin(
        self,
        identity: Identity,
        key: str,
        loop: asyncio.AbstractEventLoop | None = None,
        *,
        owner: object = None,
        waits: bool = True,
    ) -> tuple[Any, Call | None, bool]:
        """What is remembered; else what is under way, and whether the asker is to make it.

        Args:
            identity: Whose judgement.
            key: Of what.
            loop: Where it would be awaited; None for a synchronous asker.
            owner: Whose work it is part of.
            waits: Whether the asker can wait for other work.
        """
        who = identity.key
        with self._lock:
            self._drop_the_gone()
            if (who, key) in self._known:
                self._known.move_to_end((who, key))
                self._hold(who, identity.holder)
                return self._known[who, key][0], None, False
            call = self._calls.get((who, key, identity.patience))
            can_wait = waits or (owner is not None and call is not None and call.owner is owner)
            if call is not None and can_wait and not call.is_gone:
                return None, call, False
            call = self._calls[who, key, identity.patience] = Call(loop, owner)
            return None, call, True

    def end(self, call: Call, identity: Identity, key: str, answer: Any, *, keeps: bool) -> None:
        """Tell those who wait.

        Args:
            call: What ends.
            identity: Whose judgement.
            key: Of what.
            answer: None hands the judgement over to one of them.
            keeps: Whether to remember it.
        """
        who = identity.key
        place = (who, key, identity.patience)
        size = 0
        if keeps:
            try:
                size = len(to_json(answer, fallback=str))
            except ValueError:  # a judge of the user's wrote what no file can hold
                keeps = False
        with self._lock:
            if self._calls.get(place) is call:
                del self._calls[place]
                if keeps and self._hold(who, identity.holder):
                    self._forget((who, key))
                    self._known[who, key] = answer, size
                    self._bytes += size
                    while len(self._known) > MOST_REMEMBERED or self._bytes > MOST_BYTES:
                        self._forget(next(iter(self._known)))
        call.done.set_result(answer)

    def _forget(self, place: tuple[Hashable, str]) -> None:
        _, size = self._known.pop(place, (None, 0))
        self._bytes -= size

    def _hold(self, who: Hashable, holder: object) -> bool:
        """Count a holder; False where it cannot tell when it goes and its address is another's."""
        if id(holder) not in self._holders.get(who, ()):
            try:
                # Only put down there: it runs wherever the last reference goes, perhaps in here.
                weakref.finalize(holder, self._gone.append, (who, id(holder))).atexit = False
            except TypeError:
                return False
            self._holders.setdefault(who, set()).add(id(holder))
        return True

    def _drop_the_gone(self) -> None:
        """With the last holder goes all that was remembered."""
        while self._gone:
            who, holder = self._gone.popleft()
            holders = self._holders.get(who, set())
            holders.discard(holder)
            if not holders:
                self._holders.pop(who, None)
                for place in [each for each in self._known if each[0] == who]:
                    self._forget(place)


def wait(call: Call, deadline: float) -> Any:
    """The answer of a judgement that another thread makes or awaits; None where it goes away.

    Raises:
        TimeoutError: The deadline is over, or a second, where an event loop awaits the judgement.
    """
    if call.loop is not None:
        deadline = min(deadline, time.monotonic() + _LONGEST_FOR_A_LOOP)
    while not call.done.done():
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        try:
            return call.done.result(min(_SLICE, left))
        except TimeoutError:
            if call.is_gone:
                return None
    return call.done.result()


async def await_(call: Call, deadline: float) -> Any:
    """The same, awaited, which holds nobody up: up to the deadline wherever it is made.

    Raises:
        TimeoutError: The deadline is over.
    """
    done = asyncio.wrap_future(call.done)
    try:
        while not done.done():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            await asyncio.wait({done}, timeout=min(_SLICE, left))
            if not done.done() and call.is_gone:
                return None
        return done.result()
    finally:
        done.cancel()


SHARED: Final = SharedJudgements()
"""What the evaluators of this process share."""


def clear_shared() -> None:
    """Forget the judgements that evaluators of this process share; the next ones are asked anew."""
    SHARED.clear()


if hasattr(os, "register_at_fork"):  # nobody in a child makes the judgements that were under way
    os.register_at_fork(after_in_child=SHARED.clear)
