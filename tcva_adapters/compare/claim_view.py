"""One sample as a reader looks at it: its claims, why each has its level, and what the dial does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import Final

from tcva_adapters.compare.gates import clipped, foldable
from tcva_adapters.compare.graded import case_name
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Table, Wrapped
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample

WORST: Final = "worst"
ALL: Final = "all"
MOST: Final = 10
"""Samples under ``worst``."""

_QUESTION: Final = 300


def claim_view(result: Result, sample: Sample, number: int = 1) -> Iterator[Part]:
    """A sample's claims with their verdicts and reasons, and its score over the dial.

    Args:
        result: Of the sample.
        sample: Whose question is the headline.
        number: Of its row, for a sample without an id.
    """
    asked = clipped(sample.input, _QUESTION) if sample.input else "(no question)"
    yield ""
    yield foldable(f"{clipped(case_name(result, number))}: {asked}")
    if result.claims:
        scheme = result.scoring.scheme
        cells = [(c.level_text(scheme), c.claim, c.reason) for c in result.claims]
        yield Table(("verdict", "claim", "why"), cells, "lp")
    if result.unscored is not None:
        yield Wrapped(result.reason)
        return
    scores = ", ".join(f"{result.at(t).score:.3f} {name}" for name, t in PRESETS.items())
    flip = result.flip_temperature
    passes = "it never passes" if flip is None else f"it passes from T={flip:.2f} on"
    if result.seen.is_soft:
        yield Wrapped(f"claims: {result.levels}.")
    yield Wrapped(
        f"one judgement, every score: {scores}; at threshold {result.scoring.threshold:g} {passes}."
    )


def check_wanted(wanted: Sequence[str], samples: Callable[[], Iterable[Sample]]) -> None:
    """Refuse ids that no sample has, before anything is paid for.

    Args:
        wanted: ``worst``, ``all``, or samples' ids (``row-N`` for one without).
        samples: Gives all that there are; called where ids are wanted.

    Raises:
        InvalidValueError: A sample that is not there.
    """
    unknown = dict.fromkeys(one for one in wanted if one not in {WORST, ALL})
    if not unknown:
        return
    names: list[str] = []
    for number, sample in enumerate(samples(), start=1):
        name = case_name(sample, number)
        unknown.pop(name, None)
        if len(names) <= MOST:
            names.append(name)
    if unknown:
        some = ", ".join(names[:MOST]) + (", ..." if len(names) > MOST else "")
        msg = f"no sample {next(iter(unknown))!r} to show; give {WORST}, {ALL}, or one of {some}"
        raise InvalidValueError(msg)


def claim_views(
    results: Sequence[Result], samples: Callable[[], Iterable[Sample]], wanted: Sequence[str]
) -> Iterator[Part]:
    """The samples that are wanted, each once: the worst ones first, the others in their order.

    Args:
        results: One per sample; looked at one after the other.
        samples: Gives them in the same order, each time it is called.
        wanted: See `check_wanted`.
    """
    if WORST in wanted:
        scores = ((r.score, place) for place, r in enumerate(results) if r.score is not None)
        worst = [place for _, place in nsmallest(MOST, scores)]
        of = {place: sample for place, sample in enumerate(samples()) if place in worst}
        for place in worst:
            yield from claim_view(results[place], of[place], place + 1)
    else:
        worst = []
    if set(wanted) <= {WORST}:
        return
    for place, (result, sample) in enumerate(zip(results, samples(), strict=True)):
        is_wanted = ALL in wanted or case_name(result, place + 1) in wanted
        if is_wanted and place not in worst:
            yield from claim_view(result, sample, place + 1)
