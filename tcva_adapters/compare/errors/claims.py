"""What the claims of rated samples say: how long they are, where the lowest stands, and their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from tcva_adapters.compare.errors.rated import RatedScores
from tcva_adapters.compare.judged import Judged, JudgedSource
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.evidence import under
from tcva_adapters.results.files import stream_assessments
from tcva_adapters.results.result import Result
from tcva_adapters.samples.files import SampleStream
from tcva_adapters.samples.records import is_read_again
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import FloatArray

_RANKS: Final = {level: rank for rank, level in enumerate(LEVELS)}

Again = Callable[[], Iterator[Assessment]]
"""Gives the judgements once more, in the same order."""


class Claims(NamedTuple):
    """What was seen of rated samples.

    Attributes:
        length: Characters of all claims, shape (n,).
        lowest: Where the claim with the lowest level stands, from 0 (the first) to 1 (the last):
            the first one of several; nan where all have the same level. Shape (n,).
        shown: The claims of the samples that were asked for, by place.
    """

    length: FloatArray
    lowest: FloatArray
    shown: Mapping[int, tuple[ClaimVerdict, ...]]


def opened(source: JudgedSource, *, skip_bad: bool) -> tuple[Judged, Again | None]:
    """What was judged, and a way to its claims; None where there are bare counts.

    A pipe is read into memory: it gives its lines once.

    Raises:
        InvalidValueError: See `Judged.of`, as are further errors.
    """
    if isinstance(source, Judged | np.ndarray):
        return Judged.of(source), None
    items: list[Any] = [source] if isinstance(source, str | Path) else list(source)
    if items and all(isinstance(item, str | Path) for item in items):
        if all(map(is_read_again, items)):
            again = lambda: _read(items, skip_bad=skip_bad)  # noqa: E731  # a closure of one line
            return Judged.of(items, skip_bad=skip_bad), again
        items = list(_read(items, skip_bad=skip_bad))
    judged = Judged.of(items)
    if not any(isinstance(item, Assessment | Result) for item in items):
        return judged, None
    return judged, lambda: (i.assessment if isinstance(i, Result) else i for i in items)


def _read(files: Sequence[str | Path], *, skip_bad: bool) -> Iterator[Assessment]:
    return (each for file in files for each in stream_assessments(file, skip_bad=skip_bad))


def claims_of(again: Again, rated: RatedScores, shown: Iterable[int]) -> Claims:
    """Look at the claims of rated samples.

    Args:
        again: Gives all judgements.
        rated: The samples; their view of the evidence is taken.
        shown: Those of them whose claims are wanted, as places among all samples.
    """
    at = {place: number for number, place in enumerate(rated.places.tolist())}
    wanted, found = set(shown), dict[int, tuple[ClaimVerdict, ...]]()
    length, lowest = np.full(len(at), np.nan), np.full(len(at), np.nan)
    for place, assessment in enumerate(again()):
        number = at.get(place)
        if number is None:
            continue
        length[number] = sum(len(claim.claim) for claim in assessment.claims)
        seen = under(assessment, rated.judged.seen)
        ranks = [_RANKS[level] for level in seen.verdicts]
        if len(set(ranks)) > 1:
            lowest[number] = ranks.index(max(ranks)) / (len(ranks) - 1)
        if place in wanted:
            found[place] = seen.claims
    return Claims(length, lowest, found)


def response_lengths(
    samples: str | Path | Iterable[Sample], names: Sequence[str], *, skip_bad: bool
) -> FloatArray:
    """Characters of each sample's response, joined by id (``row-N`` without one); nan where unknown.

    Args:
        samples: A file, or samples.
        names: Of the judged ones.
        skip_bad: Leave out unreadable lines.

    Raises:
        UnreadableInputError: See `SampleStream`.
    """
    rows = SampleStream(samples, skip_bad=skip_bad) if isinstance(samples, str | Path) else samples
    lengths = {
        sample.id or f"row-{number}": float(len(sample.response))
        for number, sample in enumerate(rows, start=1)
        if sample.response is not None
    }
    return np.array([lengths.get(name, np.nan) for name in names])
