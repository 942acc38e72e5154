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
from tcva_adapters.models.judge_model import Identity
from tcva_adapters.models.store_keys import digest, key_of
from tcva_adapters.results.store import VerdictStore

MAX_REMEMBERED = 4096
MAX_BYTES = 64_000_000
"""The most judgements that are remembered, and the most bytes that they have together; the least
recently used one is forgotten first."""


@dataclass(eq=False, slots=True)
class SharedEntry:
    """A judgement under way, or remembered.

    Attributes:
        cache_key: The identity of the judge, and the key of the judgement.
        holder: The object that judges; for a remembered judgement, a weak reference to it.
        run: The run that it is part of; None once it has ended.
        loop: The event loop that it is awaited on; None for a synchronous one.
        done: The future of its answer, which is None where the asker ended without one.
        size: The bytes of a remembered judgement; 0 while it is under way.
    """

    cache_key: tuple[Hashable, str]
    holder: Any
    run: object
    loop: AbstractEventLoop | None
    done: Future[Any] = field(default_factory=Future)
    size: int = 0

    @property
    def answer(self) -> Any:
        """The answer; None where there is none, or none yet."""
        return self.done.result() if self.done.done() else None


class SharedJudgements:
    """The judgements that evaluators share, by judge and key."""

    def __init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        """Forget everything, and make a new lock, which no thread of a parent process holds."""
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[Hashable, str], SharedEntry] = OrderedDict()
        self._bytes = 0

    def clear(self) -> None:
        """Forget everything; judgements under way end on their own, and are not remembered."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def begin(
        self,
        identity: Identity,
        key: str,
        run: object,
        loop: AbstractEventLoop | None = None,
        past: SharedEntry | None = None,
    ) -> tuple[SharedEntry, bool]:
        """Return the entry that is remembered or under way, else a new one, and whether it is new.

        The asker of a new one judges, and ends it with `end`.

        Args:
            identity: The identity of the judge.
            key: The key of the judgement.
            run: The run that a new entry is part of.
            loop: The event loop that a new entry is awaited on; None for a synchronous asker.
            past: An entry that the asker waits for no longer.
        """
        is_object = identity.equal is None
        judge = ("object", id(identity.holder)) if is_object else identity.equal
        cache_key = (judge, key)
        with self._lock:
            entry = self._entries.get(cache_key)
            if entry is not None:
                maker = entry.holder() if entry.size else entry.holder
                is_there = maker is identity.holder if is_object else maker is not None
                self._entries.move_to_end(cache_key)
                if is_there and (entry is not past or entry.size):
                    return entry, False
                self._bytes -= entry.size
            entry = SharedEntry(cache_key, identity.holder, run, loop)
            entry.done.set_running_or_notify_cancel()  # no waiter can cancel it for the others
            self._entries[cache_key] = entry
            return entry, True

    def end(self, entry: SharedEntry, answer: Any) -> None:
        """Give an answer to those who wait for it, and remember it unless it is a failure.

        Args:
            entry: The entry that ends.
            answer: The judgement; None where there is none, and one of those who wait asks anew.
        """
        holder = entry.holder
        size = 0
        # An answer that is no JSON is not remembered, nor one whose judge allows no weak
        # reference, as its end would not be noticed.
        with suppress(ValueError, TypeError):
            if answer is not None and answer.failure is None:
                holder = weakref.ref(holder)
                size = len(to_json(answer, fallback=str))
        entry.done.set_result(answer)
        with self._lock:
            if self._entries.get(entry.cache_key) is not entry:
                return
            entry.holder = holder
            entry.size = size
            entry.run = None
            entry.loop = None
            self._bytes += size
            if size == 0:
                del self._entries[entry.cache_key]
            while len(self._entries) > MAX_REMEMBERED or self._bytes > MAX_BYTES:
                self._bytes -= self._entries.popitem(last=False)[1].size


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
        entry, is_new = SHARED.begin(self.identity, key, run=None)
        if is_new:
            SHARED.end(entry, mark)
        return entry.answer or mark
