"""All cores of one machine: chunks of samples, judged in processes, handed on in order."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from typing import Any, Final, Generic, TypeVar

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer, checked_sample
from tcva_adapters.progress import progress_of
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.settings import Count, check
from tcva_adapters.runner import read_some
from tcva_adapters.samples.sample import Sample

R = TypeVar("R", bound=Scored)
T = TypeVar("T")

_CHUNK: Final = 32
"""Samples that go to a process at once: tens of milliseconds with the embedded judge."""

_AHEAD: Final = 4
"""Chunks for each worker that are under way or wait to be handed on."""

_TRIES: Final = 2
"""How often a sample may take its process down with it before it is given up."""


def iter_evaluate(
    scorer: Scorer[R],
    samples: Iterable[Sample],
    *,
    workers: int,
    progress: bool | None = None,
    total: int | None = None,
) -> Iterator[R]:
    """Judge many samples in several processes; one result per sample, in order.

    The results are those of `Scorer.evaluate_many` with one process: equal, and the same JSON but for
    what a judgement cost. Read ahead are a few chunks for each worker. When a process dies (out of
    memory, killed), what it had is judged again; a sample that takes its process down twice is
    unscored, and so is none beside it. Closing the iterator ends the processes at once.

    Each process connects to judge and store for itself, with the limits of the scorer as it is given.
    Processes are started afresh (spawn): a script needs its ``if __name__ == "__main__":``.

    Args:
        scorer: Who judges; it is pickled.
        samples: What is judged; may be an iterator. What it raises is raised once the results of all
            samples before are handed over.
        workers: How many processes.
        progress: As for `Scorer.evaluate_many`.
        total: How many samples there are, where that is known.

    Raises:
        InvalidValueError: ``workers`` is below 1, the scorer cannot be pickled, or processes end as
            they start, as they do in a script without ``if __name__ == "__main__":``.
        InvalidSampleError: One of them is no `Sample`; likewise after those before it.
    """
    check(Count, "workers", workers)
    try:
        pickled = pickle.dumps(scorer)
    except Exception as error:
        msg = f"{scorer.name} cannot be pickled for other processes: {error}; judge in this one"
        raise InvalidValueError(msg) from error
    checked = map(checked_sample, samples)
    return _handed_on(scorer, pickled, checked, workers, progress, total)


def _handed_on(
    scorer: Scorer[R],
    pickled: bytes,
    samples: Iterator[Sample],
    workers: int,
    progress: bool | None,
    total: int | None,
) -> Iterator[R]:
    running = _Running(scorer, pickled, workers)
    with progress_of("judging", total, progress) as shown:
        try:
            for results in running.results(samples):
                for result in results:
                    why = result.unscored
                    shown.tick(failed=why is not None and why.reason.is_failure)
                    yield result
        finally:
            running.stop()


@dataclass(slots=True)
class _Chunk(Generic[R]):
    samples: Sequence[Sample]
    future: Future[list[R]] | None = None
    results: list[R] | None = None


class _Running(Generic[R]):
    """Chunks under way in a pool that is made anew when one of its processes dies."""

    def __init__(self, scorer: Scorer[R], pickled: bytes, workers: int) -> None:
        self._scorer = scorer
        self._pickled = pickled
        self._workers = workers
        self._under_way: deque[_Chunk[R]] = deque()
        self._start()

    def results(self, samples: Iterator[Sample]) -> Iterator[list[R]]:
        """The results of each chunk, in order."""
        is_end = False
        error: Exception | None = None
        while True:
            while not is_end and len(self._under_way) < _AHEAD * self._workers:
                some, is_end, error = read_some(samples, _CHUNK)
                if some:
                    chunk: _Chunk[R] = _Chunk(some)
                    self._under_way.append(chunk)
                    self._submit(chunk)
            if not self._under_way:
                if error is not None:
                    raise error
                return
            first = self._under_way[0]
            yield self._done(first)
            self._under_way.popleft()

    def stop(self) -> None:
        """End the processes, whatever they are at."""
        self._lifeline.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _start(self) -> None:
        context = get_context("spawn")  # forking copies threads' locks, and the judge has threads
        theirs, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self._workers, context, initializer=_open, initargs=(self._pickled, theirs)
        )
        self._theirs = theirs  # handed to processes that the pool starts later

    def _restart(self) -> None:
        """Start anew. A sample is to blame only where a process without one stays."""
        for _ in range(_TRIES):
            self.stop()
            self._start()
            with suppress(BrokenProcessPool):
                self._begun(os.getpid).result()
                return
        msg = (
            "the processes end as they start; what they printed says why. A script needs its "
            "if __name__ == '__main__':, and what is typed or piped into Python cannot be imported there"
        )
        raise InvalidValueError(msg)

    def _submit(self, chunk: _Chunk[R]) -> None:
        # a broken pool is seen where it is awaited
        with suppress(BrokenProcessPool):
            chunk.future = self._begun(_judged, chunk.samples)

    def _begun(self, work: Callable[..., T], *arguments: Any) -> Future[T]:
        """Work in the pool, which may start a process for it."""
        with _interrupts_held():
            return self._pool.submit(work, *arguments)

    def _done(self, chunk: _Chunk[R]) -> list[R]:
        if chunk.results is None:
            try:
                chunk.results = None if chunk.future is None else chunk.future.result()
            except BrokenProcessPool:
                chunk.future = None
            if chunk.results is None:
                self._again()
        return chunk.results or []

    def _again(self) -> None:
        """Judge what was under way when a process died one chunk after the other, then go on."""
        for chunk in self._under_way:
            if chunk.future is not None and _is_judged(chunk.future):
                chunk.results = chunk.future.result()
        self._restart()
        for chunk in self._under_way:
            if chunk.results is None:
                chunk.results = self._alone(chunk.samples)

    def _alone(self, samples: Sequence[Sample]) -> list[R]:
        """A chunk by itself, in halves where it takes its process down, to the sample that does."""
        for _ in range(_TRIES):
            try:
                return self._begun(_judged, samples).result()
            except BrokenProcessPool:
                self._restart()
        if len(samples) == 1:
            detail = f"the process that judged it ended without a word, {_TRIES} times"
            return [self._scorer.unscored(Reason.JUDGE_ERROR, detail, samples[0])]
        half = len(samples) // 2
        return [*self._alone(samples[:half]), *self._alone(samples[half:])]


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the end of the block, and in processes that start in it until they ignore it.

    What is submitted to a pool may start a process. Interrupted in the middle of that, the pool leaves
    one that nobody ends, and a process that is interrupted while its Python starts prints a traceback
    of Python's own.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # The mask is what the processes inherit. Here another thread, as numpy has them, may take the signal,
    # and Python then interrupts the main thread all the same: so its handler waits as well, and before
    # the mask, which would stay if setting it were interrupted.
    seen: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    is_ours = threading.current_thread() is threading.main_thread() and handler is not None
    if is_ours:
        signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, handler)
        if seen:
            signal.raise_signal(signal.SIGINT)


def _is_judged(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


_PICKLED: list[bytes] = []
"""Of a worker process: who judges there."""

_JUDGING: Final[list[bool]] = []
"""Of a worker process: not empty while it judges, which only changes under this lock."""

_STEP: Final = threading.Lock()

_LOOK: Final = 0.02
"""Seconds between looks at whether a worker process may end."""


def _open(pickled: bytes, lifeline: Connection) -> None:
    """Make a worker ready. Ctrl-C is its parent's business, and it ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    _PICKLED.append(pickled)


def _end_with(lifeline: Connection) -> None:
    """End this process when the other end is closed, or gone with its process.

    Half a chunk of results would keep a parent that lives waiting for the other half: for its sake the
    process ends while it judges. What waits for work is ended by the pool.
    """
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    parent = parent_process()
    while True:
        with _STEP:
            if _JUDGING or parent is None or not parent.is_alive():
                os._exit(0)
        time.sleep(_LOOK)


def _judged(samples: Sequence[Sample]) -> list[Any]:
    with _STEP:
        _JUDGING.append(True)
    try:
        return _scorer().evaluate_many(samples, progress=False)
    finally:
        with _STEP:
            _JUDGING.clear()


@cache
def _scorer() -> Scorer[Any]:
    """Made where a chunk is judged, so that what fails in it reaches the parent as what it is."""
    return pickle.loads(_PICKLED[0])  # type: ignore[no-any-return]  # noqa: S301  # pickled by the parent
