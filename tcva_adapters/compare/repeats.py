"""What repeats of a judgement show: the judge's noise beside that of the samples, and flips."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Report, counted, figure, share
from tcva_adapters.results.result import Result
from tcva_adapters.stats.raters import VarianceComponents, variance_components


@dataclass(frozen=True, slots=True, repr=False)
class RepeatReport(Report):
    """Samples that were judged several times.

    Attributes:
        repeats: How often each was to be judged.
        samples: Those with two scored repeats or more; every figure is over these.
        flipped: How many of them have repeats on both sides of the threshold.
        disagreement: Share of two repeats of one sample of which one passes and one does not, mean
            over the samples.
        same: On how many samples all repeats say the same word for word.
        components: Of the repeats' scores.
    """

    repeats: int
    samples: int
    flipped: int
    disagreement: float
    same: int
    components: VarianceComponents

    @property
    def flip_rate(self) -> float:
        """Share of the samples with repeats on both sides of the threshold; nan without samples."""
        return self.flipped / self.samples if self.samples else float("nan")

    @property
    def sentence(self) -> str:
        """How many samples flip, and how noisy the judge is."""
        if not self.samples:
            return "No sample has two repeats with a score"
        flips = "flips" if self.flipped == 1 else "flip"
        return (
            f"Over {self.repeats} repeats, {self.flipped} of {counted(self.samples, 'sample')} "
            f"{flips} at the threshold; a score's sd by the judge is {figure(self._sd('judge'))}"
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values; what is not defined is None."""
        found = self.components
        more, wider = self._next()
        return {
            "sentence": self.sentence,
            **jsonable(self),
            "flip_rate": jsonable(self.flip_rate),
            "judge_sd": jsonable(self._sd("judge")),
            "sample_sd": jsonable(self._sd("sample")),
            "standard_error": jsonable(found.standard_error),
            "judge_error": jsonable(found.judge_error),
            "standard_error_with_one_repeat_more": jsonable(more),
            "standard_error_with_more_samples": jsonable(wider),
        }

    def parts(self) -> Iterator[Part]:
        """Flips, the two kinds of noise, the standard error, and what one repeat more would buy."""
        found = self.components
        if not self.samples:
            return
        if self.same == self.samples:
            yield (
                "  all repeats say the same word for word: the model takes no temperature and seed, "
                "its probabilities are read, or a cache answers; they are worth one judgement"
            )
        yield (
            f"  flip rate {share(self.flip_rate)}; two repeats of a sample disagree on "
            f"{share(self.disagreement)}"
        )
        yield (
            f"  sd by the judge {figure(self._sd('judge'))} (within a sample), by the samples "
            f"{figure(self._sd('sample'))} (between them)"
        )
        if not np.isfinite(found.standard_error):
            yield "  one sample alone says nothing of others"
            return
        yield (
            f"  the repeats' mean {figure(found.mean)} has a standard error of "
            f"{found.standard_error:.4f}; on these very samples, judged anew, {found.judge_error:.4f}"
        )
        more, wider = self._next()
        yield (
            f"  one repeat more would make it {more:.4f}; as many judgements of new samples "
            f"{wider:.4f}"
        )

    def _sd(self, kind: str) -> float:
        return float(np.sqrt(getattr(self.components, kind)))

    def _next(self) -> tuple[float, float]:
        """The standard error with one repeat more, and with as many judgements of new samples."""
        found = self.components
        if not found.samples:
            return float("nan"), float("nan")
        n = found.repeats
        return (
            found.error_with(found.samples, n + 1),
            found.error_with(found.samples * (n + 1) / n, n),
        )


def repeat_report(results: Iterable[Result]) -> RepeatReport:
    """What the repeats behind these results show, at their settings.

    Args:
        results: Of a `TCVA` with ``repeats``; those that were judged once are left out.

    Raises:
        InvalidValueError: None was judged several times.
    """
    repeats = flipped = same = 0
    disagreements: list[float] = []
    rows: list[tuple[float, ...]] = []
    for result in results:
        repeats = max(repeats, len(result.repeats))
        scored = [each for each in result.repeats if each.score is not None]
        number, passed = len(scored), sum(bool(each.passed) for each in scored)
        if number < 2:
            continue
        rows.append(tuple(each.score or 0.0 for each in scored))
        flipped += 0 < passed < number
        disagreements.append(2 * passed * (number - passed) / (number * (number - 1)))
        same += len({each.claims for each in result.repeats}) == 1
    if not repeats:
        msg = "no sample was judged several times; judge with repeats=3"
        raise InvalidValueError(msg)
    table = np.full((len(rows), repeats), np.nan)
    for row, scores in zip(table, rows, strict=True):
        row[: len(scores)] = scores
    mean = math.fsum(disagreements) / len(rows) if rows else math.nan
    return RepeatReport(repeats, len(rows), flipped, mean, same, variance_components(table))
