"""A run over a file of samples: read, judged and written as it goes, and gone on with after a stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from tcva_adapters import __version__
from tcva_adapters.evaluator import Scorer
from tcva_adapters.results.files import Writing
from tcva_adapters.results.protocol import Scored
from tcva_adapters.samples.files import SampleStream
from tcva_adapters.samples.records import is_read_again
from tcva_adapters.samples.sample import Sample

R = TypeVar("R", bound=Scored)


class Evaluate(Protocol):
    """`Scorer.iter_evaluate`, or what judges in other processes and gives the same results."""

    def __call__(
        self, samples: Iterable[Sample], *, progress: bool | None, total: int | None
    ) -> Iterator[Any]:
        """One result per sample, in order."""


class LongRun(Generic[R]):
    """One run; see `long_run`."""

    def __init__(
        self,
        samples: SampleStream | Sequence[Sample],
        written: Writing[R],
        tell: Callable[[str], object],
    ) -> None:
        """Nothing is read or judged yet; arguments as for `long_run`."""
        self._samples, self._written, self._tell = samples, written, tell

    def results(self, evaluate: Evaluate) -> Iterator[R]:
        """All results: those that an interrupted run left, then new ones, each once it is written.

        Args:
            evaluate: Judges the samples that are left.
        """
        written, found = self._written, 0
        for result in written.found():
            found += 1
            yield result
        if found:
            self._tell(f"{found} results of an interrupted run are there; going on behind them")
        samples = self._samples
        total = samples.total if isinstance(samples, SampleStream) else len(samples)
        total = None if total is None else total - found
        for result in evaluate(islice(samples, found, None), progress=True, total=total):
            written.add(result)
            yield result
        written.end()

    @property
    def written(self) -> Sequence[R]:
        """All results, once all came; none where they were written nowhere."""
        return self._written.results


@contextmanager
def long_run(
    scorer: Scorer[R],
    samples: SampleStream | Sequence[Sample],
    read: Callable[[bytes], R],
    target: str | None,
    *,
    overwrite: bool,
    is_looked_at: bool,
    tell: Callable[[str], object],
    group: str | None = None,
) -> Iterator[LongRun[R]]:
    """A run whose results go into a file as they come.

    A run that ended early leaves a draft beside the file, and an equal one goes on with it: of the
    same scorer and version, on the same file under the same reading. Bad lines that are skipped
    make no other run, so that one that ended at such a line can be gone on with.

    Args:
        scorer: Who judges.
        samples: What is judged; a list of them is no file, and its draft is not gone on with.
        read: Makes a result of its JSON.
        target: As for `Writing`.
        overwrite: As for `Writing`.
        is_looked_at: As ``is_read_again`` for `Writing`.
        tell: Told what is to be known of drafts, in a sentence.
        group: The metadata field that samples must have: those without it may be skipped.

    Raises:
        InvalidValueError: As for `Writing`.
    """
    fingerprint = _fingerprint(scorer, samples, group)
    how: dict[str, Any] = {"overwrite": overwrite, "is_read_again": is_looked_at}
    with Writing(target, read, fingerprint=fingerprint, **how) as written:
        yield LongRun(samples, written, tell)


def _fingerprint(
    scorer: Scorer[Any], samples: SampleStream | Sequence[Sample], group: str | None
) -> str | None:
    """Equal where the results are to be equal; None for what cannot be read again."""
    if not isinstance(samples, SampleStream):
        return None
    source = samples.source
    if not (isinstance(source, str | Path) and is_read_again(source)):
        return None
    file = Path(source).expanduser().resolve()
    known = file.stat()
    reading = (file.name, known.st_size, known.st_mtime_ns, samples.kind, samples.mapping, group)
    return f"{__version__} {scorer.fingerprint} {reading!r}"
