"""Judge a file of samples: read, judge and write one after the other, and continue after a stop.

A run that ended early leaves a draft next to its file. A run with the same scorer and version, on the
same file read in the same way, continues it. Whether bad lines are skipped makes no difference, so a run
that ended at such a line can be continued.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar, cast

from tcva_adapters._version import __version__
from tcva_adapters.console import note
from tcva_adapters.evaluator import AnyScorer, Scorer
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.writer import Writing
from tcva_adapters.samples.reader import SampleStream
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import is_rereadable

R = TypeVar("R", bound=Scored)


def run_results(
    files: Sequence[Writing[R]],
    samples: SampleStream | Sequence[Sample],
    scorers: Sequence[Scorer[R]],
) -> Iterator[R]:
    """Yield the results of one scorer after the other; the files are complete at the end of all.

    Args:
        files: The file that the results of each scorer go into.
        samples: The samples of the whole run.
        scorers: Each judges all samples.
    """
    left = samples
    for written, scorer in zip(files, scorers, strict=True):
        yield from _scorer_results(written, left, scorer)
        left = samples.again() if isinstance(samples, SampleStream) else samples
    for written in files:
        written.close()


def _scorer_results(
    written: Writing[R],
    samples: SampleStream | Sequence[Sample],
    scorer: Scorer[R],
) -> Iterator[R]:
    """Yield the results that an interrupted run left, then judge the rest; write before yielding."""
    done = 0
    for result in written.earlier(is_stored=scorer.store is not None):
        done += 1
        yield result
    if done:
        note(
            f"found {done} results of an interrupted run; the run continues after them"
        )
    total = samples.total if isinstance(samples, SampleStream) else len(samples)
    left = None if total is None else total - done
    for result in scorer.iter_evaluate(
        islice(samples, done, None), progress=True, total=left
    ):
        written.add(result)
        yield result


def run_fingerprint(
    scorers: Iterable[AnyScorer],
    samples: SampleStream | Sequence[Sample],
    group: str | None,
) -> str | None:
    """Return a text that is equal for equal runs; None for samples that cannot be read again.

    Args:
        scorers: All scorers of the run, as samples must have the fields that each of them needs.
        samples: The samples; a list is no file, so its run is not continued.
        group: The metadata field that samples must have: those without it may be skipped.
    """
    if not isinstance(samples, SampleStream) or not is_rereadable(samples.source):
        return None
    file = Path(cast("str", samples.source)).expanduser().resolve()
    known = file.stat()
    reading = (
        file.name,
        known.st_size,
        known.st_mtime_ns,
        samples.kind,
        samples.mapping,
        group,
    )
    fingerprints = [scorer.fingerprint for scorer in scorers]
    return f"{__version__} {fingerprints!r} {reading!r}"
