"""Judgements that the evaluators of one process share, remembered or under way.

Three metrics at three temperatures ask the same judge for the same judgement. The first asker judges,
in its own thread, event loop and context, and the others take its answer. A failure is passed on to
all who wait for it, and never remembered.
"""

from __future__ import annotations

import os
import threading
import weakref
from asyncio import AbstractEventLoop
from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from tcva_adapters.judges.base import Judge
from tcva_adapters.judges.rounds import SentenceMark, SentenceMemory
from tcva_adapters.models.protocol import Identity
from tcva_adapters.models.store_keys import digest, key_of
from tcva_adapters.results.store import VerdictStore

MAX_REMEMBERED = 4096
MAX_BYTES = 64_000_000
"""The most judgements that are remembered, and the most bytes that they have together; the least
recently used one is forgotten first."""


@dataclass(eq=False, slots=True)
class Call:
    """A judgement under way, or remembered.

    Attributes:
        place: The identity of the judge, and the key of the judgement.
        holder: The object that judges; for a remembered judgement, a weak reference to it.
        run: The run that it is part of; None once it has ended.
        loop: The event loop that it is awaited on; None for a synchronous one.
        done: The future of its answer, which is None where the asker ended without one.
        size: The bytes of a remembered judgement; 0 while it is under way.
    """

    place: tuple[Hashable, str]
    holder: Any
    run: object
    loop: AbstractEventLoop | None
    done: Future[Any] = field(default_factory=Future)
    size: int = 0


class SharedJudgements:
    """The judgements that evaluators share, by judge and key."""

    def __init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        """Forget everything, and make a new lock, which no thread of a parent process holds."""
        self._lock = threading.Lock()
        self._calls: OrderedDict[tuple[Hashable, str], Call] = OrderedDict()
        self._bytes = 0

    def clear(self) -> None:
        """Forget everything; judgements under way end on their own, and are not remembered."""
        with self._lock:
            self._calls.clear()
            self._bytes = 0

    def begin(
        self,
        identity: Identity,
        key: str,
        run: object,
        loop: AbstractEventLoop | None = None,
        past: Call | None = None,
    ) -> tuple[Call, bool]:
        """Return the call that is remembered or under way, else a new one, and whether it is new.

        The asker makes a new call, and ends it with `end`.

        Args:
            identity: The identity of the judge.
            key: The key of the judgement.
            run: The run that a new call is part of.
            loop: The event loop that a new call is awaited on; None for a synchronous asker.
            past: A call that the asker waits for no longer.
        """
        is_object = identity.equal is None
        place = (("object", id(identity.holder)) if is_object else identity.equal, key)
        with self._lock:
            call = self._calls.get(place)
            if call is not None:
                maker = call.holder() if call.size else call.holder
                is_there = maker is identity.holder if is_object else maker is not None
                self._calls.move_to_end(place)
                if is_there and (call is not past or call.size):
                    return call, False
                self._bytes -= call.size
            call = self._calls[place] = Call(place, identity.holder, run, loop)
            call.done.set_running_or_notify_cancel()  # no waiter can cancel it for the others
            return call, True

    def end(self, call: Call, answer: Any) -> None:
        """Give an answer to those who wait for it, and remember it unless it is a failure.

        Args:
            call: The call that ends.
            answer: The judgement; None where there is none, and one of those who wait asks anew.
        """
        holder = call.holder
        size = 0
        # An answer that is no JSON is not remembered, nor one whose judge allows no weak
        # reference, as its end would not be noticed.
        with suppress(ValueError, TypeError):
            if answer is not None and answer.failure is None:
                holder = weakref.ref(holder)
                size = len(to_json(answer, fallback=str))
        call.done.set_result(answer)
        with self._lock:
            if self._calls.get(call.place) is not call:
                return
            call.holder = holder
            call.size = size
            call.run = None
            call.loop = None
            self._bytes += size
            if size == 0:
                del self._calls[call.place]
            while len(self._calls) > MAX_REMEMBERED or self._bytes > MAX_BYTES:
                self._bytes -= self._calls.popitem(last=False)[1].size


SHARED = SharedJudgements()
"""The judgements that the evaluators of this process share."""


def clear_shared() -> None:
    """Forget the judgements that evaluators of this process share; the next ones are asked anew."""
    SHARED.clear()


if hasattr(os, "register_at_fork"):
    # A forked child does not go on with the judgements that were under way.
    os.register_at_fork(after_in_child=SHARED.start_anew)


@dataclass(frozen=True)
class SharedSentences(SentenceMemory):
    """The marks of sentences that a judge was shown alone, shared or stored as judgements are.

    Attributes:
        judge: The judge that is asked.
        identity: The identity by which judges are the same; None shares nothing.
        store: The store of the marks; None shares them in this process.
    """

    judge: Judge
    identity: Identity | None
    store: VerdictStore | None

    def first_mark(
        self, sentence: str, mark: SentenceMark | None = None
    ) -> SentenceMark | None:
        """Return the earlier mark of a sentence; without one, remember and return the given mark."""
        name, parameters = key_of(self.judge).values()
        key = digest({"alone": [name, self.judge.prompt_version, parameters, sentence]})
        if self.store is not None:
            with self.store.spared():
                known = self.store.get_many([key], SentenceMark).get(key)
                if known is None and mark is not None:
                    self.store.put_many([(key, mark)])
                return known or mark
        if self.identity is None:
            return mark
        call, is_new = SHARED.begin(self.identity, key, run=None)
        if is_new:
            SHARED.end(call, mark)
        return call.done.result() if call.done.done() else mark
