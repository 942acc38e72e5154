"""A store that fails costs the store, not the judgement that was paid for: one warning says so."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self
from weakref import WeakSet

from tcva_adapters.errors import StoreWarning, TCVAError
from tcva_adapters.results.store import VerdictStore

_TOLD: Final[WeakSet[VerdictStore]] = WeakSet()
"""Stores that failed when they were last used."""


class StoreTroubles:
    """What fails at a store in one run; a warning tells it at the end.

    Args:
        store: The store; None for none.
        in_batch: Whether it is a run of many judgements, each of which is told of. Evaluations of
            single samples have one warning for as long as the store goes on failing.
    """

    def __init__(self, store: VerdictStore | None, *, in_batch: bool) -> None:
        self._store = store
        self._in_batch = in_batch
        self._first = ""
        self._lost = 0

    def __enter__(self) -> Self:
        """The troubles, none so far."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell them."""
        store = self._store
        if store is None:
            return
        was_told = store in _TOLD
        (_TOLD.add if self._first else _TOLD.discard)(store)
        if self._first and (self._in_batch or not was_told):
            lost = f"{self._lost} judgements of this run are not cached"
            often = lost if self._in_batch else "judgements are not cached as long as it does"
            msg = f"the verdict store failed: {self._first}; {often}"
            warnings.warn(msg, StoreWarning, stacklevel=3)

    @contextmanager
    def spared(self, *, loses: int = 0) -> Iterator[None]:
        """Around one use of the store, which may fail.

        Args:
            loses: How many judgements are then not cached.
        """
        try:
            yield
        except TCVAError as error:
            self._first = self._first or str(error)
            self._lost += loses
